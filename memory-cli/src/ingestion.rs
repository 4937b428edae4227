//! Ingestion into the memories of a home and the sessions of its history.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_agent::instance::{self, InstanceHandle};
use memory_core::instance::InstanceError;
use memory_core::instance::history::Messages;
use memory_core::wikilink::WikilinkRule;
use memory_core::{
    IngestOptions, IngestReport, NoteItem, Progress, Scope, Services, Source, SourceItem,
    SourceSessionItem,
};
use memory_dream::conversation::{ConversationPrompts, ModelFactExtractor};
use memory_ingest::{SourceName, SourceOptions};

use crate::config::Settings;
use crate::failure::Failure;
use crate::instances::InstanceRegistry;
use crate::project::HomeProjects;

/// The stores that an ingestion writes to.
pub(crate) struct Ingestion {
    services: Services,
    sessions: Messages,
    projects: HomeProjects,
    /// Draws facts from conversations, if that is requested.
    extractor: Option<ModelFactExtractor>,
}

/// Opens the history instance `instance`.
pub(crate) fn open_history(instance: &str, settings: &Arc<Settings>) -> Result<Messages, Failure> {
    let registry = InstanceRegistry::open(settings)?;
    match registry.open_instance(instance::backend("history")?, &instance.parse()?)? {
        InstanceHandle::History(messages) => Ok(messages),
        _ => Err(InstanceError::InstanceNotFound {
            instance: format!("history/{instance}"),
        }
        .into()),
    }
}

impl Ingestion {
    /// Opens the history instance `instance`, which receives conversations.
    pub(crate) fn open(
        services: &Services,
        instance: &str,
        settings: &Arc<Settings>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            services: services.clone(),
            sessions: open_history(instance, settings)?,
            projects: HomeProjects::new(settings),
            extractor: None,
        })
    }

    /// Returns the ingestion with a language model that draws facts from conversations.
    pub(crate) fn with_extraction(self, settings: &Settings) -> Result<Self, Failure> {
        let Some(chat) = self.services.chat.clone() else {
            let hint = "name one with `memory config set llm.model NAME`; `memory config init` creates a file that explains it";
            return Err(Failure::usage(
                "no language model is configured, which --extract requires",
                hint,
            ));
        };
        let folder = settings.root.value.join("prompts");
        let prompts = ConversationPrompts::with(&|name| {
            std::fs::read_to_string(folder.join(format!("{name}.md"))).ok()
        });
        Ok(Self {
            extractor: Some(ModelFactExtractor { chat, prompts }),
            ..self
        })
    }

    /// Ingests the files of `source` at `path`. The stores and the extractor of `options` are those of this ingestion.
    pub(crate) fn run(
        &self,
        (source, path): (SourceName, &Path),
        source_options: &SourceOptions,
        options: &IngestOptions<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<IngestReport, Failure> {
        let states_folders = [SourceName::Claude, SourceName::Codex].contains(&source);
        let source = SourceInProjects {
            source: memory_ingest::open(source, path, source_options)?,
            projects: &self.projects,
            path,
            states_folders,
            trusts_folders: !states_folders || is_default_path(source, path),
        };
        let extractor = self.extractor.as_ref().map(|extractor| extractor as _);
        let options = IngestOptions {
            sessions: Some(&self.sessions),
            extractor,
            ..*options
        };
        Ok(memory_core::ingest(
            &self.services,
            &source,
            &options,
            progress,
        )?)
    }
}

/// A source whose notes are in the scopes of the projects that their folders belong to.
#[derive(Debug)]
struct SourceInProjects<'p> {
    source: Box<dyn Source>,
    projects: &'p HomeProjects,
    path: &'p Path,
    /// Whether the files of the source state the folders of projects.
    states_folders: bool,
    /// Whether the folders of projects are known to be those that this user worked in.
    trusts_folders: bool,
}

/// Returns whether a source is at the place where its program keeps the memories of this user.
fn is_default_path(source: SourceName, path: &Path) -> bool {
    let default = etcetera::home_dir()
        .ok()
        .and_then(|home| source.default_path(&home));
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    default.is_some_and(|default| real(path).is_some_and(|path| Some(path) == real(&default)))
}

impl Source for SourceInProjects<'_> {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn rule(&self) -> WikilinkRule {
        self.source.rule()
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let mut known = HashMap::<(String, Option<PathBuf>), String>::new();
        let mut place = move |note: &mut NoteItem| {
            let folder = note.project_folder.take();
            if let Scope::Project(name) = &mut note.draft.scope
                && (folder.is_some() || self.states_folders)
            {
                let folder = folder.filter(|_| self.trusts_folders);
                let own = || {
                    self.projects
                        .name_for_import(name, folder.as_deref(), self.path)
                };
                let key = (name.clone(), folder.clone());
                *name = known.entry(key).or_insert_with(own).clone();
            }
        };
        Box::new(self.source.items().map(move |mut item| {
            if let SourceItem::Note(note) = &mut item {
                place(note);
            }
            item
        }))
    }

    fn is_complete(&self) -> bool {
        self.source.is_complete()
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        self.source.sessions()
    }
}
