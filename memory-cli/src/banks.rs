//! Where banks are, and putting their parts together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_core::bank::{BankStore, Banks};
use memory_store::bank::{BankFolder, BankOptions, JsonSchemas};
use memory_store::{RandomIds, SystemClock};

use crate::config::{Environment, Layer, Settings};
use crate::filtering::Filters;

/// Opens the banks of the user, and those of the project around the folder in which the program was started.
pub(crate) fn open(settings: &Settings, environment: &Environment, actor: &str) -> Banks {
    of(&Places::of(settings, environment), settings, environment, actor)
}

/// Opens the banks in one folder, which are the user's.
pub(crate) fn in_folder(folder: PathBuf, settings: &Settings, environment: &Environment, actor: &str) -> Banks {
    of(&Places { user: folder, project: None, new_project: None }, settings, environment, actor)
}

fn of(places: &Places, settings: &Settings, environment: &Environment, actor: &str) -> Banks {
    let options = BankOptions { compress_above: settings.banks.compress_above.value, ..BankOptions::default() };
    let store = |root: &PathBuf| -> Arc<dyn BankStore> { Arc::new(BankFolder::new(root, options)) };
    Banks {
        user: store(&places.user),
        project: places.project.as_ref().map(store),
        new_project: places.new_project.as_ref().map(store),
        filter: Arc::new(Filters::of(settings, environment)),
        schemas: Arc::new(JsonSchemas),
        limits: options.limits,
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
        actor: actor.to_owned(),
    }
}

/// The folders of banks.
#[derive(Debug, PartialEq, Eq)]
struct Places {
    user: PathBuf,
    project: Option<PathBuf>,
    new_project: Option<PathBuf>,
}

impl Places {
    fn of(settings: &Settings, environment: &Environment) -> Self {
        let own = settings.root.value.join("banks");
        let config = environment.config_folder.clone().or_else(|| Some(environment.home.as_ref()?.join(".config")));
        let peer = config.map(|config| config.join("slop-mcp/memory"));
        // Whoever names a home means that home.
        let user = peer.filter(|peer| settings.root.from == Layer::Default && peer.is_dir()).unwrap_or(own);
        let folder = environment.folder.as_deref();
        let project = folder.and_then(|folder| project(folder, &settings.root.value));
        let new_project = folder.map(|folder| repository(folder).unwrap_or(folder).join(".memory/banks"));
        // In the person's home folder that would be their own banks under another name.
        let new_project = new_project.filter(|project| *project != settings.root.value.join("banks"));
        Self { user, project, new_project }
    }
}

/// Returns the folder of the banks of the project around `folder`, if one stands there or above it, up to the repository's root. The
/// memories' home itself is no project.
fn project(folder: &Path, home: &Path) -> Option<PathBuf> {
    let end = repository(folder).unwrap_or(folder);
    let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    for folder in folder.ancestors() {
        let (own, peer) = (folder.join(".memory"), folder.join(".slop-mcp"));
        let has_own = is_folder(&own) && own.canonicalize().is_ok_and(|own| own != home) && !own.join("banks").is_symlink();
        let (theirs, has_peer) = (peer.join("memory"), is_folder(&peer));
        if has_peer && (is_folder(&theirs) || (!has_own && !theirs.is_symlink())) {
            return Some(theirs);
        }
        if has_own {
            return Some(own.join("banks"));
        }
        if folder == end {
            break;
        }
    }
    None
}

/// Tells whether a folder is there, and no symlink: what a repository brings along must not lead out of it.
pub(crate) fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Returns the root of the repository around `folder`.
pub(crate) fn repository(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

#[cfg(test)]
mod tests {
    use std::fs::create_dir_all;

    use super::*;

    #[test]
    fn the_project_is_the_nearest_marked_folder_up_to_the_root_of_the_repository() {
        let base = tempfile::tempdir().expect("a folder");
        let path = |path: &str| base.path().join(path);
        let home = path("home/.memory");
        for folder in ["home/.memory", "home/work/repo/.git", "home/work/repo/src/deep", "home/work/.memory", "home/loose/sub"] {
            create_dir_all(path(folder)).expect("a folder");
        }
        let found = |folder: &str| project(&path(folder), &home);
        // What stands above the repository is another's.
        assert_eq!(found("home/work/repo/src/deep"), None);
        create_dir_all(path("home/work/repo/.memory")).expect("a folder");
        assert_eq!(found("home/work/repo/src/deep"), Some(path("home/work/repo/.memory/banks")));
        create_dir_all(path("home/work/repo/src/.slop-mcp")).expect("a folder");
        assert_eq!(found("home/work/repo/src/deep"), Some(path("home/work/repo/src/.slop-mcp/memory")));
        create_dir_all(path("home/work/repo/src/.memory")).expect("a folder");
        assert_eq!(found("home/work/repo/src/deep"), Some(path("home/work/repo/src/.memory/banks")));
        create_dir_all(path("home/work/repo/src/.slop-mcp/memory")).expect("a folder");
        assert_eq!(found("home/work/repo/src/deep"), Some(path("home/work/repo/src/.slop-mcp/memory")));
        // The user's own home is no project, and without a repository only the folder itself counts.
        assert_eq!(found("home"), None);
        assert_eq!(found("home/work"), Some(path("home/work/.memory/banks")));
        create_dir_all(path("home/loose/.memory")).expect("a folder");
        assert_eq!((found("home/loose/sub"), found("home/loose")), (None, Some(path("home/loose/.memory/banks"))));
    }
}
