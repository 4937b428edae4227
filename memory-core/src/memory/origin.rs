//! Where a memory was taken in from.

use std::fmt;

use super::ContentHash;

/// The file or place a memory was taken in from. Taking in the same origin again updates the memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// The source's name, such as `obsidian`.
    pub source: String,
    /// The folder or file that was taken in, as an absolute path.
    pub root: String,
    /// The path below `root`, with `/` between its parts; a part of a file follows after `#`.
    pub path: String,
    /// What tells the next time whether the source or its memory has changed since; only [`crate::ingest()`] can read it.
    pub hash: Option<ContentHash>,
}

impl Origin {
    /// Tells whether both name the same place, whatever was found there.
    pub fn is_same_place(&self, other: &Self) -> bool {
        (&self.source, &self.root, &self.path) == (&other.source, &other.root, &other.path)
    }

    /// Returns the place as one text, which [`Origin::from_text`] reads: `source:root//path`.
    pub fn to_text(&self) -> String {
        format!("{}:{}//{}", self.source, self.root, self.path)
    }

    /// Reads a place that [`Origin::to_text`] has written; nothing if it is none.
    pub fn from_text(text: &str) -> Option<Self> {
        let (source, place) = text.split_once(':')?;
        // A root of `/` alone is followed by the two.
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
