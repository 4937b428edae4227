//! Encryption, and verification of the server.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The verification of the server, as selected by `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TlsVerification {
    /// `disable`: no encryption.
    Nobody,
    /// `prefer`: no verification; encryption if the server supports it.
    AnyoneOrNobody,
    /// `require`: encryption without verification.
    Anyone,
    /// `verify-ca`: the certificate is signed by an authority; its name is not verified.
    Authorities,
    /// `verify-full`: the certificate is signed by an authority and contains the name of the host.
    Name,
}

impl TlsVerification {
    /// Parses an `sslmode`; the default is `prefer`.
    ///
    /// If the address names authorities, `require` verifies the certificate.
    pub(super) fn parse(word: Option<&str>, has_roots: bool) -> Option<Self> {
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

/// Returns a TLS connector that verifies the server as `trust` requires.
///
/// The authorities are those in the file `roots`, or those that browsers trust.
///
/// # Errors
/// The reason why the file cannot be used, as a fragment.
pub(super) fn tls_connector(
    trust: TlsVerification,
    roots: Option<&Path>,
    is_direct: bool,
) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        TlsVerification::Nobody | TlsVerification::AnyoneOrNobody | TlsVerification::Anyone => {
            Arc::new(LenientVerifier {
                provider: Arc::clone(&provider),
                known: None,
            })
        }
        TlsVerification::Authorities | TlsVerification::Name => {
            let known = WebPkiServerVerifier::builder_with_provider(
                Arc::new(load_authorities(roots)?),
                Arc::clone(&provider),
            );
            let known = known.build().map_err(|error| error.to_string())?;
            match trust {
                TlsVerification::Name => known,
                _ => Arc::new(LenientVerifier {
                    provider: Arc::clone(&provider),
                    known: Some(known),
                }),
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

fn load_authorities(file: Option<&Path>) -> Result<RootCertStore, String> {
    let Some(file) = file else {
        return Ok(RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        });
    };
    let told = |error: rustls::pki_types::pem::Error| error.to_string();
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(told)? {
        store
            .add(certificate.map_err(told)?)
            .map_err(|error| error.to_string())?;
    }
    if store.is_empty() {
        Err("it contains no certificate".to_owned())
    } else {
        Ok(store)
    }
}

/// A verifier that accepts any name, and any certificate if there are no authorities.
///
/// The server must prove that it has the key of its certificate.
#[derive(Debug)]
struct LenientVerifier {
    provider: Arc<CryptoProvider>,
    known: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for LenientVerifier {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(known) = &self.known else {
            return Ok(ServerCertVerified::assertion());
        };
        match known.verify_server_cert(own, between, name, ocsp, now) {
            // The name is verified last, so all other checks have passed.
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
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
