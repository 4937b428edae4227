//! Whom a connection trusts.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Whom a connection trusts, as `sslmode` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// `disable`: nothing is encrypted.
    Nobody,
    /// `prefer`: whoever answers; what is said is encrypted if they can.
    AnyoneOrNobody,
    /// `require`: whoever answers, encrypted.
    Anyone,
    /// `verify-ca`: whom an authority vouches for, whatever their name.
    Authorities,
    /// `verify-full`: whom an authority vouches for by the name of the host.
    Name,
}

impl Trust {
    /// Reads the word for it; without one, it is `prefer`. Whoever names authorities wants them asked.
    pub(super) fn read(word: Option<&str>, has_roots: bool) -> Option<Self> {
        Some(match word {
            Some("disable") => Self::Nobody,
            None | Some("allow" | "prefer") => Self::AnyoneOrNobody,
            Some("require") if has_roots => Self::Authorities,
            Some("require") => Self::Anyone,
            Some("verify-ca") => Self::Authorities,
            Some("verify-full") => Self::Name,
            Some(_) => return None,
        })
    }
}

/// Returns what encrypts connections to whom `trust` trusts. The authorities are those in the file `roots`, or those that browsers
/// trust.
///
/// # Errors
/// Why the file cannot be used, as a fragment.
pub(super) fn connector(trust: Trust, roots: Option<&Path>, is_direct: bool) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::Nobody | Trust::AnyoneOrNobody | Trust::Anyone => {
            Arc::new(Lenient { provider: Arc::clone(&provider), known: None })
        }
        Trust::Authorities | Trust::Name => {
            let known = WebPkiServerVerifier::builder_with_provider(Arc::new(authorities(roots)?), Arc::clone(&provider));
            let known = known.build().map_err(|error| error.to_string())?;
            match trust {
                Trust::Name => known,
                _ => Arc::new(Lenient { provider: Arc::clone(&provider), known: Some(known) }),
            }
        }
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring knows the usual versions of TLS")
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    if is_direct {
        config.alpn_protocols = vec![b"postgresql".to_vec()];
    }
    Ok(MakeRustlsConnect::new(config))
}

fn authorities(file: Option<&Path>) -> Result<RootCertStore, String> {
    let Some(file) = file else { return Ok(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }) };
    let told = |error: rustls::pki_types::pem::Error| error.to_string();
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(told)? {
        store.add(certificate.map_err(told)?).map_err(|error| error.to_string())?;
    }
    if store.is_empty() { Err("it holds no certificate".to_owned()) } else { Ok(store) }
}

/// Trusts whom the authorities vouch for, whatever their name; or anyone who holds the key of what they show, if there are none.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    known: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(known) = &self.known else { return Ok(ServerCertVerified::assertion()) };
        match known.verify_server_cert(own, between, name, ocsp, now) {
            // The name is looked at last.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
