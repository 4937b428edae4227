//! The `memory unlink` command.

use clap::Args;
use memory_agent::json;
use memory_core::ListOrder;

use crate::app::App;
use crate::failure::Failure;
use crate::print::memories;

/// Remove the link between two memories, in both directions
///
/// A wikilink in the text of either memory stays and is reported; as long as it exists, `resolve-links` and `dream` link
/// the memories again.
///
/// JSON: {memories: [MEMORY, MEMORY], wikilinks?: [{id, link}]}, the updated memories, and the remaining wikilinks between
/// them
#[derive(Debug, Args)]
pub(crate) struct UnlinkArgs {
    /// Id or file name of the first memory
    #[arg(value_name = "ID")]
    first: String,
    /// Id or file name of the second memory
    #[arg(value_name = "ID")]
    second: String,
}

impl UnlinkArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let (first, second) = memory_core::unlink(&home.services, &self.first, &self.second)?;
        let wikilinks = memory_core::wikilinks_between(&home.services, &first, &second)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::unlink_result([&first, &second], &wikilinks, home.services.inbox_ttl))?);
        }
        memories::print_list(&mut app.output, &[first, second], ListOrder::Created, home.services.inbox_ttl)?;
        app.output.note("link removed")?;
        wikilinks.iter().try_for_each(|(id, link)| {
            let id = id.short();
            Ok(app.output.warning(&format!(
                "the text of {id} still contains [[{link}]], which will link them again; remove it with `memory edit {id}`"
            ))?)
        })
    }
}
