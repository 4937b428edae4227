//! A record: one message of a session, with the role of its author, and the names of sessions.

use std::str::FromStr;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::Value;

use crate::instance::InstanceError;
use crate::json::{JsonText, JsonTokenKind, JsonTokens};
use crate::{parse_rfc3339, secret};

/// Maximum size of a record in bytes.
pub const MAX_RECORD: usize = 8 * 1024 * 1024;

/// One message: a JSON object in its original text, which preserves numbers and unrecognised keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    text: JsonText,
    role: RecordRole,
    at: Option<DateTime<Utc>>,
}

/// The fields of a new record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordDraft {
    /// The role of the author.
    pub role: RecordRole,
    /// The content: a string or an array of parts.
    pub content: Option<JsonText>,
    /// The tool calls, as an array of `{id, name, arguments}`.
    pub tool_calls: Option<JsonText>,
    /// The id of the call that this is the result of.
    pub tool_call_id: Option<String>,
    /// The name of the tool, or of the author among several with the same role.
    pub name: Option<String>,
    /// Additional metadata, as an object.
    pub meta: Option<JsonText>,
    /// The time of the message; the current time if `None`.
    pub at: Option<DateTime<Utc>>,
}

impl RecordDraft {
    /// Creates a draft of a text message by `role`.
    pub fn from_text(role: RecordRole, content: &str) -> Self {
        let content = Some(JsonText::string(content));
        Self {
            role,
            content,
            tool_calls: None,
            tool_call_id: None,
            name: None,
            meta: None,
            at: None,
        }
    }

    /// Redacts credentials, and returns their kinds without duplicates.
    ///
    /// Where a credential is not within a string, the tool calls or the metadata are left out.
    pub fn redact(&mut self) -> Vec<&'static str> {
        let mut kinds = Vec::new();
        for text in [&mut self.tool_call_id, &mut self.name]
            .into_iter()
            .flatten()
        {
            if let Some(redacted) = secret::redact(text) {
                *text = redacted.text;
                kinds.extend(redacted.kinds);
            }
        }
        for part in [&mut self.content, &mut self.tool_calls, &mut self.meta] {
            if let Some(redacted) = part.as_ref().and_then(secret::redact_json) {
                *part = redacted.json;
                kinds.extend(redacted.kinds);
            }
        }
        if !kinds.is_empty() && self.content.is_none() && self.tool_calls.is_none() {
            self.content = Some(JsonText::string("[redacted]"));
        }
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}

impl SessionRecord {
    /// Creates a record from `draft`, with the time `now` if the draft has no time.
    ///
    /// # Errors
    /// [`InstanceError::Invalid`] without content and tool calls; [`InstanceError::TooLarge`] beyond [`MAX_RECORD`].
    pub fn new(draft: &RecordDraft, now: DateTime<Utc>) -> Result<Self, InstanceError> {
        Self::with_time(draft, Some(draft.at.unwrap_or(now)))
    }

    /// Creates a record from `draft`, without a time if the draft has none.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn imported(draft: &RecordDraft) -> Result<Self, InstanceError> {
        Self::with_time(draft, draft.at)
    }

    fn with_time(draft: &RecordDraft, at: Option<DateTime<Utc>>) -> Result<Self, InstanceError> {
        if draft.content.is_none() && draft.tool_calls.is_none() {
            let hint = "a record has content, tool_calls or both";
            return Err(InstanceError::invalid("the record is empty", hint));
        }
        let string = |text: &str| JsonText::string(text);
        let time = at.map(|at| {
            format!(
                r#""ts":{},"#,
                string(&at.to_rfc3339_opts(SecondsFormat::AutoSi, true))
            )
        });
        let mut text = format!(
            r#"{{{}"role":{}"#,
            time.unwrap_or_default(),
            string(draft.role.as_str())
        );
        let mut put = |name: &str, value: Option<JsonText>| {
            if let Some(value) = value {
                text.extend([",\"", name, "\":", value.as_str()]);
            }
        };
        put("content", draft.content.clone());
        put("tool_calls", draft.tool_calls.clone());
        put("tool_call_id", draft.tool_call_id.as_deref().map(string));
        put("name", draft.name.as_deref().map(string));
        put("meta", draft.meta.clone());
        text.push('}');
        if MAX_RECORD < text.len() {
            let what = format!(
                "the record has {} bytes; the maximum is {MAX_RECORD}",
                text.len()
            );
            return Err(InstanceError::TooLarge { what });
        }
        let text = text.parse().map_err(|source| InstanceError::InvalidJson {
            what: "the record".into(),
            source,
        })?;
        Ok(Self {
            text,
            role: draft.role.clone(),
            at,
        })
    }

    /// Parses a stored record, which may have been written by another program.
    ///
    /// # Errors
    /// The defect, as a sentence fragment.
    pub fn parse(line: &str) -> Result<Self, String> {
        let text: JsonText = line
            .parse()
            .map_err(|error: crate::json::JsonError| error.to_string())?;
        let (mut role, mut at, mut key) = (None, None, None);
        for token in JsonTokens::of(text.as_str())
            .map_while(Result::ok)
            .filter(|token| token.depth == 1)
        {
            let part = &text.as_str()[token.range];
            match (token.kind, key.take()) {
                (JsonTokenKind::Key, _) => key = Some(part),
                (JsonTokenKind::String, Some(r#""role""#)) => role = crate::json::unquote(part),
                (JsonTokenKind::String, Some(r#""ts""#)) => at = crate::json::unquote(part),
                _ => {}
            }
        }
        let role = role
            .ok_or("it is not an object with a role")?
            .parse()
            .map_err(|error: InstanceError| error.to_string())?;
        let at = at.and_then(|at| parse_rfc3339(&at));
        Ok(Self { text, role, at })
    }

    /// Returns the record as JSON on one line.
    pub fn text(&self) -> &JsonText {
        &self.text
    }

    /// Returns the role of the author.
    pub fn role(&self) -> &RecordRole {
        &self.role
    }

    /// Returns the text of the content: the string, or the texts of its parts in one line each; empty without a text.
    pub fn content_text(&self) -> String {
        let part_text = |part: &Value| match part {
            Value::String(text) => Some(text.clone()),
            part => part.get("text")?.as_str().map(str::to_owned),
        };
        let members = self.text.members().unwrap_or_default();
        let content = members.into_iter().find(|(key, _)| key == "content");
        // Only the content is parsed: other members may be nested deeper than a parser goes.
        match content.map(|(_, content)| serde_json::from_str(content.as_str())) {
            Some(Ok(Value::String(text))) => text,
            Some(Ok(Value::Array(parts))) => {
                let texts: Vec<_> = parts.iter().filter_map(part_text).collect();
                texts.join("\n")
            }
            _ => String::new(),
        }
    }

    /// Returns the time of the message, if the record has one.
    pub fn at(&self) -> Option<DateTime<Utc>> {
        self.at
    }
}

/// A role: `user`, `assistant`, `system`, `tool`, `summary`, `fact`, or any other word.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordRole(String);

impl RecordRole {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = 64;
}

impl_text_type!(RecordRole);

impl FromStr for RecordRole {
    type Err = InstanceError;

    fn from_str(text: &str) -> Result<Self, InstanceError> {
        let why = if text.is_empty() {
            "is empty"
        } else if Self::MAX_LENGTH < text.chars().count() {
            "is longer than 64 characters"
        } else if text.contains(|own: char| own.is_control() || own == ',') {
            "contains a comma or a control character"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(InstanceError::invalid_name("the role", text, why))
    }
}

/// The name of a session: 1 to 200 characters, none of them a control character.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionName(String);

impl SessionName {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = 200;
}

impl_text_type!(SessionName);

impl FromStr for SessionName {
    type Err = InstanceError;

    fn from_str(text: &str) -> Result<Self, InstanceError> {
        let why = if text.is_empty() {
            "is empty"
        } else if Self::MAX_LENGTH < text.chars().count() {
            "is longer than 200 characters"
        } else if text.chars().any(char::is_control) {
            "contains a control character"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(InstanceError::invalid_name("the session", text, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(role: &str, content: &str) -> RecordDraft {
        RecordDraft::from_text(role.parse().unwrap(), content)
    }

    #[test]
    fn what_is_kept_is_read_with_every_digit() {
        let now = DateTime::from_timestamp(1_000_000_000, 500_000_000).unwrap();
        let whole = RecordDraft {
            tool_calls: Some(
                r#"[{"id":"call_42","name":"sum","arguments":"{\"n\":1e1000}"}]"#
                    .parse()
                    .unwrap(),
            ),
            tool_call_id: Some("call_41".into()),
            name: Some("Ännchen\n".into()),
            meta: Some(r#"{"from":"0","n":100000000000000000001}"#.parse().unwrap()),
            ..draft("assistant", "深色\u{2028}\"")
        };
        let record = SessionRecord::new(&whole, now).unwrap();
        assert_eq!(
            record.text().as_str(),
            "{\"ts\":\"2001-09-09T01:46:40.500Z\",\"role\":\"assistant\",\"content\":\"深色\u{2028}\\\"\",\"tool_calls\":[{\"id\":\"call_42\",\
             \"name\":\"sum\",\"arguments\":\"{\\\"n\\\":1e1000}\"}],\"tool_call_id\":\"call_41\",\"name\":\"Ännchen\\n\",\
             \"meta\":{\"from\":\"0\",\"n\":100000000000000000001}}"
        );
        assert_eq!(
            SessionRecord::parse(record.text().as_str()).unwrap(),
            record
        );
    }

    #[test]
    fn a_record_that_says_nothing_or_too_much_is_refused() {
        let now = DateTime::UNIX_EPOCH;
        let nothing = RecordDraft {
            content: None,
            ..draft("user", "")
        };
        assert_eq!(
            SessionRecord::new(&nothing, now).unwrap_err().code(),
            crate::Code::InvalidInput
        );
        let large = draft("user", &"x".repeat(MAX_RECORD));
        assert_eq!(
            SessionRecord::new(&large, now).unwrap_err().code(),
            crate::Code::LimitExceeded
        );
        assert!(SessionRecord::new(&draft("user", &"x".repeat(1_000_000)), now).is_ok());
    }

    #[test]
    fn a_record_of_others_may_hold_more_or_less_than_ours() {
        let record = SessionRecord::parse(
            r#"{ "role": "user", "ts": "yesterday", "inner": {"role": "tool"}, "content": "hi", "x": 1.0 }"#,
        )
        .unwrap();
        assert_eq!((record.role().as_str(), record.at()), ("user", None));
        assert!(record.text().as_str().ends_with(r#""x":1.0}"#));
        for line in [
            "",
            "{",
            "7",
            "[]",
            r#"{"content":"hi"}"#,
            r#"{"role":7}"#,
            r#"{"role":""}"#,
            r#"["role","user"]"#,
        ] {
            assert!(SessionRecord::parse(line).is_err(), "{line}");
        }
    }
}
