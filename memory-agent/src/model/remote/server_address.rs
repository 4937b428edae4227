//! The address of a server that is hidden in all output if it may contain a secret.

use std::fmt;
use std::net::IpAddr;

use ureq::http::Uri;

use super::endpoint::Endpoint;

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

    /// Returns whether it is the URL of a model server, with a scheme, a valid host and port, and without a secret.
    pub fn is_url(&self) -> bool {
        let uri = self.0.parse::<Uri>().ok();
        let Some(authority) = uri.as_ref().and_then(Uri::authority) else {
            return false;
        };
        let port = authority.as_str().strip_prefix(authority.host());
        let is_port = |port: &str| match port.strip_prefix(':') {
            Some(digits) => {
                let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
                is_number && digits.parse::<u16>().is_ok_and(|port| 0 < port)
            }
            None => port.is_empty(),
        };
        Endpoint::parse(&self.0, "").is_ok()
            && is_host(authority.host())
            && port.is_some_and(is_port)
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

/// Returns whether a text is an IP address or a host name, without a port. An IPv6 address may be in brackets.
pub fn is_host(text: &str) -> bool {
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    if bare.parse::<IpAddr>().is_ok() {
        return bare == text || bare.contains(':');
    }
    let is_label = |label: &str| {
        let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (1..=63).contains(&label.len())
            && label.bytes().all(is_inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let name = text.strip_suffix('.').unwrap_or(text);
    // A name that ends in a number is an IPv4 address with an error.
    let ends_in_number = name
        .rsplit('.')
        .next()
        .is_some_and(|label| label.bytes().all(|byte| byte.is_ascii_digit()));
    name.len() <= 253 && name.split('.').all(is_label) && !ends_in_number
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
    fn a_host_is_a_name_or_an_ip_address() {
        for host in [
            "localhost",
            "api.example.com",
            "my_service-1",
            "127.0.0.1",
            "0.0.0.0",
            "::1",
            "[::1]",
            "example.com.",
        ] {
            assert!(is_host(host), "{host}");
        }
        for text in [
            "",
            "not a host",
            "localhost:80",
            "http://localhost",
            "256.1.1.1",
            "1.2.3",
            "a..b",
            "-a",
            "[127.0.0.1]",
            "[::1",
            "a/b",
            "*",
        ] {
            assert!(!is_host(text), "{text}");
        }
    }

    #[test]
    fn a_url_has_a_scheme_a_host_and_a_port_that_exists() {
        for url in [
            "https://api.openai.com/v1",
            "http://localhost:11434/v1/",
            "http://[::1]:80",
        ] {
            assert!(ServerAddress::from(url).is_url(), "{url}");
        }
        for text in [
            "http://:8080/v1",
            "http://host:99999",
            "http://host:+80",
            "http://host:0",
            "https://https://host/v1",
            "http://256.1.1.1",
            "http://a..b",
            "https://ann:secret@host/v1",
            "localhost:11434",
            "not-a-url",
        ] {
            assert!(!ServerAddress::from(text).is_url(), "{text}");
        }
    }

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
