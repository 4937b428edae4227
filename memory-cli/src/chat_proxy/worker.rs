//! The background thread that extracts facts from conversations.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use memory_agent::http::{LastModel, ProxyObserver};
use memory_core::Clock;
use memory_core::conversation::{ConversationId, Conversations, JobQueue, enqueue_missing};
use memory_core::text::format_error_chain;
use memory_dream::conversation::{
    Backoff, ConversationPrompts, ProcessReport, ProcessRules, process_jobs,
};
use memory_store::conversation::GitVersions;
use memory_store::{EventLog, SystemClock};

use crate::wake_signal::WakeSignal;

/// The configuration of the worker.
pub(super) struct WorkerConfig {
    pub(super) conversations: Conversations,
    pub(super) queue: Arc<dyn JobQueue>,
    pub(super) rules: ProcessRules,
    /// Folders with custom prompts; the first folder that has a prompt is used.
    pub(super) prompts: Vec<PathBuf>,
    /// The model of the last chat, if the settings name no model.
    pub(super) last_asked: Option<LastModel>,
    pub(super) told: Arc<WorkerStatus>,
}

/// The background threads: one for the conversations of the user, and one for each principal who has called the server.
#[derive(Clone, Default)]
pub(crate) struct Workers(Arc<Mutex<Vec<Worker>>>);

impl Workers {
    pub(super) fn spawn(&self, work: WorkerConfig) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Worker::spawn(work));
    }

    /// Waits a short time for the remaining work and stops the threads.
    pub(crate) fn shut_down(self) {
        let workers = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let deadline = Instant::now() + DRAIN_TIMEOUT;
        for worker in &workers {
            *worker
                .told
                .until
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(deadline);
            worker.told.bell.notify();
        }
        for worker in workers {
            // The next start continues work that takes longer.
            let _ = worker
                .ended
                .recv_timeout(deadline.saturating_duration_since(Instant::now()));
            // Commits all changes since the last commit.
            worker
                .told
                .note_version("Commit changes made before shutdown");
            worker
                .told
                .versions
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
        }
    }
}

/// A handle to a background thread.
struct Worker {
    told: Arc<WorkerStatus>,
    ended: Receiver<()>,
}

/// Interval between checks of the queue. Its backoff decides whether the model is called.
const QUEUE_INTERVAL: Duration = Duration::from_mins(1);

/// Maximum time for the remaining work after the shutdown request; the next start continues the rest.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

impl Worker {
    fn spawn(work: WorkerConfig) -> Self {
        let (end, ended) = sync_channel(1);
        let told = Arc::clone(&work.told);
        thread::spawn(move || {
            work.run();
            // The receiver may have timed out.
            let _ = end.send(());
        });
        Self { told, ended }
    }
}

impl Drop for Worker {
    // A server that could not start drops the worker; without this, its thread would extract facts for ever.
    fn drop(&mut self) {
        self.told
            .until
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(Instant::now);
        self.told.bell.notify();
    }
}

impl WorkerConfig {
    fn run(&self) {
        let until = || {
            *self
                .told
                .until
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let mut known: Vec<String> = Vec::new();
        let (mut has_rest, mut backoff) = (true, Backoff::default());
        loop {
            let ending = until();
            let rest = if has_rest {
                enqueue_missing(&self.conversations, self.queue.as_ref())
            } else {
                Ok(0)
            };
            has_rest = rest.is_err();
            let mut processed = self.process(&mut backoff);
            if let Err(error) = rest {
                processed.troubles.push(format!(
                    "facts may be missing for messages stored before the start: {}",
                    format_error_chain(&error)
                ));
                processed.waiting += 1;
            }
            self.told.record_failure(&processed);
            let mut troubles = processed.troubles;
            if 0 < processed.done && processed.waiting == 0 && troubles.is_empty() {
                known.clear();
            }
            troubles.retain(|trouble| !known.contains(trouble));
            for trouble in troubles {
                self.told.report_failure(&trouble);
                known.push(trouble);
            }
            for conversation in processed.changed {
                self.told
                    .note_version(&format!("Add facts to conversation {conversation}"));
            }
            if ending.is_some() {
                return;
            }
            self.told
                .bell
                .wait((0 < processed.waiting).then(|| Instant::now() + QUEUE_INTERVAL));
        }
    }

    fn process(&self, backoff: &mut Backoff) -> ProcessReport {
        if self
            .last_asked
            .as_ref()
            .is_some_and(|asked| self.rules.summarise && asked.get().is_none())
        {
            return ProcessReport::default();
        }
        let goes_on = || {
            self.told
                .until
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_none_or(|until| Instant::now() < until)
        };
        let read = |name: &str| {
            self.prompts
                .iter()
                .find_map(|folder| std::fs::read_to_string(folder.join(format!("{name}.md"))).ok())
        };
        let rules = ProcessRules {
            prompts: ConversationPrompts::with(&read),
            ..self.rules.clone()
        };
        process_jobs(
            &self.conversations,
            self.queue.as_ref(),
            &rules,
            backoff,
            &goes_on,
        )
        .unwrap_or_else(|error| {
            let trouble = format!("cannot store facts: {}", format_error_chain(&error));
            ProcessReport {
                troubles: vec![trouble],
                waiting: 1,
                ..ProcessReport::default()
            }
        })
    }
}

/// An observer of the proxy that wakes the worker, commits changes and logs errors.
pub(super) struct WorkerStatus {
    pub(super) log: Arc<EventLog>,
    pub(super) bell: WakeSignal,
    pub(super) versions: Mutex<Option<GitVersions>>,
    /// Deadline of the shutdown, once it is requested.
    pub(super) until: Mutex<Option<Instant>>,
    /// The error of the last fact extraction.
    pub(super) failure: Mutex<ExtractionFailure>,
}

/// The reason why fact extraction is failing, if it is.
#[derive(Debug, Default)]
pub(super) struct ExtractionFailure {
    why: Option<String>,
    is_reported: bool,
}

impl ExtractionFailure {
    /// Replaces the reason. An unchanged reason is not reported again.
    fn replace(&mut self, why: Option<String>) {
        if self.why != why {
            *self = Self {
                why,
                is_reported: false,
            };
        }
    }

    /// Returns the reason on the first call, then `None`.
    fn report_once(&mut self) -> Option<String> {
        let is_news = !std::mem::replace(&mut self.is_reported, true);
        self.why.clone().filter(|_| is_news)
    }
}

impl WorkerStatus {
    pub(super) fn new(log: Arc<EventLog>) -> Self {
        let (bell, versions, until, failure) = Default::default();
        Self {
            log,
            bell,
            versions,
            until,
            failure,
        }
    }

    /// Records the errors of a run. A run without any work, or with work left, does not clear them.
    fn record_failure(&self, processed: &ProcessReport) {
        let is_well = processed.troubles.is_empty();
        if !is_well || 0 < processed.done && processed.waiting == 0 {
            let why = (!is_well).then(|| processed.troubles.join("; "));
            self.failure
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .replace(why);
        }
    }

    fn note_version(&self, what: &str) {
        if let Some(versions) = &*self.versions.lock().unwrap_or_else(PoisonError::into_inner) {
            versions.schedule_commit(what);
        }
    }
}

impl ProxyObserver for WorkerStatus {
    fn turns_stored(&self, conversation: &ConversationId) {
        self.note_version(&format!("Store messages of conversation {conversation}"));
        self.bell.notify();
    }

    fn report_failure(&self, what: &str) {
        self.log.warning(SystemClock.now(), what);
    }

    fn extraction_failure(&self) -> Option<String> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .report_once()
    }
}
