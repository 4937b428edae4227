//! A sealed text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crypto_secretbox::aead::Aead;
use crypto_secretbox::{KeyInit, Nonce, XSalsa20Poly1305};
use std::io;
use zeroize::Zeroizing;

use super::MasterKey;

/// The prefix of a sealed text.
pub(super) const MARK: &str = "secretbox:";

/// Length of a nonce in bytes.
const NONCE_LENGTH: usize = 24;

/// Returns whether a text is sealed.
pub(super) fn is_sealed(text: &str) -> bool {
    text.starts_with(MARK)
}

/// Seals `secret`, bound to `purpose`.
pub(super) fn seal(key: &MasterKey, purpose: &str, secret: &str) -> io::Result<String> {
    let mut nonce = [0; NONCE_LENGTH];
    getrandom::fill(&mut nonce).map_err(io::Error::other)?;
    let text = Zeroizing::new([purpose.as_bytes(), b"\0", secret.as_bytes()].concat());
    let cipher = XSalsa20Poly1305::new(key.bytes().into());
    let sealed = cipher.encrypt(Nonce::from_slice(&nonce), text.as_slice());
    let sealed = sealed.map_err(|_| io::Error::other("the text is too long to be sealed"))?;
    Ok(format!(
        "{MARK}{}",
        STANDARD.encode([nonce.as_slice(), &sealed].concat())
    ))
}

/// Decrypts a text sealed by [`seal`] for the same `purpose`.
///
/// # Errors
/// The reason why it cannot be decrypted, as a fragment.
pub(super) fn open(
    key: &MasterKey,
    purpose: &str,
    sealed: &str,
) -> Result<Zeroizing<String>, &'static str> {
    const BROKEN: &str = "the master key is a different one, or the value was tampered with";
    let text = sealed.strip_prefix(MARK).ok_or("the value is not sealed")?;
    let bytes = STANDARD
        .decode(text)
        .map_err(|_| "the value was tampered with")?;
    let (nonce, sealed) = bytes
        .split_at_checked(NONCE_LENGTH)
        .ok_or("the value was tampered with")?;
    let cipher = XSalsa20Poly1305::new(key.bytes().into());
    let opened = Zeroizing::new(
        cipher
            .decrypt(Nonce::from_slice(nonce), sealed)
            .map_err(|_| BROKEN)?,
    );
    let text = str::from_utf8(&opened).map_err(|_| BROKEN)?;
    let secret = text
        .strip_prefix(purpose)
        .and_then(|rest| rest.strip_prefix('\0'))
        .ok_or("the value was sealed for another field")?;
    Ok(Zeroizing::new(secret.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_with_its_key_for_its_purpose_and_only_so() {
        let key = MasterKey::random().unwrap();
        let sealed = seal(&key, "history/team/dsn", "postgres://深色").unwrap();
        assert!(is_sealed(&sealed) && !sealed.contains("postgres"));
        assert_ne!(
            sealed,
            seal(&key, "history/team/dsn", "postgres://深色").unwrap(),
            "no two are the same"
        );
        assert_eq!(
            open(&key, "history/team/dsn", &sealed).unwrap().as_str(),
            "postgres://深色"
        );
        assert!(
            open(&MasterKey::random().unwrap(), "history/team/dsn", &sealed)
                .unwrap_err()
                .contains("a different one")
        );
        assert!(
            open(&key, "history/other/dsn", &sealed)
                .unwrap_err()
                .contains("another field")
        );
        for at in MARK.len()..sealed.len() {
            let mut other = sealed.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            assert!(
                open(&key, "history/team/dsn", &String::from_utf8(other).unwrap()).is_err(),
                "character {at}"
            );
        }
        for wrong in [
            "",
            "postgres://",
            "secretbox:",
            "secretbox:AAAA",
            &sealed[..sealed.len() - 4],
        ] {
            assert!(open(&key, "history/team/dsn", wrong).is_err(), "{wrong}");
        }
    }

    /// The key, nonce, message and box of a test of NaCl (tests/secretbox.c of nacl-20110221).
    #[test]
    fn a_box_is_one_of_nacl() {
        let bytes = |hex: &str| -> Vec<u8> {
            (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
                .collect()
        };
        let key = bytes("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389");
        let nonce = bytes("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37");
        let message = bytes(
            "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705",
        );
        let sealed = bytes(
            "f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5",
        );
        let cipher = XSalsa20Poly1305::new(key.as_slice().into());
        assert_eq!(
            cipher
                .encrypt(Nonce::from_slice(&nonce), message.as_slice())
                .unwrap(),
            sealed
        );
    }
}
