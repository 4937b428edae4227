//! The `history` backend: messages of sessions.

use std::ops::Bound;

use chrono::{DateTime, Utc};
use memory_core::Effect;
use memory_core::instance::history::{
    RecordDraft, RecordFilter, RecordRole, SessionName, Window, WindowEnd, append, delete, purge,
    records, sessions,
};
use memory_core::instance::{InstanceError, parse_duration, parse_time};
use memory_core::json::JsonText;
use serde_json::{Value, json};

use super::action::ActionHandler;
use super::field::driver_fields;
use super::{Action, ActionResult, Backend, Parameters, operations};
use crate::json::quoted_time;
use crate::validation::object_schema;

/// Returns the backend.
pub(super) fn backend() -> Backend {
    Backend {
        name: "history",
        description: "Records of sessions, in order: messages, tool calls and results, summaries, facts",
        fields: driver_fields(
            "Where sessions are stored",
            "The folder of the files, one per session",
        )
        .to_vec(),
        actions: vec![
            append_action(),
            read_action(),
            sessions_action(),
            delete_action(),
            purge_action(),
            operations_action(),
            undo_action(),
        ],
    }
}

fn session_property() -> Value {
    json!({ "type": "string", "minLength": 1, "description": "The session" })
}

fn word_list(description: &str) -> Value {
    json!({ "type": ["array", "string"], "items": { "type": "string" }, "description": description })
}

fn append_action() -> Action {
    let call = json!({
        "type": "object",
        "properties": { "id": { "type": "string" }, "name": { "type": "string" }, "arguments": { "type": ["string", "object"] } },
        "required": ["id", "name"]
    });
    let properties = json!({
        "session": session_property(),
        "role": { "type": "string", "minLength": 1, "description": "user, assistant, system, tool, summary, fact, or another word" },
        "content": { "type": ["string", "array"], "description": "The content of the record" },
        "tool_calls": { "type": "array", "items": call, "description": "The tool calls: [{id, name, arguments}]" },
        "tool_call_id": { "type": "string", "description": "The id of the tool call that this record is the result of" },
        "name": { "type": "string", "description": "The tool that ran" },
        "meta": { "type": "object", "description": "Additional metadata" },
        "ts": { "type": "string", "description": "The time of the record; default: now" },
        "allow_secret": { "type": "boolean", "description": "Store the record even if it looks like a credential" }
    });
    Action {
        name: "append",
        description: "Append one record to a session",
        parameters: object_schema(&properties, &["session", "role"]),
        effect: Effect::Adds,
        run: ActionHandler::Own(|holding, given| {
            let messages = holding.history();
            let now = messages.clock.now();
            let draft = RecordDraft {
                role: given.required("role")?.parse()?,
                content: given.json("content").cloned(),
                tool_calls: given.json("tool_calls").cloned(),
                tool_call_id: given.text("tool_call_id"),
                name: given.text("name"),
                meta: given.json("meta").cloned(),
                at: given
                    .text("ts")
                    .map(|text| parse_time(&text, now))
                    .transpose()?,
            };
            let (record, appended) =
                append(messages, &parse_session(given)?, &draft, given.secrets())?;
            let told = |place| format!("the last record was incomplete; it was moved to {place}");
            let warnings = appended.set_aside.map(told).into_iter().collect();
            Ok(ActionResult {
                warnings,
                ..ActionResult::of(record.text().to_string())
            })
        }),
    }
}

fn read_action() -> Action {
    let properties = json!({
        "session": session_property(),
        "role": word_list("Only records with these roles"),
        "not_role": word_list("Only records without these roles; short form: role!=WORD"),
        "since": { "type": "string", "description": "Only records at or after this time: a time, a day, or an age such as 24h" },
        "until": { "type": "string", "description": "Only records at or before this time" },
        "offset": { "type": "integer", "minimum": 0, "description": "Number of records to skip" },
        "limit": { "type": "integer", "minimum": 0, "description": "Maximum number of records" },
        "tail": { "type": "boolean", "description": "Return the last records instead of the first if there are more than the limit" }
    });
    Action {
        name: "read",
        description: "Return the records of a session, oldest first",
        parameters: object_schema(&properties, &["session"]),
        effect: Effect::Reads,
        run: ActionHandler::Own(|holding, given| {
            let messages = holding.history();
            let now = messages.clock.now();
            let bound = |name: &str| match given.text(name) {
                Some(text) => parse_time(&text, now).map(Bound::Included),
                None => Ok(Bound::Unbounded),
            };
            let filter = RecordFilter {
                from: bound("since")?,
                to: bound("until")?,
                ..parse_roles(given)?
            };
            let end = if given.is_true("tail") {
                WindowEnd::Last
            } else {
                WindowEnd::First
            };
            let window = Window {
                offset: given.count("offset").unwrap_or(0),
                limit: given.count("limit"),
                end,
            };
            ActionResult::from_records(records(messages, &parse_session(given)?, &filter, window)?)
        }),
    }
}

fn sessions_action() -> Action {
    Action {
        name: "sessions",
        description: "List the sessions of the instance",
        parameters: object_schema(&json!({}), &[]),
        effect: Effect::Reads,
        run: ActionHandler::Own(|holding, _| {
            let one = |summary: &memory_core::instance::history::SessionSummary| {
                let last = summary
                    .last_at
                    .map_or_else(|| "null".to_owned(), quoted_time);
                let (session, records) =
                    (JsonText::string(summary.session.as_str()), summary.records);
                format!(r#"{{"session":{session},"records":{records},"last_ts":{last}}}"#)
            };
            let listed: Vec<_> = sessions(holding.history())?.iter().map(one).collect();
            Ok(ActionResult::of(format!("[{}]", listed.join(","))))
        }),
    }
}

fn delete_action() -> Action {
    Action {
        name: "delete",
        description: "Remove a whole session",
        parameters: object_schema(&json!({ "session": session_property() }), &["session"]),
        effect: Effect::Changes,
        run: ActionHandler::Own(|holding, given| {
            let session = parse_session(given)?;
            let records = delete(holding.history(), &session)?;
            Ok(ActionResult::of(format!(
                r#"{{"session":{},"deleted":{records}}}"#,
                JsonText::string(session.as_str())
            )))
        }),
    }
}

fn purge_action() -> Action {
    let properties = json!({
        "session": session_property(),
        "role": word_list("Records with these roles"),
        "not_role": word_list("Records without these roles; short form: role!=WORD"),
        "before": { "type": "string", "description": "Records before this time: a time, a day, or an age such as 24h" },
        "after": { "type": "string", "description": "Records after this time" },
        "older_than": { "type": "string", "description": "Records older than this age, such as 30d" }
    });
    Action {
        name: "purge",
        description: "Purge the records of a session that match all given filters; at least one filter is required",
        parameters: object_schema(&properties, &["session"]),
        effect: Effect::Changes,
        run: ActionHandler::Own(|holding, given| {
            let messages = holding.history();
            let now = messages.clock.now();
            let time = |name: &str| {
                given
                    .text(name)
                    .map(|text| parse_time(&text, now))
                    .transpose()
            };
            let old = given
                .text("older_than")
                .map(|text| parse_duration(&text).and_then(|_| parse_time(&text, now)))
                .transpose()?;
            let to = time("before")?.into_iter().chain(old).min();
            let excluded =
                |bound: Option<DateTime<Utc>>| bound.map_or(Bound::Unbounded, Bound::Excluded);
            let filter = RecordFilter {
                from: excluded(time("after")?),
                to: excluded(to),
                ..parse_roles(given)?
            };
            let session = parse_session(given)?;
            let done = purge(messages, &session, &filter)?;
            let name = JsonText::string(session.as_str());
            Ok(ActionResult::of(format!(
                r#"{{"session":{name},"purged":{},"kept":{}}}"#,
                done.purged, done.kept
            )))
        }),
    }
}

fn operations_action() -> Action {
    operations::operations_action("List the delete, purge and undo operations, newest first")
}

fn undo_action() -> Action {
    operations::undo_action(
        "Undo a delete or purge, by default the last one; records appended since then stay",
    )
}

fn parse_session(given: &Parameters) -> Result<SessionName, InstanceError> {
    given.required("session")?.parse()
}

fn parse_roles(given: &Parameters) -> Result<RecordFilter, InstanceError> {
    let roles = |name: &str| {
        given
            .words(name)
            .iter()
            .map(|word| word.parse())
            .collect::<Result<Vec<RecordRole>, _>>()
    };
    Ok(RecordFilter {
        roles: roles("role")?,
        not_roles: roles("not_role")?,
        ..RecordFilter::default()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use memory_core::testing::{FakeMessages, messages};

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
    fn every_filter_of_a_purge_counts_and_none_is_refused() {
        let (all, clock) = messages(Arc::new(FakeMessages::default()));
        let holding = InstanceHandle::History(all);
        for (role, content) in [("user", "1"), ("tool", "2"), ("summary", "3")] {
            run(
                &holding,
                "append",
                &format!(r#"{{"session":"s","role":"{role}","content":"{content}"}}"#),
            )
            .unwrap();
            clock.advance(chrono::TimeDelta::days(10));
        }
        assert_eq!(
            run(&holding, "purge", r#"{"session":"s"}"#).unwrap_err(),
            "the purge has no filter"
        );
        assert_eq!(
            run(&holding, "purge", r#"{"session":"s","role":[]}"#).unwrap_err(),
            "the purge has no filter"
        );
        let purged = |filter: &str| {
            run(&holding, "purge", &format!(r#"{{"session":"s",{filter}}}"#)).unwrap()
        };
        assert_eq!(
            purged(r#""role":"tool","older_than":"21d""#),
            r#"{"session":"s","purged":0,"kept":3}"#
        );
        assert_eq!(
            purged(r#""role":"tool","older_than":"20d""#),
            r#"{"session":"s","purged":1,"kept":2}"#
        );
        assert_eq!(
            purged(r#""not_role":["summary"],"before":"2026-05-07T10:00:00Z""#),
            r#"{"session":"s","purged":0,"kept":2}"#
        );
        assert_eq!(
            purged(r#""after":"2026-05-08","before":"2026-05-09""#),
            r#"{"session":"s","purged":0,"kept":2}"#
        );
        assert_eq!(
            purged(r#""before":"2026-05-08","older_than":"1d""#),
            r#"{"session":"s","purged":1,"kept":1}"#
        );
    }

    #[test]
    fn what_was_removed_is_listed_and_comes_back() {
        let holding = InstanceHandle::History(messages(Arc::new(FakeMessages::default())).0);
        for content in ["1", "2"] {
            run(
                &holding,
                "append",
                &format!(r#"{{"session":"s","role":"user","content":"{content}"}}"#),
            )
            .unwrap();
        }
        run(&holding, "delete", r#"{"session":"s"}"#).unwrap();
        let undone = run(&holding, "undo", "{}").unwrap();
        insta::assert_snapshot!(undone, @r#"{"operation":"dde6e5fd29f0","undone":{"operation":"a66d2c7ddf74","at":"2026-05-07T10:00:04Z","verb":"delete","session":"s","records":2}}"#);
        assert!(
            run(&holding, "operations", r#"{"limit":1}"#)
                .unwrap()
                .contains(r#""verb":"undo""#)
        );
        assert_eq!(
            run(&holding, "undo", "{}").unwrap_err(),
            "there is no operation to undo"
        );
        run(
            &holding,
            "undo",
            &format!(r#"{{"operation":"{}"}}"#, &undone[14..20]),
        )
        .unwrap();
        assert_eq!(run(&holding, "sessions", "{}").unwrap(), "[]");
    }

    #[test]
    fn what_does_not_fit_the_schema_is_named() {
        let holding = InstanceHandle::History(messages(Arc::new(FakeMessages::default())).0);
        for (action, parameters, why) in [
            (
                "append",
                r#"{"role":"user","content":"1"}"#,
                "the field session is missing",
            ),
            (
                "append",
                r#"{"session":"s","role":"user","content":1}"#,
                "content: 1 is not of types \"string\", \"array\"",
            ),
            (
                "append",
                r#"{"session":"s","role":"user","tool_calls":[{"id":"a"}]}"#,
                "tool_calls.0: the field name is missing",
            ),
            (
                "append",
                r#"{"session":"s","role":"user"}"#,
                "the record is empty",
            ),
            (
                "read",
                r#"{"session":"s","limits":1}"#,
                "unknown field limits, did you mean limit?",
            ),
            (
                "read",
                r#"{"session":"s","limit":-1}"#,
                "limit: -1 is less than the minimum of 0",
            ),
            (
                "read",
                r#"{"session":"s","since":"soon"}"#,
                "\"soon\" is not a time",
            ),
            (
                "read",
                r#"{"session":"s\u0000"}"#,
                "the session \"s\" contains a control character",
            ),
            (
                "purge",
                r#"{"session":"s","older_than":"old"}"#,
                "\"old\" is not a duration",
            ),
            ("read", "[]", "[] is not of type \"object\""),
            ("burn", "{}", "history has no action burn"),
        ] {
            assert_eq!(
                run(&holding, action, parameters).unwrap_err(),
                why,
                "{parameters}"
            );
        }
    }
}
