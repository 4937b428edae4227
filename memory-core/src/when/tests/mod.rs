//! What people write, and when that is.

mod any_text;
mod claims;
mod corpora;
mod everyday;
mod ordinary;
mod told;

use chrono::{DateTime, FixedOffset};

use super::{Kind, Reading, when};

/// The Wednesday on which all sentences of these tests are said.
fn wednesday() -> DateTime<FixedOffset> {
    DateTime::parse_from_rfc3339("2025-06-11T10:20:00+02:00").expect("it is a moment")
}

/// Returns when a text means, as short as its kind allows, and `-` where it means nothing.
fn said(text: &str) -> String {
    when(text, &wednesday()).map_or_else(|| "-".to_owned(), |reading| shown(&reading))
}

fn shown(reading: &Reading) -> String {
    let format = match reading.kind {
        Kind::Date => "%Y-%m-%d",
        Kind::Time | Kind::DateTime => "%Y-%m-%d %H:%M",
    };
    reading.at.format(format).to_string()
}

/// Returns how many sentences are read right, and prints the others.
fn scoreboard(name: &str, table: &[(&str, &str)]) -> usize {
    let wrong: Vec<_> = table.iter().map(|(text, at)| (text, at, said(text))).filter(|(_, at, said)| said != *at).collect();
    for (text, at, said) in &wrong {
        println!("{text:60} is {at}, read as {said}");
    }
    println!("{name}: {} of {}", table.len() - wrong.len(), table.len());
    table.len() - wrong.len()
}

fn holds(name: &str, table: &[(&str, &str)]) {
    assert_eq!(scoreboard(name, table), table.len());
}
