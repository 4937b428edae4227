//! Locations of the bank folders, and construction of the bank services.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_core::PrincipalAccess;
use memory_core::bank::{BankScope, BankStore, Banks};
use memory_store::bank::{BankFolder, BankOptions, JsonSchemaValidator};
use memory_store::postgres::Database;
use memory_store::{RandomIds, SharedFolderId};

use crate::config::{Settings, SettingsLayer};
use crate::failure::Failure;
use crate::jq_process::JqRunner;
use crate::project::{ancestors_in_repository, check_marked, find_repository, is_folder, is_home};
use crate::shared_store::{PULL_INTERVAL, find_database, principal_folder};

/// Opens the banks of the user and those of the project around the current folder.
pub(crate) fn open(settings: &Settings, actor: &str) -> Result<Banks, Failure> {
    Ok(of(
        &BankLocations::of(settings),
        settings,
        find_database(settings)?.as_ref(),
        actor,
    ))
}

/// Opens the user's own banks as a replica of those in a database.
pub(crate) fn open_shared(settings: &Settings, database: Arc<Database>) -> BankFolder {
    let folder = SharedFolderId::global(FOLDER_NAME);
    BankFolder::open_replica(
        own_folder(settings),
        options(settings),
        database,
        folder,
        PULL_INTERVAL,
    )
}

/// Opens the banks of a principal as a replica of those in the database, on a node that has all rows.
pub(crate) fn open_of_principal(
    settings: &Settings,
    database: &Arc<Database>,
    principal: &PrincipalAccess,
) -> Banks {
    let root = principal_folder(settings, principal).join(FOLDER_NAME);
    let folder = SharedFolderId {
        scope: principal.private_scope().to_string(),
        name: FOLDER_NAME.into(),
    };
    let banks = BankFolder::open_replica(
        &root,
        options(settings),
        Arc::clone(database),
        folder,
        PULL_INTERVAL,
    );
    Banks {
        user: Arc::new(banks),
        ..open_folder(root, settings, &principal.name)
    }
}

fn options(settings: &Settings) -> BankOptions {
    BankOptions {
        compress_above: settings.banks.compress_above.value,
        ..BankOptions::default()
    }
}

/// Opens the banks in one folder, with user scope.
pub(crate) fn open_folder(folder: PathBuf, settings: &Settings, actor: &str) -> Banks {
    of(
        &BankLocations {
            user: vec![folder],
            project: Vec::new(),
            new_project: None,
        },
        settings,
        None,
        actor,
    )
}

/// Returns the folders that [`open`] uses, project before user, whether or not they exist.
pub(crate) fn bank_folders(settings: &Settings) -> Vec<PathBuf> {
    let BankLocations {
        user,
        project,
        new_project,
    } = BankLocations::of(settings);
    let project = project.into_iter().map(|place| match place {
        ProjectBankLocation::Folder(place) | ProjectBankLocation::Symlink(place) => place,
    });
    project.chain(new_project).chain(user).collect()
}

/// Returns the banks in these folders; the user's own ones are a replica of those in the database, if there is one.
fn of(
    places: &BankLocations,
    settings: &Settings,
    database: Option<&Arc<Database>>,
    actor: &str,
) -> Banks {
    let (options, own) = (options(settings), own_folder(settings));
    let store = |root: &PathBuf| -> Arc<dyn BankStore> {
        match database {
            Some(database) if *root == own => Arc::new(open_shared(settings, Arc::clone(database))),
            _ => Arc::new(BankFolder::new(root, options)),
        }
    };
    let in_project = BankOptions {
        is_in_project: true,
        ..options
    };
    let project_store =
        |root: &PathBuf| -> Arc<dyn BankStore> { Arc::new(BankFolder::new(root, in_project)) };
    let of_project = |place: &ProjectBankLocation| -> Arc<dyn BankStore> {
        match place {
            ProjectBankLocation::Folder(folder) => project_store(folder),
            ProjectBankLocation::Symlink(link) => {
                Arc::new(BankFolder::behind_symlink(link.clone(), options))
            }
        }
    };
    let further_user = places
        .user
        .iter()
        .skip(1)
        .map(|folder| (BankScope::User, store(folder)));
    let further_project = places
        .project
        .iter()
        .skip(1)
        .map(|place| (BankScope::Project, of_project(place)));
    Banks {
        user: store(&places.user[0]),
        project: places.project.first().map(of_project),
        further: further_project.chain(further_user).collect(),
        new_project: places.new_project.as_ref().map(project_store),
        filter: Arc::new(JqRunner::of(settings)),
        schemas: Arc::new(JsonSchemaValidator),
        limits: options.limits,
        clock: settings.clock(),
        ids: Arc::new(RandomIds),
        actor: actor.to_owned(),
    }
}

/// Name of the user's bank folder in the home, and in the database.
const FOLDER_NAME: &str = "banks";

fn own_folder(settings: &Settings) -> PathBuf {
    settings.root.value.join(FOLDER_NAME)
}

/// The folders of the banks, in order of precedence.
#[derive(Debug, PartialEq, Eq)]
struct BankLocations {
    /// At least one folder.
    user: Vec<PathBuf>,
    project: Vec<ProjectBankLocation>,
    new_project: Option<PathBuf>,
}

/// The location of project banks.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ProjectBankLocation {
    Folder(PathBuf),
    /// A symlink in place of the folder, which might point outside the project.
    Symlink(PathBuf),
}

impl BankLocations {
    fn of(settings: &Settings) -> Self {
        let own = own_folder(settings);
        let environment = &settings.environment;
        let config = environment
            .config_folder
            .clone()
            .or_else(|| Some(environment.home.as_ref()?.join(".config")));
        let peer = config.map(|config| config.join("slop-mcp/memory"));
        // An explicitly configured home is used alone.
        let peer =
            peer.filter(|peer| settings.root.from == SettingsLayer::Default && peer.is_dir());
        let user = match peer {
            // Another machine may have written the shared banks.
            Some(peer) if settings.store.value.is_some() => vec![own.clone(), peer],
            Some(peer) if own.is_dir() => vec![peer, own.clone()],
            Some(peer) => vec![peer],
            None => vec![own.clone()],
        };
        let folder = environment.folder.as_deref();
        let project = folder
            .map(|folder| project_locations(folder, &settings.root.value))
            .unwrap_or_default();
        let new_project = folder.map(|folder| {
            find_marked_folder(folder).unwrap_or_else(|| find_repository(folder).unwrap_or(folder))
        });
        // In the user's home folder this would be the folder of the user's banks.
        let new_project = new_project
            .map(|root| root.join(".memory"))
            .filter(|folder| !is_home(folder));
        let new_project = new_project
            .map(|folder| folder.join("banks"))
            .filter(|project| *project != own);
        Self {
            user,
            project,
            new_project,
        }
    }
}

/// Returns the bank folders of the project around `folder` up to the repository's root, nearest first.
///
/// In the same parent folder, those of slop-mcp come before those in `.memory`. A home of memories is not a project. A
/// `.memory` folder without banks is skipped, because it may hold only topics.
fn project_locations(folder: &Path, home: &Path) -> Vec<ProjectBankLocation> {
    let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    let is_home = |path: &Path| is_home(path) || path.canonicalize().is_ok_and(|path| path == home);
    let mut places = Vec::new();
    for folder in ancestors_in_repository(folder) {
        let (own, peer) = (folder.join(".memory"), folder.join(".slop-mcp"));
        if check_marked(&own).is_err() || check_marked(&peer).is_err() {
            continue;
        }
        let has_own = !is_home(&own)
            && (own.is_symlink()
                || is_folder(&own.join("banks"))
                || own.join("banks").is_symlink());
        let theirs = location_in(&peer, "memory")
            .filter(|_| is_folder(&peer.join("memory")) || !has_own || peer.is_symlink());
        places.extend(theirs);
        places.extend(location_in(&own, "banks").filter(|_| has_own));
    }
    places
}

/// Returns the folder `name` in `parent`, or a symlink on that path; `None` if `parent` does not exist.
fn location_in(parent: &Path, name: &str) -> Option<ProjectBankLocation> {
    let folder = parent.join(name);
    let link = [parent, &folder]
        .into_iter()
        .find(|path| path.is_symlink())
        .map(|link| ProjectBankLocation::Symlink(link.to_owned()));
    link.or_else(|| is_folder(parent).then_some(ProjectBankLocation::Folder(folder)))
}

/// Returns the nearest folder at or above `folder` that has a `.memory` folder.
fn find_marked_folder(folder: &Path) -> Option<&Path> {
    let is_marked =
        |folder: &Path| is_folder(&folder.join(".memory")) && !is_home(&folder.join(".memory"));
    ancestors_in_repository(folder).find(|folder| is_marked(folder))
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
        for folder in [
            "home/.memory",
            "home/work/repo/.git",
            "home/work/repo/src/deep",
            "home/work/.memory",
            "home/loose/sub",
        ] {
            create_dir_all(path(folder)).expect("a folder");
        }
        let found = |folder: &str| project_locations(&path(folder), &home);
        let at = |places: &[&str]| {
            places
                .iter()
                .map(|place| ProjectBankLocation::Folder(path(place)))
                .collect::<Vec<_>>()
        };
        // Folders above the repository do not belong to it, and a folder of topics has no banks.
        create_dir_all(path("home/work/.memory/banks")).expect("a folder");
        create_dir_all(path("home/work/repo/.memory")).expect("a folder");
        assert_eq!(found("home/work/repo/src/deep"), []);
        create_dir_all(path("home/work/repo/.memory/banks")).expect("a folder");
        assert_eq!(
            found("home/work/repo/src/deep"),
            at(&["home/work/repo/.memory/banks"])
        );
        create_dir_all(path("home/work/repo/src/.slop-mcp")).expect("a folder");
        let both = [
            "home/work/repo/src/.slop-mcp/memory",
            "home/work/repo/.memory/banks",
        ];
        assert_eq!(
            found("home/work/repo/src/deep"),
            at(&both),
            "a value of the same shape as before is still found"
        );
        create_dir_all(path("home/work/repo/src/.memory/banks")).expect("a folder");
        let own = [
            "home/work/repo/src/.memory/banks",
            "home/work/repo/.memory/banks",
        ];
        assert_eq!(
            found("home/work/repo/src/deep"),
            at(&own),
            "slop-mcp has no banks there yet"
        );
        create_dir_all(path("home/work/repo/src/.slop-mcp/memory")).expect("a folder");
        let all = [
            "home/work/repo/src/.slop-mcp/memory",
            "home/work/repo/src/.memory/banks",
            "home/work/repo/.memory/banks",
        ];
        assert_eq!(found("home/work/repo/src/deep"), at(&all));
        // Another home is not a project either.
        create_dir_all(path("home/other/.memory/banks")).expect("a folder");
        std::fs::write(path("home/other/.memory/replica.json"), "{}").expect("a file");
        assert_eq!(
            (found("home/other"), find_marked_folder(&path("home/other"))),
            (vec![], None)
        );
        // The user's home is not a project, and without a repository only the folder itself is used.
        assert_eq!(found("home"), []);
        assert_eq!(found("home/work"), at(&["home/work/.memory/banks"]));
        create_dir_all(path("home/loose/.memory/banks")).expect("a folder");
        assert_eq!(
            (found("home/loose/sub"), found("home/loose")),
            (vec![], at(&["home/loose/.memory/banks"]))
        );
    }

    #[test]
    fn a_symlink_in_the_place_of_a_folder_is_named() {
        let base = tempfile::tempdir().expect("a folder");
        let path = |path: &str| base.path().join(path);
        create_dir_all(path("elsewhere/banks")).expect("a folder");
        for link in [".memory", ".slop-mcp", ".memory/banks", ".slop-mcp/memory"] {
            let folder = path(&format!("{}/repo", link.replace('/', "-")));
            create_dir_all(folder.join(".git")).expect("a folder");
            create_dir_all(folder.join(link).parent().expect("it has one")).expect("a folder");
            std::os::unix::fs::symlink(path("elsewhere"), folder.join(link)).expect("a link");
            assert_eq!(
                project_locations(&folder, &path("home")),
                [ProjectBankLocation::Symlink(folder.join(link))],
                "{link}"
            );
        }
    }
}
