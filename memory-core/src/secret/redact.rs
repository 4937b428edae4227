//! Redaction of credentials in text.

use super::find;

/// A text with redacted credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedText {
    /// The text with `[redacted: <kind>]` in place of each credential.
    pub text: String,
    /// The redacted kinds without duplicates, in order of occurrence.
    pub kinds: Vec<&'static str>,
}

/// Maximum number of additional redaction passes.
const MAX_PASSES: usize = 8;

/// Returns `text` with redacted credentials, or `None` if it contains no credentials.
pub fn redact(text: &str) -> Option<RedactedText> {
    let mut redacted = redact_once(text)?;
    // A redaction may reveal a further match in the surrounding text.
    for _ in 0..MAX_PASSES {
        let Some(more) = redact_once(&redacted.text) else { break };
        redacted.text = more.text;
        redacted.kinds.extend(more.kinds.into_iter().filter(|kind| !redacted.kinds.contains(kind)).collect::<Vec<_>>());
    }
    Some(redacted)
}

fn redact_once(text: &str) -> Option<RedactedText> {
    let secrets = find(text);
    if secrets.is_empty() {
        return None;
    }
    let mut redacted = String::with_capacity(text.len());
    let mut kinds = Vec::new();
    let mut rest = 0;
    for secret in secrets {
        redacted.push_str(&text[rest..secret.span.start]);
        redacted.push_str("[redacted: ");
        redacted.push_str(secret.kind);
        redacted.push(']');
        rest = secret.span.end;
        if !kinds.contains(&secret.kind) {
            kinds.push(secret.kind);
        }
    }
    redacted.push_str(&text[rest..]);
    Some(RedactedText { text: redacted, kinds })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_the_credential_is_taken_out() {
        let token = format!("{}{}", "gh", "p_1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX");
        let text = format!("Use {token}, then\nDB=postgres://anna:{}@db/x and {token}.", "h0rse");
        let redacted = redact(&text).expect("there are three");
        assert_eq!(
            redacted.text,
            "Use [redacted: GitHub token], then\nDB=postgres://anna:[redacted: password in a URL]@db/x and [redacted: GitHub token]."
        );
        assert_eq!(redacted.kinds, ["GitHub token", "password in a URL"]);
    }

    #[test]
    fn text_without_credentials_stays() {
        assert_eq!(redact("Anna prefers dark mode."), None);
    }

    proptest! {
        #[test]
        fn what_was_redacted_has_no_credentials_left(
            pieces in prop::collection::vec(
                prop_oneof![
                    Just(format!("{}{}", "AKI", "AQ3EGRIZ7HJ2KLMNP")),
                    Just(format!("{}{}", "-----BEGIN ", "PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n")),
                    Just("password=".to_owned()),
                    Just("token: \"".to_owned()),
                    Just("https://anna:".to_owned()),
                    Just("@example.org ".to_owned()),
                    Just("\n".to_owned()),
                    "[a-zA-Z0-9+/=_.@:-]{0,40}",
                    any::<String>(),
                ],
                0..12,
            ),
        ) {
            let text = pieces.concat();
            if let Some(redacted) = redact(&text) {
                prop_assert_eq!(find(&redacted.text), []);
            }
        }
    }
}
