//! The chores of the daemon.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{
    EmbedError, Embedder, Embedding, IngestOptions, Progress, RecallLedger, Services, StoreError,
    Verb, embed, index_page, notify, subtract_time,
};
use memory_dream::schedule::{CancellationToken, Chore, ChoreStatus};
use memory_dream::{DreamReport, DreamRequest, DreamRules, DreamTask, ProgressCallback, dream};
use memory_ingest::SourceOptions;

use super::ACTOR;
use crate::config::SourceLocation;
use crate::embedding;
use crate::home::Home;
use crate::home::PendingPage;
use crate::ingestion::Ingestion;
use crate::instances::DEFAULT;
use crate::notification;
use crate::print::counted;
use crate::versions;

/// The daemon leaves a file without times of its own alone for this time after another program wrote it.
const EDIT_PAUSE: TimeDelta = TimeDelta::minutes(10);

/// The tasks of the chore that runs at every interval.
const LIFECYCLE_TASKS: &[DreamTask] = &[
    DreamTask::Expire,
    DreamTask::Decay,
    DreamTask::Upgrade,
    DreamTask::Merge,
];

/// Number of texts per batch; each batch includes memories that were added since the previous one.
const TEXTS_PER_BATCH: usize = 2048;

/// The chores of one home.
pub(crate) struct HomeChores<'a> {
    home: &'a Home,
    services: Services,
    page: PendingPage,
}

impl<'a> HomeChores<'a> {
    /// Creates the chores of `home` with the options in its settings.
    pub(crate) fn of(home: &'a Home) -> Self {
        let services = Services {
            actor: ACTOR.into(),
            ..home.services.clone()
        };
        Self {
            home,
            services,
            page: PendingPage::of(home),
        }
    }

    fn refine(
        &self,
        verb: Verb,
        tasks: &[DreamTask],
        stop: &CancellationToken,
    ) -> Result<ChoreStatus, StoreError> {
        let mut go_on = |_: Progress| {
            if stop.is_cancelled() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let services = match self.home.refinement_services() {
            Ok(services) => Services {
                clock: services.clock,
                ..self.services.clone()
            },
            Err(failure) => return Ok(ChoreStatus::LeftOut(failure.to_string())),
        };
        let rules = DreamRules {
            edit_pause: EDIT_PAUSE,
            ..self.home.settings.refinement_rules()
        };
        let recalls = self.home.recall_ledger();
        let what = DreamRequest {
            verb,
            tasks,
            rules,
            is_rehearsal: false,
            zone: &self.home.zone,
            recalls: recalls.as_deref(),
        };
        let dreamt = dream(&services, &what, &mut ProgressCallback::new(&mut go_on))?;
        Ok(summarize(&dreamt))
    }

    /// Returns the time `retention` ago.
    fn time_before(&self, retention: Duration) -> DateTime<Utc> {
        let age = TimeDelta::from_std(retention).unwrap_or(TimeDelta::MAX);
        subtract_time(self.services.clock.now(), age)
    }

    /// Commits the home to git in the background, if the settings enable it and the home has changed.
    pub(crate) fn commit_in_background(&self) -> Result<(), StoreError> {
        if self.home.settings.git.value {
            let root = self.home.store.root();
            versions::commit_in_background(
                root,
                &self.home.store.journal_end()?,
                self.home.settings.environment.program.as_deref(),
            );
        }
        Ok(())
    }

    /// Updates the page of due reminders and the index page if they are outdated, and commits the home.
    fn update_pages(&self) -> Result<(), StoreError> {
        self.page.refresh()?;
        self.commit_in_background()?;
        self.update_index_page()
    }

    /// Updates the index page of the home if it is outdated.
    pub(crate) fn update_index_page(&self) -> Result<(), StoreError> {
        self.home
            .store
            .update_index_page(self.services.clock.now(), &|| index_page(&self.services))
            .map(drop)
    }
}

impl HomeChores<'_> {
    /// Runs a chore.
    ///
    /// A chore works in slices. It checks `stop` about once a second and returns [`ChoreStatus::Stopped`] if set. Completed
    /// slices persist, and the next call continues after them.
    ///
    /// # Errors
    /// The errors of the chore.
    pub(crate) fn run(
        &self,
        chore: Chore,
        stop: &CancellationToken,
    ) -> Result<ChoreStatus, StoreError> {
        match chore {
            Chore::Refresh => self.refresh(),
            Chore::Ingest => Ok(self.ingest(stop)),
            Chore::Notify => self.notify(),
            Chore::Lifecycle => self.refine(Verb::Consolidate, LIFECYCLE_TASKS, stop),
            Chore::Embed => self.embed(stop),
            Chore::Purge => self.purge(stop),
            Chore::Flush => self.flush(),
            Chore::Dream(level) => self.refine(Verb::Dream, level.tasks(), stop),
        }
    }

    fn refresh(&self) -> Result<ChoreStatus, StoreError> {
        self.home.store.refresh_all()?;
        Ok(ChoreStatus::Nothing)
    }

    fn ingest(&self, stop: &CancellationToken) -> ChoreStatus {
        let settings = &self.home.settings;
        let watched = settings
            .places
            .iter()
            .filter(|place| place.watch.value && place.path.value.exists());
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        for SourceLocation { source, path, .. } in watched {
            if stop.is_cancelled() {
                return ChoreStatus::Stopped;
            }
            let ingested =
                Ingestion::open(&self.services, DEFAULT, settings).and_then(|ingestion| {
                    ingestion.run(
                        (*source, &path.value),
                        &SourceOptions::default(),
                        &IngestOptions::default(),
                        &mut |_| (),
                    )
                });
            match ingested {
                Ok(report) => {
                    let changes =
                        report.new + report.updated + report.sessions.new + report.sessions.updated;
                    done.extend(
                        (0 < changes)
                            .then(|| format!("{} from {source}", counted(changes, "change"))),
                    );
                }
                // The error of one source does not prevent the ingestion of the others.
                Err(failure) => failed.push(format!("{source}: {failure}")),
            }
        }
        match (done.is_empty(), failed.is_empty()) {
            (_, false) => ChoreStatus::LeftOut(failed.join(", ")),
            (true, true) => ChoreStatus::Nothing,
            (false, true) => ChoreStatus::This(done.join(", ")),
        }
    }

    fn notify(&self) -> Result<ChoreStatus, StoreError> {
        if !self.home.settings.notifications.value {
            self.services.store.refresh()?;
            self.update_pages()?;
            return Ok(ChoreStatus::LeftOut(
                "notifications are disabled in the settings".into(),
            ));
        }
        let way = notification::select_notifier(
            self.home.settings.notification_method.value,
            &self.home.settings.environment,
        );
        let report = notify(&self.services, way.notifier.as_ref(), &self.home.zone)?;
        self.update_pages()?;
        Ok(match (report.shown.len(), report.failed) {
            (_, Some(error)) => ChoreStatus::LeftOut(format!(
                "{} not yet shown: {error}",
                counted(report.waiting, "reminder")
            )),
            (0, None) => report
                .degraded
                .map_or(ChoreStatus::Nothing, ChoreStatus::LeftOut),
            (shown, None) => ChoreStatus::This(format!(
                "{} shown by {}",
                counted(shown as u64, "reminder"),
                way.name
            )),
        })
    }

    fn embed(&self, stop: &CancellationToken) -> Result<ChoreStatus, StoreError> {
        let Some(embedder) = embedding::open(&self.home.settings)? else {
            return Ok(ChoreStatus::LeftOut(
                "no embedding model is configured".into(),
            ));
        };
        // The model is opened for this chore only, so that an idle daemon does not use memory for it.
        let embedder = StoppableEmbedder {
            embedder,
            stop: stop.clone(),
        };
        let services = Services {
            embedder: Some(Arc::new(embedder)),
            ..self.services.clone()
        };
        let mut read = 0;
        loop {
            match embed(&services, &mut |_| (), Some(TEXTS_PER_BATCH)) {
                Ok(report) => {
                    read += report.embedded;
                    if report.left == 0 || report.embedded == 0 {
                        break;
                    }
                }
                Err(StoreError::Embed(_)) if stop.is_cancelled() => {
                    return Ok(ChoreStatus::Stopped);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(if read == 0 {
            ChoreStatus::Nothing
        } else {
            ChoreStatus::This(format!("{} embedded", memory_count(read)))
        })
    }

    fn purge(&self, stop: &CancellationToken) -> Result<ChoreStatus, StoreError> {
        let settings = &self.home.settings;
        let recalls = match settings.recalls.retention.value {
            None => 0,
            Some(retention) => self.home.recalls().purge(self.time_before(retention))?,
        };
        let recalls = (0 < recalls).then(|| format!("{recalls} bytes of recalls purged"));
        let Some(retention) = settings.trash_retention.value else {
            let disabled = || ChoreStatus::LeftOut("purging is disabled in the settings".into());
            return Ok(recalls.map_or_else(disabled, ChoreStatus::This));
        };
        let (files, bytes) = self
            .home
            .store
            .purge_while(self.time_before(retention), &mut || !stop.is_cancelled())?;
        let files =
            (0 < files).then(|| format!("{} of {bytes} bytes purged", counted(files, "file")));
        let purged: Vec<String> = files.into_iter().chain(recalls).collect();
        Ok(match purged.as_slice() {
            _ if stop.is_cancelled() => ChoreStatus::Stopped,
            [] => ChoreStatus::Nothing,
            purged => ChoreStatus::This(purged.join(", ")),
        })
    }

    fn flush(&self) -> Result<ChoreStatus, StoreError> {
        Ok(match self.home.store.flush()? {
            0 => ChoreStatus::Nothing,
            changes => ChoreStatus::This(format!(
                "{} merged into the index",
                counted(changes, "change")
            )),
        })
    }
}

/// Returns the result of a run, as numbers of memories.
fn summarize(dreamt: &DreamReport) -> ChoreStatus {
    let gone: usize = dreamt.merged.iter().map(|merge| merge.gone.len()).sum();
    let counts = [
        (dreamt.filed.len(), "filed"),
        (gone, "merged"),
        (dreamt.parted.len(), "moved to trash"),
        (
            usize::try_from(dreamt.links.updated).unwrap_or(usize::MAX),
            "linked",
        ),
        (dreamt.reminders.len(), "new reminders"),
        (dreamt.withdrawn.len(), "reminders cancelled"),
        (dreamt.superseded.len(), "superseded"),
        (dreamt.compressed.len(), "summarised"),
        (dreamt.skipped.len(), "skipped"),
    ];
    let said: Vec<_> = counts
        .iter()
        .filter(|(number, _)| 0 < *number)
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
    match &dreamt.operation {
        _ if dreamt.is_cut => ChoreStatus::Stopped,
        Some(operation) => ChoreStatus::This(format!(
            "{} (operation {})",
            said.join(", "),
            operation.as_str()
        )),
        None if said.is_empty() => ChoreStatus::Nothing,
        None => ChoreStatus::LeftOut(said.join(", ")),
    }
}

fn memory_count(number: u64) -> String {
    if number == 1 {
        "1 memory".into()
    } else {
        format!("{number} memories")
    }
}

/// A model that fails after a stop request.
#[derive(Debug)]
struct StoppableEmbedder {
    embedder: Arc<dyn Embedder>,
    stop: CancellationToken,
}

impl Embedder for StoppableEmbedder {
    fn identity(&self) -> &str {
        self.embedder.identity()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        if self.stop.is_cancelled() {
            return Err(EmbedError {
                why: "stopped".into(),
                hint: None,
            });
        }
        self.embedder.embed(texts)
    }
}
