//! The `memory instance` commands, one subject per file.

mod common;
mod definitions;
mod run;
mod serve;

use clap::{Args, Subcommand};

use crate::app::App;
use crate::failure::Failure;

pub(super) use common::read_argument;

/// Manage instances: stores for session messages and for values under keys
///
/// An instance is a TYPE/NAME: history/main stores sessions, one JSONL file each; kv/scratch stores values, one file per
/// key. history/default and kv/default exist without a definition, in the home. Definitions are in ~/.config/memo/instances
/// (MEMO_STORE_DIR); their secrets are encrypted with ~/.config/memo/master.key (MEMO_KEY_DIR, or the key itself in
/// MEMO_MASTER_KEY). MEMO_ALLOWED_PATHS, a list of folders separated by :, restricts instances of all types to these
/// folders; notes/default, bank/default and topic/default are then refused if their default folders are elsewhere.
///
/// Output is JSON; lists are tables at a terminal. Errors go to standard error; with --json, they are JSON on the standard
/// output.
#[derive(Debug, Args)]
pub(crate) struct InstanceArgs {
    #[command(subcommand)]
    command: InstanceCommand,
}

/// One command on instances. Their order is that of the help.
#[derive(Debug, Subcommand)]
enum InstanceCommand {
    Backends(run::InstanceBackendsArgs),
    Actions(run::InstanceActionsArgs),
    Connect(definitions::InstanceConnectArgs),
    /// List the instances
    ///
    /// JSON: [{type, name, fields, built_in?}], with error instead for an unreadable definition; secrets are shown as sealed
    /// only
    Instances,
    Rm(definitions::InstanceRmArgs),
    Run(run::InstanceRunArgs),
    /// Encrypt all secrets with a new key
    ///
    /// If MEMO_MASTER_KEY is set, MEMO_NEW_MASTER_KEY is the new key. If the command is interrupted, all secrets remain
    /// readable; run it again.
    ///
    /// JSON: {resealed}, the number of fields
    Rekey,
    Serve(serve::InstanceServeArgs),
}

impl InstanceArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        app.output.prefer_json_answers();
        match &self.command {
            InstanceCommand::Backends(command) => command.run(app),
            InstanceCommand::Actions(command) => command.run(app),
            InstanceCommand::Connect(command) => command.run(app),
            InstanceCommand::Instances => definitions::list(app),
            InstanceCommand::Rm(command) => command.run(app),
            InstanceCommand::Run(command) => command.run(app),
            InstanceCommand::Rekey => definitions::rekey(app),
            InstanceCommand::Serve(command) => command.run(app),
        }
    }
}
