//! The `memory read` command.

use clap::Args;
use memory_agent::json;
use memory_core::TrashedFile;

use crate::app::App;
use crate::failure::Failure;
use crate::print::memories;

/// Read a memory
///
/// A terminal shows the text with all metadata, a pipe only the text. For a summarised memory, the location of the full
/// text in the trash is printed; `memory restore` with the id restores it.
///
/// JSON: the memory: {id, content, content_hash, phase, category, scope, tags, source, created_at, updated_at, expires_at,
/// access_count, links, version, title?, aliases?, valid_from?, valid_until?, supersedes?, superseded_by?, summarised_by?,
/// other_origins?, pinned?, due?, reminds?, notified_at?, done_at?, origin?, path, problem?}; for a memory in the inbox,
/// `expires_at` is the end of its time there (`storage.short_term_ttl`), unless it has an expiry of its own
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Id or file name of the memory
    id: String,
}

impl ReadArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let stored = memory_core::read(&home.services, &self.id)?;
        if app.output.is_json() {
            return app
                .output
                .json(&json::memory(&stored, home.services.inbox_ttl));
        }
        memories::print_memory(&mut app.output, &stored, home.services.inbox_ttl)?;
        if stored.memory.summarised_by.is_some() {
            let whole = memory_core::find_full_text(&home.services, &stored.memory)?;
            app.output.note(&match whole {
                Some(TrashedFile { trash, id, .. }) => {
                    format!("this is a summary; `memory restore {}` restores the full text from {trash}", id.short())
                }
                None => "this is a summary; the full text is no longer in the trash".to_owned(),
            })?;
        }
        if let Some(problem) = &stored.problem {
            app.output.warning(&problem.to_string())?;
            problem.hint.map_or(Ok(()), |hint| app.output.hint(hint))?;
        }
        Ok(())
    }
}
