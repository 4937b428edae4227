//! The `memory diff` command.

use clap::Args;
use memory_core::MemoryStoreExt;
use memory_store::conversation::GitVersions;
use serde_json::json;

use crate::app::App;
use crate::failure::Failure;
use crate::versions;

/// Show the history of a memory, newest change first
///
/// Requires git versioning: of the home, with `memory config set git.enabled true`, or of conversations in a folder of
/// their own, where the proxy enables it by default.
///
/// JSON: {id, path, changes}; changes is the output of `git log --patch`
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The memory
    id: String,
    /// Maximum number of changes
    #[arg(long, default_value_t = 5, value_name = "N")]
    limit: usize,
}

impl DiffArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let root = home.store.root().to_owned();
        versions::check_has_history(&root)?;
        let keeps_home = home.settings.git.value;
        // The latest changes may not be committed yet.
        if keeps_home && let Err(error) = versions::commit_now(&root, "Update memories") {
            app.output.warning(&error.to_string())?;
        }
        let stored = home.services.store.get_by(&self.id)?;
        let changes = GitVersions::file_log(&root, &stored.path, self.limit).map_err(|error| versions::git_error(&error))?;
        if changes.is_empty() && !keeps_home {
            // The repository may contain conversations only.
            return Err(versions::no_history_error());
        }
        if app.output.is_json() {
            let id = stored.memory.id.to_string();
            return Ok(app.output.json(&json!({ "id": id, "path": stored.path, "changes": changes }))?);
        }
        app.output.text(&changes)?;
        Ok(())
    }
}
