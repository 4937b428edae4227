//! Decides which chore is due when, by the times of the last runs.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::Chore;
use crate::DreamLevel;

/// The idle time, without writes, after which changes are written to the full-text index.
const FLUSH_IDLE: Duration = Duration::from_mins(1);

/// The interval of trash purges.
const PURGE_INTERVAL: Duration = Duration::from_hours(24);

/// Maximum retry delay of a failed chore, unless the interval is longer.
const MAX_RETRY_DELAY: Duration = Duration::from_hours(1);

/// Multiple of its run time for which a chore pauses while there are no writes.
///
/// With this value, all chores together take at most 1 % of the time.
const IDLE_REST_FACTOR: u32 = 500;

/// After a write, a chore pauses for at least this multiple of its run time.
const BUSY_REST_FACTOR: u32 = 20;

/// Maximum pause because of a long run time.
const MAX_REST: Duration = Duration::from_hours(1);

/// The levels of dreams, lightest first.
pub(super) const LEVELS: [DreamLevel; 3] =
    [DreamLevel::Light, DreamLevel::Medium, DreamLevel::Deep];

/// Minimum interval.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// The settings of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduleRules {
    /// The interval of the regular chores; values below one second count as one second.
    pub interval: Duration,
    /// Whether an embedding model is configured.
    pub embeds: bool,
    /// Whether a source is watched.
    pub ingests: bool,
    /// Whether entries of the trash are ever deleted.
    pub purges: bool,
}

/// A schedule of chores. All times are since its start, by a monotonic clock.
///
/// Regular chores run every [`ScheduleRules::interval`], counted from the end of the previous run. A chore with a long run time runs less often
/// while there are no writes, so that a large store causes little load; reminders are never delayed. Each level of dream runs once per idle
/// period; if several are due, only the deepest one runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    rules: ScheduleRules,
    due: BTreeMap<Chore, Duration>,
    /// The times to which a write moves chores forward.
    ready: BTreeMap<Chore, Duration>,
    failures: BTreeMap<Chore, u32>,
}

impl Schedule {
    /// Creates a schedule that continues from `past`.
    pub fn new(rules: ScheduleRules, past: &ScheduleHistory) -> Self {
        let rules = ScheduleRules {
            interval: rules.interval.max(MIN_INTERVAL),
            ..rules
        };
        let mut schedule = Self {
            rules,
            due: BTreeMap::new(),
            ready: BTreeMap::new(),
            failures: BTreeMap::new(),
        };
        for chore in Chore::ALL {
            let done = past.done.get(&chore).copied();
            if let Some(period) = schedule.chore_interval(chore) {
                schedule.due.insert(
                    chore,
                    done.map_or(Duration::ZERO, |ago| period.saturating_sub(ago)),
                );
            } else if let Some(idle) = required_idle(chore) {
                // A chore that ran after the last write does not run again.
                if done.is_none_or(|ago| past.idle < ago) {
                    schedule.due.insert(chore, idle.saturating_sub(past.idle));
                }
            }
        }
        for level in LEVELS {
            if past
                .done
                .get(&Chore::Dream(level))
                .is_some_and(|ago| *ago <= past.idle)
            {
                schedule.clear_dreams(level);
            }
        }
        schedule
    }

    /// Returns the chore that is due at `now`, if any: the one overdue the longest; of dreams the deepest.
    pub fn due_chore(&self, now: Duration) -> Option<Chore> {
        let (chore, _) = self
            .due
            .iter()
            .filter(|(_, at)| **at <= now)
            .min_by_key(|(_, at)| **at)?;
        let Chore::Dream(_) = chore else {
            return Some(*chore);
        };
        LEVELS
            .into_iter()
            .rev()
            .map(Chore::Dream)
            .find(|dream| self.due.get(dream).is_some_and(|at| *at <= now))
    }

    /// Returns the time at which the next chore is due.
    pub fn next(&self) -> Option<Duration> {
        self.due.values().min().copied()
    }

    /// Returns the time at which `chore` is due; `None` if it waits for a write or is disabled.
    pub fn due_at(&self, chore: Chore) -> Option<Duration> {
        self.due.get(&chore).copied()
    }

    /// Records that `chore` started at `began` and completed at `now`.
    pub fn record_done(&mut self, chore: Chore, began: Duration, now: Duration) {
        self.failures.remove(&chore);
        match (chore, self.chore_interval(chore)) {
            (Chore::Refresh | Chore::Ingest | Chore::Lifecycle | Chore::Embed, Some(period)) => {
                let took = now.saturating_sub(began);
                let rest = |times| {
                    now.saturating_add(took.saturating_mul(times).min(MAX_REST).max(period))
                };
                self.due.insert(chore, rest(IDLE_REST_FACTOR));
                self.ready.insert(chore, rest(BUSY_REST_FACTOR));
            }
            (_, Some(period)) => drop(self.due.insert(chore, now.saturating_add(period))),
            (Chore::Dream(level), None) => self.clear_dreams(level),
            (_, None) => drop(self.due.remove(&chore)),
        }
    }

    /// Records that `chore` failed at `now`; it is retried with exponential backoff.
    pub fn record_failure(&mut self, chore: Chore, now: Duration) {
        let failures = self.failures.entry(chore).or_default();
        self.ready.remove(&chore);
        let pause = self.rules.interval.saturating_mul(1 << (*failures).min(12));
        *failures = failures.saturating_add(1);
        self.due.insert(
            chore,
            now.saturating_add(pause.min(MAX_RETRY_DELAY.max(self.rules.interval))),
        );
    }

    /// Records a write at `now`.
    ///
    /// Paused chores become due sooner, and the idle times of dreams and flushes restart.
    pub fn record_write(&mut self, now: Duration) {
        for (chore, ready) in std::mem::take(&mut self.ready) {
            self.due
                .entry(chore)
                .and_modify(|due| *due = ready.min(*due));
        }
        for chore in Chore::ALL {
            if let Some(idle) = required_idle(chore) {
                self.due.insert(chore, now.saturating_add(idle));
            }
        }
    }

    fn clear_dreams(&mut self, level: DreamLevel) {
        for lighter in LEVELS.into_iter().filter(|lighter| *lighter <= level) {
            self.due.remove(&Chore::Dream(lighter));
        }
    }

    /// Returns the interval of a chore; `None` if it depends on writes or is disabled.
    fn chore_interval(&self, chore: Chore) -> Option<Duration> {
        match chore {
            Chore::Refresh | Chore::Notify | Chore::Lifecycle => Some(self.rules.interval),
            Chore::Embed => self.rules.embeds.then_some(self.rules.interval),
            Chore::Ingest => self.rules.ingests.then_some(self.rules.interval),
            Chore::Purge => self.rules.purges.then_some(PURGE_INTERVAL),
            Chore::Flush | Chore::Dream(_) => None,
        }
    }
}

/// Returns the time without writes that a chore requires; `None` if it does not depend on writes.
pub(super) fn required_idle(chore: Chore) -> Option<Duration> {
    match chore {
        Chore::Flush => Some(FLUSH_IDLE),
        Chore::Dream(DreamLevel::Light) => Some(Duration::from_mins(5)),
        Chore::Dream(DreamLevel::Medium) => Some(Duration::from_mins(30)),
        Chore::Dream(DreamLevel::Deep) => Some(Duration::from_hours(2)),
        Chore::Refresh
        | Chore::Ingest
        | Chore::Notify
        | Chore::Lifecycle
        | Chore::Embed
        | Chore::Purge => None,
    }
}

/// The events before a schedule starts, as durations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScheduleHistory {
    /// The time since the last write; zero if there is no recorded write.
    pub idle: Duration,
    /// The time since each chore last ran; chores that never ran are absent.
    pub done: BTreeMap<Chore, Duration>,
}

impl ScheduleHistory {
    /// Computes the durations as of `now`.
    ///
    /// A time in the future, which a clock that was set back can cause, counts as `now`.
    pub fn new(
        now: DateTime<Utc>,
        last_write: Option<DateTime<Utc>>,
        done: &[(Chore, DateTime<Utc>)],
    ) -> Self {
        let ago =
            |then: DateTime<Utc>| now.signed_duration_since(then).to_std().unwrap_or_default();
        let mut past = Self {
            idle: last_write.map_or(Duration::ZERO, ago),
            done: BTreeMap::new(),
        };
        for (chore, then) in done {
            let ago = ago(*then);
            past.done
                .entry(*chore)
                .and_modify(|known| *known = ago.min(*known))
                .or_insert(ago);
        }
        past
    }
}
