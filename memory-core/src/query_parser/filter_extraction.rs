//! Extraction of time and category filters from the natural language of a query.

use std::ops::Range;

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, TimeZone, Utc};

use super::has_content_word;
use crate::datetime::{DateMention, DatePrecision, TimeRelation, find_date, find_dates};
use crate::language::{WORDS, contains_any};
use crate::{Category, Filter, MAX_TIME, MIN_TIME, parse_day, parse_rfc3339};

/// A query text from which time and category expressions were extracted into a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtractedFilter {
    /// The query text without the extracted expressions.
    pub text: String,
    /// The filter from the caller, narrowed by the extracted expressions.
    pub filter: Filter,
}

/// Extracts the times and categories that a query names, relative to `now` and its time zone.
///
/// A time selects memories by their creation date, so only past periods count: "yesterday", "last week", "in March", "since Monday", 上周,
/// 昨天. A category counts if it is named in a form that covers all its memories ("decisions", "my preferences", 偏好). Fields that `filter`
/// already sets are not overwritten.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::query_parser::extract_filter;
/// use memory_core::{Category, Filter};
///
/// let now = DateTime::parse_from_rfc3339("2026-11-21T10:00:00Z").unwrap();
/// let extracted = extract_filter("decisions about tea last week", &Filter::default(), &now);
/// assert_eq!(extracted.text, "about tea");
/// assert_eq!(extracted.filter.category, Some(Category::Decisions));
/// assert_eq!(extracted.filter.from.unwrap().to_rfc3339(), "2026-11-09T00:00:00+00:00");
/// assert_eq!(extracted.filter.until.unwrap().to_rfc3339(), "2026-11-16T00:00:00+00:00");
/// ```
pub fn extract_filter<Tz: TimeZone>(
    text: &str,
    filter: &Filter,
    now: &DateTime<Tz>,
) -> ExtractedFilter {
    let mut filter = filter.clone();
    let mut taken: Vec<Range<usize>> = Vec::new();
    if filter.from.is_none()
        && filter.until.is_none()
        && let Some(period) = find_period(text, now)
    {
        (filter.from, filter.until) = (period.from, period.until);
        taken.push(period.span);
    }
    if filter.category.is_none()
        && let Some((category, span)) = find_category(text)
        && taken
            .iter()
            .all(|other| span.end <= other.start || other.end <= span.start)
    {
        filter.category = Some(category);
        taken.push(span);
    }
    ExtractedFilter {
        text: remove_spans(text, taken),
        filter,
    }
}

pub(super) fn remove_spans(text: &str, mut taken: Vec<Range<usize>>) -> String {
    taken.sort_by_key(|span| span.start);
    let (mut left, mut end) = (String::new(), 0);
    for span in taken {
        left.push_str(&text[end..span.start]);
        left.push(' ');
        end = span.end;
    }
    left.push_str(&text[end..]);
    left.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A period of time that a query names, with the byte span of its expression.
struct QueryPeriod {
    from: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
    span: Range<usize>,
}

/// The relation that the words next to a time express.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PeriodBound {
    Since,
    Before,
    During,
    Nothing,
}

fn find_period<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Option<QueryPeriod> {
    let mut readings = find_dates(text, now);
    readings.truncate(MAX_MENTIONS);
    let mut ranges = readings.iter().filter(|reading| reading.end.is_some());
    if let Some(range) = ranges.find_map(|range| period_from_mention(text, range, now)) {
        return Some(range);
    }
    if let Some((from, span)) = current_period(text, now) {
        // The current period has no end yet.
        let (around, span) = period_bound(text, &span);
        let (from, until) = if around == PeriodBound::Before {
            (None, Some(from))
        } else {
            (Some(from), None)
        };
        return Some(QueryPeriod { from, until, span });
    }
    readings.iter().enumerate().find_map(|(at, reading)| {
        let period = period_from_mention(text, reading, now)?;
        Some(extend_over_list(text, period, &readings[at + 1..], now))
    })
}

/// Returns the period of the first day of a list and of the other days that follow it: "on Monday and Tuesday".
fn extend_over_list<Tz: TimeZone>(
    text: &str,
    period: QueryPeriod,
    others: &[DateMention],
    now: &DateTime<Tz>,
) -> QueryPeriod {
    others.iter().fold(period, |period, other| {
        let joint = text.get(period.span.end..other.span.start);
        let is_list = joint.is_some_and(|joint| WORDS.list_joints.contains(&joint.trim()));
        let named = past_period(text, other, now).filter(|_| is_list && !other.repeats);
        match (period.from, period.until, named) {
            (Some(from), Some(until), Some((other_from, other_until))) => QueryPeriod {
                from: Some(from.min(other_from)),
                until: Some(until.max(other_until)),
                span: period.span.start..other.span.end,
            },
            _ => period,
        }
    })
}

/// Maximum number of times of a query that are tried as a filter.
const MAX_MENTIONS: usize = 4;

fn period_from_mention<Tz: TimeZone>(
    text: &str,
    reading: &DateMention,
    now: &DateTime<Tz>,
) -> Option<QueryPeriod> {
    let (around, span) = period_bound(text, &reading.span);
    // A number may also be a version or an amount, such as "2026.07.03".
    let is_number = reading
        .text
        .chars()
        .all(|character| character.is_ascii_digit() || character == '.');
    if reading.kind == DatePrecision::Time
        || reading.repeats
        || (is_number && around == PeriodBound::Nothing)
    {
        return None;
    }
    if reading.at.to_utc() == now.to_utc() {
        // A reading of the present moment is not a day; every memory was created before it.
        return (around == PeriodBound::Before).then(|| QueryPeriod {
            from: None,
            until: Some(now.to_utc()),
            span,
        });
    }
    let is_named = around != PeriodBound::Nothing || reading.end.is_some();
    if reading.relation == TimeRelation::Future && !is_named {
        return None;
    }
    let exact = reading
        .end
        .filter(|_| reading.kind == DatePrecision::DateTime)
        .filter(|_| reading.relation == TimeRelation::Past)
        .map(|end| (reading.at.to_utc(), end.to_utc()));
    let (from, until) = exact.or_else(|| past_period(text, reading, now))?;
    let (from, until) = match around {
        PeriodBound::Since => (Some(from), None),
        PeriodBound::Before => (None, Some(from)),
        // A period up to now has no end yet.
        PeriodBound::During | PeriodBound::Nothing => (
            Some(from),
            Some(until).filter(|until| *until != now.to_utc()),
        ),
    };
    Some(QueryPeriod { from, until, span })
}

/// Returns the start and the end of the most recent period that a text names as a whole: a day, a time, or words such as "last Monday".
///
/// The end is that of the named period ("last week"); a point in time is both. Words are relative to `now` in its time zone.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::query_parser::parse_period;
///
/// let now = DateTime::parse_from_rfc3339("2026-11-21T10:00:00+02:00").unwrap();
/// let period = |text: &str| parse_period(text, &now).map(|(from, until)| [from, until].map(|at| at.with_timezone(&now.timezone()).to_rfc3339()));
/// assert_eq!(period("last week").unwrap(), ["2026-11-09T00:00:00+02:00", "2026-11-16T00:00:00+02:00"]);
/// assert_eq!(period("上周一").unwrap(), ["2026-11-09T00:00:00+02:00", "2026-11-10T00:00:00+02:00"]);
/// assert_eq!(period("2 hours ago").unwrap(), ["2026-11-21T08:00:00+02:00", "2026-11-21T08:00:00+02:00"]);
/// assert_eq!(period("soonish"), None);
/// ```
pub fn parse_period<Tz: TimeZone>(
    text: &str,
    now: &DateTime<Tz>,
) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let text = text.trim();
    if let Some(at) = parse_rfc3339(text) {
        return Some((at, at));
    }
    if let Some(day) = parse_day(text) {
        return days_between(day, day.checked_add_days(Days::new(1))?, &now.timezone());
    }
    if let Some((from, span)) = current_period(text, now)
        && span.len() == text.len()
    {
        // The current period has no end yet.
        return Some((from, now.to_utc()));
    }
    let reading = find_date(text, now)?;
    let rest = [&text[..reading.span.start], &text[reading.span.end..]].join(" ");
    if reading.repeats || has_content_word(&rest) {
        return None;
    }
    let is_point = reading.kind != DatePrecision::Date && !reading.is_vague;
    if is_point {
        let last = match reading.relation {
            TimeRelation::Future => last_occurrence(text, &reading, now),
            TimeRelation::Past | TimeRelation::Present => None,
        };
        let reading = last.unwrap_or(reading);
        let end = reading.end.unwrap_or(reading.at);
        return Some((reading.at.to_utc(), end.to_utc()));
    }
    past_period(text, &reading, now).or_else(|| {
        let first = reading.at.date_naive();
        days_between(first, end_of_period(&reading, first)?, &now.timezone())
    })
}

/// Returns the most recent occurrence of a time in the future that is named without its year, month, week or day.
///
/// The text is read relative to earlier times. A time that is then another one in the future, or that is relative to the
/// current day, has no occurrence in the past.
fn last_occurrence<Tz: TimeZone>(
    text: &str,
    reading: &DateMention,
    now: &DateTime<Tz>,
) -> Option<DateMention> {
    let small = reading.text.to_ascii_lowercase();
    if contains_any(&small, &WORDS.upcoming) {
        return None;
    }
    let is_day = reading.kind == DatePrecision::Date;
    let earlier = |days: u64| {
        let then = now.clone().checked_sub_days(Days::new(days))?;
        let mut others = find_dates(text, &then).into_iter();
        others.find(|other| other.span == reading.span)
    };
    let has_passed = |other: &DateMention| {
        other.at.to_utc() <= now.to_utc() || is_day && other.at.date_naive() <= now.date_naive()
    };
    let day_before = earlier(1)?;
    if reading.kind == DatePrecision::Time {
        return Some(day_before).filter(has_passed);
    }
    let next_day = day_before.at.naive_local().checked_add_days(Days::new(1));
    if next_day == Some(reading.at.naive_local()) {
        return None;
    }
    // A weekday recurs within 7 days, a day of the month within 31, and a day of the year within 366.
    for days in [7, 31, 366] {
        let other = earlier(days)?;
        if has_passed(&other) {
            return Some(other);
        }
        if other.at != reading.at {
            return None;
        }
    }
    None
}

/// Returns the start and the end of the period that `reading` of `text` names, of a recurring one the most recent.
fn past_period<Tz: TimeZone>(
    text: &str,
    reading: &DateMention,
    now: &DateTime<Tz>,
) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let last = match reading.relation {
        // No memory was created in the future: a month or weekday without a year or date means the most recent one.
        TimeRelation::Future => &last_occurrence(text, reading, now)?,
        TimeRelation::Past | TimeRelation::Present => reading,
    };
    let first = last.at.date_naive();
    days_between(first, end_of_period(last, first)?, &now.timezone())
}

/// Returns the day after the period that `reading` names and that begins on `first`.
fn end_of_period(reading: &DateMention, first: NaiveDate) -> Option<NaiveDate> {
    if let Some(end) = reading.end {
        let days = end
            .date_naive()
            .signed_duration_since(reading.at.date_naive());
        return first.checked_add_signed(days)?.succ_opt();
    }
    match period_length(reading) {
        PeriodLength::Days(days) => first.checked_add_days(Days::new(days)),
        PeriodLength::Months(months) => first.checked_add_months(Months::new(months)),
    }
}

/// Returns the starts of two days in `zone`.
pub(super) fn days_between<Tz: TimeZone>(
    first: NaiveDate,
    after: NaiveDate,
    zone: &Tz,
) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let start = |day: NaiveDate| {
        // If clocks are put forward at midnight, local midnight does not exist, but one hour later does.
        let start = [0, 1].into_iter().find_map(|hour| {
            zone.from_local_datetime(&day.and_hms_opt(hour, 0, 0)?)
                .earliest()
        })?;
        Some(start.to_utc().clamp(MIN_TIME, MAX_TIME))
    };
    Some((start(first)?, start(after)?))
}

enum PeriodLength {
    Days(u64),
    Months(u32),
}

/// Returns the length of the period that `reading` names.
fn period_length(reading: &DateMention) -> PeriodLength {
    let small = reading.text.to_ascii_lowercase();
    let has = |words: &[&str]| contains_any(&small, words);
    if !reading.is_vague {
        return PeriodLength::Days(1);
    }
    match () {
        () if has(&["weekend", "周末"]) => PeriodLength::Days(2),
        () if has(&["week", "周", "星期", "礼拜"]) || is_week_number(&small) => {
            PeriodLength::Days(7)
        }
        () if has(&["quarter", "季度"]) => PeriodLength::Months(3),
        () if has(&["month", "月"]) => PeriodLength::Months(1),
        () if has(&["year", "年"]) || small.chars().all(|character| character.is_ascii_digit()) => {
            PeriodLength::Months(12)
        }
        // The remaining vague readings are names of months.
        () => PeriodLength::Months(1),
    }
}

/// Returns whether a text in lower case is a week such as `2026-w27`.
fn is_week_number(text: &str) -> bool {
    text.split_once('w').is_some_and(|(year, week)| {
        let year = year.strip_suffix('-').unwrap_or(year);
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        year.len() == 4 && week.len() == 2 && is_number(year) && is_number(week)
    })
}

/// Returns the relation expressed by the words next to a time, and the byte span of both.
fn period_bound(text: &str, span: &Range<usize>) -> (PeriodBound, Range<usize>) {
    let before = text[..span.start].trim_end();
    // One letter more than the longest of these words.
    let letters = before.char_indices().rev().take(7);
    let word = letters
        .take_while(|(_, letter)| letter.is_alphanumeric())
        .last()
        .map_or("", |(start, _)| &before[start..]);
    let around = match word.to_ascii_lowercase().as_str() {
        "since" | "after" => PeriodBound::Since,
        "before" | "until" => PeriodBound::Before,
        "in" | "during" | "on" | "from" | "between" | "within" | "over" => PeriodBound::During,
        _ => PeriodBound::Nothing,
    };
    if around != PeriodBound::Nothing {
        return (around, before.len() - word.len()..span.end);
    }
    // Chinese has no space after such a word.
    let lead = ["从", "從", "自", "在"]
        .into_iter()
        .find(|lead| before.ends_with(lead));
    let start = lead.map_or(span.start, |lead| before.len() - lead.len());
    let after = &text[span.end..];
    let followed = [
        ("以来", PeriodBound::Since),
        ("之后", PeriodBound::Since),
        ("以后", PeriodBound::Since),
        ("之前", PeriodBound::Before),
        ("以前", PeriodBound::Before),
    ];
    match followed
        .into_iter()
        .find(|(word, _)| after.starts_with(word))
    {
        Some((word, around)) => (around, start..span.end + word.len()),
        None if lead.is_some() => (PeriodBound::During, start..span.end),
        None => (PeriodBound::Nothing, span.clone()),
    }
}

/// Returns the start and byte span of the current period that `text` names ("today", "this week", 本月).
pub(crate) fn current_period<Tz: TimeZone>(
    text: &str,
    now: &DateTime<Tz>,
) -> Option<(DateTime<Utc>, Range<usize>)> {
    let small = text.to_ascii_lowercase();
    let today = now.date_naive();
    let monday =
        today.checked_sub_days(Days::new(today.weekday().num_days_from_monday().into()))?;
    let named = [
        (&["today", "今天", "今日"][..], today),
        (
            &["this week", "这周", "本周", "这个星期", "這週", "本週"],
            monday,
        ),
        (
            &["this month", "这个月", "本月", "這個月"],
            today.with_day(1)?,
        ),
        (&["this year", "今年"], today.with_ordinal(1)?),
    ];
    for (names, first) in named {
        for name in names {
            let Some(start) = find_word(&small, name) else {
                continue;
            };
            let first = now
                .timezone()
                .from_local_datetime(&first.and_time(chrono::NaiveTime::MIN))
                .earliest()?;
            return Some((first.to_utc(), start..start + name.len()));
        }
    }
    None
}

fn find_category(text: &str) -> Option<(Category, Range<usize>)> {
    let small = text.to_ascii_lowercase();
    let all = [
        (Category::Preferences, &WORDS.preferences),
        (Category::Decisions, &WORDS.decisions),
        (Category::Lessons, &WORDS.lessons),
        (Category::Habits, &WORDS.habits),
        (Category::Skills, &WORDS.skills),
        (Category::Feedback, &WORDS.feedback),
        (Category::Reminders, &WORDS.reminders),
    ];
    let found = all.iter().flat_map(|(category, names)| {
        names.iter().filter_map(|name| {
            let start = find_word(&small, name)?;
            Some((*category, start..start + name.len()))
        })
    });
    found.min_by_key(|(_, span)| (span.start, usize::MAX - span.end))
}

/// Returns the byte offset of `word` in `text` as a whole word, both in lower case.
///
/// Han words need no word boundary.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_latin = |character: char| character.is_alphanumeric() && character.is_ascii();
    text.match_indices(word)
        .map(|(start, _)| start)
        .find(|start| {
            let before = text[..*start].chars().next_back();
            let after = text[start + word.len()..].chars().next();
            !word.is_ascii() || (!before.is_some_and(is_latin) && !after.is_some_and(is_latin))
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (String, Option<String>, Option<String>, Option<Category>) {
        let now = "2026-11-21T10:00:00+08:00"
            .parse::<DateTime<chrono::FixedOffset>>()
            .expect("a moment");
        let ExtractedFilter { text, filter } = extract_filter(text, &Filter::default(), &now);
        let day = |moment: DateTime<Utc>| {
            moment
                .with_timezone(now.offset())
                .format("%m-%d %H")
                .to_string()
        };
        (
            text,
            filter.from.map(day),
            filter.until.map(day),
            filter.category,
        )
    }

    #[test]
    fn what_has_passed_becomes_a_stretch_of_days() {
        let is = |text: &str, left: &str, from: &str, until: &str| {
            let some = |day: &str| (!day.is_empty()).then(|| format!("{day} 00"));
            assert_eq!(
                read(text),
                (left.to_owned(), some(from), some(until), None),
                "{text}"
            );
        };
        is(
            "what did Anna say yesterday about tea",
            "what did Anna say about tea",
            "11-20",
            "11-21",
        );
        is("tea last week", "tea", "11-09", "11-16");
        is("tea in the last 3 days", "tea", "11-18", "11-22");
        is("tea within the past week", "tea", "11-14", "11-22");
        assert_eq!(
            read("tea in the last 3 hours"),
            ("tea".to_owned(), Some("11-21 07".to_owned()), None, None)
        );
        is("最近三天喝茶", "喝茶", "11-18", "11-22");
        is("tea in the first week of July", "tea", "07-01", "07-08");
        is(
            "tea from November 10 to November 12",
            "tea",
            "11-10",
            "11-13",
        );
        is("tea in September and October", "tea", "09-01", "11-01");
        is("tea 2026-11-10..2026-11-12", "tea", "11-10", "11-13");
        is("tea between June 1 and July 2", "tea", "06-01", "07-03");
        is("tea July 1-5", "tea", "07-01", "07-06");
        is(
            "tea last Monday and last Wednesday",
            "tea",
            "11-09",
            "11-12",
        );
        is("tea in June and August", "tea", "06-01", "09-01");
        is("tea from the 14th to the 18th", "tea", "11-14", "11-19");
        is("tea from the 24th to the 26th", "tea", "10-24", "10-27");
        is(
            "tea from Monday to Wednesday last week",
            "tea",
            "11-09",
            "11-12",
        );
        is("tea from Monday to today", "tea", "11-16", "11-22");
        is("tea from 2026-11-12 to 2026-11-10", "tea", "11-10", "11-13");
        is("7月1日到7月5日的茶", "的茶", "07-01", "07-06");
        is("茶从7月1日到5日", "茶", "07-01", "07-06");
        is("六月到七月的茶", "的茶", "06-01", "08-01");
        is("在三月的茶", "的茶", "03-01", "04-01");
        is("自周一以来的茶", "的茶", "11-16", "");
        is("tea last month", "tea", "10-01", "11-01");
        is("tea in March", "tea", "03-01", "04-01");
        is("tea since Monday", "tea", "11-16", "");
        is("tea in 2024", "tea", "01-01", "01-01");
        is("tea before last week", "tea", "", "11-09");
        is("tea this week", "tea", "11-16", "");
        is("tea before this week", "tea", "", "11-16");
        is(
            "tea in the last day of Feb four pm",
            "tea",
            "02-28",
            "03-01",
        );
        is("今天的茶", "的茶", "11-21", "");
        is("上周的茶", "的茶", "11-09", "11-16");
        is("昨天喝的茶", "喝的茶", "11-20", "11-21");
    }

    #[test]
    fn a_text_full_of_times_is_not_slow() {
        // This takes minutes if each time looks at the whole text before it.
        let text = "明天".repeat(50_000);
        assert_eq!(read(&text).0, text);
    }

    #[test]
    fn what_is_to_come_or_only_a_number_stays_among_the_words() {
        for text in [
            "the 2024 budget",
            "tea tomorrow",
            "the Monday standup",
            "call at 3pm",
            "next week's plan",
            "May's tea",
            "version 2026.07.03",
            "tea tomorrow to Tuesday",
        ] {
            assert_eq!(read(text), (text.to_owned(), None, None, None), "{text}");
        }
    }

    #[test]
    fn this_moment_ends_what_was_until_now_and_is_no_day() {
        let until = |text: &str| {
            let (text, from, until, _) = read(text);
            (text, from, until)
        };
        assert_eq!(
            until("tea until now"),
            ("tea".into(), None, Some("11-21 10".into()))
        );
        assert_eq!(
            until("现在之前的茶"),
            ("的茶".into(), None, Some("11-21 10".into()))
        );
        for text in ["what I drink now", "tea from now on", "现在的茶"] {
            assert_eq!(until(text), (text.to_owned(), None, None), "{text}");
        }
        assert_eq!(
            until("tea until today"),
            ("tea".into(), None, Some("11-21 00".into()))
        );
    }

    #[test]
    fn a_bound_is_the_most_recent_period_that_a_text_names() {
        let now = "2026-11-21T10:00:00+08:00"
            .parse::<DateTime<chrono::FixedOffset>>()
            .expect("a moment");
        let period = |text: &str| {
            let shown =
                |at: DateTime<Utc>| at.with_timezone(now.offset()).format("%F %H").to_string();
            parse_period(text, &now).map(|(from, until)| [from, until].map(shown))
        };
        for (text, expected) in [
            ("2026-11-03", ["2026-11-03 00", "2026-11-04 00"]),
            ("2026-11-03T04:00:00Z", ["2026-11-03 12", "2026-11-03 12"]),
            ("yesterday", ["2026-11-20 00", "2026-11-21 00"]),
            ("today", ["2026-11-21 00", "2026-11-21 10"]),
            ("本月", ["2026-11-01 00", "2026-11-21 10"]),
            ("last monday", ["2026-11-09 00", "2026-11-10 00"]),
            ("Monday", ["2026-11-16 00", "2026-11-17 00"]),
            ("上周五", ["2026-11-13 00", "2026-11-14 00"]),
            ("last month", ["2026-10-01 00", "2026-11-01 00"]),
            ("in March", ["2026-03-01 00", "2026-04-01 00"]),
            ("5 May", ["2026-05-05 00", "2026-05-06 00"]),
            ("three days ago", ["2026-11-18 00", "2026-11-19 00"]),
            ("November 10 to 12", ["2026-11-10 00", "2026-11-13 00"]),
            (
                "from November 10 to November 12",
                ["2026-11-10 00", "2026-11-13 00"],
            ),
            ("11月10日至12日", ["2026-11-10 00", "2026-11-13 00"]),
            ("tomorrow", ["2026-11-22 00", "2026-11-23 00"]),
            ("now", ["2026-11-21 10", "2026-11-21 10"]),
            ("yesterday at 3pm", ["2026-11-20 15", "2026-11-20 15"]),
            ("July 3 at 9am", ["2026-07-03 09", "2026-07-03 09"]),
            ("November 25 at 9am", ["2025-11-25 09", "2025-11-25 09"]),
            ("Monday at 9am", ["2026-11-16 09", "2026-11-16 09"]),
            ("9am on Monday", ["2026-11-16 09", "2026-11-16 09"]),
            ("Saturday at 9am", ["2026-11-21 09", "2026-11-21 09"]),
            ("周一上午九点", ["2026-11-16 09", "2026-11-16 09"]),
            ("周一下午三点", ["2026-11-16 15", "2026-11-16 15"]),
            ("清明节", ["2026-04-05 00", "2026-04-06 00"]),
            ("the 14th", ["2026-11-14 00", "2026-11-15 00"]),
            ("the 24th to the 26th", ["2026-10-24 00", "2026-10-27 00"]),
            ("7月3日上午9点", ["2026-07-03 09", "2026-07-03 09"]),
            ("3pm", ["2026-11-20 15", "2026-11-20 15"]),
            ("tomorrow at 9am", ["2026-11-22 09", "2026-11-22 09"]),
            ("next Monday at 9am", ["2026-11-23 09", "2026-11-23 09"]),
            ("in 2 hours", ["2026-11-21 12", "2026-11-21 12"]),
            ("July 3 2027 at 9am", ["2027-07-03 09", "2027-07-03 09"]),
            ("2026-W27", ["2026-06-29 00", "2026-07-06 00"]),
            ("2026W27", ["2026-06-29 00", "2026-07-06 00"]),
            ("2026-W53", ["2026-12-28 00", "2027-01-04 00"]),
        ] {
            assert_eq!(period(text), Some(expected.map(str::to_owned)), "{text}");
        }
        for text in ["", "tea", "tea yesterday", "every Monday", "2026-02-30"] {
            assert_eq!(period(text), None, "{text}");
        }
    }

    #[test]
    fn a_name_for_several_is_a_category() {
        assert_eq!(
            read("my preferences"),
            ("my".into(), None, None, Some(Category::Preferences))
        );
        assert_eq!(
            read("Lessons learned with tea"),
            ("with tea".into(), None, None, Some(Category::Lessons))
        );
        assert_eq!(
            read("茶的偏好"),
            ("茶的".into(), None, None, Some(Category::Preferences))
        );
        assert_eq!(
            read("what did we decide"),
            ("what did we decide".into(), None, None, None)
        );
    }

    #[test]
    fn what_was_said_otherwise_wins() {
        let now = DateTime::UNIX_EPOCH;
        let filter = Filter {
            category: Some(Category::People),
            until: Some(now),
            ..Filter::default()
        };
        let meant = extract_filter("decisions yesterday", &filter, &now);
        assert_eq!(
            (meant.text.as_str(), meant.filter),
            ("decisions yesterday", filter)
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,40}|((in|since|last|week|March|2024|昨天|决定|之前|İ) ?){0,8}") {
            let now = DateTime::UNIX_EPOCH;
            extract_filter(&text, &Filter::default(), &now);
        }
    }
}
