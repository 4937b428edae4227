//! What is due, and when.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Chore, Past};
use crate::Level;

/// When nobody has written for so long, changes are moved into the full text.
const FLUSH: Duration = Duration::from_mins(1);

/// How often the trash is looked through.
const DAY: Duration = Duration::from_hours(24);

/// A chore that fails is tried again after this at the latest, and sooner at first.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// While nobody writes, a chore rests this many times as long as it took, so that all of them together take no more than a
/// hundredth of the time.
const REST: u32 = 500;

/// While somebody does, it rests at least this many times as long.
const SHORT_REST: u32 = 20;

/// It rests no longer than this for being slow.
const LONGEST_REST: Duration = Duration::from_hours(1);

/// The levels of dreams, the lightest first.
pub(super) const LEVELS: [Level; 3] = [Level::Light, Level::Medium, Level::Deep];

/// An interval is at least so long.
const SHORTEST: Duration = Duration::from_secs(1);

/// What is to be done at all, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// How often the memories are looked after; at least a second.
    pub interval: Duration,
    /// Whether there is an embedding model.
    pub embeds: bool,
    /// Whether anything ever leaves the trash.
    pub purges: bool,
}

/// What is due, and when. All times are since the beginning of the schedule, by a clock that nobody sets.
///
/// The memories are looked after every [`Rules::interval`], counted from the end of the last time. Where that takes long it is
/// done less often while nobody writes, so that a large store leaves the machine in peace; only reminders never wait. Dreams come once each while nobody writes; where several are due, the deepest does for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    rules: Rules,
    due: BTreeMap<Chore, Duration>,
    /// When chores may come again if somebody writes.
    ready: BTreeMap<Chore, Duration>,
    failures: BTreeMap<Chore, u32>,
}

impl Schedule {
    /// Begins a schedule that goes on from `past`.
    pub fn begin(rules: Rules, past: &Past) -> Self {
        let rules = Rules { interval: rules.interval.max(SHORTEST), ..rules };
        let mut schedule = Self { rules, due: BTreeMap::new(), ready: BTreeMap::new(), failures: BTreeMap::new() };
        for chore in Chore::ALL {
            let done = past.done.get(&chore).copied();
            if let Some(period) = schedule.period(chore) {
                schedule.due.insert(chore, done.map_or(Duration::ZERO, |ago| period.saturating_sub(ago)));
            } else if let Some(idle) = idle(chore) {
                // What was done since the last write is done.
                if done.is_none_or(|ago| past.idle < ago) {
                    schedule.due.insert(chore, idle.saturating_sub(past.idle));
                }
            }
        }
        for level in LEVELS {
            if past.done.get(&Chore::Dream(level)).is_some_and(|ago| *ago <= past.idle) {
                schedule.dreamt(level);
            }
        }
        schedule
    }

    /// Returns the chore that is due at `now`, if one is: the one that has waited longest; of dreams the deepest.
    pub fn due(&self, now: Duration) -> Option<Chore> {
        let (chore, _) = self.due.iter().filter(|(_, at)| **at <= now).min_by_key(|(_, at)| **at)?;
        let Chore::Dream(_) = chore else { return Some(*chore) };
        LEVELS.into_iter().rev().map(Chore::Dream).find(|dream| self.due.get(dream).is_some_and(|at| *at <= now))
    }

    /// Returns when something is due next.
    pub fn next(&self) -> Option<Duration> {
        self.due.values().min().copied()
    }

    /// Returns when `chore` is due, unless it waits for somebody to write.
    pub fn due_at(&self, chore: Chore) -> Option<Duration> {
        self.due.get(&chore).copied()
    }

    /// Takes note that `chore`, which began at `began`, was done by `now`.
    pub fn done(&mut self, chore: Chore, began: Duration, now: Duration) {
        self.failures.remove(&chore);
        match (chore, self.period(chore)) {
            (Chore::Refresh | Chore::Lifecycle | Chore::Embed, Some(period)) => {
                let took = now.saturating_sub(began);
                let rest = |times| now + took.saturating_mul(times).min(LONGEST_REST).max(period);
                self.due.insert(chore, rest(REST));
                self.ready.insert(chore, rest(SHORT_REST));
            }
            (_, Some(period)) => drop(self.due.insert(chore, now + period)),
            (Chore::Dream(level), None) => self.dreamt(level),
            (_, None) => drop(self.due.remove(&chore)),
        }
    }

    /// Takes note that `chore` has failed by `now`: it is tried again, later and later.
    pub fn failed(&mut self, chore: Chore, now: Duration) {
        let failures = self.failures.entry(chore).or_default();
        self.ready.remove(&chore);
        let pause = self.rules.interval.saturating_mul(1 << (*failures).min(12));
        *failures = failures.saturating_add(1);
        self.due.insert(chore, now + pause.min(LONGEST_PAUSE.max(self.rules.interval)));
    }

    /// Takes note that somebody wrote at `now`: what rests comes again soon, and whatever waits until nobody writes begins to
    /// wait anew.
    pub fn woken(&mut self, now: Duration) {
        for (chore, ready) in std::mem::take(&mut self.ready) {
            self.due.entry(chore).and_modify(|due| *due = ready.min(*due));
        }
        for chore in Chore::ALL {
            if let Some(idle) = idle(chore) {
                self.due.insert(chore, now + idle);
            }
        }
    }

    fn dreamt(&mut self, level: Level) {
        for lighter in LEVELS.into_iter().filter(|lighter| *lighter <= level) {
            self.due.remove(&Chore::Dream(lighter));
        }
    }

    /// Returns how often a chore is done, if that does not depend on anybody's writing.
    fn period(&self, chore: Chore) -> Option<Duration> {
        match chore {
            Chore::Refresh | Chore::Notify | Chore::Lifecycle => Some(self.rules.interval),
            Chore::Embed => self.rules.embeds.then_some(self.rules.interval),
            Chore::Purge => self.rules.purges.then_some(DAY),
            Chore::Flush | Chore::Dream(_) => None,
        }
    }
}

/// Returns how long nobody must have written before a chore is done, if that matters.
pub(super) fn idle(chore: Chore) -> Option<Duration> {
    match chore {
        Chore::Flush => Some(FLUSH),
        Chore::Dream(Level::Light) => Some(Duration::from_mins(5)),
        Chore::Dream(Level::Medium) => Some(Duration::from_mins(30)),
        Chore::Dream(Level::Deep) => Some(Duration::from_hours(2)),
        Chore::Refresh | Chore::Notify | Chore::Lifecycle | Chore::Embed | Chore::Purge => None,
    }
}
