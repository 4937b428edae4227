//! Creating reminders, and parsing their due times.
//!
//! A reminder is a memory with the key `due`, and the index contains its due time. The id of a reminder is
//! derived from its source and that time, so each combination has one reminder. If a memory is removed by any use
//! case, `commit` removes its open reminders in the same operation.

use std::ops::Range;

use chrono::{DateTime, Days, NaiveTime, TimeDelta, TimeZone, Timelike, Utc};

use crate::commit::{commit, retry_conflicts};
use crate::datetime::{DateMention, DatePrecision, TimeRelation, find_date};
use crate::query_parser::has_content_word;
use crate::write::plan_merge;
use crate::{
    Category, Change, Draft, Memory, MemoryId, MemoryStoreExt, MergedFields, Patch, Phase,
    Reminder, SecretPolicy, Services, StoreError, StoredMemory, Verb, WriteResult, add_time,
    parse_rfc3339, write,
};

/// The result of creating a reminder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemindReport {
    /// The reminder.
    pub stored: StoredMemory,
    /// Whether the reminder is new; otherwise the same reminder already existed.
    pub created: bool,
    /// The assumptions that were made where the text is ambiguous, as sentences.
    pub assumed: Option<String>,
    /// The fields that the existing reminder received from the draft.
    pub merged: MergedFields,
    /// The fields of the draft that were ignored because the existing reminder has other values.
    pub ignored: Vec<&'static str>,
}

impl RemindReport {
    /// Returns the report for an existing reminder with a new time.
    pub fn changed(stored: StoredMemory) -> Self {
        Self {
            stored,
            created: false,
            assumed: None,
            merged: MergedFields::default(),
            ignored: Vec::new(),
        }
    }
}

/// Stores `draft` as a reminder, due at `at`, or else at the time that its text names.
///
/// The text is interpreted relative to now in `zone`. Each combination of text, scope and time has one reminder: an
/// open one is returned, and a completed one is reopened. Either receives the tags, the title and the pin that it
/// lacks, as in [`write()`].
///
/// `examples/reminders.rs` is a complete program.
///
/// # Errors
/// [`StoreError::NoTime`] and [`StoreError::Over`] as for [`due()`], [`StoreError::Over`] also if `at` is past;
/// [`StoreError::Invalid`] if the text is empty, [`StoreError::Secret`] if it contains a credential.
pub fn remind<Tz: TimeZone>(
    services: &Services,
    draft: Draft,
    at: Option<DateTime<Utc>>,
    zone: &Tz,
    secrets: SecretPolicy,
) -> Result<RemindReport, StoreError> {
    if draft.content.trim().is_empty() {
        return Err(StoreError::Invalid {
            why: "the text of the reminder is empty".into(),
        });
    }
    let now = services.clock.now().with_timezone(zone);
    let (at, assumed) = match at {
        Some(at) => (check_future(at, &now)?, None),
        None => due(&draft.content, &now).map(|due| (due.at, due.assumed))?,
    };
    let id = MemoryId::for_reminder(&[&draft.content, &draft.scope.to_string()], at);
    store_reminder(
        services,
        id,
        &into_reminder(draft, Reminder::new(at)),
        assumed,
        secrets,
    )
}

/// The result of writing a text to the category of reminders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenReminder {
    /// The text names a future time, and is stored as a reminder.
    Reminder(Box<RemindReport>),
    /// The text is stored as a memory of the category without a due time.
    Memory {
        /// The result of writing the memory.
        written: WriteResult,
        /// The reason why it is not a reminder, and advice, as sentences.
        warning: String,
    },
}

/// Stores `draft` as a reminder, due at the time that its text names.
///
/// The text is interpreted relative to now in `zone`. A text that names no future time is stored as a memory of the
/// category.
///
/// # Errors
/// Those of [`write()`].
pub fn write_reminder<Tz: TimeZone>(
    services: &Services,
    draft: Draft,
    zone: &Tz,
    secrets: SecretPolicy,
) -> Result<WrittenReminder, StoreError> {
    let now = services.clock.now();
    match parse_reminder(&draft.content, now, now, zone) {
        Ok((Reminder { due, .. }, assumed)) => remind(services, draft, Some(due), zone, secrets)
            .map(|reminded| {
                WrittenReminder::Reminder(Box::new(RemindReport {
                    assumed: reminded.assumed.or(assumed),
                    ..reminded
                }))
            }),
        Err(warning) => {
            let category = Some(Category::Reminders);
            let written = write(services, Draft { category, ..draft }, secrets)?;
            Ok(WrittenReminder::Memory { written, warning })
        }
    }
}

/// Returns the reminder for a text, with the assumptions where the text is ambiguous.
///
/// The text is interpreted relative to `written_at` in `zone`.
///
/// # Errors
/// A warning if the text names no time after `now`.
pub fn parse_reminder<Tz: TimeZone>(
    text: &str,
    written_at: DateTime<Utc>,
    now: DateTime<Utc>,
    zone: &Tz,
) -> Result<(Reminder, Option<String>), String> {
    let found = due(text, &written_at.with_timezone(zone)).and_then(|due| {
        check_future(due.at, &now.with_timezone(zone)).map(|at| (Reminder::new(at), due.assumed))
    });
    found.map_err(|error| {
        let why = match error {
            StoreError::NoTime => "the text contains no time".to_owned(),
            StoreError::Over { at } => format!(
                "the time in the text is in the past ({})",
                at.format("%Y-%m-%d %H:%M")
            ),
            error => error.to_string(),
        };
        format!("{why}, so this is not a reminder")
    })
}

/// Creates a reminder of the memory that `reference` names.
///
/// It is due at `at`, or else at the time that its text names. The text is interpreted relative to its creation time in
/// `zone`. The reminder refers to the memory, and moves to the trash with it. Each combination of memory and time has
/// at most one reminder, and a completed one is not reopened.
///
/// # Errors
/// Those of [`remind`]; [`StoreError::Invalid`] if the memory is itself a reminder.
pub fn remind_of_memory<Tz: TimeZone>(
    services: &Services,
    reference: &str,
    at: Option<DateTime<Utc>>,
    zone: &Tz,
) -> Result<RemindReport, StoreError> {
    let source = services.store.get_by(reference)?;
    if source.memory.reminder.is_some() {
        return Err(StoreError::Invalid {
            why: format!("{} is already a reminder; snooze it instead", source.path),
        });
    }
    let now = services.clock.now().with_timezone(zone);
    let memory = &source.memory;
    let (at, said, assumed) = if let Some(at) = at {
        (at, memory.headline(), None)
    } else {
        let due = due(&memory.content, &memory.created_at.with_timezone(zone))?;
        (
            due.at,
            line_of(&memory.content, &due.reading.span),
            due.assumed,
        )
    };
    let at = check_future(at, &now)?;
    let (id, draft) = reminder_draft(memory, said, at);
    // The text of the memory was already stored.
    store_reminder(services, id, &draft, assumed, SecretPolicy::Keep)
}

/// Returns the reminder of `source` for the time `at`, with an id that is derived from both.
pub fn reminder_memory(
    source: &Memory,
    said: &str,
    at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Memory {
    let (id, draft) = reminder_draft(source, said, at);
    draft.into_memory(id, now)
}

/// Returns the id of the reminder of the memory `source` for the time `at`.
pub fn reminder_id(source: &MemoryId, at: DateTime<Utc>) -> MemoryId {
    MemoryId::for_reminder(&[&source.to_string()], at)
}

fn reminder_draft(source: &Memory, said: &str, at: DateTime<Utc>) -> (MemoryId, Draft) {
    let draft = Draft {
        scope: source.scope.clone(),
        source: source.source.clone(),
        ..Draft::new(said)
    };
    let id = reminder_id(&source.id, at);
    (
        id,
        into_reminder(
            draft,
            Reminder {
                of: Some(source.id),
                ..Reminder::new(at)
            },
        ),
    )
}

fn check_future<Tz: TimeZone>(
    at: DateTime<Utc>,
    now: &DateTime<Tz>,
) -> Result<DateTime<Utc>, StoreError> {
    if at < now.to_utc() {
        Err(StoreError::Over {
            at: at.with_timezone(&now.timezone()).fixed_offset(),
        })
    } else {
        Ok(at)
    }
}

fn into_reminder(draft: Draft, reminder: Reminder) -> Draft {
    Draft {
        category: Some(Category::Reminders),
        phase: Some(Phase::Organized),
        reminder: Some(reminder),
        ..draft
    }
}

/// Returns the line that contains `span`, without list and heading marks.
fn line_of<'t>(text: &'t str, span: &Range<usize>) -> &'t str {
    let start = text[..span.start].rfind('\n').map_or(0, |end| end + 1);
    let end = text[span.end..]
        .find('\n')
        .map_or(text.len(), |end| span.end + end);
    let line = text[start..end].trim();
    let marks = ["- [ ] ", "* [ ] ", "- ", "* ", "+ "];
    marks
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .unwrap_or(line)
        .trim_start_matches('#')
        .trim_start()
}

fn store_reminder(
    services: &Services,
    id: MemoryId,
    draft: &Draft,
    assumed: Option<String>,
    secrets: SecretPolicy,
) -> Result<RemindReport, StoreError> {
    let (created, merged, ignored) = retry_conflicts(|| {
        let mut set = services.change_set(Verb::Remind);
        let (mut merged, mut ignored, mut created) = (MergedFields::default(), Vec::new(), true);
        match services.store.get(&id) {
            Ok(there) => {
                let is_over = there
                    .memory
                    .reminder
                    .is_none_or(|reminder| reminder.of.is_none() && !reminder.is_open());
                (merged, ignored) = plan_merge(draft, &there, &services.actor);
                let patch = Patch {
                    reminder: draft.reminder.filter(|_| is_over),
                    add_tags: merged.tags.iter().collect(),
                    category: merged.category,
                    title: merged.title.clone().map(Some),
                    pinned: merged.pinned.then_some(true),
                    role: merged.role.map(Some),
                    ..Patch::default()
                };
                created = is_over
                    && patch
                        .reminder
                        .is_some_and(|reminder| there.memory.reminder != Some(reminder));
                let Some(memory) = patch.apply(&there.memory, set.operation.at) else {
                    return Ok((false, merged, ignored));
                };
                set.changes.push(Change::Replace {
                    expected: there.stamp,
                    memory: Box::new(memory),
                });
            }
            Err(StoreError::NotFound { .. }) => {
                let memory = Box::new(draft.clone().into_memory(id, set.operation.at));
                set.changes.push(Change::Create {
                    memory,
                    front_matter: String::new(),
                });
            }
            Err(error) => return Err(error),
        }
        commit(services, &set, secrets)?;
        Ok((created, merged, ignored))
    })?;
    Ok(RemindReport {
        stored: services.store.get(&id)?,
        created,
        assumed,
        merged,
        ignored,
    })
}

/// The time at which a reminder is due.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DueTime {
    /// The time.
    pub at: DateTime<Utc>,
    /// The words that name the time, with their interpretation.
    pub reading: DateMention,
    /// The assumptions that were made where the text is ambiguous, as sentences.
    pub assumed: Option<String>,
}

/// The hour at which reminders for a day without a time of day are due.
const MORNING_HOUR: u32 = 9;

/// Returns the time at which a text wants a reminder, relative to `now` and in its time zone.
///
/// A day without a time of day means 9:00, or the next full hour if that is past today.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::due;
///
/// let now = DateTime::parse_from_rfc3339("2025-06-11T10:20:00+02:00").unwrap();
/// let at = |text: &str| due(text, &now).map(|due| due.at.with_timezone(&now.timezone()).to_rfc3339()).ok();
/// assert_eq!(at("call Anna tomorrow at 3pm").as_deref(), Some("2025-06-12T15:00:00+02:00"));
/// assert_eq!(at("pay rent on Friday").as_deref(), Some("2025-06-13T09:00:00+02:00"));
/// assert_eq!(at("water the plants today").as_deref(), Some("2025-06-11T11:00:00+02:00"));
/// assert_eq!(at("Anna called yesterday"), None);
/// ```
///
/// # Errors
/// [`StoreError::NoTime`] if the text names no time, [`StoreError::Over`] if the time that it names is past.
pub fn due<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Result<DueTime, StoreError> {
    let reading = find_date(text, now).ok_or(StoreError::NoTime)?;
    if reading.relation == TimeRelation::Past {
        return Err(StoreError::Over { at: reading.at });
    }
    let mut assumed: Vec<String> = reading.assumed.iter().cloned().collect();
    let at = match reading.kind {
        DatePrecision::Time | DatePrecision::DateTime => reading.at.to_utc(),
        DatePrecision::Date => {
            let at = default_time(&reading, now).unwrap_or_else(|| reading.at.to_utc());
            let shown = at.with_timezone(&now.timezone()).time();
            assumed.push(format!(
                "No time of day is given; {} is assumed.",
                shown.format("%H:%M")
            ));
            at
        }
    };
    if reading.repeats {
        assumed.push("The time recurs; only the next occurrence is used.".into());
    }
    Ok(DueTime {
        at,
        reading,
        assumed: (!assumed.is_empty()).then(|| assumed.join(" ")),
    })
}

/// Returns the due time that `text` states: a time in RFC 3339 or words, with the assumption that was made to resolve the words.
///
/// Unlike [`due()`], the whole text is the time.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::{Code, parse_due_time};
///
/// let now = DateTime::parse_from_rfc3339("2025-06-11T10:20:00Z").unwrap();
/// let at = |text: &str| parse_due_time(text, &now).map(|(at, _)| at.to_rfc3339());
/// assert_eq!(at("2025-06-12T15:00:00+02:00").unwrap(), "2025-06-12T13:00:00+00:00");
/// assert_eq!(at("tomorrow at 3pm").unwrap(), "2025-06-12T15:00:00+00:00");
/// assert_eq!(at("Friday 18:00").unwrap(), "2025-06-13T18:00:00+00:00");
/// assert_eq!(at("soonish").unwrap_err().code(), Code::InvalidInput);
/// assert_eq!(parse_due_time("Freitag 18:00", &now).unwrap().1.unwrap(), "\"Freitag\" is not part of the time.");
/// ```
///
/// # Errors
/// [`StoreError::Invalid`] if the text is not a time, [`StoreError::Over`] if words state a time in the past.
pub fn parse_due_time<Tz: TimeZone>(
    text: &str,
    now: &DateTime<Tz>,
) -> Result<(DateTime<Utc>, Option<String>), StoreError> {
    if let Some(at) = parse_rfc3339(text.trim()) {
        return Ok((at, None));
    }
    match due(text, now) {
        Ok(due) => {
            let std::ops::Range { start, end } = due.reading.span.clone();
            let rest = [text[..start].trim(), text[end..].trim()].join(" ");
            let ignored = has_content_word(&rest)
                .then(|| format!("{:?} is not part of the time.", rest.trim()));
            let assumed: Vec<String> = due.assumed.into_iter().chain(ignored).collect();
            Ok((due.at, (!assumed.is_empty()).then(|| assumed.join(" "))))
        }
        Err(StoreError::NoTime) => {
            let why = format!(
                "{text:?} is not a time; use words such as \"tomorrow at 3pm\" or a time in RFC 3339"
            );
            Err(StoreError::Invalid { why })
        }
        Err(error) => Err(error),
    }
}

fn default_time<Tz: TimeZone>(day: &DateMention, now: &DateTime<Tz>) -> Option<DateTime<Utc>> {
    let morning = day
        .at
        .date_naive()
        .and_time(NaiveTime::from_hms_opt(MORNING_HOUR, 0, 0)?);
    let morning = now
        .timezone()
        .from_local_datetime(&morning)
        .earliest()?
        .to_utc();
    if now.to_utc() < morning {
        Some(morning)
    } else {
        next_hour(now)
    }
}

fn next_hour<Tz: TimeZone>(now: &DateTime<Tz>) -> Option<DateTime<Utc>> {
    let shown = now.naive_local();
    let next = match shown.hour() {
        23 => shown
            .date()
            .checked_add_days(Days::new(1))?
            .and_time(NaiveTime::MIN),
        hour => shown.date().and_hms_opt(hour + 1, 0, 0)?,
    };
    now.timezone()
        .from_local_datetime(&next)
        .earliest()
        .map(|next| next.to_utc())
        .or(Some(add_time(now.to_utc(), TimeDelta::hours(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reminder_says_the_line_that_names_the_time() {
        let line = |text: &str, words: &str| {
            let start = text.find(words).expect("it is there");
            line_of(text, &(start..start + words.len())).to_owned()
        };
        assert_eq!(
            line("# Plans\n- [ ] call Anna tomorrow\nmore", "tomorrow"),
            "call Anna tomorrow"
        );
        assert_eq!(line("tomorrow", "tomorrow"), "tomorrow");
        assert_eq!(line("a\r\n## 明天开会\r\n", "明天"), "明天开会");
    }
}
