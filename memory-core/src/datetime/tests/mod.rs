//! What people write, and when that is.

mod ambiguities;
mod amounts;
mod claims;
mod combinations;
mod corpora;
mod everyday;
mod lists;
mod non_dates;
mod notations;
mod properties;
mod ranges;
mod recurrences;

use chrono::{DateTime, FixedOffset};

use super::{DateMention, DatePrecision, find_date};

/// The Wednesday on which all sentences of these tests are said.
fn wednesday() -> DateTime<FixedOffset> {
    "2025-06-11T10:20:00+02:00".parse().expect("it is a moment")
}

/// Returns when a text means, as short as its kind allows, and `-` where it means nothing.
fn format_found_date(text: &str) -> String {
    find_date(text, &wednesday()).map_or_else(|| "-".to_owned(), |reading| format_mention(&reading))
}

fn format_mention(reading: &DateMention) -> String {
    let format = match reading.kind {
        DatePrecision::Date => "%Y-%m-%d",
        DatePrecision::Time | DatePrecision::DateTime => "%Y-%m-%d %H:%M",
    };
    reading.at.format(format).to_string()
}

/// Returns how many sentences are read right, and prints the others.
fn count_correct(name: &str, table: &[(&str, &str)]) -> usize {
    let wrong: Vec<_> = table
        .iter()
        .map(|(text, at)| (text, at, format_found_date(text)))
        .filter(|(_, at, said)| said != *at)
        .collect();
    for (text, at, said) in &wrong {
        println!("{text:60} is {at}, read as {said}");
    }
    println!("{name}: {} of {}", table.len() - wrong.len(), table.len());
    table.len() - wrong.len()
}

fn assert_all_correct(name: &str, table: &[(&str, &str)]) {
    assert_eq!(count_correct(name, table), table.len());
}

fn format_range(text: &str) -> String {
    let end = find_date(text, &wednesday()).and_then(|reading| reading.end);
    let end = end.map_or_else(
        || "-".to_owned(),
        |end| end.format("%Y-%m-%d %H:%M").to_string(),
    );
    format!("{} to {end}", format_found_date(text))
}
