//! The `memory restore` command.

use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::json;
use memory_core::conversation;
use memory_core::topic::{INDEX_FILE, TrashedTopic};
use memory_core::{ChangeOutcome, Services, StoreError};

use crate::app::App;
use crate::config::Settings;
use crate::conversations;
use crate::failure::Failure;
use crate::print::memories;
use crate::topics;

/// Restore a file from the trash
///
/// If several files match, the most recently deleted one is restored; for a summarised memory, its full text.
///
/// Facts and turns of conversations are also restored by their id.
///
/// To restore a topic, use `memory undo OPERATION`; this command prints it.
///
/// JSON: {id, path, trash, conversation?, memory_path?}
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// Id (4 or more digits), file name, or path in the trash
    #[arg(value_name = "REF")]
    reference: String,
    /// Folder of the topics [default: .memory of the project]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Folder of the conversations [default: the home, and the folder of the proxy]
    #[arg(long, value_name = "DIR")]
    memory_path: Option<PathBuf>,
}

impl RestoreArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open_with_topics(self.dir.as_deref())?;
        let settings = &home.settings;
        let (trashed, outcome) = match memory_core::restore(&home.services, &self.reference) {
            Err(missing @ StoreError::TrashNotFound { .. }) => {
                if self.restore_entry(&home.services, settings, app)? {
                    return Ok(());
                }
                return Err(self
                    .topic_file_failure(&home.services)?
                    .unwrap_or_else(|| missing.into()));
            }
            restored => restored?,
        };
        app.update_pending_page(&home)?;
        if app.output.is_json() {
            return app.output.json(&json::restored_file(&trashed, &outcome));
        }
        let (ChangeOutcome::Kept { id, path }
        | ChangeOutcome::Duplicate { id, path }
        | ChangeOutcome::Removed { id, path }) = &outcome;
        memories::print_receipt(&mut app.output, *id, path)
    }

    /// Restores an entry of a conversation; returns whether the reference matches an entry.
    fn restore_entry(
        &self,
        services: &Services,
        settings: &Settings,
        app: &mut App,
    ) -> Result<bool, Failure> {
        for kept in conversations::operation_logs(settings, self.memory_path.as_deref())? {
            let (clock, ids) = (services.clock.as_ref(), services.ids.as_ref());
            let (entry, path) =
                match conversation::restore(kept.store.as_ref(), &self.reference, clock, ids) {
                    Err(StoreError::TrashNotFound { .. }) => continue,
                    restored => restored?,
                };
            let message = format!("Restore {} of {}", entry.id, entry.conversation);
            app.warn_at_end(conversations::commit_versions(
                settings,
                Path::new(&kept.place),
                &message,
            ));
            if app.output.is_json() {
                app.output
                    .json(&json::restored_entry(&kept.place, &entry, &path))?;
            } else {
                app.output.fields(&[entry.id.as_str(), &path])?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns a failure with the command to use, if the reference is a deleted file of topics.
    fn topic_file_failure(&self, services: &Services) -> Result<Option<Failure>, Failure> {
        let Some(topics) = &services.topics else {
            return Ok(None);
        };
        let is_it = |trashed: &TrashedTopic| {
            let names = [
                trashed.trash.as_str(),
                &trashed.path,
                trashed.path.trim_end_matches(".md"),
            ];
            names.contains(&self.reference.as_str())
        };
        let Some(trashed) = topics.store.trashed()?.into_iter().find(is_it) else {
            return Ok(None);
        };
        let hint = if trashed.path == INDEX_FILE {
            "the index is rebuilt from the topics; copy missing lines from the trash by hand"
                .to_owned()
        } else {
            let undo = topics::undo_command(Some(&trashed.operation.id), self.dir.as_deref());
            format!(
                "restore it with `{undo}`, which undoes the {}",
                trashed.operation.verb.as_str()
            )
        };
        Ok(Some(Failure::Usage {
            why: format!("{} is a topic file", trashed.path),
            hint: Some(hint),
        }))
    }
}
