//! The rolling summary of a conversation.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::add::redact_secrets;
use super::{ConversationEntry, ConversationId, EntryId, EntryRole};
use crate::parse_json_answer;

/// The kind of the only summary of a conversation.
const KIND: &str = "summary";

/// The maximum length of a summary in characters, because it is part of every prompt.
const LONGEST: usize = 8000;

/// Returns the summary of a conversation as an entry with a fixed id.
pub fn summary_entry(
    conversation: &ConversationId,
    text: &str,
    now: DateTime<Utc>,
) -> ConversationEntry {
    let entry = ConversationEntry::new(
        EntryId::for_summary(conversation),
        conversation,
        EntryRole::Summary,
        text,
        now,
    );
    ConversationEntry {
        summary_kind: Some(KIND.into()),
        ..entry
    }
}

/// Parses a response: a text, or the text in a JSON object. Credentials are redacted.
///
/// In an object, it is the value of `summary`, otherwise the first value.
///
/// # Errors
/// The reason why the response is not a summary.
pub fn parse_summary(answer: &str) -> Result<String, String> {
    let plain = answer
        .rsplit_once("</think>")
        .map_or(answer, |(_, said)| said);
    let text = match parse_json_answer(answer) {
        Ok(Value::Object(map)) => map
            .get("summary")
            .or_else(|| map.values().next())
            .and_then(Value::as_str)
            .map(str::to_owned),
        _ => None,
    };
    let text = text.unwrap_or_else(|| plain.to_owned());
    let text = redact_secrets(text.trim());
    match text.chars().count() {
        0 => Err("it is empty".into()),
        length if LONGEST < length => Err(format!(
            "it has {length} characters, more than the maximum of a summary"
        )),
        _ if text.contains("<think") || text.starts_with(['[', '{']) => {
            Err("it is not a text".into())
        }
        _ => Ok(text.trim_matches('"').to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_a_text_or_the_one_in_an_object() {
        for answer in [
            "Anna likes tea.",
            "  Anna likes tea.\n",
            r#"{"summary": "Anna likes tea."}"#,
            "<think>hm</think>\nAnna likes tea.",
        ] {
            assert_eq!(parse_summary(answer).unwrap(), "Anna likes tea.");
        }
        for answer in [
            "",
            " ",
            "{\"summary\": \"\"}",
            "[1, 2]",
            &"x".repeat(LONGEST + 1),
        ] {
            assert!(parse_summary(answer).is_err(), "{answer}");
        }
    }
}
