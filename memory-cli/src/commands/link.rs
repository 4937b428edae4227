//! The `memory link` command.

use clap::Args;
use memory_agent::json;
use memory_core::ListOrder;

use crate::app::App;
use crate::failure::Failure;
use crate::print::memories;

/// Link two memories in both directions
///
/// JSON: {memories: [MEMORY, MEMORY]}, the updated memories
#[derive(Debug, Args)]
pub(crate) struct LinkArgs {
    /// Id or file name of the first memory
    #[arg(value_name = "ID")]
    first: String,
    /// Id or file name of the second memory
    #[arg(value_name = "ID")]
    second: String,
}

impl LinkArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let (first, second) = memory_core::link(&home.services, &self.first, &self.second)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::memories([&first, &second], home.services.inbox_ttl))?);
        }
        memories::print_list(&mut app.output, &[first, second], ListOrder::Created, home.services.inbox_ttl)?;
        Ok(app.output.note("linked in both directions")?)
    }
}
