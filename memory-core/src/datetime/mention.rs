//! A date or time that a text mentions, unless a later one in the text replaces it.

use std::ops::Range;

use chrono::{DateTime, FixedOffset, NaiveTime};

/// A date or time that a text mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DateMention {
    /// The byte range of the expression in the text.
    pub span: Range<usize>,
    /// The text of the expression.
    pub text: String,
    /// The point in time, in the time zone of the caller.
    ///
    /// For a [`DatePrecision::Date`] it is the start of the day, which is midnight unless a clock change skips it.
    pub at: DateTime<FixedOffset>,
    /// The end of a range ("June 10 to 12", "2-4pm"); for days, the start of the last day.
    pub end: Option<DateTime<FixedOffset>>,
    /// The precision of the expression.
    pub kind: DatePrecision,
    /// Whether the point in time is in the past or the future.
    pub relation: TimeRelation,
    /// Whether the expression recurs ("every Monday"); `at` is then the next occurrence.
    pub repeats: bool,
    /// The byte range of the words that name the first day of a recurrence, such as "starting July 12".
    pub start: Option<Range<usize>>,
    /// The assumptions that were made to resolve an ambiguity, as sentences.
    pub assumed: Option<String>,
    /// The words of time next to the expression that no mention includes; `assumed` names them too.
    pub left_out: Vec<String>,
    /// Whether the words name a day of a month of a year, in an order that is certain.
    pub is_full_date: bool,
    /// Whether the expression denotes a longer period, of which `at` is the start ("in June", "next week").
    pub is_vague: bool,
}

impl DateMention {
    /// Returns the precision of the end of a range: its last day, or the time at which it ends.
    pub fn end_kind(&self) -> DatePrecision {
        match self.end {
            Some(end) if end.time() != NaiveTime::MIN => DatePrecision::DateTime,
            _ => self.kind,
        }
    }
}

/// The precision of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DatePrecision {
    /// A day without a time.
    Date,
    /// A time without a day; it resolves to its next occurrence.
    Time,
    /// A day and a time, or an offset from now in hours or less.
    DateTime,
}

impl DatePrecision {
    /// Returns the identifier in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Time => "time",
            Self::DateTime => "datetime",
        }
    }
}

/// The position of a point in time relative to now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimeRelation {
    /// Before now; for a date, before today.
    Past,
    /// Now; for a date, today.
    Present,
    /// After now; for a date, after today.
    Future,
}

impl TimeRelation {
    /// Returns the identifier in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Past => "past",
            Self::Present => "present",
            Self::Future => "future",
        }
    }
}

word_classes! {
    /// The words that say that an appointment has a new time.
    WORDS = "../language/rescheduling.json": ReschedulingWords {
        /// Verbs that indicate that an appointment has a new time.
        verbs,
        /// Chinese expressions between the old and the new time.
        chinese_joints,
        /// Words that mark the time after them as the old one of an appointment.
        old_times,
        /// Words that do so only directly before the time.
        directly_before_old_times,
        /// Words before the new time of an appointment, if an old one precedes.
        new_times,
        /// Endings of a text before a time at which something is not.
        negations,
    }
}

/// Returns the start of the words at the end of `before` that mark the time after them as the old one of an appointment.
///
/// The text is in lower case. "Was" and "not" count directly before the time only.
///
/// ```
/// use memory_core::datetime::find_old_time_words;
///
/// assert_eq!(find_old_time_words("the demo was originally on "), Some(9));
/// assert_eq!(find_old_time_words("the demo was on "), Some(9));
/// assert_eq!(find_old_time_words("the demo is on "), None);
/// ```
pub fn find_old_time_words(before: &str) -> Option<usize> {
    let marked = WORDS.old_times.iter().filter_map(|word| before.rfind(word));
    let place = marked.max().map(|at| &before[..at]);
    let direct = place.unwrap_or(before).trim_end();
    let past = WORDS.directly_before_old_times.iter().find_map(|word| {
        let rest = direct.strip_suffix(word)?;
        Some(rest.len() + usize::from(word.is_ascii()))
    });
    past.or(place.map(str::len))
}

/// How far before a time such a verb is searched, in bytes.
const MAX_VERB_DISTANCE: usize = 60;

/// Removes the dates that the text replaces by the next or previous one.
///
/// The first date is removed in "moved from Tuesday to Thursday", "not on Monday but on Tuesday" and 周二改到周四, the second
/// one in "on Tuesday instead of Monday".
pub(super) fn remove_rescheduled(text: &str, readings: &mut Vec<DateMention>) {
    let small = text.to_ascii_lowercase();
    let mut is_gone = vec![false; readings.len()];
    // "It was Tuesday and is now Thursday" names two days.
    let is_now = |reading: &DateMention| matches!(&small[reading.span.clone()], "now" | "现在");
    let places: Vec<usize> = (0..readings.len())
        .filter(|place| !is_now(&readings[*place]))
        .collect();
    for pair in places.windows(2) {
        let (one, next) = (&readings[pair[0]], &readings[pair[1]]);
        let between = small.get(one.span.end..next.span.start);
        let gap = between.unwrap_or_default().trim();
        if matches!(gap, "instead of" | "and not" | "而不是") {
            is_gone[pair[1]] = true;
        } else if is_rescheduled(&small, &one.span, next.span.start) {
            is_gone[pair[0]..pair[1]].fill(true);
        }
    }
    let mut gone = is_gone.into_iter();
    readings.retain(|_| !gone.next().unwrap_or_default());
}

/// Returns whether the text moves an appointment from the time at `first` to the one at `next`.
pub(super) fn is_rescheduled(small: &str, first: &Range<usize>, next: usize) -> bool {
    let gap = small.get(first.end..next).unwrap_or_default().trim();
    is_replaced(sentence_before(small, first.start), gap)
}

fn is_replaced(before: &str, gap: &str) -> bool {
    let has_word = |own: &str| {
        let mut words = before.split(|letter: char| !letter.is_alphabetic());
        words.any(|word| word == own)
    };
    let is_said = |own: &&str| before.contains(own) && (own.contains(' ') || has_word(own));
    let was_moved = || WORDS.verbs.iter().any(is_said);
    let ends = |endings: &[&str]| {
        endings
            .iter()
            .any(|ending| before.trim_end().ends_with(ending))
    };
    let is_from_to = match gap {
        "to" | "until" | "till" => {
            let last = before.split_whitespace().next_back();
            ends(&[" from"]) && was_moved() || last.is_some_and(|last| WORDS.verbs.contains(&last))
        }
        "->" | "-->" | "=>" | "\u{2192}" | "\u{21d2}" => {
            was_moved() || before.contains(['改', '调', '延', '推', '挪'])
        }
        _ => false,
    };
    let is_not_but = matches!(gap, "but" | "but on" | "but at") && ends(&WORDS.negations);
    let is_not_but_in_chinese =
        matches!(gap.trim_start_matches(['，', ',']), "而是" | "是") && ends(&["不是", "不在"]);
    let is_new = |own: &&str| {
        let mut words = gap.split(|letter: char| !letter.is_alphabetic());
        words.any(|word| word == *own) || !own.is_ascii() && gap.contains(*own)
    };
    let is_updated = gap.len() <= MAX_VERB_DISTANCE
        && WORDS.new_times.iter().any(is_new)
        && find_old_time_words(before).is_some();
    is_from_to
        || is_updated
        || is_not_but
        || is_not_but_in_chinese
        || WORDS.chinese_joints.contains(&gap.trim_start_matches("的"))
}

/// Returns the text before `place` in the same sentence, at most [`MAX_VERB_DISTANCE`] bytes.
fn sentence_before(text: &str, place: usize) -> &str {
    let mut start = place.saturating_sub(MAX_VERB_DISTANCE);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let near = text.get(start..place).unwrap_or_default();
    // Only the current sentence is relevant.
    near.rsplit(['.', '!', '?', '。', '！', '？', '\n'])
        .next()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, FixedOffset};

    use crate::datetime::find_dates;

    #[test]
    fn what_was_moved_is_where_it_was_moved_to() {
        let now = "2025-06-11T10:20:00+02:00"
            .parse::<DateTime<FixedOffset>>()
            .expect("a moment");
        for (text, expected) in [
            (
                "The meeting was moved from Tuesday to Thursday.",
                vec!["Thursday"],
            ),
            (
                "We rescheduled the call from June 20 to June 23.",
                vec!["June 23"],
            ),
            ("会议从周二改到周四", vec!["周四"]),
            ("评审推迟到下周五", vec!["下周五"]),
            ("Come not on Wednesday but on Friday.", vec!["Friday"]),
            ("Call her on Tuesday instead of Monday.", vec!["Tuesday"]),
            (
                "The test was on Tuesday, you know, and I sleep on Friday",
                vec!["Tuesday", "Friday"],
            ),
            (
                "The deadline was Tuesday, it is now Thursday.",
                vec!["Thursday"],
            ),
            ("Originally on Friday, now on Monday", vec!["Monday"]),
            ("会议原来是周五，现在改成周一", vec!["周一"]),
            ("原计划6月20日出发，推迟到6月25日", vec!["6月25日"]),
            (
                "I am away from Tuesday to Thursday.",
                vec!["Tuesday to Thursday"],
            ),
            (
                "We moved house. I work from Monday to Friday.",
                vec!["Monday to Friday"],
            ),
        ] {
            let found: Vec<String> = find_dates(text, &now)
                .into_iter()
                .map(|reading| reading.text)
                .collect();
            let found: Vec<&str> = found
                .iter()
                .map(|text| text.trim_start_matches("on ").trim_end_matches('.'))
                .collect();
            assert!(found == expected, "{text}: {found:?}");
        }
    }
}
