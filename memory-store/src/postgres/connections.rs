//! The creation of connections, and transactions on them.

use std::sync::{Arc, Mutex, PoisonError};

use deadpool::managed::{Manager, Metrics, RecycleError, RecycleResult};
use tokio::time::Instant;
use tokio_postgres::Client;
use tokio_postgres::config::SslNegotiation;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::DatabaseAddress;
use super::error::DatabaseError;
use super::tls::tls_connector;

/// The connection manager of the pool.
#[derive(Debug)]
pub(super) struct ConnectionManager {
    pub(super) address: DatabaseAddress,
    /// The last time at which a connection worked or was lost.
    last_alive: Arc<Mutex<Option<Instant>>>,
}

impl ConnectionManager {
    /// Returns the manager for an address. It does not connect yet.
    pub(super) fn new(address: DatabaseAddress) -> Self {
        Self { address, last_alive: Arc::default() }
    }

    /// Returns the number of hosts in the address.
    pub(super) fn host_count(&self) -> usize {
        self.address.config.get_hosts().len().max(self.address.config.get_hostaddrs().len())
    }

    /// Records that a connection has worked until now.
    pub(super) fn record_alive(&self) {
        record_alive(&self.last_alive);
    }

    /// Returns the last time at which a connection worked or was lost.
    pub(super) fn last_alive(&self) -> Option<Instant> {
        *self.last_alive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the TLS connector. The file of authorities is read each time, since it may change.
    pub(super) fn tls_connector(&self) -> Result<MakeRustlsConnect, DatabaseError> {
        let DatabaseAddress { config, trust, roots } = &self.address;
        let is_direct = config.get_ssl_negotiation() == SslNegotiation::Direct;
        tls_connector(*trust, roots.as_deref(), is_direct).map_err(DatabaseError::Authorities)
    }
}

fn record_alive(last_alive: &Mutex<Option<Instant>>) {
    *last_alive.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

impl Manager for ConnectionManager {
    type Type = Client;
    type Error = DatabaseError;

    async fn create(&self) -> Result<Client, DatabaseError> {
        let (client, connection) = self.address.config.connect(self.tls_connector()?).await?;
        // The task ends with the client. An earlier error is reported to the next caller of the client.
        let last_alive = Arc::clone(&self.last_alive);
        tokio::spawn(async move {
            // A connection that was closed on this side is no sign of life of the server.
            if connection.await.is_err() {
                record_alive(&last_alive);
            }
        });
        Ok(client)
    }

    async fn recycle(&self, client: &mut Client, _: &Metrics) -> RecycleResult<DatabaseError> {
        if client.is_closed() { Err(RecycleError::message("the connection was lost")) } else { Ok(()) }
    }
}

/// Runs `work` in a transaction, which is rolled back if `work` fails.
pub(super) async fn run_transaction<T>(
    client: &Client,
    work: impl AsyncFnOnce() -> Result<T, DatabaseError>,
) -> Result<T, DatabaseError> {
    client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
    match work().await {
        Ok(done) => {
            client.batch_execute("COMMIT").await?;
            Ok(done)
        }
        Err(trouble) => {
            // The error of `work` is returned, not one of the rollback.
            let _ = client.batch_execute("ROLLBACK").await;
            Err(trouble)
        }
    }
}
