//! Points in time that texts name, in English and Chinese, seen from a moment and a time zone.
//!
//! A text is cut into pieces, two small grammars translate them into one language of what was said, and that is placed
//! in the calendar. Weeks run from Monday to Sunday; what the words leave open is read as what comes next, and said so.
//! Dates of the lunar calendars are not read.

mod chinese;
mod choose;
mod cursor;
mod english;
mod find;
mod holidays;
mod moved;
mod numeric;
mod reading;
mod resolve;
mod spoken;
#[cfg(test)]
mod tests;
mod token;

pub use choose::when;
pub use find::readings;
pub use reading::{Kind, Reading, Relation};
