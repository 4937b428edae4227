//! The `memory notify` command.

use clap::Args;
use memory_agent::json;
use memory_core::{NotifyReport, StoredMemory};

use crate::app::App;
use crate::failure::Failure;
use crate::notification::{self, SelectedNotifier};
use crate::print::Output;

/// Show due reminders, each once
///
/// They are shown by the configured method (`notification.method`): as a desktop notification, or only in pending.md, which
/// lists all due reminders that are not done, for agents to read. Run it regularly, for example from cron. Reminders that
/// could not be shown are shown next time; shown reminders stay due until they are done.
///
/// JSON: {shown: [MEMORY…], waiting, method, instead?, failed?, pending, degraded?}; `waiting` is the number of reminders
/// still to be shown, `method` the method used (off if none), `instead` why it is not the configured one, `failed` why not
/// all were shown, and `pending` whether pending.md exists
#[derive(Debug, Args)]
pub(crate) struct NotifyArgs {}

impl NotifyArgs {
    #[expect(clippy::unused_self, reason = "all commands run alike")]
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let settings = &home.settings;
        if !settings.notifications.value {
            let pending = app.update_pending_page(&home)?;
            return if app.output.is_json() {
                app.output.json(&json::notification(
                    &NotifyReport::default(),
                    "off",
                    None,
                    pending,
                ))
            } else {
                app.output.note("notifications are disabled in the settings; due reminders are listed in pending.md")
            };
        }
        let SelectedNotifier {
            notifier,
            name,
            instead,
        } = notification::select_notifier(settings.notification_method.value, app.environment);
        let report = memory_core::notify(&home.services, notifier.as_ref(), &home.zone)?;
        let pending = app.update_pending_page(&home)?;
        if app.output.is_json() {
            app.output.json(&json::notification(
                &report,
                name,
                instead.as_deref(),
                pending,
            ))?;
        } else {
            print_result(&report, name, instead.as_deref(), &mut app.output)?;
        }
        report.failed.map_or(Ok(()), |source| {
            Err(Failure::NotShown {
                count: report.waiting,
                source,
            })
        })
    }
}

fn print_result(
    report: &NotifyReport,
    name: &str,
    instead: Option<&str>,
    output: &mut Output,
) -> Result<(), Failure> {
    for StoredMemory { memory, .. } in &report.shown {
        let due = memory
            .reminder
            .as_ref()
            .map(|reminder| reminder.due)
            .unwrap_or_default();
        let (id, due) = (output.id(memory.id), output.time(due));
        output.fields(&[&id, &due, memory.headline()])?;
    }
    for problem in &report.problems {
        output.warning(&format!("{problem}; the reminder was not shown"))?;
    }
    if let Some(why) = &report.degraded {
        output.warn_incomplete(why)?;
    }
    instead.map_or(Ok(()), |instead| output.note(instead))?;
    let by = if name == "file" {
        "in pending.md".to_owned()
    } else {
        format!("by {name}")
    };
    match (report.shown.len(), &report.failed) {
        (0, None) => output.note("no new reminders to show"),
        (0, Some(_)) => Ok(()),
        (1, _) => output.note(&format!("1 reminder shown {by}")),
        (count, _) => output.note(&format!("{count} reminders shown {by}")),
    }
}
