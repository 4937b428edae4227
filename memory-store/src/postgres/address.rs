//! The address of a database.

use std::fmt;
use std::path::PathBuf;

use memory_core::instance::InstanceError;
use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use zeroize::Zeroizing;

use super::tls::TlsVerification;

/// Options of an address that are ignored: there is nothing to choose here.
const IGNORED_OPTIONS: [&str; 7] = [
    "client_encoding",
    "fallback_application_name",
    "gssencmode",
    "gsslib",
    "krbsrvname",
    "pgbouncer",
    "sslcompression",
];

/// Options that are passed to the client. `sslmode` and `sslrootcert` are parsed separately.
const CLIENT_OPTIONS: [&str; 18] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "load_balance_hosts",
    "options",
    "password",
    "port",
    "sslnegotiation",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// Options of other clients that are rejected, since ignoring them would change the behavior.
const UNSUPPORTED_OPTIONS: [&str; 9] = [
    "passfile",
    "require_auth",
    "requiressl",
    "service",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
    "sslcert",
    "sslcrl",
    "sslkey",
];

/// The address of a database, and the settings of its connections.
///
/// The `Debug` output contains no part of the address.
pub(super) struct DatabaseAddress {
    /// The settings of the client.
    pub config: Config,
    /// The verification of the server.
    pub trust: TlsVerification,
    /// The file with the certificate authorities of the server, if it is given.
    pub roots: Option<PathBuf>,
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Address")
            .field("trust", &self.trust)
            .finish_non_exhaustive()
    }
}

type AddressOptions = Vec<(String, Zeroizing<String>)>;

impl DatabaseAddress {
    /// Parses an address.
    ///
    /// The forms are `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…` and `host=… user=… password=… dbname=…`.
    ///
    /// # Errors
    /// [`InstanceError::Invalid`], which contains no part of the address.
    pub(super) fn parse(address: &str) -> Result<Self, InstanceError> {
        let address = address.trim();
        let is_url = address.starts_with("postgres://") || address.starts_with("postgresql://");
        let (base, options) = if is_url {
            let (base, query) = address.split_once('?').unwrap_or((address, ""));
            (Some(base), parse_query(query).ok_or_else(parse_error)?)
        } else {
            (None, parse_pairs(address).ok_or_else(parse_error)?)
        };
        let (mut mode, mut roots) = (None, None);
        let mut left = Zeroizing::new(base.unwrap_or_default().to_owned());
        let mut mark = '?';
        for (name, add_value) in options {
            match name.as_str() {
                "sslmode" => mode = Some(add_value),
                "sslrootcert" => roots = Some(add_value),
                known if IGNORED_OPTIONS.contains(&known) => {}
                known if CLIENT_OPTIONS.contains(&known) => {
                    if is_url {
                        left.extend([
                            mark.to_string().as_str(),
                            known,
                            "=",
                            &percent_encode(&add_value),
                        ]);
                        mark = '&';
                    } else {
                        left.extend([known, "='", &escape_value(&add_value), "' "]);
                    }
                }
                known if UNSUPPORTED_OPTIONS.contains(&known) => {
                    return Err(address_error(format!(
                        "the address option {known} is not supported"
                    )));
                }
                _ => return Err(parse_error()),
            }
        }
        let mut config: Config = left.parse().map_err(|_| parse_error())?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(address_error("the database address has no host"));
        }
        let trust = TlsVerification::parse(
            mode.as_ref().map(|mode| mode.as_str()),
            roots.is_some(),
        )
        .ok_or_else(|| {
            address_error(
                "sslmode must be one of disable, allow, prefer, require, verify-ca and verify-full",
            )
        })?;
        // A Unix socket cannot be intercepted from the network, and servers do not offer TLS on it.
        let is_socket = |host: &Host| !matches!(host, Host::Tcp(_));
        let is_local = !config.get_hosts().is_empty() && config.get_hosts().iter().all(is_socket);
        config.ssl_mode(match trust {
            _ if is_local => SslMode::Disable,
            TlsVerification::Nobody => SslMode::Disable,
            TlsVerification::AnyoneOrNobody => SslMode::Prefer,
            TlsVerification::Anyone | TlsVerification::Authorities | TlsVerification::Name => {
                SslMode::Require
            }
        });
        if config.get_application_name().is_none() {
            config.application_name("memory");
        }
        // `system` selects the built-in authorities, which are also the default.
        let roots = roots
            .filter(|file| file.as_str() != "system")
            .map(|file| PathBuf::from(file.as_str()));
        Ok(Self {
            config,
            trust,
            roots,
        })
    }
}

fn parse_error() -> InstanceError {
    address_error("the database address is invalid")
}

fn address_error(why: impl Into<String>) -> InstanceError {
    let hint = "an address is postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=MODE, where special characters of a password are \
                written as %40, or host=HOST user=USER password='PASSWORD' dbname=DATABASE; @FILE reads an address from a file";
    InstanceError::invalid(why, hint)
}

fn parse_query(query: &str) -> Option<AddressOptions> {
    let decoded = |text: &str| {
        percent_decode_str(text)
            .decode_utf8()
            .ok()
            .map(std::borrow::Cow::into_owned)
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            pair.split_once('=')
                .and_then(|(name, value)| Some((decoded(name)?, decoded(value)?.into())))
        })
        .collect()
}

fn percent_encode(value: &str) -> Zeroizing<String> {
    percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC)
        .to_string()
        .into()
}

fn escape_value(value: &str) -> Zeroizing<String> {
    value.replace('\\', "\\\\").replace('\'', "\\'").into()
}

/// Parses `name=value name='other value'`, where a backslash escapes the next character.
fn parse_pairs(text: &str) -> Option<AddressOptions> {
    let mut options = AddressOptions::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let (quoted, after) = after
            .strip_prefix('\'')
            .map_or((false, after), |after| (true, after));
        let mut value = Zeroizing::new(String::new());
        let mut characters = after.char_indices();
        let end = loop {
            match characters.next() {
                None if quoted => return None,
                None => break after.len(),
                Some((_, '\\')) => value.push(characters.next()?.1),
                Some((at, '\'')) if quoted => break at + 1,
                Some((at, space)) if !quoted && space.is_whitespace() => break at,
                Some((_, other)) => value.push(other),
            }
        };
        options.push((name.trim_end().to_owned(), value));
        rest = after[end..].trim_start();
    }
    Some(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Config, TlsVerification, Option<PathBuf>) {
        let DatabaseAddress {
            config,
            trust,
            roots,
        } = DatabaseAddress::parse(text).unwrap();
        (config, trust, roots)
    }

    #[test]
    fn both_forms_say_the_same() {
        let url = "postgresql://anna:p%40%27ss@db.example:6432/notes?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem&connect_timeout=3";
        let words = "host=db.example port = 6432 user=anna password='p@\\'ss' dbname=notes sslmode=verify-full sslrootcert=/etc/ca.pem \
                     connect_timeout=3";
        let (url, words) = (read(url), read(words));
        assert_eq!(url, words);
        assert_eq!(
            (url.1, url.2),
            (TlsVerification::Name, Some("/etc/ca.pem".into()))
        );
        assert_eq!(
            (url.0.get_password(), url.0.get_ports()),
            (Some(b"p@'ss".as_slice()), [6432].as_slice())
        );
    }

    #[test]
    fn every_mode_is_the_one_that_others_know() {
        for (mode, trust, asked) in [
            ("", TlsVerification::AnyoneOrNobody, SslMode::Prefer),
            (
                "?sslmode=disable",
                TlsVerification::Nobody,
                SslMode::Disable,
            ),
            (
                "?sslmode=prefer",
                TlsVerification::AnyoneOrNobody,
                SslMode::Prefer,
            ),
            (
                "?sslmode=require",
                TlsVerification::Anyone,
                SslMode::Require,
            ),
            (
                "?sslmode=require&sslrootcert=ca.pem",
                TlsVerification::Authorities,
                SslMode::Require,
            ),
            (
                "?sslmode=verify-ca",
                TlsVerification::Authorities,
                SslMode::Require,
            ),
            (
                "?sslrootcert=system&sslmode=verify-full",
                TlsVerification::Name,
                SslMode::Require,
            ),
        ] {
            let (config, found, _) = read(&format!("postgres://u:p@h/d{mode}"));
            assert_eq!((found, config.get_ssl_mode()), (trust, asked), "{mode}");
        }
        let (config, ..) = read("postgres://u:p@%2Frun%2Fpostgresql/d?sslmode=require");
        assert_eq!(
            config.get_ssl_mode(),
            SslMode::Disable,
            "a socket needs none"
        );
    }

    #[test]
    fn what_cannot_be_read_is_not_repeated() {
        for wrong in [
            "",
            "hunter2",
            "postgres://u:hunter2@h:x/d",
            "postgres://u:p@h/d?hunter2=1",
            "postgres://u:p@h/d?sslmode=hunter2",
            "postgres://u:p@h/d?sslkey=hunter2",
            "postgres:///d?user=hunter2",
            "host=h password=my hunter2",
            "host=h password='hunter2",
            "host=h port=hunter2",
            "mysql://hunter2@h/d",
        ] {
            let error = DatabaseAddress::parse(wrong).unwrap_err();
            assert_eq!(error.code(), memory_core::Code::InvalidInput);
            assert!(
                !format!("{error:?} {error} {:?}", error.hint()).contains("hunter2"),
                "{wrong}"
            );
        }
        assert!(
            !format!(
                "{:?}",
                DatabaseAddress::parse("postgres://u:hunter2@h/d").unwrap()
            )
            .contains("hunter2")
        );
    }
}
