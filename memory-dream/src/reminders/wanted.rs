//! What somebody asks to be reminded of.

use std::ops::Range;

use chrono::{DateTime, TimeZone, Utc};
use memory_core::Memory;
use memory_core::when::{Kind, Reading, readings};

use super::morning::due;
use super::prose::{clauses, is_quick_to_skip, prose, statements};
use super::{chinese, english};

/// No memory makes more reminders than this.
pub const MOST: usize = 5;

/// A reminder says no more than this many bytes of its memory.
const LONGEST: usize = 400;

/// Only so many bytes of a memory are read.
const READ: usize = 1 << 16;

/// Something that somebody asks to be reminded of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// When.
    pub at: DateTime<Utc>,
    /// Of what: the words of the memory, without what marks them as an item of a list.
    pub text: String,
    /// The bytes of the memory's text that name the time.
    pub span: Range<usize>,
    /// Those bytes.
    pub said: String,
    /// What was taken for granted, as sentences, where the words leave the time open.
    pub assumed: Option<String>,
}

/// Returns what `memory` asks to be reminded of after `now`, at most [`MOST`], in the order of its text; times are seen from
/// the moment it was written, in `zone`.
///
/// Only what is to be done, an appointment or a deadline counts. A past date, a habit, a duration, a fact, a quotation, code
/// and links make no reminder, nor does a memory that is over or superseded. A memory asks once for each time, and one that is a
/// reminder itself asks for nothing more.
///
/// # Examples
/// ```
/// use chrono::{DateTime, FixedOffset};
/// use memory_core::{Draft, MemoryId};
/// use memory_dream::reminders::reminders;
///
/// let written: DateTime<FixedOffset> = "2025-06-11T10:20:00+02:00".parse()?;
/// let memory = Draft::new("Tea is fine. 明天下午三点给安娜打电话。").into_memory(MemoryId::of_path("a"), written.to_utc());
/// let found = reminders(&memory, &written.timezone(), written.to_utc());
/// assert_eq!(found[0].text, "明天下午三点给安娜打电话。");
/// assert_eq!(found[0].at.to_rfc3339(), "2025-06-12T13:00:00+00:00");
/// # Ok::<(), chrono::ParseError>(())
/// ```
pub fn reminders<Tz: TimeZone>(memory: &Memory, zone: &Tz, now: DateTime<Utc>) -> Vec<Wanted> {
    let content = &memory.content[..memory.content.floor_char_boundary(READ)];
    if memory.is_over(now) || memory.superseded_by.is_some() || memory.reminder.is_some() || is_quick_to_skip(content) {
        return Vec::new();
    }
    let written = memory.created_at.with_timezone(zone);
    let prose = prose(content);
    let mut found: Vec<Wanted> = Vec::new();
    for statement in statements(content, &prose) {
        for (text, reading) in asked(&prose, statement, &written) {
            let (at, assumed) = due(&reading, &written);
            if at <= now || found.iter().any(|own| own.at == at) {
                continue;
            }
            let text = content[text].trim();
            let text = text[..text.floor_char_boundary(LONGEST)].to_owned();
            found.push(Wanted { at, text, said: content[reading.span.clone()].to_owned(), span: reading.span, assumed });
            if found.len() == MOST {
                return found;
            }
        }
    }
    found
}

/// Returns which parts of a statement ask for something, and when; spans are those of the whole text.
fn asked<Tz: TimeZone>(prose: &str, statement: Range<usize>, written: &DateTime<Tz>) -> Vec<(Range<usize>, Reading)> {
    let text = &prose[statement.clone()];
    let mut named = if is_quick_to_skip(text) { Vec::new() } else { readings(text, written) };
    for reading in &mut named {
        reading.span = statement.start + reading.span.start..statement.start + reading.span.end;
    }
    let is_day = |reading: &Reading| reading.kind != Kind::Time;
    // The time of day beside a day belongs to it, or else nobody knows to which.
    if named.iter().any(is_day) {
        named.retain(is_day);
    }
    let spans: Vec<_> = named.iter().map(|reading| reading.span.clone()).collect();
    let parts = clauses(prose, &statement, &spans);
    let by_part: Vec<_> = parts.into_iter().filter_map(|part| chosen(prose, part, &named)).collect();
    if 1 < by_part.len() { by_part } else { chosen(prose, statement, &named).into_iter().collect() }
}

fn chosen(prose: &str, part: Range<usize>, named: &[Reading]) -> Option<(Range<usize>, Reading)> {
    let inside = |reading: &&Reading| part.start <= reading.span.start && reading.span.end <= part.end;
    let asks = |reading: &&Reading| {
        let span = reading.span.start - part.start..reading.span.end - part.start;
        let text = &prose[part.clone()];
        let strength = if text.contains(is_han) { chinese::strength(text, span) } else { english::strength(text, span) };
        strength.is_some_and(|strength| strength.is_enough(reading))
    };
    let reading = named.iter().filter(inside).filter(asks).min_by_key(|reading| (reading.is_vague, reading.span.start))?;
    Some((part, reading.clone()))
}

fn is_han(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{9fff}')
}
