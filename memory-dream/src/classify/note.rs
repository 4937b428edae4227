//! What is classified.

use memory_core::{Memory, Tags};

/// What is classified: all that a person wrote of a memory.
#[derive(Debug, Clone, Copy)]
pub struct Note<'a> {
    /// Its heading, if it has one.
    pub title: Option<&'a str>,
    /// Its text.
    pub content: &'a str,
    /// Its labels. One that names a category speaks for that category.
    pub tags: &'a [String],
}

impl<'a> Note<'a> {
    /// Returns a note that is nothing but text.
    pub fn of_text(content: &'a str) -> Self {
        Self { title: None, content, tags: &[] }
    }
}

impl<'a> From<&'a Memory> for Note<'a> {
    fn from(memory: &'a Memory) -> Self {
        Self { title: memory.title.as_deref(), content: &memory.content, tags: Tags::as_slice(&memory.tags) }
    }
}
