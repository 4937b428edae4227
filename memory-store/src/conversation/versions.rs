//! The git history of a folder of conversations.
//!
//! Commits run on a background thread or in a separate process, many changes in one commit. The settings enable
//! versioning: `git.enabled` for a home, and `proxy.enable_git_versioning` for the conversations of a proxy.
//!
//! A commit contains only files whose names match those that this program writes, so a key next to them is never
//! committed. It is built in an index of its own. The lock of the user's index is held only while `HEAD` and that
//! index move, and staged changes of the user remain. During a merge or the like, nothing is committed. After a
//! failure the next command tries again before it reports it, so that the report is true and appears once. A
//! proxy commits leftover changes of others at its start and its end.

mod committed_files;
mod git;

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use memory_core::LockHolder;

use self::committed_files::CommittedFiles;
#[cfg(test)]
pub(super) use self::committed_files::KEYS;
pub(crate) use self::git::{remote_address, repository_folder};

/// Minimum time in which changes are collected for a commit.
const MIN_COLLECT_TIME: Duration = Duration::from_millis(300);

/// Factor of the collection time after a commit, relative to the duration of the commit.
///
/// Under continuous changes it limits git to a small share of the machine. The time does not exceed [`MAX_COLLECT_TIME`].
const COLLECT_FACTOR: u32 = 9;
const MAX_COLLECT_TIME: Duration = Duration::from_secs(10);

/// Commits changes of a folder of conversations to a git repository of its own.
///
/// A background thread combines changes into commits, so that no change waits for git. On drop, all changes noted before are committed.
#[derive(Debug)]
pub struct GitVersions {
    shared: Arc<CommitQueue>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct CommitQueue {
    state: Mutex<CommitQueueState>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct CommitQueueState {
    notes: Vec<String>,
    has_ended: bool,
}

/// The error of a commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitVersionsError {
    /// git is not installed.
    #[error("git is not installed, so no versions are recorded")]
    NoGit,
    /// Another program holds the lock of the repository.
    #[error("the repository at {place} is locked by {}; its versions are recorded later", name_holder(holder.as_ref(), file.as_deref()))]
    Locked {
        /// The folder.
        place: String,
        /// The process that holds the lock, if the system reports it.
        holder: Option<LockHolder>,
        /// The lock file of git, which exists as long as the lock; git records no process in it.
        file: Option<String>,
    },
    /// Another git operation is in progress, which a commit would appear to finish.
    #[error(
        "the repository at {place} is in the middle of {what}; finish or abort it with git to record versions again"
    )]
    Unfinished {
        /// The folder.
        place: String,
        /// The operation in progress.
        what: String,
    },
    /// The repository is not one that may be used.
    #[error(
        "the git repository of {place} is not used: {reason}; if you trust it, add the folder to the setting trusted_folders"
    )]
    Untrusted {
        /// The folder.
        place: String,
        /// The reason.
        reason: String,
    },
    /// git fails.
    #[error("git cannot {action}: {why}")]
    Refused {
        /// The action that failed.
        action: String,
        /// The error message of git.
        why: String,
    },
}

fn name_holder(holder: Option<&LockHolder>, file: Option<&str>) -> String {
    match (holder, file) {
        (Some(holder), _) => holder.to_string(),
        (None, Some(file)) => {
            format!("another program, or by {file}, which you may delete if git does not run there")
        }
        (None, None) => "another program".to_owned(),
    }
}

impl GitVersions {
    /// Starts to record versions of the folder at `root`.
    ///
    /// `tell` is called with errors, once for each distinct error until a commit succeeds.
    pub fn new(root: impl Into<PathBuf>, tell: Box<dyn Fn(&GitVersionsError) + Send>) -> Self {
        Self::start(root.into(), CommittedFiles::Conversations, tell)
    }

    /// Starts to record versions of only the conversations in the home at `root`.
    ///
    /// Errors are reported as by [`GitVersions::new`].
    pub fn for_home_conversations(
        root: impl Into<PathBuf>,
        tell: Box<dyn Fn(&GitVersionsError) + Send>,
    ) -> Self {
        Self::start(root.into(), CommittedFiles::ConversationsOfHome, tell)
    }

    fn start(
        root: PathBuf,
        kept: CommittedFiles,
        tell: Box<dyn Fn(&GitVersionsError) + Send>,
    ) -> Self {
        let shared = Arc::new(CommitQueue::default());
        let theirs = Arc::clone(&shared);
        let commit = move |message: &str| git::commit(&root, kept, message);
        let thread = thread::spawn(move || run_commits(&commit, &theirs, tell.as_ref()));
        Self {
            shared,
            thread: Some(thread),
        }
    }

    /// Schedules a commit of the current changes, described by `what`. Returns immediately.
    pub fn schedule_commit(&self, what: &str) {
        self.shared.lock().notes.push(what.to_owned());
        self.shared.news.notify_one();
    }
}

/// A recorded version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitVersion {
    /// The abbreviated id of the commit.
    pub id: String,
    /// The time of the commit, in RFC 3339.
    pub at: String,
    /// The first line of the commit message.
    pub message: String,
}

impl Drop for GitVersions {
    fn drop(&mut self) {
        self.shared.lock().has_ended = true;
        self.shared.news.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
    }
}

impl CommitQueue {
    fn lock(&self) -> MutexGuard<'_, CommitQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for notes, and then for up to `gather` for more. Returns the notes, and whether to continue.
    fn next(&self, gather: Duration) -> (Vec<String>, bool) {
        let idle = |state: &mut CommitQueueState| state.notes.is_empty() && !state.has_ended;
        let state = self
            .news
            .wait_while(self.lock(), idle)
            .unwrap_or_else(PoisonError::into_inner);
        let gathered = self
            .news
            .wait_timeout_while(state, gather, |state| !state.has_ended);
        let (mut state, _) = gathered.unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut state.notes), !state.has_ended)
    }
}

fn run_commits(
    commit: &dyn Fn(&str) -> Result<(), GitVersionsError>,
    shared: &CommitQueue,
    tell: &dyn Fn(&GitVersionsError),
) {
    let mut told: Vec<GitVersionsError> = Vec::new();
    let mut left: Vec<String> = Vec::new();
    let mut gather = MIN_COLLECT_TIME;
    loop {
        let (notes, goes_on) = shared.next(gather);
        let begun = Instant::now();
        left.extend(notes);
        if !left.is_empty() {
            match commit(&commit_message(&left)) {
                Ok(()) => {
                    left.clear();
                    told.clear();
                }
                Err(error) => {
                    if !told.contains(&error) {
                        tell(&error);
                        told.push(error);
                    }
                    // The next commit includes all changes, so the first of these notes suffices.
                    left.truncate(1);
                }
            }
        }
        if !goes_on {
            return;
        }
        gather = (begun.elapsed() * COLLECT_FACTOR).clamp(MIN_COLLECT_TIME, MAX_COLLECT_TIME);
    }
}

fn commit_message(notes: &[String]) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for note in notes {
        if !distinct.contains(&note.as_str()) {
            distinct.push(note);
        }
    }
    match distinct.as_slice() {
        [only] => (*only).to_owned(),
        several => format!("Remember {} changes\n\n{}", notes.len(), several.join("\n")),
    }
}
