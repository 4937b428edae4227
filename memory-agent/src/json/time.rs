//! Times in JSON, and the JSON of parsed time expressions.

use chrono::{DateTime, FixedOffset, SecondsFormat, Utc};
use memory_core::datetime::DateMention;
use serde::Serialize;
use serde_json::Value;

use super::value;

/// Formats a time with as many subsecond digits as it needs.
pub(super) fn rfc3339(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// Formats a time as a JSON string.
pub(crate) fn quoted_time(moment: DateTime<Utc>) -> String {
    format!("\"{}\"", rfc3339(moment))
}

#[derive(Serialize)]
struct TimeExpressionShape<'a> {
    text: Option<&'a str>,
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<String>,
    span: Option<[usize; 2]>,
    kind: Option<&'a str>,
    relation: Option<&'a str>,
    repeats: bool,
    vague: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    assumed: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unused: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    impossible: Option<&'a str>,
}

/// Returns the JSON of a time expression: `{text, at, end?, span, kind, relation, repeats, vague, assumed?, unused?, impossible?}`.
///
/// `text` is the expression, `span` its start and end in bytes, and `at` its time in the zone of the reader; for a day,
/// its start. `end` is that of a range: its last day, or the time at which it ends. `kind` is date, time or datetime, and `relation` past, present or future. They are null if the input
/// contains no time. `repeats` is true for a recurring time, `vague` for a period; `at` is then the next occurrence or
/// the start. `assumed` lists assumptions as sentences, and `unused` the other times of the text, if there are any.
/// `impossible` states that a part of the text is no time that exists.
pub fn time_expression(
    reading: Option<&DateMention>,
    unused: &[String],
    impossible: Option<&str>,
) -> Value {
    let time = |at: DateTime<FixedOffset>| at.to_rfc3339_opts(SecondsFormat::AutoSi, true);
    value(&TimeExpressionShape {
        text: reading.map(|reading| reading.text.as_str()),
        at: reading.map(|reading| time(reading.at)),
        end: reading.and_then(|reading| reading.end).map(time),
        span: reading.map(|reading| [reading.span.start, reading.span.end]),
        kind: reading.map(|reading| reading.kind.as_str()),
        relation: reading.map(|reading| reading.relation.as_str()),
        repeats: reading.is_some_and(|reading| reading.repeats),
        vague: reading.is_some_and(|reading| reading.is_vague),
        assumed: reading.and_then(|reading| reading.assumed.as_deref()),
        unused,
        impossible,
    })
}
