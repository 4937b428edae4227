//! The origin of an ingested memory, and the hash that identifies a text.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use super::ParseError;

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
        let border = place
            .char_indices()
            .skip(1)
            .find(|(at, _)| place[*at..].starts_with("//"))
            .map(|(at, _)| at);
        let (root, path) = place.split_at(border.or_else(|| place.starts_with("//").then_some(0))?);
        Some(Self {
            source: source.to_owned(),
            root: root.to_owned(),
            path: path[2..].to_owned(),
            hash: None,
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}/{}", self.source, self.root, self.path)
    }
}

/// The SHA-256 of a text, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Returns the hash of a text, which is not normalized.
    pub fn of(text: &str) -> Self {
        Self::from_bytes(text.as_bytes())
    }

    /// Returns the hash of bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the 32 bytes of the hash.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// An incremental hasher.
#[derive(Debug, Clone, Default)]
pub struct ContentHasher(Sha256);

impl ContentHasher {
    /// Appends bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the hash of all appended bytes.
    pub fn finish(self) -> ContentHash {
        ContentHash(self.0.finalize().into())
    }
}

impl From<[u8; 32]> for ContentHash {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ContentHash({self})")
    }
}

impl FromStr for ContentHash {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "a SHA-256 hash (64 hexadecimal digits)");
        if text.len() != 64 || !text.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::Origin;

    #[test]
    fn a_place_is_read_as_it_was_written() {
        for [root, path] in [
            ["/home/a", "b/c.md"],
            ["/", "b.md"],
            ["", "b.md"],
            ["relative", "b#part"],
        ] {
            let origin = Origin {
                source: "obsidian".into(),
                root: root.into(),
                path: path.into(),
                hash: None,
            };
            assert_eq!(
                Origin::from_text(&origin.to_text()),
                Some(origin),
                "{root} {path}"
            );
        }
        assert_eq!(["", "x", "x:y"].map(Origin::from_text), [None, None, None]);
    }
}
