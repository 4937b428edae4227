//! The tools that agents may use, on the memories of a home.

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use memory_agent::hook::{Hook, ShellHook};
use memory_agent::instance::OpenInstances;
use memory_agent::{Agent, Hooks, Offer};
use memory_core::{AgentName, Embedder, Services};

use crate::app::Home;
use crate::banks;
use crate::config::{Environment, Settings};
use crate::failure::Failure;
use crate::pending_page::PendingPage;
use crate::reranking;
use crate::topics;

/// What the tools are beside the memories.
pub(crate) struct Parts<'a> {
    /// Which are offered.
    pub offer: &'a Offer,
    /// The embedding model.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The folder of the topics, if it is another than the project's.
    pub topic_folder: Option<PathBuf>,
    /// The folder of the banks, if it is another than the usual ones.
    pub bank_folder: Option<PathBuf>,
    /// The sessions and values that tools reach.
    pub instances: Option<Arc<OpenInstances>>,
}

/// Returns what every front offers: the tools on the memories of `home`, with the models and the hooks of the settings. Models
/// are opened once there is something for them to read.
pub(crate) fn agent(home: &Home, settings: &Settings, environment: &Environment, parts: Parts) -> Result<Arc<Agent>, Failure> {
    let banks = match parts.bank_folder {
        Some(folder) => banks::in_folder(folder, settings, environment, AgentName::NAMELESS),
        None => banks::open(settings, environment, AgentName::NAMELESS),
    };
    let services = Services {
        banks: Some(banks),
        topics: topics::open(settings, environment, parts.topic_folder.as_deref(), AgentName::NAMELESS)?,
        embedder: parts.embedder,
        reranking: reranking::open_later(&settings.reranking),
        actor: AgentName::NAMELESS.into(),
        ..home.services.clone()
    };
    let zone = home.zone;
    let hooks: Hooks = settings.hooks.commands().map(|(point, command)| (point, shell(command))).collect();
    let local_time = Arc::new(move |moment: DateTime<Utc>| moment.with_timezone(&zone).fixed_offset());
    let agent = Agent::new(services, local_time, parts.offer, hooks, parts.instances.as_ref());
    let pending = PendingPage::of(home);
    let refresh = move || {
        // The change is made; the daemon or the next command writes the page where this failed.
        let _ = pending.refresh();
    };
    let agent = agent.map_err(|error| Failure::Usage { why: error.message, hint: error.hint })?.after_changes(Box::new(refresh));
    // Only tools of topics need something that may be missing.
    if agent.offered().next().is_none() {
        return Err(topics::no_tools(settings, environment));
    }
    Ok(Arc::new(agent))
}

fn shell(command: &str) -> Arc<dyn Hook> {
    Arc::new(ShellHook::new(command))
}
