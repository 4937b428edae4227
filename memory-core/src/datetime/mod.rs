//! Recognises dates and times in English and Chinese text, relative to a point in time and a time zone.
//!
//! A text is split into tokens, two small grammars parse them into a common expression type, and expressions are
//! resolved to calendar dates. Weeks run from Monday to Sunday. Ambiguous expressions resolve to the next occurrence,
//! and the assumption is reported.

mod approximate;
mod chinese;
mod cursor;
mod duration;
mod english;
mod find;
mod holidays;
mod left_out;
mod lunar;
mod mention;
mod numeric;
mod period;
mod range;
mod resolve;
mod stated;
mod syntax;
#[cfg(test)]
mod tests;
mod time_of_day;
mod token;
mod zones;

pub(crate) use chinese::digit_value;
pub(crate) use english::{lookup_month, lookup_weekday};
pub use find::{ImpossibleTime, find_date, find_dates, find_impossible};
pub use mention::{DateMention, DatePrecision, TimeRelation, find_old_time_words};
pub use stated::StatedTime;
