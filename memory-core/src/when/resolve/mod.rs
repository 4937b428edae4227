//! Resolves parsed expressions to points in time.

mod clock;
mod day;
mod zone;

use chrono::{DateTime, Datelike, FixedOffset, NaiveDateTime, NaiveTime, TimeDelta, Timelike};

use self::clock::{Settled, part_alone, settle};
use self::day::date_of;
use super::reading::{Kind, Relation};
use super::spoken::{Amount, Clock, Day, Half, Part, Spoken, Week};

pub(super) use self::zone::{Change, Of, Zone};

/// The current time, with the time zone.
pub(super) struct Moment<'z> {
    pub(super) utc: NaiveDateTime,
    pub(super) zone: &'z dyn Zone,
}

/// A resolved expression.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) at: DateTime<FixedOffset>,
    pub(super) kind: Kind,
    pub(super) relation: Relation,
    pub(super) assumed: Vec<String>,
}

/// Returns the point in time of an expression, or `None` if it does not exist, such as the 30th of February.
pub(super) fn resolve(spoken: &Spoken, now: &Moment<'_>) -> Option<Resolved> {
    let resolved = resolve_next(spoken, now)?;
    if spoken.ahead == 0 {
        return Some(resolved);
    }
    let utc = resolved.at.naive_utc().checked_sub_signed(TimeDelta::try_seconds(spoken.ahead)?)?;
    whole(now.zone.shown(utc)?, Kind::DateTime, now, resolved.assumed)
}

fn resolve_next(spoken: &Spoken, now: &Moment<'_>) -> Option<Resolved> {
    let today = now.zone.shown(now.utc)?.date_naive();
    let is_daily = matches!(spoken.day, Some(Day::Shifted(0)));
    let is_of_today = matches!(spoken.day, Some(Day::Weekday(weekday, Week::Coming)) if weekday == today.weekday());
    if !spoken.repeats || !is_daily && !is_of_today {
        return resolve_once(spoken, now);
    }
    let next = Day::Shifted(if is_daily { 1 } else { 7 });
    // A recurrence that matches today resolves to today until its time is over.
    let on = |day| resolve_once(&Spoken { day: Some(day), ..spoken.clone() }, now);
    on(Day::Shifted(0)).filter(|today| today.relation == Relation::Future).or_else(|| on(next))
}

/// Resolves a single occurrence. A time zone in the text applies to the time; the day is relative to the local zone.
fn resolve_once(spoken: &Spoken, now: &Moment<'_>) -> Option<Resolved> {
    let Some(seconds) = spoken.zone else { return resolve_in(spoken, now, now.zone) };
    let elsewhere = Of(FixedOffset::east_opt(seconds)?);
    let resolved = match spoken.day {
        Some(_) => resolve_in(spoken, now, &elsewhere),
        None => resolve_in(spoken, &Moment { utc: now.utc, zone: &elsewhere }, &elsewhere),
    }?;
    let at = now.zone.shown(resolved.at.naive_utc())?;
    is_nameable(at).then_some(Resolved { at, ..resolved })
}

fn resolve_in(spoken: &Spoken, now: &Moment<'_>, clocks: &dyn Zone) -> Option<Resolved> {
    let local = now.zone.shown(now.utc)?.naive_local();
    let mut assumed = Vec::new();
    if spoken.is_same_time {
        let date = date_of(spoken.day.as_ref()?, local.date(), &mut assumed)?;
        return placed(Settled { date, time: local.time().with_nanosecond(0)? }, Kind::DateTime, now, clocks, assumed);
    }
    match &spoken.day {
        Some(Day::Now) => whole(now.zone.shown(now.utc)?, Kind::DateTime, now, assumed),
        Some(Day::Away(amount, from)) if amount.is_exact => {
            let Day::Shifted(0) = **from else { return None };
            whole(moved(*amount, local, now)?, Kind::DateTime, now, assumed)
        }
        Some(day) => {
            let date = date_of(day, local.date(), &mut assumed)?;
            let settled = match (spoken.clock, spoken.part) {
                (Some(clock), part) => {
                    settle(clock, part.or_else(|| customary(spoken, clock, &mut assumed)), Some(date), local, &mut assumed)?
                }
                (None, Some(part)) => part_alone(part, date, local, &mut assumed),
                (None, None) => {
                    let midnight = now.zone.moment(date.and_time(NaiveTime::MIN))?;
                    let relation = relation_of(date.cmp(&local.date()));
                    return is_nameable(midnight.at).then_some(Resolved { at: midnight.at, kind: Kind::Date, relation, assumed });
                }
            };
            placed(settled, Kind::DateTime, now, clocks, assumed)
        }
        None => {
            let Some(clock) = spoken.clock else {
                // A part of the day without a day resolves to its next occurrence.
                let part = spoken.part?;
                let settled = part_alone(part, local.date(), local, &mut assumed);
                let is_over = settled.date.and_time(settled.time) <= local;
                let settled = if is_over { Settled { date: settled.date.succ_opt()?, ..settled } } else { settled };
                return placed(settled, Kind::Time, now, clocks, assumed);
            };
            let settled =
                settle(clock, spoken.part.or_else(|| customary(spoken, clock, &mut assumed)), None, local, &mut assumed)?;
            placed(settled, Kind::Time, now, clocks, assumed)
        }
    }
}

/// Returns the usual part of the day of an activity, for an ambiguous time: dinner at seven, an alarm at six.
fn customary(spoken: &Spoken, clock: Clock, assumed: &mut Vec<String>) -> Option<Part> {
    let part = spoken.custom.filter(|_| !clock.is_sure && spoken.part.is_none())?;
    let (hours, half, name) = match part {
        Part::Evening => (5..=11, Half::After, "evening"),
        _ => (4..=11, Half::Before, "morning"),
    };
    let meant = clock.in_half(half).filter(|_| hours.contains(&clock.hour))?;
    assumed.push(format!("AM or PM is not given; {} is usual in the {name}.", clock::taken(meant)));
    Some(part)
}

/// Returns the time at an offset from now: days by the calendar, hours as elapsed time.
fn moved(amount: Amount, local: NaiveDateTime, now: &Moment<'_>) -> Option<DateTime<FixedOffset>> {
    let seconds = TimeDelta::try_seconds(amount.seconds)?;
    let by_days = Amount { seconds: 0, is_exact: false, ..amount };
    if by_days == Amount::default() {
        return now.zone.shown(now.utc.checked_add_signed(seconds)?);
    }
    let date = day::moved(local.date(), by_days)?;
    let utc = now.zone.moment(date.and_time(local.time()))?.at.naive_utc();
    now.zone.shown(utc.checked_add_signed(seconds)?)
}

fn placed(settled: Settled, kind: Kind, now: &Moment<'_>, clocks: &dyn Zone, mut assumed: Vec<String>) -> Option<Resolved> {
    let local = settled.date.and_time(settled.time);
    let placed = clocks.moment(local)?;
    match placed.change {
        Change::None => {}
        Change::Skipped => assumed.push(format!(
            "{} does not exist that day, because clocks go forward; assuming {}.",
            local.format("%H:%M"),
            placed.at.format("%H:%M")
        )),
        Change::Twice => {
            assumed.push(format!("{} occurs twice that day, because clocks go back; assuming the first.", local.format("%H:%M")));
        }
    }
    whole(placed.at, kind, now, assumed)
}

fn whole(at: DateTime<FixedOffset>, kind: Kind, now: &Moment<'_>, assumed: Vec<String>) -> Option<Resolved> {
    let relation = relation_of(at.naive_utc().cmp(&now.utc));
    is_nameable(at).then_some(Resolved { at, kind, relation, assumed })
}

fn relation_of(order: std::cmp::Ordering) -> Relation {
    match order {
        std::cmp::Ordering::Less => Relation::Past,
        std::cmp::Ordering::Equal => Relation::Present,
        std::cmp::Ordering::Greater => Relation::Future,
    }
}

/// Returns whether the year has at most four digits, which is the range that all output formats support.
fn is_nameable(at: DateTime<FixedOffset>) -> bool {
    (1..=9999).contains(&at.year())
}

fn time_of(clock: Clock) -> Option<NaiveTime> {
    NaiveTime::from_hms_opt(clock.hour % 24, clock.minute, clock.second)
}
