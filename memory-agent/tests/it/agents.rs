//! Agents to speak to.

use std::sync::{Arc, Condvar, Mutex};

use memory_agent::{Agent, LocalTime, Offer};
use memory_core::testing::{FakeStore, services};

/// Returns an agent with nothing in its memory.
pub(crate) fn agent() -> Arc<Agent> {
    with_time(Arc::new(|moment| moment.fixed_offset()))
}

/// Returns an agent whose first call waits at a gate.
pub(crate) fn agent_behind(gate: &Arc<Gate>) -> Arc<Agent> {
    let gate = Arc::clone(gate);
    with_time(Arc::new(move |moment| {
        gate.pass();
        moment.fixed_offset()
    }))
}

fn with_time(local_time: LocalTime) -> Arc<Agent> {
    let services = services(Arc::new(FakeStore::default()));
    Arc::new(Agent::new(services, local_time, &Offer::usual(), Vec::new(), None).expect("no tool is named"))
}

/// Holds up the first who comes until it is opened.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// Whether somebody came, and whether it is open.
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

impl Gate {
    /// Waits until somebody waits before it.
    pub(crate) fn holds_one(&self) {
        let state = self.state.lock().expect("nobody panics here");
        drop(self.changed.wait_while(state, |(came, _)| !*came));
    }

    /// Lets them go on.
    pub(crate) fn open(&self) {
        self.state.lock().expect("nobody panics here").1 = true;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let mut state = self.state.lock().expect("nobody panics here");
        if !std::mem::replace(&mut state.0, true) {
            self.changed.notify_all();
            drop(self.changed.wait_while(state, |(_, open)| !*open));
        }
    }
}
