//! The address of a database.

use std::fmt;
use std::path::PathBuf;

use memory_core::instance::InstanceError;
use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use zeroize::Zeroizing;

use super::tls::Trust;

/// Options of an address that are ignored: there is nothing to choose here.
const MEANINGLESS: [&str; 7] =
    ["client_encoding", "fallback_application_name", "gssencmode", "gsslib", "krbsrvname", "pgbouncer", "sslcompression"];

/// Options that are passed to the client. `sslmode` and `sslrootcert` are parsed separately.
const UNDERSTOOD: [&str; 18] = [
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
const REFUSED: [&str; 9] = [
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
pub(super) struct Address {
    /// The settings of the client.
    pub config: Config,
    /// The verification of the server.
    pub trust: Trust,
    /// The file with the certificate authorities of the server, if it is given.
    pub roots: Option<PathBuf>,
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Address").field("trust", &self.trust).finish_non_exhaustive()
    }
}

type Options = Vec<(String, Zeroizing<String>)>;

impl Address {
    /// Parses an address.
    ///
    /// The forms are `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…` and `host=… user=… password=… dbname=…`.
    ///
    /// # Errors
    /// [`InstanceError::Invalid`], which contains no part of the address.
    pub(super) fn read(address: &str) -> Result<Self, InstanceError> {
        let address = address.trim();
        let is_url = address.starts_with("postgres://") || address.starts_with("postgresql://");
        let (base, options) = if is_url {
            let (base, query) = address.split_once('?').unwrap_or((address, ""));
            (Some(base), of_query(query).ok_or_else(unreadable)?)
        } else {
            (None, of_words(address).ok_or_else(unreadable)?)
        };
        let (mut mode, mut roots) = (None, None);
        let mut left = Zeroizing::new(base.unwrap_or_default().to_owned());
        let mut mark = '?';
        for (name, value) in options {
            match name.as_str() {
                "sslmode" => mode = Some(value),
                "sslrootcert" => roots = Some(value),
                known if MEANINGLESS.contains(&known) => {}
                known if UNDERSTOOD.contains(&known) => {
                    if is_url {
                        left.extend([mark.to_string().as_str(), known, "=", &encoded(&value)]);
                        mark = '&';
                    } else {
                        left.extend([known, "='", &escaped(&value), "' "]);
                    }
                }
                known if REFUSED.contains(&known) => {
                    return Err(refused(format!("the address option {known} is not supported")));
                }
                _ => return Err(unreadable()),
            }
        }
        let mut config: Config = left.parse().map_err(|_| unreadable())?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(refused("the database address has no host"));
        }
        let trust = Trust::read(mode.as_ref().map(|mode| mode.as_str()), roots.is_some())
            .ok_or_else(|| refused("sslmode must be one of disable, allow, prefer, require, verify-ca and verify-full"))?;
        // A Unix socket cannot be intercepted from the network, and servers do not offer TLS on it.
        let is_socket = |host: &Host| matches!(host, Host::Unix(_));
        let is_local = !config.get_hosts().is_empty() && config.get_hosts().iter().all(is_socket);
        config.ssl_mode(match trust {
            _ if is_local => SslMode::Disable,
            Trust::Nobody => SslMode::Disable,
            Trust::AnyoneOrNobody => SslMode::Prefer,
            Trust::Anyone | Trust::Authorities | Trust::Name => SslMode::Require,
        });
        if config.get_application_name().is_none() {
            config.application_name("memory");
        }
        // `system` selects the built-in authorities, which are also the default.
        let roots = roots.filter(|file| file.as_str() != "system").map(|file| PathBuf::from(file.as_str()));
        Ok(Self { config, trust, roots })
    }
}

fn unreadable() -> InstanceError {
    refused("the database address is invalid")
}

fn refused(why: impl Into<String>) -> InstanceError {
    let hint = "an address is postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=MODE, where special characters of a password are \
                written as %40, or host=HOST user=USER password='PASSWORD' dbname=DATABASE";
    InstanceError::invalid(why, hint)
}

fn of_query(query: &str) -> Option<Options> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned);
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').and_then(|(name, value)| Some((decoded(name)?, decoded(value)?.into())))).collect()
}

fn encoded(value: &str) -> Zeroizing<String> {
    percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC).to_string().into()
}

fn escaped(value: &str) -> Zeroizing<String> {
    value.replace('\\', "\\\\").replace('\'', "\\'").into()
}

/// Parses `name=value name='other value'`, where a backslash escapes the next character.
fn of_words(text: &str) -> Option<Options> {
    let mut options = Options::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let (quoted, after) = after.strip_prefix('\'').map_or((false, after), |after| (true, after));
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

    fn read(text: &str) -> (Config, Trust, Option<PathBuf>) {
        let Address { config, trust, roots } = Address::read(text).unwrap();
        (config, trust, roots)
    }

    #[test]
    fn both_forms_say_the_same() {
        let url =
            "postgresql://anna:p%40%27ss@db.example:6432/notes?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem&connect_timeout=3";
        let words = "host=db.example port = 6432 user=anna password='p@\\'ss' dbname=notes sslmode=verify-full sslrootcert=/etc/ca.pem \
                     connect_timeout=3";
        let (url, words) = (read(url), read(words));
        assert_eq!(url, words);
        assert_eq!((url.1, url.2), (Trust::Name, Some("/etc/ca.pem".into())));
        assert_eq!((url.0.get_password(), url.0.get_ports()), (Some(b"p@'ss".as_slice()), [6432].as_slice()));
    }

    #[test]
    fn every_mode_is_the_one_that_others_know() {
        for (mode, trust, asked) in [
            ("", Trust::AnyoneOrNobody, SslMode::Prefer),
            ("?sslmode=disable", Trust::Nobody, SslMode::Disable),
            ("?sslmode=prefer", Trust::AnyoneOrNobody, SslMode::Prefer),
            ("?sslmode=require", Trust::Anyone, SslMode::Require),
            ("?sslmode=require&sslrootcert=ca.pem", Trust::Authorities, SslMode::Require),
            ("?sslmode=verify-ca", Trust::Authorities, SslMode::Require),
            ("?sslrootcert=system&sslmode=verify-full", Trust::Name, SslMode::Require),
        ] {
            let (config, found, _) = read(&format!("postgres://u:p@h/d{mode}"));
            assert_eq!((found, config.get_ssl_mode()), (trust, asked), "{mode}");
        }
        let (config, ..) = read("postgres://u:p@%2Frun%2Fpostgresql/d?sslmode=require");
        assert_eq!(config.get_ssl_mode(), SslMode::Disable, "a socket needs none");
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
            let error = Address::read(wrong).unwrap_err();
            assert_eq!(error.code(), memory_core::Code::InvalidInput);
            assert!(!format!("{error:?} {error} {:?}", error.hint()).contains("hunter2"), "{wrong}");
        }
        assert!(!format!("{:?}", Address::read("postgres://u:hunter2@h/d").unwrap()).contains("hunter2"));
    }
}
