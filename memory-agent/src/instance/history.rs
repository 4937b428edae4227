//! The `history` backend: messages of sessions.

use std::ops::Bound;

use chrono::{DateTime, Utc};
use memory_core::instance::history::{
    Messages, RecordDraft, RecordFilter, SessionName, Window, WindowEnd, append, delete, purge,
    records, sessions,
};
use memory_core::instance::{InstanceError, parse_duration, parse_time};
use memory_core::json::JsonText;
use memory_core::{Effect, LocalZone, SecretPolicy};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::field::driver_fields;
use super::parameters::WordList;
use super::{Action, ActionResult, Backend, operations};
use crate::json::quoted_time;
use crate::parameters::any_json;

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

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AppendInput {
    /// The session
    #[schemars(length(min = 1))]
    session: String,
    /// user, assistant, system, tool, summary, fact, or another word
    #[schemars(length(min = 1))]
    role: String,
    /// The content of the record
    #[serde(default, deserialize_with = "any_json")]
    #[schemars(schema_with = "content_schema")]
    content: Option<JsonText>,
    /// The tool calls: [{id, name, arguments}]
    #[serde(default, deserialize_with = "any_json")]
    #[schemars(schema_with = "tool_calls_schema")]
    tool_calls: Option<JsonText>,
    /// The id of the tool call that this record is the result of
    tool_call_id: Option<String>,
    /// The tool that ran
    name: Option<String>,
    /// Additional metadata
    #[serde(default, deserialize_with = "any_json")]
    #[schemars(with = "Option<Map<String, Value>>")]
    meta: Option<JsonText>,
    /// The time of the record; default: now
    ts: Option<String>,
    /// Store credentials in the record as they are, instead of redacted
    #[serde(default)]
    allow_secret: bool,
}

fn content_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "array", "null"] })
}

fn tool_calls_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "id": { "type": "string" },
                "name": { "type": "string" },
                "arguments": { "type": ["string", "object"] }
            },
            "required": ["id", "name"]
        }
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordsInput {
    /// The session
    #[schemars(length(min = 1))]
    session: String,
    /// Only records with these roles
    #[serde(default)]
    #[schemars(schema_with = "WordList::schema")]
    role: WordList,
    /// Only records without these roles; short form: role!=WORD
    #[serde(default)]
    #[schemars(schema_with = "WordList::schema")]
    not_role: WordList,
    /// Only records at or after this time: a time, a day, or an age such as 24h
    since: Option<String>,
    /// Only records at or before this time
    until: Option<String>,
    /// Number of records to skip
    offset: Option<usize>,
    /// Maximum number of records
    limit: Option<usize>,
    /// Return the last records instead of the first if there are more than the limit
    #[serde(default)]
    tail: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SessionsInput {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteInput {
    /// The session
    #[schemars(length(min = 1))]
    session: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PurgeInput {
    /// The session
    #[schemars(length(min = 1))]
    session: String,
    /// Records with these roles
    #[serde(default)]
    #[schemars(schema_with = "WordList::schema")]
    role: WordList,
    /// Records without these roles; short form: role!=WORD
    #[serde(default)]
    #[schemars(schema_with = "WordList::schema")]
    not_role: WordList,
    /// Records before this time: a time, a day, or an age such as 24h
    before: Option<String>,
    /// Records after this time
    after: Option<String>,
    /// Records older than this age, such as 30d
    older_than: Option<String>,
}

fn append_action() -> Action {
    let description = "Append one record to a session";
    Action::own(
        "append",
        description,
        Effect::Adds,
        |holding, given: AppendInput| {
            let messages = holding.history();
            let session: SessionName = given.session.parse()?;
            let draft = RecordDraft {
                role: given.role.parse()?,
                content: given.content.filter(|content| *content != JsonText::null()),
                tool_calls: given.tool_calls,
                tool_call_id: given.tool_call_id,
                name: given.name,
                meta: given.meta,
                at: parse_given(given.ts.as_deref(), &local_now(messages))?,
            };
            let policy = SecretPolicy::allowing(given.allow_secret);
            let appended = append(messages, &session, &draft, policy)?;
            let moved = |place| format!("the last record was incomplete; it was moved to {place}");
            let redacted = appended.redacted.join(", ");
            let redacted =
                (!redacted.is_empty()).then(|| format!("a credential was redacted ({redacted})"));
            Ok(ActionResult {
                warnings: appended
                    .set_aside
                    .map(moved)
                    .into_iter()
                    .chain(redacted)
                    .collect(),
                ..ActionResult::of(appended.record.text().to_string())
            })
        },
    )
}

fn read_action() -> Action {
    let description = "Return the records of a session, oldest first";
    Action::own(
        "read",
        description,
        Effect::Reads,
        |holding, given: RecordsInput| {
            let messages = holding.history();
            let bound = |text: Option<String>| {
                parse_given(text.as_deref(), &local_now(messages))
                    .map(|bound| bound.map_or(Bound::Unbounded, Bound::Included))
            };
            let filter = RecordFilter {
                from: bound(given.since)?,
                to: bound(given.until)?,
                roles: given.role.parse()?,
                not_roles: given.not_role.parse()?,
            };
            let window = Window {
                offset: given.offset.unwrap_or(0),
                limit: given.limit,
                end: if given.tail {
                    WindowEnd::Last
                } else {
                    WindowEnd::First
                },
            };
            let session: SessionName = given.session.parse()?;
            ActionResult::from_records(records(messages, &session, &filter, window)?)
        },
    )
}

fn sessions_action() -> Action {
    let description = "List the sessions of the instance";
    Action::own(
        "sessions",
        description,
        Effect::Reads,
        |holding, _: SessionsInput| {
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
        },
    )
}

fn delete_action() -> Action {
    let description = "Remove a whole session";
    Action::own(
        "delete",
        description,
        Effect::Changes,
        |holding, given: DeleteInput| {
            let session: SessionName = given.session.parse()?;
            let records = delete(holding.history(), &session)?;
            Ok(ActionResult::of(format!(
                r#"{{"session":{},"deleted":{records}}}"#,
                JsonText::string(session.as_str())
            )))
        },
    )
}

fn purge_action() -> Action {
    let description = "Purge the records of a session that match all given filters; at least one filter is required";
    Action::own(
        "purge",
        description,
        Effect::Changes,
        |holding, given: PurgeInput| {
            let messages = holding.history();
            let now = local_now(messages);
            let old = given
                .older_than
                .map(|text| parse_duration(&text).and_then(|_| parse_time(&text, &now)))
                .transpose()?;
            let before = parse_given(given.before.as_deref(), &now)?;
            let excluded =
                |bound: Option<DateTime<Utc>>| bound.map_or(Bound::Unbounded, Bound::Excluded);
            let filter = RecordFilter {
                from: excluded(parse_given(given.after.as_deref(), &now)?),
                to: excluded(before.into_iter().chain(old).min()),
                roles: given.role.parse()?,
                not_roles: given.not_role.parse()?,
            };
            let session: SessionName = given.session.parse()?;
            let done = purge(messages, &session, &filter)?;
            let name = JsonText::string(session.as_str());
            Ok(ActionResult::of(format!(
                r#"{{"session":{name},"purged":{},"kept":{}}}"#,
                done.purged, done.kept
            )))
        },
    )
}

fn operations_action() -> Action {
    operations::operations_action("List the delete, purge and undo operations, newest first")
}

fn undo_action() -> Action {
    operations::undo_action(
        "Undo a delete or purge, by default the last one; records appended since then stay",
    )
}

fn local_now(messages: &Messages) -> DateTime<LocalZone> {
    messages.clock.now().with_timezone(&messages.clock.zone())
}

fn parse_given(
    text: Option<&str>,
    now: &DateTime<LocalZone>,
) -> Result<Option<DateTime<Utc>>, InstanceError> {
    text.map(|text| parse_time(text, now)).transpose()
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
                "content: 1 is not of types \"string\", \"array\", \"null\"",
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
