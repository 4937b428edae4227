//! Tests that a schedule neither bursts nor stalls.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;

use super::plan::{LEVELS, required_idle};
use super::*;
use crate::DreamLevel;

const INTERVAL: Duration = Duration::from_mins(1);
const RULES: ScheduleRules = ScheduleRules {
    interval: INTERVAL,
    embeds: true,
    ingests: true,
    purges: true,
};

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_780_000_000, 0).expect("a moment")
}

/// Returns the idle time before a dream.
fn idle_before(level: DreamLevel) -> Duration {
    required_idle(Chore::Dream(level)).expect("dreams wait")
}

/// An event during the life of a daemon.
#[derive(Debug, Clone)]
enum ScheduleEvent {
    /// Time passes, in seconds.
    Wait(u64),
    /// A write.
    Write,
}

fn any_events() -> impl Strategy<Value = Vec<ScheduleEvent>> {
    let wait = prop_oneof![(0_u64..90), (90_u64..20_000)].prop_map(ScheduleEvent::Wait);
    prop::collection::vec(
        prop_oneof![4 => wait, 1 => Just(ScheduleEvent::Write)],
        0..60,
    )
}

/// Runs a schedule; returns the start time of each chore and the times of the writes.
///
/// Every chore takes `took` seconds. `fails` decides, in rotation, which runs fail.
fn run_schedule(
    schedule: &mut Schedule,
    events: &[ScheduleEvent],
    took: u64,
    fails: &[bool],
) -> (Vec<(Chore, Duration)>, Vec<Duration>) {
    let (mut now, mut began, mut writes) = (Duration::ZERO, Vec::new(), Vec::new());
    for event in events {
        match event {
            ScheduleEvent::Write => {
                writes.push(now);
                schedule.record_write(now);
            }
            ScheduleEvent::Wait(seconds) => {
                let end = now + Duration::from_secs(*seconds);
                while let Some(next) = schedule.next().filter(|next| *next <= end) {
                    now = now.max(next);
                    let chore = schedule.due_chore(now).expect("something is due");
                    began.push((chore, now));
                    let start = now;
                    now += Duration::from_secs(took);
                    let is_failure = !fails.is_empty() && fails[began.len() % fails.len()];
                    if is_failure {
                        schedule.record_failure(chore, now);
                    } else {
                        schedule.record_done(chore, start, now);
                    }
                }
                now = now.max(end);
            }
        }
    }
    (began, writes)
}

fn any_history() -> impl Strategy<Value = ScheduleHistory> {
    let far = 40 * 365 * 24 * 3600_i64;
    let moment = prop_oneof![(-far..far), (-20_000_i64..20_000)]
        .prop_map(|seconds| now() + TimeDelta::seconds(seconds));
    let done = prop::collection::vec(
        (prop::sample::select(Chore::ALL.to_vec()), moment.clone()),
        0..12,
    );
    (prop::option::of(moment), done)
        .prop_map(|(last_write, done)| ScheduleHistory::new(now(), last_write, &done))
}

proptest! {
    #[test]
    fn nothing_is_done_again_before_its_time(past in any_history(), events in any_events(), took in 0_u64..200, fails in prop::collection::vec(any::<bool>(), 0..5)) {
        let mut schedule = Schedule::new(RULES, &past);
        let (began, _) = run_schedule(&mut schedule, &events, took, &fails);
        let mut last = BTreeMap::new();
        for (chore, at) in began {
            if let Some(before) = last.insert(chore, at) {
                prop_assert!(before + INTERVAL <= at, "{chore} at {before:?} and at {at:?}");
            }
        }
    }

    #[test]
    fn a_clock_that_was_set_makes_nothing_wait_longer_than_usual(past in any_history()) {
        let schedule = Schedule::new(RULES, &past);
        for chore in [Chore::Refresh, Chore::Ingest, Chore::Notify, Chore::Lifecycle, Chore::Embed] {
            prop_assert!(schedule.due_at(chore).expect("it is due") <= INTERVAL);
        }
        prop_assert!(schedule.due_at(Chore::Purge).expect("it is due") <= Duration::from_hours(24));
        for level in LEVELS {
            prop_assert!(schedule.due_at(Chore::Dream(level)).is_none_or(|at| at <= idle_before(level)));
        }
    }

    #[test]
    fn it_never_stalls_and_every_chore_has_its_turn(past in any_history(), events in any_events(), took in 0_u64..200) {
        let mut schedule = Schedule::new(RULES, &past);
        let (began, _) = run_schedule(&mut schedule, &events, took, &[]);
        let end = began.last().map_or(Duration::ZERO, |(_, at)| *at + Duration::from_secs(took));
        prop_assert!(schedule.next().expect("something is due") <= end + INTERVAL);
        // A due chore waits for at most one run of each other chore.
        let others = Duration::from_secs(took) * u32::try_from(Chore::ALL.len()).expect("they are few");
        for chore in [Chore::Refresh, Chore::Ingest, Chore::Notify, Chore::Lifecycle, Chore::Embed] {
            let rest = if chore == Chore::Notify { INTERVAL } else { INTERVAL.max((Duration::from_secs(took) * 500).min(Duration::from_hours(1))) };
            let longest = rest + others;
            let turns: Vec<_> = began.iter().filter(|(own, _)| *own == chore).map(|(_, at)| *at).collect();
            for pair in turns.windows(2) {
                prop_assert!(pair[1] <= pair[0] + longest + Duration::from_secs(took), "{chore}: {pair:?}");
            }
        }
    }

    #[test]
    fn each_dream_comes_once_while_nobody_writes_and_never_too_soon(events in any_events(), took in 0_u64..200) {
        let mut schedule = Schedule::new(RULES, &ScheduleHistory::default());
        let (began, writes) = run_schedule(&mut schedule, &events, took, &[]);
        for level in LEVELS {
            let dreams: Vec<_> = began.iter().filter(|(chore, _)| *chore == Chore::Dream(level)).map(|(_, at)| *at).collect();
            for at in &dreams {
                let last_write = writes.iter().rev().find(|write| *write <= at).copied().unwrap_or_default();
                prop_assert!(last_write + idle_before(level) <= *at);
            }
            for pair in dreams.windows(2) {
                prop_assert!(writes.iter().any(|write| pair[0] < *write && *write <= pair[1]));
            }
        }
    }

    #[test]
    fn whoever_is_idle_for_long_has_dreamt_deeply(events in any_events()) {
        let mut schedule = Schedule::new(RULES, &ScheduleHistory::default());
        run_schedule(&mut schedule, &events, 0, &[]);
        let mut now = Duration::from_hours(1000);
        let (end, mut dreams) = (now + Duration::from_hours(3), Vec::new());
        schedule.record_write(now);
        while now <= end {
            while let Some(chore) = schedule.due_chore(now) {
                dreams.extend(Some(chore).filter(|chore| matches!(chore, Chore::Dream(_))));
                schedule.record_done(chore, now, now);
            }
            now += INTERVAL;
        }
        prop_assert_eq!(dreams, LEVELS.map(Chore::Dream));
    }
}

#[test]
fn what_takes_long_rests_while_nobody_writes_and_comes_soon_when_somebody_does() {
    let second = Duration::from_secs;
    let mut schedule = Schedule::new(RULES, &ScheduleHistory::default());
    schedule.record_done(Chore::Lifecycle, second(0), second(2));
    assert_eq!(schedule.due_at(Chore::Lifecycle), Some(second(1002)));
    schedule.record_write(second(10));
    assert_eq!(schedule.due_at(Chore::Lifecycle), Some(second(62)));
    schedule.record_done(Chore::Lifecycle, second(62), second(72));
    schedule.record_write(second(500));
    assert_eq!(schedule.due_at(Chore::Lifecycle), Some(second(272)));
    schedule.record_done(Chore::Notify, second(0), second(2));
    assert_eq!(schedule.due_at(Chore::Notify), Some(second(62)));
    schedule.record_done(Chore::Refresh, second(0), second(1000));
    assert_eq!(schedule.due_at(Chore::Refresh), Some(second(4600)));
    // A write does not shorten the retry delay of a failed chore.
    schedule.record_done(Chore::Lifecycle, second(5000), second(5000));
    schedule.record_failure(Chore::Lifecycle, second(5060));
    schedule.record_write(second(5061));
    assert_eq!(schedule.due_at(Chore::Lifecycle), Some(second(5120)));
}

#[test]
fn what_failed_is_tried_again_later_and_later() {
    let mut schedule = Schedule::new(RULES, &ScheduleHistory::default());
    let mut pauses = Vec::new();
    let mut now = Duration::ZERO;
    for _ in 0..9 {
        schedule.record_failure(Chore::Dream(DreamLevel::Light), now);
        let due = schedule
            .due_at(Chore::Dream(DreamLevel::Light))
            .expect("it is due");
        pauses.push(due.as_secs() / 60 - now.as_secs() / 60);
        now = due;
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    schedule.record_done(Chore::Dream(DreamLevel::Light), now, now);
    assert_eq!(schedule.due_at(Chore::Dream(DreamLevel::Light)), None);
}

#[test]
fn a_new_daemon_goes_on_where_the_last_one_ended() {
    let ago = |hours: i64| now() - TimeDelta::hours(hours);
    let seen = |last_write, done: &[(Chore, DateTime<Utc>)]| {
        Schedule::new(RULES, &ScheduleHistory::new(now(), last_write, done))
    };
    // After three hours without writes, one deep dream replaces the lighter ones.
    let mut schedule = seen(Some(ago(3)), &[(Chore::Purge, ago(20))]);
    assert_eq!(schedule.due_at(Chore::Purge), Some(Duration::from_hours(4)));
    for chore in [
        Chore::Refresh,
        Chore::Ingest,
        Chore::Notify,
        Chore::Lifecycle,
        Chore::Embed,
        Chore::Flush,
    ] {
        assert_eq!(schedule.due_chore(Duration::ZERO), Some(chore));
        schedule.record_done(chore, Duration::ZERO, Duration::ZERO);
    }
    assert_eq!(
        schedule.due_chore(Duration::ZERO),
        Some(Chore::Dream(DreamLevel::Deep))
    );
    schedule.record_done(
        Chore::Dream(DreamLevel::Deep),
        Duration::ZERO,
        Duration::ZERO,
    );
    assert_eq!(schedule.due_chore(Duration::ZERO), None);
    // A dream ran after the last write: only the deeper one is due.
    let schedule = seen(Some(ago(3)), &[(Chore::Dream(DreamLevel::Medium), ago(1))]);
    let left = LEVELS.map(|level| schedule.due_at(Chore::Dream(level)));
    assert_eq!(left, [None, None, Some(Duration::ZERO)]);
    // The dream ran before the last write, so all dreams are due again.
    let schedule = seen(Some(ago(1)), &[(Chore::Dream(DreamLevel::Deep), ago(3))]);
    assert_eq!(
        schedule.due_at(Chore::Dream(DreamLevel::Deep)),
        Some(Duration::from_hours(1))
    );
}

#[test]
fn what_is_not_to_be_done_is_never_due() {
    let rules = ScheduleRules {
        embeds: false,
        ingests: false,
        purges: false,
        interval: Duration::ZERO,
    };
    let mut schedule = Schedule::new(rules, &ScheduleHistory::default());
    let (began, _) = run_schedule(&mut schedule, &[ScheduleEvent::Wait(100)], 0, &[]);
    assert!(
        began
            .iter()
            .all(|(chore, _)| !matches!(chore, Chore::Embed | Chore::Ingest | Chore::Purge))
    );
    assert_eq!(
        began
            .iter()
            .filter(|(chore, _)| *chore == Chore::Lifecycle)
            .count(),
        101
    );
}

#[test]
fn the_word_of_a_chore_is_its_own() {
    for chore in Chore::ALL {
        assert_eq!(Chore::of(chore.as_str()), Some(chore));
    }
    assert_eq!(Chore::of("sleep"), None);
}
