//! The chores of the daemon.

use std::ops::ControlFlow;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{EmbedError, Embedder, Embedding, Progress, Services, StoreError, Verb, embed, index_page, notify};
use memory_dream::schedule::{Chores, Done, Stop};
use memory_dream::{Dream, Dreamt, Level, Pace, Task, dream};

use super::ACTOR;
use crate::app::Home;
use crate::config::{Environment, Settings};
use crate::dreaming;
use crate::embedding;
use crate::notification;
use crate::pending_page::PendingPage;
use crate::versions;

/// The tasks of the chore that runs at every interval.
const LIFECYCLE: &[Task] = &[Task::Expire, Task::Decay, Task::Upgrade, Task::Merge];

/// Number of texts per batch; each batch includes memories that were added since the previous one.
const TEXTS: usize = 2048;

/// The chores of one home.
pub(crate) struct HomeChores<'a> {
    home: &'a Home,
    services: Services,
    settings: &'a Settings,
    environment: &'a Environment,
    page: PendingPage,
}

impl<'a> HomeChores<'a> {
    /// Creates the chores of `home` with the options in `settings`.
    pub(crate) fn of(home: &'a Home, settings: &'a Settings, environment: &'a Environment) -> Self {
        let services = Services { actor: ACTOR.into(), ..home.services.clone() };
        Self { home, services, settings, environment, page: PendingPage::of(home) }
    }

    fn refine(&self, verb: Verb, tasks: &[Task], stop: &Stop) -> Result<Done, StoreError> {
        let mut go_on = |_: Progress| if stop.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let rules = dreaming::rules(self.settings);
        let what = Dream { verb, tasks, rules, is_rehearsal: false, zone: &self.home.zone };
        let dreamt = dream(&self.services, &what, &mut Pace::new(&mut go_on))?;
        Ok(said(&dreamt))
    }

    /// Commits the home to git in the background, if the settings enable it and the home has changed.
    pub(crate) fn keep_versions(&self) -> Result<(), StoreError> {
        if self.settings.git.value {
            let root = self.home.store.root();
            versions::keep_soon(root, &self.home.store.journal_end()?, self.environment.program.as_deref());
        }
        Ok(())
    }

    /// Updates the page of due reminders and the index page if they are outdated, and commits the home.
    fn keep_page(&self) -> Result<(), StoreError> {
        self.page.refresh()?;
        self.keep_versions()?;
        self.keep_index_page()
    }

    /// Updates the index page of the home if it is outdated.
    pub(crate) fn keep_index_page(&self) -> Result<(), StoreError> {
        self.home.store.keep_index_page(self.services.clock.now(), &|| index_page(&self.services)).map(drop)
    }
}

impl std::fmt::Debug for HomeChores<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("HomeChores").field("home", &self.home.store.root()).finish_non_exhaustive()
    }
}

impl Chores for HomeChores<'_> {
    fn refresh(&self, _stop: &Stop) -> Result<Done, StoreError> {
        self.home.store.refresh_all()?;
        Ok(Done::Nothing)
    }

    fn notify(&self, _stop: &Stop) -> Result<Done, StoreError> {
        if !self.settings.notifications.value {
            self.services.store.refresh()?;
            self.keep_page()?;
            return Ok(Done::LeftOut("notifications are disabled in the settings".into()));
        }
        let way = notification::way(self.settings.notification_method.value, self.environment);
        let report = notify(&self.services, way.notifier.as_ref(), &self.home.zone)?;
        self.keep_page()?;
        Ok(match (report.shown.len(), report.failed) {
            (_, Some(error)) => Done::LeftOut(format!("{} not yet shown: {error}", count(report.waiting, "reminder"))),
            (0, None) => report.degraded.map_or(Done::Nothing, Done::LeftOut),
            (shown, None) => Done::This(format!("{} shown by {}", count(shown as u64, "reminder"), way.name)),
        })
    }

    fn lifecycle(&self, stop: &Stop) -> Result<Done, StoreError> {
        self.refine(Verb::Consolidate, LIFECYCLE, stop)
    }

    fn embed(&self, stop: &Stop) -> Result<Done, StoreError> {
        let Some(embedder) = embedding::open(&self.settings.embedding)? else {
            return Ok(Done::LeftOut("no embedding model is configured".into()));
        };
        // The model is opened for this chore only, so that an idle daemon does not use memory for it.
        let embedder = Until { embedder, stop: stop.clone() };
        let services = Services { embedder: Some(Arc::new(embedder)), ..self.services.clone() };
        let mut read = 0;
        loop {
            match embed(&services, &mut |_| (), Some(TEXTS)) {
                Ok(report) => {
                    read += report.embedded;
                    if report.left == 0 || report.embedded == 0 {
                        break;
                    }
                }
                Err(StoreError::Embed(_)) if stop.is_asked() => return Ok(Done::Stopped),
                Err(error) => return Err(error),
            }
        }
        Ok(if read == 0 { Done::Nothing } else { Done::This(format!("{} embedded", memories(read))) })
    }

    fn purge(&self, stop: &Stop) -> Result<Done, StoreError> {
        let Some(retention) = self.settings.trash_retention.value else {
            return Ok(Done::LeftOut("purging is disabled in the settings".into()));
        };
        let age = TimeDelta::from_std(retention).unwrap_or(TimeDelta::MAX);
        let before = self.services.clock.now().checked_sub_signed(age).unwrap_or(DateTime::<Utc>::MIN_UTC);
        let (files, bytes) = self.home.store.purge_while(before, &mut || !stop.is_asked())?;
        Ok(match files {
            _ if stop.is_asked() => Done::Stopped,
            0 => Done::Nothing,
            files => Done::This(format!("{} of {bytes} bytes purged", count(files, "file"))),
        })
    }

    fn flush(&self, _stop: &Stop) -> Result<Done, StoreError> {
        Ok(match self.home.store.flush()? {
            0 => Done::Nothing,
            changes => Done::This(format!("{} merged into the index", count(changes, "change"))),
        })
    }

    fn dream(&self, level: Level, stop: &Stop) -> Result<Done, StoreError> {
        self.refine(Verb::Dream, level.tasks(), stop)
    }
}

/// Returns the result of a run, as numbers of memories.
fn said(dreamt: &Dreamt) -> Done {
    let gone: usize = dreamt.merged.iter().map(|merge| merge.gone.len()).sum();
    let counts = [
        (dreamt.filed.len(), "filed"),
        (gone, "merged"),
        (dreamt.parted.len(), "moved to trash"),
        (usize::try_from(dreamt.links.updated).unwrap_or(usize::MAX), "linked"),
        (dreamt.reminders.len(), "new reminders"),
        (dreamt.withdrawn.len(), "reminders cancelled"),
        (dreamt.superseded.len(), "superseded"),
        (dreamt.compressed.len(), "summarised"),
        (dreamt.skipped.len(), "skipped"),
    ];
    let said: Vec<_> = counts.iter().filter(|(number, _)| 0 < *number).map(|(number, what)| format!("{number} {what}")).collect();
    match &dreamt.operation {
        _ if dreamt.is_cut => Done::Stopped,
        Some(operation) => Done::This(format!("{} (operation {})", said.join(", "), operation.as_str())),
        None if said.is_empty() => Done::Nothing,
        None => Done::LeftOut(said.join(", ")),
    }
}

fn memories(number: u64) -> String {
    if number == 1 { "1 memory".into() } else { format!("{number} memories") }
}

fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A model that fails after a stop request.
#[derive(Debug)]
struct Until {
    embedder: Arc<dyn Embedder>,
    stop: Stop,
}

impl Embedder for Until {
    fn identity(&self) -> &str {
        self.embedder.identity()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        if self.stop.is_asked() {
            return Err(EmbedError { why: "stopped".into(), hint: None });
        }
        self.embedder.embed(texts)
    }
}
