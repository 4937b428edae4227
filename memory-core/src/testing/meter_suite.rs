//! The conformance suite of [`Meter`].

use std::thread;

use chrono::NaiveDate;

use crate::{
    Budget, BudgetLimit, LlmUsage, Meter, MeterError, Purpose, Reservation, Spending, SpendingEntry,
};

const CLASSIFY: Purpose = Purpose::of("classify");
const COMPRESS: Purpose = Purpose::of("compress");

/// Checks the contract of [`Meter`] on new and empty meters from `fresh`.
///
/// # Panics
/// If the contract is violated.
pub fn meter_suite(fresh: &dyn Fn() -> Box<dyn Meter>) {
    check_rules!(
        dyn fresh;
        what_is_set_aside_counts_until_it_is_settled,
        a_budget_is_that_of_one_day_and_all_purposes,
        days_and_purposes_come_in_order,
        many_threads_lose_no_count_and_overdraw_no_budget,
    );
}

fn day(month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, month, day).expect("it is a day")
}

fn amount(calls: u64, prompt_tokens: u64, answer_tokens: u64) -> LlmUsage {
    LlmUsage {
        calls,
        prompt_tokens,
        answer_tokens,
    }
}

fn spending(meter: &dyn Meter, from: NaiveDate, to: NaiveDate) -> Vec<SpendingEntry> {
    let Spending {
        entries,
        unreadable,
    } = meter.spending(from, to).expect("it can be read");
    assert_eq!(unreadable, 0, "what it wrote can be read");
    entries
}

fn what_is_set_aside_counts_until_it_is_settled(meter: &dyn Meter) {
    let today = day(5, 7);
    assert_eq!(
        spending(meter, today, today),
        [],
        "at first nothing is spent"
    );
    let reservation = Reservation {
        day: today,
        purpose: CLASSIFY,
        amount: amount(1, 100, 50),
    };
    meter
        .reserve(&reservation, &Budget::default())
        .expect("there is no limit");
    let entry = |spent| SpendingEntry {
        day: today,
        purpose: CLASSIFY,
        spent,
    };
    assert_eq!(
        spending(meter, today, today),
        [entry(amount(1, 100, 50))],
        "what is set aside counts"
    );
    meter
        .settle(&reservation, amount(1, 110, 7))
        .expect("it is kept");
    assert_eq!(
        spending(meter, today, today),
        [entry(amount(1, 110, 7))],
        "what it came to takes its place"
    );
    meter
        .reserve(&reservation, &Budget::default())
        .expect("there is no limit");
    meter
        .settle(&reservation, LlmUsage::default())
        .expect("it is kept");
    assert_eq!(
        spending(meter, today, today),
        [entry(amount(1, 110, 7))],
        "and that may be nothing"
    );
}

fn a_budget_is_that_of_one_day_and_all_purposes(meter: &dyn Meter) {
    let budget = Budget {
        calls_a_day: Some(2),
        tokens_a_day: Some(100),
    };
    let reserve = |day, purpose, amount| {
        meter.reserve(
            &Reservation {
                day,
                purpose,
                amount,
            },
            &budget,
        )
    };
    reserve(day(5, 31), CLASSIFY, amount(1, 40, 10)).expect("half of it is left");
    let refused = reserve(day(5, 31), COMPRESS, amount(1, 50, 1)).expect_err("it is too much");
    let MeterError::Exhausted(shortage) = refused else {
        panic!("{refused}")
    };
    assert_eq!(
        (shortage.limit, shortage.left, shortage.wanted),
        (BudgetLimit::Tokens, 50, 51)
    );
    assert_eq!(
        spending(meter, day(5, 31), day(5, 31)).len(),
        1,
        "nothing is set aside then"
    );
    reserve(day(5, 31), COMPRESS, amount(1, 50, 0)).expect("a budget may be spent whole");
    let refused = reserve(day(5, 31), CLASSIFY, amount(1, 0, 0)).expect_err("no call is left");
    assert!(
        matches!(refused, MeterError::Exhausted(shortage) if shortage.limit == BudgetLimit::Calls),
        "{refused}"
    );
    reserve(day(6, 1), CLASSIFY, amount(1, 100, 0)).expect("each day has its own");
    reserve(day(5, 31), CLASSIFY, amount(1, 0, 0)).expect_err("and the former one stays spent");
}

fn days_and_purposes_come_in_order(meter: &dyn Meter) {
    let wanted = [
        (day(4, 30), CLASSIFY),
        (day(5, 1), CLASSIFY),
        (day(5, 1), COMPRESS),
        (day(6, 30), CLASSIFY),
    ];
    for (day, purpose) in wanted.iter().rev().cloned() {
        let reservation = Reservation {
            day,
            purpose,
            amount: amount(1, 2, 3),
        };
        meter
            .reserve(&reservation, &Budget::default())
            .expect("there is no limit");
    }
    let found = |from, to| {
        spending(meter, from, to)
            .into_iter()
            .map(|own| (own.day, own.purpose))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found(day(4, 30), day(6, 30)),
        wanted,
        "both days are included"
    );
    assert_eq!(found(day(5, 1), day(6, 29)), wanted[1..3]);
    assert_eq!(
        found(day(6, 30), day(4, 30)),
        [],
        "no day lies between a later and an earlier one"
    );
}

/// Runs several threads that try to reserve more than the budget.
fn many_threads_lose_no_count_and_overdraw_no_budget(meter: &dyn Meter) {
    let (today, budget) = (
        day(5, 7),
        Budget {
            calls_a_day: Some(90),
            tokens_a_day: Some(1_000),
        },
    );
    let reservation = Reservation {
        day: today,
        purpose: CLASSIFY,
        amount: amount(1, 6, 4),
    };
    let work = || {
        (0..20)
            .filter(|_| meter.reserve(&reservation, &budget).is_ok())
            .count()
    };
    let allowed: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("it ends in peace"))
            .sum()
    });
    assert_eq!(
        allowed, 90,
        "of 160 calls, as many are allowed as there are"
    );
    assert_eq!(spending(meter, today, today)[0].spent, amount(90, 540, 360));
    let work = || {
        (0..11).for_each(|_| {
            meter
                .settle(&reservation, amount(1, 5, 1))
                .expect("it is kept");
        });
    };
    thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(work))));
    assert_eq!(
        spending(meter, today, today)[0].spent,
        amount(90, 540 - 88, 360 - 3 * 88),
        "and no settlement is lost"
    );
}
