//! Detection of queries that expect more than one result.

use crate::text::{TokenKind, fold, tokenize};

/// English words that request a list, a summary or an order.
const LIST_WORDS: [&str; 15] = [
    "list",
    "all",
    "every",
    "each",
    "summarise",
    "summarize",
    "summary",
    "overview",
    "recap",
    "order",
    "sequence",
    "chronological",
    "chronologically",
    "timeline",
    "overall",
];

/// Time units that make `how many` a question about a single time span.
const TIME_UNITS: [&str; 12] =
    ["second", "seconds", "minute", "minutes", "hour", "hours", "day", "days", "week", "weeks", "month", "months"];

/// Chinese expressions that request a list, a summary, an order or a count.
const LIST_PHRASES: [&str; 16] = [
    "总结",
    "總結",
    "哪些",
    "列出",
    "所有",
    "全部",
    "顺序",
    "順序",
    "多少次",
    "几次",
    "幾次",
    "概括",
    "回顾",
    "回顧",
    "历程",
    "歷程",
];

/// Returns whether a query expects several results: a list, a summary, an order or a count.
///
/// ```
/// use memory_core::query_parser::expects_several_results;
///
/// assert!(expects_several_results("In what order did I visit the museums?"));
/// assert!(!expects_several_results("When did I visit the museum?"));
/// ```
pub fn expects_several_results(text: &str) -> bool {
    let mut words = Vec::new();
    tokenize(text, &mut |token| {
        if token.kind == TokenKind::Word {
            words.push(fold(&text[token.span.clone()]));
        }
    });
    words.iter().any(|word| LIST_WORDS.contains(&word.as_str()))
        || words.windows(3).any(|three| three[0] == "how" && three[1] == "many" && !TIME_UNITS.contains(&three[2].as_str()))
        || LIST_PHRASES.iter().any(|sign| text.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_summaries_orders_and_counts_ask_for_several() {
        for text in
            ["Summarize my trip", "how many times did we meet?", "List the books I read", "我去过哪些城市？", "请总结一下"]
        {
            assert!(expects_several_results(text), "{text}");
        }
        for text in ["Who paid?", "How many days are left?", "Where is the listed building?", "我的狗叫什么？"] {
            assert!(!expects_several_results(text), "{text}");
        }
    }
}
