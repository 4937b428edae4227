//! Whether whoever connects over TCP belongs to the same person.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Tells whether the program at the other end of a connection to `here`, on this machine, runs as the same person as we, or as
/// root. Where the system does not tell, it is believed to.
pub(super) fn is_ours(peer: SocketAddr, here: SocketAddr) -> bool {
    let own = rustix::process::getuid().as_raw();
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
    if tables.iter().all(Result::is_err) {
        return true;
    }
    let owner = tables.iter().flatten().find_map(|table| owner(table, peer, here));
    owner.is_some_and(|owner| owner == own || owner == 0)
}

/// A connection that is open at both ends. All others may have lost their owner, and stand there as those of root.
const ESTABLISHED: &str = "01";

/// Returns who owns the socket from `local` to `remote`, as a table of the system's sockets has it (`proc_net_tcp(5)`).
fn owner(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let wanted = [canonical(local), canonical(remote)];
    // Most lines are told apart without being read.
    let port = format!(":{:04X} ", local.port());
    table.lines().skip(1).filter(|line| line.contains(&port)).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, from, to, state, _, _, _, owner, ..] = fields.as_slice() else { return None };
        let is_it = *state == ESTABLISHED && [address(from)?, address(to)?] == wanted;
        is_it.then(|| owner.parse().ok())?
    })
}

/// Reads `0100007F:1F90`: the bytes of each 32-bit word of the address stand in the machine's order.
fn address(text: &str) -> Option<SocketAddr> {
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
    Some(canonical(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?)))
}

fn canonical(place: SocketAddr) -> SocketAddr {
    SocketAddr::new(place.ip().to_canonical(), place.port())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_owner_of_a_connection_is_found_by_both_its_ends() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
             0: 0100007F:1F91 0100007F:1000 06 00000000:00000000 03:00001770 00000000     0        0 0 3\n   \
             1: 0100007F:1F91 0100007F:1000 01 00000000:00000000 00:00000000 00000000     0        0 26157 1\n   \
             2: 0100007F:1F91 0100007F:1F90 06 00000000:00000000 03:00001770 00000000     0        0 0 3\n   \
             3: 0100007F:1F91 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 26158 1\n";
        let owner = |from: &str, to: &str| owner(table, from.parse().expect("one"), to.parse().expect("one"));
        if cfg!(target_endian = "little") {
            assert_eq!(owner("127.0.0.1:8081", "127.0.0.1:8080"), Some(1001), "not what root once had, or has elsewhere");
            assert_eq!(owner("[::ffff:127.0.0.1]:8081", "127.0.0.1:8080"), Some(1001));
        }
        assert_eq!(owner("127.0.0.1:8081", "127.0.0.1:8082"), None);
    }

    #[test]
    fn we_are_our_own_neighbours() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let here = listener.local_addr().expect("an address");
        let client = TcpStream::connect(here).expect("a connection");
        assert!(is_ours(client.local_addr().expect("an address"), here));
    }
}
