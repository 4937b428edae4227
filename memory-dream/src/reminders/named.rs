//! Every time that a text names, whether or not it asks for anything.

use chrono::{DateTime, TimeZone, Utc};
use memory_core::when::readings;

use super::morning::due;
use super::prose::{prose, statements};

/// Returns every moment for which a reminder may have been made of the words of `text`, which was written then.
///
/// What a sentence means depends on what else it is read with, so it is read as a whole, line by line and statement by
/// statement.
pub(crate) fn named<Tz: TimeZone>(text: &str, written: &DateTime<Tz>) -> Vec<DateTime<Utc>> {
    let prose = prose(text);
    let parts = statements(text, &prose).into_iter().filter_map(|part| prose.get(part));
    let mut moments: Vec<DateTime<Utc>> = [text]
        .into_iter()
        .chain(text.lines())
        .chain(parts)
        .flat_map(|part| readings(part, written))
        .map(|reading| due(&reading, written).0)
        .collect();
    moments.extend(memory_core::due(text, written).map(|due| due.at));
    moments.sort_unstable();
    moments.dedup();
    moments
}
