//! The strength of a request for a reminder.

use memory_core::datetime::{DateMention, DatePrecision, TimeRelation};

/// The strength of a request for a reminder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RequestStrength {
    /// An event or a due date.
    Event,
    /// An instruction or a request.
    Ask,
}

impl RequestStrength {
    /// Returns whether the strength suffices for a reminder at such a time.
    ///
    /// An event alone does not suffice for a time of day without a day, a time some hours or less away, a vague time such as a whole month,
    /// today, or a recurring time, since facts and habits name these as well.
    pub(super) fn suffices_for(self, reading: &DateMention) -> bool {
        let is_to_come = match reading.relation {
            TimeRelation::Future => true,
            TimeRelation::Present => reading.kind == DatePrecision::Date,
            TimeRelation::Past => false,
        };
        let is_plain_day = reading.relation == TimeRelation::Future
            && reading.kind != DatePrecision::Time
            && !reading.is_vague
            && !is_hours_away(&reading.text);
        is_to_come && (self == Self::Ask || is_plain_day && !reading.repeats)
    }
}

/// Returns whether a time is given in hours, minutes or seconds from now.
fn is_hours_away(said: &str) -> bool {
    let said = said.to_lowercase();
    let is_named = ["minute", "hour", "second", " min", " sec"]
        .iter()
        .any(|unit| said.contains(unit))
        || is_short_form(&said);
    is_named
        || ["分钟", "小时", "秒", "分鐘", "小時", "钟头", "鐘頭"]
            .iter()
            .any(|unit| said.contains(unit))
}

/// Returns whether a time is written like `in 5m` or `in 2h`.
fn is_short_form(said: &str) -> bool {
    said.strip_prefix("in ").is_some_and(|rest| {
        rest.starts_with(|first: char| first.is_ascii_digit())
            && rest.ends_with(['m', 'h', 's'])
            && !rest.contains("day")
            && rest.len() < 6
    })
}
