//! The `memory uninstall` command.

use clap::Args;

use super::install::{SetupArgs, print_note};
use crate::app::App;
use crate::failure::Failure;
use crate::install::ClientSetup;

/// Remove the entries of `memory install` from a coding assistant's settings
///
/// A file that is unchanged since the installation is restored exactly; in any other file, only the entries of this program
/// are removed. A file that the installation created and that contains nothing else is deleted. No memory is changed.
///
/// JSON: {client, level, dry_run, changed, files: [{path, change, backup, diff}]}; `change` is restored, changed, removed or
/// unchanged, `diff` is given with --dry-run
#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    arguments: SetupArgs,
}

impl UninstallArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match (self.arguments.run(app, ClientSetup::plan_uninstall)?, self.arguments.is_dry_run()) {
            (false, _) => print_note(app, "no entries found; nothing was changed"),
            (true, true) => print_note(app, "nothing was written"),
            (true, false) => Ok(()),
        }
    }
}
