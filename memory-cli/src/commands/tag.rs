//! The `memory tag` command.

use clap::Args;

use crate::app::App;
use crate::failure::Failure;
use crate::print::{Form, memories};
use memory_agent::json;

/// Add tags to a memory, or take them away
///
/// JSON: the memory as it is then
#[derive(Debug, Args)]
pub(crate) struct Tag {
    /// Which memory
    id: String,
    #[command(flatten)]
    change: Change,
}

/// What is to be changed: at least one of the two.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Change {
    /// Tags to add, with commas between them
    #[arg(long, value_delimiter = ',', value_name = "TAGS")]
    add: Vec<String>,
    /// Tags to take away, with commas between them
    #[arg(long, value_delimiter = ',', value_name = "TAGS")]
    remove: Vec<String>,
}

impl Tag {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let stored =
            memory_core::tag(&home.services, &self.id, self.change.add.iter().collect(), self.change.remove.iter().collect())?;
        let tags = match app.output.form() {
            Form::Json => return Ok(app.output.json(&json::memory(&stored, home.services.inbox_ttl))?),
            Form::Drawn(_) => memories::hashed(&stored.memory),
            Form::Tabbed => stored.memory.tags.as_slice().join(","),
        };
        memories::receipt(&mut app.output, stored.memory.id, &stored.path)?;
        Ok(app.output.note(&format!("tags: {}", if tags.is_empty() { "none" } else { &tags }))?)
    }
}
