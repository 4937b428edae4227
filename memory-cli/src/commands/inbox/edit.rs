//! The `memory inbox edit` command.

use clap::Args;
use memory_core::{MemoryStoreExt, Phase, SecretPolicy, StoreError, StoredMemory};

use crate::app::App;
use crate::args;
use crate::commands::edit::{edit_in_editor, editor_command};
use crate::failure::Failure;
use crate::home::Home;

/// Edit a proposal or a note before accepting it
///
/// Without --content, the text opens in $VISUAL or $EDITOR. An edited proposal is based on the current text of the memory that
/// it would change; if that was changed since, only the text of the proposal remains, and its other fields are those of the memory.
///
/// JSON: the proposal or note
#[derive(Debug, Args)]
pub(super) struct InboxEditArgs {
    /// Id or file name of the proposal or note
    id: String,
    /// New text; `-` reads the standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,
    /// Store the text even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
}

impl InboxEditArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let content = self
            .content
            .as_deref()
            .map(|given| args::read_content(given, &mut app.output))
            .transpose()?;
        let changed = match content {
            Some(content) => {
                let policy = SecretPolicy::allowing(self.allow_secret);
                memory_core::edit_proposal(&home.services, &self.id, &content, None, policy)?
            }
            None => edit_with_editor(
                &home,
                &self.id,
                SecretPolicy::allowing(self.allow_secret),
                app,
            )?,
        };
        let note = format!("updated to version {}", changed.memory.version);
        app.print_changed(&home, &changed, &note)
    }
}

/// Opens the text of a proposal or note in the editor, and stores the result.
pub(super) fn edit_with_editor(
    home: &Home,
    reference: &str,
    secrets: SecretPolicy,
    app: &App,
) -> Result<StoredMemory, Failure> {
    let stored = home.services.store.get_by(reference)?;
    if !stored.memory.is_proposal() && stored.memory.phase != Phase::Inbox {
        return Err(StoreError::Invalid {
            why: format!("{} is neither a proposal nor in the inbox", stored.path),
        }
        .into());
    }
    let id = stored.memory.id.to_string();
    let editor = editor_command(app)?;
    edit_in_editor(&editor, &stored, &|text| {
        memory_core::edit_proposal(&home.services, &id, text, Some(stored.stamp), secrets)
    })
}
