//! The certificate of the page on the local network.
//!
//! No authority signs one for a private address. So an authority is made for a single certificate, and its key is never stored: a
//! phone that trusts it trusts this address and no other, whoever reads the files of this computer.

use std::fmt;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;

use chrono::{DateTime, Datelike, TimeDelta, Utc};
use memory_core::{Code, ContentHash, ToolError, parse_rfc3339};
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DnType, ExtendedKeyUsagePurpose,
    GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose, NameConstraints, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::TLS13;

/// Time for which a certificate is valid. Some browsers accept at most 398 days.
const LIFETIME: TimeDelta = TimeDelta::days(390);

/// The years in which a certificate is made. Its dates have no years of five digits.
const YEARS: RangeInclusive<i32> = 2026..=9990;

/// The first line of the stored text, before the end of the validity.
const VALID_UNTIL: &str = "valid until ";

/// No name ends with it (RFC 2606), so the authority is valid for no host name.
const NO_NAME: &str = "memory.invalid";

/// A certificate with its key, for one address.
#[derive(Clone)]
pub struct PageCertificate {
    text: String,
    own: CertificateDer<'static>,
    authority: CertificateDer<'static>,
    pub(crate) tls: Arc<ServerConfig>,
}

impl PageCertificate {
    /// Creates a certificate for `address`, valid from `now` on.
    ///
    /// # Errors
    /// If the system has no random numbers, or its clock is wrong.
    pub fn create(address: IpAddr, now: DateTime<Utc>) -> Result<Self, ToolError> {
        if !YEARS.contains(&now.year()) {
            return Err(failed(&"the clock of this machine is wrong"));
        }
        let text = create_text(address, now).map_err(|error| failed(&error))?;
        Self::read(text)
    }

    /// Reads the text of a certificate; `None` if it is damaged, or expires within a month.
    pub fn parse(text: &str, now: DateTime<Utc>) -> Option<Self> {
        let first = text.lines().next()?.strip_prefix(VALID_UNTIL)?;
        let end = parse_rfc3339(first)?;
        if end < now + TimeDelta::days(30) {
            return None;
        }
        Self::read(text.to_owned()).ok()
    }

    fn read(text: String) -> Result<Self, ToolError> {
        let certificates = CertificateDer::pem_slice_iter(text.as_bytes())
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| failed(&error))?;
        let [own, authority] = <[_; 2]>::try_from(certificates)
            .map_err(|_| failed(&"there are not two certificates"))?;
        let key = PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|error| failed(&error))?;
        let mut tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| failed(&error))?
            .with_no_client_auth()
            .with_single_cert(vec![own.clone(), authority.clone()], key)
            .map_err(|error| failed(&error))?;
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            text,
            own,
            authority,
            tls: Arc::new(tls),
        })
    }

    /// Returns the certificate with its key, as text to store.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the SHA-256 fingerprint as browsers show it, such as `3F:A0:…`.
    pub fn fingerprint(&self) -> String {
        ContentHash::from_bytes(&self.own)
            .as_bytes()
            .map(|byte| format!("{byte:02X}"))
            .join(":")
    }

    /// Returns the certificate that a phone installs in order to trust this one, in DER.
    pub fn authority(&self) -> &[u8] {
        &self.authority
    }
}

impl fmt::Debug for PageCertificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PageCertificate")
            .finish_non_exhaustive()
    }
}

fn failed(error: &dyn fmt::Display) -> ToolError {
    ToolError::new(
        Code::Internal,
        format!("cannot make the certificate of the page: {error}"),
        Some("try again".into()),
    )
}

fn create_text(address: IpAddr, now: DateTime<Utc>) -> Result<String, rcgen::Error> {
    let end = now + LIFETIME;
    let params = |names: Vec<String>| {
        let mut params = CertificateParams::new(names)?;
        // A clock that is a little behind accepts the certificate too.
        set_validity(
            &mut params,
            now - TimeDelta::days(2),
            end + TimeDelta::days(1),
        );
        Ok::<_, rcgen::Error>(params)
    };
    let mut authority = params(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let bits = if address.is_ipv4() { 32 } else { 128 };
    authority.name_constraints = Some(NameConstraints {
        permitted_subtrees: vec![
            GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(address, bits)),
            GeneralSubtree::DnsName(NO_NAME.into()),
        ],
        excluded_subtrees: Vec::new(),
    });
    let name = format!("memory at {address}");
    authority.distinguished_name.push(DnType::CommonName, &name);
    let authority_key = KeyPair::generate()?;
    let authority_certificate = authority.self_signed(&authority_key)?;
    let issuer = Issuer::new(authority, authority_key);
    let mut own = params(vec![address.to_string()])?;
    own.distinguished_name
        .push(DnType::CommonName, format!("{name}, page"));
    own.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    own.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    own.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = own.signed_by(&key, &issuer)?;
    Ok(format!(
        "{VALID_UNTIL}{}\n{}{}{}",
        end.to_rfc3339(),
        certificate.pem(),
        authority_certificate.pem(),
        key.serialize_pem()
    ))
}

/// Sets the days within which a certificate is valid.
fn set_validity(params: &mut CertificateParams, from: DateTime<Utc>, to: DateTime<Utc>) {
    let number = |value: u32| u8::try_from(value).unwrap_or(1);
    let day =
        |time: DateTime<Utc>| date_time_ymd(time.year(), number(time.month()), number(time.day()));
    (params.not_before, params.not_after) = (day(from), day(to));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_read_again_until_a_month_before_its_end() {
        let now = "2026-05-01T10:00:00Z".parse().unwrap();
        let created = PageCertificate::create("192.168.1.5".parse().unwrap(), now).unwrap();
        let read = PageCertificate::parse(created.text(), now).unwrap();
        assert_eq!(read.fingerprint(), created.fingerprint());
        assert_eq!(created.fingerprint().len(), 32 * 3 - 1);
        assert!(PageCertificate::parse(created.text(), now + TimeDelta::days(370)).is_none());
        assert!(PageCertificate::parse("", now).is_none());
        assert!(PageCertificate::parse(&created.text()[..600], now).is_none());
        assert_eq!(created.text().matches("PRIVATE KEY").count(), 2, "one key");
        assert_eq!(format!("{created:?}"), "PageCertificate { .. }");
        let late = "9999-12-31T10:00:00Z".parse().unwrap();
        assert!(PageCertificate::create("::1".parse().unwrap(), late).is_err());
        assert!(PageCertificate::create("::1".parse().unwrap(), now).is_ok());
    }
}
