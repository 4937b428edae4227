//! In which part of a home a memory lies.

/// In which part of a home a memory lies. What its file says it came from is a person's to choose, and tells nothing of this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Among the notes.
    Notes,
    /// Among what is said in conversations, and what is known of it.
    Conversations,
}

impl Place {
    /// The folder of a home in which conversations lie.
    pub const CONVERSATIONS: &str = "entries";

    /// Returns the place of the file at a path below the home.
    ///
    /// # Examples
    /// ```
    /// use memory_core::Place;
    ///
    /// assert_eq!(Place::of("entries/default/facts/1.md"), Place::Conversations);
    /// assert_eq!(Place::of("categories/people/entries.md"), Place::Notes);
    /// ```
    pub fn of(path: &str) -> Self {
        let is_below = path.strip_prefix(Self::CONVERSATIONS).is_some_and(|rest| rest.starts_with('/'));
        if is_below { Self::Conversations } else { Self::Notes }
    }

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Notes => "notes",
            Self::Conversations => "conversations",
        }
    }
}
