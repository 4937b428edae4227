//! The `memory bank` commands, one subject per file.

mod common;
mod documents;
mod entries;
mod filters;
mod list;
mod maintenance;
#[cfg(test)]
mod tests;

use clap::{Args, Subcommand};
use memory_core::bank::ScopeChoice;

use crate::app::App;
use crate::failure::Failure;

/// Store JSON values under keys in named banks, and query them with jq
///
/// A bank is a file: .memory/banks/BANK.json in the current project, or ~/.memory/banks/BANK.json for the user. Existing
/// folders .slop-mcp/memory and ~/.config/slop-mcp/memory have precedence. Reads use the project before the user; writes
/// use the project if it has one of these folders. A bank is never moved; if several folders have a bank of the same name,
/// the output shows which was used (folder, also_in). `memory undo` undoes the last change.
///
/// Output and errors are JSON; lists are tables at a terminal.
#[derive(Debug, Args)]
pub(crate) struct BankArgs {
    #[command(subcommand)]
    command: BankCommand,
}

/// One command on banks. Their order is that of the help.
#[derive(Debug, Subcommand)]
enum BankCommand {
    Read(entries::BankReadArgs),
    Write(entries::BankWriteArgs),
    Update(entries::BankUpdateArgs),
    Delete(entries::BankDeleteArgs),
    List(list::BankListArgs),
    Query(filters::BankQueryArgs),
    Search(filters::BankSearchArgs),
    Export(documents::BankExportArgs),
    Import(documents::BankImportArgs),
    Gc(maintenance::BankGcArgs),
    Repair(maintenance::BankRepairArgs),
    Schema(documents::BankSchemaArgs),
    Filter(filters::BankFilterArgs),
}

impl BankArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        app.output.prefer_json();
        let done = self.command.run(app);
        done.map_err(|failure| match failure {
            // A jq filter involves no bank.
            failure if matches!(self.command, BankCommand::Filter(_)) => failure,
            Failure::Bank(error) if error.scope.is_some() => Failure::Bank(error),
            failure @ (Failure::Bank(_)
            | Failure::Store(_)
            | Failure::Usage { .. }
            | Failure::File { .. }) => {
                let scope =
                    common::open(app).map(|banks| banks.effective_scope(self.command.scope()));
                scope.map_or_else(|failure| failure, |scope| failure.with_scope(scope))
            }
            other => other,
        })
    }
}

impl BankCommand {
    /// Returns the scope that the command uses.
    fn scope(&self) -> ScopeChoice {
        match self {
            Self::Read(entries::BankReadArgs { scope, .. })
            | Self::Write(entries::BankWriteArgs { scope, .. })
            | Self::Update(entries::BankUpdateArgs { scope, .. })
            | Self::Delete(entries::BankDeleteArgs { scope, .. })
            | Self::Query(filters::BankQueryArgs { scope, .. })
            | Self::Import(documents::BankImportArgs { scope, .. })
            | Self::Schema(documents::BankSchemaArgs { scope, .. }) => common::scope_choice(*scope),
            Self::List(list::BankListArgs { scope, .. })
            | Self::Search(filters::BankSearchArgs { scope, .. })
            | Self::Export(documents::BankExportArgs { scope, .. })
            | Self::Gc(maintenance::BankGcArgs { scope, .. })
            | Self::Repair(maintenance::BankRepairArgs { scope, .. }) => {
                common::scope_choice_or_all(*scope)
            }
            Self::Filter(_) => ScopeChoice::Detected,
        }
    }

    fn run(&self, app: &mut App) -> Result<(), Failure> {
        match self {
            Self::Read(command) => command.run(app),
            Self::Write(command) => command.run(app),
            Self::Update(command) => command.run(app),
            Self::Delete(command) => command.run(app),
            Self::List(command) => command.run(app),
            Self::Query(command) => command.run(app),
            Self::Search(command) => command.run(app),
            Self::Export(command) => command.run(app),
            Self::Import(command) => command.run(app),
            Self::Gc(command) => command.run(app),
            Self::Repair(command) => command.run(app),
            Self::Schema(command) => command.run(app),
            Self::Filter(command) => command.run(app),
        }
    }
}
