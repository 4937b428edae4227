//! The `memory read` command.

use clap::Args;
use memory_agent::json;
use memory_core::Trashed;

use crate::app::App;
use crate::failure::Failure;
use crate::print::memories;

/// Show a memory
///
/// At a terminal, with all that is known about it; in a pipe, its text alone. Where a summary stands in the place of a text, it is
/// said where in the trash that text is; `memory restore` with the id brings it back.
///
/// JSON: the memory: {id, content, content_hash, phase, category, scope, tags, source, created_at, updated_at, expires_at,
/// access_count, links, version, title?, aliases?, valid_from?, valid_until?, supersedes?, superseded_by?, summarised_by?, other_origins?,
/// pinned?, due?, reminds?, notified_at?, done_at?, origin?, path, problem?}; `expires_at` of a memory in the inbox is the end of
/// its time there (`storage.short_term_ttl`), unless it names another
#[derive(Debug, Args)]
pub(crate) struct Read {
    /// Which memory
    id: String,
}

impl Read {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let stored = memory_core::read(&home.services, &self.id)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::memory(&stored, home.services.inbox_ttl))?);
        }
        memories::whole(&mut app.output, &stored, home.services.inbox_ttl)?;
        if stored.memory.summarised_by.is_some() {
            let whole = memory_core::whole_text(&home.services, &stored.memory)?;
            app.output.note(&match whole {
                Some(Trashed { trash, id, .. }) => {
                    format!("this is a summary; `memory restore {}` brings the whole text back from {trash}", id.short())
                }
                None => "this is a summary; the whole text is in the trash no longer".to_owned(),
            })?;
        }
        if let Some(problem) = &stored.problem {
            app.output.warning(&problem.to_string())?;
            problem.hint.map_or(Ok(()), |hint| app.output.hint(hint))?;
        }
        Ok(())
    }
}
