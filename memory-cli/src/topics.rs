//! Where topics are, and putting their parts together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_core::topic::Topics;
use memory_store::topic::TopicFolder;
use memory_store::{RandomIds, SystemClock};

use crate::banks::{is_folder, repository};
use crate::config::{Environment, Settings};
use crate::failure::Failure;

/// Opens the topics in `named`, or else those of the project around the folder in which the program was started; nothing where there is
/// no such folder and none may be made.
pub(crate) fn open(
    settings: &Settings,
    environment: &Environment,
    named: Option<&Path>,
    actor: &str,
) -> Result<Option<Topics>, Failure> {
    let root = match named {
        Some(named) => Some(checked(environment.whole(named), &settings.root.value)?),
        None => environment.folder.as_deref().and_then(|folder| of_project(folder, &settings.root.value)),
    };
    Ok(root.map(|root| Topics {
        store: Arc::new(TopicFolder::new(root)),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
        actor: actor.to_owned(),
    }))
}

/// Refuses the home, whose files are memories and no topics.
fn checked(folder: PathBuf, home: &Path) -> Result<PathBuf, Failure> {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if whole(&folder) == whole(home) {
        let why = format!("{} is the home of the memories", folder.display());
        return Err(Failure::usage(why, "name another folder with --dir"));
    }
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::usage(format!("{} is no folder", folder.display()), "name a folder with --dir"));
    }
    Ok(folder)
}

/// Returns the folder of the topics of the project around `folder`: the nearest `.memory`, up to the repository's root; or else the one
/// that is to be made there. The memories' home itself is no project.
fn of_project(folder: &Path, home: &Path) -> Option<PathBuf> {
    let end = repository(folder).unwrap_or(folder);
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let home = whole(home);
    let within = folder.ancestors().take_while(|folder| folder.starts_with(end));
    let found = within.map(|folder| folder.join(".memory")).find(|place| is_folder(place) && whole(place) != home);
    let new = end.join(".memory");
    // What a repository brings along must not lead out of it; and in the person's home folder it would be their home.
    found.or_else(|| (whole(&new) != home && !new.is_symlink()).then_some(new))
}

#[cfg(test)]
mod tests {
    use std::fs::create_dir_all;

    use super::*;

    #[test]
    fn the_topics_are_in_the_nearest_folder_up_to_the_root_of_the_repository() {
        let base = tempfile::tempdir().expect("a folder");
        let path = |path: &str| base.path().join(path);
        let home = path("home/.memory");
        for folder in ["home/.memory", "home/work/repo/.git", "home/work/repo/src/deep", "home/work/.memory", "home/loose/sub"] {
            create_dir_all(path(folder)).expect("a folder");
        }
        let found = |folder: &str| of_project(&path(folder), &home);
        assert_eq!(found("home/work/repo/src/deep"), Some(path("home/work/repo/.memory")), "it is made at the root");
        create_dir_all(path("home/work/repo/src/.memory")).expect("a folder");
        assert_eq!(found("home/work/repo/src/deep"), Some(path("home/work/repo/src/.memory")));
        assert_eq!(found("home/work/repo"), Some(path("home/work/repo/.memory")));
        assert_eq!((found("home"), found("home/work")), (None, Some(path("home/work/.memory"))));
        assert_eq!(found("home/loose/sub"), Some(path("home/loose/sub/.memory")));
        std::os::unix::fs::symlink(path("home/work"), path("home/loose/.memory")).expect("a link");
        assert_eq!(found("home/loose"), None);
    }
}
