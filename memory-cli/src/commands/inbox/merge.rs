//! The `memory inbox merge` command.

use clap::Args;
use memory_core::{MergeOptions, SecretPolicy};

use crate::app::App;
use crate::failure::Failure;

/// Add the text of a proposal or note to another memory
///
/// Lines that the memory has already are left out. The proposal or note moves to the trash; `memory undo` reverts both.
///
/// JSON: the updated memory
#[derive(Debug, Args)]
pub(super) struct InboxMergeArgs {
    /// Id or file name of the proposal or note
    id: String,
    /// Id or file name of the memory that receives the text
    into: String,
    /// Store the text even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
}

impl InboxMergeArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let secrets = SecretPolicy::allowing(self.allow_secret);
        let merged = memory_core::merge(
            &home.services,
            &self.id,
            &self.into,
            MergeOptions::default(),
            secrets,
        )?;
        let note = format!("merged into version {}", merged.memory.version);
        app.print_changed(&home, &merged, &note)
    }
}
