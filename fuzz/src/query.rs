//! Fuzzes search queries: any text is accepted, and the parsed filter parses to itself.

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::Filter;
use memory_core::query_parser::parse;

/// Parses a search query, and the query that its filter is written as.
pub fn query(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let read = parse(&text, &Filter::default());
    let question = &read.question;
    assert!(question.words.len() <= 256 && question.names.len() <= 32 && read.misread.len() <= 3);
    assert!(question.words.iter().all(|word| !word.term.text.is_empty()));
    for phrase in &question.phrases {
        assert!(phrase.occurs_in(&question.text), "{phrase:?} was typed");
    }
    // A filter that is already set by flags does not change the query.
    let twice = parse(&text, &read.filter);
    assert_eq!(twice.filter, read.filter);
    assert!(twice.question == *question || 64 <= read.filter.tags.iter().count());
    if let Some(shown) = format_filter(&read.filter) {
        let again = parse(&shown, &Filter::default());
        assert_eq!(
            (&again.filter, again.misread),
            (&read.filter, Vec::new()),
            "{shown}"
        );
        assert!(again.question.words.is_empty(), "{shown}");
    }
}

/// Returns a filter in query syntax; `None` if it cannot be expressed.
fn format_filter(filter: &Filter) -> Option<String> {
    let day = |moment: DateTime<Utc>| moment.format("%Y-%m-%d").to_string();
    let mut values: Vec<(&str, String)> =
        filter.tags.iter().map(|tag| ("tag", tag.clone())).collect();
    values.extend(filter.source.clone().map(|source| ("source", source)));
    values.extend(
        filter
            .scope
            .as_ref()
            .map(|scope| ("scope", scope.to_string())),
    );
    values.extend(
        filter
            .category
            .map(|category| ("category", category.to_string())),
    );
    values.extend(filter.from.map(|moment| ("from", day(moment))));
    values.extend(
        filter
            .until
            .map(|moment| ("to", day(moment - TimeDelta::days(1)))),
    );
    // A quoted value cannot contain a quote.
    let has_quote = |value: &str| {
        value.contains([
            '"', '＂', '“', '”', '„', '«', '»', '「', '」', '『', '』', '｢', '｣',
        ])
    };
    let is_year_of_four = |value: &str| value.len() == 10;
    let can_be_typed = |(key, value): &(&str, String)| match *key {
        "from" | "to" => is_year_of_four(value),
        _ => !has_quote(value),
    };
    let parts = values
        .iter()
        .map(|value| can_be_typed(value).then(|| format!("{}:\"{}\"", value.0, value.1)));
    parts
        .collect::<Option<Vec<_>>>()
        .map(|parts| parts.join(" "))
}
