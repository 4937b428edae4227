//! Resolution of a link to one of several candidates, by their names and paths.

use std::collections::HashSet;

use super::parse::{fold_link_name, last_component, strip_md, to_nfc};
use crate::{Memory, MemoryId, Origin};

/// A possible target of a link, with the name that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WikilinkCandidate {
    /// The target.
    pub target: WikilinkTarget,
    /// The path, with `/` as separator and with its extension.
    pub path: String,
    /// The kind of the matching name.
    pub by: WikilinkNameKind,
}

/// The target of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WikilinkTarget {
    /// A memory.
    Memory(MemoryId),
    /// A file that is not a memory.
    Attachment,
}

/// The kind of a matching name, in descending precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WikilinkNameKind {
    /// The id, or a prefix of it.
    Id,
    /// The path or file name.
    Path,
    /// The title.
    Title,
    /// An alias.
    Alias,
    /// The id, or a prefix of it, of a deleted memory that the candidate supersedes.
    Former,
}

/// A rule for resolving links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WikilinkRule {
    /// The rule of Obsidian: by file name and any given part of the path, then by title or alias.
    Paths,
    /// The rule of Logseq: by the complete page name; titles and aliases are equivalent to file names.
    Pages,
    /// The rule of programs that link by the title or another name of a note. Paths count only without such a name.
    Titles,
}

/// Returns the keys for looking up the target of a link.
///
/// The keys are the complete target and, if it differs, the last component of its path. A title or an alias counts only
/// if the first key matches it.
///
/// ```
/// use memory_core::wikilink::lookup_keys;
///
/// assert_eq!(lookup_keys("Tokio"), ["tokio"]);
/// assert_eq!(lookup_keys("Rust/Tokio.md"), ["rust/tokio.md", "tokio"]);
/// ```
pub fn lookup_keys(target: &str) -> Vec<String> {
    let whole = fold_link_name(target);
    let last = strip_md(last_component(&whole)).to_owned();
    dedup_names([whole, last])
}

/// Returns the keys of a memory at `path`.
///
/// They are its file name, the file names of its origins, its title or else its heading, and its aliases.
pub fn memory_keys(memory: &Memory, path: &str) -> Vec<String> {
    let own = file_key(path);
    let origins = memory.origin.iter().chain(&memory.other_origins);
    let origin = origins.flat_map(|origin| [file_key(&origin.path), origin_stem(&origin.path)]);
    let aliases = memory.aliases.iter().map(String::as_str);
    let titles = memory.title_or_heading().into_iter().chain(aliases);
    dedup_names(
        [own]
            .into_iter()
            .chain(origin)
            .chain(titles.map(fold_link_name)),
    )
}

impl Memory {
    /// Returns whether `name` is the title, the heading or an alias in the same case.
    pub(crate) fn has_exact_name(&self, name: &str) -> bool {
        let aliases = self.aliases.iter().map(String::as_str);
        let mut own = self.title_or_heading().into_iter().chain(aliases);
        let name = to_nfc(name.trim());
        own.any(|own| to_nfc(own.trim()) == name)
    }

    /// Returns the files that the memory was imported from whose names have the key `key`.
    pub fn origins_named<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a Origin> {
        let origins = self.origin.iter().chain(&self.other_origins);
        origins
            .filter(move |origin| file_key(&origin.path) == key || origin_stem(&origin.path) == key)
    }
}

/// Minimum number of digits of an abbreviated id in a link.
const MIN_ID_PREFIX: usize = 4;

/// Returns the keys of links to a memory by its id or a prefix of it.
pub fn id_prefixes(id: &MemoryId) -> Vec<String> {
    let digits = id.to_string();
    (MIN_ID_PREFIX..=digits.len())
        .map(|length| digits[..length].to_owned())
        .collect()
}

/// Returns the key of a file: its normalized name without `.md`.
pub(super) fn file_key(path: &str) -> String {
    let name = fold_link_name(path);
    strip_md(last_component(&name)).to_owned()
}

/// Returns the file name of an origin without its extension.
fn origin_stem(path: &str) -> String {
    let name = fold_link_name(path);
    let name = last_component(&name);
    name.rsplit_once('.')
        .map_or(name, |(stem, _)| stem)
        .to_owned()
}

fn dedup_names(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    names
        .into_iter()
        .filter(|name| !name.is_empty() && seen.insert(name.clone()))
        .collect()
}

/// Returns the one of `candidates` that the link `target` in the note at `from` leads to.
///
/// `candidates` are the matches of [`lookup_keys`]. `rule` decides among matches by path, and whether names precede paths; a
/// match in a folder that contradicts the target is excluded. Among matches by the same kind of other name, the shortest path wins. A match by
/// the id of a superseded memory counts only if there is no other match.
pub fn choose_target<'a>(
    target: &str,
    from: Option<&str>,
    candidates: &'a [WikilinkCandidate],
    rule: WikilinkRule,
) -> Option<&'a WikilinkCandidate> {
    let by = |by: WikilinkNameKind| {
        candidates
            .iter()
            .filter(move |candidate| candidate.by == by)
    };
    let shortest = |by_name: WikilinkNameKind| {
        by(by_name).min_by_key(|candidate| (candidate.path.chars().count(), &candidate.path))
    };
    let by_path = || match rule {
        WikilinkRule::Paths | WikilinkRule::Titles => {
            let place = PathPattern::of(target, from.unwrap_or_default())?;
            by(WikilinkNameKind::Path)
                .filter_map(|candidate| Some((place.match_rank(&candidate.path)?, candidate)))
                .min_by_key(|(fit, _)| *fit)
        }
        WikilinkRule::Pages => by(WikilinkNameKind::Path)
            .map(|candidate| (Default::default(), candidate))
            .next(),
    };
    let by_name =
        || shortest(WikilinkNameKind::Title).or_else(|| shortest(WikilinkNameKind::Alias));
    let first = if rule == WikilinkRule::Titles {
        by_name()
    } else {
        None
    };
    shortest(WikilinkNameKind::Id)
        .or(first)
        .or_else(|| by_path().map(|(_, candidate)| candidate))
        .or_else(by_name)
        .or_else(|| shortest(WikilinkNameKind::Former))
}

/// The path pattern of a link target, relative to the linking note.
#[derive(Debug)]
pub(super) struct PathPattern {
    /// The normalized path, without and with `.md`.
    paths: [String; 2],
    /// Whether the path may be preceded by further folders.
    is_suffix: bool,
    /// The folder of the linking note, normalized and with a trailing `/`; empty at the root.
    folder: String,
    /// The target in its case, without `./`, `../` and `/` at its start.
    exact: String,
}

/// The rank of a matching file; the smallest is the best.
pub(super) type PathMatchRank<'a> = (bool, bool, bool, usize, bool, &'a str);

impl PathPattern {
    /// Parses the target of a link in the note at `from`; returns `None` if it leads out of the root.
    pub(super) fn of(target: &str, from: &str) -> Option<Self> {
        let exact = target.trim().trim_start_matches(['.', '/']).to_owned();
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
        Some(Self {
            paths: [path.clone(), path + ".md"],
            is_suffix,
            folder,
            exact,
        })
    }

    /// Returns the rank of the file at `path`, or `None` if it does not match.
    ///
    /// In descending precedence: a match including the extension, a match of the complete path, a file in or below the
    /// folder of the linking note, the shortest path, and a match in the case of the target.
    pub(super) fn match_rank<'a>(&self, path: &'a str) -> Option<PathMatchRank<'a>> {
        let folded = fold_link_name(path);
        let fits = |wanted: &String| {
            let front = folded.strip_suffix(wanted.as_str())?;
            (front.is_empty() || (self.is_suffix && front.ends_with('/')))
                .then_some(front.is_empty())
        };
        let [named, with_extension] = self.paths.each_ref().map(fits);
        let is_whole = named.or(with_extension)?;
        let is_exact = path.ends_with(&self.exact)
            || path
                .strip_suffix(".md")
                .is_some_and(|path| path.ends_with(&self.exact));
        Some((
            named.is_none(),
            !is_whole,
            !folded.starts_with(&self.folder),
            path.chars().count(),
            !is_exact,
            path,
        ))
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

#[cfg(test)]
mod tests;
