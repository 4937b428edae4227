//! Ingestion into the memories of a home and the sessions of its history.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use memory_agent::instance::{self, InstanceHandle};
use memory_agent::web::ImportStop;
use memory_core::instance::InstanceError;
use memory_core::instance::history::Messages;
use memory_core::wikilink::WikilinkRule;
use memory_core::{
    Draft, FormerFields, IngestOptions, IngestReport, NoteItem, Progress, Scope, Services, Source,
    SourceItem, SourceSessionItem, SpeakerRole, StatedLinks, StoreError,
};
use memory_dream::conversation::{ConversationPrompts, ModelFactExtractor};
use memory_ingest::{SourceName, SourceOptions};

use crate::config::{Settings, SettingsLayer};
use crate::failure::Failure;
use crate::instances::InstanceRegistry;
use crate::project::HomeProjects;

/// Maximum number of passages that are embedded after an ingestion, in about 4 s.
pub(crate) const MAX_EMBEDDED: usize = 2_000;

/// The label of the progress bar of the index of sessions, which counts bytes.
pub(crate) const INDEXING_SESSIONS: &str = "indexing sessions";

/// The stores that an ingestion writes to.
pub(crate) struct Ingestion {
    services: Services,
    sessions: Messages,
    projects: HomeProjects,
    settings: Arc<Settings>,
    /// Whether the person trusts the files.
    is_trusting: bool,
    /// The temporary folder of the files, which is no part of their names.
    upload: Option<PathBuf>,
    /// Draws facts from conversations, if that is requested.
    extractor: Option<ModelFactExtractor>,
    /// Whether nothing more is read.
    stop: Arc<ImportStop>,
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
            settings: Arc::clone(settings),
            is_trusting: false,
            upload: None,
            extractor: None,
            stop: Arc::default(),
        })
    }

    /// Sets whether the projects and the fields of an export count that the files state, as those of files that the person wrote.
    pub(crate) fn trusting(self, is_trusting: bool) -> Self {
        Self {
            is_trusting,
            ..self
        }
    }

    /// Sets the temporary folder of the files, so that the same files in another one are the same notes.
    pub(crate) fn of_upload(self, upload: Option<PathBuf>) -> Self {
        Self { upload, ..self }
    }

    /// Sets the signal after which nothing more is read. The items before it are stored.
    pub(crate) fn until(self, stop: &Arc<ImportStop>) -> Self {
        Self {
            stop: Arc::clone(stop),
            ..self
        }
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
        let source = SourceInProjects {
            source: memory_ingest::open(source, path, source_options)?,
            services: &self.services,
            projects: &self.projects,
            path,
            states_folders: [SourceName::Claude, SourceName::Codex].contains(&source),
            is_own_place: self.is_trusting || self.is_own_place(source, path),
            is_trusting: self.is_trusting,
            upload: self
                .upload
                .as_ref()
                .and_then(|folder| folder.canonicalize().ok()),
            stop: &self.stop,
        };
        let extractor = self.extractor.as_ref().map(|extractor| extractor as _);
        let options = IngestOptions {
            sessions: Some(&self.sessions),
            extractor,
            is_trusted: source.is_own_place,
            ..*options
        };
        Ok(memory_core::ingest(
            &self.services,
            &source,
            &options,
            progress,
        )?)
    }

    /// Computes the missing vectors of the newest memories. The daemon and `memory embed` compute the others.
    pub(crate) fn embed(&self, progress: &mut dyn FnMut(Progress)) -> Result<(), StoreError> {
        memory_core::embed_newest(&self.services, MAX_EMBEDDED, progress)
    }

    /// Updates the index of the sessions.
    pub(crate) fn index_sessions(
        &self,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), InstanceError> {
        self.sessions.store.refresh_index(progress)
    }

    /// Returns whether a source is at the place where its program keeps the memories of this user.
    ///
    /// A path in the settings file may be that of files of somebody else, which are watched.
    fn is_own_place(&self, source: SourceName, path: &Path) -> bool {
        let home = self.settings.environment.home.as_deref();
        let default = home.and_then(|home| source.default_path(home));
        let places = self
            .settings
            .places
            .iter()
            .filter(|place| place.source == source && place.path.from != SettingsLayer::File);
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let path = real(path);
        path.is_some()
            && places
                .map(|place| &place.path.value)
                .chain(&default)
                .any(|place| real(place) == path)
    }
}

/// A source whose notes are in the scopes of the projects that their folders belong to.
#[derive(Debug)]
struct SourceInProjects<'p> {
    source: Box<dyn Source>,
    services: &'p Services,
    projects: &'p HomeProjects,
    path: &'p Path,
    /// Whether the folders of projects are stated in the files, instead of being those of the files.
    states_folders: bool,
    /// Whether this user worked in the projects that the files name.
    is_own_place: bool,
    /// Whether the person trusts the files.
    is_trusting: bool,
    /// The temporary folder of the files.
    upload: Option<PathBuf>,
    stop: &'p ImportStop,
}

/// The names of projects in a source with their folders, and the names of their scopes here.
type ProjectNames = HashMap<(String, Option<PathBuf>), String>;

impl SourceInProjects<'_> {
    /// Replaces the name of a project in the source by the one that it has here.
    fn name_project(
        &self,
        scope: &mut Scope,
        folder: Option<PathBuf>,
        root: Option<&str>,
        known: &mut ProjectNames,
    ) {
        let Scope::Project(name) = scope else {
            return;
        };
        let is_stated = !self.is_trusting && (self.states_folders || !self.is_own_place);
        if folder.is_none() && !is_stated {
            return;
        }
        let folder = folder.filter(|_| self.is_own_place || !self.states_folders);
        let own = || {
            let files = (self.source.name(), root, self.path);
            self.projects
                .name_for_import(name, folder.as_deref(), files)
        };
        let key = (name.clone(), folder.clone());
        *name = known.entry(key).or_insert_with(own).clone();
    }
}

/// The warning about the fields of an export in files that may be written by anybody.
const FIELDS_LEFT_OUT: &str = "scope, source, role, category, pin and reminder of an export are left out, here and in other files; with --trust they count";

/// Removes the fields of an export from a note that anybody may have written: who receives it, when, and as whose words.
fn remove_stated_fields(note: &mut NoteItem, plain: Draft, now: DateTime<Utc>) {
    let draft = &mut note.draft;
    (draft.scope, draft.source, draft.role) = (plain.scope, plain.source, plain.role);
    (draft.pinned, draft.reminder) = (plain.pinned, plain.reminder);
    (draft.category, draft.phase) = (plain.category, plain.phase);
    let past = |at: Option<DateTime<Utc>>| at.map(|at| at.min(now));
    (note.updated_at, draft.created_at) = (past(note.updated_at), past(draft.created_at));
    // An id could be that of a later memory, and an origin could hide a note of another source from its ingestion. The ids of
    // links lead to notes of the same files only.
    let stated_links = StatedLinks {
        id: note.id.take(),
        links: std::mem::take(&mut note.former.links),
    };
    note.former = FormerFields {
        stated_links,
        ..FormerFields::default()
    };
}

impl Source for SourceInProjects<'_> {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn rule(&self) -> WikilinkRule {
        self.source.rule()
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let mut known = ProjectNames::new();
        let mut is_told = false;
        // Returns the reason why the note is left out, if it is.
        let mut place = move |note: &mut NoteItem| -> Option<String> {
            if let (Some(upload), Some(origin)) = (&self.upload, &mut note.draft.origin)
                && let Ok(below) = Path::new(&origin.root).strip_prefix(upload)
            {
                origin.root = Path::new("upload").join(below).display().to_string();
            }
            if let Some(plain) = note.unrestored.take().filter(|_| !self.is_trusting) {
                if let Some(id) = note.id.filter(|id| self.services.store.get(id).is_ok()) {
                    return Some(format!(
                        "it is an export of the memory {}; with --trust its edits count",
                        id.short()
                    ));
                }
                remove_stated_fields(note, *plain, self.services.clock.now());
                if !std::mem::replace(&mut is_told, true) {
                    let warnings = note.warning.take().into_iter();
                    let warnings = warnings.chain([FIELDS_LEFT_OUT.to_owned()]);
                    note.warning = Some(warnings.collect::<Vec<_>>().join("; "));
                }
            }
            // Instruction files of Claude Code need no role to be the person's words.
            let is_persons = note.draft.role == Some(SpeakerRole::Person)
                || note.draft.role.is_none() && self.name() == SourceName::Claude.as_str();
            if !self.is_own_place && is_persons {
                note.draft.role = Some(SpeakerRole::Author);
            }
            let folder = note.project_folder.take();
            let root = note.draft.origin.as_ref().map(|origin| origin.root.clone());
            self.name_project(&mut note.draft.scope, folder, root.as_deref(), &mut known);
            None
        };
        let items = self.source.items().take_while(|_| !self.stop.leaves_out());
        Box::new(items.map(move |mut item| {
            let SourceItem::Note(note) = &mut item else {
                return item;
            };
            let Some(reason) = place(note) else {
                return item;
            };
            let origin = note.draft.origin.take();
            SourceItem::Skipped {
                path: origin.map(|origin| origin.path).unwrap_or_default(),
                reason,
            }
        }))
    }

    fn is_complete(&self) -> bool {
        self.source.is_complete() && !self.stop.has_left_out()
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        let mut known = ProjectNames::new();
        let sessions = self.source.sessions();
        let sessions = sessions.take_while(|_| !self.stop.leaves_out());
        Box::new(sessions.map(move |mut item| {
            if let SourceSessionItem::Session(session) = &mut item {
                // The folder is stated in the files.
                let folder = session.project_folder.take().filter(|_| self.is_own_place);
                self.name_project(&mut session.scope, folder, None, &mut known);
            }
            item
        }))
    }
}
