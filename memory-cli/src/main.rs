//! `memory`: the memory of all your AI agents, as plain files on your own disk.
//!
//! This crate contains the command line only: the arguments and commands ([`cli`] and [`commands`]), the settings
//! ([`config`]), the construction of the services ([`app`]), and the output ([`mod@print`], [`report`]).

#![expect(clippy::doc_markdown, reason = "the docs of commands are their help, where backticks would be shown")]

mod agent;
mod allocator;
mod app;
mod args;
mod banks;
mod chat_proxy;
mod cli;
mod commands;
mod config;
mod conversations;
mod daemon;
mod datetime;
mod delete_on_signal;
mod embedding;
mod exit_code;
mod failure;
mod home;
mod http;
mod install;
mod instances;
mod jq_process;
mod language_model;
mod notification;
mod pending_page;
mod print;
mod project;
mod report;
mod reranking;
mod topics;
mod versions;
mod wake_signal;
mod zone;

use std::process::ExitCode;

use config::Environment;
use print::Streams;

fn main() -> ExitCode {
    // Failures to disable core dumps are ignored.
    let _ = memory_store::disable_core_dumps();
    allocator::limit_arenas();
    allocator::prefault_heap();
    cli::run(std::env::args_os().collect(), &Environment::from_process(), Streams::from_process()).into()
}
