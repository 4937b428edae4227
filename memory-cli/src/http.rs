//! Where HTTP is served, and to whom.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use clap::Args;
use memory_agent::Agent;
use memory_agent::http::{HttpFront, HttpLimits, Token};
use memory_agent::instance::{Holding, OpenInstances, backend};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use tokio::sync::oneshot;

use crate::config::Environment;
use crate::failure::Failure;
use crate::instances::DEFAULT;

/// What whoever asks over HTTP must know, as a flag.
#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// What whoever asks over HTTP must send, as Authorization: Bearer TOKEN; better in MEMO_AUTH_TOKEN, since others see what is
    /// typed. Without it, only your own programs on this machine are served
    #[arg(long, value_name = "TOKEN")]
    auth_token: Option<String>,
}

impl TokenArgs {
    /// Returns the token: that which was typed, else that of the environment.
    pub(crate) fn token(&self, environment: &Environment) -> Result<Option<Token>, Failure> {
        let given = match &self.auth_token {
            Some(typed) => Some(("--auth-token", Token::new(typed.clone()).ok_or(()))),
            None => environment.memo_auth_token.clone().map(|token| ("MEMO_AUTH_TOKEN", token)),
        };
        let Some((from, token)) = given else { return Ok(None) };
        let refused =
            |()| Failure::usage(format!("{from} is no token"), "a token is of visible ASCII characters, without spaces");
        token.map(Some).map_err(refused)
    }
}

/// The end of a server that has a process to itself: a signal asks for it, and a second one ends at once.
pub(crate) struct Ending {
    asked: Option<oneshot::Receiver<()>>,
    signals: Handle,
    listening: JoinHandle<()>,
}

impl Ending {
    /// Listens to SIGINT and SIGTERM from now on.
    pub(crate) fn begin() -> Result<Self, Failure> {
        let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Failure::file("listen to signals"))?;
        let (ask, asked) = oneshot::channel();
        let handle = signals.handle();
        let listening = thread::spawn(move || {
            let mut signals = signals.forever();
            if signals.next().is_some() {
                let _ = ask.send(());
                if signals.next().is_some() {
                    std::process::exit(130);
                }
            }
        });
        Ok(Self { asked: Some(asked), signals: handle, listening })
    }

    /// Waits until the end is asked for; may be asked once.
    pub(crate) fn asked(&mut self) -> impl Future<Output = ()> + Send + use<> {
        let asked = self.asked.take();
        async {
            if let Some(asked) = asked {
                drop(asked.await);
            }
        }
    }

    /// Listens to signals no longer.
    pub(crate) fn close(self) {
        self.signals.close();
        // It has told why, if it panicked.
        let _ = self.listening.join();
    }
}

/// More files than this are never open.
const MANY_FILES: u64 = 16 * 1024;

/// Where HTTP is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address(Vec<SocketAddr>);

/// Reads an address with a port: `127.0.0.1:8765`, `localhost:8765`, or `:8765` for all that this machine has.
pub(crate) fn address(text: &str) -> Result<Address, String> {
    let everywhere = text.strip_prefix(':').map(|port| [format!("[::]:{port}"), format!("0.0.0.0:{port}")]);
    let texts = everywhere.map_or_else(|| vec![text.to_owned()], Vec::from);
    let found: Vec<SocketAddr> = texts.iter().filter_map(|text| text.to_socket_addrs().ok()).flatten().collect();
    if found.is_empty() { Err("it is no address with a port, such as 127.0.0.1:8765".into()) } else { Ok(Address(found)) }
}

impl Address {
    /// Listens there. Where others reach it, there must be a token.
    pub(crate) fn listen(&self, token: Option<&Token>) -> Result<TcpListener, Failure> {
        if let (None, Some(open)) = (token, self.0.iter().find(|address| !address.ip().is_loopback())) {
            let hint = "set MEMO_AUTH_TOKEN to a token, or listen on 127.0.0.1";
            return Err(Failure::usage(format!("others could reach {open}, and there is no token"), hint));
        }
        let mut refused = None;
        for address in &self.0 {
            match TcpListener::bind(address).and_then(|listener| listener.set_nonblocking(true).map(|()| listener)) {
                Ok(listener) => return Ok(listener),
                Err(error) => refused = refused.or(Some((address, error))),
            }
        }
        let (address, error) = refused.expect("there is at least one address");
        Err(Failure::file(format!("listen on {address}"))(error))
    }
}

/// Returns what is served: the tools of `agent`, which reach the usual notes and banks, and the instances.
pub(crate) fn front(agent: Arc<Agent>, instances: Arc<OpenInstances>, token: Option<Token>) -> Result<HttpFront, Failure> {
    for name in ["notes", "bank"] {
        // What cannot be read is told to whoever asks for it.
        let _ = instances.keep(backend(name)?, &DEFAULT.parse()?, Holding::Tools(Arc::clone(&agent)));
    }
    Ok(HttpFront { agent, instances, token, limits: limits(), chat: None })
}

/// Returns how much is given to whom.
pub(crate) fn limits() -> HttpLimits {
    let limits = HttpLimits::default();
    // Half of what may be open is for what is read and written.
    HttpLimits { connections: limits.connections.min(most_files() / 2), ..limits }
}

/// Has the system let this process open as many files as it may, and returns how many that are.
fn most_files() -> usize {
    let known = getrlimit(Resource::Nofile);
    let wanted = known.maximum.unwrap_or(MANY_FILES).min(MANY_FILES);
    let is_raised = known.current.is_some_and(|current| current < wanted)
        && setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..known }).is_ok();
    let files = if is_raised { wanted } else { known.current.unwrap_or(MANY_FILES) };
    usize::try_from(files).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port_and_may_be_everywhere() {
        assert_eq!(address("127.0.0.1:80").map(|found| found.0[0].to_string()), Ok("127.0.0.1:80".into()));
        assert_eq!(address("[::1]:80").map(|found| found.0[0].to_string()), Ok("[::1]:80".into()));
        let everywhere: Vec<_> = address(":80").expect("addresses").0.iter().map(ToString::to_string).collect();
        assert_eq!(everywhere, ["[::]:80", "0.0.0.0:80"]);
        for wrong in ["", "80", "127.0.0.1", "127.0.0.1:x", ":", "127.0.0.1:99999"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn others_are_let_in_by_a_token_only() {
        let token = Token::new("t".into());
        for everywhere in ["0.0.0.0:0", ":0"] {
            let everywhere = address(everywhere).expect("an address");
            assert!(everywhere.listen(None).is_err());
            assert!(everywhere.listen(token.as_ref()).is_ok());
        }
        assert!(address("127.0.0.1:0").expect("an address").listen(None).is_ok());
    }
}
