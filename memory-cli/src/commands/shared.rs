//! The `memory shared` command, for memories that several machines and users share.

use clap::{Args, Subcommand};

use super::init::InitArgs;
use super::migrate::MigrateArgs;
use super::principal::PrincipalArgs;
use crate::app::App;
use crate::failure::Failure;

/// Share memories with other machines and users, in a Postgres database
#[derive(Debug, Args)]
pub(crate) struct SharedArgs {
    #[command(subcommand)]
    command: SharedCommand,
}

#[derive(Debug, Subcommand)]
enum SharedCommand {
    Init(InitArgs),
    Principal(PrincipalArgs),
    Migrate(MigrateArgs),
}

impl SharedArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            SharedCommand::Init(command) => command.run(app),
            SharedCommand::Principal(command) => command.run(app),
            SharedCommand::Migrate(command) => command.run(app),
        }
    }
}
