//! The `memory reindex` command.

use clap::Args;
use serde_json::json;

use crate::app::App;
use crate::failure::Failure;

/// Rebuild the index from the files
///
/// Normally not needed: the index is a cache and is rebuilt automatically. It is always safe.
///
/// JSON: {documents, degraded?}
#[derive(Debug, Args)]
pub(crate) struct ReindexArgs {}

impl ReindexArgs {
    #[expect(clippy::unused_self, reason = "all commands run alike")]
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let mut bar = app.output.progress_bar("reading");
        let documents = home.store.rebuild(&mut |progress| bar.show(progress))?;
        drop(bar);
        let disorder = home.store.journal_warning();
        if app.output.is_json() {
            let mut answer = json!({ "documents": documents });
            if let Some(why) = disorder {
                answer["degraded"] = why.into();
            }
            return Ok(app.output.json(&answer)?);
        }
        if let Some(why) = disorder {
            app.output.warning(&why)?;
        }
        Ok(app.output.fields(&["documents", &documents.to_string()])?)
    }
}
