//! Configuration of the clients that use the memories.
//!
//! The configuration files belong to the user. [`plan`] computes the new text of a file from the old one: it inserts or
//! removes only the entries of this program, and leaves all other bytes unchanged. [`setup`] reads the files, plans all
//! changes, and then, unless this is a dry run, writes the changed files. [`file`](mod@file) replaces a file safely.

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
