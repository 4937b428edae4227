//! Notifies MCP clients of changed resources.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::{ErrorData, Peer, RoleServer};
use tokio::time::MissedTickBehavior;

use super::resources;
use crate::agent::Session;

/// The subscribed resources of a client with their last state.
///
/// They are polled every two seconds while the connection is open.
#[derive(Debug, Clone, Default)]
pub(super) struct Subscriptions(Arc<Mutex<SubscriptionState>>);

#[derive(Debug, Default)]
struct SubscriptionState {
    states: HashMap<String, String>,
    /// Whether a polling task is running.
    is_watched: bool,
}

const INTERVAL: Duration = Duration::from_secs(2);

/// Maximum number of subscriptions of a client.
const MAX_SUBSCRIPTIONS: usize = 256;

impl Subscriptions {
    /// Subscribes the client to changes of `uri`.
    pub(super) async fn add(&self, session: &Arc<Session>, peer: &Peer<RoleServer>, uri: String) -> Result<(), ErrorData> {
        let state = load_state(session, &uri).await?;
        let was_watched = {
            let mut wanted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if MAX_SUBSCRIPTIONS <= wanted.states.len() && !wanted.states.contains_key(&uri) {
                return Err(ErrorData::invalid_request(
                    format!("the limit of {MAX_SUBSCRIPTIONS} subscriptions is reached"),
                    None,
                ));
            }
            wanted.states.insert(uri, state);
            std::mem::replace(&mut wanted.is_watched, true)
        };
        if !was_watched {
            tokio::spawn(poll_resources(Arc::downgrade(&self.0), Arc::clone(session), peer.clone()));
        }
        Ok(())
    }

    /// Removes a subscription.
    pub(super) fn remove(&self, uri: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).states.remove(uri);
    }
}

/// Polls until there are no subscriptions or the client has disconnected.
async fn poll_resources(wanted: Weak<Mutex<SubscriptionState>>, session: Arc<Session>, peer: Peer<RoleServer>) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(watched) = wanted.upgrade() else { return };
        let known: Vec<(String, String)> = {
            let mut watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
            if watched.states.is_empty() || peer.is_transport_closed() {
                watched.is_watched = false;
                return;
            }
            watched.states.iter().map(|(uri, state)| (uri.clone(), state.clone())).collect()
        };
        for (uri, before) in known {
            let Ok(now) = load_state(&session, &uri).await else { continue };
            if now != before {
                if let Some(kept) = watched.lock().unwrap_or_else(PoisonError::into_inner).states.get_mut(&uri) {
                    *kept = now;
                }
                // A disconnected client is noticed in the next round.
                let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
            }
        }
    }
}

async fn load_state(session: &Arc<Session>, uri: &str) -> Result<String, ErrorData> {
    let (session, uri) = (Arc::clone(session), uri.to_owned());
    let looked = tokio::task::spawn_blocking(move || resources::resource_state(session.services(), &uri)).await;
    looked.unwrap_or_else(|error| Err(ErrorData::internal_error(format!("cannot read the resource: {error}"), None)))
}
