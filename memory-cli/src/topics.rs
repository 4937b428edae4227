//! Locations of the topic folders, and construction of the topic services.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_agent::mcp::{FoundProject, ProjectFinder};
use memory_core::instance::InstanceError;
use memory_core::text::to_one_line;
use memory_core::topic::{TopicError, TopicStore, Topics, external_operation};
use memory_core::{Code, OperationId, PrincipalAccess, Scope, ToolError};
use memory_store::postgres::{Database, list_shared_folders};
use memory_store::topic::TopicFolder;
use memory_store::{RandomIds, SharedFolderId, SystemClock, TOPIC_FOLDERS};

use crate::config::Settings;
use crate::failure::Failure;
use crate::project::{HomeProjects, check_marked, find_repository, is_folder, is_home};
use crate::shared_store::{PULL_INTERVAL, find_database};

/// Opens the topics in `named`, or else those of the project around the current folder.
///
/// Returns `None` if there is no such folder and none may be created.
pub(crate) fn open(
    settings: &Settings,
    named: Option<&Path>,
    actor: &str,
) -> Result<Option<Topics>, Failure> {
    let root = match named {
        Some(named) => Some(check_folder(
            settings.environment.absolute_path(named),
            &settings.root.value,
        )?),
        None => project_folder(settings),
    };
    let shared = if named.is_none() {
        project_in_home(settings, root.as_deref())?
    } else {
        None
    };
    let database = if shared.is_some() {
        find_database(settings)?
    } else {
        None
    };
    let store = match (shared, database, root) {
        (Some(project), Some(database), _) => open_shared(settings, &project, database),
        // The home was shared before.
        (Some(project), None, _) => TopicFolder::new(folder_in_home(settings, &project)),
        (None, _, Some(root)) if named.is_some() => TopicFolder::new(root),
        (None, _, Some(root)) => TopicFolder::in_project(root),
        (None, _, None) => return Ok(None),
    };
    let clock = settings.clock();
    Ok(Some(Topics {
        store: Arc::new(store.in_zone(clock.zone())),
        clock,
        ids: Arc::new(RandomIds),
        actor: actor.to_owned(),
    }))
}

/// Returns the project of the current folder, if its topics are in the home: in one that is shared, or was shared before.
///
/// `own` is the folder of the project. Topics in it belong to the repository, and are not shared.
///
/// # Errors
/// If the project is not confirmed.
fn project_in_home(settings: &Settings, own: Option<&Path>) -> Result<Option<String>, Failure> {
    let is_shared = settings.store.value.is_some();
    let topics = settings.root.value.join(TOPIC_FOLDERS);
    let folder = settings.environment.folder.as_deref();
    let (Some(folder), true) = (folder, is_shared || topics.is_dir()) else {
        return Ok(None);
    };
    if own.is_none_or(holds_topics) {
        return Ok(None);
    }
    match HomeProjects::new(&Arc::new(settings.clone())).find_project(folder) {
        FoundProject::Named(project) => {
            let is_in_home = is_shared || folder_in_home(settings, &project).is_dir();
            Ok(is_in_home.then_some(project))
        }
        FoundProject::None => Ok(None),
        FoundProject::Withheld(why) => Err(ToolError::new(Code::ScopeRefused, why, None).into()),
    }
}

/// Returns the folder of the topics of a project in the home.
fn folder_in_home(settings: &Settings, project: &str) -> PathBuf {
    settings.root.value.join(TOPIC_FOLDERS).join(project)
}

/// Opens the topics of a project in the home, if there are any.
pub(crate) fn open_in_home(settings: &Settings, project: &str, actor: &str) -> Option<Topics> {
    // The name of a scope may be that of a folder elsewhere.
    let is_plain = !project.is_empty()
        && !project.starts_with('.')
        && !project.contains(['/', '\\'])
        && Path::new(project).is_relative();
    let folder = folder_in_home(settings, project);
    if !is_plain || !is_folder(&folder) {
        return None;
    }
    let clock = settings.clock();
    Some(Topics {
        store: Arc::new(TopicFolder::new(folder).in_zone(clock.zone())),
        clock,
        ids: Arc::new(RandomIds),
        actor: actor.to_owned(),
    })
}

/// Returns whether the home has topics of a project, or its database if it is shared.
pub(crate) fn has_topics_in_home(settings: &Settings, project: &str) -> Result<bool, Failure> {
    if folder_in_home(settings, project).is_dir() {
        return Ok(true);
    }
    let Some(database) = find_database(settings)? else {
        return Ok(false);
    };
    let name = format!("{TOPIC_FOLDERS}/{project}");
    let shared = list_shared_folders(database)?;
    Ok(shared.iter().any(|folder| folder.name == name))
}

/// Opens the topics of a project in a database, with a replica in the home.
fn open_shared(settings: &Settings, project: &str, database: Arc<Database>) -> TopicFolder {
    // Those of all projects that a principal was not granted have one scope.
    let name = format!("{TOPIC_FOLDERS}/{project}");
    let folder = SharedFolderId {
        scope: Scope::Project(project.to_owned()).to_string(),
        name,
    };
    TopicFolder::open_replica(
        folder_in_home(settings, project),
        database,
        folder,
        PULL_INTERVAL,
    )
}

/// Fetches the topics of all projects from the database into the home of `principal`, if it has a token.
pub(crate) fn fetch_all(
    settings: &Settings,
    database: &Arc<Database>,
    principal: Option<&PrincipalAccess>,
) -> Result<(), Failure> {
    for SharedFolderId { scope, name } in list_shared_folders(Arc::clone(database))? {
        let Some(project) = name
            .strip_prefix(TOPIC_FOLDERS)
            .and_then(|name| name.strip_prefix('/'))
        else {
            continue;
        };
        // The names in a database may be from other programs.
        if project.is_empty() || project.starts_with('.') || project.contains('/') {
            continue;
        }
        let scope: Scope = scope.parse()?;
        // The private topics of other principals are in no folder of this home.
        if scope == Scope::Project(project.to_owned())
            || principal.is_some_and(|own| own.private_scope() == scope)
        {
            open_shared(settings, project, Arc::clone(database)).topics()?;
        }
    }
    Ok(())
}

/// Copies the topics of all projects in the home at `from` into the database.
pub(crate) fn copy_all(
    settings: &Settings,
    from: &Path,
    database: &Arc<Database>,
) -> Result<(), Failure> {
    let Ok(entries) = from.join(TOPIC_FOLDERS).read_dir() else {
        return Ok(());
    };
    for entry in entries.flatten().filter(|entry| is_folder(&entry.path())) {
        if let Some(project) = entry.file_name().to_str() {
            let topics = open_shared(settings, project, Arc::clone(database));
            topics.copy_files(&entry.path())?;
            topics.topics()?;
        }
    }
    Ok(())
}

/// Starts to watch a topic folder for changes by other programs; in a watched folder, records them.
pub(crate) fn watch(folder: &Path) -> Result<(), Failure> {
    Ok(TopicFolder::new(folder).watch(&mut || external_operation(&SystemClock, &RandomIds))?)
}

/// Records the last changes by other programs, and stops watching a topic folder.
pub(crate) fn unwatch(folder: &Path) -> Result<(), Failure> {
    Ok(TopicFolder::new(folder).unwatch(&mut || external_operation(&SystemClock, &RandomIds))?)
}

/// Returns an error if a topic folder does not exist.
pub(crate) fn check_exists(settings: &Settings, dir: &Path) -> Result<(), Failure> {
    let folder = settings.environment.absolute_path(dir);
    if folder.exists() {
        Ok(())
    } else {
        Err(TopicError::NoFolder {
            place: folder.display().to_string(),
        }
        .into())
    }
}

/// Returns the error for missing topics, for a command with `--dir`.
pub(crate) fn no_topics_error(settings: &Settings) -> Failure {
    let (why, is_link) = missing_reason(settings);
    Failure::usage(
        why,
        if is_link {
            "specify the target folder with --dir"
        } else {
            "change to a project folder, or specify a folder with --dir"
        },
    )
}

/// Returns the error for an unusable instance `topic/default`.
pub(crate) fn no_instance_error(settings: &Settings) -> InstanceError {
    let (why, _) = missing_reason(settings);
    InstanceError::invalid(
        why,
        "start it in a project folder, or use a topic instance with the field dir",
    )
}

/// Returns why there is no topic folder, and whether a symlink is the reason.
fn missing_reason(settings: &Settings) -> (String, bool) {
    match locate(settings) {
        TopicLocation::Link(link) => (
            format!(
                "{} is a symlink, which may point outside the project",
                link.display()
            ),
            true,
        ),
        TopicLocation::At(_) | TopicLocation::Nowhere => {
            ("the current folder is not in a project".to_owned(), false)
        }
    }
}

/// Returns the error for `--tools` without an available tool.
pub(crate) fn no_tools_error(settings: &Settings) -> Failure {
    let (mut why, is_link) = missing_reason(settings);
    if !is_link {
        let folder = settings
            .environment
            .folder
            .as_deref()
            .map(|folder| folder.display().to_string());
        why = format!(
            "{} is not in a project",
            folder.as_deref().unwrap_or("this folder")
        );
    }
    Failure::usage(
        format!("--tools selects only topic tools, but there is no topic folder: {why}"),
        "specify a folder with --topics, start it in a project, or select other tools as well",
    )
}

/// Returns the topic folder of the project, or `None` if there is none and none may be created.
pub(crate) fn project_folder(settings: &Settings) -> Option<PathBuf> {
    match locate(settings) {
        TopicLocation::At(folder) => Some(folder),
        TopicLocation::Nowhere | TopicLocation::Link(_) => None,
    }
}

/// Returns the command that undoes an operation on the topics in `dir`, or the last operation.
pub(crate) fn undo_command(operation: Option<&OperationId>, dir: Option<&Path>) -> String {
    let operation = operation
        .map(|operation| format!(" {operation}"))
        .unwrap_or_default();
    let dir = dir
        .map(|dir| {
            format!(
                " --dir {}",
                shell_quoted(&to_one_line(&dir.to_string_lossy(), usize::MAX))
            )
        })
        .unwrap_or_default();
    format!("memory undo{operation}{dir}")
}

/// Returns a path quoted for a shell.
pub(crate) fn shell_quoted(path: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-~+,@%".contains(letter);
    if !path.is_empty() && path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

/// Checks a topic folder. The home is invalid because its files are memories, as are folders of git.
fn check_folder(folder: PathBuf, home: &Path) -> Result<PathBuf, Failure> {
    let whole = resolve_existing(&folder);
    if whole.starts_with(self::resolve_existing(home)) {
        let is_home = if whole == self::resolve_existing(home) {
            "is"
        } else {
            "is in"
        };
        return Err(Failure::usage(
            format!("{} {is_home} the home of the memories", folder.display()),
            "specify another folder with --dir",
        ));
    }
    if whole.components().any(|part| part.as_os_str() == ".git") {
        return Err(Failure::usage(
            format!("{} belongs to git", folder.display()),
            "specify another folder with --dir",
        ));
    }
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::usage(
            format!("{} is not a folder", folder.display()),
            "specify a folder with --dir",
        ));
    }
    Ok(folder)
}

/// Returns the path without symlinks, as far as it exists.
fn resolve_existing(path: &Path) -> PathBuf {
    for there in path.ancestors() {
        if let (Ok(whole), Ok(rest)) = (there.canonicalize(), path.strip_prefix(there)) {
            return if rest.as_os_str().is_empty() {
                whole
            } else {
                whole.join(rest)
            };
        }
    }
    path.to_owned()
}

/// The location of a project's topics.
#[derive(Debug, PartialEq, Eq)]
enum TopicLocation {
    /// An existing folder, or one to create.
    At(PathBuf),
    /// A symlink in place of the folder, which might point anywhere.
    Link(PathBuf),
    /// There is no project.
    Nowhere,
}

fn locate(settings: &Settings) -> TopicLocation {
    let environment = &settings.environment;
    environment
        .folder
        .as_deref()
        .map_or(TopicLocation::Nowhere, |folder| {
            locate_in_project(folder, &settings.root.value, environment.home.as_deref())
        })
}

/// Returns the topic folder of the project around `folder`.
///
/// It is the nearest `.memory` up to the repository's root, or else a new one in that root. Without a repository it is
/// the nearest one that holds topics, up to the user's home folder or the root of the file system. A home of memories
/// is not a project.
fn locate_in_project(folder: &Path, home: &Path, person: Option<&Path>) -> TopicLocation {
    let (repository, home) = (find_repository(folder), resolve_existing(home));
    if resolve_existing(folder).starts_with(&home)
        || folder.components().any(|part| part.as_os_str() == ".git")
    {
        return TopicLocation::Nowhere;
    }
    let is_within = |around: &&Path| match repository {
        Some(root) => around.starts_with(root),
        None => person.is_none_or(|person| *around != person),
    };
    let own = |around: &Path| {
        let place = if around.ends_with(FOLDER_NAME) {
            around.to_owned()
        } else {
            around.join(FOLDER_NAME)
        };
        (is_folder(&place) && resolve_existing(&place) != home && !is_home(&place)).then_some(place)
    };
    let is_meant = |place: &PathBuf| {
        let is_here =
            repository.is_some() || folder.starts_with(place) || place.parent() == Some(folder);
        is_here || (holds_topics(place) && check_marked(place).is_ok())
    };
    if let Some(found) = folder
        .ancestors()
        .take_while(is_within)
        .filter_map(own)
        .find(is_meant)
    {
        return TopicLocation::At(found);
    }
    let new = repository.unwrap_or(folder).join(FOLDER_NAME);
    // Content of a repository must not lead outside of it. In the user's home folder this would be the memories' home.
    if resolve_existing(&new) == home || is_home(&new) {
        TopicLocation::Nowhere
    } else if new.is_symlink() {
        TopicLocation::Link(new)
    } else {
        TopicLocation::At(new)
    }
}

/// Name of the topic folder of a project.
const FOLDER_NAME: &str = ".memory";

/// Returns whether a folder contains a topic or an index.
fn holds_topics(folder: &Path) -> bool {
    let is_topic = |entry: std::fs::DirEntry| {
        entry
            .path()
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("md"))
    };
    folder
        .read_dir()
        .is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(is_topic)))
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_topics_are_in_the_nearest_folder_up_to_the_root_of_the_repository() {
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
        let found = |folder: &str| locate_in_project(&path(folder), &home, Some(&path("home")));
        let at = |folder: &str| TopicLocation::At(path(folder));
        assert_eq!(
            found("home/work/repo/src/deep"),
            at("home/work/repo/.memory"),
            "it is made at the root"
        );
        create_dir_all(path("home/work/repo/src/.memory")).expect("a folder");
        assert_eq!(
            found("home/work/repo/src/deep"),
            at("home/work/repo/src/.memory")
        );
        assert_eq!(
            found("home/work/repo/src/.memory"),
            at("home/work/repo/src/.memory")
        );
        assert_eq!(found("home/work/repo"), at("home/work/repo/.memory"));
        assert_eq!(
            (found("home"), found("home/work")),
            (TopicLocation::Nowhere, at("home/work/.memory"))
        );
        create_dir_all(path("home/other/.memory/categories")).expect("a folder");
        assert_eq!(
            found("home/other"),
            TopicLocation::Nowhere,
            "another home is not a project"
        );
        assert_eq!(
            (found("home/.memory"), found("home/.memory/banks")),
            (TopicLocation::Nowhere, TopicLocation::Nowhere)
        );
        assert_eq!(found("home/work/repo/.git/hooks"), TopicLocation::Nowhere);
        symlink(path("home/work"), path("home/loose/.memory")).expect("a link");
        assert_eq!(
            found("home/loose"),
            TopicLocation::Link(path("home/loose/.memory"))
        );
    }

    #[test]
    fn without_a_repository_topics_that_are_there_are_found_upwards() {
        let base = tempfile::tempdir().expect("a folder");
        let path = |path: &str| base.path().join(path);
        let home = path("home/.memory");
        for folder in [
            "home/.memory",
            "home/loose/.memory/deep",
            "home/loose/a/.memory/banks",
            "home/loose/a/b",
            ".memory",
            "other",
        ] {
            create_dir_all(path(folder)).expect("a folder");
        }
        let found = |folder: &str| locate_in_project(&path(folder), &home, Some(&path("home")));
        let at = |folder: &str| TopicLocation::At(path(folder));
        assert_eq!(
            found("home/loose/a/b"),
            at("home/loose/a/b/.memory"),
            "nothing above is a folder of topics"
        );
        write(path("home/loose/.memory/a.md"), "x").expect("a file");
        assert_eq!(found("home/loose/a/b"), at("home/loose/.memory"));
        assert_eq!(found("home/loose/a"), at("home/loose/a/.memory"));
        assert_eq!(
            found("home/loose/.memory/deep"),
            at("home/loose/.memory"),
            "who stands within means it"
        );
        write(path(".memory/MEMORY.md"), "x").expect("a file");
        create_dir_all(path("home/new")).expect("a folder");
        assert_eq!(
            found("home/new"),
            at("home/new/.memory"),
            "above the home folder it is somebody else's"
        );
        assert_eq!(found("other"), at(".memory"));
    }

    #[test]
    fn a_folder_that_is_kept_by_others_is_refused() {
        let base = tempfile::tempdir().expect("a folder");
        let path = |path: &str| base.path().join(path);
        create_dir_all(path("home/.memory/banks")).expect("a folder");
        symlink(path("home/.memory"), path("link")).expect("a link");
        let refused = |folder: &str| check_folder(path(folder), &path("home/.memory")).is_err();
        for folder in [
            "home/.memory",
            "home/.memory/banks",
            "home/.memory/new/deep",
            "link",
            "link/new",
            "repo/.git",
            "repo/.git/topics",
        ] {
            assert!(refused(folder), "{folder}");
        }
        assert!(!refused("home/.memory2") && !refused("new/folder"));
    }

    #[test]
    fn the_way_back_names_the_folder_as_a_shell_reads_it() {
        let command = |dir: &str| undo_command(None, Some(Path::new(dir)));
        assert_eq!(command("notes/a-b.c"), "memory undo --dir notes/a-b.c");
        assert_eq!(command("my notes"), "memory undo --dir 'my notes'");
        assert_eq!(command("it's"), "memory undo --dir 'it'\\''s'");
        assert_eq!(undo_command(None, None), "memory undo");
    }
}
