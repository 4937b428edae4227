//! The comparison of file paths with the target of a link.

use super::link_name::{fold_link_name, last_component};

/// The path pattern of a link target, relative to the linking note.
#[derive(Debug)]
pub(super) struct PathPattern {
    /// The normalized path, without and with `.md`.
    paths: [String; 2],
    /// Whether the path may be preceded by further folders.
    is_suffix: bool,
    /// The folder of the linking note, normalized and with a trailing `/`; empty at the root.
    folder: String,
}

/// The rank of a matching file; the smallest is the best.
pub(super) type PathMatchRank<'a> = (bool, bool, bool, usize, &'a str);

impl PathPattern {
    /// Parses the target of a link in the note at `from`; returns `None` if it leads out of the root.
    pub(super) fn of(target: &str, from: &str) -> Option<Self> {
        let target = fold_link_name(target);
        let mut folder = fold_link_name(from);
        folder.truncate(folder.len() - last_component(&folder).len());
        let is_relative = target.starts_with("./") || target.starts_with("../");
        let path = match target.strip_prefix('/') {
            Some(path) => path.to_owned(),
            None if is_relative => join_relative(&folder, &target)?,
            None => target.clone(),
        };
        let is_suffix = !is_relative && !target.starts_with('/');
        Some(Self { paths: [path.clone(), path + ".md"], is_suffix, folder })
    }

    /// Returns the rank of the file at `path`, or `None` if it does not match.
    ///
    /// In descending precedence: a match including the extension, a match of the complete path, a file in or below the
    /// folder of the linking note, and the shortest path.
    pub(super) fn match_rank<'a>(&self, path: &'a str) -> Option<PathMatchRank<'a>> {
        let folded = fold_link_name(path);
        let fits = |wanted: &String| {
            let front = folded.strip_suffix(wanted.as_str())?;
            (front.is_empty() || (self.is_suffix && front.ends_with('/'))).then_some(front.is_empty())
        };
        let [named, with_extension] = self.paths.each_ref().map(fits);
        let is_whole = named.or(with_extension)?;
        Some((named.is_none(), !is_whole, !folded.starts_with(&self.folder), path.chars().count(), path))
    }
}

fn join_relative(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
