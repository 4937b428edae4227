//! Output for people and programs.

mod escape;
pub(crate) mod memories;
mod output;
mod palette;
mod program;
mod progress;
mod selection;
mod table;
mod wrap;

pub(crate) use escape::{escape_hidden, escape_json, escape_line, escape_text};
pub(crate) use output::{Output, OutputForm, Streams};
pub(crate) use palette::{ColorChoice, Palette};
pub(crate) use program::ProgramName;
pub(crate) use selection::{prompt, select_several};
pub(crate) use table::{Table, TableColumn};
pub(crate) use wrap::wrap_lines;
