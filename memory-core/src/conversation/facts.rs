//! Parses the facts in a response of a language model.

use serde_json::Value;

use super::add::redact_secrets;
use crate::parse_json_answer;
use crate::text::to_one_line;

/// The facts that were parsed from a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedFacts {
    /// The distinct facts in order, each on one line.
    pub facts: Vec<String>,
    /// The reason why nothing or not everything could be parsed, if so.
    pub trouble: Option<String>,
}

/// The maximum number of facts per message, regardless of the response.
pub const MAX_FACTS: usize = 3;

/// The keys that models use for the text of a fact.
const FACT_KEYS: [&str; 4] = ["fact", "text", "content", "memory"];

/// The maximum length of a fact in characters; longer ones are dropped.
const LONGEST: usize = 1000;

/// Parses a response: a JSON list of texts, or an object that contains exactly one list.
///
/// Surrounding prose and code fences are removed. Any other response yields no facts and the reason. Credentials are redacted. Facts after
/// the first [`MAX_FACTS`] are dropped.
pub fn parse_facts(answer: &str) -> ParsedFacts {
    let value = match parse_json_answer(answer) {
        Ok(value) => value,
        Err(why) => {
            return ParsedFacts {
                facts: Vec::new(),
                trouble: Some(why.to_string()),
            };
        }
    };
    let is_fact = value.is_object() && fact_text(&value).is_some();
    let list = if is_fact {
        Some(vec![value])
    } else {
        single_list(value)
    };
    let Some(list) = list else {
        return ParsedFacts {
            facts: Vec::new(),
            trouble: Some("it is not a list of texts".into()),
        };
    };
    collect_facts(&list)
}

/// Parses a response about `count` messages, numbered from 0, and returns the facts of each.
///
/// The response is an object with a list of texts per number, or a list of objects such as `{"id": 0, "facts": […]}`, of which several may
/// name the same message. A message without an entry has no facts. The rules of [`parse_facts()`] apply to each message.
///
/// # Errors
/// If the response has no such form, if it names an unknown message, so that the assignment of the facts is not reliable, or if an object
/// has an id and no key for facts.
pub fn parse_facts_by_message(
    answer: &str,
    count: usize,
) -> Result<Vec<ParsedFacts>, AnswerParseError> {
    let misread = |why: &str| AnswerParseError {
        why: why.to_owned(),
    };
    let value = parse_json_answer(answer).map_err(|why| misread(&why.to_string()))?;
    let mut lists = vec![Vec::new(); count];
    for (id, item) in answers_by_id(value)
        .ok_or_else(|| misread("it is no object with a list for each message"))?
    {
        let number = id
            .trim()
            .parse()
            .ok()
            .filter(|number: &usize| *number < count);
        let own = number.and_then(|number| lists.get_mut(number));
        let own = own.ok_or_else(|| {
            misread(&format!(
                "it names the message {}, which was not given",
                to_one_line(&id, 40)
            ))
        })?;
        own.extend(match item {
            Value::Array(list) => list,
            Value::Null => Vec::new(),
            Value::Object(map) if map.values().any(Value::is_array) => {
                single_list(Value::Object(map)).ok_or_else(|| {
                    misread(&format!(
                        "the message {} has several lists",
                        to_one_line(&id, 40)
                    ))
                })?
            }
            other => vec![other],
        });
    }
    Ok(lists.iter().map(|list| collect_facts(list)).collect())
}

/// Returns the parts of a response, each with the message id.
fn answers_by_id(value: Value) -> Option<Vec<(String, Value)>> {
    let map = match value {
        Value::Array(list) => return list.into_iter().map(answer_with_id).collect(),
        Value::Object(map) => map,
        _ => return None,
    };
    if map.keys().all(|key| key.trim().parse::<usize>().is_ok()) {
        return Some(map.into_iter().collect());
    }
    // Some models wrap the response in an object, such as {"facts": …}.
    let mut values = map.into_iter().map(|(_, value)| value);
    let inner = values
        .next()
        .filter(|inner| inner.is_array() || inner.is_object())?;
    let is_named = |inner: &Value| {
        inner
            .as_object()
            .is_none_or(|map| map.keys().all(|key| key.trim().parse::<usize>().is_ok()))
    };
    (values.next().is_none() && is_named(&inner)).then(|| answers_by_id(inner))?
}

fn answer_with_id(item: Value) -> Option<(String, Value)> {
    let Value::Object(mut map) = item else {
        return None;
    };
    let id = match map.remove("id")? {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text,
        _ => return None,
    };
    let facts = std::iter::once("facts")
        .chain(FACT_KEYS)
        .find_map(|key| map.remove(key))?;
    Some((id, facts))
}

/// Returns the facts in a list, and the number of invalid items as the reason.
fn collect_facts(list: &[Value]) -> ParsedFacts {
    let mut read = ParsedFacts::default();
    let mut ignored = 0;
    for item in list {
        let text = fact_text(item)
            .map(|text| to_one_line(&redact_secrets(text), usize::MAX))
            .filter(|text| has_words(text));
        match text {
            Some(fact) if read.facts.contains(&fact) => {}
            Some(fact) if fact.chars().count() <= LONGEST => read.facts.push(fact),
            // Some models express the absence of facts by an empty text.
            None if item.as_str().is_some_and(|text| text.trim().is_empty()) => {}
            _ => ignored += 1,
        }
    }
    read.facts.truncate(MAX_FACTS);
    read.trouble = (0 < ignored).then(|| format!("{ignored} items in it are not facts"));
    read
}

/// Returns a list, or the only list in an object.
pub(super) fn single_list(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        Value::Object(map) => {
            let mut lists = map.into_iter().filter_map(|(_, value)| {
                if let Value::Array(list) = value {
                    Some(list)
                } else {
                    None
                }
            });
            let list = lists.next()?;
            lists.next().is_none().then_some(list)
        }
        _ => None,
    }
}

/// Returns a text, or the text in an object such as `{"fact": "…"}`.
fn fact_text(item: &Value) -> Option<&str> {
    match item {
        Value::String(text) => Some(text),
        Value::Object(map) => FACT_KEYS.iter().find_map(|key| map.get(*key)?.as_str()),
        _ => None,
    }
}

fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// The reason why a response is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct AnswerParseError {
    /// The reason, as a statement that may be sent to the model.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts(answer: &str) -> Vec<String> {
        parse_facts(answer).facts
    }

    #[test]
    fn a_list_is_found_in_whatever_stands_around_it() {
        for answer in [
            r#"["The user's wife is named Anne."]"#,
            "Sure! Here they are:\n```json\n[\"The user's wife is named Anne.\",]\n```\nAnything else?",
            r#"{"facts": ["The user's wife is named Anne."]}"#,
            r#"{"response": [{"fact": "The user's wife is named Anne."}]}"#,
            r#"{"fact": "The user's wife is named Anne."}"#,
            "<think>[\"no\"]</think>\n[\"The user's  wife\\nis named Anne.\", \"The user's wife is named Anne.\", \"\"]",
        ] {
            assert_eq!(
                facts(answer),
                ["The user's wife is named Anne."],
                "{answer}"
            );
        }
    }

    #[test]
    fn nothing_is_guessed_and_the_reason_is_told() {
        for answer in [
            "The user's wife is named Anne.",
            "[\"broken",
            "{}",
            "3",
            "",
            "[\"a\"] or [\"b\"]",
            "{\"a\": [\"x\"], \"b\": [\"y\"]}",
        ] {
            let read = parse_facts(answer);
            assert!(
                read.facts.is_empty() && read.trouble.is_some(),
                "{answer}: {read:?}"
            );
        }
        assert_eq!(parse_facts("[]"), ParsedFacts::default());
        let some = parse_facts(r#"["a fact", 3, null, "…"]"#);
        assert_eq!(
            (some.facts.len(), some.trouble.as_deref()),
            (1, Some("3 items in it are not facts"))
        );
    }

    #[test]
    fn a_message_has_three_facts_at_most_and_credentials_are_blotted_out() {
        let many: Vec<String> = (0..20).map(|number| format!("fact {number}")).collect();
        let read = parse_facts(&serde_json::to_string(&many).unwrap());
        assert_eq!(
            (read.facts.as_slice(), read.trouble),
            (&many[..MAX_FACTS], None),
            "the first ones are kept"
        );
        let secret = facts(
            r#"["The key is sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-AbCdEfGhIjKlMnOpQrStUvWxYz01"]"#,
        );
        assert!(!secret[0].contains("AbCdEf"), "{secret:?}");
    }

    #[test]
    fn the_facts_of_each_message_are_told_apart() {
        for answer in [
            r#"{"0": ["likes tea"], "2": ["lives in Ghent", "owns a dog"]}"#,
            "Here:\n```json\n[{\"id\": 2, \"facts\": [\"lives in Ghent\", \"owns a dog\"]}, {\"id\": \"0\", \"facts\": \"likes tea\"}]\n```",
            r#"{"facts": {"0": ["likes tea"], "1": null, "2": [{"fact": "lives in Ghent"}, "owns a dog"]}}"#,
            r#"[{"id": 0, "fact": "likes tea"}, {"id": 2, "text": "lives in Ghent"}, {"id": 1, "facts": null}, {"id": 2, "memory": "owns a dog"}]"#,
            r#"{"0": {"fact": "likes tea"}, "2": {"facts": ["lives in Ghent", "owns a dog"]}}"#,
        ] {
            let read: Vec<_> = parse_facts_by_message(answer, 3)
                .unwrap()
                .into_iter()
                .map(|read| read.facts)
                .collect();
            assert_eq!(
                read,
                [
                    vec!["likes tea"],
                    vec![],
                    vec!["lives in Ghent", "owns a dog"]
                ],
                "{answer}"
            );
        }
        let many: Vec<String> = (0..9).map(|number| format!("fact {number}")).collect();
        let read = parse_facts_by_message(&json!({ "0": many, "1": many }).to_string(), 2).unwrap();
        assert!(
            read.iter()
                .all(|read| read.facts == many[..MAX_FACTS] && read.trouble.is_none()),
            "{read:?}"
        );
    }

    #[test]
    fn an_answer_that_does_not_tell_messages_apart_is_refused() {
        for answer in [
            r#"["likes tea"]"#,
            r#"{"7": ["likes tea"]}"#,
            r#"{"a": [], "b": []}"#,
            "prose",
            r#"{"facts": {"a": {"b": {}}}}"#,
            r#"[{"id": 0, "facts": ["likes tea"]}, {"id": 1, "found": ["owns a dog"]}]"#,
            r#"{"0": {"likes": ["tea"], "owns": ["a dog"]}}"#,
        ] {
            assert!(parse_facts_by_message(answer, 2).is_err(), "{answer}");
        }
        assert_eq!(
            parse_facts_by_message("{}", 2),
            Ok(vec![ParsedFacts::default(); 2])
        );
    }
}
