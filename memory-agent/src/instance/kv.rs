//! The `kv` backend: values under keys.

use memory_core::instance::InstanceError;
use memory_core::instance::kv::{KeySummary, ValueKey, delete, get, list, set};
use memory_core::json::JsonText;
use memory_core::{Effect, SecretPolicy};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::field::driver_fields;
use super::{Action, ActionResult, Backend, operations};
use crate::json::quoted_time;
use crate::parameters::any_json;

/// Returns the backend.
pub(super) fn backend() -> Backend {
    Backend {
        name: "kv",
        description: "Text values under keys such as chat-7/draft",
        fields: driver_fields(
            "Where values are stored",
            "The folder of the files, one per key",
        )
        .to_vec(),
        actions: vec![
            set_action(),
            get_action(),
            delete_action(),
            list_action(),
            operations_action(),
            undo_action(),
        ],
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct KeyInput {
    /// The key: parts of A-Z a-z 0-9 . _ -, with / between them
    key: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetInput {
    /// The key: parts of A-Z a-z 0-9 . _ -, with / between them
    key: String,
    /// The text; other JSON is stored as its text
    #[serde(deserialize_with = "any_json")]
    #[schemars(schema_with = "any_value_schema")]
    value: JsonText,
    /// Store the value even if it looks like a credential
    #[serde(default)]
    allow_secret: bool,
}

fn any_value_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "number", "boolean", "object", "array", "null"] })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct KeysInput {
    /// Only keys in a namespace (chat-7/) or with a prefix (chat)
    prefix: Option<String>,
}

fn set_action() -> Action {
    let description = "Set the value of a key, replacing any previous value";
    Action::own(
        "set",
        description,
        Effect::Changes,
        |holding, given: SetInput| {
            let key: ValueKey = given.key.parse()?;
            let value = match given.value.as_string() {
                Some(text) => text,
                // A string with a lone surrogate is not valid text.
                None if given.value.as_str().starts_with('"') => {
                    let why = "the field value is not a valid text".into();
                    return Err(InstanceError::Invalid { why, hint: None }.into());
                }
                None => given.value.to_string(),
            };
            let is_new = set(
                holding.kv(),
                &key,
                &value,
                SecretPolicy::allowing(given.allow_secret),
            )?;
            Ok(ActionResult::of(format!(
                r#"{{"key":{},"created":{is_new}}}"#,
                JsonText::string(key.as_str())
            )))
        },
    )
}

fn get_action() -> Action {
    let description = "Return the value of a key; fails if the key is not set";
    Action::own(
        "get",
        description,
        Effect::Reads,
        |holding, given: KeyInput| {
            let key: ValueKey = given.key.parse()?;
            let value = get(holding.kv(), &key)?;
            let (name, text, at) = (
                JsonText::string(key.as_str()),
                JsonText::string(&value.text),
                quoted_time(value.updated_at),
            );
            Ok(ActionResult::of(format!(
                r#"{{"key":{name},"value":{text},"updated_at":{at}}}"#
            )))
        },
    )
}

fn delete_action() -> Action {
    Action::own(
        "delete",
        "Delete a key",
        Effect::Changes,
        |holding, given: KeyInput| {
            let key: ValueKey = given.key.parse()?;
            delete(holding.kv(), &key)?;
            Ok(ActionResult::of(format!(
                r#"{{"key":{},"deleted":true}}"#,
                JsonText::string(key.as_str())
            )))
        },
    )
}

fn list_action() -> Action {
    Action::own(
        "list",
        "List the keys, sorted",
        Effect::Reads,
        |holding, given: KeysInput| {
            let prefix = given.prefix.unwrap_or_default().parse()?;
            let one = |summary: &KeySummary| {
                let (key, at) = (
                    JsonText::string(summary.key.as_str()),
                    quoted_time(summary.updated_at),
                );
                format!(
                    r#"{{"key":{key},"size_bytes":{},"updated_at":{at}}}"#,
                    summary.size_bytes
                )
            };
            let listed: Vec<_> = list(holding.kv(), &prefix)?.iter().map(one).collect();
            Ok(ActionResult::of(format!("[{}]", listed.join(","))))
        },
    )
}

fn operations_action() -> Action {
    operations::operations_action("List the set, delete and undo operations, newest first")
}

fn undo_action() -> Action {
    operations::undo_action("Undo a set or delete, by default the last one")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use memory_core::testing::{FakeValues, values};

    use super::*;
    use crate::instance::{ActionCaller, InstanceHandle};

    fn run(holding: &InstanceHandle, action: &str, parameters: &str) -> Result<String, String> {
        let backend = backend();
        let action = backend.action(action).map_err(|error| error.to_string())?;
        let answer = backend.run(
            action,
            holding,
            &ActionCaller::Person,
            &parameters.parse().unwrap(),
        );
        answer
            .and_then(ActionResult::into_whole)
            .map(|(json, _)| json)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_texts_and_other_json_is_kept_as_its_text() {
        let holding = InstanceHandle::Kv(values(Arc::new(FakeValues::default())));
        for (value, text) in [
            (r#""2""#, "2"),
            ("2", "2"),
            (r#"{"n": 1e1000}"#, r#"{\"n\":1e1000}"#),
            ("null", "null"),
            (r#""""#, ""),
        ] {
            run(
                &holding,
                "set",
                &format!(r#"{{"key":"a","value":{value}}}"#),
            )
            .unwrap();
            let got = run(&holding, "get", r#"{"key":"a"}"#).unwrap();
            assert!(
                got.starts_with(&format!(r#"{{"key":"a","value":"{text}","#)),
                "{got}"
            );
        }
        assert_eq!(
            run(&holding, "delete", r#"{"key":"a"}"#).unwrap(),
            r#"{"key":"a","deleted":true}"#
        );
        assert_eq!(run(&holding, "list", "{}").unwrap(), "[]");
    }

    #[test]
    fn what_a_value_was_is_listed_and_comes_back() {
        let holding = InstanceHandle::Kv(values(Arc::new(FakeValues::default())));
        for value in ["1", "2", "3"] {
            run(
                &holding,
                "set",
                &format!(r#"{{"key":"a","value":"{value}"}}"#),
            )
            .unwrap();
        }
        let undone = run(&holding, "undo", "{}").unwrap();
        let undo = &undone[14..26];
        assert!(
            run(&holding, "get", r#"{"key":"a"}"#)
                .unwrap()
                .starts_with(r#"{"key":"a","value":"2","#)
        );
        let listed = run(&holding, "operations", "{}").unwrap();
        assert!(
            listed.contains(&format!(r#""verb":"set","key":"a","undone_by":"{undo}"}}"#)),
            "{listed}"
        );
        run(&holding, "set", r#"{"key":"a","value":"4"}"#).unwrap();
        let refused = run(&holding, "undo", &format!(r#"{{"operation":"{undo}"}}"#)).unwrap_err();
        assert_eq!(
            refused,
            format!("{undo} cannot be undone: the key a was changed afterwards")
        );
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let holding = InstanceHandle::Kv(values(Arc::new(FakeValues::default())));
        for (action, parameters, why) in [
            ("set", r#"{"key":"a"}"#, "the field value is missing"),
            (
                "set",
                r#"{"key":"a","value":"\ud800"}"#,
                "the field value is not a valid text",
            ),
            ("get", r#"{"key":"a"}"#, "the key a is not set"),
            (
                "get",
                r#"{"key":"a/../b"}"#,
                "\"a/../b\" is not a valid key: it has a part that is . or ..",
            ),
            ("get", r#"{"key":7}"#, "key: 7 is not of type \"string\""),
            (
                "list",
                r#"{"prefix":"../"}"#,
                "\"..\" is not a valid key: it has a part that is . or ..",
            ),
        ] {
            assert_eq!(
                run(&holding, action, parameters).unwrap_err(),
                why,
                "{parameters}"
            );
        }
    }
}
