//! How connections are made and kept.

use deadpool::managed::{Manager, Metrics, RecycleError, RecycleResult};
use tokio_postgres::Client;
use tokio_postgres::config::SslNegotiation;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::tls::connector;
use super::trouble::Trouble;

/// Makes connections.
#[derive(Debug)]
pub(super) struct Connections {
    pub(super) address: Address,
}

impl Connections {
    /// Returns what encrypts connections. The file of authorities is read each time, since they change.
    pub(super) fn tls(&self) -> Result<MakeRustlsConnect, Trouble> {
        let Address { config, trust, roots } = &self.address;
        let is_direct = config.get_ssl_negotiation() == SslNegotiation::Direct;
        connector(*trust, roots.as_deref(), is_direct).map_err(Trouble::Authorities)
    }
}

impl Manager for Connections {
    type Type = Client;
    type Error = Trouble;

    async fn create(&self) -> Result<Client, Trouble> {
        let (client, connection) = self.address.config.connect(self.tls()?).await?;
        // It ends with the client; what ends it before is told to whoever asks the client.
        tokio::spawn(async { drop(connection.await) });
        Ok(client)
    }

    async fn recycle(&self, client: &mut Client, _: &Metrics) -> RecycleResult<Trouble> {
        if client.is_closed() { Err(RecycleError::message("it was lost")) } else { Ok(()) }
    }
}
