//! The `memory pin` and `memory unpin` commands.

use clap::Args;

use crate::app::App;
use crate::failure::Failure;

/// Pin a memory, so that it is never removed because of its age
///
/// JSON: the updated memory
#[derive(Debug, Args)]
pub(crate) struct PinArgs {
    /// Id or file name of the memory
    id: String,
}

impl PinArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let stored = memory_core::pin(&home.services, &self.id)?;
        app.print_changed(&home, &stored, "pinned")
    }
}

/// Unpin a memory, so that it can be removed because of its age
///
/// JSON: the updated memory
#[derive(Debug, Args)]
pub(crate) struct UnpinArgs {
    /// Id or file name of the memory
    id: String,
}

impl UnpinArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let stored = memory_core::unpin(&home.services, &self.id)?;
        app.print_changed(&home, &stored, "unpinned")
    }
}
