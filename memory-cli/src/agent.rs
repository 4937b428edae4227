//! The tools that agents may use, on the memories of a home.

use std::sync::Arc;

use memory_agent::hook::{Hook, ShellHook};
use memory_agent::{Agent, Hooks, Offer};
use memory_core::Services;

use crate::app::Home;
use crate::config::Settings;
use crate::{embedding, reranking};

/// Who writes, in the journal, when an agent does that has no name.
const ACTOR: &str = "agent";

/// Returns what every front offers: the tools on the memories of `home`, with the models and the hooks of the settings. Models
/// are opened once there is something for them to read.
#[expect(dead_code, reason = "the fronts come next")]
pub(crate) fn agent(home: &Home, settings: &Settings) -> Arc<Agent> {
    let services = Services {
        embedder: embedding::open_later(&settings.embedding),
        reranking: reranking::open_later(&settings.reranking),
        actor: ACTOR.into(),
        ..home.services.clone()
    };
    let zone = home.zone;
    let hooks: Hooks = settings.hooks.commands().map(|(point, command)| (point, shell(command))).collect();
    let agent = Agent::new(services, Arc::new(move |moment| moment.with_timezone(&zone).fixed_offset()), &Offer::Usual, hooks);
    Arc::new(agent.expect("no tool is named that might not be there"))
}

fn shell(command: &str) -> Arc<dyn Hook> {
    Arc::new(ShellHook::new(command))
}
