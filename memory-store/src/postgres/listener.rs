//! Notifications of the database on a connection of its own.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::time::Duration;

use deadpool::managed::Pool;
use tokio::select;
use tokio::time::sleep;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client};

use super::conditions::SqlParameter;
use super::connections::ConnectionManager;
use super::error::DatabaseError;

/// Pause before the listener connects again.
const RECONNECT_PAUSE: Duration = Duration::from_secs(5);

/// The channel of the notifications.
pub(super) const CHANNEL: &str = "memory_documents";

/// The state of a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListenerEvent {
    /// A notification arrived. It has the number of its sender.
    Notified(i64),
    /// No notifications arrive until the next one.
    Lost,
}

/// Listens on [`CHANNEL`] until the runtime ends, and reports each notification to `heard`.
///
/// `own` is the number of this node. After each connect, a notification with this number is sent through the pool. Behind a pooler in
/// transaction mode it does not arrive, so `heard` is never called.
pub(super) async fn listen(
    pool: Pool<ConnectionManager>,
    own: i64,
    heard: Arc<dyn Fn(ListenerEvent) + Send + Sync>,
) {
    loop {
        // The reason is not needed, because polling detects all operations.
        let _ = listen_once(&pool, own, heard.as_ref()).await;
        heard(ListenerEvent::Lost);
        sleep(RECONNECT_PAUSE).await;
    }
}

async fn listen_once(
    pool: &Pool<ConnectionManager>,
    own: i64,
    heard: &(dyn Fn(ListenerEvent) + Send + Sync),
) -> Result<(), DatabaseError> {
    let manager = pool.manager();
    manager.follow_source();
    let (address, tls) = (manager.address(), manager.tls_connector()?);
    let (client, mut connection) = address.config.connect(tls).await?;
    let receive = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message?
                && notification.channel() == CHANNEL
            {
                heard(ListenerEvent::Notified(
                    notification.payload().parse().unwrap_or_default(),
                ));
            }
        }
        Ok(())
    };
    let start = async {
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
        if let Ok(other) = pool.get().await {
            notify(&other, own).await?;
        }
        pending::<Result<(), DatabaseError>>().await
    };
    select! {
        received = receive => received,
        started = start => started,
    }
}

async fn notify(client: &Client, own: i64) -> Result<(), DatabaseError> {
    let values: [SqlParameter; 2] = [(&CHANNEL, Type::TEXT), (&own.to_string(), Type::TEXT)];
    client
        .execute_typed("SELECT pg_notify($1, $2)", &values)
        .await?;
    Ok(())
}
