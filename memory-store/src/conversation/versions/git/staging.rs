//! Prepares the content of a commit in a separate index.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::repository::{
    GitOutput, PATIENCE, Repository, git_error, lock_error, locked_error, single_line,
};
use crate::conversation::GitVersionsError;
use crate::conversation::versions::committed_files::CommittedFiles;
use crate::lock::lock_file_within;
use crate::system::{owner_only, read_small_file};

/// Files of this program in a repository: its index, an updated copy of the user's index, and its lock.
const OWN_FILES: [&str; 3] = ["memory.index", "memory.follows", "memory.lock"];

/// Prefix of a lock file of this program. An index never starts with it.
const LOCK_PREFIX: &str = "memory ";

/// Maximum size of the lock file of the index that this program writes, in bytes.
const MAX_LOCK_SIZE: u64 = 256;

/// Files of git that indicate an operation in progress, with the name of the operation.
const IN_PROGRESS_FILES: [(&str, &str); 7] = [
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("sequencer", "a cherry-pick or revert"),
    ("BISECT_LOG", "a bisection"),
];

/// The paths of files of a repository, which may be outside of `.git`.
#[derive(Debug)]
pub(super) struct GitPaths {
    /// The index of the user.
    pub(super) index: PathBuf,
    /// A copy of it that is about to replace it.
    pub(super) follows: PathBuf,
    own: PathBuf,
    lock: PathBuf,
    unfinished: Vec<(PathBuf, &'static str)>,
}

impl GitPaths {
    pub(super) fn of(repository: &Repository<'_>) -> Result<Self, GitVersionsError> {
        let names: Vec<&str> = ["index"]
            .into_iter()
            .chain(OWN_FILES)
            .chain(IN_PROGRESS_FILES.map(|(name, _)| name))
            .collect();
        let asked: Vec<&str> = ["rev-parse"]
            .into_iter()
            .chain(names.iter().flat_map(|name| ["--git-path", *name]))
            .collect();
        let said = single_line(&repository.run_for_output("locate its files", &asked)?);
        let places: Vec<PathBuf> = said
            .lines()
            .map(|place| repository.root.join(place))
            .collect();
        let odd = || GitVersionsError::Refused {
            action: "locate its files".into(),
            why: "the path has a line break".into(),
        };
        let [index, own, follows, lock, unfinished @ ..] = places.as_slice() else {
            return Err(odd());
        };
        if unfinished.len() != IN_PROGRESS_FILES.len() {
            return Err(odd());
        }
        Ok(Self {
            index: index.clone(),
            follows: follows.clone(),
            own: own.clone(),
            lock: lock.clone(),
            unfinished: unfinished
                .iter()
                .cloned()
                .zip(IN_PROGRESS_FILES.map(|(_, what)| what))
                .collect(),
        })
    }

    /// Locks out other processes of this program, and removes the files of an interrupted one.
    pub(super) fn lock(&self, repository: &Repository<'_>) -> Result<File, GitVersionsError> {
        let opened = owner_only(OpenOptions::new().create(true).truncate(false).write(true))
            .open(&self.lock);
        let file = opened.map_err(|error| git_error("lock the repository", &error))?;
        let held = lock_file_within(file, &self.lock, PATIENCE)
            .map_err(|error| lock_error(repository.root, error))?;
        self.unlock_index(repository);
        for left in [
            lock_path(&self.own),
            lock_path(&self.follows),
            self.follows.clone(),
        ] {
            // git reports a file that cannot be removed.
            let _ = fs::remove_file(left);
        }
        Ok(held)
    }

    /// Locks the index of the user as git does. The lock file names the commit.
    pub(super) fn lock_index(
        &self,
        root: &Path,
        commit: &str,
    ) -> Result<IndexLock, GitVersionsError> {
        let path = lock_path(&self.index);
        let draft = tempfile::Builder::new()
            .prefix("memory.")
            .tempfile_in(self.index.parent().unwrap_or(root));
        let written =
            draft.and_then(|mut draft| write!(draft, "{LOCK_PREFIX}{commit}").map(|()| draft));
        match written.and_then(|draft| draft.persist_noclobber(&path).map_err(|error| error.error))
        {
            Ok(_) => Ok(IndexLock { path }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(locked_error(root, Some(&path)))
            }
            Err(error) => Err(git_error("lock the repository", &error)),
        }
    }

    /// Removes the lock of an interrupted process of this program, and completes its last step.
    fn unlock_index(&self, repository: &Repository<'_>) {
        let path = lock_path(&self.index);
        let Some(said) = read_small_file(&path, MAX_LOCK_SIZE)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
        else {
            return;
        };
        let Some(commit) = said.strip_prefix(LOCK_PREFIX) else {
            return;
        };
        if repository.head().as_deref() == Some(commit) {
            // The file is missing if the step was complete.
            let _ = fs::rename(&self.follows, &self.index);
        }
        // A file that cannot be removed is reported as a lock.
        let _ = fs::remove_file(path);
    }

    /// Fails if another process uses the index.
    pub(super) fn check_unlocked(&self, root: &Path) -> Result<(), GitVersionsError> {
        let path = lock_path(&self.index);
        if path.exists() {
            Err(locked_error(root, Some(&path)))
        } else {
            Ok(())
        }
    }

    /// Fails if an operation is in progress that a commit would appear to finish.
    pub(super) fn check_no_operation(
        &self,
        repository: &Repository<'_>,
    ) -> Result<(), GitVersionsError> {
        let begun = self
            .unfinished
            .iter()
            .find(|(place, _)| place.exists())
            .map(|(_, what)| *what);
        let has_conflict = || {
            repository
                .run_for_output("list conflicts", &["ls-files", "--unmerged"])
                .map(|said| !said.is_empty())
        };
        let what = match begun {
            Some(what) => what,
            None if has_conflict()? => "solving a conflict",
            None => return Ok(()),
        };
        Err(GitVersionsError::Unfinished {
            place: repository.root.display().to_string(),
            what: what.to_owned(),
        })
    }
}

/// The lock of the user's index, released on drop.
#[derive(Debug)]
pub(super) struct IndexLock {
    path: PathBuf,
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        // A file that cannot be removed is reported as a lock.
        let _ = fs::remove_file(&self.path);
    }
}

/// The content of the next commit.
#[derive(Debug)]
pub(super) struct StagedCommit<'r> {
    repository: &'r Repository<'r>,
    index: &'r Path,
    head: Option<String>,
}

impl<'r> StagedCommit<'r> {
    /// Starts with the content of the last commit.
    pub(super) fn new(
        repository: &'r Repository<'r>,
        places: &'r GitPaths,
    ) -> Result<Self, GitVersionsError> {
        let stage = Self {
            repository,
            index: &places.own,
            head: repository.head(),
        };
        let begin: &[&str] = match &stage.head {
            // The cached times of files are preserved.
            Some(head) => &["read-tree", "--reset", head],
            None => &["read-tree", "--empty"],
        };
        stage.run_for_output("read the last commit", begin, b"")?;
        Ok(stage)
    }

    /// Returns the last commit, if there is one.
    pub(super) fn head(&self) -> Option<&str> {
        self.head.as_deref()
    }

    /// Adds the changes of the selected files, and of the file `besides`.
    ///
    /// Files that the user ignores are omitted.
    pub(super) fn add(
        &self,
        kept: CommittedFiles,
        besides: Option<&str>,
    ) -> Result<(), GitVersionsError> {
        let look = [
            "ls-files",
            "--modified",
            "--others",
            "--exclude-standard",
            "--deduplicate",
            "-z",
            "--",
        ];
        let places: Vec<&str> = kept.folders().iter().copied().chain(besides).collect();
        let changed = self.run_for_output(
            "list changes",
            &[look.as_slice(), places.as_slice()].concat(),
            b"",
        )?;
        let is_kept = |path: &[u8]| {
            str::from_utf8(path).is_ok_and(|path| besides == Some(path) || kept.includes(path))
        };
        let paths: GitOutput = changed
            .split_inclusive(|byte| *byte == 0)
            .filter(|path| path.strip_suffix(b"\0").is_some_and(is_kept))
            .flatten()
            .copied()
            .collect();
        if paths.is_empty() {
            return Ok(());
        }
        self.run_for_output(
            "add changes",
            &[
                "update-index",
                "--add",
                "--remove",
                "--replace",
                "-z",
                "--stdin",
            ],
            &paths,
        )
        .map(drop)
    }

    /// Returns the tree of the next commit; `None` if it equals the last one.
    pub(super) fn write_tree(&self) -> Result<Option<String>, GitVersionsError> {
        let tree = single_line(&self.run_for_output("write the tree", &["write-tree"], b"")?);
        let former = match &self.head {
            Some(head) => self.repository.run_for_output(
                "read the last commit",
                &["rev-parse", &format!("{head}^{{tree}}")],
            )?,
            None => self.repository.run_for_output(
                "hash the empty tree",
                &["hash-object", "-t", "tree", "--stdin"],
            )?,
        };
        Ok((single_line(&former) != tree).then_some(tree))
    }

    fn run_for_output(
        &self,
        action: &str,
        arguments: &[&str],
        bytes: &[u8],
    ) -> Result<GitOutput, GitVersionsError> {
        self.repository
            .run_on_index(Some(self.index), action, arguments, bytes)
    }
}

/// Returns the path of the lock file that git uses for a file.
fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}
