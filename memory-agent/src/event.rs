//! Broadcasts events of agents and tool calls to subscribers.

#[cfg(not(test))]
use std::sync::{
    Arc, Mutex, PoisonError,
    mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
};

use memory_core::ToolError;
use serde_json::{Value, json};
// Under test, shuttle's locks are used, so that each lock is a scheduling point.
#[cfg(test)]
use shuttle::sync::{
    Arc, Mutex, PoisonError,
    mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
};

/// An event of an agent or of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The name of the agent; empty if unknown.
    pub agent: String,
    /// The kind of event, with its data.
    pub kind: EventKind,
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// A session was opened.
    AgentStart,
    /// A session was closed.
    AgentEnd,
    /// A tool call has started.
    ToolStart {
        /// The name of the tool.
        tool: String,
        /// The parameters of the call.
        parameters: Value,
    },
    /// A tool call has succeeded.
    ToolEnd {
        /// The name of the tool.
        tool: String,
    },
    /// A tool call has failed.
    Error {
        /// The name of the tool.
        tool: String,
        /// The error of the call.
        error: ToolError,
    },
}

impl Event {
    /// Returns the name of the event: `agent_start`, `agent_end`, `tool_start`, `tool_end` or `error`.
    pub fn name(&self) -> &'static str {
        match self.kind {
            EventKind::AgentStart => "agent_start",
            EventKind::AgentEnd => "agent_end",
            EventKind::ToolStart { .. } => "tool_start",
            EventKind::ToolEnd { .. } => "tool_end",
            EventKind::Error { .. } => "error",
        }
    }

    /// Returns the JSON that hooks receive: `{event, agent, tool?, parameters?, error?}`.
    pub fn json(&self) -> Value {
        let mut shape = json!({ "event": self.name(), "agent": self.agent });
        match &self.kind {
            EventKind::AgentStart | EventKind::AgentEnd => {}
            EventKind::ToolStart { tool, parameters } => {
                shape["tool"] = tool.as_str().into();
                shape["parameters"] = parameters.clone();
            }
            EventKind::ToolEnd { tool } => shape["tool"] = tool.as_str().into(),
            EventKind::Error { tool, error } => {
                shape["tool"] = tool.as_str().into();
                shape["error"] = json!({ "code": error.code.as_str(), "message": error.message });
            }
        }
        shape
    }
}

/// Delivers events to all subscribers without blocking; a subscriber with a full queue misses events.
#[derive(Debug, Default)]
pub struct EventBus(Mutex<Vec<SyncSender<Arc<Event>>>>);

/// Receiver of events.
pub type EventReceiver = Receiver<Arc<Event>>;

/// Queue length of a subscriber. Further events are dropped while the queue is full.
const SUBSCRIBER_QUEUE: usize = 1_024;

impl EventBus {
    /// Returns a receiver of all events from now on.
    pub fn subscribe(&self) -> EventReceiver {
        let (sender, receiver) = sync_channel(SUBSCRIBER_QUEUE);
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(sender);
        receiver
    }

    /// Sends an event to all subscribers; the event is only built if there is one.
    pub(crate) fn emit(&self, event: impl FnOnce() -> Event) {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if listeners.is_empty() {
            return;
        }
        let event = Arc::new(event());
        listeners.retain(|listener| {
            !matches!(
                listener.try_send(Arc::clone(&event)),
                Err(TrySendError::Disconnected(_))
            )
        });
    }

    /// Disconnects all subscribers.
    pub(crate) fn close(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

#[cfg(test)]
mod tests {
    use memory_core::testing::in_any_order;
    use shuttle::{check_random, thread};

    use super::*;

    /// Number of events that each sender emits.
    const TIMES: usize = 3;

    fn emit_events(events: &EventBus, who: usize) {
        for number in 0..TIMES {
            events.emit(|| Event {
                agent: format!("{who} {number}"),
                kind: EventKind::AgentStart,
            });
        }
    }

    fn received_agents(listener: &EventReceiver) -> Vec<String> {
        listener
            .try_iter()
            .map(|event| event.agent.clone())
            .collect()
    }

    #[test]
    fn everybody_hears_the_same_in_the_same_order_from_when_they_listen() {
        in_any_order(|| {
            let events = Arc::new(EventBus::default());
            let first = events.subscribe();
            let told: Vec<_> = (0..2)
                .map(|who| {
                    let events = Arc::clone(&events);
                    thread::spawn(move || emit_events(&events, who))
                })
                .collect();
            let late = events.subscribe();
            for thread in told {
                thread.join().unwrap();
            }
            let (first, late) = (received_agents(&first), received_agents(&late));
            assert!(first.ends_with(&late), "{first:?} {late:?}");
            for who in 0..2 {
                let own: Vec<_> = first
                    .iter()
                    .filter(|text| text.starts_with(&who.to_string()))
                    .collect();
                assert_eq!(
                    own,
                    (0..TIMES)
                        .map(|number| format!("{who} {number}"))
                        .collect::<Vec<_>>()
                        .iter()
                        .collect::<Vec<_>>()
                );
            }
        });
    }

    #[test]
    fn what_was_told_before_the_end_is_heard_to_the_end() {
        in_any_order(|| {
            let events = Arc::new(EventBus::default());
            let (listener, gone) = (events.subscribe(), events.subscribe());
            let hears = thread::spawn(move || listener.iter().count());
            let leaves = thread::spawn(move || drop(gone));
            emit_events(&events, 0);
            events.close();
            assert_eq!(hears.join().unwrap(), TIMES);
            leaves.join().unwrap();
        });
    }

    #[test]
    fn whoever_does_not_listen_holds_up_nobody() {
        let claim = || {
            let events = EventBus::default();
            let (idle, gone) = (events.subscribe(), events.subscribe());
            drop(gone);
            for _ in 0..2 * SUBSCRIBER_QUEUE {
                events.emit(|| Event {
                    agent: "a".into(),
                    kind: EventKind::AgentStart,
                });
            }
            assert_eq!(idle.try_iter().count(), SUBSCRIBER_QUEUE);
            events.close();
            assert!(idle.recv().is_err());
        };
        check_random(claim, 1);
    }
}
