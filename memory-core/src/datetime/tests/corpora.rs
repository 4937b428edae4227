//! The labelled cases of public test suites, which are not ours to keep in the repository.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::{DateTime, FixedOffset, NaiveDateTime};
use serde_json::Value;

use super::super::{DateMention, DatePrecision, find_date};

#[test]
fn at_least_80_of_100_cases_to_come_are_read_right_in_english() {
    assert_accuracy("en.jsonl", 80);
}

#[test]
fn at_least_75_of_100_cases_to_come_are_read_right_in_chinese() {
    assert_accuracy("zh.jsonl", 75);
}

/// Fails where fewer of the plain cases that are to come, or a time alone, are read right; prints what is not.
fn assert_accuracy(file: &str, percent: usize) {
    let Some(cases) = cases(file) else { return };
    let mut counts: BTreeMap<(String, String), (usize, usize)> = BTreeMap::new();
    for case in &cases {
        let right = is_right(case);
        let (rights, all) = counts
            .entry((string_field(case, "kind"), string_field(case, "relation")))
            .or_default();
        *rights += usize::from(right);
        *all += 1;
    }
    println!("{file}");
    for ((kind, relation), (right, all)) in &counts {
        println!("  {kind:8} {relation:9} {right:4} of {all:4}");
    }
    let counted = ["future", "timeonly"].map(|relation| {
        counts
            .get(&("plain".to_owned(), relation.to_owned()))
            .copied()
    });
    let (right, all) = counted
        .into_iter()
        .flatten()
        .fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    println!("  plain, to come or a time alone: {right} of {all}");
    assert!(all * percent <= right * 100, "{right} of {all}");
}

/// Returns the cases of a file in `time`, beside the folder of inputs that `MEMORY_TEST_INPUTS` names.
fn cases(file: &str) -> Option<Vec<Value>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/inputs");
    let path = std::env::var_os("MEMORY_TEST_INPUTS")
        .map_or_else(beside, PathBuf::from)
        .with_file_name("time")
        .join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        crate::testing::leave_out(&format!("{} does not exist", path.display()));
        return None;
    };
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a case is JSON"))
            .collect(),
    )
}

fn string_field(case: &Value, key: &str) -> String {
    case[key].as_str().unwrap_or_default().to_owned()
}

fn is_right(case: &Value) -> bool {
    // One of the suites is written two hours west of Greenwich, and the other nowhere.
    let hours = if string_field(case, "source") == "duckling" {
        -2
    } else {
        0
    };
    let zone = FixedOffset::east_opt(hours * 3600).expect("it is an offset");
    let now = case["reference_time"]
        .as_str()
        .unwrap_or("2020-01-01T00:00:00");
    let now: NaiveDateTime = now.parse().expect("it is a time");
    let now: DateTime<FixedOffset> = now
        .and_local_timezone(zone)
        .single()
        .expect("an offset has no gaps");
    let reading = find_date(&string_field(case, "text"), &now);
    let is_right = reading
        .as_ref()
        .is_some_and(|reading| is_accepted(reading, case));
    if !is_right {
        let read = reading.map_or_else(String::new, |reading| {
            format!(
                "{} {:?} “{}”",
                reading.at.naive_local(),
                reading.kind,
                reading.text
            )
        });
        let (kind, relation) = (string_field(case, "kind"), string_field(case, "relation"));
        println!(
            "{kind:8} {relation:9} {now} {} is {} ({}), read as {read}",
            case["text"],
            case["accept"],
            string_field(case, "span")
        );
    }
    is_right
}

fn is_accepted(reading: &DateMention, case: &Value) -> bool {
    let format = match (string_field(case, "type").as_str(), reading.kind) {
        ("date", DatePrecision::Date) => "%Y-%m-%d",
        ("datetime", DatePrecision::Time | DatePrecision::DateTime) => "%Y-%m-%d %H:%M:%S",
        ("time", DatePrecision::Time | DatePrecision::DateTime) => "%H:%M:%S",
        _ => return false,
    };
    let at = reading.at.format(format).to_string();
    case["accept"]
        .as_array()
        .is_some_and(|accept| accept.iter().any(|accepted| *accepted == at))
}
