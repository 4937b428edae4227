//! The JSON of language model usage.

use memory_core::{LlmUsage, PeriodUsage, Usage};
use serde::Serialize;
use serde_json::Value;

use super::value;

#[derive(Serialize)]
struct UsageShape<'a> {
    budget: AmountShape,
    left: AmountShape,
    today: CostsShape<'a>,
    lately: CostsShape<'a>,
    unreadable: u64,
    waiting: usize,
}

#[derive(Serialize)]
struct AmountShape {
    calls: Option<u64>,
    tokens: Option<u64>,
}

#[derive(Serialize)]
struct CostsShape<'a> {
    from: String,
    to: String,
    calls: u64,
    prompt_tokens: u64,
    answer_tokens: u64,
    tokens: u64,
    purposes: Vec<PurposeShape<'a>>,
}

#[derive(Serialize)]
struct PurposeShape<'a> {
    purpose: &'a str,
    calls: u64,
    prompt_tokens: u64,
    answer_tokens: u64,
    tokens: u64,
}

/// Returns the JSON of language model usage: `{budget, left, today, lately, unreadable, waiting}`.
///
/// `budget` is the limit of a day, and `left` the rest of it today: `{calls, tokens}`, each null without a limit.
/// `today` and `lately`, the last 30 days including today, are `{from, to, calls, prompt_tokens, answer_tokens, tokens,
/// purposes}`; `purposes` is a list of `{purpose, calls, prompt_tokens, answer_tokens, tokens}`, sorted by name. Days
/// are in the configured time zone, or UTC. `unreadable` is the number of records that are ignored because they cannot
/// be read, and `waiting` the number of messages that wait for the extraction of facts.
pub fn usage(usage: &Usage, waiting: usize) -> Value {
    let Usage {
        budget,
        left,
        today,
        lately,
        unreadable,
    } = usage;
    value(&UsageShape {
        budget: AmountShape {
            calls: budget.calls_a_day,
            tokens: budget.tokens_a_day,
        },
        left: AmountShape {
            calls: left.calls,
            tokens: left.tokens,
        },
        today: costs_shape(today),
        lately: costs_shape(lately),
        unreadable: *unreadable,
        waiting,
    })
}

fn costs_shape(costs: &PeriodUsage) -> CostsShape<'_> {
    let LlmUsage {
        calls,
        prompt_tokens,
        answer_tokens,
    } = costs.all;
    CostsShape {
        from: costs.from.to_string(),
        to: costs.to.to_string(),
        calls,
        prompt_tokens,
        answer_tokens,
        tokens: costs.all.total_tokens(),
        purposes: costs
            .purposes
            .iter()
            .map(|(purpose, spent)| purpose_shape(purpose.as_str(), *spent))
            .collect(),
    }
}

fn purpose_shape(purpose: &str, spent: LlmUsage) -> PurposeShape<'_> {
    let LlmUsage {
        calls,
        prompt_tokens,
        answer_tokens,
    } = spent;
    PurposeShape {
        purpose,
        calls,
        prompt_tokens,
        answer_tokens,
        tokens: spent.total_tokens(),
    }
}
