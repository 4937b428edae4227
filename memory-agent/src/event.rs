//! What happens while agents work, told to whoever listens.

#[cfg(not(test))]
use std::sync::{
    Arc, Mutex, PoisonError,
    mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
};

use memory_core::ToolError;
use serde_json::{Value, json};
// In tests every lock is a place where another thread may have its turn.
#[cfg(test)]
use shuttle::sync::{
    Arc, Mutex, PoisonError,
    mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
};

/// Something that happened while an agent worked.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Who works; empty when nobody said.
    pub agent: String,
    /// What happened.
    pub kind: EventKind,
}

/// What may happen while an agent works.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// An agent came.
    AgentStart,
    /// It went.
    AgentEnd,
    /// A tool was called.
    ToolStart {
        /// Which one.
        tool: String,
        /// What it was given.
        parameters: Value,
    },
    /// It did what it was asked for.
    ToolEnd {
        /// Which one.
        tool: String,
    },
    /// It did not.
    Error {
        /// Which one.
        tool: String,
        /// Why.
        error: ToolError,
    },
}

impl Event {
    /// Returns the name of what happened: `agent_start`, `agent_end`, `tool_start`, `tool_end` or `error`.
    pub fn name(&self) -> &'static str {
        match self.kind {
            EventKind::AgentStart => "agent_start",
            EventKind::AgentEnd => "agent_end",
            EventKind::ToolStart { .. } => "tool_start",
            EventKind::ToolEnd { .. } => "tool_end",
            EventKind::Error { .. } => "error",
        }
    }

    /// Writes it as hooks read it: `{event, agent, tool?, parameters?, error?}`.
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

/// Tells everybody who listens what happens, and waits for nobody: who falls behind misses something.
#[derive(Debug, Default)]
pub struct Events(Mutex<Vec<SyncSender<Arc<Event>>>>);

/// What hears of everything that happens.
pub type Listener = Receiver<Arc<Event>>;

/// Who is further behind than this misses what comes next.
const WAITING: usize = 1_024;

impl Events {
    /// Returns what hears of everything from now on.
    pub fn subscribe(&self) -> Listener {
        let (sender, receiver) = sync_channel(WAITING);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        receiver
    }

    /// Tells everybody who listens.
    pub(crate) fn tell(&self, event: impl FnOnce() -> Event) {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if listeners.is_empty() {
            return;
        }
        let event = Arc::new(event());
        listeners.retain(|listener| !matches!(listener.try_send(Arc::clone(&event)), Err(TrySendError::Disconnected(_))));
    }

    /// Ends what everybody hears.
    pub(crate) fn end(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use memory_core::testing::in_any_order;
    use shuttle::{check_random, thread};

    use super::*;

    /// How often each of those who tell something does.
    const TIMES: usize = 3;

    fn tell(events: &Events, who: usize) {
        for number in 0..TIMES {
            events.tell(|| Event { agent: format!("{who} {number}"), kind: EventKind::AgentStart });
        }
    }

    fn heard(listener: &Listener) -> Vec<String> {
        listener.try_iter().map(|event| event.agent.clone()).collect()
    }

    #[test]
    fn everybody_hears_the_same_in_the_same_order_from_when_they_listen() {
        in_any_order(|| {
            let events = Arc::new(Events::default());
            let first = events.subscribe();
            let told: Vec<_> = (0..2)
                .map(|who| {
                    let events = Arc::clone(&events);
                    thread::spawn(move || tell(&events, who))
                })
                .collect();
            let late = events.subscribe();
            for thread in told {
                thread.join().unwrap();
            }
            let (first, late) = (heard(&first), heard(&late));
            assert!(first.ends_with(&late), "{first:?} {late:?}");
            for who in 0..2 {
                let own: Vec<_> = first.iter().filter(|text| text.starts_with(&who.to_string())).collect();
                assert_eq!(
                    own,
                    (0..TIMES).map(|number| format!("{who} {number}")).collect::<Vec<_>>().iter().collect::<Vec<_>>()
                );
            }
        });
    }

    #[test]
    fn what_was_told_before_the_end_is_heard_to_the_end() {
        in_any_order(|| {
            let events = Arc::new(Events::default());
            let (listener, gone) = (events.subscribe(), events.subscribe());
            let hears = thread::spawn(move || listener.iter().count());
            let leaves = thread::spawn(move || drop(gone));
            tell(&events, 0);
            events.end();
            assert_eq!(hears.join().unwrap(), TIMES);
            leaves.join().unwrap();
        });
    }

    #[test]
    fn whoever_does_not_listen_holds_up_nobody() {
        let claim = || {
            let events = Events::default();
            let (idle, gone) = (events.subscribe(), events.subscribe());
            drop(gone);
            for _ in 0..2 * WAITING {
                events.tell(|| Event { agent: "a".into(), kind: EventKind::AgentStart });
            }
            assert_eq!(idle.try_iter().count(), WAITING);
            events.end();
            assert!(idle.recv().is_err());
        };
        check_random(claim, 1);
    }
}
