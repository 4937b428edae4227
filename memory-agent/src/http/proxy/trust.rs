//! Configures the certificate authorities for HTTPS.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use webpki_roots::TLS_SERVER_ROOTS;

use super::upstream::UpstreamError;

/// Returns a TLS configuration that trusts the authorities of browsers and those in `file`.
///
/// Entries of the file that are not valid certificates are skipped.
///
/// # Errors
/// If the file cannot be read, or contains no valid certificate.
pub(super) fn tls_config(file: Option<&Path>) -> Result<ClientConfig, UpstreamError> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().expect("ring knows the usual versions of TLS");
    Ok(config.with_root_certificates(load_authorities(file)?).with_no_client_auth())
}

fn load_authorities(file: Option<&Path>) -> Result<RootCertStore, UpstreamError> {
    let mut roots = RootCertStore { roots: TLS_SERVER_ROOTS.to_vec() };
    if let Some(file) = file {
        let pem = fs::read(file).map_err(|_| UpstreamError::Certificates("it cannot be read"))?;
        let (added, _) = roots.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem).flatten());
        if added == 0 {
            return Err(UpstreamError::Certificates("it contains no valid certificate"));
        }
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An authority that signed no certificates, created for this test.
    const AUTHORITY: &str = "\
        -----BEGIN CERTIFICATE-----\n\
        MIIBdTCCARugAwIBAgIUfHaiR02QsF1tCwFx/MN8qiOa8OIwCgYIKoZIzj0EAwIw\n\
        DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjIxNzU5NDFaGA8yMTI2MTAyOTE3NTk0\n\
        MVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKzB\n\
        7p03SoG5aFdENtzRb6oGF1EChp0Dz7+/PvPPd9UhL5SOJKHkkfXewV/36OBLCgZ4\n\
        5z/sR4glheQc6SnBLYyjUzBRMB0GA1UdDgQWBBTBQEnUTm7QzJO/7ss4Hn2gyr4d\n\
        2DAfBgNVHSMEGDAWgBTBQEnUTm7QzJO/7ss4Hn2gyr4d2DAPBgNVHRMBAf8EBTAD\n\
        AQH/MAoGCCqGSM49BAMCA0gAMEUCIQC0V3bEg+ISmxVwdW5KOymHQ1JxG0RkDdDo\n\
        DKfDd+nRNwIgY62mnqbZr+ryqlR1R8OfSKpZASEUJRGqXHa3KQBDcAs=\n\
        -----END CERTIFICATE-----\n";

    #[test]
    fn whom_browsers_trust_is_trusted_as_well_and_what_is_no_certificate_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let count = |text: &str| {
            let file = folder.path().join("bundle.pem");
            fs::write(&file, text).unwrap();
            load_authorities(Some(&file)).map(|roots| roots.len())
        };
        let browsers = load_authorities(None).unwrap().len();
        assert!(100 < browsers);
        assert_eq!(count(AUTHORITY), Ok(browsers + 1));
        let odd = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let broken = "-----BEGIN CERTIFICATE-----\n%%%%\n-----END CERTIFICATE-----\n";
        assert_eq!(count(&[odd, broken, AUTHORITY, odd, "-----BEGIN CERTIFICATE-----\nAA"].concat()), Ok(browsers + 1));
        for none in ["", "names", odd, broken] {
            assert!(count(none).unwrap_err().to_string().contains("SSL_CERT_FILE"), "{none}");
        }
        assert!(load_authorities(Some(&folder.path().join("nowhere"))).is_err());
    }
}
