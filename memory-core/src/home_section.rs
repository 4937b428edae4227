//! The parts of a home.

/// The part of a home that contains a memory.
///
/// It is derived from the path. The source in the file is user input and does not determine it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HomeSection {
    /// The notes.
    Notes,
    /// Conversations and the facts derived from them.
    Conversations,
}

impl HomeSection {
    /// The folder of a home that contains conversations.
    pub const CONVERSATIONS: &str = "entries";

    /// Returns the part that contains the file at a path below the home.
    ///
    /// # Examples
    /// ```
    /// use memory_core::HomeSection;
    ///
    /// assert_eq!(HomeSection::of("entries/default/facts/1.md"), HomeSection::Conversations);
    /// assert_eq!(HomeSection::of("categories/people/entries.md"), HomeSection::Notes);
    /// ```
    pub fn of(path: &str) -> Self {
        let is_below = path.strip_prefix(Self::CONVERSATIONS).is_some_and(|rest| rest.starts_with('/'));
        if is_below { Self::Conversations } else { Self::Notes }
    }

    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Notes => "notes",
            Self::Conversations => "conversations",
        }
    }
}
