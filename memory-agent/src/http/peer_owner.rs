//! Finds the user whose program is at the other end of a TCP connection.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;
use std::{fs, io};

use tokio::sync::Mutex;

#[cfg(target_os = "linux")]
use super::socket_diag::socket_owner;
use crate::places::PlaceHolder;

/// The owner of the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PeerOwner {
    /// A user of this machine.
    User(u32),
    /// No process has the socket open any more, or it is on another machine.
    Nobody,
    /// The system reports no owners.
    Unreported,
}

impl PeerOwner {
    /// Returns whether the owner may use a server without a token: the user of this process, or root.
    ///
    /// Where the system reports no owners, every program of this machine may.
    pub(super) fn is_trusted(self) -> bool {
        match self {
            Self::User(owner) => is_trusted(owner),
            Self::Nobody => false,
            Self::Unreported => true,
        }
    }

    /// Returns the holder of the place of a connection from `peer`.
    pub(super) fn place_holder(self, peer: SocketAddr) -> PlaceHolder {
        match self {
            Self::User(owner) => PlaceHolder::User(owner),
            Self::Nobody | Self::Unreported => PlaceHolder::of_address(peer.ip()),
        }
    }
}

/// Looks up the owners of local connections to the port of a server.
///
/// The kernel is queried for the single connection. If it does not respond, the table of all sockets is read, once at a
/// time, and used for every connection that waited for it.
#[derive(Debug)]
pub(super) struct PeerOwners {
    port: u16,
    /// Queries the kernel for the owner of the socket with these two ends.
    socket_owner: OwnerLookup,
    last: Mutex<Option<SocketTable>>,
}

type OwnerLookup = fn(SocketAddr, SocketAddr) -> io::Result<Option<u32>>;

/// The addresses of a client and of its server.
type Ends = (SocketAddr, SocketAddr);

/// The owners of all connections at one time; `None` if the system has no such table.
#[derive(Debug, Clone)]
struct SocketTable {
    begun: Instant,
    owners: Option<Arc<HashMap<Ends, u32>>>,
}

impl PeerOwners {
    pub(super) fn new(port: u16) -> Self {
        Self {
            port,
            socket_owner,
            last: Mutex::new(None),
        }
    }

    /// Returns the owner of the client of a connection from `peer` to `here` that existed at `since`.
    pub(super) async fn find(
        &self,
        peer: SocketAddr,
        here: SocketAddr,
        since: Instant,
    ) -> PeerOwner {
        let (peer, here) = (canonical_address(peer), canonical_address(here));
        if !peer.ip().is_loopback() && peer.ip() != here.ip() {
            return PeerOwner::Nobody;
        }
        let found = |owner: Option<u32>| owner.map_or(PeerOwner::Nobody, PeerOwner::User);
        // An error means that the connection does not exist or that the kernel did not respond; the table tells these
        // apart.
        if let Ok(owner) = (self.socket_owner)(peer, here) {
            return found(owner);
        }
        let mut last = self.last.lock().await;
        let known = last.take().filter(|reading| since <= reading.begun);
        let reading = match known {
            Some(reading) => reading,
            None => self.read_tables().await,
        };
        *last = Some(reading.clone());
        drop(last);
        reading.owners.map_or(PeerOwner::Unreported, |owners| {
            found(owners.get(&(peer, here)).copied())
        })
    }

    async fn read_tables(&self) -> SocketTable {
        let (port, begun) = (self.port, Instant::now());
        let read = move || {
            let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
            let told = tables.iter().any(Result::is_ok);
            told.then(|| {
                Arc::new(
                    tables
                        .iter()
                        .flatten()
                        .flat_map(|table| parse_owners(table, port))
                        .collect(),
                )
            })
        };
        // After a panic no connection is trusted.
        let owners = tokio::task::spawn_blocking(read)
            .await
            .unwrap_or_else(|_| Some(Arc::default()));
        SocketTable { begun, owners }
    }
}

#[cfg(not(target_os = "linux"))]
fn socket_owner(_: SocketAddr, _: SocketAddr) -> io::Result<Option<u32>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns whether a user may use this server: the user of this process, or root.
fn is_trusted(owner: u32) -> bool {
    #[cfg(unix)]
    let own = Some(rustix::process::getuid().as_raw());
    #[cfg(not(unix))]
    let own = None;
    owner == 0 || own == Some(owner)
}

/// The inode of a socket that no process has open any more; the table lists it as owned by root.
const ORPHAN_INODE: &str = "0";

/// Returns the owners of all sockets connected to `port`, by the addresses of both ends.
///
/// The table has the format of `proc_net_tcp(5)`.
fn parse_owners(table: &str, port: u16) -> impl Iterator<Item = (Ends, u32)> {
    // Skips most lines without parsing them.
    let text = format!(":{port:04X} ");
    table
        .lines()
        .skip(1)
        .filter(move |line| line.contains(&text))
        .filter_map(move |line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [_, from, to, _, _, _, _, owner, _, inode, ..] = fields.as_slice() else {
                return None;
            };
            let to = parse_address(to).filter(|to| to.port() == port)?;
            let is_open = *inode != ORPHAN_INODE;
            is_open.then(|| Some(((parse_address(from)?, to), owner.parse().ok()?)))?
        })
}

/// Parses `0100007F:1F90`: each 32-bit word of the address is in native byte order.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |part: &str| u32::from_str_radix(part, 16).ok().map(u32::to_ne_bytes);
    let ip: IpAddr = match ip.len() {
        8 => Ipv4Addr::from(word(ip)?).into(),
        32 => {
            let mut bytes = [0; 16];
            for (number, four) in bytes.chunks_mut(4).enumerate() {
                four.copy_from_slice(&word(ip.get(8 * number..8 * number + 8)?)?);
            }
            Ipv6Addr::from(bytes).into()
        }
        _ => return None,
    };
    Some(canonical_address(SocketAddr::new(
        ip,
        u16::from_str_radix(port, 16).ok()?,
    )))
}

fn canonical_address(place: SocketAddr) -> SocketAddr {
    SocketAddr::new(place.ip().to_canonical(), place.port())
}

#[cfg(test)]
mod tests {
    use std::net::{Shutdown, TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_owner_of_a_connection_is_found_by_both_its_ends() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
             0: 0100007F:1F91 0100007F:1000 06 00000000:00000000 03:00001770 00000000     0        0 0 3\n   \
             1: 0100007F:1F91 0100007F:1000 01 00000000:00000000 00:00000000 00000000     0        0 26157 1\n   \
             2: 0100007F:1F91 0100007F:1F90 06 00000000:00000000 03:00001770 00000000     0        0 0 3\n   \
             3: 0100007F:1F91 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 26158 1\n   \
             4: 0000000000000000FFFF00000100007F:1F92 0000000000000000FFFF00000100007F:1F90 05 00000000:00000000 00:00000000 00000000  1002        0 26159 1\n   \
             5: 0200007F:1F93 0200007F:1F90 01 00000000:00000000 00:00000000 00000000  1003        0 26160 1\n";
        let owners = |port| {
            parse_owners(table, port)
                .map(|((from, to), owner)| (from.to_string(), to.to_string(), owner))
                .collect()
        };
        if cfg!(target_endian = "little") {
            let all: Vec<(String, String, u32)> = owners(8080);
            let expected = [
                ("127.0.0.1:8081", "127.0.0.1:8080", 1001),
                ("127.0.0.1:8082", "127.0.0.1:8080", 1002),
                ("127.0.0.2:8083", "127.0.0.2:8080", 1003),
            ];
            let expected = expected.map(|(from, to, owner)| (from.into(), to.into(), owner));
            assert_eq!(all, expected, "not what root once had, or has elsewhere");
        }
        assert_eq!(owners(8082), []);
    }

    /// The error in a sandbox that forbids netlink, and of a kernel without the module `tcp_diag`.
    const REFUSALS: [OwnerLookup; 2] = [
        |_, _| Err(io::ErrorKind::PermissionDenied.into()),
        |_, _| Err(io::ErrorKind::NotFound.into()),
    ];

    #[test]
    fn the_table_is_read_where_the_kernel_does_not_answer() {
        for refusal in REFUSALS {
            we_are_trusted_until_we_leave(refusal, true);
        }
        we_are_trusted_until_we_leave(socket_owner, false);
    }

    #[test]
    fn the_kernels_answer_decides() {
        let here: SocketAddr = "127.0.0.1:8100".parse().expect("one");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let is_ours = |answer: OwnerLookup| {
            let neighbours = PeerOwners {
                socket_owner: answer,
                ..PeerOwners::new(here.port())
            };
            let peer = "127.0.0.1:4000".parse().expect("one");
            let owner = runtime.block_on(neighbours.find(peer, here, Instant::now()));
            assert!(
                neighbours.last.blocking_lock().is_none(),
                "the table was read"
            );
            owner.is_trusted()
        };
        assert!(is_ours(|_, _| Ok(Some(rustix::process::getuid().as_raw()))));
        assert!(is_ours(|_, _| Ok(Some(0))));
        assert!(!is_ours(|_, _| Ok(Some(
            rustix::process::getuid().as_raw() + 1
        ))));
        assert!(
            !is_ours(|_, _| Ok(None)),
            "a socket that nobody has open any more"
        );
    }

    fn we_are_trusted_until_we_leave(socket_owner: OwnerLookup, reads_table: bool) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let here = listener.local_addr().expect("an address");
        let neighbours = PeerOwners {
            socket_owner,
            ..PeerOwners::new(here.port())
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let is_ours = |peer: SocketAddr, since| {
            let owner = runtime.block_on(neighbours.find(peer, here, since));
            owner.is_trusted()
        };
        let clients: Vec<_> = (0..2)
            .map(|_| TcpStream::connect(here).expect("a connection"))
            .collect();
        let peers: Vec<_> = clients
            .iter()
            .map(|client| client.local_addr().expect("an address"))
            .collect();
        let since = Instant::now();
        assert!(peers.iter().all(|peer| is_ours(*peer, since)));
        let reading = || {
            neighbours
                .last
                .blocking_lock()
                .clone()
                .map(|reading| reading.begun)
        };
        let known = reading();
        assert!(!reads_table || known.is_some(), "the table was not read");
        assert!(
            is_ours(peers[1], since),
            "one reading serves all that came before it"
        );
        assert_eq!(reading(), known);
        clients[0]
            .shutdown(Shutdown::Write)
            .expect("it goes silent");
        assert!(
            is_ours(peers[0], Instant::now()),
            "a client that has sent everything still reads"
        );
        drop(clients);
        assert!(!is_ours(peers[1], Instant::now()));
    }
}
