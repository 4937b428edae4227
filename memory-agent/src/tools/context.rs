//! The `memory_context` tool.

use memory_core::{AnswerDetail, Context, Effect};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::built_in::BuiltInTool;
use super::input::local_now;
use crate::json;

/// Collects context for a prompt.
pub(super) const MEMORY_CONTEXT: BuiltInTool<ContextInput> = BuiltInTool {
    name: "memory_context",
    description: "Collect the memories about a prompt, within a budget of tokens. Memories that this session already received are left \
 out. Without a query: the memories that matter most.",
    effect: Effect::Reads,
    execute: |context, ContextInput { query, budget }| {
        let budget = match context.detail {
            AnswerDetail::Full => budget.unwrap_or(crate::CONTEXT_BUDGET),
            AnswerDetail::Brief => budget
                .unwrap_or(crate::CONTEXT_BUDGET)
                .min(MAX_BRIEF_BUDGET),
        };
        let gathered = memory_core::build_context(
            &context.services,
            &query,
            budget,
            &context.given,
            &local_now(context),
        )?;
        context.recalled.add(Some(&query), gathered.recalled());
        Ok(match context.detail {
            AnswerDetail::Full => json::context(&gathered),
            AnswerDetail::Brief => Value::String(brief_context(gathered)),
        })
    },
};

/// Maximum number of tokens of a context for a model.
const MAX_BRIEF_BUDGET: usize = 8_000;

/// Returns the fenced memories as text, which is the whole answer.
fn brief_context(gathered: Context) -> String {
    let Context {
        text,
        left_out,
        shortage,
        degraded,
        ..
    } = gathered;
    let mut parts = vec![if text.is_empty() {
        "no further memories match".to_owned()
    } else {
        text
    }];
    if let Some(shortage) = shortage {
        parts.push(shortage);
    } else if 0 < left_out {
        parts.push(format!(
            "{left_out} more match; a larger budget includes them"
        ));
    }
    parts.extend(degraded);
    parts.join("\n")
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ContextInput {
    #[serde(default)]
    query: String,
    /// maximum number of tokens
    #[schemars(range(min = 1, max = 100_000), extend("default" = crate::CONTEXT_BUDGET))]
    budget: Option<usize>,
}
