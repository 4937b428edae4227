//! Finds all times that a text names, whether it requests a reminder or not.

use chrono::{DateTime, TimeZone, Utc};
use memory_core::datetime::readings;

use super::due_time::due;
use super::prose::{prose, statements};

/// Returns every due time for which a reminder may have been created from `text`, sorted.
///
/// The reading of a time depends on the text around it, so the text is read as a whole, by lines and by statements.
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
