//! The data of a memory that a review needs.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use chrono::{DateTime, Utc};
use memory_core::text::{TokenKind, tokenize};
use memory_core::{Category, Memory, MemoryId, Phase, Scope, Tags};

/// Maximum number of different words of a memory; the first ones are used.
const MAX_WORDS: usize = 64;

/// Maximum length in bytes of a text that is compared with others.
///
/// A longer text is a document, of which a single sentence is not compared with other memories.
const MAX_STATEMENT_BYTES: usize = 600;

/// Number of bytes of a text that are read for its words.
const MAX_READ_BYTES: usize = 8000;

/// The data of a memory that a review needs.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own"
)]
pub(super) struct ReviewedMemory {
    pub(super) id: MemoryId,
    pub(super) headline: String,
    pub(super) scope: Scope,
    pub(super) category: Category,
    pub(super) is_organized: bool,
    pub(super) created_at: DateTime<Utc>,
    /// The start of its validity.
    pub(super) said_at: DateTime<Utc>,
    pub(super) updated_at: DateTime<Utc>,
    pub(super) accessed_at: Option<DateTime<Utc>>,
    pub(super) access_count: u64,
    pub(super) supersedes: Vec<MemoryId>,
    pub(super) links: Vec<MemoryId>,
    pub(super) ends_at: Option<DateTime<Utc>>,
    pub(super) is_superseded: bool,
    pub(super) is_pinned: bool,
    pub(super) is_reminder: bool,
    pub(super) words: Vec<u64>,
    pub(super) tags: Vec<u64>,
    /// The memory, if it is compared with others.
    pub(super) statement: Option<Box<Memory>>,
}

impl ReviewedMemory {
    /// Extracts the data of a memory; calls `name` with the key and the written form of each word.
    pub(super) fn of(
        memory: &Memory,
        accessed_at: Option<DateTime<Utc>>,
        name: &mut dyn FnMut(u64, &str),
    ) -> Self {
        let is_statement = memory.content.len() <= MAX_STATEMENT_BYTES
            && memory.category != Category::Reminders
            && memory.reminder.is_none();
        let headline = memory.headline();
        Self {
            id: memory.id,
            headline: headline[..headline.floor_char_boundary(120)].to_owned(),
            scope: memory.scope.clone(),
            category: memory.category,
            is_organized: memory.phase == Phase::Organized,
            created_at: memory.created_at,
            said_at: memory.valid_from.unwrap_or(memory.created_at),
            updated_at: memory.updated_at,
            accessed_at,
            access_count: memory.access_count,
            supersedes: memory.supersedes.clone(),
            links: memory.links.clone(),
            ends_at: memory.ends_at(),
            is_superseded: memory.superseded_by.is_some(),
            is_pinned: memory.pinned,
            is_reminder: memory.reminder.is_some(),
            words: distinct_words(memory, name),
            tags: memory
                .tags
                .iter()
                .map(|tag| key("tag", &Tags::key(tag)))
                .collect(),
            statement: is_statement.then(|| Box::new(memory.clone())),
        }
    }
}

fn distinct_words(memory: &Memory, name: &mut dyn FnMut(u64, &str)) -> Vec<u64> {
    let text = &memory.content[..memory.content.floor_char_boundary(MAX_READ_BYTES)];
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    tokenize(text, &mut |token| {
        let is_telling = match token.kind {
            TokenKind::Word => 2 < token.text.len() && token.text.contains(char::is_alphabetic),
            TokenKind::Bigram => true,
            TokenKind::Character | TokenKind::Symbol => false,
        };
        if is_telling && found.len() < MAX_WORDS {
            let key = key("word", token.text);
            if seen.insert(key) {
                name(key, &text[token.span]);
                found.push(key);
            }
        }
    });
    found
}

/// Returns a hash of `text` and its kind, which is stable only within one version of the program.
pub(super) fn key<T: Hash + ?Sized>(kind: &str, text: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    kind.hash(&mut hasher);
    text.hash(&mut hasher);
    hasher.finish()
}
