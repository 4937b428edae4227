//! Parses all day expressions in English.

use super::super::cursor::Cursor;
use super::super::numeric;
use super::super::spoken::{Amount, Clock, Counted, Day, Month, Near, Part, Period, Quantity, Year};
use super::amounts::{amount, named_unit};
use super::clocks::{Licence, clock, may_end};
use super::dates::{away_year, day_of_month, month_date, which};
use super::feasts::feast;
use super::lexicon::{Sense, month, part, weekday};
use super::numbers::{ordinal, year};
use super::periods::{edge, period, vague};
use super::weekdays::{closest, is_time_next, of_week, repeated, weekdays_away};

/// A day expression, with the time that its name implies.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub(super) day: Day,
    pub(super) part: Option<Part>,
    pub(super) clock: Option<Clock>,
    pub(super) repeats: bool,
    pub(super) is_vague: bool,
}

impl From<Day> for Named {
    fn from(day: Day) -> Self {
        Self { day, part: None, clock: None, repeats: false, is_vague: false }
    }
}

/// Maximum nesting depth of "the day after the day after …".
const DEEPEST: u32 = 3;

/// Consumes a day expression.
pub(super) fn day(cursor: &mut Cursor<'_>) -> Option<Named> {
    day_within(cursor, DEEPEST)
}

pub(super) fn day_within(cursor: &mut Cursor<'_>, depth: u32) -> Option<Named> {
    let depth = depth.checked_sub(1)?;
    let forms: [fn(&mut Cursor<'_>, u32) -> Option<Named>; 14] = [
        part_beside,
        distance,
        |cursor, _| shifted(cursor),
        closest,
        nth,
        |cursor, _| edge(cursor),
        |cursor, _| repeated(cursor),
        |cursor, _| of_week(cursor),
        |cursor, _| month_date(cursor).map(Named::from),
        |cursor, _| numeric::full_date(cursor).map(Named::from),
        |cursor, _| next_date(cursor),
        |cursor, _| feast_of(cursor),
        |cursor, _| day_of_month(cursor).map(Named::from),
        |cursor, _| vague(cursor),
    ];
    forms.into_iter().find_map(|form| cursor.attempt(|cursor| form(cursor, depth)))
}

/// Consumes an offset from now or from another day.
fn distance(cursor: &mut Cursor<'_>, depth: u32) -> Option<Named> {
    let forms = [ahead, away, weekdays_away];
    let (day, by_month) = forms.into_iter().find_map(|form| cursor.attempt(|cursor| form(cursor, depth)))?;
    // "In 3 days on Friday" is redundant; the weekday takes precedence.
    let weekday = cursor.attempt(|cursor| {
        cursor.eat("on");
        let (weekday, sense) = weekday(cursor.word())?;
        cursor.step();
        (sense == Sense::Only).then_some(weekday)
    });
    let near = if by_month { Near::FromThere } else { Near::SameWeek };
    Some(Named::from(weekday.map_or(day.clone(), |weekday| Day::WeekdayNear(weekday, Box::new(day), near))))
}

/// Consumes "the night before the 1st", "the morning after" a holiday and "the evening of the 3rd".
fn part_beside(cursor: &mut Cursor<'_>, depth: u32) -> Option<Named> {
    cursor.eat("the");
    let part = part(cursor.word()).filter(|_| matches!(cursor.word(), "morning" | "afternoon" | "evening" | "night"))?;
    cursor.step();
    let days = match cursor.word() {
        "before" => -1,
        "after" => 1,
        "of" => 0,
        _ => return None,
    };
    cursor.step();
    let named = day_within(cursor, depth).filter(|named| !named.is_vague && named.clock.is_none())?;
    let day = if days == 0 { named.day } else { Day::Away(Amount { days, ..Amount::default() }, Box::new(named.day)) };
    Some(Named { part: Some(part), ..day.into() })
}

pub(super) fn from_now(amount: Amount) -> Day {
    Day::Away(amount, Box::new(Day::Shifted(0)))
}

/// Consumes "in two weeks", "within 5 days" and "upcoming 2 days".
fn ahead(cursor: &mut Cursor<'_>, _: u32) -> Option<(Day, bool)> {
    let is_upcoming = cursor.eat_any(&["upcoming", "coming"]);
    let is_ahead = is_upcoming || cursor.eat_any(&["in", "within", "after"]);
    if !is_ahead || cursor.word_before(2) == "once" || cursor.word_before(2) == "twice" {
        return None;
    }
    cursor.eat_any_phrase(&["the next", "the coming", "less than", "no more than", "at most", "another", "just", "only", "like"]);
    cursor.eat_any(&["about", "around", "approximately", "roughly", "exactly", "maybe", "say", "another"]);
    let amount = amount(cursor)?;
    cursor.eat_any_phrase(&["from now", "from today", "time"]);
    // "In three years of service" is not an offset.
    let is_measure = cursor.word() == "of" || cursor.word() == "ago";
    (!is_measure).then_some((from_now(amount), amount.months != 0))
}

/// Consumes "3 days ago", "a week from Friday" and "the day after tomorrow".
fn away(cursor: &mut Cursor<'_>, depth: u32) -> Option<(Day, bool)> {
    let has_article = cursor.eat("the");
    let amount = match cursor.attempt(amount) {
        Some(amount) if !has_article => amount,
        _ => {
            let (unit, each) = named_unit(cursor)?;
            let is_before_day = matches!(cursor.word(), "after" | "before" | "from" | "following" | "preceding");
            unit.amount(Quantity::whole(each)?).filter(|_| is_before_day)?
        }
    };
    let by_month = amount.months != 0;
    if cursor.eat_any(&["ago", "earlier", "previously"]) || cursor.eat_phrase("back") && may_end(cursor) {
        return Some((from_now(amount.negated()), by_month));
    }
    if cursor.eat_any_phrase(&["from now", "hence", "later", "from today", "after today", "after now"]) {
        return Some((from_now(amount), by_month));
    }
    // "A week tomorrow" and "two weeks Friday".
    let is_weeks = amount.days != 0 && amount.days % 7 == 0 && !has_article;
    let is_day_next =
        matches!(cursor.word(), "today" | "tomorrow") || weekday(cursor.word()).is_some_and(|(_, sense)| sense == Sense::Only);
    let is_after = cursor.eat_any(&["from", "after", "following"]) || is_weeks && (is_day_next || cursor.eat("on"));
    if !is_after && !cursor.eat_any_phrase(&["before", "prior to", "preceding", "ahead of"]) {
        return None;
    }
    // Hours are relative to a time, not to a day.
    let named = day_within(cursor, depth).filter(|named| !named.is_vague && !amount.is_exact)?;
    let amount = if is_after { amount } else { amount.negated() };
    Some((Day::Away(amount, Box::new(named.day)), false))
}

/// Consumes "today", "tomorrow", "tonight", "this morning" and "now".
pub(super) fn shifted(cursor: &mut Cursor<'_>) -> Option<Named> {
    if cursor.eat_any_phrase(&["right now", "just now", "as soon as possible", "asap", "immediately", "now"]) {
        return Some(Day::Now.into());
    }
    if cursor.eat_any_phrase(&[
        "at the moment",
        "at this moment",
        "at this time",
        "at the present time",
        "at present",
        "at the minute",
    ]) {
        return Some(Day::Now.into());
    }
    let this_part = cursor.attempt(|cursor| {
        let is_last = cursor.eat("last");
        if !is_last && !cursor.eat("this") {
            return None;
        }
        cursor.eat_any(&["early", "late"]);
        let part = part(cursor.word())?;
        cursor.step();
        let is_night = matches!(part, Part::Night | Part::Evening);
        (!is_last || is_night).then_some((if is_last { -1 } else { 0 }, part))
    });
    if let Some((days, part)) = this_part {
        return Some(Named { part: Some(part), ..Day::Shifted(days).into() });
    }
    cursor.eat_any(&["later", "early", "earlier", "late"]);
    let word = cursor.word();
    let (days, part) = match word {
        "today" => (0, None),
        "tonight" | "tonite" => (0, Some(Part::Night)),
        "tomorrow" | "tomorow" | "tommorow" | "tommorrow" | "tomorrows" | "tmr" | "tmrw" | "tmw" => (1, None),
        "yesterday" | "yday" => (-1, None),
        _ => return None,
    };
    cursor.step();
    Some(Named { part, ..Day::Shifted(days).into() })
}

/// Consumes "the second Monday of May", "last day of October 2015" and "fifth last day of May".
fn nth(cursor: &mut Cursor<'_>, _: u32) -> Option<Named> {
    cursor.eat("the");
    let nth = if cursor.eat("last") {
        -1
    } else {
        let nth = i32::try_from(ordinal(cursor)?).ok()?;
        let from_end = cursor.eat("last") || cursor.eat_phrase("to last") || cursor.eat_phrase("to the last");
        if from_end { -nth } else { nth }
    };
    let is_working = cursor.eat_any(&["working", "business", "work"]);
    let counted = match cursor.word() {
        "day" if is_working => Counted::WorkingDays,
        "workday" | "weekday" => Counted::WorkingDays,
        "day" => Counted::Days,
        word => Counted::Weekdays(weekday(word)?.0),
    };
    cursor.step();
    if !cursor.eat_any(&["of", "in"]) {
        let is_own = month(cursor.word()).is_some() || matches!(cursor.word(), "next" | "this");
        let is_of_this = matches!(counted, Counted::Weekdays(_)) && 0 < nth && may_end(cursor);
        if !is_own {
            return is_of_this.then(|| Day::Nth(nth, counted, Period::Month(Month::Unsaid)).into());
        }
    }
    let period = period(cursor)?;
    Some(Day::Nth(nth, counted, period).into())
}

/// Consumes "next 6th of April", and dates such as "4/25" if the preceding words indicate a date.
fn next_date(cursor: &mut Cursor<'_>) -> Option<Named> {
    if cursor.eat_any(&["next", "this", "coming"]) {
        return month_date(cursor).or_else(|| numeric::short_date(cursor).filter(|_| may_end(cursor))).map(Named::from);
    }
    if let Some(day) = cursor.attempt(numeric::dotted_date) {
        return Some(day.into());
    }
    let before = cursor.word_before(1);
    let is_led =
        matches!(before, "on" | "by" | "before" | "until" | "till" | "due" | "since" | "from" | "date" | "dated" | "for");
    let is_first = cursor.is_at_start();
    let first = cursor.clone().eat_digits();
    let day = numeric::short_date(cursor)?;
    let is_alone = is_first && (cursor.is_at_end() || is_time_next(cursor));
    // "22/04" at the end of a sentence is almost always a date.
    let is_long = first.is_some_and(|first| first.digits == 2 && 12 < first.value) || matches!(before, "at" | "in");
    let read = if let Day::EitherWay(first, _) = &day { first } else { &day };
    let has_year = matches!(read, Day::OfMonth(_, Month::Named(_, Year::Exactly(_))));
    let is_hour_next = cursor.word() == "at" && may_be_hour(*cursor);
    let is_plain = (is_long || has_year) && cursor.word().is_empty() || is_hour_next;
    (is_led && may_end(cursor) || is_plain && may_end(cursor) || is_alone || is_time_next(cursor)).then(|| day.into())
}

/// Returns whether "at" and an hour follow.
fn may_be_hour(mut cursor: Cursor<'_>) -> bool {
    cursor.step();
    clock(&mut cursor, Licence::Hour).is_some()
}

/// Consumes a holiday, with an optional year or offset.
fn feast_of(cursor: &mut Cursor<'_>) -> Option<Named> {
    let leading = cursor.attempt(which);
    cursor.eat("the");
    let feast = feast(cursor)?;
    let from = cursor.attempt(|cursor| {
        let is_ahead = cursor.eat("in");
        let amount = amount(cursor).filter(|amount| !amount.is_exact)?;
        (is_ahead || cursor.eat_any_phrase(&["from now", "hence", "from today"])).then(|| from_now(amount))
    });
    if let Some(from) = from {
        return Some(Day::FeastFrom(feast, Box::new(from)).into());
    }
    let said = cursor.attempt(|cursor| {
        cursor.eat_sign(',');
        cursor.eat_any(&["of", "in"]);
        away_year(cursor).map(Year::Away).or_else(|| year(cursor).map(Year::Exactly))
    });
    if leading == Some(-1) && said.is_none() {
        let year_ago = Amount { months: -12, ..Amount::default() };
        return Some(Day::FeastFrom(feast, Box::new(from_now(year_ago))).into());
    }
    Some(Day::Feast(feast, said.unwrap_or(Year::Unsaid)).into())
}
