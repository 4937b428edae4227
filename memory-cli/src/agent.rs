//! Construction of the agent: the tools for a home, with models, hooks and instances.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use memory_agent::hook::{Hook, ShellHook};
use memory_agent::instance::OpenInstances;
use memory_agent::{Agent, AgentBuilder, HookList, ToolSelection};
use memory_core::bank::Banks;
use memory_core::{AgentName, Embedder, Services, ToolError};
use memory_store::PublishedPage;

use crate::banks;
use crate::failure::Failure;
use crate::home::Home;
use crate::home::PendingPage;
use crate::reranking;
use crate::shared_store::queued_notice;
use crate::topics;

/// The configuration of an agent other than its home.
#[derive(Default)]
pub(crate) struct AgentOptions {
    /// The selected tools.
    pub selection: ToolSelection,
    /// The embedding model.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Folder of the topics, if it differs from that of the project.
    pub topic_folder: Option<PathBuf>,
    /// Folder of the banks, if it differs from the default ones.
    pub bank_folder: Option<PathBuf>,
    /// The instances with the sessions and values for the tools.
    pub instances: Option<Arc<OpenInstances>>,
}

/// Creates the agent for `home` with the models and hooks of the settings.
///
/// All frontends use this agent. Models are opened on first use.
pub(crate) fn build_agent(home: &Home, options: AgentOptions) -> Result<Arc<Agent>, Failure> {
    let agent = agent_builder(home, options)?
        .build()
        .map_err(invalid_tools)?;
    // Only the topic tools can be unavailable.
    if agent.callable_tools().next().is_none() {
        return Err(topics::no_tools_error(&home.settings));
    }
    Ok(agent)
}

/// Returns where the user accepts the proposals of agents: on the page if it is served, or else with the command that opens it.
fn review_place(root: &Path) -> String {
    PublishedPage::find(root).map_or_else(
        || "with `memory ui` or `memory inbox`".to_owned(),
        |address| format!("at http://{address}/inbox"),
    )
}

/// Returns the builder of the agent of [`build_agent`], to which custom tools may be added.
pub(crate) fn agent_builder(home: &Home, options: AgentOptions) -> Result<AgentBuilder, Failure> {
    let settings = home.settings.as_ref();
    let banks = match options.bank_folder {
        Some(folder) => banks::open_folder(folder, settings, AgentName::NAMELESS),
        None => banks::open(settings, AgentName::NAMELESS)?,
    };
    let services = Services {
        banks: Some(banks),
        topics: topics::open(
            settings,
            options.topic_folder.as_deref(),
            AgentName::NAMELESS,
        )?,
        embedder: options.embedder,
        reranking: reranking::open_lazily(&settings.reranking),
        actor: AgentName::NAMELESS.into(),
        ..home.services.clone()
    };
    let zone = home.zone;
    let hooks: HookList = settings
        .hooks
        .iter()
        .map(|(point, command)| (*point, shell_hook(command)))
        .collect();
    let (pending, store) = (PendingPage::of(home), Arc::clone(&home.store));
    let root = home.store.root().to_owned();
    let builder = Agent::builder(services)
        .selection(options.selection)
        .hooks(hooks)
        .recall_ledger(home.recall_ledger())
        .project_writes(settings.agents.project_writes.value)
        .local_time(Arc::new(move |moment| {
            moment.with_timezone(&zone).fixed_offset()
        }))
        .change_callback(move || {
            // The change is complete. If writing the page fails, the daemon or the next command writes it.
            let _ = pending.refresh();
        })
        .write_notice(move || queued_notice(&store))
        .review_place(move || Some(review_place(&root)));
    // The server of a node without a token also serves principals.
    let builder = match (
        home.find_database_of_principals()?,
        Arc::clone(&home.settings),
    ) {
        (Some(shared), settings) => {
            let opened = Mutex::<HashMap<String, Banks>>::default();
            builder.principal_banks(move |one| {
                let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
                opened
                    .entry(one.name.clone())
                    .or_insert_with(|| banks::open_of_principal(&settings, &shared, one))
                    .clone()
            })
        }
        (None, _) => builder,
    };
    Ok(match options.instances {
        Some(instances) => builder.instances(instances),
        None => builder,
    })
}

/// Converts the error of an invalid selection or of an invalid custom tool.
pub(crate) fn invalid_tools(error: ToolError) -> Failure {
    Failure::Usage {
        why: error.message,
        hint: error.hint,
    }
}

fn shell_hook(command: &str) -> Arc<dyn Hook> {
    Arc::new(ShellHook::new(command))
}
