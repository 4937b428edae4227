//! Putting the crates together.

use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use memory_agent::Agent;
use memory_agent::event::EventKind;
use memory_core::{Clock, Services, StoreError};

use crate::cli::Globals;
use crate::config::{Environment, Settings};
use crate::failure::Failure;
use crate::language_model;
use crate::print::Output;
use crate::topics;
use crate::versions;
use crate::zone::Zone;
use memory_store::{FileStore, Freshness, Options, RandomIds, SystemClock};

/// What a command works with.
pub(crate) struct App<'a> {
    /// What the environment says.
    pub environment: &'a Environment,
    /// The flags that every command has.
    pub globals: Globals,
    /// Where the answer goes.
    pub output: Output,
    /// The home that was opened last, if one was.
    pub opened: RefCell<Option<(Services, Arc<FileStore>)>>,
}

/// A process that answers again and again makes the index of the home at most once in this time.
const PAGE_REST: Duration = Duration::from_millis(250);

/// A process that answers again and again keeps files that take about so many bytes: some six thousand of usual length.
pub(crate) const KEPT: usize = 8 << 20;

/// The memories' home, opened.
pub(crate) struct Home {
    /// What the use cases work with.
    pub services: Services,
    /// The files, for what is about files.
    pub store: Arc<FileStore>,
    /// The time zone in which reminders are meant.
    pub zone: Zone,
}

impl Home {
    /// Opens the home that `settings` name.
    pub(crate) fn open(settings: &Settings, options: Options) -> Result<Self, StoreError> {
        let store = Arc::new(FileStore::open(&settings.root.value, options)?);
        let clock = Arc::new(SystemClock);
        let services = Services {
            store: store.clone(),
            history: store.clone(),
            clock: clock.clone(),
            ids: Arc::new(RandomIds),
            embedder: None,
            reranking: None,
            chat: language_model::open_later(settings, clock),
            banks: None,
            topics: None,
            inbox_ttl: settings.inbox_ttl(),
            actor: "cli".into(),
        };
        Ok(Self { services, store, zone: Zone::of(settings.timezone.value) })
    }

    /// Writes the page of what is due anew, and tells whether there is one. What was done before stays done if that fails.
    pub(crate) fn keep_pending(&self, output: &mut Output) -> Result<bool, Failure> {
        match self.store.keep_pending(|| memory_core::pending(&self.services, &self.zone)) {
            Ok(is_there) => Ok(is_there),
            Err(error) => {
                output.warning(&format!("pending.md was not written: {error}"))?;
                Ok(false)
            }
        }
    }
}

/// Makes the index of the home anew, if it is time for it; tells whether it was.
fn keep_index_page(services: &Services, store: &FileStore) -> bool {
    store.keep_index_page(services.clock.now(), &|| memory_core::index_page(services)).unwrap_or(false)
}

/// Returns the present moment, for commands that open no home.
pub(crate) fn now() -> DateTime<Utc> {
    SystemClock.now()
}

impl App<'_> {
    /// Reads the settings, and warns of keys that mean nothing.
    pub(crate) fn settings(&mut self) -> Result<Settings, Failure> {
        let settings = Settings::load(self.globals.root.as_deref(), self.environment)?;
        for key in &settings.unknown {
            let file = self.output.place(&settings.file);
            self.output.warning(&format!("{file}: the key {key} means nothing"))?;
        }
        let keys =
            [("llm.api_key", settings.llm.key_is_in_the_file()), ("proxy.openai_api_key", settings.proxy.key_is_in_the_file())];
        for (key, _) in keys.into_iter().filter(|(_, is_there)| *is_there && is_for_others(&settings.file)) {
            let file = self.output.place(&settings.file);
            self.output.warning(&format!("{file} holds a key ({key}), and others may read it; `chmod 600` keeps them out"))?;
        }
        Ok(settings)
    }

    /// Opens the home that the settings name.
    pub(crate) fn open(&mut self) -> Result<Home, Failure> {
        let settings = self.settings()?;
        self.open_with(&settings)
    }

    /// Opens the home that `settings` name.
    pub(crate) fn open_with(&self, settings: &Settings) -> Result<Home, Failure> {
        Ok(self.remember(Home::open(settings, self.options())?))
    }

    /// Opens the home that `settings` name, for a process that answers again and again.
    pub(crate) fn open_to_stay(&self, settings: &Settings) -> Result<Home, Failure> {
        Ok(self.remember(Home::open(settings, Options { kept: KEPT, ..self.options() })?))
    }

    fn remember(&self, home: Home) -> Home {
        self.opened.replace(Some((home.services.clone(), Arc::clone(&home.store))));
        home
    }

    /// Makes the index of the home anew, if something was written since it was made. The answer is printed already; and what
    /// goes wrong is seen to by the next command.
    pub(crate) fn keep_index_page(&self) {
        if let Some((services, store)) = self.opened.take() {
            keep_index_page(&services, &store);
        }
    }

    /// Has git keep the home as it is now, if the settings say so and something was written since it last did.
    pub(crate) fn keep_versions(&mut self) {
        let Some((_, store)) = self.opened.borrow().clone() else { return };
        // What cannot be read was complained of before.
        let Ok(settings) = Settings::load(self.globals.root.as_deref(), self.environment) else { return };
        if let (true, Ok(end)) = (settings.git.value, store.journal_end()) {
            versions::tell_trouble(store.root(), &end, &mut self.output);
            versions::keep_soon(store.root(), &end, self.environment.program.as_deref());
        }
    }

    /// Does the same after calls of tools, on a thread of its own that ends with the agent, for a process that stays.
    pub(crate) fn keep_index_page_meanwhile(&self, agent: &Agent) {
        let Some((services, store)) = self.opened.borrow().clone() else { return };
        let happened = agent.subscribe();
        let work = move || {
            let mut last: Option<Instant> = None;
            for event in happened {
                if matches!(event.kind, EventKind::ToolEnd { .. }) {
                    // Of many calls in a row, those that come meanwhile are seen by the next page.
                    let rest = last.map_or(Duration::ZERO, |last| PAGE_REST.saturating_sub(last.elapsed()));
                    std::thread::park_timeout(rest);
                    if keep_index_page(&services, &store) {
                        last = Some(Instant::now());
                    }
                }
            }
        };
        // Without a thread it is made at the end.
        let _ = std::thread::Builder::new().name("index page".into()).spawn(work);
    }

    /// Opens the home that `settings` name, and the topics in `dir`, or else of the project at hand.
    pub(crate) fn open_with_topics(&self, settings: &Settings, dir: Option<&Path>) -> Result<Home, Failure> {
        let mut home = self.open_with(settings)?;
        home.services.topics = topics::open(settings, self.environment, dir, "cli")?;
        dir.map_or(Ok(()), |dir| topics::check_there(self.environment, dir))?;
        Ok(home)
    }

    fn options(&self) -> Options {
        let freshness = if self.globals.fresh { Freshness::Fresh } else { Freshness::Usual };
        Options { freshness, ..Options::default() }
    }
}

/// Tells whether others than its owner may read a file.
fn is_for_others(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}
