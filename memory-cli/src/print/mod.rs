//! Output for people and programs.

pub(crate) mod memories;
mod output;
mod palette;
mod program;
mod progress;
mod streams;
mod table;
mod visible;
mod wrap;

pub(crate) use output::{Form, Output};
pub(crate) use palette::{ColorChoice, Palette};
pub(crate) use program::Program;
pub(crate) use streams::Streams;
pub(crate) use table::{Column, Table};
pub(crate) use visible::{visible_json, visible_line, visible_text};
pub(crate) use wrap::wrap;
