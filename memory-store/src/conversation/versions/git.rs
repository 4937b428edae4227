//! Records versions in git, in commits that contain only files of this program.

mod access;
mod identity;
mod isolation;
mod repository;
mod staging;

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use self::access::has_repository;
pub(crate) use self::identity::{remote_address, repository_folder};
use self::isolation::isolated_command;
use self::repository::{GitOutput, PATIENCE, Repository, git_error, run_for_output, single_line};
use self::staging::{GitPaths, StagedCommit};
use super::committed_files::CommittedFiles;
use super::{GitVersion, GitVersions, GitVersionsError};
use crate::disk::copy_with_time;
use crate::system::{owner_only, read_small_file};

/// The ignored files of a folder of conversations.
const IGNORED: &str = "chroma/\nmemory_index.json\n__pycache__/\n*.tmp\n.DS_Store\n/.conversations/\n/index/\n.lock\n*.sock\n";

/// The ignored files of a home: derived files, locks, old states, and files that may contain a key.
///
/// They protect a user from adding such files by mistake. The names of values are arbitrary, so values are never ignored.
const IGNORED_OF_HOME: &str = "/index/\n/trash/\n.trash/\n.locks/\n/.conversations/\n/usage/\n/recalls/\n/memory.md\n/pending.md\n/daemon.log*\n\
    *.lock\n*.sock\n*.tmp\n*~\n.*.sw?\n\\#*#\n.derived-*\n.config*\n/config.yaml*\nmaster.key*\n.env*\n.DS_Store\n\
    !/kv/**\n!/instances/kv/**\n";

/// The file with the ignored files, in a repository that this program created.
const IGNORE_FILE: &str = ".gitignore";

/// Maximum size of a list of ignored files that this program wrote, in bytes.
const MAX_IGNORE_SIZE: u64 = 1024;

impl GitVersions {
    /// Commits the changes in the folder at `root`, if there are any.
    ///
    /// A missing repository is created. It is always the repository of this folder, never one of a parent folder. Only files below
    /// `entries/` with the names that this program gives them are committed. Changes that the user has staged remain staged.
    ///
    /// # Errors
    /// If git is missing or fails, the repository may not be used, another program holds the lock, or another git operation is in
    /// progress, such as a merge.
    pub fn commit(root: &Path, message: &str) -> Result<(), GitVersionsError> {
        commit(root, CommittedFiles::Conversations, message)
    }

    /// Commits the changes of the content of the home at `root`, if there are any.
    ///
    /// The content consists of memories, conversations, topics, banks, sessions, values and the journal. Only files at the expected paths
    /// are committed, because any other file may contain a key. A missing repository is created as by [`GitVersions::commit`].
    ///
    /// # Errors
    /// The same as of [`GitVersions::commit`].
    pub fn commit_home(root: &Path, message: &str) -> Result<(), GitVersionsError> {
        commit_files(root, CommittedFiles::Home, message)
    }

    /// Checks whether the repository of the folder at `root` may be used, if there is one.
    ///
    /// # Errors
    /// If git is missing or fails, or the repository may not be used.
    pub fn check(root: &Path) -> Result<(), GitVersionsError> {
        if has_repository(root) {
            Repository::open(root).map(drop)
        } else {
            Ok(())
        }
    }

    /// Returns the version of the installed git, such as `git version 2.47.3`.
    ///
    /// # Errors
    /// If git is missing or fails.
    pub fn installed_version() -> Result<String, GitVersionsError> {
        let here = std::env::temp_dir();
        let mut command = isolated_command(&here);
        command.arg("--version");
        run_for_output(&mut command, &here, "name its version", b"", PATIENCE)
            .map(|said| single_line(&said))
    }

    /// Returns the last `limit` changes of the file at `path`, below `root`, newest first.
    ///
    /// The format is that of `git log --patch`. The history includes previous names of the file.
    ///
    /// # Errors
    /// If git is missing or fails, or the repository may not be used.
    pub fn file_log(root: &Path, path: &str, limit: usize) -> Result<String, GitVersionsError> {
        let limit = format!("--max-count={limit}");
        let what = [
            "--patch",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--follow",
            "--date=iso-strict",
            "--format=%h %ad %s",
            &limit,
            "--",
            path,
        ];
        Repository::open(root)?.log(&what)
    }

    /// Returns the last `limit` versions of the folder at `root`, newest first.
    ///
    /// # Errors
    /// If git is missing or fails, or the repository may not be used.
    pub fn list(root: &Path, limit: usize) -> Result<Vec<GitVersion>, GitVersionsError> {
        let what = [
            "--no-color",
            "--date=iso-strict",
            "--format=%h %ad %s",
            &format!("--max-count={limit}"),
        ];
        let text = Repository::open(root)?.log(&what)?;
        let version = |line: &str| {
            let mut parts = line.splitn(3, ' ').map(str::to_owned);
            Some(GitVersion {
                id: parts.next()?,
                at: parts.next()?,
                message: parts.next().unwrap_or_default(),
            })
        };
        Ok(text.lines().filter_map(version).collect())
    }
}

/// Commits the changes of the selected files, if there are conversations or a repository.
pub(super) fn commit(
    root: &Path,
    kept: CommittedFiles,
    message: &str,
) -> Result<(), GitVersionsError> {
    if !CommittedFiles::Conversations
        .folders()
        .iter()
        .any(|folder| root.join(folder).exists())
        && !has_repository(root)
    {
        return Ok(());
    }
    commit_files(root, kept, message)
}

/// Commits the changes of the selected files, if there are any.
///
/// The commit is prepared in a separate index. The index of the user is only updated at the end.
fn commit_files(root: &Path, kept: CommittedFiles, message: &str) -> Result<(), GitVersionsError> {
    create_if_missing(root, kept)?;
    let repository = Repository::open(root)?;
    let places = GitPaths::of(&repository)?;
    let _one_of_us = places.lock(&repository)?;
    // A commit that cannot be made is not prepared; the check is repeated under the lock of the index.
    places.check_unlocked(root)?;
    places.check_no_operation(&repository)?;
    let stage = StagedCommit::new(&repository, &places)?;
    let has_list = has_own_ignore_file(root);
    stage.add(kept, has_list.then_some(IGNORE_FILE))?;
    let Some(tree) = stage.write_tree()? else {
        return Ok(());
    };
    let new = repository.commit(&tree, stage.head(), message)?;
    let theirs = places.lock_index(root, &new)?;
    places.check_no_operation(&repository)?;
    let change = CommitChange {
        former: stage.head(),
        new: &new,
    };
    let index = change.update_index(&repository, &places)?;
    change.publish(&repository, message)?;
    index
        .replace_user_index()
        .map_err(|error| git_error("update the index", &error))?;
    drop(theirs);
    repository.collect_garbage();
    Ok(())
}

/// Creates a missing repository with a list of ignored files. An existing repository is left unchanged.
fn create_if_missing(root: &Path, kept: CommittedFiles) -> Result<(), GitVersionsError> {
    if has_repository(root) {
        return Ok(());
    }
    Repository::create(root)?;
    // The list is created or left unchanged, so that no link is followed.
    let list =
        owner_only(OpenOptions::new().write(true).create_new(true)).open(root.join(IGNORE_FILE));
    match list.and_then(|mut list| list.write_all(ignore_list(kept).as_bytes())) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(git_error("create .gitignore", &error))
        }
        _ => Ok(()),
    }
}

const fn ignore_list(kept: CommittedFiles) -> &'static str {
    match kept {
        CommittedFiles::Conversations => IGNORED,
        // In a home, keys and derived files are next to the conversations.
        CommittedFiles::Home | CommittedFiles::ConversationsOfHome => IGNORED_OF_HOME,
    }
}

/// Returns whether the list of ignored files is exactly one that this program wrote.
fn has_own_ignore_file(root: &Path) -> bool {
    let list = root.join(IGNORE_FILE);
    let is_file = list.symlink_metadata().is_ok_and(|found| found.is_file());
    is_file
        && read_small_file(&list, MAX_IGNORE_SIZE).is_ok_and(|bytes| {
            [IGNORED, IGNORED_OF_HOME]
                .map(str::as_bytes)
                .contains(&&*bytes)
        })
}

/// The step from one commit to the next.
#[derive(Debug, Clone, Copy)]
struct CommitChange<'c> {
    /// The last commit, if there is one.
    former: Option<&'c str>,
    /// The new commit.
    new: &'c str,
}

/// A copy of the user's index that is about to replace it.
#[derive(Debug)]
struct UpdatedIndex<'p> {
    places: &'p GitPaths,
}

impl CommitChange<'_> {
    /// Makes the new commit the last one, if the last one is still `former`.
    fn publish(&self, repository: &Repository<'_>, message: &str) -> Result<(), GitVersionsError> {
        let reason = format!("commit: {}", message.lines().next().unwrap_or_default());
        // An empty name means that no commit may exist.
        let former = self.former.unwrap_or_default();
        repository.run(
            "update HEAD",
            &["update-ref", "-m", &reason, "HEAD", self.new, former],
        )?;
        repository.check_references()
    }

    /// Returns a copy of the user's index that includes the new commit.
    ///
    /// Entries that the user has staged, which differ from the previous commit, are unchanged.
    fn update_index<'p>(
        &self,
        repository: &Repository<'_>,
        places: &'p GitPaths,
    ) -> Result<UpdatedIndex<'p>, GitVersionsError> {
        match copy_with_time(&places.index, &places.follows) {
            // A new repository has no index.
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(git_error("update the index", &error));
            }
            _ => {}
        }
        let former = match self.former {
            Some(former) => former.to_owned(),
            None => single_line(&repository.run_for_output(
                "hash the empty tree",
                &["hash-object", "-t", "tree", "--stdin"],
            )?),
        };
        let ask = |action: &str, arguments: &[&str], bytes: &[u8]| {
            repository.run_on_index(Some(&places.follows), action, arguments, bytes)
        };
        let raw = ["--raw", "--no-renames", "--no-abbrev", "-z"];
        let staged = ask(
            "list staged changes",
            &[&["diff-index", "--cached"], raw.as_slice(), &[&former]].concat(),
            b"",
        )?;
        let changed = ask(
            "list changes",
            &[&["diff-tree", "-r"], raw.as_slice(), &[&former, self.new]].concat(),
            b"",
        )?;
        let theirs: HashSet<&[u8]> = parse_raw_diff(&staged).map(|(_, path)| path).collect();
        let mut lines = GitOutput::new();
        for (what, path) in parse_raw_diff(&changed).filter(|(_, path)| !theirs.contains(path)) {
            // `:<former mode> <new mode> <former object> <new object> <status>`
            let mut parts = what.split(|byte| *byte == b' ').skip(1);
            let (mode, object) = (
                parts.next().unwrap_or_default(),
                parts.nth(1).unwrap_or_default(),
            );
            lines.extend([mode, b" ", object, b"\t", path, b"\0"].concat());
        }
        if !lines.is_empty() {
            ask(
                "update the index",
                &["update-index", "-z", "--index-info"],
                &lines,
            )?;
        }
        Ok(UpdatedIndex { places })
    }
}

impl UpdatedIndex<'_> {
    /// Replaces the index of the user.
    fn replace_user_index(self) -> io::Result<()> {
        let GitPaths { follows, index, .. } = self.places;
        if Path::exists(follows) {
            fs::rename(follows, index)
        } else {
            Ok(())
        }
    }
}

/// Returns each path with the description by git.
fn parse_raw_diff(said: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut parts = said.split(|byte| *byte == 0);
    std::iter::from_fn(move || Some((parts.next().filter(|what| !what.is_empty())?, parts.next()?)))
}
