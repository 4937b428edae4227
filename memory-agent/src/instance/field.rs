//! What defines an instance.

/// One field of what defines an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Whether an instance cannot be without it.
    pub required: bool,
    /// Whether it is sealed, and never shown.
    pub secret: bool,
    /// What it is if it is not given.
    pub default: Option<&'static str>,
    /// The field and its value on which this one depends: otherwise it means nothing.
    pub shown_when: Option<(&'static str, &'static str)>,
}

/// What a field may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A folder.
    Path,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl Kind {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Path => "path",
            Self::Choice(_) => "choice",
        }
    }
}
