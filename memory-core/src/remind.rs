//! Having somebody reminded.

use std::ops::Range;

use chrono::{DateTime, TimeZone, Utc};

use crate::commit::{commit, persist};
use crate::write::decide;
use crate::{
    Category, Change, Draft, Memory, MemoryId, MemoryStoreExt, Merged, Patch, Phase, Reminder, Secrets, Services, StoreError,
    Stored, Verb, Written, due, write,
};

/// What became of the wish to be reminded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reminded {
    /// The reminder.
    pub stored: Stored,
    /// Whether it is new; if not, there was such a reminder already.
    pub created: bool,
    /// What was taken for granted, as sentences, where the words leave the time open.
    pub assumed: Option<String>,
    /// What the reminder that was there already got from the draft.
    pub merged: Merged,
    /// The fields of the draft that were not taken, because that reminder says something else there.
    pub ignored: Vec<&'static str>,
}

/// Keeps `draft` as a reminder, due `at` that moment, else when its text says, seen from now in `zone`.
///
/// The same text in the same scope is remembered once for each time: one that is open is named, one that is done is open
/// again, and either gets the tags, the title and the pin that it lacks, as with [`write()`].
///
/// # Errors
/// [`StoreError::NoTime`] and [`StoreError::Over`] as [`due()`] says, [`StoreError::Over`] also for a moment that has passed;
/// [`StoreError::Invalid`] if there is no text, [`StoreError::Secret`] if it holds a credential.
pub fn remind<Tz: TimeZone>(
    services: &Services,
    draft: Draft,
    at: Option<DateTime<Utc>>,
    zone: &Tz,
    secrets: Secrets,
) -> Result<Reminded, StoreError> {
    if draft.content.trim().is_empty() {
        return Err(StoreError::Invalid { why: "there is nothing to be reminded of: the text is empty".into() });
    }
    let now = services.clock.now().with_timezone(zone);
    let (at, assumed) = match at {
        Some(at) => (to_come(at, &now)?, None),
        None => due(&draft.content, &now).map(|due| (due.at, due.assumed))?,
    };
    let id = MemoryId::of_reminder(&[&draft.content, &draft.scope.to_string()], at);
    keep(services, id, &reminder(draft, Reminder::at(at)), assumed, secrets)
}

/// What became of a text that was written under the category of reminders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenReminder {
    /// It names a time to come, and is a reminder.
    Reminder(Box<Reminded>),
    /// It is a memory of the category that reminds nobody.
    Memory {
        /// What was written.
        written: Written,
        /// Why there is no reminder, and what to do about it, as sentences.
        warning: String,
    },
}

/// Keeps `draft` as a reminder, due when its text says, seen from now in `zone`; a text that names no time to come is kept as a memory of
/// the category.
///
/// # Errors
/// As [`write()`].
pub fn write_reminder<Tz: TimeZone>(
    services: &Services,
    draft: Draft,
    zone: &Tz,
    secrets: Secrets,
) -> Result<WrittenReminder, StoreError> {
    let now = services.clock.now();
    match reminder_in(&draft.content, now, now, zone) {
        Ok((Reminder { due, .. }, assumed)) => remind(services, draft, Some(due), zone, secrets)
            .map(|reminded| WrittenReminder::Reminder(Box::new(Reminded { assumed: reminded.assumed.or(assumed), ..reminded }))),
        Err(warning) => {
            let category = Some(Category::Reminders);
            let written = write(services, Draft { category, ..draft }, secrets)?;
            Ok(WrittenReminder::Memory { written, warning })
        }
    }
}

/// Returns the reminder that a memory with this text is, seen from when it was written in `zone`, and what was assumed where the words leave
/// the time open.
///
/// # Errors
/// A warning that there is none, if the text names no time that is to come at `now`.
pub fn reminder_in<Tz: TimeZone>(
    text: &str,
    written_at: DateTime<Utc>,
    now: DateTime<Utc>,
    zone: &Tz,
) -> Result<(Reminder, Option<String>), String> {
    let found = due(text, &written_at.with_timezone(zone))
        .and_then(|due| to_come(due.at, &now.with_timezone(zone)).map(|at| (Reminder::at(at), due.assumed)));
    found.map_err(|error| {
        let why = match error {
            StoreError::NoTime => "the text names no time".to_owned(),
            StoreError::Over { at } => format!("the time it names has passed ({})", at.format("%Y-%m-%d %H:%M")),
            error => error.to_string(),
        };
        format!("{why}, so this is no reminder")
    })
}

/// Makes a reminder of the memory that a person means by `reference`, due `at` that moment, else when its text says, seen from
/// the time it was written, in `zone`. It names that memory, and goes to trash with it.
///
/// There is one for each memory and time, ever: one that is done stays done.
///
/// # Errors
/// As [`remind`]; [`StoreError::Invalid`] if it is a reminder itself.
pub fn remind_of<Tz: TimeZone>(
    services: &Services,
    reference: &str,
    at: Option<DateTime<Utc>>,
    zone: &Tz,
) -> Result<Reminded, StoreError> {
    let source = services.store.get_by(reference)?;
    if source.memory.reminder.is_some() {
        return Err(StoreError::Invalid { why: format!("{} is a reminder itself; snooze it instead", source.path) });
    }
    let now = services.clock.now().with_timezone(zone);
    let memory = &source.memory;
    let (at, said, assumed) = if let Some(at) = at {
        (at, memory.headline(), None)
    } else {
        let due = due(&memory.content, &memory.created_at.with_timezone(zone))?;
        (due.at, line_of(&memory.content, &due.reading.span), due.assumed)
    };
    let at = to_come(at, &now)?;
    let (id, draft) = made_of(memory, said, at);
    // What it says was kept before.
    keep(services, id, &draft, assumed, Secrets::Keep)
}

/// Returns the reminder that is made of `source` for one time, and its id, which follows from the two.
pub fn reminder_of(source: &Memory, said: &str, at: DateTime<Utc>, now: DateTime<Utc>) -> Memory {
    let (id, draft) = made_of(source, said, at);
    draft.into_memory(id, now)
}

/// Returns the id of the reminder that is made of the memory `source` for one time.
pub fn reminder_id(source: &MemoryId, at: DateTime<Utc>) -> MemoryId {
    MemoryId::of_reminder(&[&source.to_string()], at)
}

fn made_of(source: &Memory, said: &str, at: DateTime<Utc>) -> (MemoryId, Draft) {
    let draft = Draft { scope: source.scope.clone(), source: source.source.clone(), ..Draft::new(said) };
    let id = reminder_id(&source.id, at);
    (id, reminder(draft, Reminder { of: Some(source.id), ..Reminder::at(at) }))
}

fn to_come<Tz: TimeZone>(at: DateTime<Utc>, now: &DateTime<Tz>) -> Result<DateTime<Utc>, StoreError> {
    if at < now.to_utc() { Err(StoreError::Over { at: at.with_timezone(&now.timezone()).fixed_offset() }) } else { Ok(at) }
}

fn reminder(draft: Draft, reminder: Reminder) -> Draft {
    Draft { category: Some(Category::Reminders), phase: Some(Phase::Organized), reminder: Some(reminder), ..draft }
}

/// Returns the line of a text that holds `span`, without what marks it as an item of a list.
fn line_of<'t>(text: &'t str, span: &Range<usize>) -> &'t str {
    let start = text[..span.start].rfind('\n').map_or(0, |end| end + 1);
    let end = text[span.end..].find('\n').map_or(text.len(), |end| span.end + end);
    let line = text[start..end].trim();
    let marks = ["- [ ] ", "* [ ] ", "- ", "* ", "+ "];
    marks.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim_start_matches('#').trim_start()
}

fn keep(
    services: &Services,
    id: MemoryId,
    draft: &Draft,
    assumed: Option<String>,
    secrets: Secrets,
) -> Result<Reminded, StoreError> {
    let (created, merged, ignored) = persist(|| {
        let mut operation = services.operation(Verb::Remind);
        let (mut merged, mut ignored, mut created) = (Merged::default(), Vec::new(), true);
        match services.store.get(&id) {
            Ok(there) => {
                let is_over = there.memory.reminder.is_none_or(|reminder| reminder.of.is_none() && !reminder.is_open());
                (merged, ignored) = decide(draft, &there, &services.actor);
                let patch = Patch {
                    reminder: draft.reminder.filter(|_| is_over),
                    add_tags: merged.tags.iter().collect(),
                    category: merged.category,
                    title: merged.title.clone().map(Some),
                    pinned: merged.pinned.then_some(true),
                    ..Patch::default()
                };
                created = is_over && patch.reminder.is_some_and(|reminder| there.memory.reminder != Some(reminder));
                let Some(memory) = patch.apply(&there.memory, operation.at) else { return Ok((false, merged, ignored)) };
                operation.changes.push(Change::Replace { expected: there.stamp, memory: Box::new(memory) });
            }
            Err(StoreError::NotFound { .. }) => {
                let memory = Box::new(draft.clone().into_memory(id, operation.at));
                operation.changes.push(Change::Create { memory, front_matter: String::new() });
            }
            Err(error) => return Err(error),
        }
        commit(services, &operation, secrets)?;
        Ok((created, merged, ignored))
    })?;
    Ok(Reminded { stored: services.store.get(&id)?, created, assumed, merged, ignored })
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
        assert_eq!(line("# Plans\n- [ ] call Anna tomorrow\nmore", "tomorrow"), "call Anna tomorrow");
        assert_eq!(line("tomorrow", "tomorrow"), "tomorrow");
        assert_eq!(line("a\r\n## 明天开会\r\n", "明天"), "明天开会");
    }
}
