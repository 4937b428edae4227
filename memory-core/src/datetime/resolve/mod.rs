//! Resolves parsed expressions to points in time.

mod day;
mod recurrence;
mod time_of_day;

use chrono::{DateTime, Datelike, FixedOffset, NaiveDateTime, NaiveTime, TimeDelta, Timelike};

use self::day::resolve_day;
use self::recurrence::RecurringDays;
use self::time_of_day::{
    ResolvedLocalTime, at_waking_hour, record_assumption, resolve_day_part, resolve_time,
};
use super::duration::CalendarDuration;
use super::mention::{DatePrecision, TimeRelation};
use super::syntax::{DateExpression, DayExpression};
use super::time_of_day::{DayPart, HalfDay, TimeOfDay};

pub(super) use self::time_of_day::{ChronoZone, ClockChange, DynTimeZone, ZonedTime};

/// The current time, with the time zone.
pub(super) struct DateContext<'z> {
    pub(super) utc: NaiveDateTime,
    pub(super) zone: &'z dyn DynTimeZone,
}

impl<'z> DateContext<'z> {
    pub(super) fn new(utc: NaiveDateTime, zone: &'z dyn DynTimeZone) -> Self {
        Self { utc, zone }
    }
}

/// A resolved expression.
#[derive(Debug)]
pub(super) struct ResolvedDate {
    pub(super) at: DateTime<FixedOffset>,
    pub(super) kind: DatePrecision,
    pub(super) relation: TimeRelation,
    pub(super) assumed: Vec<String>,
    /// The end of a range.
    pub(super) end: Option<DateTime<FixedOffset>>,
}

/// Returns the point in time of an expression, or `None` if it does not exist, such as the 30th of February.
pub(super) fn resolve(spoken: &DateExpression, now: &DateContext<'_>) -> Option<ResolvedDate> {
    spoken.impossible.is_none().then_some(())?;
    let ahead = TimeDelta::try_seconds(spoken.ahead)?;
    let mut resolved = match spoken.every {
        // The result is after now even with the lead time.
        Some(every) => {
            let later = DateContext::new(now.utc.checked_add_signed(ahead)?, now.zone);
            resolve_recurrence(spoken, every, &later)?
        }
        None => resolve_once(spoken, now)?,
    };
    if let Some(end) = &spoken.end {
        let Some(at) = resolve_range_end(end, &resolved, now) else {
            return resolve_reversed(spoken, end, &resolved, now);
        };
        if MAX_RANGE_DAYS < at.signed_duration_since(resolved.at).num_days()
            && end.has_day(|day| day.natural_interval().is_some())
        {
            let date = at.date_naive();
            resolved
                .assumed
                .push(format!("The range ends on {date}, the next such day."));
        }
        if let Some(clock) = end.clock.filter(|clock| !clock.is_sure)
            && end.day.is_some()
            && end.part.is_none()
            && spoken.clock.is_none()
        {
            let hour = at.hour();
            record_assumption(
                TimeOfDay { hour, ..clock },
                "is assumed",
                &mut resolved.assumed,
            );
        }
        resolved.end = Some(at);
    }
    if spoken.ahead == 0 {
        return Some(resolved);
    }
    let is_timed = spoken.clock.is_some() || spoken.part.is_some() || spoken.every.is_some();
    let from_holiday = matches!(spoken.day, Some(DayExpression::Feast(..)));
    if !is_timed && !from_holiday {
        let hour = resolved.at.format("%H:%M");
        let note = format!("No time of day is given; the hours are counted from {hour}.");
        resolved.assumed.push(note);
    }
    let utc = resolved.at.naive_utc().checked_sub_signed(ahead)?;
    Some(ResolvedDate {
        end: resolved.end,
        ..resolved_at(now.zone.local_time_at(utc)?, now, resolved.assumed)?
    })
}

/// The length in days from which the end of a range without a year is stated; its start may be meant to be later.
const MAX_RANGE_DAYS: i64 = 183;

/// Maximum number of dates that are tried, because their time is over in another time zone.
const MAX_DATES: usize = 9;

/// Resolves to the first occurrence after now.
///
/// If today is an occurrence of "every three weeks on Tuesday", the next one is three weeks later; otherwise the first is
/// the next Tuesday.
fn resolve_recurrence(
    spoken: &DateExpression,
    every: CalendarDuration,
    now: &DateContext<'_>,
) -> Option<ResolvedDate> {
    // The half of the day does not depend on the current time.
    let mut assumed = Vec::new();
    let is_open = spoken.part.is_none() && spoken.custom.is_none();
    let clock = spoken.clock.map(|clock| {
        if is_open {
            at_waking_hour(clock, &mut assumed)
        } else {
            clock
        }
    });
    let today = now.zone.local_time_at(now.utc)?.date_naive();
    let start = match &spoken.from {
        Some((day, _)) => Some(resolve_day(day, today, &mut assumed)?),
        None => None,
    };
    let start = start.filter(|start| today < *start);
    let once = DateExpression {
        clock,
        every: None,
        ..spoken.clone()
    };
    let on = |day: DayExpression| {
        let mut on_day = once.clone();
        on_day.day = Some(day);
        let mut found = resolve_once(&on_day, now)?;
        found.assumed.extend(assumed.iter().cloned());
        Some(found)
    };
    let is_next = |found: &ResolvedDate| found.relation == TimeRelation::Future;
    let Some(day) = &spoken.day else {
        if let Some(start) = start {
            return on(DayExpression::on(start));
        }
        let in_one = || on(DayExpression::from_now(every));
        let is_daily = every == CalendarDuration::in_days(1);
        return on(DayExpression::Shifted(0))
            .filter(|today| is_daily && is_next(today))
            .or_else(in_one);
    };
    let is_within = day.recurs_within(every);
    let first = is_within.then(|| day.first_in_month());
    let mut found =
        RecurringDays::new(first.as_ref().unwrap_or(day), every, start.unwrap_or(today))?
            .take(MAX_DATES)
            .filter_map(|date| on(DayExpression::on(date)))
            .find(is_next)?;
    let notes = [
        (
            is_within,
            "Such a day comes every week; assuming the first of the month.",
        ),
        (
            day.is_whole_month(),
            "No day of the month is given; assuming the first.",
        ),
        (
            day.is_in_either_order(),
            "Assuming the month first in dates such as 5/6.",
        ),
    ];
    let applying = notes.into_iter().filter(|(applies, _)| *applies);
    found
        .assumed
        .extend(applying.map(|(_, note)| note.to_owned()));
    Some(found)
}

/// Returns a range with an end before the next occurrence of its start.
///
/// "From Monday to today" starts on the last Monday; otherwise the start and the end are exchanged.
fn resolve_reversed(
    spoken: &DateExpression,
    end: &DateExpression,
    start: &ResolvedDate,
    now: &DateContext<'_>,
) -> Option<ResolvedDate> {
    end.day.as_ref()?;
    let mut end =
        resolve_once(end, now).filter(|end| end.at < start.at && spoken.every.is_none())?;
    let recurs = spoken.has_day(|day| day.natural_interval().is_some());
    let earlier = |days: i64| {
        let earlier = DateContext::new(
            now.utc.checked_sub_signed(TimeDelta::try_days(days)?)?,
            now.zone,
        );
        resolve_once(spoken, &earlier).filter(|start| start.at < end.at)
    };
    if recurs
        && end.relation != TimeRelation::Future
        && let Some(mut start) = [7, 31, 366].into_iter().find_map(earlier)
    {
        for note in &mut start.assumed {
            *note = note.replace("the next such day", "the last such day");
        }
        return Some(ResolvedDate {
            end: Some(end.at),
            relation: TimeRelation::Past,
            ..start
        });
    }
    let note = "The end of the range is before its start; they are exchanged.";
    end.assumed.push(note.to_owned());
    Some(ResolvedDate {
        end: Some(start.at),
        ..end
    })
}

/// Returns the end of a range, which is after its start.
///
/// Words such as "Wednesday" and "the 5th" mean the first such day after the start, and an hour the first after it.
fn resolve_range_end(
    end: &DateExpression,
    start: &ResolvedDate,
    now: &DateContext<'_>,
) -> Option<DateTime<FixedOffset>> {
    let after = |end: &DateExpression, now: &DateContext<'_>| {
        let lead = TimeDelta::try_seconds(end.ahead)?;
        let at = resolve_once(end, now)?.at.checked_sub_signed(lead)?;
        (start.at < at).then_some(at)
    };
    if end.day.is_none() && end.clock.is_none() && end.part.is_none() {
        let length = TimeDelta::try_seconds(end.ahead.checked_neg()?)?;
        return start.at.checked_add_signed(length);
    }
    if end.day.is_some() {
        let from_start = DateContext::new(start.at.naive_utc(), now.zone);
        return after(end, now).or_else(|| after(end, &from_start));
    }
    let zone: &dyn DynTimeZone = end.zone.as_ref().map_or(now.zone, |zone| zone);
    let date = zone.local_time_at(start.at.naive_utc())?.date_naive();
    let clocks = match (end.clock, end.part) {
        (Some(clock), None) if !clock.is_sure => clock.in_both_halves().to_vec(),
        (clock, _) => vec![clock],
    };
    [Some(date), date.succ_opt()]
        .into_iter()
        .flatten()
        .flat_map(|date| clocks.iter().map(move |clock| (date, *clock)))
        .filter_map(|(date, clock)| {
            let end = DateExpression {
                day: Some(DayExpression::on(date)),
                clock,
                ..end.clone()
            };
            after(&end, now)
        })
        .min()
}

/// Resolves a single occurrence. A time zone in the text applies to the time; the day is relative to the local zone.
fn resolve_once(spoken: &DateExpression, now: &DateContext<'_>) -> Option<ResolvedDate> {
    let Some(zone) = &spoken.zone else {
        return resolve_in(spoken, now, now.zone);
    };
    let resolved = match spoken.day {
        Some(_) => resolve_in(spoken, now, zone),
        None => resolve_in(spoken, &DateContext::new(now.utc, zone), zone),
    }?;
    let at = now.zone.local_time_at(resolved.at.naive_utc())?;
    is_representable(at).then_some(ResolvedDate { at, ..resolved })
}

fn resolve_in(
    spoken: &DateExpression,
    now: &DateContext<'_>,
    clocks: &dyn DynTimeZone,
) -> Option<ResolvedDate> {
    let local = now.zone.local_time_at(now.utc)?.naive_local();
    let mut assumed = Vec::new();
    if spoken.is_same_time && spoken.clock.is_none() && spoken.part.is_none() {
        let date = resolve_day(spoken.day.as_ref()?, local.date(), &mut assumed)?;
        let time = local.time().with_nanosecond(0)?;
        return resolve_in_zone(ResolvedLocalTime { date, time }, now, clocks, assumed);
    }
    let at_clock = |clock: TimeOfDay, date, assumed: &mut Vec<String>| {
        let inferred = || infer_day_part(spoken, clock, assumed);
        let part = spoken.part.or_else(inferred);
        resolve_time(clock, part, date, local, assumed)
    };
    match &spoken.day {
        Some(DayExpression::Now) => resolved_at(now.zone.local_time_at(now.utc)?, now, assumed),
        Some(DayExpression::Away(amount, from)) if amount.is_exact => {
            matches!(**from, DayExpression::Shifted(0)).then_some(())?;
            resolved_at(add_to_now(*amount, local, now)?, now, assumed)
        }
        Some(day) => {
            let date = resolve_day(day, local.date(), &mut assumed)?;
            let settled = match (spoken.clock, spoken.part) {
                (Some(clock), _) => at_clock(clock, Some(date), &mut assumed)?,
                (None, Some(part)) => resolve_day_part(part, date, local, &mut assumed),
                (None, None) => {
                    let midnight = now.zone.resolve_local(date.and_time(NaiveTime::MIN))?;
                    return Some(ResolvedDate {
                        kind: DatePrecision::Date,
                        relation: relation_from_ordering(date.cmp(&local.date())),
                        ..resolved_at(midnight.at, now, assumed)?
                    });
                }
            };
            resolve_in_zone(settled, now, clocks, assumed)
        }
        None => {
            let settled = if let Some(clock) = spoken.clock {
                at_clock(clock, None, &mut assumed)?
            } else {
                // A part of the day without a day resolves to its next occurrence.
                let today = local.date();
                let mut settled = resolve_day_part(spoken.part?, today, local, &mut assumed);
                if settled.date.and_time(settled.time) <= local {
                    settled.date = settled.date.succ_opt()?;
                }
                settled
            };
            Some(ResolvedDate {
                kind: DatePrecision::Time,
                ..resolve_in_zone(settled, now, clocks, assumed)?
            })
        }
    }
}

/// Returns the usual part of the day of an activity, for an ambiguous time: dinner at seven, an alarm at six.
fn infer_day_part(
    spoken: &DateExpression,
    clock: TimeOfDay,
    assumed: &mut Vec<String>,
) -> Option<DayPart> {
    let part = spoken
        .custom
        .filter(|_| !clock.is_sure && spoken.part.is_none())?;
    let (hours, half, name) = match part {
        DayPart::Evening => (5..=11, HalfDay::After, "evening"),
        _ => (4..=11, HalfDay::Before, "morning"),
    };
    let meant = clock
        .in_half(half)
        .filter(|_| hours.contains(&clock.hour))?;
    assumed.push(format!(
        "AM or PM is not given; {} is usual in the {name}.",
        time_of_day::format_assumed_time(meant)
    ));
    Some(part)
}

/// Returns the time at an offset from now: days by the calendar, hours as elapsed time.
fn add_to_now(
    amount: CalendarDuration,
    local: NaiveDateTime,
    now: &DateContext<'_>,
) -> Option<DateTime<FixedOffset>> {
    let seconds = TimeDelta::try_seconds(amount.seconds)?;
    let by_days = CalendarDuration {
        seconds: 0,
        is_exact: false,
        ..amount
    };
    if by_days == CalendarDuration::default() {
        return now.zone.local_time_at(now.utc.checked_add_signed(seconds)?);
    }
    let date = day::add_duration(local.date(), by_days)?;
    let utc = now
        .zone
        .resolve_local(date.and_time(local.time()))?
        .at
        .naive_utc();
    now.zone.local_time_at(utc.checked_add_signed(seconds)?)
}

fn resolve_in_zone(
    settled: ResolvedLocalTime,
    now: &DateContext<'_>,
    clocks: &dyn DynTimeZone,
    mut assumed: Vec<String>,
) -> Option<ResolvedDate> {
    let local = settled.date.and_time(settled.time);
    let placed = clocks.resolve_local(local)?;
    match placed.change {
        ClockChange::None => {}
        ClockChange::Skipped => assumed.push(format!(
            "{} does not exist that day, because clocks go forward; assuming {}.",
            local.format("%H:%M"),
            placed.at.format("%H:%M")
        )),
        ClockChange::Twice => {
            assumed.push(format!(
                "{} occurs twice that day, because clocks go back; assuming the first.",
                local.format("%H:%M")
            ));
        }
    }
    resolved_at(placed.at, now, assumed)
}

fn resolved_at(
    at: DateTime<FixedOffset>,
    now: &DateContext<'_>,
    assumed: Vec<String>,
) -> Option<ResolvedDate> {
    let relation = relation_from_ordering(at.naive_utc().cmp(&now.utc));
    is_representable(at).then_some(ResolvedDate {
        at,
        kind: DatePrecision::DateTime,
        relation,
        assumed,
        end: None,
    })
}

fn relation_from_ordering(order: std::cmp::Ordering) -> TimeRelation {
    match order {
        std::cmp::Ordering::Less => TimeRelation::Past,
        std::cmp::Ordering::Equal => TimeRelation::Present,
        std::cmp::Ordering::Greater => TimeRelation::Future,
    }
}

/// Returns whether the year has at most four digits, which is the range that all output formats support.
fn is_representable(at: DateTime<FixedOffset>) -> bool {
    (1..=9999).contains(&at.year())
}

fn naive_time(clock: TimeOfDay) -> Option<NaiveTime> {
    NaiveTime::from_hms_opt(clock.hour % 24, clock.minute, clock.second)
}
