//! Publishes a commit, and updates the index of the user to it.

use std::collections::HashSet;
use std::path::Path;
use std::{fs, io};

use super::repository::single_line;
use super::staging::GitPaths;
use super::{GitOutput, Repository, git_error};
use crate::conversation::GitVersionsError;
use crate::disk::copy_with_time;

/// The step from one commit to the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommitChange<'c> {
    /// The last commit, if there is one.
    pub former: Option<&'c str>,
    /// The new commit.
    pub new: &'c str,
}

/// A copy of the user's index that is about to replace it.
#[derive(Debug)]
pub(super) struct UpdatedIndex<'p> {
    places: &'p GitPaths,
}

impl CommitChange<'_> {
    /// Makes the new commit the last one, if the last one is still `former`.
    pub(super) fn publish(&self, repository: &Repository<'_>, message: &str) -> Result<(), GitVersionsError> {
        let reason = format!("commit: {}", message.lines().next().unwrap_or_default());
        // An empty name means that no commit may exist.
        let former = self.former.unwrap_or_default();
        repository.run("update HEAD", &["update-ref", "-m", &reason, "HEAD", self.new, former])
    }

    /// Returns a copy of the user's index that includes the new commit.
    ///
    /// Entries that the user has staged, which differ from the previous commit, are unchanged.
    pub(super) fn update_index<'p>(
        &self,
        repository: &Repository<'_>,
        places: &'p GitPaths,
    ) -> Result<UpdatedIndex<'p>, GitVersionsError> {
        match copy_with_time(&places.index, &places.follows) {
            // A new repository has no index.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(git_error("update the index", &error)),
            _ => {}
        }
        let former = match self.former {
            Some(former) => former.to_owned(),
            None => single_line(&repository.run_for_output("hash the empty tree", &["hash-object", "-t", "tree", "--stdin"])?),
        };
        let ask = |action: &str, arguments: &[&str], bytes: &[u8]| {
            repository.run_on_index(Some(&places.follows), action, arguments, bytes)
        };
        let raw = ["--raw", "--no-renames", "--no-abbrev", "-z"];
        let staged = ask("list staged changes", &[&["diff-index", "--cached"], raw.as_slice(), &[&former]].concat(), b"")?;
        let changed = ask("list changes", &[&["diff-tree", "-r"], raw.as_slice(), &[&former, self.new]].concat(), b"")?;
        let theirs: HashSet<&[u8]> = parse_raw_diff(&staged).map(|(_, path)| path).collect();
        let mut lines = GitOutput::new();
        for (what, path) in parse_raw_diff(&changed).filter(|(_, path)| !theirs.contains(path)) {
            // `:<former mode> <new mode> <former object> <new object> <status>`
            let mut parts = what.split(|byte| *byte == b' ').skip(1);
            let (mode, object) = (parts.next().unwrap_or_default(), parts.nth(1).unwrap_or_default());
            lines.extend([mode, b" ", object, b"\t", path, b"\0"].concat());
        }
        if !lines.is_empty() {
            ask("update the index", &["update-index", "-z", "--index-info"], &lines)?;
        }
        Ok(UpdatedIndex { places })
    }
}

impl UpdatedIndex<'_> {
    /// Replaces the index of the user.
    pub(super) fn replace_user_index(self) -> io::Result<()> {
        let GitPaths { follows, index, .. } = self.places;
        if Path::exists(follows) { fs::rename(follows, index) } else { Ok(()) }
    }
}

/// Returns each path with the description by git.
fn parse_raw_diff(said: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut parts = said.split(|byte| *byte == 0);
    std::iter::from_fn(move || Some((parts.next().filter(|what| !what.is_empty())?, parts.next()?)))
}
