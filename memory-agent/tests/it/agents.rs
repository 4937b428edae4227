//! Agents for tests.

use std::sync::{Arc, Condvar, Mutex};

use memory_agent::{Agent, LocalTime};
use memory_core::MemStore;
use memory_core::testing::services;

/// Returns an agent with an empty memory.
pub(crate) fn agent() -> Arc<Agent> {
    with_time(Arc::new(|moment| moment.fixed_offset()))
}

/// Returns an agent that blocks at a gate during its first call.
pub(crate) fn agent_behind(gate: &Arc<CallGate>) -> Arc<Agent> {
    let gate = Arc::clone(gate);
    with_time(Arc::new(move |moment| {
        gate.block_first();
        moment.fixed_offset()
    }))
}

fn with_time(local_time: LocalTime) -> Arc<Agent> {
    let services = services(Arc::new(MemStore::default()));
    Agent::builder(services)
        .local_time(local_time)
        .build()
        .expect("no name is taken twice")
}

/// Blocks the first caller until it is opened.
#[derive(Debug, Default)]
pub(crate) struct CallGate {
    /// Whether a caller has arrived, and whether the gate is open.
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

impl CallGate {
    /// Waits until a caller is blocked.
    pub(crate) fn wait_for_caller(&self) {
        let state = self.state.lock().expect("nobody panics here");
        drop(self.changed.wait_while(state, |(came, _)| !*came));
    }

    /// Releases the blocked caller.
    pub(crate) fn open(&self) {
        self.state.lock().expect("nobody panics here").1 = true;
        self.changed.notify_all();
    }

    fn block_first(&self) {
        let mut state = self.state.lock().expect("nobody panics here");
        if !std::mem::replace(&mut state.0, true) {
            self.changed.notify_all();
            drop(self.changed.wait_while(state, |(_, open)| !*open));
        }
    }
}
