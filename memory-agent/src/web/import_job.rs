//! The import of files: one job at a time, which continues after the person has left its page.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memory_core::{Code, OperationId, Progress, SkippedFile, ToolError};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::request::WebRequest;

/// The files that are imported, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportRequest {
    /// The file or folder.
    pub path: PathBuf,
    /// The temporary folder of an upload, below which `path` is.
    pub upload: Option<PathBuf>,
    /// The name of the format; `None` if it is detected.
    pub format: Option<String>,
    /// The fields of memories, and the keys or columns that contain them, for files without fixed names.
    pub fields: Vec<(String, String)>,
    /// Whether the person trusts the files as their own.
    pub is_trusted: bool,
    /// Whether only the outcome is determined, and nothing is written.
    pub is_dry_run: bool,
}

/// The signal that a person stops an import, and whether items were left out because of it.
#[derive(Debug, Default)]
pub struct ImportStop {
    is_requested: AtomicBool,
    has_left_out: AtomicBool,
}

impl ImportStop {
    /// Requests that nothing more is read.
    pub fn request(&self) {
        self.is_requested.store(true, Ordering::Relaxed);
    }

    /// Returns whether a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::Relaxed)
    }

    /// Returns whether the next item is left out, and records it.
    pub fn leaves_out(&self) -> bool {
        let is_requested = self.is_requested();
        self.has_left_out.fetch_or(is_requested, Ordering::Relaxed);
        is_requested
    }

    /// Returns whether an item was left out. A stop after the last item has no effect.
    pub fn has_left_out(&self) -> bool {
        self.has_left_out.load(Ordering::Relaxed)
    }

    fn reset(&self) {
        self.is_requested.store(false, Ordering::Relaxed);
        self.has_left_out.store(false, Ordering::Relaxed);
    }
}

/// What became, or would become, of the files of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportOutcome {
    /// The files were read.
    Report(ImportReport),
    /// The files may be of several formats: the name and the title of each.
    Ambiguous(Vec<(String, String)>),
    /// The keys or columns of the file have to be mapped to the fields of memories.
    Unmapped {
        /// The keys or columns.
        keys: Vec<String>,
        /// The fields with the keys that probably contain them.
        suggested: Vec<(String, String)>,
    },
}

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// The result for the files of each program.
    pub sources: Vec<ImportedFiles>,
    /// The files that were left out.
    pub left_out: Vec<SkippedFile>,
}

/// The result of an import of the files of one program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportedFiles {
    /// The title of the format, such as `ChatGPT`.
    pub format: String,
    /// The number of new, changed and unchanged notes.
    pub notes: [u64; 3],
    /// The number of new, changed and unchanged conversations.
    pub sessions: [u64; 3],
    /// The files that were skipped.
    pub skipped: Vec<SkippedFile>,
    /// The notes that were imported with a warning.
    pub warnings: Vec<SkippedFile>,
    /// The titles of the first notes and conversations.
    pub first: Vec<String>,
}

/// The last import, if there was one.
#[derive(Debug, Default)]
pub(crate) struct ImportJobs {
    last: Mutex<Option<Arc<ImportJob>>>,
}

/// An import.
#[derive(Debug)]
pub(crate) struct ImportJob {
    pub(crate) id: String,
    request: Mutex<ImportRequest>,
    state: Mutex<ImportState>,
    done: AtomicU64,
    /// The total number of items; 0 until it is known.
    total: AtomicU64,
    /// The folder of an upload, which is removed when nothing more is read from it.
    upload: Mutex<Option<TempDir>>,
    pub(crate) stop: Arc<ImportStop>,
}

/// The state of an import.
#[derive(Debug, Clone)]
pub(crate) enum ImportState {
    /// The files are read, and nothing is written.
    Reading,
    /// The outcome that the import would have.
    Preview(ImportOutcome),
    /// The memories are written.
    Writing,
    /// The import is complete.
    Done(ImportReport, Vec<OperationId>),
    /// The import failed; the operations are those that it made before.
    Failed(ToolError, Vec<OperationId>),
}

impl ImportState {
    pub(crate) fn is_running(&self) -> bool {
        matches!(self, Self::Reading | Self::Writing)
    }
}

impl ImportJobs {
    /// Returns the last import.
    pub(crate) fn last(&self) -> Option<Arc<ImportJob>> {
        lock(&self.last).clone()
    }

    /// Returns the import with this id, if it is the last one.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<ImportJob>> {
        self.last().filter(|job| job.id == id)
    }

    /// Starts to read files; `None` if another import runs.
    pub(crate) fn start(
        &self,
        request: &WebRequest,
        import: ImportRequest,
        upload: Option<TempDir>,
    ) -> Option<Arc<ImportJob>> {
        let mut last = lock(&self.last);
        if last.as_ref().is_some_and(|job| job.state().is_running()) {
            return None;
        }
        let job = Arc::new(ImportJob {
            id: request.web.config.services.ids.operation_id().to_string(),
            request: Mutex::new(import),
            state: Mutex::new(ImportState::Reading),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
            upload: Mutex::new(upload),
            stop: Arc::default(),
        });
        *last = Some(Arc::clone(&job));
        job.spawn(request);
        Some(job)
    }
}

impl ImportJob {
    pub(crate) fn state(&self) -> ImportState {
        lock(&self.state).clone()
    }

    /// Returns the files that are imported, and how.
    pub(crate) fn request(&self) -> ImportRequest {
        lock(&self.request).clone()
    }

    /// Returns the number of items that are done, and of all items if it is known.
    pub(crate) fn progress(&self) -> (u64, Option<u64>) {
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed);
        (done, Some(total).filter(|total| *total != 0))
    }

    /// Stops a running import. The notes that were imported before stay.
    pub(crate) fn stop(&self) {
        if self.state().is_running() {
            self.stop.request();
        }
    }

    /// Reads the files again, or imports them, after a preview. It has no effect in other states.
    pub(crate) fn proceed(self: &Arc<Self>, request: &WebRequest, import: ImportRequest) {
        let mut state = lock(&self.state);
        let is_waiting = match &*state {
            ImportState::Preview(ImportOutcome::Report(_)) => true,
            ImportState::Preview(_) => import.is_dry_run,
            ImportState::Failed(..) => import.is_dry_run && lock(&self.request).is_dry_run,
            _ => false,
        };
        if !is_waiting {
            return;
        }
        *state = if import.is_dry_run {
            ImportState::Reading
        } else {
            ImportState::Writing
        };
        drop(state);
        *lock(&self.request) = import;
        self.done.store(0, Ordering::Relaxed);
        self.total.store(0, Ordering::Relaxed);
        self.stop.reset();
        self.spawn(request);
    }

    /// Ends an import that waits for the person, and removes its upload.
    pub(crate) fn discard(&self, jobs: &ImportJobs) {
        let mut last = lock(&jobs.last);
        let is_own = last.as_ref().is_some_and(|job| job.id == self.id);
        if is_own && !self.state().is_running() {
            *last = None;
            drop(lock(&self.upload).take());
        }
    }

    /// Runs the import on a thread of its own, so that it takes no place of a request.
    fn spawn(self: &Arc<Self>, request: &WebRequest) {
        let (job, web) = (Arc::clone(self), Arc::clone(&request.web));
        let (services, operations) = (request.services.clone(), request.operations());
        spawn_blocking(move || {
            let import = job.request();
            let (host, is_dry_run) = (&web.config.host, import.is_dry_run);
            let mut show = |progress: Progress| {
                job.done.store(progress.done, Ordering::Relaxed);
                let total = progress.total.unwrap_or_default();
                job.total.store(total, Ordering::Relaxed);
            };
            let run = || host.import(&services, &import, &job.stop, &mut show);
            // A panic is already reported, and must not leave an import that seems to run.
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            let outcome = outcome.unwrap_or_else(|_| {
                Err(ToolError::new(
                    Code::Internal,
                    "the import failed unexpectedly",
                    None,
                ))
            });
            let state = match outcome {
                Ok(_) if is_dry_run && job.stop.has_left_out() => {
                    let message = "you stopped it; nothing was written";
                    ImportState::Failed(
                        ToolError::new(Code::InvalidInput, message, None),
                        Vec::new(),
                    )
                }
                Ok(outcome) if is_dry_run => ImportState::Preview(outcome),
                Ok(ImportOutcome::Report(report)) => ImportState::Done(report, operations()),
                Ok(_) => {
                    let message = "the files have changed since they were read";
                    ImportState::Failed(ToolError::new(Code::Conflict, message, None), operations())
                }
                Err(error) => ImportState::Failed(without_folder(error, &import), operations()),
            };
            if !is_dry_run {
                drop(lock(&job.upload).take());
                host.after_change();
            }
            *lock(&job.state) = state;
        });
    }
}

/// Names files of an upload as the person knows them, without the temporary folder.
fn without_folder(error: ToolError, import: &ImportRequest) -> ToolError {
    let Some(folder) = &import.upload else {
        return error;
    };
    let folder = format!("{}/", folder.display());
    ToolError {
        message: error.message.replace(&folder, ""),
        hint: error.hint.map(|hint| hint.replace(&folder, "")),
        ..error
    }
}

impl ImportRequest {
    /// Returns the name of the file or folder for the person.
    pub(crate) fn name(&self) -> String {
        let is_whole = |folder: &PathBuf| *folder == self.path;
        match &self.upload {
            Some(folder) if is_whole(folder) => "the files you chose".to_owned(),
            Some(_) => file_name(&self.path),
            None => self.path.display().to_string(),
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
