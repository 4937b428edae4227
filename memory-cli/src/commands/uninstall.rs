//! The `memory uninstall` command.

use clap::Args;

use super::install::{SetupArgs, said};
use crate::app::App;
use crate::failure::Failure;
use crate::install::Setup;

/// Take out of a coding assistant's settings what `memory install` put in
///
/// A file that nobody has touched since becomes what it was, byte for byte; of any other, exactly our entries go. A file that
/// was made for us, and holds nothing else, is removed. No memory is touched.
///
/// JSON: {client, level, dry_run, changed, files: [{path, change, backup, diff}]}; `change` is restored, changed, removed or
/// unchanged, `diff` is given with --dry-run
#[derive(Debug, Args)]
pub(crate) struct Uninstall {
    #[command(flatten)]
    arguments: SetupArgs,
}

impl Uninstall {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match (self.arguments.run(app, Setup::uninstall)?, self.arguments.is_rehearsal()) {
            (false, _) => said(app, "nothing of ours is there; nothing was changed"),
            (true, true) => said(app, "nothing was written"),
            (true, false) => Ok(()),
        }
    }
}
