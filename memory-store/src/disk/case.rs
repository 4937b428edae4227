//! Detects names that are equal on a case-insensitive file system.

use std::io;

use super::Disk;

/// Returns the name on disk of the first component of `path` that has another case there.
///
/// Returns `None` if there is no such component, which is always so on case-sensitive file systems.
pub(crate) fn find_case_variant(disk: &dyn Disk, path: &str) -> io::Result<Option<String>> {
    let inode = |path: &str| Ok(disk.stat(path)?.map(|found| found.inode));
    let names = |folder: &str| {
        Ok(disk
            .list_folder(folder)?
            .into_iter()
            .map(|entry| entry.name)
            .collect())
    };
    find_name_variant(path, &inode, &names)
}

fn find_name_variant(
    path: &str,
    inode: &dyn Fn(&str) -> io::Result<Option<u64>>,
    names: &dyn Fn(&str) -> io::Result<Vec<String>>,
) -> io::Result<Option<String>> {
    let ends = path
        .match_indices('/')
        .map(|(at, _)| at)
        .chain([path.len()]);
    for whole in ends.map(|end| &path[..end]) {
        let (folder, name) = whole.rsplit_once('/').unwrap_or(("", whole));
        let flipped = flip_case(name);
        let Some(found) = inode(whole)? else {
            return Ok(None);
        };
        // If both paths are one file, they may still be two hard links.
        let other = if folder.is_empty() {
            flipped.clone()
        } else {
            format!("{folder}/{flipped}")
        };
        if flipped == name || inode(&other)? != Some(found) {
            continue;
        }
        let names = names(folder)?;
        if !names.iter().any(|own| own == name) {
            let is_same = |own: &String| own.to_lowercase() == name.to_lowercase();
            return Ok(names.into_iter().find(is_same));
        }
    }
    Ok(None)
}

/// Returns a name with upper case for lower case and lower case for upper.
fn flip_case(name: &str) -> String {
    let mut flipped = String::with_capacity(name.len());
    for own in name.chars() {
        if own.is_lowercase() {
            flipped.extend(own.to_uppercase());
        } else {
            flipped.extend(own.to_lowercase());
        }
    }
    flipped
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks up `path` on a simulated file system with these paths, which folds case or not.
    fn other(paths: &[&str], folds: bool, path: &str) -> Option<String> {
        let inode = |wanted: &str| {
            let is_it = |path: &&str| {
                if folds {
                    path.to_lowercase() == wanted.to_lowercase()
                } else {
                    **path == *wanted
                }
            };
            Ok(paths.iter().position(is_it).map(|at| at as u64))
        };
        let names = |folder: &str| {
            let within = paths
                .iter()
                .map(|path| path.rsplit_once('/').unwrap_or(("", path)));
            Ok(within
                .filter(|(own, _)| own.to_lowercase() == folder.to_lowercase())
                .map(|(_, name)| name.to_owned())
                .collect())
        };
        find_name_variant(path, &inode, &names).unwrap()
    }

    #[test]
    fn a_name_that_differs_in_case_is_told_where_the_file_system_takes_it_for_the_same() {
        let paths = ["Chat", "Chat/a", "step", "1"];
        for own in ["Chat", "Chat/a", "step", "1", "new", "Chat/new"] {
            assert_eq!(other(&paths, true, own), None, "{own}");
        }
        assert_eq!(other(&paths, true, "chat/new").as_deref(), Some("Chat"));
        assert_eq!(other(&paths, true, "Chat/A").as_deref(), Some("a"));
        assert_eq!(other(&paths, true, "STEP").as_deref(), Some("step"));
        for path in ["chat/new", "Chat/A", "STEP"] {
            assert_eq!(other(&paths, false, path), None, "{path}");
        }
    }
}
