//! Setting up the programs that use the memories: what each of them keeps in which file, and how our entries come into these
//! files and out of them again.
//!
//! A file is a person's. [`plan`] says what it becomes, as text from text: only what is ours is put in or taken out, and every
//! other byte stays. [`setup`] looks at the files, has all of them planned, and then, unless this is a rehearsal, writes what
//! has changed; [`file`](mod@file) knows how to do that without losing anything.

mod clients;
mod command;
mod diff;
mod edit;
mod file;
mod folders;
mod hooks;
mod jsonc;
mod plan;
mod refusal;
mod server;
mod setup;
mod toml;

pub(crate) use clients::{Client, Level};
pub(crate) use diff::diff;
pub(crate) use folders::Folders;
pub(crate) use setup::{Change, Outcome, Setup};
