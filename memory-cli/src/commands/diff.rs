//! The history of a memory, for `memory log`.

use std::fmt::Write;

use memory_core::{MemoryStep, MemoryStoreExt, StoreError, find_trashed, memory_history};
use memory_store::conversation::GitVersions;
use serde_json::json;
use similar::TextDiff;

use super::inbox::field_changes;
use crate::app::App;
use crate::datetime;
use crate::failure::Failure;
use crate::print::escape_text;
use crate::versions;
use crate::zone::UserTimeZone;

/// Prints at most `limit` changes of a memory, which may be deleted, newest first.
pub(super) fn print_history(reference: &str, limit: usize, app: &mut App) -> Result<(), Failure> {
    let home = app.open()?;
    let (id, path) = match home.services.store.get_by(reference) {
        Ok(stored) => (stored.memory.id, stored.path),
        Err(error @ StoreError::NotFound { .. }) => match find_trashed(&home.services, reference) {
            Ok(deleted) => (deleted.id, deleted.path),
            Err(_) => return Err(error.into()),
        },
        Err(error) => return Err(error.into()),
    };
    let changes = if home.settings.git.value {
        let root = home.store.root();
        // The latest changes may not be committed yet.
        if let Err(error) = versions::commit_now(root, "Update memories") {
            app.output.warning(&error.to_string())?;
        }
        GitVersions::file_log(root, &path, limit).map_err(|error| versions::git_error(&error))?
    } else {
        let history = memory_history(&home.services, &id, limit)?;
        let steps: Vec<String> = history
            .steps
            .iter()
            .map(|step| step_text(step, app.output.zone()))
            .collect();
        steps.join("\n")
    };
    if app.output.is_json() {
        return app
            .output
            .json(&json!({ "id": id.to_string(), "path": path, "changes": changes }));
    }
    if changes.is_empty() {
        app.output.note("no change of it is recorded")?;
    } else {
        app.output.diff(escape_text(&changes).trim_end())?;
    }
    Ok(())
}

/// Returns a change as text: the operation, the changed fields, and the changed lines as a unified diff.
fn step_text(step: &MemoryStep, zone: UserTimeZone) -> String {
    let operation = &step.operation;
    let mut text = format!(
        "operation {} {} {}",
        operation.id,
        datetime::format_minute(operation.at, zone),
        operation.verb
    );
    if !operation.by.is_empty() {
        let _ = write!(text, " by {}", operation.by);
    }
    text.push('\n');
    if let Some(why) = &step.why {
        let _ = writeln!(text, "why: {why}");
    }
    if let (Some(before), Some(after)) = (&step.before, &step.after) {
        for line in field_changes(before, after, zone) {
            let _ = writeln!(text, "{line}");
        }
    } else if !step.is_creation && !step.is_deletion {
        text.push_str("the text of this change is no longer stored\n");
    }
    let content = |memory: &Option<memory_core::Memory>| {
        memory
            .as_ref()
            .map_or_else(String::new, |memory| memory.content.clone())
    };
    let (before, after) = (content(&step.before), content(&step.after));
    let is_shown =
        step.is_creation || step.is_deletion || step.before.is_some() && step.after.is_some();
    if is_shown && before != after {
        let diff = TextDiff::from_lines(&before, &after);
        let _ = write!(text, "{}", diff.unified_diff().missing_newline_hint(false));
    }
    if step.is_edited_after {
        text.push_str("the text also contains a later change by another program\n");
    }
    text
}
