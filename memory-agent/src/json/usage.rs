//! What asking a language model has cost, in JSON.

use memory_core::{Costs, Spent, Usage};
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

/// Writes what asking a language model has cost: `{budget, left, today, lately, unreadable}`.
///
/// `budget` is what a day may cost, and `left` what is left of today's: `{calls, tokens}`, each null if there is no limit.
/// `today` and `lately`, the last 30 days with today, are `{from, to, calls, prompt_tokens, answer_tokens, tokens, purposes}`;
/// `purposes` is a list of `{purpose, calls, prompt_tokens, answer_tokens, tokens}` in the order of their names. Days are
/// those of the time zone in the settings, else of UTC. `unreadable` counts the records that count for nothing, because
/// they cannot be read.
pub fn usage(usage: &Usage) -> Value {
    let Usage { budget, left, today, lately, unreadable } = usage;
    value(&UsageShape {
        budget: AmountShape { calls: budget.calls_a_day, tokens: budget.tokens_a_day },
        left: AmountShape { calls: left.calls, tokens: left.tokens },
        today: costs(today),
        lately: costs(lately),
        unreadable: *unreadable,
    })
}

fn costs(costs: &Costs) -> CostsShape<'_> {
    let Spent { calls, prompt_tokens, answer_tokens } = costs.all;
    CostsShape {
        from: costs.from.to_string(),
        to: costs.to.to_string(),
        calls,
        prompt_tokens,
        answer_tokens,
        tokens: costs.all.tokens(),
        purposes: costs.purposes.iter().map(|(purpose, spent)| shape(purpose.as_str(), *spent)).collect(),
    }
}

fn shape(purpose: &str, spent: Spent) -> PurposeShape<'_> {
    let Spent { calls, prompt_tokens, answer_tokens } = spent;
    PurposeShape { purpose, calls, prompt_tokens, answer_tokens, tokens: spent.tokens() }
}
