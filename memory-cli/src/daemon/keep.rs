//! The main loop of the daemon, which runs chores when they are due.

use std::io;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{Clock, StoreError};
use memory_dream::schedule::{Chore, Chores, Done, Schedule, Stop, perform};
use memory_store::SystemClock;
use memory_store::disk::Anchor;

use super::bell::Bell;
use super::diary::Diary;
use super::listen::Woken;
use crate::allocator;

/// Duration from which a chore is assumed to have used a large amount of memory.
const LARGE: Duration = Duration::from_millis(500);

/// The result of one chore.
pub(crate) struct Report {
    /// The chore.
    pub chore: Chore,
    /// The result.
    pub done: Result<Done, StoreError>,
}

/// Interval between checks that the home was not moved.
const LOOK: Duration = Duration::from_secs(2);

/// Runs due chores until a stop request.
///
/// # Errors
/// If the home was moved.
pub(crate) fn keep(
    mut schedule: Schedule,
    chores: &dyn Chores,
    diary: &Diary,
    (bell, woken): (&Bell, &Woken),
    stop: &Stop,
    home: Option<&Anchor>,
) -> io::Result<()> {
    let start = Instant::now();
    plan(diary, &schedule, Duration::ZERO);
    while !stop.is_asked() {
        if let Some(home) = home {
            home.check()?;
        }
        if woken.take() {
            let now = start.elapsed();
            schedule.woken(now);
            diary.woken();
            plan(diary, &schedule, now);
        }
        if let Some(chore) = schedule.due(start.elapsed()) {
            report(&mut schedule, chore, chores, diary, start, stop);
            plan(diary, &schedule, start.elapsed());
        } else {
            let next = schedule.next().unwrap_or(Duration::MAX);
            let _ = bell.wait(start.checked_add(next.min(start.elapsed() + LOOK)));
        }
    }
    Ok(())
}

/// Runs each chore that is due now once, and returns the results.
pub(crate) fn once(mut schedule: Schedule, chores: &dyn Chores, diary: &Diary, stop: &Stop) -> Vec<Report> {
    let start = Instant::now();
    let mut reports = Vec::new();
    // A finished chore is scheduled for later than the start, so the loop ends.
    while let Some(chore) = schedule.due(Duration::ZERO).filter(|_| !stop.is_asked()) {
        reports.push(report(&mut schedule, chore, chores, diary, start, stop));
    }
    reports
}

fn report(schedule: &mut Schedule, chore: Chore, chores: &dyn Chores, diary: &Diary, start: Instant, stop: &Stop) -> Report {
    let (began, began_at) = (start.elapsed(), SystemClock.now());
    let done = perform(chores, chore, stop);
    match &done {
        Ok(Done::Stopped) => {}
        Ok(_) => schedule.done(chore, began, start.elapsed()),
        Err(_) => schedule.failed(chore, start.elapsed()),
    }
    diary.done(chore, began_at, &done);
    if LARGE < start.elapsed().saturating_sub(began) {
        allocator::give_back();
    }
    Report { chore, done }
}

/// Records the due times of all chores as wall-clock times.
fn plan(diary: &Diary, schedule: &Schedule, elapsed: Duration) {
    let now = SystemClock.now();
    diary.plan(&|chore| {
        let left = schedule.due_at(chore)?.saturating_sub(elapsed);
        Some(later(now, left))
    });
}

fn later(now: DateTime<Utc>, left: Duration) -> DateTime<Utc> {
    let left = TimeDelta::from_std(left).unwrap_or(TimeDelta::MAX);
    now.checked_add_signed(left).unwrap_or(DateTime::<Utc>::MAX_UTC)
}
