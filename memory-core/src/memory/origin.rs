//! The origin of an ingested memory.

use std::fmt;

use super::ContentHash;

/// The file or location that a memory was ingested from. Ingesting it again updates the memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// The name of the source, such as `obsidian`.
    pub source: String,
    /// The ingested folder or file, as an absolute path.
    pub root: String,
    /// The path below `root`, with `/` as separator; a part of a file is appended after `#`.
    pub path: String,
    /// A fingerprint for detecting changes of the source or the memory.
    ///
    /// Only [`crate::ingest()`] interprets it.
    pub hash: Option<ContentHash>,
}

impl Origin {
    /// Returns whether both have the same location, ignoring the hash.
    pub fn is_same_place(&self, other: &Self) -> bool {
        (&self.source, &self.root, &self.path) == (&other.source, &other.root, &other.path)
    }

    /// Returns the location as text, which [`Origin::from_text`] parses: `source:root//path`.
    pub fn to_text(&self) -> String {
        format!("{}:{}//{}", self.source, self.root, self.path)
    }

    /// Parses a location that [`Origin::to_text`] returned, or returns `None` if the syntax is wrong.
    pub fn from_text(text: &str) -> Option<Self> {
        let (source, place) = text.split_once(':')?;
        // The separator follows even a root that is only `/`.
        let border = place.char_indices().skip(1).find(|(at, _)| place[*at..].starts_with("//")).map(|(at, _)| at);
        let (root, path) = place.split_at(border.or_else(|| place.starts_with("//").then_some(0))?);
        Some(Self { source: source.to_owned(), root: root.to_owned(), path: path[2..].to_owned(), hash: None })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}/{}", self.source, self.root, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::Origin;

    #[test]
    fn a_place_is_read_as_it_was_written() {
        for [root, path] in [["/home/a", "b/c.md"], ["/", "b.md"], ["", "b.md"], ["relative", "b#part"]] {
            let origin = Origin { source: "obsidian".into(), root: root.into(), path: path.into(), hash: None };
            assert_eq!(Origin::from_text(&origin.to_text()), Some(origin), "{root} {path}");
        }
        assert_eq!(["", "x", "x:y"].map(Origin::from_text), [None, None, None]);
    }
}
