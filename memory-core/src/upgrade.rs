//! Filing a memory.

use chrono::TimeZone;

use crate::remind::reminder_in;
use crate::update::change;
use crate::{Category, MemoryStoreExt, Patch, Phase, Secrets, Services, StoreError, Stored, Verb};

/// Where a memory is filed when neither the person nor the memory says.
const DEFAULT: Category = Category::Knowledge;

/// Moves the memory that a person means by `reference` from the inbox to the folder of its category: the one given, else
/// the one suggested in it, else `knowledge`.
///
/// # Errors
/// [`StoreError::Invalid`] for the category inbox, [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn upgrade(services: &Services, reference: &str, category: Option<Category>) -> Result<Stored, StoreError> {
    if category == Some(Category::Inbox) {
        return Err(StoreError::Invalid { why: "the inbox is no category to file a memory in".into() });
    }
    let stored = services.store.get_by(reference)?;
    let suggested = Some(stored.memory.category).filter(|category| *category != Category::Inbox);
    if stored.memory.phase == Phase::Organized && category.is_none() {
        return Ok(stored);
    }
    let patch = Patch { category: Some(category.or(suggested).unwrap_or(DEFAULT)), ..Patch::default() };
    change(services, Verb::Upgrade, &stored.memory.id.to_string(), &patch, None, Secrets::Keep)
}

/// What became of a memory that was filed as a reminder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FiledReminder {
    /// The memory as it is then.
    pub stored: Stored,
    /// What was assumed where the words leave the time open.
    pub assumed: Option<String>,
    /// Why it reminds nobody, if it does not.
    pub warning: Option<String>,
}

/// Files the memory that a person means by `reference` under the category of reminders, due when its text says, seen from when it was
/// written in `zone`. One that is a reminder already keeps its time; one whose text names no time to come reminds nobody.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn upgrade_to_reminder<Tz: TimeZone>(services: &Services, reference: &str, zone: &Tz) -> Result<FiledReminder, StoreError> {
    let memory = services.store.get_by(reference)?.memory;
    let found = match memory.reminder {
        Some(_) => Ok((None, None)),
        None => reminder_in(&memory.content, memory.created_at, services.clock.now(), zone)
            .map(|(reminder, assumed)| (Some(reminder), assumed)),
    };
    let (reminder, assumed, warning) = match found {
        Ok((reminder, assumed)) => (reminder, assumed, None),
        Err(warning) => (None, None, Some(warning)),
    };
    let patch = Patch { category: Some(Category::Reminders), reminder, ..Patch::default() };
    let stored = change(services, Verb::Upgrade, &memory.id.to_string(), &patch, None, Secrets::Keep)?;
    Ok(FiledReminder { stored, assumed, warning })
}
