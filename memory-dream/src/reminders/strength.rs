//! How much a sentence asks for what it names a time for.

use memory_core::when::{Kind, Reading, Relation};

/// How much a sentence asks for what it names a time for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Something takes place, or is due.
    Event,
    /// Somebody is to do something.
    Ask,
}

impl Strength {
    /// Tells whether this is enough to be reminded at such a time.
    ///
    /// A time of day alone, hours from now, a month as a whole, today and what comes again are named by facts and habits as
    /// well.
    pub(super) fn is_enough(self, reading: &Reading) -> bool {
        let is_to_come = match reading.relation {
            Relation::Future => true,
            Relation::Present => reading.kind == Kind::Date,
            Relation::Past => false,
        };
        let is_plain_day = reading.relation == Relation::Future
            && reading.kind != Kind::Time
            && !reading.is_vague
            && !is_hours_away(&reading.text);
        is_to_come && (self == Self::Ask || is_plain_day && !reading.repeats)
    }
}

/// Tells whether a time is so many hours or less from now.
fn is_hours_away(said: &str) -> bool {
    let said = said.to_lowercase();
    let is_named = ["minute", "hour", "second", " min", " sec"].iter().any(|unit| said.contains(unit)) || is_short(&said);
    is_named || ["分钟", "小时", "秒", "分鐘", "小時", "钟头", "鐘頭"].iter().any(|unit| said.contains(unit))
}

/// Tells whether a time is written as `in 5m` or `in 2h`.
fn is_short(said: &str) -> bool {
    said.strip_prefix("in ").is_some_and(|rest| {
        rest.starts_with(|first: char| first.is_ascii_digit())
            && rest.ends_with(['m', 'h', 's'])
            && !rest.contains("day")
            && rest.len() < 6
    })
}
