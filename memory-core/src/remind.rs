//! Creating reminders, and parsing their due times.
//!
//! A reminder is a memory with the key `due`, and the index contains its due time. The id of a reminder is
//! derived from its source and that time, so each combination has one reminder. If a memory is removed by any use
//! case, `commit` removes its open reminders in the same operation.
//!
//! A recurring reminder is one memory. It keeps the words of its recurrence, and `due` is its present occurrence.

use std::ops::Range;

use chrono::{DateTime, Days, NaiveTime, TimeDelta, TimeZone, Timelike, Utc};

use crate::commit::{commit, retry_conflicts};
use crate::datetime::{
    DateMention, DatePrecision, TimeRelation, find_date, find_dates, find_impossible,
};
use crate::query_parser::has_content_word;
use crate::write::plan_merge;
use crate::{
    Category, Change, Draft, Memory, MemoryId, MemoryStoreExt, MergedFields, Patch, Phase,
    Recurrence, Reminder, SecretPolicy, Services, StoreError, StoredMemory, Verb, WriteResult,
    add_time, parse_rfc3339, write,
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
/// The text is interpreted relative to now in `zone`. Each combination of text, scope and time, or recurrence, has one
/// reminder: an open one is returned, and a completed one is reopened. Either receives the tags, the title and the pin
/// that it lacks, as in [`write()`].
///
/// `examples/reminders.rs` is a complete program.
///
/// # Errors
/// [`StoreError::NoTime`] and [`StoreError::Over`] as for [`due()`], [`StoreError::Over`] also if `at` is past;
/// [`StoreError::Invalid`] if the text is empty, [`StoreError::Secret`] if it contains a credential.
pub fn remind<Tz: TimeZone>(
    services: &Services,
    draft: Draft,
    at: Option<DueTime>,
    zone: &Tz,
    secrets: SecretPolicy,
) -> Result<RemindReport, StoreError> {
    if draft.content.trim().is_empty() {
        return Err(StoreError::Invalid {
            why: "the text of the reminder is empty".into(),
        });
    }
    let now = services.clock.now().with_timezone(zone);
    let due = match at {
        Some(due) => {
            check_future(due.at, &now)?;
            due
        }
        None => due_in_text(&draft.content, &now)?,
    };
    let scope = draft.scope.to_string();
    let id = match &due.repeats {
        // The next occurrence depends on when the text is stored.
        Some(repeats) => MemoryId::for_reminder(
            &[&draft.content, &scope, repeats],
            DateTime::<Utc>::UNIX_EPOCH,
        ),
        None => MemoryId::for_reminder(&[&draft.content, &scope], due.at),
    };
    let draft = into_reminder(draft, due.reminder());
    store_reminder(services, id, &draft, due.assumed, secrets)
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
        Ok(due) => remind(services, draft, Some(due), zone, secrets)
            .map(|reminded| WrittenReminder::Reminder(Box::new(reminded))),
        Err(warning) => {
            let category = Some(Category::Reminders);
            let written = write(services, Draft { category, ..draft }, secrets)?;
            Ok(WrittenReminder::Memory { written, warning })
        }
    }
}

/// Returns the time at which a text wants a reminder; of a recurring time, the first one after `now`.
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
) -> Result<DueTime, String> {
    let found = due_in_text(text, &written_at.with_timezone(zone))
        .and_then(|due| due.in_future(&now.with_timezone(zone)));
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
    at: Option<DueTime>,
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
    let (due, said) = if let Some(due) = at {
        (due, memory.headline())
    } else {
        let due = due(&memory.content, &memory.created_at.with_timezone(zone))?;
        let span = due.reading.as_ref().map_or(0..0, |own| own.span.clone());
        (due, line_of(&memory.content, &span))
    };
    // The id depends on the time that the text names, and not on the number of occurrences since then.
    let id = reminder_id(&memory.id, due.at);
    let due = due.in_future(&now)?;
    let draft = reminder_draft(memory, said, due.reminder());
    // The text of the memory was already stored.
    store_reminder(services, id, &draft, due.assumed, SecretPolicy::Keep)
}

/// Returns `reminder` as a memory that refers to `source`, with an id that is derived from its due time.
pub fn reminder_memory(
    source: &Memory,
    said: &str,
    reminder: Reminder,
    now: DateTime<Utc>,
) -> Memory {
    let id = reminder_id(&source.id, reminder.due);
    reminder_draft(source, said, reminder).into_memory(id, now)
}

/// Returns the id of the reminder of the memory `source` for the time `at`.
pub fn reminder_id(source: &MemoryId, at: DateTime<Utc>) -> MemoryId {
    MemoryId::for_reminder(&[&source.to_string()], at)
}

fn reminder_draft(source: &Memory, said: &str, reminder: Reminder) -> Draft {
    let draft = Draft {
        scope: source.scope.clone(),
        source: source.source.clone(),
        ..Draft::new(said)
    };
    into_reminder(
        draft,
        Reminder {
            of: Some(source.id),
            ..reminder
        },
    )
}

fn check_future<Tz: TimeZone>(at: DateTime<Utc>, now: &DateTime<Tz>) -> Result<(), StoreError> {
    if at < now.to_utc() {
        Err(StoreError::Over {
            at: at.with_timezone(&now.timezone()).fixed_offset(),
        })
    } else {
        Ok(())
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
                    .as_ref()
                    .is_none_or(|reminder| reminder.of.is_none() && !reminder.is_open());
                (merged, ignored) = plan_merge(draft, &there, &services.actor);
                let patch = Patch {
                    reminder: draft.reminder.clone().filter(|_| is_over),
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
                        .as_ref()
                        .is_some_and(|reminder| there.memory.reminder.as_ref() != Some(reminder));
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
    /// The words that name the time, with their interpretation; `None` if it was not given in words.
    pub reading: Option<DateMention>,
    /// The words of the recurrence, if the time recurs; `at` is then the first occurrence.
    pub repeats: Option<String>,
    /// The assumptions that were made where the text is ambiguous, as sentences.
    pub assumed: Option<String>,
}

impl From<DateTime<Utc>> for DueTime {
    fn from(at: DateTime<Utc>) -> Self {
        Self {
            at,
            reading: None,
            repeats: None,
            assumed: None,
        }
    }
}

impl DueTime {
    /// Returns the open reminder for the time.
    pub fn reminder(&self) -> Reminder {
        Reminder {
            repeats: self.repeats.clone().map(Recurrence::new),
            ..Reminder::new(self.at)
        }
    }

    /// Returns the time, if it is not before `now`; a recurring time that is past becomes its next occurrence.
    fn in_future<Tz: TimeZone>(self, now: &DateTime<Tz>) -> Result<Self, StoreError> {
        let Err(over) = check_future(self.at, now) else {
            return Ok(self);
        };
        let next = self
            .repeats
            .as_ref()
            .and_then(|repeats| next_occurrence(repeats, self.at, now));
        next.map(|at| Self { at, ..self }).ok_or(over)
    }
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
/// assert_eq!(
///     due("call Anna tomorrow at 25:00", &now).unwrap_err().to_string(),
///     "\"25:00\" is not a time of day"
/// );
/// ```
///
/// # Errors
/// [`StoreError::NoTime`] if the text names no time, [`StoreError::Invalid`] if it names one that does not exist, such as
/// 25:00, [`StoreError::Over`] if the time that it names is past.
pub fn due<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Result<DueTime, StoreError> {
    let reading = find_date(text, now).ok_or_else(|| match find_impossible(text, now) {
        Some(impossible) => StoreError::Invalid {
            why: impossible.to_string(),
        },
        None => StoreError::NoTime,
    })?;
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
    if let Some(end) = reading.end {
        let form = match reading.end_kind() {
            DatePrecision::Date => "%F",
            DatePrecision::Time | DatePrecision::DateTime => "%F %H:%M",
        };
        let end = end.with_timezone(&now.timezone()).naive_local();
        assumed.push(format!(
            "The start of the range until {} is used.",
            end.format(form)
        ));
    }
    let repeats = recurrence_words(text, &reading, now);
    if reading.repeats && repeats.is_none() {
        assumed.push("The time recurs; only the next occurrence is used.".into());
    }
    Ok(DueTime {
        at,
        repeats,
        reading: Some(reading),
        assumed: (!assumed.is_empty()).then(|| assumed.join(" ")),
    })
}

/// Returns the due time that a text names, and states which other times of the text are not used.
fn due_in_text<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Result<DueTime, StoreError> {
    let due = due(text, now)?;
    let unused = due
        .reading
        .iter()
        .flat_map(|own| unused_times(text, own, now));
    let unused: Vec<String> = unused
        .filter(|other| other.relation != TimeRelation::Past)
        .map(|other| format!("{:?} is not used.", other.text))
        .collect();
    let assumed: Vec<String> = due.assumed.iter().cloned().chain(unused).collect();
    Ok(DueTime {
        assumed: (!assumed.is_empty()).then(|| assumed.join(" ")),
        ..due
    })
}

/// Returns the times of a text other than `reading`.
pub fn unused_times<Tz: TimeZone>(
    text: &str,
    reading: &DateMention,
    now: &DateTime<Tz>,
) -> Vec<DateMention> {
    let mut others = find_dates(text, now);
    others.retain(|other| other.span != reading.span);
    others
}

/// Returns the words by which a recurring time can be read again, if it recurs.
///
/// The words next to a time can determine its half of the day ("dinner every Friday at 7"), so the line is retained if the
/// words of the time alone name another time.
pub fn recurrence_words<Tz: TimeZone>(
    text: &str,
    reading: &DateMention,
    now: &DateTime<Tz>,
) -> Option<String> {
    // The first day is that of `reading`; read again later, the words of it would name another one.
    if let Some(start) = &reading.start {
        let parts = [
            &text[reading.span.start..start.start],
            &text[start.end..reading.span.end],
        ];
        let words = parts.map(str::trim).join(" ").trim().to_owned();
        let own = find_recurring(&words, now)
            .filter(|own| own.at.time() == reading.at.time() && own.kind == reading.kind);
        return own.map(|_| words);
    }
    let words = [reading.text.as_str(), line_of(text, &reading.span)];
    let is_same = |words: &&str| {
        find_recurring(words, now)
            .is_some_and(|own| own.at == reading.at && own.kind == reading.kind)
    };
    let found = words.into_iter().filter(|_| reading.repeats).find(is_same);
    found.map(str::to_owned)
}

fn find_recurring<Tz: TimeZone>(words: &str, now: &DateTime<Tz>) -> Option<DateMention> {
    let recurring = find_dates(words, now)
        .into_iter()
        .filter(|reading| reading.repeats);
    recurring.min_by_key(|reading| reading.at)
}

/// Maximum number of occurrences that are skipped one by one.
const MAX_SKIPPED: usize = 1_000;

/// Returns the first time after `now` that `repeats` names, counted from its occurrence at `from`.
///
/// Counting from the occurrence retains the rhythm of expressions such as "every three weeks". The time zone is that of `now`.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::next_occurrence;
///
/// let now = DateTime::parse_from_rfc3339("2025-06-11T10:20:00+02:00").unwrap();
/// let from = DateTime::parse_from_rfc3339("2025-06-02T09:00:00+02:00").unwrap().to_utc();
/// let next = next_occurrence("every Monday at 9am", from, &now).unwrap();
/// assert_eq!(next.with_timezone(&now.timezone()).to_rfc3339(), "2025-06-16T09:00:00+02:00");
/// assert_eq!(next_occurrence("Monday", from, &now), None);
/// ```
pub fn next_occurrence<Tz: TimeZone>(
    repeats: &str,
    from: DateTime<Utc>,
    now: &DateTime<Tz>,
) -> Option<DateTime<Utc>> {
    let mut at = from;
    for _ in 0..MAX_SKIPPED {
        at = occurrence_after(repeats, &at.with_timezone(&now.timezone()))?;
        if now.to_utc() < at {
            return Some(at);
        }
    }
    occurrence_after(repeats, now)
}

/// Returns the first occurrence after another one.
fn occurrence_after<Tz: TimeZone>(repeats: &str, from: &DateTime<Tz>) -> Option<DateTime<Utc>> {
    let zone = from.timezone();
    let end_of_day = from.date_naive().and_hms_opt(23, 59, 59)?;
    let next_day = end_of_day.checked_add_signed(TimeDelta::seconds(1))?;
    let at = |local| zone.from_local_datetime(&local).latest();
    // A day can be that of `from` itself. An interval is counted from that day, so the next day comes last.
    [Some(from.clone()), at(end_of_day), at(next_day)]
        .into_iter()
        .flatten()
        .find_map(|reference| {
            let reading = find_recurring(repeats, &reference)?;
            let at = match reading.kind {
                DatePrecision::Time | DatePrecision::DateTime => reading.at.to_utc(),
                DatePrecision::Date => morning(&reading, &zone)?,
            };
            (from.to_utc() < at).then_some(at)
        })
}

/// Returns the due time that `text` states: a time in RFC 3339 or words.
///
/// Unlike [`due()`], the whole text is the time.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::{Code, parse_due_time};
///
/// let now = DateTime::parse_from_rfc3339("2025-06-11T10:20:00Z").unwrap();
/// let at = |text: &str| parse_due_time(text, &now).map(|due| due.at.to_rfc3339());
/// assert_eq!(at("2025-06-12T15:00:00+02:00").unwrap(), "2025-06-12T13:00:00+00:00");
/// assert_eq!(at("tomorrow at 3pm").unwrap(), "2025-06-12T15:00:00+00:00");
/// assert_eq!(at("Friday 18:00").unwrap(), "2025-06-13T18:00:00+00:00");
/// assert_eq!(at("soonish").unwrap_err().code(), Code::InvalidInput);
/// assert_eq!(parse_due_time("Freitag 18:00", &now).unwrap().assumed.unwrap(), "\"Freitag\" is not part of the time.");
/// ```
///
/// # Errors
/// [`StoreError::Invalid`] if the text is not a time, [`StoreError::Over`] if words state a time in the past.
pub fn parse_due_time<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Result<DueTime, StoreError> {
    if let Some(at) = parse_rfc3339(text.trim()) {
        return Ok(at.into());
    }
    // "For 2.5 hours" and "two and a half hours" are counted from now.
    let spoken = text.trim().to_lowercase();
    let later = format!("in {}", spoken.strip_prefix("for ").unwrap_or(&spoken));
    let is_whole = |due: &DueTime| {
        let own = due.reading.as_ref();
        own.is_some_and(|own| own.span == (0..later.len()))
    };
    if let Some(due) = due(&later, now).ok().filter(is_whole) {
        return Ok(due);
    }
    match due(text, now) {
        Ok(due) => {
            let span = due.reading.as_ref().map_or(0..0, |own| own.span.clone());
            let rest = [text[..span.start].trim(), text[span.end..].trim()].join(" ");
            let rest = rest.trim();
            let is_named = |notes: &String| notes.contains(rest);
            let ignored = (has_content_word(rest) && !due.assumed.iter().any(is_named))
                .then(|| format!("{rest:?} is not part of the time."));
            let assumed: Vec<String> = due.assumed.into_iter().chain(ignored).collect();
            Ok(DueTime {
                assumed: (!assumed.is_empty()).then(|| assumed.join(" ")),
                ..due
            })
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
    let morning = morning(day, &now.timezone())?;
    if now.to_utc() < morning {
        Some(morning)
    } else {
        next_hour(now)
    }
}

fn morning<Tz: TimeZone>(day: &DateMention, zone: &Tz) -> Option<DateTime<Utc>> {
    let morning = NaiveTime::from_hms_opt(MORNING_HOUR, 0, 0)?;
    zone.from_local_datetime(&day.at.date_naive().and_time(morning))
        .earliest()
        .map(|morning| morning.to_utc())
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
    fn a_recurrence_from_a_day_on_continues_behind_it() {
        let now: DateTime<chrono::FixedOffset> =
            "2025-07-02T10:00:00+02:00".parse().expect("a time");
        for (text, first, repeats, next) in [
            (
                "every Saturday at 9am starting July 12",
                "2025-07-12T07:00:00+00:00",
                "every Saturday at 9am",
                "2025-07-19T07:00:00+00:00",
            ),
            (
                "every 2 weeks, starting on July 7, at 9am",
                "2025-07-07T07:00:00+00:00",
                "every 2 weeks , at 9am",
                "2025-07-21T07:00:00+00:00",
            ),
        ] {
            let found = due(text, &now).expect(text);
            assert_eq!(found.at.to_rfc3339(), first, "{text}");
            assert_eq!(found.repeats.as_deref(), Some(repeats), "{text}");
            let later = found.at.with_timezone(now.offset());
            let again = next_occurrence(repeats, found.at, &later).expect(text);
            assert_eq!(again.to_rfc3339(), next, "{text}");
        }
    }

    #[test]
    fn a_duration_is_counted_from_now() {
        let now: DateTime<chrono::FixedOffset> =
            "2025-07-02T10:00:00+02:00".parse().expect("a time");
        let due = |text: &str| parse_due_time(text, &now).map(|due| due.at.to_rfc3339());
        for (text, at) in [
            ("2.5 hours", "2025-07-02T10:30:00+00:00"),
            ("for 2.5 hours", "2025-07-02T10:30:00+00:00"),
            ("For two and a half hours", "2025-07-02T10:30:00+00:00"),
            ("in 2.5 hours", "2025-07-02T10:30:00+00:00"),
            ("for 1.5 days", "2025-07-03T20:00:00+00:00"),
            ("for an hour", "2025-07-02T09:00:00+00:00"),
            ("at 5pm", "2025-07-02T15:00:00+00:00"),
        ] {
            assert_eq!(due(text).ok().as_deref(), Some(at), "{text}");
        }
        assert!(due("for tea").is_err());
    }

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

    #[test]
    fn words_that_are_left_out_are_named_once() {
        let now = crate::parse_rfc3339("2025-06-11T10:20:00+02:00").expect("a moment");
        let due = parse_due_time("every Monday at 9am and 14", &now).expect("a time");
        assert_eq!(due.assumed.as_deref(), Some("\"and 14\" is left out."));
    }

    #[test]
    fn a_reminder_at_a_range_states_that_it_is_at_its_start() {
        let now = crate::parse_rfc3339("2025-06-11T10:20:00+02:00").expect("a moment");
        for (text, note) in [
            ("off from Dec 10 to Dec 12", "until 2025-12-12 is"),
            ("tomorrow 2-4pm", "until 2025-06-12 16:00 is"),
        ] {
            let due = due(text, &now).expect(text);
            assert!(
                due.assumed.is_some_and(|assumed| assumed.contains(note)),
                "{text}"
            );
        }
    }
}
