//! The JSON of contexts and smart search results.

use memory_core::{Context, InboxTtl, SmartSearchResults};
use serde_json::{Value, json};

use super::{search_results, time};

/// Returns the JSON of the context for a prompt.
///
/// `{context, memories, tokens, left_out, standing?, degraded?, warning?}`; `context` is the text to insert before the
/// prompt, `memories` the ids of its memories, `standing` those of standing instructions and preferences, and `warning`
/// reports that the budget is too small for any memory.
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

/// Returns the JSON of a smart search: like [`search_results`], with the interpretation of the query.
///
/// The interpretation is `understood: {query, category?, from?, until?}`.
pub fn smart_search_results(answer: &SmartSearchResults, inbox_ttl: InboxTtl) -> Value {
    let mut shape = search_results(&answer.found, false, inbox_ttl);
    let mut understood = json!({ "query": answer.text });
    if let Some(category) = answer.filter.category {
        understood["category"] = category.as_str().into();
    }
    for (name, moment) in [("from", answer.filter.from), ("until", answer.filter.until)] {
        if let Some(moment) = moment {
            understood[name] = time::rfc3339(moment).into();
        }
    }
    shape["understood"] = understood;
    shape
}
