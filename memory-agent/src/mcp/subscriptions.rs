//! Notifies MCP clients of changed resources.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{Filter, ListOrder, PageRequest, Services, subtract_time};
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::SubscriptionContext;
use rmcp::{ErrorData, Peer, RoleServer};
use tokio::sync::Semaphore;
use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::resources;
use crate::agent::Session;

/// The subscriptions of a connection. Subscribed resources are polled every two seconds.
///
/// A client that opened a session with `initialize` subscribes to single resources ([`Self::add`]). A self-contained request subscribes
/// to several, until it ends ([`Self::listen`]).
#[derive(Debug, Clone)]
pub(super) struct Subscriptions {
    resources: Arc<Mutex<SubscribedResources>>,
    /// One permit for each running [`Self::listen`].
    listens: ListenLimit,
    /// Ends every [`Self::listen`].
    end: CancellationToken,
}

/// The resources of a client that opened a session with `initialize`.
#[derive(Debug, Default)]
struct SubscribedResources {
    /// The last state of each resource, by its URI.
    states: HashMap<String, String>,
    /// Whether a polling task is running.
    is_watched: bool,
}

const INTERVAL: Duration = Duration::from_secs(2);

/// Maximum number of resources that a client subscribes to, for each `subscriptions/listen` or in total without it.
const MAX_SUBSCRIPTIONS: usize = 256;

/// Maximum number of `subscriptions/listen` requests at the same time: of the client of a process, or of all clients over HTTP.
const MAX_LISTENS: usize = 16;

/// The limit of `subscriptions/listen` requests, which the connections of a server share.
#[derive(Debug, Clone)]
pub(super) struct ListenLimit(Arc<Semaphore>);

impl Default for ListenLimit {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_LISTENS)))
    }
}

/// Time before the first poll of a `subscriptions/listen` in which a change may have been missed.
///
/// The SDK acknowledges the request before this module reads the resources.
const UNSEEN: TimeDelta = TimeDelta::seconds(1);

impl Subscriptions {
    /// Creates the subscriptions of a connection that ends with `end`.
    pub(super) fn new(end: &CancellationToken, listens: &ListenLimit) -> Self {
        Self {
            resources: Arc::default(),
            listens: listens.clone(),
            end: end.clone(),
        }
    }

    /// Subscribes the client to changes of `uri`.
    ///
    /// # Errors
    /// If the resource does not exist, or if the limit of subscriptions is reached.
    pub(super) async fn add(
        &self,
        session: &Arc<Session>,
        peer: &Peer<RoleServer>,
        uri: String,
    ) -> Result<(), ErrorData> {
        let state = existing_state(session, &uri).await?;
        let was_watched = {
            let mut subscribed = self
                .resources
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if MAX_SUBSCRIPTIONS <= subscribed.states.len() && !subscribed.states.contains_key(&uri)
            {
                return Err(too_many_subscriptions());
            }
            subscribed.states.insert(uri, state);
            std::mem::replace(&mut subscribed.is_watched, true)
        };
        if !was_watched {
            tokio::spawn(poll_resources(
                Arc::downgrade(&self.resources),
                Arc::clone(session),
                peer.clone(),
            ));
        }
        Ok(())
    }

    /// Removes a subscription.
    pub(super) fn remove(&self, uri: &str) {
        self.resources
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .states
            .remove(uri);
    }

    /// Notifies the client of changes of all accepted resources of a `subscriptions/listen` until the request or the
    /// connection ends.
    ///
    /// # Errors
    /// If one of the resources does not exist, or if a limit of subscriptions is reached.
    pub(super) async fn listen(
        &self,
        session: &Arc<Session>,
        context: &SubscriptionContext,
    ) -> Result<(), ErrorData> {
        let unseen_since = subtract_time(session.services().clock.now(), UNSEEN);
        let uris = context
            .accepted()
            .resource_subscriptions
            .clone()
            .unwrap_or_default();
        let _permit = self.listens.0.try_acquire().map_err(|_| {
            ErrorData::invalid_request(
                format!("the limit of {MAX_LISTENS} simultaneous subscriptions is reached"),
                None,
            )
        })?;
        if MAX_SUBSCRIPTIONS < uris.len() {
            return Err(too_many_subscriptions());
        }
        let notify = async {
            let mut states = HashMap::new();
            for uri in uris {
                states.insert(uri.clone(), existing_state(session, &uri).await?);
            }
            let mut changed: Vec<String> = Vec::new();
            if has_changed_since(session, unseen_since).await {
                changed.extend(states.keys().cloned());
            }
            let mut ticks = ticks();
            loop {
                for uri in changed {
                    // A client that has disconnected needs no notification.
                    if context.sink().notify_resource_updated(uri).await.is_err() {
                        return Ok(());
                    }
                }
                ticks.tick().await;
                let updated = changed_states(session, states.iter()).await;
                changed = updated.iter().map(|(uri, _)| uri.clone()).collect();
                states.extend(updated);
            }
        };
        tokio::select! {
            ended = notify => ended,
            () = context.cancelled() => Ok(()),
            () = self.end.cancelled() => Ok(()),
        }
    }
}

/// Polls until there are no subscriptions or the client has disconnected.
async fn poll_resources(
    resources: Weak<Mutex<SubscribedResources>>,
    session: Arc<Session>,
    peer: Peer<RoleServer>,
) {
    let mut ticks = ticks();
    loop {
        ticks.tick().await;
        let Some(watched) = resources.upgrade() else {
            return;
        };
        let known = {
            let mut watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
            if watched.states.is_empty() || peer.is_transport_closed() {
                watched.is_watched = false;
                return;
            }
            watched.states.clone()
        };
        for (uri, now) in changed_states(&session, known.iter()).await {
            if let Some(state) = watched
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .states
                .get_mut(&uri)
            {
                *state = now;
            }
            // A disconnected client is noticed in the next round.
            let _ = peer
                .notify_resource_updated(ResourceUpdatedNotificationParam::new(uri))
                .await;
        }
    }
}

fn ticks() -> Interval {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Returns the resources whose state differs from the previous one, with their new state.
///
/// A resource that cannot be read counts as unchanged.
async fn changed_states(
    session: &Arc<Session>,
    known: impl Iterator<Item = (&String, &String)>,
) -> Vec<(String, String)> {
    let mut changed = Vec::new();
    for (uri, before) in known {
        if let Ok(now) = read_with(session, uri, resources::resource_state).await
            && now != *before
        {
            changed.push((uri.clone(), now));
        }
    }
    changed
}

async fn existing_state(session: &Arc<Session>, uri: &str) -> Result<String, ErrorData> {
    read_with(session, uri, resources::existing_state).await
}

/// Returns whether a memory that the session sees was changed since `time`.
async fn has_changed_since(session: &Arc<Session>, time: DateTime<Utc>) -> bool {
    let newest = move |services: &Services, _: &str| {
        let slice = PageRequest {
            order: ListOrder::Updated,
            offset: 0,
            limit: Some(1),
        };
        let page = memory_core::list(services, &Filter::default(), &slice)
            .map_err(|error| resources::store_error(error, "list"))?;
        Ok(page
            .memories
            .iter()
            .any(|newest| time <= newest.memory.updated_at))
    };
    read_with(session, "", newest).await.unwrap_or(false)
}

/// Runs blocking work on a thread pool.
async fn read_with<T: Send + 'static>(
    session: &Arc<Session>,
    uri: &str,
    read: impl FnOnce(&Services, &str) -> Result<T, ErrorData> + Send + 'static,
) -> Result<T, ErrorData> {
    let (session, uri) = (Arc::clone(session), uri.to_owned());
    let done = tokio::task::spawn_blocking(move || read(&session.services(), &uri)).await;
    done.unwrap_or_else(|error| {
        Err(ErrorData::internal_error(
            format!("cannot read the resource: {error}"),
            None,
        ))
    })
}

fn too_many_subscriptions() -> ErrorData {
    ErrorData::invalid_request(
        format!("the limit of {MAX_SUBSCRIPTIONS} subscriptions is reached"),
        None,
    )
}
