//! Parses a file of facts.

use memory_core::conversation::ConversationId;
use serde_json::Value;

use crate::failure::Failure;

/// A fact and its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FactInput {
    /// The text of the fact.
    pub(super) content: String,
    /// The conversation that the fact is added to.
    pub(super) conversation: ConversationId,
}

/// Parses facts from a JSON list, a JSON object with a list under `memories`, or lines of text.
///
/// In lines of text, list markers such as `-` and `1.` are removed. A fact without a conversation of its own belongs to `conversation`.
pub(super) fn parse_facts(text: &str, conversation: &ConversationId) -> Result<Vec<FactInput>, Failure> {
    let own = |content: &str| FactInput { content: content.to_owned(), conversation: conversation.clone() };
    let trimmed = text.trim();
    let list = match serde_json::from_str(trimmed) {
        Ok(Value::Array(list)) => list,
        Ok(Value::Object(mut map)) => match map.remove("memories") {
            Some(Value::Array(list)) => list,
            _ => return Err(format_error("an object without a list under memories")),
        },
        _ => return Ok(trimmed.lines().map(|line| own(strip_list_marker(line.trim()))).collect()),
    };
    list.iter().map(|item| parse_fact(item, conversation)).collect()
}

fn parse_fact(item: &Value, conversation: &ConversationId) -> Result<FactInput, Failure> {
    let content = item.as_str().or_else(|| item.get("content")?.as_str());
    let content = content
        .ok_or_else(|| format_error("an item that is neither a string nor an object with a string under content"))?
        .to_owned();
    let conversation = match item.get("conversation_id") {
        None | Some(Value::Null) => conversation.clone(),
        Some(Value::String(id)) => id.parse::<ConversationId>().map_err(|error| format_error(&error.to_string()))?,
        Some(_) => return Err(format_error("a conversation_id that is not a string")),
    };
    Ok(FactInput { content, conversation })
}

fn format_error(what: &str) -> Failure {
    Failure::usage(
        format!("invalid list of facts: it contains {what}"),
        "write [\"a fact\", {\"content\": \"a fact\", \"conversation_id\": \"work\"}], or one fact per line",
    )
}

/// Removes the list marker at the start of a line: `-`, `*`, `+`, or a number with a dot.
fn strip_list_marker(line: &str) -> &str {
    let rest = line.strip_prefix(['-', '*', '+']).or_else(|| {
        let rest = line.trim_start_matches(|character: char| character.is_ascii_digit());
        if rest.len() < line.len() { rest.strip_prefix('.') } else { None }
    });
    rest.filter(|rest| rest.starts_with([' ', '\t'])).map_or(line, str::trim_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Vec<String> {
        let given = parse_facts(text, &ConversationId::default_conversation()).unwrap_or_default();
        given.into_iter().map(|given| format!("{}: {}", given.conversation, given.content)).collect()
    }

    #[test]
    fn lists_are_read_in_every_form() {
        let expected = ["default: likes tea", "work: due on Friday"];
        let objects = r#"["likes tea", {"content": "due on Friday", "conversation_id": "work"}]"#;
        assert_eq!(facts(objects), expected);
        assert_eq!(facts(&format!("{{\"memories\": {objects}}}\n")), expected);
        assert_eq!(
            facts("- likes tea\n\n  2. has a dog\n3.5 metres\n-5 degrees\n"),
            ["default: likes tea", "default: ", "default: has a dog", "default: 3.5 metres", "default: -5 degrees"]
        );
    }

    #[test]
    fn what_is_no_list_of_facts_is_refused() {
        for text in ["{\"facts\": []}", "[3]", "[{\"text\": \"x\"}]", "[{\"content\": \"x\", \"conversation_id\": 3}]"] {
            assert!(parse_facts(text, &ConversationId::default_conversation()).is_err(), "{text}");
        }
    }
}
