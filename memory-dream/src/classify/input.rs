//! The input of the classifier.

use memory_core::{Memory, Tags};

/// The input of the classifier: the parts of a memory that a person wrote.
#[derive(Debug, Clone, Copy)]
pub struct ClassifierInput<'a> {
    /// Its title, if it has one.
    pub title: Option<&'a str>,
    /// Its text.
    pub content: &'a str,
    /// Its tags. A tag that names a category raises the score of that category.
    pub tags: &'a [String],
}

impl<'a> ClassifierInput<'a> {
    /// Creates a note without title and tags.
    pub fn from_text(content: &'a str) -> Self {
        Self { title: None, content, tags: &[] }
    }
}

impl<'a> From<&'a Memory> for ClassifierInput<'a> {
    fn from(memory: &'a Memory) -> Self {
        Self { title: memory.title.as_deref(), content: &memory.content, tags: Tags::as_slice(&memory.tags) }
    }
}
