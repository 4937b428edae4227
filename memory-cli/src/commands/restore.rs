//! The `memory restore` command.

use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::json;
use memory_core::conversation;
use memory_core::topic::{INDEX_FILE, Trashed};
use memory_core::{Outcome, Services, StoreError};

use crate::app::App;
use crate::config::Settings;
use crate::conversations;
use crate::failure::Failure;
use crate::print::memories;
use crate::topics;

/// Bring a file back from the trash
///
/// The one that was put there last, if several answer to the name. Of a memory whose text was summarised, the whole text.
///
/// A fact or a turn of a conversation comes back by its id as well.
///
/// A topic comes back by `memory undo OPERATION`, which is told if one is named.
///
/// JSON: {id, path, trash, conversation?, memory_path?}
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// An id, 4 or more digits of one, the name of the file, or its path in the trash
    #[arg(value_name = "REF")]
    reference: String,
    /// The folder of the topics, if it is another than the project's
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The folder of the conversations [default: the home, and the proxy's folder]
    #[arg(long, value_name = "DIR")]
    memory_path: Option<PathBuf>,
}

impl Restore {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let home = app.open_with_topics(&settings, self.dir.as_deref())?;
        let (trashed, outcome) = match memory_core::restore(&home.services, &self.reference) {
            Err(missing @ StoreError::TrashNotFound { .. }) => {
                if self.of_conversations(&home.services, &settings, app)? {
                    return Ok(());
                }
                return Err(self.of_topics(&home.services)?.unwrap_or_else(|| missing.into()));
            }
            restored => restored?,
        };
        home.keep_pending(&mut app.output)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::restored(&trashed, &outcome))?);
        }
        let (Outcome::Kept { id, path } | Outcome::Duplicate { id, path } | Outcome::Removed { id, path }) = &outcome;
        Ok(memories::receipt(&mut app.output, *id, path)?)
    }

    /// Restores an entry of a conversation; returns whether the reference matches an entry.
    fn of_conversations(&self, services: &Services, settings: &Settings, app: &mut App) -> Result<bool, Failure> {
        for kept in conversations::kept(settings, app.environment, self.memory_path.as_deref())? {
            let (clock, ids) = (services.clock.as_ref(), services.ids.as_ref());
            let (entry, path) = match conversation::restore(kept.store.as_ref(), &self.reference, clock, ids) {
                Err(StoreError::TrashNotFound { .. }) => continue,
                restored => restored?,
            };
            let message = format!("Restore {} of {}", entry.id, entry.conversation);
            conversations::keep_versions(settings, Path::new(&kept.place), &message, &mut app.output);
            if app.output.is_json() {
                app.output.json(&json::restored_entry(&kept.place, &entry, &path))?;
            } else {
                app.output.fields(&[entry.id.as_str(), &path])?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns a failure with the command to use, if the reference is a deleted file of topics.
    fn of_topics(&self, services: &Services) -> Result<Option<Failure>, Failure> {
        let Some(topics) = &services.topics else { return Ok(None) };
        let is_it = |trashed: &Trashed| {
            let names = [trashed.trash.as_str(), &trashed.path, trashed.path.trim_end_matches(".md")];
            names.contains(&self.reference.as_str())
        };
        let Some(trashed) = topics.store.trashed()?.into_iter().find(is_it) else { return Ok(None) };
        let hint = if trashed.path == INDEX_FILE {
            "the index is made anew from the topics; take what you miss from the trash by hand".to_owned()
        } else {
            let undo = topics::undo_command(Some(&trashed.operation.id), self.dir.as_deref());
            format!("`{undo}` takes back the {} that put it there", trashed.operation.verb.as_str())
        };
        Ok(Some(Failure::Usage { why: format!("{} is a file of topics", trashed.path), hint: Some(hint) }))
    }
}
