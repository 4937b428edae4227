//! Redaction within JSON.

use super::checked::named_text;
use super::{find, redact};
use crate::json::{JsonText, JsonTokenKind, JsonTokens, unescape_strings, unquote};

/// A JSON text with redacted credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RedactedJson {
    /// The text; `None` if a credential is not within a string.
    pub(crate) json: Option<JsonText>,
    /// The redacted kinds, in order of occurrence.
    pub(crate) kinds: Vec<&'static str>,
}

/// Returns `json` with redacted credentials in its strings, or `None` if it contains no credentials.
pub(crate) fn redact_json(json: &JsonText) -> Option<RedactedJson> {
    redact_within(json, MAX_NESTED)
}

/// Maximum number of levels of JSON within strings, as in the arguments of a tool call.
const MAX_NESTED: usize = 3;

fn redact_within(json: &JsonText, levels: usize) -> Option<RedactedJson> {
    let text = json.as_str();
    let (mut redacted, mut kinds, mut end) = (String::with_capacity(text.len()), Vec::new(), 0);
    let mut key = None;
    for token in JsonTokens::of(text).map_while(Result::ok) {
        let name = key.take();
        let raw = &text[token.range.clone()];
        // Half of a character outside the basic plane has no text.
        let said = unquote(raw).unwrap_or_else(|| blank_escapes(raw).into());
        match token.kind {
            JsonTokenKind::Key => key = Some(said),
            JsonTokenKind::String => {
                let Some((replacement, found)) = redact_string(name.as_deref(), &said, levels)
                else {
                    continue;
                };
                redacted.push_str(&text[end..token.range.start]);
                redacted.push_str(JsonText::string(&replacement).as_str());
                kinds.extend(found);
                end = token.range.end;
            }
            _ => {}
        }
    }
    redacted.push_str(&text[end..]);
    let rest = find(&unescape_strings(&redacted));
    kinds.extend(rest.iter().map(|secret| secret.kind));
    let json = redacted.parse().ok().filter(|_| rest.is_empty());
    (!kinds.is_empty()).then_some(RedactedJson { json, kinds })
}

/// Returns a string in its JSON form with a space in place of each escaped character.
fn blank_escapes(raw: &str) -> String {
    let mut parts = raw.split("\\u");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push(' ');
        text.push_str(part.get(4..).unwrap_or_default());
    }
    text
}

/// Returns a redacted string and the kinds, if it contains credentials, or is one under the name of its key.
fn redact_string(
    name: Option<&str>,
    text: &str,
    levels: usize,
) -> Option<(String, Vec<&'static str>)> {
    let is_json =
        0 < levels && text.contains('\\') && text.trim_start().starts_with(['{', '[', '"']);
    let inner = is_json.then(|| text.parse::<JsonText>().ok()).flatten();
    if let Some(RedactedJson { json, kinds }) =
        inner.and_then(|json| redact_within(&json, levels - 1))
    {
        let text = json.map_or_else(|| "[redacted]".to_owned(), JsonText::into_string);
        return Some((text, kinds));
    }
    if let Some(redacted) = redact(text) {
        return Some((redacted.text, redacted.kinds));
    }
    let secret = find(&named_text(name?, text)).into_iter().next()?;
    Some((format!("[redacted: {}]", secret.kind), vec![secret.kind]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_in_json_are_redacted_and_the_rest_is_unchanged() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        let password = ["tR7x", "Qz9m", "Lk2v", "Bn4w"].concat();
        let redacted = |json: &str| {
            let found = redact_json(&json.parse().unwrap())?;
            Some(found.json.map(|json| json.to_string()))
        };
        assert_eq!(redacted(r#"{"a":[1.0,"b"]}"#), None);
        assert_eq!(
            redacted(&format!(r#"[1e1000,{{"text":"use {token}\n"}},"\u00e4"]"#)),
            Some(Some(
                r#"[1e1000,{"text":"use [redacted: GitHub token]\n"},"\u00e4"]"#.into()
            ))
        );
        assert_eq!(
            redacted(&format!(r#"{{"db_password":"{password}","n":1}}"#)),
            Some(Some(
                r#"{"db_password":"[redacted: password]","n":1}"#.into()
            ))
        );
        assert_eq!(redacted(&format!(r#"{{"{token}":1}}"#)), Some(None));
        // The arguments of a tool call are JSON in a string.
        let escaped = format!(r#""{{\"command\":\"export T\\u003d{token} x\"}}""#);
        assert_eq!(
            redacted(&escaped),
            Some(Some(
                r#""{\"command\":\"export T=[redacted: GitHub token] x\"}""#.into()
            ))
        );
        let half = format!(r#""\ud83d{token}""#);
        assert_eq!(
            redacted(&half).map(|json| json.is_some_and(|json| json.contains(&token))),
            Some(false)
        );
    }
}
