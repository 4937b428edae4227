//! Somebody between us and the server, who may lose what the server answers.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Passes on everything, but for the answers that it is told to lose, until it is told to be silent. It serves until the process ends.
pub(super) struct Proxy {
    pub port: u16,
    to_lose: Arc<AtomicUsize>,
    is_silent: Arc<AtomicBool>,
    connections: Arc<AtomicUsize>,
}

impl Proxy {
    /// Stands before a server on this machine.
    pub(super) fn before(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            to_lose: Arc::default(),
            is_silent: Arc::default(),
            connections: Arc::default(),
        };
        let to_lose = Arc::clone(&proxy.to_lose);
        let (is_silent, connections) = (Arc::clone(&proxy.is_silent), Arc::clone(&proxy.connections));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(("127.0.0.1", port)).unwrap());
                let (asks, answers) = ([client.try_clone().unwrap(), server.try_clone().unwrap()], [server, client]);
                connections.fetch_add(1, Ordering::Relaxed);
                let to_lose = Arc::clone(&to_lose);
                let (silent, is_silent) = (Arc::clone(&is_silent), Arc::clone(&is_silent));
                thread::spawn(move || pass(asks, &silent, || false));
                let take = |left: usize| left.checked_sub(1);
                thread::spawn(move || {
                    pass(answers, &is_silent, || to_lose.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok());
                });
            }
        });
        proxy
    }

    /// Loses so many of the next answers, each with its connection.
    pub(super) fn lose(&self, answers: usize) {
        self.to_lose.store(answers, Ordering::Relaxed);
    }

    /// Passes nothing on any more, as a machine that is cut off, or goes on.
    pub(super) fn be_silent(&self, is_silent: bool) {
        self.is_silent.store(is_silent, Ordering::Relaxed);
    }

    /// Returns how many connections were made.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Returns how many are still to be lost.
    pub(super) fn left(&self) -> usize {
        self.to_lose.load(Ordering::Relaxed)
    }
}

fn pass([mut from, mut to]: [TcpStream; 2], is_silent: &AtomicBool, is_lost: impl Fn() -> bool) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if is_silent.load(Ordering::Relaxed) {
            continue;
        }
        if is_lost() || to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
