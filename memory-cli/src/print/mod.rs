//! Output for people and programs.

mod escape;
pub(crate) mod memories;
mod output;
mod program;
mod progress;
mod table;
mod terminal;
mod wrap;

pub(crate) use escape::{escape_hidden, escape_json, escape_line, escape_text};
pub(crate) use memory_core::text::counted;
pub(crate) use output::{Output, OutputForm, Streams};
pub(crate) use program::ProgramName;
pub(crate) use table::{Table, TableColumn};
pub(crate) use terminal::{ColorChoice, Palette, is_leaving, prompt, select_several};
pub(crate) use wrap::{wrap_lines, wrap_paragraphs};
