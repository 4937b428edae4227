//! Extracts requests for reminders from a memory, the times that they name, and the strength of the requests.

use std::ops::Range;

use chrono::{DateTime, NaiveTime, TimeDelta, TimeZone, Timelike, Utc};
use memory_core::datetime::{
    DateMention, DatePrecision, TimeRelation, find_dates, find_old_time_words,
};
use memory_core::language::contains_any;
use memory_core::text::is_han;
use memory_core::{Memory, add_time, recurrence_words};

use super::prose::{
    blank_range, clause_ranges, has_no_time, is_part_of_code, own_prose, statement_ranges,
};
use super::{chinese, english};
use crate::language::WORDS;

/// Maximum number of reminders of one memory.
pub const MOST: usize = 5;

/// Maximum length of the text of a reminder, in bytes.
const MAX_TEXT_BYTES: usize = 400;

/// Number of bytes of a memory that are read.
const MAX_READ_BYTES: usize = 1 << 16;

/// A request for a reminder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReminderRequest {
    /// The due time.
    pub at: DateTime<Utc>,
    /// The words of the memory to repeat, without list markers.
    pub text: String,
    /// The byte range of the time in the memory's text.
    pub span: Range<usize>,
    /// The text in that range.
    pub said: String,
    /// The words of the recurrence, if the time recurs; `at` is then the first occurrence.
    pub repeats: Option<String>,
    /// The assumptions, as sentences, if the words leave the time open.
    pub assumed: Option<String>,
}

/// Returns the reminders after `now` that `memory` requests, at most [`MOST`], in text order.
///
/// Times are resolved relative to the creation of the memory, in `zone`.
///
/// Only actions, appointments and deadlines count. Past dates, habits, durations, facts, quotations, code and links are ignored, as is a
/// memory that is expired, superseded or a reminder itself. There is at most one reminder for each time.
///
/// # Examples
/// ```
/// use chrono::{DateTime, FixedOffset};
/// use memory_core::{Draft, MemoryId};
/// use memory_dream::reminders::find_reminders;
///
/// let written: DateTime<FixedOffset> = "2025-06-11T10:20:00+02:00".parse()?;
/// let memory = Draft::new("Tea is fine. 明天下午三点给安娜打电话。").into_memory(MemoryId::for_path("a"), written.to_utc());
/// let found = find_reminders(&memory, &written.timezone(), written.to_utc());
/// assert_eq!(found[0].text, "明天下午三点给安娜打电话。");
/// assert_eq!(found[0].at.to_rfc3339(), "2025-06-12T13:00:00+00:00");
/// # Ok::<(), chrono::ParseError>(())
/// ```
pub fn find_reminders<Tz: TimeZone>(
    memory: &Memory,
    zone: &Tz,
    now: DateTime<Utc>,
) -> Vec<ReminderRequest> {
    let content = &memory.content[..memory.content.floor_char_boundary(MAX_READ_BYTES)];
    if memory.has_ended(now)
        || memory.superseded_by.is_some()
        || memory.reminder.is_some()
        || has_no_time(content)
    {
        return Vec::new();
    }
    let written = memory.created_at.with_timezone(zone);
    let prose = own_prose(content);
    let statements = statement_ranges(content, &prose);
    let prose = blank_old_times(&prose, &statements, &written);
    let mut found: Vec<ReminderRequest> = Vec::new();
    for statement in statements {
        for (text, reading) in find_requests(&prose, statement, &written) {
            let (at, assumed) = resolve_time(&reading, &written);
            if at <= now || found.iter().any(|own| own.at == at) {
                continue;
            }
            let text = content[text].trim();
            let text = text[..text.floor_char_boundary(MAX_TEXT_BYTES)].to_owned();
            found.push(ReminderRequest {
                at,
                text,
                said: content[reading.span.clone()].to_owned(),
                repeats: recurrence_words(content, &reading, &written),
                span: reading.span,
                assumed,
            });
            if found.len() == MOST {
                return found;
            }
        }
    }
    found
}

/// Returns the parts of a statement that request a reminder, with their times.
///
/// Spans are relative to the whole text.
fn find_requests<Tz: TimeZone>(
    prose: &str,
    statement: Range<usize>,
    written: &DateTime<Tz>,
) -> Vec<(Range<usize>, DateMention)> {
    let text = &prose[statement.clone()];
    let mut named = if has_no_time(text) {
        Vec::new()
    } else {
        find_dates(text, written)
    };
    named.retain(|reading| !is_part_of_code(text, &reading.span));
    for reading in &mut named {
        reading.span = statement.start + reading.span.start..statement.start + reading.span.end;
    }
    let is_day = |reading: &DateMention| reading.kind != DatePrecision::Time;
    // A separate time of day belongs to the day next to it, but it is unclear to which of several, so it is dropped.
    if named.iter().any(is_day) {
        named.retain(is_day);
    }
    let spans: Vec<_> = named.iter().map(|reading| reading.span.clone()).collect();
    let lists = join_lists(prose, &spans);
    let parts = clause_ranges(prose, &statement, &lists);
    let by_part: Vec<_> = parts
        .iter()
        .filter_map(|part| choose_reading(prose, part.clone(), &named, &lists))
        .collect();
    let found = match &by_part[..] {
        [] => choose_reading(prose, statement, &named, &lists)
            .into_iter()
            .collect(),
        // The other parts can still take the request back, unless they have a time of their own.
        [(own_part, reading)] => {
            let mut prose = prose.to_owned();
            for part in parts.iter().filter(|part| *part != own_part) {
                if spans
                    .iter()
                    .any(|span| part.start <= span.start && span.end <= part.end)
                {
                    blank_range(&mut prose, part.clone());
                }
            }
            let own = std::slice::from_ref(reading);
            choose_reading(&prose, statement, own, &lists)
                .into_iter()
                .collect()
        }
        _ => by_part,
    };
    // Each time of a list is requested.
    let others = |(part, first): &(Range<usize>, DateMention)| {
        let list = lists.iter().find(|list| list.start == first.span.start);
        let is_other = |other: &&DateMention| {
            first.span.end <= other.span.start
                && list.is_some_and(|list| other.span.end <= list.end)
        };
        let others = named.iter().filter(is_other).cloned();
        others
            .map(|other| (part.clone(), other))
            .collect::<Vec<_>>()
    };
    let others: Vec<_> = found.iter().flat_map(others).collect();
    found.into_iter().chain(others).collect()
}

/// Returns the spans with those that only words such as "and" separate joined.
fn join_lists(prose: &str, spans: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut lists: Vec<Range<usize>> = Vec::new();
    for span in spans {
        let joint = lists
            .last()
            .and_then(|list| prose.get(list.end..span.start));
        match lists.last_mut() {
            Some(list) if joint.is_some_and(|joint| WORDS.joints.contains(&joint.trim())) => {
                list.end = span.end;
            }
            _ => lists.push(span.clone()),
        }
    }
    lists
}

/// Returns the text with spaces for the times that it states to be old ones, with the words that say so.
fn blank_old_times<Tz: TimeZone>(
    prose: &str,
    statements: &[Range<usize>],
    written: &DateTime<Tz>,
) -> String {
    let mut plain = prose.to_owned();
    for statement in statements {
        for clause in clause_ranges(prose, statement, &[]) {
            let small = prose[clause.clone()].to_ascii_lowercase();
            let may_be_old = contains_any(&small, &[" was ", " were ", " not ", "不"]);
            if !may_be_old && find_old_time_words(&small).is_none() {
                continue;
            }
            // A time that a later one replaces is found in the text before the later one.
            let mut spans: Vec<_> = find_dates(&small, written)
                .into_iter()
                .flat_map(|reading| {
                    let mut spans = vec![reading.span.clone()];
                    let earlier = find_dates(&small[..reading.span.start], written);
                    spans.extend(earlier.into_iter().map(|other| other.span));
                    spans
                })
                .collect();
            spans.sort_by_key(|span| span.start);
            let mut end = 0;
            for span in spans {
                let start = find_old_time_words(&small[..span.start]);
                if let Some(start) = start.filter(|start| end <= *start) {
                    blank_range(&mut plain, clause.start + start..clause.start + span.end);
                }
                end = span.end;
            }
        }
    }
    plain
}

fn choose_reading(
    prose: &str,
    part: Range<usize>,
    named: &[DateMention],
    lists: &[Range<usize>],
) -> Option<(Range<usize>, DateMention)> {
    let inside =
        |reading: &&DateMention| part.start <= reading.span.start && reading.span.end <= part.end;
    let asks = |reading: &&DateMention| {
        let is_inside = |list: &&Range<usize>| {
            list.start <= reading.span.start && reading.span.end <= list.end && list.end <= part.end
        };
        let span = lists.iter().find(is_inside).unwrap_or(&reading.span);
        let span = span.start - part.start..span.end - part.start;
        let text = &prose[part.clone()];
        let strength = if text.contains(is_han) {
            chinese::chinese_strength(text, span)
        } else {
            english::english_strength(text, span)
        };
        strength.is_some_and(|strength| strength.suffices_for(reading))
    };
    let reading = named
        .iter()
        .filter(inside)
        .filter(asks)
        .min_by_key(|reading| (reading.is_vague, reading.span.start))?;
    Some((part, reading.clone()))
}

/// The hour at which a reminder for a day without a time is due.
const DEFAULT_HOUR: u32 = 9;

/// Returns the due time of the reminder for a reading, and the assumptions made.
///
/// A day without a time is due at nine in the morning or, if that was past at `written`, at the next full hour, as in
/// [`memory_core::due()`].
fn resolve_time<Tz: TimeZone>(
    reading: &DateMention,
    written: &DateTime<Tz>,
) -> (DateTime<Utc>, Option<String>) {
    if reading.kind != DatePrecision::Date {
        return (reading.at.to_utc(), reading.assumed.clone());
    }
    let morning = NaiveTime::from_hms_opt(DEFAULT_HOUR, 0, 0)
        .map(|morning| reading.at.date_naive().and_time(morning));
    let zone = written.timezone();
    let morning = morning
        .and_then(|morning| zone.from_local_datetime(&morning).earliest())
        .map(|morning| morning.to_utc());
    let at = morning.unwrap_or_else(|| reading.at.to_utc());
    let at = if written.to_utc() < at {
        at
    } else {
        next_hour(written)
    };
    let shown = at.with_timezone(&zone).naive_local().time().format("%H:%M");
    let said = format!("No time of day is given; {shown} is assumed.");
    (
        at,
        Some(
            reading
                .assumed
                .iter()
                .cloned()
                .chain([said])
                .collect::<Vec<_>>()
                .join(" "),
        ),
    )
}

fn next_hour<Tz: TimeZone>(written: &DateTime<Tz>) -> DateTime<Utc> {
    let shown = written.naive_local();
    let next = shown
        .date()
        .and_hms_opt(shown.hour(), 0, 0)
        .and_then(|hour| hour.checked_add_signed(TimeDelta::hours(1)));
    let next = next
        .and_then(|next| written.timezone().from_local_datetime(&next).earliest())
        .map(|next| next.to_utc());
    next.filter(|next| written.to_utc() < *next)
        .unwrap_or_else(|| add_time(written.to_utc(), TimeDelta::hours(1)))
}

/// Returns every due time for which a reminder may have been created from `text`, sorted.
///
/// The reading of a time depends on the text around it, so the text is read as a whole, by lines and by statements.
pub(crate) fn named_times<Tz: TimeZone>(text: &str, written: &DateTime<Tz>) -> Vec<DateTime<Utc>> {
    let prose = own_prose(text);
    let statements = statement_ranges(text, &prose);
    let prose = blank_old_times(&prose, &statements, written);
    let parts = statements.into_iter().filter_map(|part| prose.get(part));
    let mut moments: Vec<DateTime<Utc>> = [text]
        .into_iter()
        .chain(text.lines())
        .chain(parts)
        .flat_map(|part| find_dates(part, written))
        .map(|reading| resolve_time(&reading, written).0)
        .collect();
    moments.extend(memory_core::due(text, written).map(|due| due.at));
    moments.sort_unstable();
    moments.dedup();
    moments
}

/// The strength of a request for a reminder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RequestStrength {
    /// An event or a due date.
    Event,
    /// An instruction or a request.
    Ask,
}

impl RequestStrength {
    /// Returns whether the strength suffices for a reminder at such a time.
    ///
    /// An event alone does not suffice for a time of day without a day, a time some hours or less away, a vague time such as a whole month,
    /// today, or a recurring time, since facts and habits name these as well.
    pub(super) fn suffices_for(self, reading: &DateMention) -> bool {
        let is_to_come = match reading.relation {
            TimeRelation::Future => true,
            TimeRelation::Present => reading.kind == DatePrecision::Date,
            TimeRelation::Past => false,
        };
        let is_plain_day = reading.relation == TimeRelation::Future
            && reading.kind != DatePrecision::Time
            && !reading.is_vague
            && !is_hours_away(&reading.text);
        is_to_come && (self == Self::Ask || is_plain_day && !reading.repeats)
    }
}

/// Returns whether a time is given in hours, minutes or seconds from now.
fn is_hours_away(said: &str) -> bool {
    let said = said.to_lowercase();
    contains_any(&said, &WORDS.short_units) || is_short_form(&said)
}

/// Returns whether a time is written like `in 5m` or `in 2h`.
fn is_short_form(said: &str) -> bool {
    said.strip_prefix("in ").is_some_and(|rest| {
        rest.starts_with(|first: char| first.is_ascii_digit())
            && rest.ends_with(['m', 'h', 's'])
            && !rest.contains("day")
            && rest.len() < 6
    })
}
