//! The `memory snooze` command.

use clap::Args;
use memory_agent::json;

use crate::app::App;
use crate::datetime;
use crate::failure::Failure;
use crate::print::memories;

/// Snooze a reminder until a later time
///
/// JSON: the updated memory
#[derive(Debug, Args)]
pub(crate) struct SnoozeArgs {
    /// Id or file name of the reminder
    id: String,
    /// New due time: words such as `tomorrow at 3pm` or 明天, a duration such as 30m, a day, or a time (RFC 3339)
    when: String,
}

impl SnoozeArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let (until, assumed) = datetime::parse_due_time(&self.when, &home.services.clock.now().with_timezone(&home.zone))?;
        let stored = memory_core::snooze(&home.services, &self.id, until)?;
        app.update_pending_page(&home)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::memory(&stored, home.services.inbox_ttl))?);
        }
        memories::print_receipt(&mut app.output, stored.memory.id, &stored.path)?;
        let assumed = assumed.map(|assumed| format!(" ({assumed})")).unwrap_or_default();
        Ok(app.output.note(&format!("due {}{assumed}", datetime::format_minute_in(until, home.zone)))?)
    }
}
