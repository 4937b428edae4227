//! The rolling summary of a conversation.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::add::redact_secrets;
use super::indexed_text::content_terms;
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

/// The number of content words of a summary from which it is compared with others.
const MIN_WORDS: usize = 4;

/// Checks whether a summary may replace the `former` one after new facts.
///
/// It must have a third of its content words in common with them, keep a quarter of those of the former one, and contain no other numbers.
///
/// # Errors
/// The reason why it is refused.
pub fn check_summary(text: &str, former: &str, facts: &[&str]) -> Result<(), String> {
    let known = [&[former], facts].concat().join("\n");
    let numbers = |text: &str| -> HashSet<String> {
        text.split(|letter: char| !letter.is_ascii_digit())
            .map(|number| number.trim_start_matches('0').to_owned())
            .filter(|number| !number.is_empty())
            .collect()
    };
    let words = |text: &str| {
        let mut words = HashSet::new();
        content_terms(text, &mut |term, _| {
            words.insert(term);
        });
        words
    };
    let (own, former, all) = (words(text), words(former), words(&known));
    if own.len() < MIN_WORDS {
        return Ok(());
    }
    if let Some(number) = numbers(text).difference(&numbers(&known)).next() {
        return Err(format!("the number {number} is in no fact"));
    }
    if 3 * own.intersection(&all).count() < own.len() {
        return Err("it is about something else".into());
    }
    if MIN_WORDS <= former.len() && 4 * own.intersection(&former).count() < former.len() {
        return Err("it leaves out the previous summary".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_about_the_facts_and_the_previous_one() {
        let facts = ["The user's dog Rex is 4 years old."];
        let former = "Anna lives in Ghent, works as a nurse and likes tea.";
        let check = |text| check_summary(text, former, &facts);
        assert_eq!(
            check("Anna, a nurse in Ghent, likes tea and has a dog, Rex, who is 4."),
            Ok(())
        );
        assert_eq!(check("Fine."), Ok(()));
        for (text, reason) in [
            (
                "I'm sorry, but I cannot help with that request.",
                "it is about something else",
            ),
            (
                "The user's old dog Rex is 4 years old.",
                "it leaves out the previous summary",
            ),
            (
                "Anna lives in Ghent, likes tea and has a dog of 5 years.",
                "the number 5 is in no fact",
            ),
        ] {
            assert_eq!(check(text), Err(reason.to_owned()));
        }
    }

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
