//! What a link leads to.

use crate::{Memory, MemoryId};

use super::fold::{fold, last_part, stem};
use super::place::Place;

/// Something that a link may lead to, under one of its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What it is.
    pub target: Target,
    /// Its path, with `/` between the parts and with its extension.
    pub path: String,
    /// Which of its names fits.
    pub by: By,
}

/// What a link leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// A memory.
    Memory(MemoryId),
    /// A file that is no memory.
    Attachment,
}

/// By which of its names something is found; the earlier, the stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum By {
    /// Its id, or a prefix of it.
    Id,
    /// Its path or file name.
    Path,
    /// Its title.
    Title,
    /// One of its aliases.
    Alias,
    /// The id, or a prefix of it, of a memory that is gone and whose place it took.
    Former,
}

/// How links find their targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// As in Obsidian: by file name, with as much of the path as the link gives; titles and aliases come after.
    Paths,
    /// As in Logseq: by the whole name of the page; titles and aliases are names like any other.
    Pages,
}

/// Returns the keys under which the target of a link is looked up: the whole target, and the last part of its path if
/// that is another. A title or an alias counts only if the first key finds it.
///
/// ```
/// use memory_core::wikilink::keys;
///
/// assert_eq!(keys("Tokio"), ["tokio"]);
/// assert_eq!(keys("Rust/Tokio.md"), ["rust/tokio.md", "tokio"]);
/// ```
pub fn keys(target: &str) -> Vec<String> {
    let whole = fold(target);
    let last = stem(last_part(&whole)).to_owned();
    distinct([whole, last])
}

/// Returns the keys under which a memory at `path` is found: its file name and those of its origins, its title, its aliases.
pub fn names_of(memory: &Memory, path: &str) -> Vec<String> {
    let own = file_key(path);
    let origins = memory.origin.iter().chain(&memory.other_origins);
    let origin = origins.flat_map(|origin| [file_key(&origin.path), origin_stem(&origin.path)]);
    let titles = memory.title.iter().chain(&memory.aliases).map(|name| fold(name));
    distinct([own].into_iter().chain(origin).chain(titles))
}

/// A link may shorten an id to as many digits.
const SHORTEST_PREFIX: usize = 4;

/// Returns the keys of the links that name a memory by its id or by a prefix of it.
pub fn prefixes(id: &MemoryId) -> Vec<String> {
    let digits = id.to_string();
    (SHORTEST_PREFIX..=digits.len()).map(|length| digits[..length].to_owned()).collect()
}

/// Returns the key under which a file is found: its name, without `.md`.
pub(super) fn file_key(path: &str) -> String {
    let name = fold(path);
    stem(last_part(&name)).to_owned()
}

/// Returns the file name of an origin without its extension, whichever that is.
fn origin_stem(path: &str) -> String {
    let name = fold(path);
    let name = last_part(&name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}

fn distinct(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::<String>::new();
    for name in names {
        if !name.is_empty() && !kept.contains(&name) {
            kept.push(name);
        }
    }
    kept
}

/// Returns the one of `candidates` that `target`, in the note at `from`, leads to.
///
/// The candidates are what [`keys`] found; of those found by path, the one is meant that the rule says, and none if the
/// target names another folder. Of several with the same title or alias, the shortest path wins. What took the place of another
/// is meant by that one's id where nothing else is.
pub fn choose<'a>(target: &str, from: Option<&str>, candidates: &'a [Candidate], rule: Rule) -> Option<&'a Candidate> {
    let by = |by: By| candidates.iter().filter(move |candidate| candidate.by == by);
    let shortest = |by_name: By| by(by_name).min_by_key(|candidate| (candidate.path.chars().count(), &candidate.path));
    let by_path = || match rule {
        Rule::Paths => {
            let place = Place::of(target, from.unwrap_or_default())?;
            by(By::Path).filter_map(|candidate| Some((place.fit(&candidate.path)?, candidate))).min_by_key(|(fit, _)| *fit)
        }
        Rule::Pages => by(By::Path).map(|candidate| (Default::default(), candidate)).next(),
    };
    shortest(By::Id)
        .or_else(|| by_path().map(|(_, candidate)| candidate))
        .or_else(|| shortest(By::Title))
        .or_else(|| shortest(By::Alias))
        .or_else(|| shortest(By::Former))
}

#[cfg(test)]
mod tests;
