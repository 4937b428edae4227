//! The `memory pin` command.

use clap::Args;

use crate::app::App;
use crate::failure::Failure;

/// Pin a memory, so that it is kept for ever
///
/// JSON: the updated memory
#[derive(Debug, Args)]
pub(crate) struct PinArgs {
    /// Id or file name of the memory
    id: String,
    /// Unpin it, so that it can be removed because of its age
    #[arg(long)]
    remove: bool,
}

impl PinArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let (stored, note) = if self.remove {
            (memory_core::unpin(&home.services, &self.id)?, "unpinned")
        } else {
            (memory_core::pin(&home.services, &self.id)?, "pinned")
        };
        app.print_changed(&home, &stored, note)
    }
}
