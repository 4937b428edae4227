//! What a language model should know, in JSON.

use memory_core::{Context, InboxTtl, SmartFound};
use serde_json::{Value, json};

use super::{found, time};

/// Writes what was gathered for a prompt: `{context, memories, tokens, left_out, standing?, degraded?, warning?}`; `context` is the text to put
/// in front of it, `memories` the ids of what it holds, `standing` those that are there as standing instructions and preferences, and `warning` says that the budget is too small for any memory.
pub fn context(context: &Context) -> Value {
    let ids: Vec<String> = context.memories.iter().map(|stored| stored.memory.id.to_string()).collect();
    let Context { text, tokens, left_out, .. } = context;
    let mut shape = json!({ "context": text, "memories": ids, "tokens": tokens, "left_out": left_out });
    if 0 < context.standing {
        shape["standing"] = shape["memories"].as_array().into_iter().flatten().take(context.standing).cloned().collect();
    }
    if let Some(degraded) = &context.degraded {
        shape["degraded"] = degraded.as_str().into();
    }
    if let Some(shortage) = &context.shortage {
        shape["warning"] = shortage.as_str().into();
    }
    shape
}

/// Writes the answer to a question as [`found`] does, and how it was understood: `understood: {query, category?, from?,
/// until?}`.
pub fn smart_found(answer: &SmartFound, inbox_ttl: InboxTtl) -> Value {
    let mut shape = found(&answer.found, false, inbox_ttl);
    let mut understood = json!({ "query": answer.text });
    if let Some(category) = answer.filter.category {
        understood["category"] = category.as_str().into();
    }
    for (name, moment) in [("from", answer.filter.from), ("until", answer.filter.until)] {
        if let Some(moment) = moment {
            understood[name] = time::text(moment).into();
        }
    }
    shape["understood"] = understood;
    shape
}
