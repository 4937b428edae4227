//! A proxy in front of the server, which can lose responses.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// A proxy that loses the chosen number of responses, or drops all data.
///
/// It runs until the process ends.
pub(super) struct PostgresProxy {
    pub port: u16,
    to_lose: Arc<AtomicUsize>,
    /// The number of responses until one is lost, or 0.
    lose_after: Arc<AtomicUsize>,
    is_silent: Arc<AtomicBool>,
    connections: Arc<AtomicUsize>,
}

impl PostgresProxy {
    /// Starts a proxy for a server on this machine.
    pub(super) fn start(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            to_lose: Arc::default(),
            lose_after: Arc::default(),
            is_silent: Arc::default(),
            connections: Arc::default(),
        };
        let (to_lose, lose_after) = (Arc::clone(&proxy.to_lose), Arc::clone(&proxy.lose_after));
        let (is_silent, connections) =
            (Arc::clone(&proxy.is_silent), Arc::clone(&proxy.connections));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (
                    client.unwrap(),
                    TcpStream::connect(("127.0.0.1", port)).unwrap(),
                );
                let (asks, answers) = (
                    [client.try_clone().unwrap(), server.try_clone().unwrap()],
                    [server, client],
                );
                connections.fetch_add(1, Ordering::Relaxed);
                let (to_lose, lose_after) = (Arc::clone(&to_lose), Arc::clone(&lose_after));
                let (silent, is_silent) = (Arc::clone(&is_silent), Arc::clone(&is_silent));
                thread::spawn(move || forward(asks, &silent, || false));
                let take = |left: usize| left.checked_sub(1);
                thread::spawn(move || {
                    forward(answers, &is_silent, || {
                        let is_last =
                            lose_after.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                                == Ok(1);
                        is_last
                            || to_lose
                                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                                .is_ok()
                    });
                });
            }
        });
        proxy
    }

    /// Loses this number of the next responses, each with its connection.
    pub(super) fn lose_responses(&self, answers: usize) {
        self.to_lose.store(answers, Ordering::Relaxed);
    }

    /// Loses the response with this number, counted from 1, with its connection; none if it is 0.
    pub(super) fn lose_response_after(&self, answers: usize) {
        self.lose_after.store(answers, Ordering::Relaxed);
    }

    /// Drops all data, as a broken network does, or stops doing so.
    pub(super) fn set_silent(&self, is_silent: bool) {
        self.is_silent.store(is_silent, Ordering::Relaxed);
    }

    /// Returns the number of connections that were made.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Returns the number of responses that are still to be lost.
    pub(super) fn responses_to_lose(&self) -> usize {
        self.to_lose.load(Ordering::Relaxed)
    }
}

fn forward([mut from, mut to]: [TcpStream; 2], is_silent: &AtomicBool, is_lost: impl Fn() -> bool) {
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
