//! Moving a memory from the inbox to a category.

use chrono::TimeZone;

use crate::remind::parse_reminder;
use crate::update::apply_patch;
use crate::{
    Category, MemoryStoreExt, Patch, Phase, SecretPolicy, Services, StoreError, StoredMemory, Verb,
};

/// The category if neither the caller nor the memory specifies one.
const DEFAULT_CATEGORY: Category = Category::Knowledge;

/// Moves the memory that `reference` names from the inbox to the folder of a category.
///
/// The category is `category`, or else the one suggested in the memory, or else `knowledge`.
///
/// # Errors
/// [`StoreError::Invalid`] for the category inbox, [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn upgrade(
    services: &Services,
    reference: &str,
    category: Option<Category>,
) -> Result<StoredMemory, StoreError> {
    if category == Some(Category::Inbox) {
        return Err(StoreError::Invalid {
            why: "the inbox is not a category to move a memory to".into(),
        });
    }
    let stored = services.store.get_by(reference)?;
    if stored.memory.is_proposal() {
        return Err(StoreError::Invalid {
            why: format!("{} is a proposal: accept it to file it", stored.path),
        });
    }
    let suggested = Some(stored.memory.category).filter(|category| *category != Category::Inbox);
    if stored.memory.phase == Phase::Organized && category.is_none() {
        return Ok(stored);
    }
    let patch = Patch {
        category: Some(category.or(suggested).unwrap_or(DEFAULT_CATEGORY)),
        ..Patch::default()
    };
    apply_patch(
        services,
        Verb::Upgrade,
        &stored.memory.id.to_string(),
        &patch,
        None,
        SecretPolicy::Keep,
    )
}

/// The result of moving a memory to the category of reminders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FiledReminder {
    /// The new version of the memory.
    pub stored: StoredMemory,
    /// The assumptions that were made where the text is ambiguous.
    pub assumed: Option<String>,
    /// The reason for a missing due time, if it is missing.
    pub warning: Option<String>,
}

/// Moves the memory that `reference` names to the category of reminders.
///
/// It is due at the time that its text names. The text is interpreted relative to its creation time in `zone`. An
/// existing reminder retains its time. A text that names no future time has no due time.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn upgrade_to_reminder<Tz: TimeZone>(
    services: &Services,
    reference: &str,
    zone: &Tz,
) -> Result<FiledReminder, StoreError> {
    let memory = services.store.get_by(reference)?.memory;
    let found = match memory.reminder {
        Some(_) => Ok((None, None)),
        None => parse_reminder(
            &memory.content,
            memory.created_at,
            services.clock.now(),
            zone,
        )
        .map(|due| (Some(due.reminder()), due.assumed)),
    };
    let (reminder, assumed, warning) = match found {
        Ok((reminder, assumed)) => (reminder, assumed, None),
        Err(warning) => (None, None, Some(warning)),
    };
    let patch = Patch {
        category: Some(Category::Reminders),
        reminder,
        ..Patch::default()
    };
    let stored = apply_patch(
        services,
        Verb::Upgrade,
        &memory.id.to_string(),
        &patch,
        None,
        SecretPolicy::Keep,
    )?;
    Ok(FiledReminder {
        stored,
        assumed,
        warning,
    })
}
