//! Construction of the services from the settings, shared by all commands.

use std::cell::RefCell;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use memory_agent::Agent;
use memory_agent::event::EventKind;
use memory_core::{Clock, Services, StoreError};

use crate::config::{Environment, Settings};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::language_model;
use crate::print::{Output, Streams};
use crate::topics;
use crate::versions;
use crate::zone::UserTimeZone;
use memory_store::{FileStore, FileStoreOptions, Freshness, RandomIds, SystemClock};

/// The context of a command.
pub(crate) struct App<'a> {
    /// The environment variables and folders of the process.
    pub environment: &'a Environment,
    /// The home of the flag `--root`.
    pub root: Option<PathBuf>,
    /// The output of the command.
    pub output: Output,
    /// Runs another command.
    pub run: RunCommand,
    /// Whether every file is checked for changes first.
    is_fresh: bool,
    /// The home that was opened last, if any.
    opened: RefCell<Option<(Services, Arc<FileStore>)>>,
}

/// A function that runs the program with these arguments, the first of which is the program itself.
pub(crate) type RunCommand = fn(Vec<OsString>, &Environment, Streams) -> ExitCode;

/// Minimum interval between two updates of the index page in a long-running process.
const INDEX_PAGE_INTERVAL: Duration = Duration::from_millis(250);

/// Size of the file cache in a long-running process, in bytes.
///
/// It is enough for about 6,000 files of typical size.
pub(crate) const KEPT: usize = 8 << 20;

/// An opened home of memories.
pub(crate) struct Home {
    /// The services for the use cases.
    pub services: Services,
    /// The file store, for operations on files.
    pub store: Arc<FileStore>,
    /// The time zone of reminders.
    pub zone: UserTimeZone,
}

impl Home {
    /// Opens the home that `settings` specify.
    pub(crate) fn open(settings: &Settings, options: FileStoreOptions) -> Result<Self, StoreError> {
        let store = Arc::new(FileStore::open(&settings.root.value, options)?);
        let clock = Arc::new(SystemClock);
        let services = Services {
            store: store.clone(),
            history: store.clone(),
            clock: clock.clone(),
            ids: Arc::new(RandomIds),
            embedder: None,
            reranking: None,
            chat: language_model::open_lazily(settings, clock),
            banks: None,
            topics: None,
            inbox_ttl: settings.inbox_ttl(),
            actor: "cli".into(),
        };
        Ok(Self { services, store, zone: UserTimeZone::of(settings.timezone.value) })
    }

    /// Updates the page of due reminders and returns whether it exists. A failure is only a warning.
    pub(crate) fn update_pending_page(&self, output: &mut Output) -> Result<bool, Failure> {
        match self.store.update_pending_page(|| memory_core::pending(&self.services, &self.zone)) {
            Ok(is_there) => Ok(is_there),
            Err(error) => {
                output.warning(&format!("cannot write pending.md: {error}"))?;
                Ok(false)
            }
        }
    }
}

/// Updates the index page of the home if it is outdated; returns whether it was updated.
fn update_index_page(services: &Services, store: &FileStore) -> bool {
    store.update_index_page(services.clock.now(), &|| memory_core::index_page(services)).unwrap_or(false)
}

/// Returns the current time, for commands that do not open a home.
pub(crate) fn current_time() -> DateTime<Utc> {
    SystemClock.now()
}

impl<'a> App<'a> {
    /// Creates the context of a command.
    pub(crate) fn new(
        environment: &'a Environment,
        root: Option<PathBuf>,
        is_fresh: bool,
        output: Output,
        run: RunCommand,
    ) -> Self {
        Self { environment, root, output, run, is_fresh, opened: RefCell::default() }
    }

    /// Loads the settings and warns about unknown keys and about API keys that other users can read.
    pub(crate) fn settings(&mut self) -> Result<Settings, Failure> {
        let settings = Settings::load(self.root.as_deref(), self.environment)?;
        for key in &settings.unknown {
            let file = self.output.display_path(&settings.file);
            self.output.warning(&format!("{file}: unknown key {key}"))?;
        }
        let keys =
            [("llm.api_key", settings.llm.key_is_in_the_file()), ("proxy.openai_api_key", settings.proxy.key_is_in_the_file())];
        for (key, _) in keys.into_iter().filter(|(_, is_there)| *is_there && is_accessible_to_others(&settings.file)) {
            let file = self.output.display_path(&settings.file);
            self.output.warning(&format!(
                "{file} contains an API key ({key}) and other users can read it; restrict access with `chmod 600`"
            ))?;
        }
        Ok(settings)
    }

    /// Opens the home that the settings specify.
    pub(crate) fn open(&mut self) -> Result<Home, Failure> {
        let settings = self.settings()?;
        self.open_with(&settings)
    }

    /// Opens the home that `settings` specify.
    pub(crate) fn open_with(&self, settings: &Settings) -> Result<Home, Failure> {
        Ok(self.set_opened(Home::open(settings, self.options())?))
    }

    /// Opens the home that `settings` specify, with a file cache for a long-running process.
    pub(crate) fn open_long_running(&self, settings: &Settings) -> Result<Home, Failure> {
        Ok(self.set_opened(Home::open(settings, FileStoreOptions { kept: KEPT, ..self.options() })?))
    }

    fn set_opened(&self, home: Home) -> Home {
        self.opened.replace(Some((home.services.clone(), Arc::clone(&home.store))));
        home
    }

    /// Updates the index page of the home if it is outdated.
    ///
    /// The output is already printed, so errors are ignored; the next command repeats the update.
    pub(crate) fn update_index_page(&self) {
        if let Some((services, store)) = self.opened.take() {
            update_index_page(&services, &store);
        }
    }

    /// Commits the home to git in the background, if the settings enable it and the home has changed.
    pub(crate) fn commit_in_background(&mut self) {
        let Some((_, store)) = self.opened.borrow().clone() else { return };
        // Errors in the settings were reported before.
        let Ok(settings) = Settings::load(self.root.as_deref(), self.environment) else { return };
        if let (true, Ok(end)) = (settings.git.value, store.journal_end()) {
            versions::retry_failed_commit(store.root(), &end, &mut self.output);
            versions::commit_in_background(store.root(), &end, self.environment.program.as_deref());
        }
    }

    /// Updates the index page after tool calls, on a thread that ends with the agent.
    pub(crate) fn spawn_index_page_updates(&self, agent: &Agent) {
        let Some((services, store)) = self.opened.borrow().clone() else { return };
        let happened = agent.subscribe();
        let work = move || {
            let mut last: Option<Instant> = None;
            for event in happened {
                if matches!(event.kind, EventKind::ToolEnd { .. }) {
                    // Calls during this pause are covered by the next update.
                    let rest = last.map_or(Duration::ZERO, |last| INDEX_PAGE_INTERVAL.saturating_sub(last.elapsed()));
                    std::thread::park_timeout(rest);
                    if update_index_page(&services, &store) {
                        last = Some(Instant::now());
                    }
                }
            }
        };
        // Without a thread, the page is updated at the end.
        let _ = std::thread::Builder::new().name("index page".into()).spawn(work);
    }

    /// Opens the home that `settings` specify, with the topics in `dir` or of the current project.
    pub(crate) fn open_with_topics(&self, settings: &Settings, dir: Option<&Path>) -> Result<Home, Failure> {
        let mut home = self.open_with(settings)?;
        home.services.topics = topics::open(settings, self.environment, dir, "cli")?;
        dir.map_or(Ok(()), |dir| topics::check_exists(self.environment, dir))?;
        Ok(home)
    }

    fn options(&self) -> FileStoreOptions {
        let freshness = if self.is_fresh { Freshness::Fresh } else { Freshness::Usual };
        FileStoreOptions { freshness, ..FileStoreOptions::default() }
    }
}

/// Returns whether users other than the owner have access to a file.
fn is_accessible_to_others(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}
