//! Finds all times that a text names, whether it requests a reminder or not.

use chrono::{DateTime, TimeZone, Utc};
use memory_core::datetime::find_dates;

use super::due_time::due_time;
use super::prose::{own_prose, statement_ranges};

/// Returns every due time for which a reminder may have been created from `text`, sorted.
///
/// The reading of a time depends on the text around it, so the text is read as a whole, by lines and by statements.
pub(crate) fn named_times<Tz: TimeZone>(text: &str, written: &DateTime<Tz>) -> Vec<DateTime<Utc>> {
    let prose = own_prose(text);
    let parts = statement_ranges(text, &prose).into_iter().filter_map(|part| prose.get(part));
    let mut moments: Vec<DateTime<Utc>> = [text]
        .into_iter()
        .chain(text.lines())
        .chain(parts)
        .flat_map(|part| find_dates(part, written))
        .map(|reading| due_time(&reading, written).0)
        .collect();
    moments.extend(memory_core::due(text, written).map(|due| due.at));
    moments.sort_unstable();
    moments.dedup();
    moments
}
