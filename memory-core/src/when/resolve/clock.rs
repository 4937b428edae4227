//! Resolves a time of day to a date and to one of its two halves of the day.

use chrono::{Days, NaiveDate, NaiveDateTime, NaiveTime};

use super::super::spoken::{Clock, Half, Part};
use super::time_of;

/// A resolved date and time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settled {
    pub(super) date: NaiveDate,
    pub(super) time: NaiveTime,
}

impl Settled {
    fn new(date: NaiveDate, days_later: u64, clock: Clock) -> Option<Self> {
        // Hour 24 is 00:00 of the next day.
        let days = days_later + u64::from(clock.hour / 24);
        Some(Self { date: date.checked_add_days(Days::new(days))?, time: time_of(clock)? })
    }

    fn is_after(self, now: NaiveDateTime) -> bool {
        now < self.date.and_time(self.time)
    }
}

/// Returns the time on `date`, or its next occurrence if there is no date.
pub(super) fn settle(
    clock: Clock,
    part: Option<Part>,
    date: Option<NaiveDate>,
    now: NaiveDateTime,
    assumed: &mut Vec<String>,
) -> Option<Settled> {
    let today = now.date();
    if let Some(part) = part {
        let clock = in_part(clock, part)?;
        let is_of_the_night = part == Part::Night && clock.hour < 5;
        let day = date.unwrap_or(today);
        let same_day = Settled::new(day, 0, clock)?;
        // "Tonight at one" is on the next day, unless it is night already.
        if is_of_the_night && date.is_some() && !(day == today && same_day.is_after(now)) {
            return Settled::new(day, 1, clock);
        }
        let is_over = date.is_none() && !same_day.is_after(now);
        return if is_over { Settled::new(day, 1, clock) } else { Some(same_day) };
    }
    match date {
        Some(date) if date == today => Some(next_of(clock, now, assumed).unwrap_or(Settled::new(date, 0, afternoon_of(clock))?)),
        Some(date) => Settled::new(date, 0, at_daytime(clock, assumed)),
        None => match next_of(clock, now, assumed) {
            Some(settled) => Some(settled),
            None if clock.is_sure => Settled::new(today, 1, clock),
            None if is_of_afternoon(clock) => Settled::new(today, 1, at_daytime(clock, assumed)),
            None => {
                let clock = clock.in_half(Half::Before)?;
                stated(clock, "is next", assumed);
                Settled::new(today, 1, clock)
            }
        },
    }
}

/// Returns the default time of a part of the day.
pub(super) fn part_alone(part: Part, date: NaiveDate, now: NaiveDateTime, assumed: &mut Vec<String>) -> Settled {
    let hours: &[u32] = match part {
        Part::SmallHours => &[3],
        Part::Morning => &[9],
        Part::Noon => &[12],
        Part::Afternoon => &[15],
        Part::Evening => &[19, 21],
        Part::Night => &[20, 22, 23],
        Part::Around(hour) => &[hour],
    };
    let at = |hour: u32| Settled { date, time: NaiveTime::from_hms_opt(hour, 0, 0).unwrap_or(NaiveTime::MIN) };
    let first = at(hours[0]);
    let settled = hours.iter().map(|hour| at(*hour)).find(|settled| date != now.date() || settled.is_after(now)).unwrap_or(first);
    assumed.push(format!("No hour given; assuming {}.", settled.time.format("%H:%M")));
    settled
}

/// Restricts a time to a part of the day; hour 24 is the midnight at its end.
fn in_part(clock: Clock, part: Part) -> Option<Clock> {
    if clock.is_sure {
        let is_next_midnight = matches!(part, Part::Evening | Part::Night) && clock.hour == 0;
        return Some(if is_next_midnight { Clock { hour: 24, ..clock } } else { clock });
    }
    let sure = |hour| Some(Clock { hour, is_sure: true, ..clock });
    match (part, clock.hour) {
        (Part::SmallHours | Part::Morning, _) => clock.in_half(Half::Before),
        (Part::Around(around), _) => clock.in_half(if around < 12 { Half::Before } else { Half::After }),
        (Part::Noon, 5..=12) | (Part::Night, 1..=4) => sure(clock.hour),
        (Part::Evening | Part::Night, 12) => sure(24),
        (Part::Noon | Part::Afternoon | Part::Evening | Part::Night, _) => clock.in_half(Half::After),
    }
}

/// Returns the next occurrence today; a time without "am" or "pm" can match in both halves of the day.
fn next_of(clock: Clock, now: NaiveDateTime, assumed: &mut Vec<String>) -> Option<Settled> {
    let today = now.date();
    if clock.is_sure {
        return Settled::new(today, 0, clock).filter(|settled| settled.is_after(now));
    }
    // 12 is noon rather than midnight, and hours from 1 to 6 are rarely in the night.
    let first = if clock.hour == 12 || is_of_afternoon(clock) { Half::After } else { Half::Before };
    let faces = [clock.in_half(first)?, clock.in_half(Half::After)?];
    let meant = faces.into_iter().find(|face| Settled::new(today, 0, *face).is_some_and(|settled| settled.is_after(now)))?;
    stated(meant, "is next", assumed);
    Settled::new(today, 0, meant)
}

/// Returns a time that is over today, in the afternoon if the half of the day is ambiguous.
fn afternoon_of(clock: Clock) -> Clock {
    if clock.is_sure { clock } else { clock.in_half(Half::After).unwrap_or(clock) }
}

/// Returns whether an ambiguous hour belongs to the afternoon: from 1 to 6 the alternative is in the night.
fn is_of_afternoon(clock: Clock) -> bool {
    // "A quarter to seven" counts as seven, which is after people get up.
    !clock.is_sure && (1..=6).contains(&clock.hour) && (clock.hour, clock.minute) < (6, 45)
}

/// Resolves an ambiguous time to waking hours.
fn at_daytime(clock: Clock, assumed: &mut Vec<String>) -> Clock {
    if clock.is_sure {
        return clock;
    }
    let settled = if is_of_afternoon(clock) { Clock { hour: clock.hour + 12, ..clock } } else { clock };
    stated(settled, "is assumed", assumed);
    settled
}

/// Records the assumed half of the day and its alternative.
fn stated(clock: Clock, how: &str, assumed: &mut Vec<String>) {
    assumed.push(format!("AM or PM is not given; {} {how}.", taken(clock)));
}

/// Formats a time together with the alternative 12 hours from it.
pub(super) fn taken(clock: Clock) -> String {
    format!("{:02}:{:02}, not {:02}:{:02},", clock.hour, clock.minute, (clock.hour + 12) % 24, clock.minute)
}
