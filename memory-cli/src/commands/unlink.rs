//! The `memory unlink` command.

use clap::Args;
use memory_agent::json;
use memory_core::Order;

use crate::app::App;
use crate::failure::Failure;
use crate::print::memories;

/// Part two linked memories, both ways
///
/// A wikilink in the text of either stays, and is named: as long as it is there, `resolve-links` and dreams link them again.
///
/// JSON: {memories: [MEMORY, MEMORY], wikilinks?: [{id, link}]}, as they are then, with the wikilinks that still lead from one to the other
#[derive(Debug, Args)]
pub(crate) struct Unlink {
    /// One memory
    #[arg(value_name = "ID")]
    first: String,
    /// The other
    #[arg(value_name = "ID")]
    second: String,
}

impl Unlink {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let (first, second) = memory_core::unlink(&home.services, &self.first, &self.second)?;
        let wikilinks = memory_core::wikilinks_between(&home.services, &first, &second)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::unlinked([&first, &second], &wikilinks, home.services.inbox_ttl))?);
        }
        memories::lines(&mut app.output, &[first, second], Order::Created, home.services.inbox_ttl)?;
        app.output.note("no longer linked")?;
        wikilinks.iter().try_for_each(|(id, link)| {
            let id = id.short();
            Ok(app.output.warning(&format!(
                "the text of {id} still holds [[{link}]], which links them again; `memory edit {id}` takes it out"
            ))?)
        })
    }
}
