//! The `memory tag` command.

use clap::Args;

use crate::app::App;
use crate::args;
use crate::failure::Failure;
use crate::print::memories;

/// Add or remove tags of a memory
///
/// JSON: the updated memory
#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// Id or file name of the memory
    id: String,
    #[command(flatten)]
    change: TagChangeArgs,
}

/// The tags to change; at least one flag is required.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct TagChangeArgs {
    /// Comma-separated tags to add
    #[arg(long, value_delimiter = ',', value_name = "TAGS", value_parser = args::list_item)]
    add: Vec<String>,
    /// Comma-separated tags to remove
    #[arg(long, value_delimiter = ',', value_name = "TAGS", value_parser = args::list_item)]
    remove: Vec<String>,
}

impl TagArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let stored = memory_core::tag(
            &home.services,
            &self.id,
            self.change.add.iter().collect(),
            self.change.remove.iter().collect(),
        )?;
        let tags = if app.output.is_drawn() {
            memories::tags_text(&stored.memory)
        } else {
            stored.memory.tags.as_slice().join(",")
        };
        let note = format!("tags: {}", if tags.is_empty() { "none" } else { &tags });
        app.print_changed(&home, &stored, &note)
    }
}
