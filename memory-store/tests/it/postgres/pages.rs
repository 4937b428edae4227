//! Reads of a long session return the same records as reads of a list.

use std::ops::Bound;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::instance::history::{
    MessageStore, RecordDraft, RecordFilter, RecordRole, SessionName, SessionRecord, Window,
    WindowEnd,
};
use memory_core::secret::Checked;
use memory_core::testing::FakeMessages;
use memory_core::{Operation, OperationId, Verb};
use memory_store::postgres::PostgresMessages;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::server::shared_server;

const RECORDS: usize = 1_700;

/// Returns times that are partly one nanosecond apart and partly not in the order of the records.
fn moment(number: usize) -> DateTime<Utc> {
    let number = i64::try_from(number).unwrap();
    DateTime::from_timestamp(-5, 0).unwrap()
        + TimeDelta::nanoseconds(number / 3 * 7_919 * 1_000_003 % 9_000_000_000 + number % 3)
}

fn operation(number: u64) -> Operation {
    Operation {
        id: OperationId::from_random(number),
        verb: Verb::Set,
        by: String::new(),
        at: DateTime::UNIX_EPOCH,
    }
}

fn texts(store: &dyn MessageStore, filter: &RecordFilter, window: Window) -> Vec<String> {
    let session: SessionName = "s".parse().unwrap();
    store
        .records(&session, filter, window)
        .unwrap()
        .map(|record| record.unwrap().text().to_string())
        .collect()
}

fn filters() -> impl Strategy<Value = RecordFilter> {
    let role = || {
        prop::sample::select(vec!["user", "tool", "summary"])
            .prop_map(|word| word.parse::<RecordRole>().unwrap())
    };
    let bound = || {
        (0..3, 0..RECORDS).prop_map(|(kind, number)| match kind {
            0 => Bound::Included(moment(number)),
            1 => Bound::Excluded(moment(number)),
            _ => Bound::Unbounded,
        })
    };
    let parts = (
        prop::collection::vec(role(), 0..3),
        prop::collection::vec(role(), 0..2),
        bound(),
        bound(),
    );
    parts.prop_map(|(roles, not_roles, from, to)| RecordFilter {
        roles,
        not_roles,
        from,
        to,
    })
}

fn windows() -> impl Strategy<Value = Window> {
    let end = prop::sample::select(vec![WindowEnd::First, WindowEnd::Last]);
    let count = || prop_oneof![0..5_usize, 490..510_usize, 0..2 * RECORDS];
    (
        prop_oneof![Just(0), count()],
        prop::option::of(count()),
        end,
    )
        .prop_map(|(offset, limit, end)| Window { offset, limit, end })
}

#[test]
fn filters_and_windows_are_those_of_a_list() {
    let Some(server) = shared_server("filters and windows") else {
        return;
    };
    let (list, database) = (
        FakeMessages::default(),
        PostgresMessages::new(super::open(server).0),
    );
    let roles = ["user", "tool", "user", "summary", "user"];
    let records: Vec<_> = (0..RECORDS)
        .map(|number| {
            let said =
                RecordDraft::from_text(roles[number % 5].parse().unwrap(), &number.to_string());
            // Some records have no time.
            let at = (number % 7 != 0).then(|| moment(number));
            let record = SessionRecord::new(&RecordDraft { at, ..said }, moment(number)).unwrap();
            let text = record.text().to_string();
            SessionRecord::parse(&if at.is_some() {
                text
            } else {
                text.replace("\"ts\"", "\"when\"")
            })
            .unwrap()
        })
        .collect();
    for (number, some) in records.chunks(613).enumerate() {
        let operation = operation(u64::try_from(number).unwrap());
        list.append(&"s".parse().unwrap(), Checked::allowed(some), &operation)
            .unwrap();
        database
            .append(&"s".parse().unwrap(), Checked::allowed(some), &operation)
            .unwrap();
    }
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::default()
    });
    let same = |(filter, window): (RecordFilter, Window)| {
        prop_assert_eq!(
            texts(&database, &filter, window),
            texts(&list, &filter, window)
        );
        Ok(())
    };
    runner.run(&(filters(), windows()), same).unwrap();
    // A purge deletes the same records.
    let old = RecordFilter {
        roles: vec!["user".parse().unwrap()],
        to: Bound::Excluded(moment(800)),
        ..RecordFilter::default()
    };
    let purge = |store: &dyn MessageStore| {
        store
            .purge(&"s".parse().unwrap(), &old, &operation(99))
            .unwrap()
    };
    assert_eq!(purge(&database), purge(&list));
    let all = (RecordFilter::default(), Window::default());
    assert_eq!(texts(&database, &all.0, all.1), texts(&list, &all.0, all.1));
}

#[test]
fn a_page_holds_no_more_than_a_few_long_records() {
    let Some(server) = shared_server("long records") else {
        return;
    };
    let (database, name) = super::open(server);
    let store = PostgresMessages::new(database);
    for number in 0..9 {
        let content = number
            .to_string()
            .repeat(if number % 2 == 0 { 3_000_000 } else { 10 });
        let record = SessionRecord::new(
            &RecordDraft::from_text("user".parse().unwrap(), &content),
            DateTime::UNIX_EPOCH,
        )
        .unwrap();
        store
            .append(
                &"s".parse().unwrap(),
                Checked::allowed(&[record]),
                &operation(number),
            )
            .unwrap();
    }
    let mut records = store
        .records(
            &"s".parse().unwrap(),
            &RecordFilter::default(),
            Window::default(),
        )
        .unwrap();
    let first = |record: SessionRecord| {
        record.text().to_value()["content"].as_str().unwrap()[..1].to_owned()
    };
    assert_eq!(first(records.next().unwrap().unwrap()), "0");
    // Records appended after the first read are not returned, and neither are records deleted since.
    let late = SessionRecord::new(
        &RecordDraft::from_text("user".parse().unwrap(), "late"),
        DateTime::UNIX_EPOCH,
    )
    .unwrap();
    store
        .append(
            &"s".parse().unwrap(),
            Checked::allowed(&[late]),
            &operation(10),
        )
        .unwrap();
    server.sql(&name, "DELETE FROM memory_records WHERE position = 6");
    assert_eq!(
        records
            .map(|record| first(record.unwrap()))
            .collect::<String>(),
        "1234578"
    );
}
