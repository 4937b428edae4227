//! Encryption, and verification of the server.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
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
    let (known, certificates) = match trust {
        TlsVerification::Nobody | TlsVerification::AnyoneOrNobody | TlsVerification::Anyone => {
            (None, Vec::new())
        }
        TlsVerification::Authorities | TlsVerification::Name => {
            let (store, certificates) = load_authorities(roots)?;
            let known =
                WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(&provider));
            let known = known.build().map_err(|error| error.to_string())?;
            (Some(known), certificates)
        }
    };
    let verifier = Arc::new(ServerVerifier {
        provider: Arc::clone(&provider),
        known,
        certificates,
        checks_name: trust == TlsVerification::Name,
    });
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

/// Returns the authorities, and the certificates in the file.
fn load_authorities(
    file: Option<&Path>,
) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), String> {
    let Some(file) = file else {
        let roots = webpki_roots::TLS_SERVER_ROOTS.to_vec();
        return Ok((RootCertStore { roots }, Vec::new()));
    };
    let mut store = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| error.to_string())?;
    for certificate in &certificates {
        store
            .add(certificate.clone())
            .map_err(|error| error.to_string())?;
    }
    if store.is_empty() {
        Err("it contains no certificate".to_owned())
    } else {
        Ok((store, certificates))
    }
}

/// A verifier that accepts any certificate if there are no authorities, and any name unless it checks names.
///
/// The server must prove that it has the key of its certificate.
#[derive(Debug)]
struct ServerVerifier {
    provider: Arc<CryptoProvider>,
    known: Option<Arc<WebPkiServerVerifier>>,
    /// The certificates in the file of authorities.
    certificates: Vec<CertificateDer<'static>>,
    checks_name: bool,
}

impl ServerCertVerifier for ServerVerifier {
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
            // A self-signed certificate is one of an authority, unless it states otherwise. If the file contains it, the server may use
            // it, as with psql. Its dates were verified before.
            Err(error) if is_authority_error(&error) && self.certificates.contains(own) => {
                if self.checks_name {
                    verify_server_name(&ParsedCertificate::try_from(own)?, name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            // The name is verified last, so all other checks have passed.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
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

/// Returns whether a server uses the certificate of an authority as its own.
fn is_authority_error(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(CertificateError::Other(other)) if format!("{other:?}").contains("CaUsedAsEndEntity"))
}
