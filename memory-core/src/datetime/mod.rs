//! Recognises dates and times in English and Chinese text, relative to a point in time and a time zone.
//!
//! A text is split into tokens, two small grammars parse them into a common expression type, and expressions are
//! resolved to calendar dates. Weeks run from Monday to Sunday. Ambiguous expressions resolve to the next occurrence,
//! and the assumption is reported. Dates of lunar calendars are not supported.

mod chinese;
mod cursor;
mod english;
mod find;
mod holidays;
mod mention;
mod numeric;
mod resolve;
mod simplified;
mod syntax;
#[cfg(test)]
mod tests;
mod token;

pub(crate) use chinese::digit_value;
pub(crate) use english::{lookup_month, lookup_weekday};
pub use find::{find_date, find_dates};
pub use mention::{DateMention, DatePrecision, TimeRelation};
