//! The main loop of the daemon, which runs chores when they are due.

use std::io;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{Clock, StoreError, add_time};
use memory_dream::schedule::{CancellationToken, Chore, ChoreStatus, Schedule};
use memory_store::SystemClock;
use memory_store::disk::DirHandle;

use super::chores::HomeChores;
use super::daemon_log::DaemonLog;
use super::file_listener::ForeignWriteFlag;
use super::program_file::ProgramFile;
use crate::allocator;
use crate::wake_signal::WakeSignal;

/// Duration from which a chore is assumed to have used a large amount of memory.
const LARGE_CHORE: Duration = Duration::from_millis(500);

/// The result of one chore.
pub(crate) struct ChoreReport {
    /// The chore.
    pub chore: Chore,
    /// The result.
    pub done: Result<ChoreStatus, StoreError>,
}

/// The reason why a daemon ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DaemonEnd {
    /// A stop was requested.
    Stopped,
    /// The file of the program was replaced, so the daemon must start again.
    ProgramReplaced,
}

/// Interval between checks that the home was not moved and the program not replaced.
const HOME_CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Runs due chores until a stop request, or until the program was replaced.
///
/// # Errors
/// If the home was moved.
pub(crate) fn run_chores(
    mut schedule: Schedule,
    chores: &HomeChores<'_>,
    diary: &DaemonLog,
    (bell, woken): (&WakeSignal, &ForeignWriteFlag),
    stop: &CancellationToken,
    (home, program): (Option<&DirHandle>, Option<&ProgramFile>),
) -> io::Result<DaemonEnd> {
    let start = Instant::now();
    record_plan(diary, &schedule, Duration::ZERO);
    while !stop.is_cancelled() {
        if let Some(home) = home {
            home.check()?;
        }
        if program.is_some_and(ProgramFile::is_replaced) {
            diary.info("the program was updated: starting again");
            return Ok(DaemonEnd::ProgramReplaced);
        }
        if woken.take() {
            let now = start.elapsed();
            schedule.record_write(now);
            diary.record_foreign_write();
            record_plan(diary, &schedule, now);
        }
        if let Some(chore) = schedule.due_chore(start.elapsed()) {
            run_and_record(&mut schedule, chore, chores, diary, start, stop);
            record_plan(diary, &schedule, start.elapsed());
        } else {
            let next = schedule.next().unwrap_or(Duration::MAX);
            let _ = bell.wait(start.checked_add(next.min(start.elapsed() + HOME_CHECK_INTERVAL)));
        }
    }
    Ok(DaemonEnd::Stopped)
}

/// Runs each chore that is due now once, and returns the results.
pub(crate) fn run_once(
    mut schedule: Schedule,
    chores: &HomeChores<'_>,
    diary: &DaemonLog,
    stop: &CancellationToken,
) -> Vec<ChoreReport> {
    let start = Instant::now();
    let mut reports = Vec::new();
    // A finished chore is scheduled for later than the start, so the loop ends.
    while let Some(chore) = schedule
        .due_chore(Duration::ZERO)
        .filter(|_| !stop.is_cancelled())
    {
        reports.push(run_and_record(
            &mut schedule,
            chore,
            chores,
            diary,
            start,
            stop,
        ));
    }
    reports
}

fn run_and_record(
    schedule: &mut Schedule,
    chore: Chore,
    chores: &HomeChores<'_>,
    diary: &DaemonLog,
    start: Instant,
    stop: &CancellationToken,
) -> ChoreReport {
    let (began, began_at) = (start.elapsed(), SystemClock.now());
    let done = chores.run(chore, stop);
    match &done {
        Ok(ChoreStatus::Stopped) => {}
        Ok(_) => schedule.record_done(chore, began, start.elapsed()),
        Err(_) => schedule.record_failure(chore, start.elapsed()),
    }
    diary.record_chore(chore, began_at, &done);
    if LARGE_CHORE < start.elapsed().saturating_sub(began) {
        allocator::release_free_memory();
    }
    ChoreReport { chore, done }
}

/// Records the due times of all chores as wall-clock times.
fn record_plan(diary: &DaemonLog, schedule: &Schedule, elapsed: Duration) {
    let now = SystemClock.now();
    diary.record_due_times(&|chore| {
        let left = schedule.due_at(chore)?.saturating_sub(elapsed);
        Some(add_saturating(now, left))
    });
}

fn add_saturating(now: DateTime<Utc>, left: Duration) -> DateTime<Utc> {
    let left = TimeDelta::from_std(left).unwrap_or(TimeDelta::MAX);
    add_time(now, left)
}
