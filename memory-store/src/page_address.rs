//! The address of the web page that a process serves for a home.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use memory_core::StoreError;

use crate::cache_file::write;
use crate::error::io_error;

/// The file with the address, below the index.
const FILE: &str = "index/page-address.txt";

/// Time in which a process on this machine accepts a connection.
const TIMEOUT: Duration = Duration::from_millis(100);

/// The published address of a web page, so that other processes find the page. It is withdrawn on drop.
#[derive(Debug)]
pub struct PublishedPage {
    path: PathBuf,
    address: SocketAddr,
}

impl PublishedPage {
    /// Publishes the address of the page of the home at `root`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn publish(root: &Path, address: SocketAddr) -> Result<Self, StoreError> {
        let refused = |error| io_error(format!("write to {FILE}"), error);
        write(root, FILE, address.to_string().as_bytes()).map_err(refused)?;
        Ok(Self {
            path: root.join(FILE),
            address,
        })
    }

    /// Returns the address of the page that is served for the home at `root`, if there is one.
    ///
    /// A process that was killed leaves its address, so the address counts only if it accepts connections.
    pub fn find(root: &Path) -> Option<SocketAddr> {
        let address = read_address(&root.join(FILE))?;
        TcpStream::connect_timeout(&address, TIMEOUT)
            .ok()
            .map(|_| address)
    }
}

impl Drop for PublishedPage {
    fn drop(&mut self) {
        // Another process may serve the page since.
        if read_address(&self.path) == Some(self.address) {
            // Without a server, the file counts as missing.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn read_address(path: &Path) -> Option<SocketAddr> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_address_is_found_while_it_is_served() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(PublishedPage::find(home.path()), None);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let page = PublishedPage::publish(home.path(), address).unwrap();
        assert_eq!(PublishedPage::find(home.path()), Some(address));
        drop(listener);
        assert_eq!(
            PublishedPage::find(home.path()),
            None,
            "its process was killed"
        );
        let other = "127.0.0.1:1".parse().unwrap();
        let newer = PublishedPage::publish(home.path(), other).unwrap();
        drop(page);
        assert_eq!(read_address(&home.path().join(FILE)), Some(other));
        drop(newer);
        assert_eq!(read_address(&home.path().join(FILE)), None);
    }
}
