//! When a text means, in JSON.

use chrono::SecondsFormat;
use memory_core::when::Reading;
use serde::Serialize;
use serde_json::Value;

use super::value;

#[derive(Serialize)]
struct ReadingShape<'a> {
    text: Option<&'a str>,
    at: Option<String>,
    span: Option<[usize; 2]>,
    kind: Option<&'a str>,
    relation: Option<&'a str>,
    repeats: bool,
    vague: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    assumed: Option<&'a str>,
}

/// Writes when a text means: `{text, at, span, kind, relation, repeats, vague, assumed?}`.
///
/// `text` is what of it names a time, `span` where that begins and ends, in bytes, and `at` the time, in the zone of the
/// reader; of a day, its beginning. `kind` is date, time or datetime, `relation` past, present or future. They are null if no
/// time is named. `repeats` is true of what comes again, `vague` of what lasts; `at` is then the next time, or the beginning.
/// `assumed` says, as sentences, what was taken for granted, if anything was.
pub fn reading(reading: Option<&Reading>) -> Value {
    value(&ReadingShape {
        text: reading.map(|reading| reading.text.as_str()),
        at: reading.map(|reading| reading.at.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
        span: reading.map(|reading| [reading.span.start, reading.span.end]),
        kind: reading.map(|reading| reading.kind.as_str()),
        relation: reading.map(|reading| reading.relation.as_str()),
        repeats: reading.is_some_and(|reading| reading.repeats),
        vague: reading.is_some_and(|reading| reading.is_vague),
        assumed: reading.and_then(|reading| reading.assumed.as_deref()),
    })
}
