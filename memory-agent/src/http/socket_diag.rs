//! Queries the kernel for one local TCP socket, through `NETLINK_SOCK_DIAG` (`sock_diag(7)`).

use std::io;
use std::net::{IpAddr, SocketAddr};

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, recv, send, socket_with,
};

/// `struct nlmsghdr`: length, type, flags, sequence number and port, in native byte order.
const HEADER: usize = 16;

/// `struct inet_diag_sockid`: both ports and both addresses in network byte order, interface, cookie.
const SOCKET_ID: usize = 48;

/// `struct inet_diag_req_v2`: family, protocol, extensions and states, then the socket.
const REQUEST: usize = 8 + SOCKET_ID;

/// `struct inet_diag_msg`: family, state and timer, the socket, three counters, owner, inode.
const REPLY: usize = 4 + SOCKET_ID + 20;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const IPPROTO_TCP: u8 = 6;

/// Returns the user id of the owner of the socket that is connected from `local` to `remote`.
///
/// `None` means that no process has the socket open any more. Both addresses are in canonical form (an IPv4 address is
/// not mapped to IPv6); they find sockets of either family. Never blocks: the kernel replies within the system call.
///
/// # Errors
/// If the system does not support the query, for example in a sandbox that forbids netlink, or if there is no such
/// socket. The kernel reports both in the same way if the module `tcp_diag` is missing, so an error does not prove that
/// there is no socket.
pub(super) fn socket_owner(local: SocketAddr, remote: SocketAddr) -> io::Result<Option<u32>> {
    let request = build_request(local, remote)?;
    let kernel = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(SOCK_DIAG),
    )?;
    // A connected netlink socket receives messages from the kernel only.
    connect(&kernel, &SocketAddrNetlink::new(0, 0))?;
    send(&kernel, &request, SendFlags::DONTWAIT)?;
    let mut reply = [0; 1024];
    let (_, length) = recv(&kernel, &mut reply[..], RecvFlags::DONTWAIT)?;
    read_reply(reply.get(..length).unwrap_or(&reply), local, remote)
}

fn build_request(local: SocketAddr, remote: SocketAddr) -> io::Result<[u8; HEADER + REQUEST]> {
    let mut message = [0; HEADER + REQUEST];
    let family = address_family(local);
    if family != self::address_family(remote) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "both addresses must be of the same family",
        ));
    }
    let length = u32::try_from(message.len()).expect("it is short");
    message[..4].copy_from_slice(&length.to_ne_bytes());
    message[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message[6..8].copy_from_slice(&NLM_F_REQUEST.to_ne_bytes());
    let request = &mut message[HEADER..];
    request[0] = u8::try_from(family.as_raw()).expect("families of addresses are small numbers");
    request[1] = IPPROTO_TCP;
    request[4..8].copy_from_slice(&u32::MAX.to_ne_bytes());
    let id = &mut request[8..];
    id[..2].copy_from_slice(&local.port().to_be_bytes());
    id[2..4].copy_from_slice(&remote.port().to_be_bytes());
    put_address(&mut id[4..20], local.ip());
    put_address(&mut id[20..36], remote.ip());
    // INET_DIAG_NOCOOKIE: any socket with these addresses.
    id[40..48].fill(0xff);
    Ok(message)
}

fn read_reply(reply: &[u8], local: SocketAddr, remote: SocketAddr) -> io::Result<Option<u32>> {
    let invalid = || {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "unexpected format of the kernel's reply",
        )
    };
    let word = |at: usize| {
        reply
            .get(at..at + 4)?
            .try_into()
            .ok()
            .map(u32::from_ne_bytes)
    };
    let kind = reply
        .get(4..6)
        .and_then(|kind| kind.try_into().ok())
        .map(u16::from_ne_bytes);
    if kind == Some(NLMSG_ERROR) {
        // `struct nlmsgerr` starts with the negated error number.
        let number = word(HEADER)
            .map(|number| number.wrapping_neg().cast_signed())
            .ok_or_else(invalid)?;
        return Err(io::Error::from_raw_os_error(number));
    }
    let message = reply
        .get(HEADER..HEADER + REPLY)
        .filter(|_| kind == Some(SOCK_DIAG_BY_FAMILY))
        .ok_or_else(invalid)?;
    let address = |ip: usize, port: usize| {
        read_address(
            message[0],
            &message[4 + ip..4 + ip + 16],
            &message[4 + port..4 + port + 2],
        )
    };
    // If no connection has these addresses, the kernel may reply with a listening socket.
    if address(4, 0) != Some(local) || address(20, 2) != Some(remote) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let (Some(owner), Some(inode)) = (word(HEADER + REPLY - 8), word(HEADER + REPLY - 4)) else {
        return Err(invalid());
    };
    Ok((inode != 0).then_some(owner))
}

fn address_family(address: SocketAddr) -> AddressFamily {
    if address.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    }
}

fn put_address(field: &mut [u8], ip: IpAddr) {
    match ip {
        IpAddr::V4(ip) => field[..4].copy_from_slice(&ip.octets()),
        IpAddr::V6(ip) => field.copy_from_slice(&ip.octets()),
    }
}

/// Reads an address in the format of the socket family and converts it to canonical form.
fn read_address(family: u8, ip: &[u8], port: &[u8]) -> Option<SocketAddr> {
    let port = u16::from_be_bytes(port.try_into().ok()?);
    let four = || Some(IpAddr::from(<[u8; 4]>::try_from(ip.get(..4)?).ok()?));
    let ip = match AddressFamily::from_raw(family.into()) {
        AddressFamily::INET => four()?,
        AddressFamily::INET6 => IpAddr::from(<[u8; 16]>::try_from(ip).ok()?).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn canonical(address: SocketAddr) -> SocketAddr {
        SocketAddr::new(address.ip().to_canonical(), address.port())
    }

    /// Returns the kernel's owner of a connection to `host`; `None` if this machine has no such address.
    fn own_connection(listen: &str, host: &str) -> Option<io::Result<Option<u32>>> {
        let listener = TcpListener::bind(format!("{listen}:0")).ok()?;
        let port = listener.local_addr().expect("an address").port();
        let client = TcpStream::connect(format!("{host}:{port}")).expect("a connection");
        let (_accepted, peer) = listener.accept().expect("a connection");
        let here = client.peer_addr().expect("an address");
        Some(socket_owner(canonical(peer), canonical(here)))
    }

    #[test]
    fn the_owner_of_a_connection_is_found_in_both_families() {
        let own = rustix::process::getuid().as_raw();
        let mut found = 0;
        for (listen, host) in [
            ("127.0.0.1", "127.0.0.1"),
            ("127.0.0.1", "[::ffff:127.0.0.1]"),
            ("[::1]", "[::1]"),
            ("[::]", "127.0.0.1"),
        ] {
            match own_connection(listen, host) {
                Some(Ok(owner)) => {
                    assert_eq!(owner, Some(own), "{listen} {host}");
                    found += 1;
                }
                Some(Err(error)) => {
                    println!("left out: the kernel does not answer for {host}: {error}");
                }
                None => println!("left out: this machine has no address {listen}"),
            }
        }
        println!("{found} kinds of connections were found");
    }

    #[test]
    fn a_reply_counts_only_for_the_connection_that_was_asked_for() {
        let (local, remote): (SocketAddr, SocketAddr) = (
            "127.0.0.1:4000".parse().expect("one"),
            "127.0.0.1:8100".parse().expect("one"),
        );
        let reply = |local: SocketAddr, remote: SocketAddr, owner: u32, inode: u32| {
            let asked = build_request(local, remote).expect("a request");
            let mut reply = vec![0; HEADER + REPLY];
            reply[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
            reply[HEADER] = asked[HEADER];
            reply[HEADER + 4..HEADER + 4 + SOCKET_ID].copy_from_slice(&asked[HEADER + 8..]);
            reply[HEADER + REPLY - 8..HEADER + REPLY - 4].copy_from_slice(&owner.to_ne_bytes());
            reply[HEADER + REPLY - 4..].copy_from_slice(&inode.to_ne_bytes());
            reply
        };
        let read = |reply: &[u8]| read_reply(reply, local, remote).map_err(|error| error.kind());
        assert_eq!(read(&reply(local, remote, 1001, 7)), Ok(Some(1001)));
        assert_eq!(
            read(&reply(local, remote, 0, 0)),
            Ok(None),
            "a socket that was closed belongs to nobody"
        );
        let listening = "0.0.0.0:0".parse().expect("one");
        assert_eq!(
            read(&reply(local, listening, 1001, 7)),
            Err(io::ErrorKind::NotFound)
        );
        assert_eq!(
            read(&reply(remote, local, 1001, 7)),
            Err(io::ErrorKind::NotFound)
        );
        for length in 0..HEADER + REPLY {
            assert!(
                read(&reply(local, remote, 1001, 7)[..length]).is_err(),
                "{length}"
            );
        }
        let mut refused = vec![0; HEADER + 4];
        refused[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
        refused[HEADER..].copy_from_slice(&(-2_i32).to_ne_bytes());
        assert_eq!(read(&refused), Err(io::ErrorKind::NotFound));
    }

    #[test]
    fn a_connection_that_nobody_has_is_not_found() {
        let here = TcpListener::bind("127.0.0.1:0")
            .expect("a port")
            .local_addr()
            .expect("an address");
        assert!(socket_owner("127.0.0.1:1".parse().expect("one"), here).is_err());
        assert!(socket_owner("[::1]:1".parse().expect("one"), here).is_err());
    }
}
