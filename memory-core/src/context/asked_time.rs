//! Recognizes notes on a day that a prompt names, such as an appointment for "what do I have on Tuesday?".

use chrono::{DateTime, Days, FixedOffset, Months, Offset, TimeZone};

use crate::datetime::{DateMention, DatePrecision, TimeRelation, find_dates};
use crate::query_parser::current_period;

/// The present or future time that a prompt names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AskedTime {
    from: DateTime<FixedOffset>,
    until: DateTime<FixedOffset>,
}

/// The maximum size of a note whose days count, in bytes. A longer text names many.
const MAX_SIZE: usize = 600;

/// How a note names the asked time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamedTime {
    /// One of its days is in that time.
    Day,
    /// It is about something that recurs, also in that time.
    Recurring,
}

impl AskedTime {
    /// Returns the first present or future day or period that a prompt names.
    pub(super) fn of<Tz: TimeZone>(prompt: &str, now: &DateTime<Tz>) -> Option<Self> {
        let is_asked = |mention: &DateMention| {
            mention.kind != DatePrecision::Time && mention.relation != TimeRelation::Past
        };
        let named = find_dates(prompt, now).into_iter().find(is_asked);
        let (from, end, text, is_vague) = if let Some(mention) = named {
            let end = mention.end.unwrap_or(mention.at);
            (mention.at, end, mention.text, mention.is_vague)
        } else {
            let (start, span) = current_period(prompt, now)?;
            let start = start.with_timezone(&now.offset().fix());
            (start, start, prompt[span].to_owned(), true)
        };
        let text = text.to_lowercase();
        let mentions = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let until = if !is_vague {
            end.checked_add_days(Days::new(1))
        } else if mentions(&["year", "年"]) {
            end.checked_add_months(Months::new(12))
        } else if mentions(&["week", "周", "星期", "礼拜"]) && !mentions(&["weekend"]) {
            end.checked_add_days(Days::new(7))
        } else if mentions(&["weekend", "周末"]) {
            end.checked_add_days(Days::new(2))
        } else {
            end.checked_add_months(Months::new(1))
        };
        Some(Self {
            from: start_of_day(from),
            until: start_of_day(until?),
        })
    }

    /// Returns how a note that was written at `written` names this time.
    pub(super) fn named_in<Tz: TimeZone>(
        &self,
        text: &str,
        written: &DateTime<Tz>,
    ) -> Option<NamedTime> {
        if MAX_SIZE < text.len() {
            return None;
        }
        let overlaps = |mention: &DateMention| {
            let end = mention.end.unwrap_or(mention.at);
            mention.kind != DatePrecision::Time
                && !mention.is_vague
                && mention.at < self.until
                && self.from <= end
        };
        let named = find_dates(text, written);
        if named
            .iter()
            .any(|mention| !mention.repeats && overlaps(mention))
        {
            return Some(NamedTime::Day);
        }
        let recurs = named.iter().any(|mention| mention.repeats)
            && find_dates(text, &self.from)
                .iter()
                .any(|mention| mention.repeats && overlaps(mention));
        recurs.then_some(NamedTime::Recurring)
    }
}

fn start_of_day(at: DateTime<FixedOffset>) -> DateTime<FixedOffset> {
    at.with_time(chrono::NaiveTime::MIN).single().unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(prompt: &str, note: &str) -> Option<NamedTime> {
        // A Saturday.
        let now = crate::parse_rfc3339("2026-11-21T10:00:00Z").unwrap();
        let written = crate::parse_rfc3339("2026-11-05T10:00:00Z").unwrap();
        AskedTime::of(prompt, &now)?.named_in(note, &written)
    }

    #[test]
    fn a_note_names_the_time_that_the_prompt_asks_about() {
        use NamedTime::{Day, Recurring};
        for (prompt, note, expected) in [
            (
                "what do I have on Tuesday?",
                "Vet on 2026-11-24 at 16:20",
                Some(Day),
            ),
            (
                "what do I have on Tuesday?",
                "Vet on 2026-11-25 at 16:20",
                None,
            ),
            (
                "what do I have on Tuesday?",
                "Choir every Tuesday at 19:45",
                Some(Recurring),
            ),
            (
                "what is due next week?",
                "The library: return by 27 November",
                Some(Day),
            ),
            (
                "what is due next week?",
                "The library: return by 7 December",
                None,
            ),
            ("下周有什么安排？", "11月26日送沙发。", Some(Day)),
            (
                "who is on duty today?",
                "Rota: Ana 16 to 22 November",
                Some(Day),
            ),
            (
                "am I on call this week?",
                "On call: 20 to 22 November",
                Some(Day),
            ),
            ("what did I do yesterday?", "Vet on 2026-11-20", None),
            ("good morning", "Vet on 2026-11-21 in the morning", None),
            ("which vet?", "Vet on 2026-11-24", None),
        ] {
            assert_eq!(named(prompt, note), expected, "{prompt} {note}");
        }
        let long = format!("{} Vet on 2026-11-24.", "We talked. ".repeat(60));
        assert_eq!(named("what do I have on Tuesday?", &long), None);
    }
}
