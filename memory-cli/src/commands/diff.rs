//! The `memory diff` command.

use clap::Args;
use memory_core::MemoryStoreExt;
use memory_store::conversation::Versions;
use serde_json::json;

use crate::app::App;
use crate::failure::Failure;
use crate::versions;

/// Show how a memory came to be what it is, newest change first
///
/// It is there where git keeps every state: for the whole home after `memory config set git.enabled true`, and for conversations
/// that a proxy keeps in a folder of their own.
///
/// JSON: {id, path, changes}, where changes is what `git log --patch` says
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The memory
    id: String,
    /// How many changes at most
    #[arg(long, default_value_t = 5, value_name = "N")]
    limit: usize,
}

impl Diff {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let root = home.store.root().to_owned();
        versions::is_kept(&root)?;
        let keeps_home = app.settings()?.git.value;
        // The latest changes may not be committed yet.
        if keeps_home && let Err(error) = versions::keep_now(&root, "Remember") {
            app.output.warning(&error.to_string())?;
        }
        let stored = home.services.store.get_by(&self.id)?;
        let changes = Versions::changes(&root, &stored.path, self.limit).map_err(|error| versions::refused(&error))?;
        if changes.is_empty() && !keeps_home {
            // The repository may contain conversations only.
            return Err(versions::not_kept());
        }
        if app.output.is_json() {
            let id = stored.memory.id.to_string();
            return Ok(app.output.json(&json!({ "id": id, "path": stored.path, "changes": changes }))?);
        }
        app.output.text(&changes)?;
        Ok(())
    }
}
