//! The process at the other end of a connection. The token alone does not identify it, because a
//! command of `bash` can read the token if its user can.
//!
//! The kernel lists the sockets of this machine (`/proc/net/tcp`) and the processes that have them
//! open (`/proc/PID/fd`). A connection belongs to a client if all processes that hold its other end
//! are visible and none of them runs below a supervisor. A socket can be handed from process to
//! process during the search. If no holder is found, the connection is not trusted.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;

use crate::platform::process_tree::Process;
use crate::platform::{process_tree, user};
use crate::process::ancestry::{self, Descent};

/// The number of searches for a socket. The kernel's list may miss a new socket while others come
/// and go, and so may the list of its holders.
const MAX_SOCKET_LOOKUP_ATTEMPTS: usize = 3;

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpPeer {
    /// A process of this user that we have not started.
    Client,
    /// A process of another user of this machine. We have not started it, but it may pass on
    /// requests of others.
    OtherUser,
    /// Another machine.
    Remote,
    /// A process of this machine that cannot be identified.
    Unseen,
    /// A process below one of our supervisors: a command, a server, a hook.
    Supervised,
}

impl HttpPeer {
    /// Returns true if an approval from this peer is the user's own. Any other peer may have read
    /// the token from a file.
    pub(crate) fn may_approve(self) -> bool {
        self == Self::Client
    }

    /// The peer that connected from `peer` to `own`. The search reads as many files as there are
    /// open ones on this machine.
    pub(crate) fn find(peer: SocketAddr, own: SocketAddr) -> Self {
        if !cfg!(linux_kernel) {
            // There is no sandbox that this would lead out of.
            return if is_here(peer, own) { Self::Client } else { Self::Remote };
        }
        // A program that starts another one shares its sockets with it for a moment, and the
        // descent of a process that has ended meanwhile is unknown.
        let mut found = (0..MAX_SOCKET_LOOKUP_ATTEMPTS).map(|_| Self::find_once(peer, own));
        found.find(|found| *found != Self::Unseen).unwrap_or(Self::Unseen)
    }

    fn find_once(peer: SocketAddr, own: SocketAddr) -> Self {
        match KernelSocket::find(peer, own) {
            None if is_here(peer, own) => Self::Unseen,
            None => Self::Remote,
            Some(socket) if socket.is_another_users() => Self::OtherUser,
            Some(socket) => classify(&socket_owners(socket.inode)),
        }
    }
}

fn is_here(peer: SocketAddr, own: SocketAddr) -> bool {
    let mut address = peer;
    address.set_port(0);
    // Only addresses of this machine can be bound.
    peer.ip().to_canonical().is_loopback()
        || canonical_address(peer).ip() == canonical_address(own).ip()
        || UdpSocket::bind(address).is_ok()
}

/// Classifies the holders of a socket: none may be supervised, and there must be at least one.
fn classify(owners: &[Process]) -> HttpPeer {
    let descents: Vec<Descent> = owners.iter().map(ancestry::descent).collect();
    if descents.contains(&Descent::Supervised) {
        HttpPeer::Supervised
    } else if descents.is_empty() || descents.contains(&Descent::Unknown) {
        HttpPeer::Unseen
    } else {
        HttpPeer::Client
    }
}

/// The processes that have the socket open, as far as they are visible.
fn socket_owners(inode: u64) -> Vec<Process> {
    let name = format!("socket:[{inode}]");
    let has = |pid: i32| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| fs::read_link(file.path()).ok()).any(|target| target == Path::new(&name))
    };
    let found = process_tree::all_pids().into_iter().filter(|pid| has(*pid)).filter_map(Process::living);
    // Once more, now that it is known which process it is that has this number.
    found.filter(|process| has(process.pid)).collect()
}

/// The other end of a connection, as the kernel lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct KernelSocket {
    user: u32,
    inode: u64,
}

impl KernelSocket {
    fn find(peer: SocketAddr, own: SocketAddr) -> Option<Self> {
        let wanted = (canonical_address(peer), canonical_address(own));
        ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|list| {
            let lines = BufReader::new(File::open(list).ok()?).lines().map_while(Result::ok);
            lines
                .filter_map(|line| parse_socket_line(&line))
                .find(|(ends, _)| *ends == wanted)
                .map(|(_, socket)| socket)
        })
    }

    /// Returns true if the socket belongs to another user. A command keeps its user, unless that is
    /// root.
    fn is_another_users(&self) -> bool {
        user::is_foreign(self.user)
    }
}

/// Converts an IPv4 address in IPv6 form to IPv4, and drops the scope.
fn canonical_address(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Both ends and the socket of a line of `/proc/net/tcp` or `tcp6` (proc_net(5)): the fields 2 and
/// 3, 8, and 10.
fn parse_socket_line(line: &str) -> Option<((SocketAddr, SocketAddr), KernelSocket)> {
    let mut fields = line.split_whitespace().skip(1);
    let ends = (parse_socket_address(fields.next()?)?, parse_socket_address(fields.next()?)?);
    let user = fields.nth(4)?.parse().ok()?;
    let inode = fields.nth(1)?.parse().ok().filter(|inode| *inode != 0)?;
    Some((ends, KernelSocket { user, inode }))
}

/// `0100007F:1F90`: words of four bytes, each in the order of this machine, and a port.
fn parse_socket_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| u32::from_str_radix(address.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip: IpAddr = match address.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            Ipv6Addr::from(<[u8; 16]>::try_from(words.concat()).ok()?).into()
        }
        _ => return None,
    };
    Some(canonical_address(SocketAddr::new(ip, port)))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// Connects to `address` on this machine and returns the peer that is found.
    fn connected(address: &str) -> HttpPeer {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, peer) = listener.accept().unwrap();
        assert_eq!(peer, client.local_addr().unwrap());
        HttpPeer::find(peer, server.local_addr().unwrap())
    }

    #[test]
    fn http_peer_of_own_process_is_client_by_any_address() {
        assert_eq!(connected("127.0.0.1"), HttpPeer::Client);
        if TcpListener::bind(("::1", 0)).is_ok() {
            assert_eq!(connected("::1"), HttpPeer::Client);
            if cfg!(windows) {
                return; // A socket of IPv6 has no clients of IPv4.
            }
            let listener = TcpListener::bind(("::", 0)).unwrap();
            let client = TcpStream::connect(("127.0.0.1", listener.local_addr().unwrap().port())).unwrap();
            let (server, peer) = listener.accept().unwrap();
            assert_eq!(HttpPeer::find(peer, server.local_addr().unwrap()), HttpPeer::Client);
            drop(client);
        }
    }

    #[test]
    #[cfg_attr(windows, ignore = "Wine binds addresses of other machines")]
    fn http_peer_disconnected_is_unseen_and_other_machine_remote() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap();
        drop(TcpStream::connect(own).unwrap());
        let (_server, peer) = listener.accept().unwrap();
        // Without the kernel's list, every address of this machine is that of a client.
        let gone = if cfg!(linux_kernel) { HttpPeer::Unseen } else { HttpPeer::Client };
        assert_eq!(HttpPeer::find(peer, own), gone);
        assert_eq!(HttpPeer::find("192.0.2.1:4000".parse().unwrap(), own), HttpPeer::Remote);
        assert_eq!(HttpPeer::find("[2001:db8::1]:4000".parse().unwrap(), own), HttpPeer::Remote);
    }

    #[test]
    fn proc_net_tcp_line_is_parsed_by_its_fields() {
        let line = "   1: 0100007F:8AE2 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 98765 1 0000";
        let ends = ("127.0.0.1:35554".parse().unwrap(), "127.0.0.1:8080".parse().unwrap());
        // Words are in the order of the machine that writes them.
        if cfg!(target_endian = "little") {
            assert_eq!(parse_socket_line(line), Some((ends, KernelSocket { user: 1000, inode: 98_765 })));
            let mapped = "0000000000000000FFFF00000100007F:1F90";
            assert_eq!(parse_socket_address(mapped), Some(ends.1));
            assert_eq!(
                parse_socket_address("000080FE000000000000000001000000:0050").unwrap().to_string(),
                "[fe80::1]:80"
            );
        }
        assert_eq!(parse_socket_line(&line.replace("98765", "0")), None, "nobody has it open");
        for unreadable in ["", "  sl  local_address rem_address", "1: 0100007F 0100007F:1F90"] {
            assert_eq!(parse_socket_line(unreadable), None);
        }
    }
}
