//! The facts in what a language model says.

use serde_json::Value;

use super::add::without_secrets;
use crate::json_answer;
use crate::text::one_line;

/// What was read of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadFacts {
    /// The facts, each once, in their order, each on one line.
    pub facts: Vec<String>,
    /// Why nothing or not all could be read, if so.
    pub trouble: Option<String>,
}

/// So many facts of one message are believed.
const MOST: usize = 10;

/// A longer fact, in characters, is none.
const LONGEST: usize = 1000;

/// Reads an answer: a JSON list of texts, or an object whose only list that is. Prose and fences around it are taken away; what is no
/// such list gives no facts, and says why. Credentials are blotted out.
pub fn read_facts(answer: &str) -> ReadFacts {
    let value = match json_answer(answer) {
        Ok(value) => value,
        Err(why) => return ReadFacts { facts: Vec::new(), trouble: Some(why.to_string()) },
    };
    let Some(list) = only_list(value) else {
        return ReadFacts { facts: Vec::new(), trouble: Some("it is no list of texts".into()) };
    };
    let mut read = ReadFacts::default();
    let mut ignored = 0;
    for item in list {
        let text = text_of(&item).map(|text| one_line(&without_secrets(text), usize::MAX)).filter(|text| says_something(text));
        match text {
            Some(fact) if read.facts.contains(&fact) => {}
            Some(fact) if read.facts.len() < MOST && fact.chars().count() <= LONGEST => read.facts.push(fact),
            // An empty text is how some models say that there is nothing.
            None if item.as_str().is_some_and(|text| text.trim().is_empty()) => {}
            _ => ignored += 1,
        }
    }
    read.trouble = (0 < ignored).then(|| format!("{ignored} parts of it are no facts"));
    read
}

/// Returns a list, or the only list in an object.
pub(super) fn only_list(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        Value::Object(map) => {
            let mut lists =
                map.into_iter().filter_map(|(_, value)| if let Value::Array(list) = value { Some(list) } else { None });
            let list = lists.next()?;
            lists.next().is_none().then_some(list)
        }
        _ => None,
    }
}

/// Returns a text, or the one in an object such as `{"fact": "…"}`.
fn text_of(item: &Value) -> Option<&str> {
    match item {
        Value::String(text) => Some(text),
        Value::Object(map) => ["fact", "text", "content", "memory"].iter().find_map(|key| map.get(*key)?.as_str()),
        _ => None,
    }
}

fn says_something(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(answer: &str) -> Vec<String> {
        read_facts(answer).facts
    }

    #[test]
    fn a_list_is_found_in_whatever_stands_around_it() {
        for answer in [
            r#"["The user's wife is named Anne."]"#,
            "Sure! Here they are:\n```json\n[\"The user's wife is named Anne.\",]\n```\nAnything else?",
            r#"{"facts": ["The user's wife is named Anne."]}"#,
            r#"{"response": [{"fact": "The user's wife is named Anne."}]}"#,
            "<think>[\"no\"]</think>\n[\"The user's  wife\\nis named Anne.\", \"The user's wife is named Anne.\", \"\"]",
        ] {
            assert_eq!(facts(answer), ["The user's wife is named Anne."], "{answer}");
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
            let read = read_facts(answer);
            assert!(read.facts.is_empty() && read.trouble.is_some(), "{answer}: {read:?}");
        }
        assert_eq!(read_facts("[]"), ReadFacts::default());
        let some = read_facts(r#"["a fact", 3, null, "…"]"#);
        assert_eq!((some.facts.len(), some.trouble.as_deref()), (1, Some("3 parts of it are no facts")));
    }

    #[test]
    fn too_many_facts_are_none_and_credentials_are_blotted_out() {
        let many: Vec<String> = (0..20).map(|number| format!("fact {number}")).collect();
        assert_eq!(facts(&serde_json::to_string(&many).unwrap()).len(), MOST);
        let secret = facts(r#"["The key is sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-AbCdEfGhIjKlMnOpQrStUvWxYz01"]"#);
        assert!(!secret[0].contains("AbCdEf"), "{secret:?}");
    }
}
