//! Parsing of the filters in a query, such as `tag:work`.

use chrono::{DateTime, Days, Months, NaiveDate, Utc};

use crate::Filter;

/// Maximum number of tags in a filter.
const MAX_TAGS: usize = 64;

/// Maximum number of characters of an invalid filter that its error message shows.
const MAX_SHOWN: usize = 40;

/// Returns whether `key` is the name of a filter.
pub(super) fn is_filter_name(key: &str) -> bool {
    matches!(key.to_ascii_lowercase().as_str(), "tag" | "source" | "scope" | "category" | "from" | "to")
}

/// Parses a filter such as `tag:work` into `filter`; returns whether `text` is a filter.
///
/// Tags are added, and `from:` and `to:` can only shorten the period. `source:`, `scope:` and `category:` replace the value in `filter`.
///
/// # Errors
/// Returns a sentence with the reason if `text` looks like a filter but is invalid.
pub(super) fn parse_filter(text: &str, filter: &mut Filter) -> Result<bool, String> {
    let Some((key, quoted)) = text.split_once(':').filter(|(key, _)| is_filter_name(key)) else { return Ok(false) };
    let value = quoted.trim_matches(['"', '＂', '“', '”', '„', '«', '»', '「', '」', '『', '』', '｢', '｣']);
    let refused = |why: &str| {
        let shown: String = text.chars().take(MAX_SHOWN).collect();
        let end = if shown.len() < text.len() { "…" } else { "" };
        Err(format!("{:?} is searched as plain text because it {why}", shown + end))
    };
    let is_prose = key.starts_with(|first: char| first.is_ascii_uppercase());
    match (key.to_ascii_lowercase().as_str(), value) {
        // A sentence may begin with "To:".
        (_, "") if is_prose => return Ok(false),
        (_, "") => return refused("has no value"),
        ("tag", _) if MAX_TAGS <= filter.tags.iter().count() => return refused("exceeds the limit of 64 tags"),
        ("tag", _) => filter.tags = filter.tags.iter().map(String::as_str).chain([value]).collect(),
        ("source", _) => filter.source = Some(value.to_owned()),
        ("scope", _) => match value.parse() {
            Ok(scope) => filter.scope = Some(scope),
            Err(_) => return refused("is not a scope"),
        },
        ("category", _) => match value.to_lowercase().parse() {
            Ok(category) => filter.category = Some(category),
            Err(_) => return refused("is not a category"),
        },
        ("from", _) => match date_range(value) {
            Some((first, _)) => filter.from = Some(filter.from.map_or(first, |from| from.max(first))),
            None => return refused("is not a date; use a year, month or day such as 2026, 2026-05 or 2026-05-07"),
        },
        _ => match date_range(value) {
            Some((_, after)) => filter.until = Some(filter.until.map_or(after, |until| until.min(after))),
            None => return refused("is not a date; use a year, month or day such as 2026, 2026-05 or 2026-05-07"),
        },
    }
    Ok(true)
}

/// Returns the start of a year, month or day in UTC, and the start of the next one.
fn date_range(text: &str) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let midnight = |day: NaiveDate| day.and_hms_opt(0, 0, 0).map(|moment| moment.and_utc());
    let numbers = text.split('-').map(|part| part.parse::<u32>().ok()).collect::<Option<Vec<_>>>()?;
    let is_year = text.split('-').next().is_some_and(|year| year.len() == 4);
    let year = i32::try_from(*numbers.first().filter(|_| is_year)?).ok()?;
    let (first, after) = match numbers[1..] {
        [] => (NaiveDate::from_ymd_opt(year, 1, 1)?, NaiveDate::from_ymd_opt(year + 1, 1, 1)?),
        [month] => {
            let first = NaiveDate::from_ymd_opt(year, month, 1)?;
            (first, first.checked_add_months(Months::new(1))?)
        }
        [month, day] => {
            let first = NaiveDate::from_ymd_opt(year, month, day)?;
            (first, first.checked_add_days(Days::new(1))?)
        }
        _ => return None,
    };
    Some((midnight(first)?, midnight(after)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_filter_and_is_none_is_told() {
        for (text, why) in [
            ("from:yesterdayish", "it is not a date; use a year, month or day"),
            ("to:2026-13", "\"to:2026-13\" is searched as plain text because it is not a date"),
            ("scope:foo", "because it is not a scope"),
            ("category:nonsense", "because it is not a category"),
            ("tag:", "\"tag:\" is searched as plain text because it has no value"),
            ("tag:\"\"", "has no value"),
            ("source:", "because it has no value"),
        ] {
            let mut filter = Filter::default();
            let told = parse_filter(text, &mut filter).unwrap_err();
            assert!(told.contains(why) && filter == Filter::default(), "{text}: {told}");
        }
        let told = parse_filter(&format!("from:{}", "x".repeat(100_000)), &mut Filter::default()).unwrap_err();
        assert!(told.len() < 200, "{told}");
    }

    #[test]
    fn words_with_a_colon_are_words() {
        for text in ["http://example.com", "note:", "12:30", "To:", "From:", "dark", ":", "re:tag:x"] {
            assert_eq!(parse_filter(text, &mut Filter::default()), Ok(false), "{text}");
        }
    }
}
