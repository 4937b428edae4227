//! Parses the end of a range, such as "to Friday", "-12" or 至12日, and joins it with its start.

use std::ops::Range;

use super::cursor::TokenCursor;
use super::period::{Month, Period, PeriodEdge, Year};
use super::syntax::{DateExpression, DayExpression, Week};
use super::time_of_day::TimeOfDay;
use super::token::DateToken;
use super::token::DateTokenKind::{Han, Number, Sign, Word};
use super::{chinese, english, find, numeric};

/// What joins the parts of a list in Chinese, beside signs.
pub(super) const LIST_CHARACTERS: [&str; 4] = ["和", "与", "及", "或"];

/// Maximum number of tokens of the hour that ends a range: "10:30:00 a.m.".
const MAX_HOUR_TOKENS: usize = 12;

/// The end of a range.
#[derive(Debug, Clone)]
pub(super) struct RangeEnd {
    pub(super) spoken: DateExpression,
    /// Whether the words are a time only as the end of a range, such as "12" after "December 10 to".
    pub(super) is_fragment: bool,
    /// Whether the end states "am" or "pm", which then applies to the start too.
    has_half: bool,
    /// Whether the hour behind the range is that of each of its days, as in "Monday to Friday at 9".
    is_schedule: bool,
}

/// Returns the end of the range that starts with the tokens `start`, the place of its tokens and the place after them.
pub(super) fn parse_end(
    tokens: &[DateToken<'_>],
    from: usize,
    end_of_start: usize,
    start: &DateExpression,
) -> Option<(RangeEnd, usize, usize)> {
    let mut cursor = TokenCursor::new(tokens, end_of_start);
    let is_between = tokens[from.saturating_sub(1)..end_of_start]
        .iter()
        .any(|token| token.what == Word("between"));
    if !(consume_joint(&mut cursor) || is_between && cursor.consume_word("and")) {
        return parse_period_list(&mut cursor, start);
    }
    // The tokens before the end are no part of it, although "2-4pm" has no gaps.
    let at = cursor.position();
    let own = cursor.detached();
    // 至今 is "until now".
    let until_now = cursor.is_han_next(0, "今")
        && cursor.is_han_before(1, "至")
        && !cursor.is_han_next(1, "天");
    let now = until_now.then(|| (DateExpression::from(DayExpression::Now), 1));
    // In "Monday 1-3pm, Tuesday", the day after the comma is another one.
    let comma = || {
        let mut ahead = tokens[at..].iter().take(MAX_HOUR_TOKENS);
        ahead.position(|token| matches!(token.what, Sign(',') | Han('，')))
    };
    let hour = || {
        (start.day.is_some() && start.clock.is_some()).then_some(())?;
        let comma = comma()?;
        let own = TokenCursor::new(&tokens[..at + comma], at).detached();
        let (spoken, length) = find::parse_expression(own)?;
        let is_hour = spoken.clock.is_some() && spoken.day.is_none() && length == comma;
        is_hour.then_some((spoken, length))
    };
    let whole = now
        .or_else(hour)
        .or_else(|| find::parse_expression(own))
        .filter(|(spoken, _)| {
            spoken.day.is_some() || start.clock.is_some() || start.part.is_some()
        });
    let is_fragment = whole.is_none();
    let (mut spoken, length) = whole.or_else(|| {
        let mut cursor = own;
        let spoken = cursor
            .attempt(|cursor| parse_bare_day(cursor, start))
            .map(|day| with_hour(&mut cursor, day))
            .or_else(|| cursor.attempt(|cursor| parse_bare_period(cursor, start)))
            .or_else(|| cursor.attempt(|cursor| parse_bare_hour(cursor, start)))?;
        Some((spoken, cursor.position()))
    })?;
    spoken.impossible = spoken.impossible.map(|part| at + part.start..at + part.end);
    let mut after = TokenCursor::new(tokens, at + length);
    let has_half = numeric::follows_half_day(&after);
    let first = TokenCursor::new(tokens, from);
    let is_led =
        matches!(first.word_before(1), "from" | "between") || first.is_han_before(1, "从自");
    let is_weekday = |of: &DateExpression| matches!(of.day, Some(DayExpression::Weekday(..)));
    let is_schedule = spoken.clock.is_some()
        && (!is_led && is_weekday(start) && is_weekday(&spoken)
            || consume_joint(&mut after.clone()));
    if start.has_day(DayExpression::is_exact) {
        let every = after.attempt(numeric::parse_repeater);
        spoken.every = spoken.every.or(every.filter(|every| !every.is_zero()));
    }
    let end = RangeEnd {
        spoken,
        is_fragment,
        has_half,
        is_schedule,
    };
    Some((end, at, after.position()))
}

/// Returns whether other days follow, as the end of the range or in the list which `start` begins: "-12" after "December 10",
/// "- 2 May" after "30 April", ", 10 and 11" after "June 9".
pub(super) fn follows(cursor: &TokenCursor<'_>, start: &DateExpression) -> bool {
    let mut ahead = *cursor;
    if ahead.consume_sign('-') {
        let is_date = start.day.is_some() && english::starts_with_day_of_month(ahead);
        return is_date || parse_bare_day(&mut ahead, start).is_some();
    }
    parse_listed_day(&mut ahead, start).is_some()
}

/// Consumes the next day of a list in one month.
///
/// After a comma, a number without an ending is a day only if the list goes on; otherwise it is an hour or a year.
fn parse_listed_day(
    cursor: &mut TokenCursor<'_>,
    start: &DateExpression,
) -> Option<DateExpression> {
    (english::consume_list_separator(cursor) || cursor.consume_any_han(&LIST_CHARACTERS))
        .then_some(())?;
    let needs_mark = matches!(cursor.peek_back(1), Some(Sign(',') | Han(_)));
    let day = parse_bare_day(cursor, start)?;
    let is_marked = matches!(
        cursor.peek_back(1),
        Some(Word("st" | "nd" | "rd" | "th") | Han('日' | '号'))
    );
    let goes_on = || {
        let mut ahead = *cursor;
        parse_listed_day(&mut cursor.clone(), &day).is_some()
            || english::consume_list_separator(&mut ahead)
                && english::lookup_month(ahead.word()).is_some()
    };
    (is_marked || !needs_mark || goes_on()).then_some(day)
}

/// Consumes the sign or word between the ends of a range.
pub(super) fn consume_joint(cursor: &mut TokenCursor<'_>) -> bool {
    if cursor.consume_any_word(&["to", "until", "till", "til", "through", "thru"])
        || cursor.consume_any_han(&["到", "至"])
    {
        return true;
    }
    let dots = |cursor: &mut TokenCursor<'_>| {
        let (is_after_number, is_glued) = (cursor.is_number_before(1), cursor.is_glued(0));
        let is_open = cursor.consume_sign('.') && cursor.consume_glued_sign('.');
        cursor.consume_glued_sign('.');
        let is_between = is_after_number && cursor.is_number(0);
        is_open && (is_between || is_glued && cursor.is_glued(0))
    };
    if cursor.try_consume(dots) {
        return true;
    }
    // An interval in ISO 8601.
    let is_after_clock = cursor.peek_back(4) == Some(Word("t"));
    let is_iso_end = matches!(cursor.peek(1), Some(Number(number)) if is_after_clock || matches!(number.digits, 4 | 8));
    if is_iso_end && cursor.is_glued(1) && cursor.consume_glued_sign('/') {
        return true;
    }
    // Org mode has brackets around each end.
    let is_bracketed = cursor.consume_sign('>') || cursor.consume_sign(']');
    let signs = ['-', '~', '\u{2014}', '\u{ff5e}', '\u{301c}'];
    let is_sign = cursor.consume_any_sign(&signs).is_some();
    if is_sign {
        cursor.consume_glued_sign('-');
    }
    let is_opened = !is_bracketed || cursor.consume_sign('<') || cursor.consume_sign('[');
    is_sign && is_opened
}

/// Consumes the number of a day after the one of `start`.
fn parse_bare_day(cursor: &mut TokenCursor<'_>, start: &DateExpression) -> Option<DateExpression> {
    let Some(DayExpression::OfMonth(first, month)) = start.day else {
        return None;
    };
    (start.clock.is_none() && start.part.is_none() && start.every.is_none()).then_some(())?;
    cursor.consume_word("the");
    let is_in_characters = cursor.peek_han(0).is_some();
    let day = chinese::parse_number_in(cursor, 1..=31)?;
    cursor.consume_any_word(&["st", "nd", "rd", "th"]);
    let is_marked = cursor.consume_any_han(&["日", "号"]);
    (!is_in_characters || is_marked).then_some(())?;
    let year = cursor.attempt(|cursor| {
        cursor.consume_sign(',');
        let year = cursor.consume_digits(4..=4)?;
        (!cursor.consume_glued_sign(':')).then_some(year.value)
    });
    let is_clock = cursor.is_glued(0) && matches!(cursor.peek(0), Some(Word(_) | Sign(':')))
        || matches!(cursor.word(), "am" | "pm" | "o" | "oclock");
    let is_day = first < day && !is_clock && cursor.ends_cleanly();
    let month = match (month, year) {
        (Month::Named(month, _), Some(year)) => {
            Month::Named(month, Year::Exactly(i32::try_from(year).ok()?))
        }
        (month, _) => month,
    };
    let has_own_month =
        cursor.word() == "of" && english::lookup_month(cursor.word_ahead(1)).is_some();
    let may_end = is_marked || has_own_month || english::can_end_number(cursor);
    (is_day && (may_end || year.is_some()))
        .then(|| DateExpression::from(DayExpression::OfMonth(day, month)))
}

/// Consumes the hour of "5pm" after "July 5 to 7 at", unless it starts a range of its own.
fn with_hour(cursor: &mut TokenCursor<'_>, day: DateExpression) -> DateExpression {
    let hour = cursor.attempt(|cursor| {
        cursor.consume_any_word(&["at", "by"]);
        let (hour, length) = find::parse_expression(*cursor)?;
        (0..length).for_each(|_| cursor.step());
        let is_hour = hour.day.is_none() && hour.every.is_none() && !hour.is_instant();
        (is_hour && !consume_joint(&mut cursor.clone())).then_some(hour)
    });
    DateExpression {
        day: day.day,
        ..hour.unwrap_or_default()
    }
}

/// Consumes the last month of "July to September" or the last year of "2023 to 2025".
fn parse_bare_period(
    cursor: &mut TokenCursor<'_>,
    start: &DateExpression,
) -> Option<DateExpression> {
    let Some(DayExpression::Edge(PeriodEdge::Start, first)) = &start.day else {
        return None;
    };
    let period = match first {
        Period::Month(Month::Named(..)) => cursor
            .attempt(english::parse_month)
            .or_else(|| cursor.attempt(chinese::parse_bare_month))
            .filter(|month| matches!(month, Month::Named(..)))
            .map(Period::Month),
        Period::Year(Year::Exactly(first)) => english::parse_year(cursor)
            .filter(|year| first < year)
            .map(|year| Period::Year(Year::Exactly(year))),
        _ => None,
    }?;
    Some(DateExpression {
        is_vague: true,
        ..DayExpression::Edge(PeriodEdge::Start, period).into()
    })
}

/// Consumes the other months or years of "June, July and August" if they follow one another, and returns the last.
fn parse_period_list(
    cursor: &mut TokenCursor<'_>,
    start: &DateExpression,
) -> Option<(RangeEnd, usize, usize)> {
    let mut before = start.clone();
    let mut last = None;
    while let Some((at, next)) = cursor.attempt(|cursor| {
        let is_list =
            english::consume_list_separator(cursor) || cursor.consume_any_han(&LIST_CHARACTERS);
        let at = cursor.position();
        let next = parse_bare_period(cursor, &before)?;
        (is_list && is_next_period(&before, &next)).then_some((at, next))
    }) {
        before.clone_from(&next);
        last = Some((at, next, cursor.position()));
    }
    let (at, spoken, end) = last?;
    let end_of_list = RangeEnd {
        spoken,
        is_fragment: true,
        has_half: false,
        is_schedule: false,
    };
    Some((end_of_list, at, end))
}

fn is_next_period(first: &DateExpression, next: &DateExpression) -> bool {
    let (Some(DayExpression::Edge(_, first)), Some(DayExpression::Edge(_, next))) =
        (&first.day, &next.day)
    else {
        return false;
    };
    match (first, next) {
        (Period::Month(Month::Named(first, _)), Period::Month(Month::Named(next, _))) => {
            first % 12 + 1 == *next
        }
        (Period::Year(Year::Exactly(first)), Period::Year(Year::Exactly(next))) => {
            first + 1 == *next
        }
        _ => false,
    }
}

/// Returns what continues a list after `at`, with its tokens: the hours of one day ("8.30" after "tomorrow at 8 and"), or the days of
/// one month ("10" after "June 9 and").
pub(super) fn parse_list(
    tokens: &[DateToken<'_>],
    at: usize,
    start: &DateExpression,
) -> Vec<(DateExpression, Range<usize>)> {
    let mut cursor = TokenCursor::new(tokens, at);
    let mut list = Vec::new();
    loop {
        let mut ahead = cursor;
        let is_list = english::consume_list_separator(&mut ahead);
        let next = find::parse_expression(ahead).map(|(next, _)| next);
        // A recurrence has one time.
        if start.every.is_some() || next.as_ref().is_some_and(|next| next.every.is_some()) {
            return Vec::new();
        }
        let from = ahead.position();
        let hour = ahead
            .attempt(|cursor| parse_bare_hour(cursor, start))
            .map(|hour| (hour, ahead));
        let day = || {
            let mut ahead = cursor;
            parse_listed_day(&mut ahead, start).map(|day| (day, ahead))
        };
        // "On 1/30 and 9/30".
        let date = || {
            let is_date = matches!(
                start.day,
                Some(DayExpression::OfMonth(_, Month::Named(..)) | DayExpression::EitherWay(..))
            );
            let mut ahead = ahead;
            let day = english::parse_listed_date(&mut ahead).filter(|_| is_date && is_list)?;
            Some((day.into(), ahead))
        };
        let more = hour.or_else(day).or_else(date);
        let Some((more, after)) = more.filter(|_| is_list && next.is_none()) else {
            break;
        };
        cursor = after;
        list.push((more, from..cursor.position()));
    }
    list
}

/// Consumes the hour of "3pm to 5".
fn parse_bare_hour(cursor: &mut TokenCursor<'_>, start: &DateExpression) -> Option<DateExpression> {
    start.clock?;
    if let Some(clock) = cursor.attempt(numeric::parse_dotted_hour) {
        return Some(DateExpression::from(clock));
    }
    let hour = cursor.consume_digits(1..=2)?;
    let clock = TimeOfDay::from_hour(hour.value)?;
    (cursor.ends_cleanly() && english::can_end_number(cursor)).then(|| DateExpression::from(clock))
}

/// Returns the range from `start` to `end`; what one of them leaves out is taken from the other.
pub(super) fn join(start: &DateExpression, end: &RangeEnd) -> Option<DateExpression> {
    let RangeEnd {
        spoken: end,
        has_half,
        is_schedule,
        ..
    } = end;
    let (mut start, mut end) = (start.clone(), end.clone());
    let has_time = |spoken: &DateExpression| spoken.clock.is_some() || spoken.part.is_some();
    let is_undated = start.day.is_none() && start.every.is_none();
    let is_series = start.has_day(DayExpression::is_exact) && end.day.is_none();
    let recurs = start.every.is_some() && end.day.is_some()
        || end.every.is_some() && !is_undated && !is_series;
    // "The second half of last year until now" ends now.
    if matches!(
        end.day,
        Some(DayExpression::Now | DayExpression::Shifted(0))
    ) {
        start.end = None;
    }
    let is_relative = start.end.is_some() || start.ahead != 0;
    // "Tomorrow to 3pm" and "2 to Friday" are no ranges.
    let is_other_kind = if is_undated {
        end.impossible.is_none() && !has_time(&end)
    } else {
        !has_time(&start) && end.day.is_none() && end.impossible.is_none()
    };
    (!recurs && !is_relative && !is_other_kind).then_some(())?;
    start.impossible = start.impossible.or(end.impossible.take());
    start.every = start.every.or(end.every.take());
    if is_undated {
        start.day = end.day.take();
        start.is_vague |= end.is_vague;
    }
    if let Some(day) = &mut end.day {
        align_days(start.day.as_mut()?, day);
        // A range to a period includes all of it.
        if let DayExpression::Edge(edge @ PeriodEdge::Start, _) = day
            && end.is_vague
        {
            *edge = PeriodEdge::End;
        }
    }
    // "From today to tomorrow at 5pm" starts with a day.
    if !has_time(&start) && (is_undated || *is_schedule) {
        (start.clock, start.part, start.custom) = (end.clock, end.part, end.custom);
    }
    if let (Some(first), Some(last)) = (&mut start.clock, &mut end.clock)
        && last.is_sure
        && !first.is_sure
        && start.part.is_none()
    {
        *first = align_half(*first, *last, *has_half);
    }
    start.zone = start.zone.or(end.zone.take());
    end.zone.clone_from(&start.zone);
    start.end = Some(Box::new(end));
    Some(start)
}

/// Returns the start of "9 to 11am" and "11 to 1pm" in its half of the day.
pub(super) fn align_half(first: TimeOfDay, last: TimeOfDay, has_half: bool) -> TimeOfDay {
    let is_after_noon = 12 <= last.hour && last.hour < 24;
    let is_same_half = first.hour % 12 < last.hour % 12
        || first.hour % 12 == last.hour % 12 && first.minute < last.minute;
    let hour = match (has_half, is_after_noon == is_same_half) {
        (true, true) => first.hour % 12 + 12,
        (true, false) => first.hour % 12,
        // Both are on a clock of 24 hours.
        (false, _) => first.hour,
    };
    TimeOfDay { hour, ..first }.sure()
}

/// Gives the start the month, year and week of the end, and the end the month and week of the start.
pub(super) fn align_days(start: &mut DayExpression, end: &mut DayExpression) {
    if let (DayExpression::Weekday(first, own), DayExpression::Weekday(last, other)) =
        (&mut *start, &mut *end)
    {
        let weeks = i32::from(last.num_days_from_monday() < first.num_days_from_monday());
        match (*own, *other) {
            (Week::Of(week), Week::Coming) => *other = Week::Of(week + weeks),
            (Week::Coming, Week::Of(week)) => *own = Week::Of(week - weeks),
            _ => {}
        }
    }
    let (Some(first), Some(last)) = (month_of(start), month_of(end)) else {
        return;
    };
    match (&*first, &*last) {
        (_, Month::Unsaid) => *last = *first,
        (Month::Unsaid, Month::Named(..) | Month::Away(_)) => *first = *last,
        (Month::Named(month, Year::Unsaid), Month::Named(last_month, year)) => {
            let year = match year {
                Year::Exactly(year) if last_month < month => Year::Exactly(year - 1),
                Year::Away(years) if last_month < month => Year::Away(years - 1),
                year => *year,
            };
            *first = Month::Named(*month, year);
        }
        // "March 2024 to May" ends in the same year.
        (Month::Named(month, year), Month::Named(last_month, Year::Unsaid)) => {
            let years = i32::from(last_month < month);
            let year = match year {
                Year::Exactly(year) => Year::Exactly(*year + years),
                Year::Away(away) => Year::Away(*away + years),
                Year::Unsaid | Year::Beside(_) => *year,
            };
            *last = Month::Named(*last_month, year);
        }
        (Month::Named(..) | Month::Away(_), _) => {}
    }
}

/// Gives two days of a list the month and year that only one of them has; returns whether there is such a one.
pub(super) fn share_month(first: &mut DayExpression, second: &mut DayExpression) -> bool {
    let mut months = || Some((*month_of(first)?, *month_of(second)?));
    let before = months();
    align_days(first, second);
    let mut months = || Some((*month_of(first)?, *month_of(second)?));
    before != months()
}

pub(super) fn month_of(day: &mut DayExpression) -> Option<&mut Month> {
    match day {
        DayExpression::OfMonth(_, month) | DayExpression::Edge(_, Period::Month(month)) => {
            Some(month)
        }
        DayExpression::Confirmed(_, day) => month_of(day),
        _ => None,
    }
}
