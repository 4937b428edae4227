//! `memory bank`, one command a file.

mod answer;
mod delete;
mod export;
mod filter;
mod gc;
mod import;
#[cfg(test)]
mod kdl;
mod list;
mod query;
mod read;
mod repair;
mod schema;
mod search;
mod update;
mod write;

use clap::{Args, Subcommand};

use crate::app::App;
use crate::failure::Failure;

/// Keep JSON under keys, in named banks, and ask it with jq
///
/// A bank is a file: .memory/banks/BANK.json of the project around this folder, or ~/.memory/banks/BANK.json of yours. Where
/// .slop-mcp/memory or ~/.config/slop-mcp/memory are, those are used. What is read is the project's first, then yours; what is
/// written is the project's if there is one. `memory undo` takes the last change back.
///
/// Answers and errors are JSON; lists are tables at a terminal.
#[derive(Debug, Args)]
pub(crate) struct Bank {
    #[command(subcommand)]
    command: BankCommand,
}

/// One command on banks. Their order is that of the help.
#[derive(Debug, Subcommand)]
enum BankCommand {
    Read(read::Read),
    Write(write::Write),
    Update(update::Update),
    Delete(delete::Delete),
    List(list::List),
    Query(query::Query),
    Search(search::Search),
    Export(export::Export),
    Import(import::Import),
    Gc(gc::Gc),
    Repair(repair::Repair),
    Schema(schema::Schema),
    Filter(filter::Filter),
}

impl Bank {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        app.output.prefer_json();
        match &self.command {
            BankCommand::Read(command) => command.run(app),
            BankCommand::Write(command) => command.run(app),
            BankCommand::Update(command) => command.run(app),
            BankCommand::Delete(command) => command.run(app),
            BankCommand::List(command) => command.run(app),
            BankCommand::Query(command) => command.run(app),
            BankCommand::Search(command) => command.run(app),
            BankCommand::Export(command) => command.run(app),
            BankCommand::Import(command) => command.run(app),
            BankCommand::Gc(command) => command.run(app),
            BankCommand::Repair(command) => command.run(app),
            BankCommand::Schema(command) => command.run(app),
            BankCommand::Filter(command) => command.run(app),
        }
    }
}
