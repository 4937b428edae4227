//! Finding everything in a text that says when.

use chrono::{DateTime, TimeZone};

use super::cursor::Cursor;
use super::reading::Reading;
use super::resolve::{Moment, Of, resolve};
use super::spoken::Spoken;
use super::token::{What, tokens};
use super::{chinese, english};

/// Returns the points in time that a text names, in the order of the text, seen from `now` and its zone.
///
/// English and Chinese are read, also in one text. What happens again ("every Monday") is read as the next time, and
/// what lasts ("in June") as its first day. A text of a megabyte takes less than a second.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::when::readings;
///
/// let now = DateTime::parse_from_rfc3339("2025-06-11T10:20:00+02:00").unwrap();
/// let found = readings("Anna called yesterday; 下周二下午三点 we meet.", &now);
/// assert_eq!(found[0].text, "yesterday");
/// assert_eq!(found[1].at.to_rfc3339(), "2025-06-17T15:00:00+02:00");
/// ```
pub fn readings<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Vec<Reading> {
    let small = text.to_ascii_lowercase();
    let tokens = tokens(&small);
    let zone = Of(now.timezone());
    let moment = Moment { utc: now.naive_utc(), zone: &zone };
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((spoken, end)) = expression(Cursor::new(&tokens, at)) else {
            at += 1;
            continue;
        };
        let span = tokens[at].span.start..tokens[end - 1].span.end;
        if let Some(resolved) = spoken.and_then(|spoken| Some((resolve(&spoken, &moment)?, spoken))) {
            let (resolved, spoken) = resolved;
            found.push(Reading {
                text: text[span.clone()].to_owned(),
                span,
                at: resolved.at,
                kind: resolved.kind,
                relation: resolved.relation,
                repeats: spoken.repeats,
                assumed: (!resolved.assumed.is_empty()).then(|| resolved.assumed.join(" ")),
                is_vague: spoken.is_vague,
            });
        }
        at = end;
    }
    found
}

/// Returns the expression that begins here, or nothing in place of one that cannot be placed, and where it ends.
fn expression(start: Cursor<'_>) -> Option<(Option<Spoken>, usize)> {
    let in_english = |mut cursor: Cursor<'_>| english::expression(&mut cursor).map(|spoken| (Some(spoken), cursor.at()));
    let in_chinese = |mut cursor: Cursor<'_>| chinese::expression(&mut cursor).map(|spoken| (Some(spoken), cursor.at()));
    let found = match start.peek(0)? {
        What::Word(word) if english::may_begin(word) => in_english(start),
        What::Han(character) if chinese::may_begin(character) => in_chinese(start),
        What::Han('农' | '阴' | '旧') => {
            let mut cursor = start;
            chinese::lunar(&mut cursor).then(|| (None, cursor.at()))
        }
        // Both languages know digits; the one that makes more of them is meant.
        What::Number(_) => match (in_english(start), in_chinese(start)) {
            (Some(english), Some(chinese)) => Some(if chinese.1 < english.1 { english } else { chinese }),
            (english, chinese) => english.or(chinese),
        },
        What::Word(_) | What::Han(_) | What::Sign(_) | What::Other => None,
    };
    found.filter(|(_, end)| start.at() < *end)
}
