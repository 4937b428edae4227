//! The `memory tidy upgrade` command.

use clap::Args;
use memory_agent::json::{self, add_field};
use memory_core::{
    Category, FiledReminder, MemoryStoreExt, MergedFields, Phase, RemindReport, Services,
    StoreError,
};

use super::remind;
use crate::app::App;
use crate::args;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::memories;

/// File a memory from the inbox under a category
///
/// Without --category, the category is the one suggested in its file, else the one that `memory tidy` would choose by the
/// text, else `knowledge`.
///
/// Under `reminders` the memory becomes a reminder for the time in its text, relative to its creation; a warning is printed
/// if the text has no future time.
///
/// JSON: the updated memory, with a `warning` if it could not become a reminder
#[derive(Debug, Args)]
pub(super) struct UpgradeArgs {
    /// Id or file name of the memory
    id: String,
    /// The category
    #[arg(long, value_parser = args::category_parser(), ignore_case = true)]
    category: Option<Category>,
}

impl UpgradeArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        if self.is_for_reminders(&home.services)? {
            let filed = memory_core::upgrade_to_reminder(&home.services, &self.id, &home.zone)?;
            app.update_pending_page(&home)?;
            return print_filed_reminder(filed, &home, app);
        }
        let stored = memory_dream::upgrade(&home.services, &self.id, self.category)?;
        let note = format!("filed under {}", stored.memory.category);
        app.print_changed(&home, &stored, &note)
    }

    /// Returns whether the memory is filed as a reminder: by the flag, else by the category in its file.
    fn is_for_reminders(&self, services: &Services) -> Result<bool, StoreError> {
        if let Some(category) = self.category {
            return Ok(category == Category::Reminders);
        }
        let memory = services.store.get_by(&self.id)?.memory;
        Ok(memory.phase == Phase::Inbox && memory.category == Category::Reminders)
    }
}

/// Prints a memory filed as a reminder, with its due time or the reason why it is not due.
fn print_filed_reminder(filed: FiledReminder, home: &Home, app: &mut App) -> Result<(), Failure> {
    let FiledReminder {
        stored,
        assumed,
        warning,
    } = filed;
    let warning = warning.map(|warning| remind::add_remind_hint(&warning, stored.memory.id));
    if app.output.is_json() {
        let mut shape = json::memory(&stored, home.services.inbox_ttl);
        add_field(&mut shape, "warning", warning);
        return app.output.json(&shape);
    }
    let Some(warning) = warning else {
        return remind::print_reminder(
            &RemindReport {
                stored,
                created: true,
                assumed,
                merged: MergedFields::default(),
                ignored: Vec::new(),
            },
            home.zone,
            &mut app.output,
        );
    };
    memories::print_receipt(&mut app.output, stored.memory.id, &stored.path)?;
    app.output.warning(&warning)
}
