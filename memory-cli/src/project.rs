//! Discovery of the project around a folder.

use std::path::Path;

use memory_core::ParseError;
use memory_store::{ForeignFolder, check_owner};

/// Returns the name of the git repository that contains a folder, as the project of the folder.
pub(crate) fn project_name(folder: &Path) -> Option<String> {
    parse_project(find_repository(folder)?.file_name()?.to_str()?).ok()
}

/// Parses the name of a project.
pub(crate) fn parse_project(text: &str) -> Result<String, ParseError> {
    let name = text.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(ParseError::new(text, "a project name"));
    }
    Ok(name.to_owned())
}

/// Returns whether the path is a folder and not a symlink.
///
/// Content of a repository must not lead outside of it.
pub(crate) fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Files and folders that only a home of memories has.
const HOME_MARKS: [&str; 3] = ["categories", "config.yaml", "replica.json"];

/// Returns whether a folder is a home of memories, which is not the folder of a project.
pub(crate) fn is_home(folder: &Path) -> bool {
    HOME_MARKS.iter().any(|mark| folder.join(mark).exists())
}

/// Returns the root of the repository that contains `folder`; `None` if other users can change it.
pub(crate) fn find_repository(folder: &Path) -> Option<&Path> {
    nearest_repository(folder).filter(|root| check_repository(root).is_ok())
}

fn nearest_repository(folder: &Path) -> Option<&Path> {
    folder
        .ancestors()
        .find(|folder| folder.join(".git").exists())
}

fn check_repository(root: &Path) -> Result<(), ForeignFolder> {
    check_owner(root)?;
    check_owner(&root.join(".git"))
}

/// Checks that only this user can change a folder of a project and its marker, such as `.memory`.
pub(crate) fn check_marked(marker: &Path) -> Result<(), ForeignFolder> {
    marker.parent().map_or(Ok(()), check_owner)?;
    check_owner(marker)
}

/// Returns why the project around `folder` is not used although it exists, if so.
pub(crate) fn find_foreign_project(folder: &Path) -> Option<ForeignFolder> {
    match nearest_repository(folder) {
        Some(root) => check_repository(root).err(),
        None => [".memory", ".slop-mcp"]
            .map(|marker| folder.join(marker))
            .into_iter()
            .filter(|marker| marker.exists() && !is_home(marker))
            .find_map(|marker| check_marked(&marker).err()),
    }
}

/// Returns `folder` and its ancestors up to the repository's root; only `folder` without a repository.
pub(crate) fn ancestors_in_repository(folder: &Path) -> impl Iterator<Item = &Path> {
    let end = find_repository(folder).unwrap_or(folder);
    folder
        .ancestors()
        .take_while(move |folder| folder.starts_with(end))
}
