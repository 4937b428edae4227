//! Making a commit the last one, and telling the index of a person of it.

use std::collections::HashSet;
use std::path::Path;
use std::{fs, io};

use super::repository::line;
use super::stage::Places;
use super::{Output, Repository, refused};
use crate::conversation::VersionsError;
use crate::disk::copy_with_time;

/// From one commit to the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change<'c> {
    /// The last commit, if there is one.
    pub former: Option<&'c str>,
    /// The one that is to be the last.
    pub new: &'c str,
}

/// An index that waits until it may take the place of a person's.
#[derive(Debug)]
pub(super) struct Following<'p> {
    places: &'p Places,
}

impl Change<'_> {
    /// Makes the new commit the last one, if the former still is.
    pub(super) fn publish(&self, repository: &Repository<'_>, message: &str) -> Result<(), VersionsError> {
        let reason = format!("commit: {}", message.lines().next().unwrap_or_default());
        // No name means that there must be none.
        let former = self.former.unwrap_or_default();
        repository.tell("make it the last commit", &["update-ref", "-m", &reason, "HEAD", self.new, former])
    }

    /// Returns a copy of a person's index in which what was committed is no longer new; but what they put there themselves, which differs
    /// from the former commit, stays as it is.
    pub(super) fn followed_by<'p>(
        &self,
        repository: &Repository<'_>,
        places: &'p Places,
    ) -> Result<Following<'p>, VersionsError> {
        match copy_with_time(&places.index, &places.follows) {
            // A new repository has none.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refused("follow what was committed", &error)),
            _ => {}
        }
        let former = match self.former {
            Some(former) => former.to_owned(),
            None => line(&repository.ask("tell what nothing is", &["hash-object", "-t", "tree", "--stdin"])?),
        };
        let ask =
            |action: &str, arguments: &[&str], bytes: &[u8]| repository.ask_on(Some(&places.follows), action, arguments, bytes);
        let raw = ["--raw", "--no-renames", "--no-abbrev", "-z"];
        let staged = ask("tell what is staged", &[&["diff-index", "--cached"], raw.as_slice(), &[&former]].concat(), b"")?;
        let changed = ask("tell what changed", &[&["diff-tree", "-r"], raw.as_slice(), &[&former, self.new]].concat(), b"")?;
        let theirs: HashSet<&[u8]> = raw_lines(&staged).map(|(_, path)| path).collect();
        let mut lines = Output::new();
        for (what, path) in raw_lines(&changed).filter(|(_, path)| !theirs.contains(path)) {
            // `:<former mode> <new mode> <former object> <new object> <status>`
            let mut parts = what.split(|byte| *byte == b' ').skip(1);
            let (mode, object) = (parts.next().unwrap_or_default(), parts.nth(1).unwrap_or_default());
            lines.extend([mode, b" ", object, b"\t", path, b"\0"].concat());
        }
        if !lines.is_empty() {
            ask("follow what was committed", &["update-index", "-z", "--index-info"], &lines)?;
        }
        Ok(Following { places })
    }
}

impl Following<'_> {
    /// Takes the place of the index.
    pub(super) fn take_place(self) -> io::Result<()> {
        let Places { follows, index, .. } = self.places;
        if Path::exists(follows) { fs::rename(follows, index) } else { Ok(()) }
    }
}

/// Returns what git says of each path, and the path.
fn raw_lines(said: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut parts = said.split(|byte| *byte == 0);
    std::iter::from_fn(move || Some((parts.next().filter(|what| !what.is_empty())?, parts.next()?)))
}
