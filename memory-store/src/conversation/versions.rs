//! Every state that a folder of conversations had, kept by git.

mod git;
mod kept;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

#[cfg(test)]
pub(super) use self::kept::KEYS;
use self::kept::Kept;

/// How long it is waited for more changes before a commit is made.
const GATHER: Duration = Duration::from_millis(300);

/// While changes come without a pause, a commit is followed by this many times its own duration without one, so that git takes a
/// small share of the machine; but no longer than [`LONGEST_GATHER`].
const REST: u32 = 9;
const LONGEST_GATHER: Duration = Duration::from_secs(10);

/// Commits of a folder of conversations to a repository of its own. They are made on a thread of their own, many changes in one, and no
/// change waits for them; what is noted before this is dropped is committed by then.
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

/// Why there is no commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionsError {
    /// There is no git.
    #[error("there is no git, so no versions are kept")]
    NoGit,
    /// Another program holds the lock of the repository.
    #[error(
        "another program is at work in the repository at {place}, or has left its lock there (.git/index.lock), so its versions are kept later"
    )]
    Locked {
        /// The folder.
        place: String,
    },
    /// Somebody is in the middle of something, which a commit of ours would seem to finish.
    #[error(
        "the repository at {place} is in the middle of {what}; finish it or take it back with git, so that its versions are kept again"
    )]
    Unfinished {
        /// The folder.
        place: String,
        /// What was begun.
        what: String,
    },
    /// Git refused.
    #[error("git cannot {action}: {why}")]
    Refused {
        /// What was tried.
        action: String,
        /// What it complains about.
        why: String,
    },
}

impl Versions {
    /// Begins to keep versions of the folder at `root`. `tell` is told what goes wrong, each kind of it once until
    /// all is well again.
    pub fn new(root: impl Into<PathBuf>, tell: Box<dyn Fn(&VersionsError) + Send>) -> Self {
        Self::begin(root.into(), Kept::Conversations, tell)
    }

    /// Begins to keep versions of the conversations in the home at `root`, and of nothing else in it. What goes wrong is told as by
    /// [`Versions::new`].
    pub fn of_conversations_in_home(root: impl Into<PathBuf>, tell: Box<dyn Fn(&VersionsError) + Send>) -> Self {
        Self::begin(root.into(), Kept::ConversationsOfHome, tell)
    }

    fn begin(root: PathBuf, kept: Kept, tell: Box<dyn Fn(&VersionsError) + Send>) -> Self {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || work(&root, kept, &theirs, tell.as_ref()));
        Self { shared, thread: Some(thread) }
    }

    /// Notes that something was changed, and how the commit is to tell of it. Waits for nothing.
    pub fn note(&self, what: &str) {
        self.shared.held().notes.push(what.to_owned());
        self.shared.news.notify_one();
    }

    /// Commits what has changed in the folder at `root`, now. Where nothing has, nothing is done. The repository is made if it is missing;
    /// it is always that of this folder, and never one around it. Only files below `entries/` that look as they are written there are
    /// committed, whatever else lies in the folder; and what a person is about to commit stays theirs.
    ///
    /// # Errors
    /// When there is no git, another program holds the lock, somebody is in the middle of a merge or the like, or git refuses.
    pub fn commit(root: &Path, message: &str) -> Result<(), VersionsError> {
        git::commit(root, Kept::Conversations, message)
    }
}

impl Versions {
    /// Commits what has changed of what is remembered in the home at `root`, now, and of how that came about: memories, conversations,
    /// topics, banks, sessions, values and the journal, each where and as it is written, and no other file, since it may hold a key. Where
    /// nothing has, nothing is done; the repository is made as [`Versions::commit`] makes it.
    ///
    /// # Errors
    /// As [`Versions::commit`].
    pub fn commit_home(root: &Path, message: &str) -> Result<(), VersionsError> {
        git::commit_home(root, message)
    }

    /// Returns how the file at `path`, below `root`, came to be what it is: the last `limit` changes, newest first, as `git log --patch`
    /// tells them, under all the names it had.
    ///
    /// # Errors
    /// When there is no git, or it refuses.
    pub fn changes(root: &Path, path: &str, limit: usize) -> Result<String, VersionsError> {
        git::changes(root, path, limit)
    }
}

/// One state that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// What git calls it, in short.
    pub id: String,
    /// When it was kept, as RFC 3339 has it.
    pub at: String,
    /// What was said about it.
    pub message: String,
}

impl Versions {
    /// Returns the last `limit` states that are kept of the folder at `root`, newest first.
    ///
    /// # Errors
    /// When there is no git, or it refuses.
    pub fn list(root: &Path, limit: usize) -> Result<Vec<Version>, VersionsError> {
        git::list(root, limit)
    }
}

impl Drop for Versions {
    fn drop(&mut self) {
        self.shared.held().has_ended = true;
        self.shared.news.notify_one();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told why.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn held(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for notes, and for a time for more; returns them, and whether there will be others.
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
                    // The next commit holds all of it; the last notes say enough.
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
