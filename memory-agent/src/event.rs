//! What happens while agents work, told to whoever listens.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use memory_core::ToolError;
use serde_json::{Value, json};

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

/// Who is further behind than this misses what comes next.
const WAITING: usize = 1_024;

impl Events {
    /// Returns what hears of everything from now on.
    pub fn subscribe(&self) -> Receiver<Arc<Event>> {
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
    use super::*;

    #[test]
    fn whoever_does_not_listen_holds_up_nobody() {
        let events = Events::default();
        let (idle, gone) = (events.subscribe(), events.subscribe());
        drop(gone);
        for _ in 0..2 * WAITING {
            events.tell(|| Event { agent: "a".into(), kind: EventKind::AgentStart });
        }
        assert_eq!(idle.try_iter().count(), WAITING);
        events.end();
        assert!(idle.recv().is_err());
    }
}
