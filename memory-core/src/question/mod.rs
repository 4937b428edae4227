//! What a question asks for.

mod asks;
mod characters;
mod date;
mod dates;
mod dialogue;
mod han_date;
mod meant;
mod narrow;
mod parse;
mod phrase;
mod pieces;
mod several;
mod stop;
mod voice;

use crate::Filter;
use crate::text::Term;

pub use date::NamedDate;
pub use meant::{Meant, meant};
pub use parse::parse;
pub use phrase::Phrase;
pub use several::asks_for_several;
pub(crate) use stop::{is_aside, says_something};
pub use voice::in_first_person;

/// What a question asks for, once its words were understood. See [`parse()`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of its own")]
pub struct Question {
    /// What was typed, without filters and what must not be there: what a model is to read.
    pub text: String,
    /// The words, each once, in the order in which they first appear.
    pub words: Vec<Word>,
    /// What must stand there word by word.
    pub phrases: Vec<Phrase>,
    /// What must not be there.
    pub without: Vec<Term>,
    /// What must not stand there word by word.
    pub without_phrases: Vec<Phrase>,
    /// Whose words may be meant: every word that may be a name, in lower case.
    pub names: Vec<String>,
    /// The day, month or year that it names.
    pub date: Option<NamedDate>,
    /// It asks for a message of the assistant, such as a recommendation.
    pub asks_assistant: bool,
    /// It names a date and nothing else.
    pub is_only_date: bool,
    /// It asks when something was.
    pub asks_when: bool,
    /// It asks for a person, a place or the name of something.
    pub asks_which: bool,
    /// How many words were left out because there were too many.
    pub left_out: usize,
}

/// One word of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// As it is indexed.
    pub term: Term,
    /// As it was typed first, folded and no more.
    pub spelled: String,
    /// What it is there for.
    pub role: Role,
    /// How many messages follow the last one that has it, if the question is a dialogue; else 0.
    pub age: u8,
    /// Whether any longer word that begins with it will do as well.
    pub is_prefix: bool,
}

/// What a word of a question is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It says what is asked for.
    Content,
    /// It names a date: what was written near that date answers too, not only what has the word.
    Date,
    /// It is one of the words that hold a sentence together. It finds nothing, and counts for little.
    Aside,
    /// It is a single character of a word in a script without blanks, whose pairs are looked for. It finds nothing, and counts for
    /// what is found.
    Character,
}

/// A question with the filters taken out of its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// What is asked for.
    pub question: Question,
    /// What `tag:`, `scope:`, `category:`, `source:`, `from:` and `to:` said, on top of the filter that was there.
    pub filter: Filter,
    /// What looks like a filter and is none, and why: its words are asked for in its stead.
    pub misread: Vec<String>,
}
