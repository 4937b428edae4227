//! A home with its settings, and the construction of its services.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{
    Clock, ExpiringMemory, LocalZone, MemoryId, PrincipalAccess, PrincipalSource, RecallLedger,
    RefinementPlanner, ReminderQuery, Services, StoreError, pending, subtract_time,
};
use memory_dream::{DreamTask, LastPlan, SelectiveDream, TextNeighbours};
use memory_store::postgres::Database;
use memory_store::{FileStore, FileStoreOptions, RecallFolder};

use crate::config::Settings;
use crate::embedding;
use crate::failure::Failure;
use crate::language_model;
use crate::shared_store::{find_database, open_store};
use crate::zone::UserTimeZone;

/// Size of the file cache in a long-running process, in bytes.
///
/// It is enough for about 6,000 files of typical size.
pub(crate) const KEPT: usize = 8 << 20;

/// Maximum difference between the clock of this machine and that of a shared database for automatic work by age.
const MAX_CLOCK_DIFFERENCE: TimeDelta = TimeDelta::hours(1);

/// The clock of a database: that of this machine without the time by which it is ahead.
#[derive(Debug)]
struct DatabaseClock {
    clock: Arc<dyn Clock>,
    ahead: TimeDelta,
}

impl Clock for DatabaseClock {
    fn now(&self) -> DateTime<Utc> {
        subtract_time(self.clock.now(), self.ahead)
    }

    fn zone(&self) -> LocalZone {
        self.clock.zone()
    }
}

/// An opened home with its settings.
///
/// ```
/// use memory_cli::Home;
///
/// # let folder = tempfile::tempdir()?;
/// # let root = folder.path().join("home");
/// let memories = Home::open(&root)?.memories();
/// memories.write("The user prefers dark mode")?;
/// assert_eq!(memories.search("dark mode")?.hits.len(), 1);
/// memories.undo()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Home {
    /// The services for the use cases.
    pub(crate) services: Services,
    /// The file store, for operations on files.
    pub(crate) store: Arc<FileStore>,
    /// The settings.
    pub(crate) settings: Arc<Settings>,
    /// The time zone of the dates that are read and shown.
    pub(crate) zone: UserTimeZone,
}

impl Home {
    /// Opens the database of a home that has all rows, whose server also serves principals; `None` for another home.
    pub(crate) fn find_database_of_principals(&self) -> Result<Option<Arc<Database>>, Failure> {
        if self.services.principal.is_none() {
            find_database(&self.settings)
        } else {
            Ok(None)
        }
    }

    /// Returns the services for automatic work by age: in a shared home, their time is that of the database.
    ///
    /// # Errors
    /// [`StoreError::WrongClock`] if the clock of this machine differs from it by more than an hour; or if the database cannot be reached.
    pub(crate) fn refinement_services(&self) -> Result<Services, Failure> {
        let Some(database) = find_database(&self.settings)? else {
            return Ok(self.services.clone());
        };
        let clock = &self.services.clock;
        let ahead = clock.now() - database.time()?;
        if MAX_CLOCK_DIFFERENCE < ahead.abs() {
            return Err(StoreError::WrongClock {
                why: format!(
                    "the clocks of this machine and of the database differ by {} minutes",
                    ahead.abs().num_minutes()
                ),
                folder: self.store.root().display().to_string(),
            }
            .into());
        }
        let clock = DatabaseClock {
            clock: Arc::clone(clock),
            ahead,
        };
        Ok(Services {
            clock: Arc::new(clock),
            ..self.services.clone()
        })
    }

    /// Returns the planner of changes that a person accepts one by one.
    pub(crate) fn planner(
        &self,
        services: Services,
        tasks: Vec<DreamTask>,
    ) -> SelectiveDream<UserTimeZone> {
        SelectiveDream {
            services,
            tasks,
            rules: self.settings.refinement_rules(),
            zone: self.zone,
            recalls: self.recall_ledger(),
            last: LastPlan::default(),
        }
    }

    /// Returns the present time, in the time zone of the user.
    pub(crate) fn now(&self) -> DateTime<UserTimeZone> {
        self.services.clock.now().with_timezone(&self.zone)
    }

    /// Returns the memories that automatic work would remove within `time`.
    pub(crate) fn expiring(&self, time: TimeDelta) -> Result<Vec<ExpiringMemory>, StoreError> {
        self.planner(self.services.clone(), Vec::new())
            .expiring(time)
    }

    /// Opens the home that the settings specify.
    pub(crate) fn with_settings(
        settings: Arc<Settings>,
        options: FileStoreOptions,
    ) -> Result<Self, Failure> {
        let store = Arc::new(open_store(&settings, options)?);
        let clock = settings.clock();
        let services = Services {
            clock: clock.clone(),
            embedder: embedding::open_built_in(&settings),
            chat: language_model::open_lazily(&settings, clock),
            inbox_ttl: settings.inbox_ttl(),
            review: settings.review.clone(),
            neighbour_finder: Some(Arc::new(TextNeighbours)),
            actor: "cli".into(),
            principal: node_principal(&store)?,
            chosen_scope: settings
                .default_scope
                .value
                .clone()
                .filter(|_| settings.store.value.is_some()),
            ..Services::new(Arc::clone(&store))
        };
        let zone = UserTimeZone::of(settings.timezone.value);
        Ok(Self {
            services,
            store,
            settings,
            zone,
        })
    }

    /// Returns the recall ledger, which can be read also if recording is disabled.
    pub(crate) fn recalls(&self) -> RecallFolder {
        open_recalls(&self.settings)
    }

    /// Returns the ledger that records the recalls of agents, if the settings enable it.
    pub(crate) fn recall_ledger(&self) -> Option<Arc<dyn RecallLedger>> {
        recall_ledger(&self.settings)
    }

    /// Returns the same home without the project of the current folder, for tools of agents with projects of their own.
    pub(crate) fn without_project(&self) -> Self {
        Self {
            settings: Arc::new(self.settings.without_project()),
            ..self.clone()
        }
    }

    /// Fetches the operations of other machines, if the home shares its memories.
    ///
    /// The history alone does not, as opposed to the memories.
    pub(crate) fn fetch_operations(&self) -> Result<(), StoreError> {
        if self.settings.store.value.is_some() {
            self.services.store.refresh()
        } else {
            Ok(())
        }
    }

    /// Updates the index page if it is outdated; returns whether it was updated.
    ///
    /// Errors are ignored; the next command repeats the update.
    pub(crate) fn update_index_page(&self) -> bool {
        let page = || memory_core::index_page(&self.services);
        self.store
            .update_index_page(self.services.clock.now(), &page)
            .unwrap_or(false)
    }

    /// Updates the page of due reminders; returns whether it exists.
    pub(crate) fn update_pending_page(&self) -> Result<bool, StoreError> {
        self.store
            .update_pending_page(|| memory_core::pending(&self.services, &self.zone))
    }
}

/// Returns the principal of a node with a token.
fn node_principal(store: &Arc<FileStore>) -> Result<Option<Arc<dyn PrincipalSource>>, StoreError> {
    let first = store.principal()?;
    Ok(first.map(|first| {
        Arc::new(NodePrincipal {
            store: Arc::clone(store),
            first,
        }) as _
    }))
}

/// The principal of a node with a token, whose scopes are those of the last contact with the database.
#[derive(Debug)]
struct NodePrincipal {
    store: Arc<FileStore>,
    /// The principal when the home was opened.
    first: PrincipalAccess,
}

impl PrincipalSource for NodePrincipal {
    fn principal(&self) -> PrincipalAccess {
        self.store
            .principal()
            .ok()
            .flatten()
            .unwrap_or_else(|| self.first.clone())
    }
}

/// Returns the ledger that records the recalls of agents in the home of the settings, if they enable it.
///
/// The home need not exist.
pub(crate) fn recall_ledger(settings: &Settings) -> Option<Arc<dyn RecallLedger>> {
    settings
        .recalls
        .enabled
        .value
        .then(|| Arc::new(open_recalls(settings)) as Arc<dyn RecallLedger>)
}

fn open_recalls(settings: &Settings) -> RecallFolder {
    let retention = settings
        .recalls
        .retention
        .value
        .and_then(|retention| TimeDelta::from_std(retention).ok());
    RecallFolder::new(&settings.root.value, settings.recalls.max_size.value as u64)
        .retention(retention)
}

/// Number of reminders on the page; only a change of these causes an update.
const MAX_REMINDERS: usize = 100;

/// A reminder as shown on the page: its id, time and text.
type PendingReminder = (MemoryId, Option<DateTime<Utc>>, String);

/// A writer that updates `pending.md` of one home when its content changes.
#[derive(Debug)]
pub(crate) struct PendingPage {
    services: Services,
    store: Arc<FileStore>,
    zone: UserTimeZone,
    file: PathBuf,
    /// The content of the last update: the reminders and their total number.
    last: Mutex<Option<(Vec<PendingReminder>, u64)>>,
}

impl PendingPage {
    /// Creates a writer for `home`.
    pub(crate) fn of(home: &Home) -> Self {
        let file = home.store.root().join("pending.md");
        let (services, store) = (home.services.clone(), Arc::clone(&home.store));
        Self {
            services,
            store,
            zone: home.zone,
            file,
            last: Mutex::default(),
        }
    }

    /// Updates the page if its content has changed, and removes it if nothing is due.
    ///
    /// # Errors
    /// If the files cannot be read, or a write fails.
    pub(crate) fn refresh(&self) -> Result<(), StoreError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let due = self.services.store.reminders(
            ReminderQuery::Due(self.services.clock.now()),
            None,
            Some(MAX_REMINDERS),
        )?;
        let shown = due.memories.iter().map(|stored| {
            let memory = &stored.memory;
            (
                memory.id,
                memory.reminder.as_ref().map(|reminder| reminder.due),
                memory.headline().to_owned(),
            )
        });
        let page = Some((shown.collect(), due.total));
        let is_absent = due.total == 0 && !self.file.exists();
        if !is_absent && *last != page {
            self.store
                .update_pending_page(|| pending(&self.services, &self.zone))?;
        }
        *last = page;
        Ok(())
    }
}
