//! The tools that agents may use, on the memories of a home.

use std::sync::Arc;

use memory_agent::hook::{Hook, ShellHook};
use memory_agent::{Agent, Hooks, Offer};
use memory_core::{AgentName, Embedder, Services};

use crate::app::Home;
use crate::banks;
use crate::config::{Environment, Settings};
use crate::failure::Failure;
use crate::reranking;

/// Returns what every front offers: the tools on the memories of `home`, with the models and the hooks of the settings. Models
/// are opened once there is something for them to read.
pub(crate) fn agent(
    home: &Home,
    settings: &Settings,
    environment: &Environment,
    offer: &Offer,
    embedder: Option<Arc<dyn Embedder>>,
) -> Result<Arc<Agent>, Failure> {
    let banks = banks::open(settings, environment, AgentName::NAMELESS);
    let services = Services {
        banks: Some(banks),
        embedder,
        reranking: reranking::open_later(&settings.reranking),
        actor: AgentName::NAMELESS.into(),
        ..home.services.clone()
    };
    let zone = home.zone;
    let hooks: Hooks = settings.hooks.commands().map(|(point, command)| (point, shell(command))).collect();
    let agent = Agent::new(services, Arc::new(move |moment| moment.with_timezone(&zone).fixed_offset()), offer, hooks);
    agent.map(Arc::new).map_err(|error| Failure::Usage { why: error.message, hint: error.hint })
}

fn shell(command: &str) -> Arc<dyn Hook> {
    Arc::new(ShellHook::new(command))
}
