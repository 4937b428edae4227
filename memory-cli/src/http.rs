//! Addresses, tokens and access rules of the HTTP servers.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;

use memory_agent::Agent;
use memory_agent::http::{AccessRules, AccessToken, HttpLimits, HttpServerConfig, PrincipalRules};
use memory_agent::instance::{InstanceHandle, OpenInstances, backend};
use memory_core::StoreHealth;
use memory_store::postgres::PrincipalTable;
use memory_store::system::raise_open_files_limit;

use crate::config::Settings;
use crate::failure::Failure;
use crate::home::Home;
use crate::instances::DEFAULT;
use crate::shared_store::find_database;

/// The flags of a server for use in error messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerFlags {
    /// The flag for another port, as in "choose another port with --port".
    port: &'static str,
    /// The flag for another address.
    host: &'static str,
    /// The flags that allow access from other users and machines.
    open: &'static str,
    /// How clients then send the token.
    send: &'static str,
}

/// The flags of `memory proxy`.
pub(crate) const PROXY: ServerFlags = ServerFlags {
    port: "--port, such as --port 8101",
    host: "--host",
    open: "--host 0.0.0.0 --auth-token TOKEN",
    send: "have applications send TOKEN as their API key",
};

/// The flags of `memo serve`.
pub(crate) const INSTANCES: ServerFlags = ServerFlags {
    port: "--addr, such as --addr 127.0.0.1:8766",
    host: "--addr",
    open: "--addr 0.0.0.0:8765 --auth-token TOKEN",
    send: "have clients send Authorization: Bearer TOKEN",
};

/// The flags of `memory daemon run`.
pub(crate) const DAEMON: ServerFlags = ServerFlags {
    port: "--http, such as --http 127.0.0.1:8718",
    host: "--http",
    open: "--http 0.0.0.0:8717 --auth-token TOKEN",
    send: "have clients send Authorization: Bearer TOKEN",
};

impl ServerFlags {
    /// Returns the access rules of a server on a home, with this token.
    ///
    /// If the home shares its memories, principals may call the server with tokens of their own.
    pub(crate) fn home_access_rules(
        &self,
        token: Option<AccessToken>,
        home: &Home,
    ) -> Result<AccessRules, Failure> {
        let own = home.services.principal.clone();
        let database = find_database(&home.settings)?;
        let principals = database
            .map(|database| PrincipalRules::new(Arc::new(PrincipalTable::new(database)), own));
        Ok(AccessRules {
            principals,
            ..self.access_rules(token, &home.settings)
        })
    }

    /// Returns the access rules of a server with this token and these settings.
    pub(crate) fn access_rules(
        &self,
        token: Option<AccessToken>,
        settings: &Settings,
    ) -> AccessRules {
        let how_to_admit = format!(
            "to allow access from containers (Docker), other users or other machines, start it with {} and {}",
            self.open, self.send
        );
        AccessRules {
            token,
            principals: None,
            site: None,
            origins: settings.allowed_origins.clone(),
            how_to_admit,
        }
    }

    /// Returns the next step after a failure to listen.
    fn advice(&self, error: &io::Error) -> Option<String> {
        let advice = match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("the port is in use: choose another port with {}", self.port)
            }
            io::ErrorKind::AddrNotAvailable => format!(
                "this machine has no such address: choose another with {}",
                self.host
            ),
            io::ErrorKind::PermissionDenied => {
                format!("choose a port above 1023 with {}", self.port)
            }
            _ => return None,
        };
        Some(advice)
    }
}

/// Maximum number of open files that is requested from the system.
const MAX_OPEN_FILES: u64 = 16 * 1024;

/// The socket addresses of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListenAddress(Vec<SocketAddr>);

/// Parses an address with a port: `127.0.0.1:8765`, `localhost:8765`, or `:8765` for all interfaces.
pub(crate) fn parse_address(text: &str) -> Result<ListenAddress, String> {
    let everywhere = text
        .strip_prefix(':')
        .map(|port| [format!("[::]:{port}"), format!("0.0.0.0:{port}")]);
    let texts = everywhere.map_or_else(|| vec![text.to_owned()], Vec::from);
    let found: Vec<SocketAddr> = texts
        .iter()
        .filter_map(|text| text.to_socket_addrs().ok())
        .flatten()
        .collect();
    if found.is_empty() {
        Err("not an address with a port, such as 127.0.0.1:8765".into())
    } else {
        Ok(ListenAddress(found))
    }
}

impl From<SocketAddr> for ListenAddress {
    fn from(address: SocketAddr) -> Self {
        Self(vec![address])
    }
}

impl ListenAddress {
    /// Opens a listener. An address other than loopback requires a token.
    pub(crate) fn listen(
        &self,
        token: Option<&AccessToken>,
        flags: ServerFlags,
    ) -> Result<TcpListener, Failure> {
        if let (None, Some(open)) = (
            token,
            self.0.iter().find(|address| !address.ip().is_loopback()),
        ) {
            let hint = "add --auth-token TOKEN, set MEMO_AUTH_TOKEN, or listen on 127.0.0.1";
            return Err(Failure::usage(
                format!("{open} is reachable from other machines, which requires a token"),
                hint,
            ));
        }
        let mut refused = None;
        for address in &self.0 {
            match TcpListener::bind(address)
                .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            {
                Ok(listener) => return Ok(listener),
                Err(error) => refused = refused.or(Some((address, error))),
            }
        }
        let (address, error) = refused.expect("there is at least one address");
        Err(Failure::Listen {
            address: *address,
            hint: flags.advice(&error),
            source: error,
        })
    }
}

/// Returns the HTTP frontend for the instances and for the tools of `agent`.
///
/// The tools access the default notes.
pub(crate) fn build_front(
    agent: Arc<Agent>,
    instances: Arc<OpenInstances>,
    access: AccessRules,
    health: Arc<dyn StoreHealth>,
) -> Result<HttpServerConfig, Failure> {
    // An error is reported to the client that requests this instance.
    let _ = instances.insert(
        backend("notes")?,
        &DEFAULT.parse()?,
        InstanceHandle::Tools(Arc::clone(&agent) as _),
    );
    Ok(HttpServerConfig {
        agent,
        instances,
        access,
        limits: limits(),
        chat: None,
        health: Some(health),
    })
}

/// Returns the limits of the server, adapted to the number of files that may be open.
pub(crate) fn limits() -> HttpLimits {
    let limits = HttpLimits::default();
    // All users together have twice as many connections, and the other half of the open files is for files being read and written.
    HttpLimits {
        connections: limits.connections.min(raise_file_limit() / 4),
        ..limits
    }
}

/// Raises the limit of open files of this process as far as allowed, and returns it.
fn raise_file_limit() -> usize {
    let files = raise_open_files_limit(MAX_OPEN_FILES).unwrap_or(MAX_OPEN_FILES);
    usize::try_from(files).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port_and_may_be_everywhere() {
        assert_eq!(
            parse_address("127.0.0.1:80").map(|found| found.0[0].to_string()),
            Ok("127.0.0.1:80".into())
        );
        assert_eq!(
            parse_address("[::1]:80").map(|found| found.0[0].to_string()),
            Ok("[::1]:80".into())
        );
        let everywhere: Vec<_> = parse_address(":80")
            .expect("addresses")
            .0
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(everywhere, ["[::]:80", "0.0.0.0:80"]);
        for wrong in ["", "80", "127.0.0.1", "127.0.0.1:x", ":", "127.0.0.1:99999"] {
            assert!(parse_address(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn others_are_let_in_by_a_token_only() {
        let token = AccessToken::new("t".into());
        for everywhere in ["0.0.0.0:0", ":0"] {
            let everywhere = parse_address(everywhere).expect("an address");
            assert!(everywhere.listen(None, PROXY).is_err());
            assert!(everywhere.listen(token.as_ref(), PROXY).is_ok());
        }
        assert!(
            parse_address("127.0.0.1:0")
                .expect("an address")
                .listen(None, PROXY)
                .is_ok()
        );
    }
}
