//! The `memory instance rekey` command.

use clap::Args;
use serde_json::json;

use super::common::write_json;
use crate::app::App;
use crate::failure::Failure;
use crate::instances::InstanceRegistry;

/// Encrypt all secrets with a new key
///
/// If MEMO_MASTER_KEY is set, MEMO_NEW_MASTER_KEY is the new key. If the command is interrupted, all secrets remain
/// readable; run it again.
///
/// JSON: {resealed}, the number of fields
#[derive(Debug, Args)]
pub(super) struct InstanceRekeyArgs {}

impl InstanceRekeyArgs {
    pub(super) fn run(app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let book = InstanceRegistry::open(&settings)?;
        let resealed = book.instances.rekey(book.new_master_key()?.as_ref())?;
        write_json(&mut app.output, &json!({ "resealed": resealed }).to_string())
    }
}
