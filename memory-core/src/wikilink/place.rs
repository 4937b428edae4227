//! Which of several files with one name a link means.

use super::fold::{fold, last_part};

/// What the target of a link says about the path of a file, once the linking note is known.
#[derive(Debug)]
pub(super) struct Place {
    /// The wanted path, and the same with `.md`; folded.
    paths: [String; 2],
    /// Whether the path may go on to the left.
    is_suffix: bool,
    /// The folder of the linking note, folded and with `/` at its end; empty at the root.
    folder: String,
}

/// How well a file fits; the smallest is meant.
pub(super) type Fit<'a> = (bool, bool, bool, usize, &'a str);

impl Place {
    /// Reads the target of a link in the note at `from`; `None` if it leads out of the root.
    pub(super) fn of(target: &str, from: &str) -> Option<Self> {
        let target = fold(target);
        let mut folder = fold(from);
        folder.truncate(folder.len() - last_part(&folder).len());
        let is_relative = target.starts_with("./") || target.starts_with("../");
        let path = match target.strip_prefix('/') {
            Some(path) => path.to_owned(),
            None if is_relative => walk(&folder, &target)?,
            None => target.clone(),
        };
        let is_suffix = !is_relative && !target.starts_with('/');
        Some(Self { paths: [path.clone(), path + ".md"], is_suffix, folder })
    }

    /// Tells how well the file at `path` fits, if it fits at all. A file that is named with its extension fits better
    /// than one that is not; then comes the whole path, then the linking note's own folder, then the shortest path.
    pub(super) fn fit<'a>(&self, path: &'a str) -> Option<Fit<'a>> {
        let folded = fold(path);
        let fits = |wanted: &String| {
            let front = folded.strip_suffix(wanted.as_str())?;
            (front.is_empty() || (self.is_suffix && front.ends_with('/'))).then_some(front.is_empty())
        };
        let [named, with_extension] = self.paths.each_ref().map(fits);
        let is_whole = named.or(with_extension)?;
        Some((named.is_none(), !is_whole, !folded.starts_with(&self.folder), path.chars().count(), path))
    }
}

fn walk(folder: &str, target: &str) -> Option<String> {
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
