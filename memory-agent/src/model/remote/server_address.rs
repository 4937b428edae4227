//! The address of a server that is hidden in all output if it may contain a secret.

use std::fmt;
use std::net::IpAddr;

use ureq::http::Uri;

/// The address of a model server or of a proxy server, which may be invalid.
///
/// `Debug` and `Display` hide an address that may contain a password or a key. Such an address of a model server is rejected on use.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerAddress(String);

impl ServerAddress {
    /// The text in place of an address with a secret.
    pub const HIDDEN: &str = "(hidden)";

    /// Returns the address in plain text, for a connection only. Do not print it.
    pub fn expose_secret(&self) -> &str {
        &self.0
    }

    /// Returns whether the server is on this machine.
    pub fn is_local(&self) -> bool {
        let uri = self.0.parse::<Uri>().ok();
        let Some(host) = uri.as_ref().and_then(Uri::host) else {
            return false;
        };
        let host = host.trim_matches(['[', ']']);
        let is_loopback = |ip: IpAddr| ip.is_loopback() || ip.is_unspecified();
        host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(is_loopback)
    }
}

impl<T: AsRef<str>> From<T> for ServerAddress {
    fn from(text: T) -> Self {
        Self(text.as_ref().trim().to_owned())
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = if self.0.contains(['@', '?', '#']) {
            Self::HIDDEN
        } else {
            &self.0
        };
        formatter.write_str(shown)
    }
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ServerAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_a_secret_is_never_shown() {
        for address in [
            "https://ann:secret@host/v1",
            "https://host/v1?key=secret",
            "host#secret",
        ] {
            let address = ServerAddress::from(address);
            assert!(!format!("{address} {address:?}").contains("secret"));
        }
        let address = ServerAddress::from(" http://localhost:11434/v1\n");
        assert_eq!(
            format!("{address} {address:?}"),
            "http://localhost:11434/v1 ServerAddress(http://localhost:11434/v1)"
        );
    }

    #[test]
    fn only_the_addresses_of_this_machine_are_local() {
        for address in [
            "http://localhost:11434/v1",
            "https://127.0.0.9/v1",
            "http://[::1]:80",
        ] {
            assert!(ServerAddress::from(address).is_local(), "{address}");
        }
        for address in [
            "https://localhost.example/v1",
            "http://192.168.0.2/v1",
            "",
            "http://127.0.0.1@host/v1",
        ] {
            assert!(!ServerAddress::from(address).is_local(), "{address}");
        }
    }
}
