//! The format of a line of the ledger.

use chrono::NaiveDate;
use memory_core::{LlmUsage, Purpose, Reservation};
use serde::{Deserialize, Serialize};

/// A line of the ledger: the amounts by which the usage changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UsageRecord {
    pub(super) day: NaiveDate,
    pub(super) purpose: Purpose,
    pub(super) calls: i64,
    pub(super) prompt_tokens: i64,
    pub(super) answer_tokens: i64,
}

#[derive(Serialize, Deserialize)]
struct UsageRecordWire {
    day: String,
    purpose: String,
    calls: i64,
    prompt_tokens: i64,
    answer_tokens: i64,
}

impl UsageRecord {
    /// Returns the booking that changes an amount from `before` to `after`.
    pub(super) fn of(reservation: &Reservation, before: LlmUsage, after: LlmUsage) -> Self {
        Self {
            day: reservation.day,
            purpose: reservation.purpose.clone(),
            calls: difference(before.calls, after.calls),
            prompt_tokens: difference(before.prompt_tokens, after.prompt_tokens),
            answer_tokens: difference(before.answer_tokens, after.answer_tokens),
        }
    }

    pub(super) fn to_line(&self) -> Vec<u8> {
        let Self { day, purpose, calls, prompt_tokens, answer_tokens } = self;
        let (calls, prompt_tokens, answer_tokens) = (*calls, *prompt_tokens, *answer_tokens);
        let wire = UsageRecordWire { day: day.to_string(), purpose: purpose.to_string(), calls, prompt_tokens, answer_tokens };
        serde_json::to_vec(&wire).expect("strings and numbers have a JSON form")
    }

    /// Parses a line, or returns `None` if it is not a booking, for example because a crash cut it off.
    pub(super) fn from_line(line: &[u8]) -> Option<Self> {
        let UsageRecordWire { day, purpose, calls, prompt_tokens, answer_tokens } = serde_json::from_slice(line).ok()?;
        Some(Self { day: day.parse().ok()?, purpose: purpose.parse().ok()?, calls, prompt_tokens, answer_tokens })
    }
}

fn difference(before: u64, after: u64) -> i64 {
    let number = |amount: u64| i64::try_from(amount).unwrap_or(i64::MAX);
    number(after).saturating_sub(number(before))
}
