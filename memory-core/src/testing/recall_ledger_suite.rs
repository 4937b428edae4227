//! The conformance suite of [`RecallLedger`].

use std::thread;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{RecallFilter, RecallInterface, RecallLedger, RecallRecord, RecalledId, record_recall};

/// Checks the contract of [`RecallLedger`] on new and empty ledgers from `fresh`.
///
/// # Panics
/// If the contract is violated.
pub fn recall_ledger_suite(fresh: &dyn Fn() -> Box<dyn RecallLedger>) {
    check_rules!(
        dyn fresh;
        a_record_is_returned_as_it_was_recorded,
        records_come_in_order_and_a_filter_selects_among_them,
        a_purge_deletes_older_records_and_moves_the_start,
        a_purge_of_nothing_leaves_the_start,
        each_record_increases_the_size_and_a_purge_decreases_it,
        many_threads_lose_no_record,
    );
}

/// Returns a time in the months from May 2026 on.
fn day(number: i64) -> DateTime<Utc> {
    let start: DateTime<Utc> = "2026-05-07T10:00:00.250Z".parse().expect("it is a time");
    start + TimeDelta::days(number)
}

fn recall(at: DateTime<Utc>, agent: &str, ids: &[&str]) -> RecallRecord {
    RecallRecord {
        at,
        agent: agent.into(),
        session: Some(format!("session of {agent}")),
        project: Some("harbour".into()),
        interface: RecallInterface::Mcp.as_str().into(),
        tool: "memory_search".into(),
        query: Some("what does the user drink?\n\u{1b}[31m 茶".into()),
        memories: ids.iter().map(|id| RecalledId::unranked(*id)).collect(),
        tokens: 123,
    }
}

fn record_all(ledger: &dyn RecallLedger, records: &[RecallRecord]) {
    for record in records {
        record_recall(ledger, record.clone());
    }
}

fn all(ledger: &dyn RecallLedger, filter: &RecallFilter) -> Vec<RecallRecord> {
    ledger
        .recalls(filter)
        .map(|recall| recall.expect("it can be read"))
        .collect()
}

fn a_record_is_returned_as_it_was_recorded(ledger: &dyn RecallLedger) {
    assert_eq!(
        all(ledger, &RecallFilter::default()),
        [],
        "at first there is none"
    );
    assert_eq!(ledger.complete_since().expect("it can be read"), None);
    let parts = vec![("words".to_owned(), 0.75), ("coverage".to_owned(), -0.125)];
    let ranked = RecalledId {
        id: "55dc9232".into(),
        score: Some(0.625),
        parts,
    };
    let whole = RecallRecord {
        memories: vec![ranked, RecalledId::unranked("6a053f60").standing()],
        ..recall(day(0), "codex", &[])
    };
    let sparse = RecallRecord {
        agent: String::new(),
        session: None,
        project: None,
        query: None,
        ..recall(day(1), "", &["a"])
    };
    let records = [whole, sparse];
    record_all(ledger, &records);
    assert_eq!(all(ledger, &RecallFilter::default()), records);
    assert_eq!(
        ledger.complete_since().expect("it can be read"),
        Some(day(0))
    );
}

fn records_come_in_order_and_a_filter_selects_among_them(ledger: &dyn RecallLedger) {
    let records = [
        recall(day(0), "a", &["aa"]),
        recall(day(30), "b", &["aa", "bb"]),
        recall(day(60), "a", &["bb"]),
    ];
    record_all(ledger, &records);
    let filter = RecallFilter::default();
    assert_eq!(all(ledger, &filter), records);
    for (filter, expected) in [
        (
            RecallFilter {
                memory: Some("aa".into()),
                ..filter.clone()
            },
            &records[..2],
        ),
        (
            RecallFilter {
                agent: Some("b".into()),
                ..filter.clone()
            },
            &records[1..2],
        ),
        (
            RecallFilter {
                session: Some("session of b".into()),
                ..filter.clone()
            },
            &records[1..2],
        ),
        (
            RecallFilter {
                from: Some(day(30)),
                ..filter.clone()
            },
            &records[1..],
        ),
        (
            RecallFilter {
                to: Some(day(60)),
                ..filter.clone()
            },
            &records[..2],
        ),
        (
            RecallFilter {
                memory: Some("cc".into()),
                ..filter
            },
            &[],
        ),
    ] {
        assert_eq!(all(ledger, &filter), expected, "{filter:?}");
    }
}

fn a_purge_deletes_older_records_and_moves_the_start(ledger: &dyn RecallLedger) {
    let records: Vec<RecallRecord> = (0..40)
        .map(|number| recall(day(2 * number), "codex", &["aa"]))
        .collect();
    record_all(ledger, &records);
    for first in [10, 11, 39] {
        let before = records[first].at - TimeDelta::hours(1);
        assert_ne!(ledger.purge(before).expect("it can be purged"), 0);
        assert_eq!(
            all(ledger, &RecallFilter::default()),
            records[first..],
            "{first}"
        );
        assert_eq!(
            ledger.complete_since().expect("it can be read"),
            Some(before)
        );
    }
    let after = records[39].at + TimeDelta::hours(1);
    assert_ne!(ledger.purge(after).expect("it can be purged"), 0);
    assert_eq!(all(ledger, &RecallFilter::default()), []);
    assert_eq!(
        ledger.complete_since().expect("it can be read"),
        Some(after)
    );
    let later = recall(after + TimeDelta::days(1), "codex", &["aa"]);
    record_recall(ledger, later.clone());
    assert_eq!(
        all(ledger, &RecallFilter::default()),
        [later],
        "recording goes on"
    );
    assert_eq!(
        ledger.complete_since().expect("it can be read"),
        Some(after)
    );
}

fn a_purge_of_nothing_leaves_the_start(ledger: &dyn RecallLedger) {
    assert_eq!(ledger.purge(day(0)).expect("there is nothing"), 0);
    assert_eq!(ledger.complete_since().expect("it can be read"), None);
    record_recall(ledger, recall(day(1), "codex", &["aa"]));
    assert_eq!(ledger.purge(day(1)).expect("there is nothing older"), 0);
    assert_eq!(
        ledger.complete_since().expect("it can be read"),
        Some(day(1))
    );
}

fn each_record_increases_the_size_and_a_purge_decreases_it(ledger: &dyn RecallLedger) {
    let mut sizes = vec![ledger.size().expect("it can be read")];
    for number in [0, 1, 40] {
        record_recall(ledger, recall(day(number), "codex", &["aa"]));
        sizes.push(ledger.size().expect("it can be read"));
    }
    assert!(
        sizes[0] == 0 && sizes.is_sorted_by(|one, other| one < other),
        "{sizes:?}"
    );
    ledger.purge(day(30)).expect("it can be purged");
    assert!(
        ledger.size().expect("it can be read") < sizes[3],
        "{sizes:?}"
    );
}

fn many_threads_lose_no_record(ledger: &dyn RecallLedger) {
    const THREADS: i64 = 8;
    const RECORDS: i64 = 25;
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let work = move || {
                for number in 0..RECORDS {
                    record_recall(
                        ledger,
                        recall(day(number), &format!("agent{thread}"), &["aa"]),
                    );
                }
            };
            scope.spawn(work);
        }
    });
    for thread in 0..THREADS {
        let filter = RecallFilter {
            agent: Some(format!("agent{thread}")),
            ..RecallFilter::default()
        };
        let times: Vec<DateTime<Utc>> = all(ledger, &filter)
            .into_iter()
            .map(|recall| recall.at)
            .collect();
        assert_eq!(
            times,
            (0..RECORDS).map(day).collect::<Vec<_>>(),
            "each record of agent{thread}, in order"
        );
    }
}
