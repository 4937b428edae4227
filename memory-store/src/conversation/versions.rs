//! The git history of a folder of conversations.

mod git;
mod kept;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

#[cfg(test)]
pub(super) use self::kept::KEYS;
use self::kept::Kept;

/// Minimum time in which changes are collected for a commit.
const GATHER: Duration = Duration::from_millis(300);

/// Factor of the collection time after a commit, relative to the duration of the commit.
///
/// Under continuous changes it limits git to a small share of the machine. The time does not exceed [`LONGEST_GATHER`].
const REST: u32 = 9;
const LONGEST_GATHER: Duration = Duration::from_secs(10);

/// Commits changes of a folder of conversations to a git repository of its own.
///
/// A background thread combines changes into commits, so that no change waits for git. On drop, all changes noted before are committed.
#[derive(Debug)]
pub struct Versions {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct State {
    notes: Vec<String>,
    has_ended: bool,
}

/// The error of a commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionsError {
    /// git is not installed.
    #[error("git is not installed, so no versions are recorded")]
    NoGit,
    /// Another program holds the lock of the repository.
    #[error(
        "the repository at {place} is locked by another program or by a stale .git/index.lock; its versions are recorded later"
    )]
    Locked {
        /// The folder.
        place: String,
    },
    /// Another git operation is in progress, which a commit would appear to finish.
    #[error("the repository at {place} is in the middle of {what}; finish or abort it with git to record versions again")]
    Unfinished {
        /// The folder.
        place: String,
        /// The operation in progress.
        what: String,
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

impl Versions {
    /// Starts to record versions of the folder at `root`.
    ///
    /// `tell` is called with errors, once for each distinct error until a commit succeeds.
    pub fn new(root: impl Into<PathBuf>, tell: Box<dyn Fn(&VersionsError) + Send>) -> Self {
        Self::begin(root.into(), Kept::Conversations, tell)
    }

    /// Starts to record versions of only the conversations in the home at `root`.
    ///
    /// Errors are reported as by [`Versions::new`].
    pub fn of_conversations_in_home(root: impl Into<PathBuf>, tell: Box<dyn Fn(&VersionsError) + Send>) -> Self {
        Self::begin(root.into(), Kept::ConversationsOfHome, tell)
    }

    fn begin(root: PathBuf, kept: Kept, tell: Box<dyn Fn(&VersionsError) + Send>) -> Self {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || work(&root, kept, &theirs, tell.as_ref()));
        Self { shared, thread: Some(thread) }
    }

    /// Schedules a commit of the current changes, described by `what`. Returns immediately.
    pub fn note(&self, what: &str) {
        self.shared.held().notes.push(what.to_owned());
        self.shared.news.notify_one();
    }

    /// Commits the changes in the folder at `root`, if available tools: any.
    ///
    /// A missing repository is created. It is always the repository of this folder, never one of a parent folder. Only files below
    /// `entries/` with the names that this program gives them are committed. Changes that the user has staged remain staged.
    ///
    /// # Errors
    /// If git is missing or fails, another program holds the lock, or another git operation is in progress, such as a merge.
    pub fn commit(root: &Path, message: &str) -> Result<(), VersionsError> {
        git::commit(root, Kept::Conversations, message)
    }
}

impl Versions {
    /// Commits the changes of the content of the home at `root`, if available tools: any.
    ///
    /// The content consists of memories, conversations, topics, banks, sessions, values and the journal. Only files at the expected paths
    /// are committed, because any other file may contain a key. A missing repository is created as by [`Versions::commit`].
    ///
    /// # Errors
    /// The same as of [`Versions::commit`].
    pub fn commit_home(root: &Path, message: &str) -> Result<(), VersionsError> {
        git::commit_home(root, message)
    }

    /// Returns the last `limit` changes of the file at `path`, below `root`, newest first.
    ///
    /// The format is that of `git log --patch`. The history includes previous names of the file.
    ///
    /// # Errors
    /// If git is missing or fails.
    pub fn changes(root: &Path, path: &str, limit: usize) -> Result<String, VersionsError> {
        git::changes(root, path, limit)
    }
}

/// A recorded version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The abbreviated id of the commit.
    pub id: String,
    /// The time of the commit, in RFC 3339.
    pub at: String,
    /// The first line of the commit message.
    pub message: String,
}

impl Versions {
    /// Returns the last `limit` versions of the folder at `root`, newest first.
    ///
    /// # Errors
    /// If git is missing or fails.
    pub fn list(root: &Path, limit: usize) -> Result<Vec<Version>, VersionsError> {
        git::list(root, limit)
    }
}

impl Drop for Versions {
    fn drop(&mut self) {
        self.shared.held().has_ended = true;
        self.shared.news.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn held(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for notes, and then for up to `gather` for more. Returns the notes, and whether to continue.
    fn next(&self, gather: Duration) -> (Vec<String>, bool) {
        let idle = |state: &mut State| state.notes.is_empty() && !state.has_ended;
        let state = self.news.wait_while(self.held(), idle).unwrap_or_else(PoisonError::into_inner);
        let gathered = self.news.wait_timeout_while(state, gather, |state| !state.has_ended);
        let (mut state, _) = gathered.unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut state.notes), !state.has_ended)
    }
}

fn work(root: &Path, kept: Kept, shared: &Shared, tell: &dyn Fn(&VersionsError)) {
    let mut told: Vec<VersionsError> = Vec::new();
    let mut left: Vec<String> = Vec::new();
    let mut gather = GATHER;
    loop {
        let (notes, goes_on) = shared.next(gather);
        let begun = Instant::now();
        left.extend(notes);
        if !left.is_empty() {
            match git::commit(root, kept, &message(&left)) {
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
        gather = (begun.elapsed() * REST).clamp(GATHER, LONGEST_GATHER);
    }
}

fn message(notes: &[String]) -> String {
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
