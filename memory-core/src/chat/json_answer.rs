//! Extracts JSON from the response of a language model.

use std::str::CharIndices;

use serde_json::Value;

/// The maximum size of a response, in bytes.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// The error for a response without usable JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
#[non_exhaustive]
pub struct JsonAnswerError {
    /// The reason, as a statement about the response.
    pub why: String,
}

/// Returns the single JSON object or list in the response of a language model.
///
/// Surrounding prose, code fences and reasoning in `<think>` tags at the start are removed. If fenced blocks contain JSON, only those
/// count. A trailing comma is removed, because it has only one interpretation.
///
/// Ambiguous responses are refused: truncated ones, invalid JSON, objects with duplicate keys, and responses with several different values.
/// Responses of more than 1 MiB or with more than 32 levels are refused as well. The run time is linear in the length of the text.
///
/// # Errors
/// The reason why the response is refused.
///
/// # Examples
/// ```
/// let answer = "Sure! Here it is:\n```json\n{\"category\": \"people\",}\n```\nAnything else?";
/// assert_eq!(memory_core::parse_json_answer(answer)?["category"], "people");
/// assert!(memory_core::parse_json_answer(r#"{"category": "peop"#).is_err());
/// # Ok::<(), memory_core::JsonAnswerError>(())
/// ```
pub fn parse_json_answer(text: &str) -> Result<Value, JsonAnswerError> {
    if MAX_ANSWER_BYTES < text.len() {
        return Err(answer_error(format!(
            "it has {} bytes, more than the limit for JSON",
            text.len()
        )));
    }
    let said = strip_reasoning(text)?;
    let mut fenced = Vec::new();
    for block in fenced_blocks(said) {
        fenced.extend(parse_values(block)?);
    }
    let found = if fenced.is_empty() {
        parse_values(said)?
    } else {
        fenced
    };
    let mut distinct = found.into_iter();
    let first = distinct
        .next()
        .ok_or_else(|| answer_error("it contains no JSON object or list"))?;
    if distinct.all(|other| other == first) {
        Ok(first)
    } else {
        Err(answer_error("it contains several different JSON values"))
    }
}

fn answer_error(why: impl Into<String>) -> JsonAnswerError {
    JsonAnswerError { why: why.into() }
}

/// Removes the reasoning at the start of a response. JSON in the reasoning is not part of the response.
fn strip_reasoning(text: &str) -> Result<&str, JsonAnswerError> {
    let Some(thoughts) = text.trim_start().strip_prefix("<think>") else {
        return Ok(text);
    };
    let (_, said) = thoughts
        .split_once("</think>")
        .ok_or_else(|| answer_error("it is truncated"))?;
    Ok(said)
}

/// Returns the content of fenced code blocks. The last block may lack its closing fence.
///
/// A fence is a line that starts with three backticks or tildes.
fn fenced_blocks(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let (mut open, mut position) = (None, 0);
    for line in text.split_inclusive('\n') {
        let (start, is_fence) = (
            position,
            ["```", "~~~"]
                .iter()
                .any(|fence| line.trim_start().starts_with(fence)),
        );
        position += line.len();
        match open {
            Some(from) if is_fence => {
                blocks.push(&text[from..start]);
                open = None;
            }
            None if is_fence => open = Some(position),
            Some(_) | None => {}
        }
    }
    blocks.extend(open.map(|from| &text[from..]));
    blocks
}

/// Returns the outermost objects and lists of a text.
fn parse_values(text: &str) -> Result<Vec<Value>, JsonAnswerError> {
    let mut values = Vec::new();
    for group in find_groups(text) {
        match group {
            BracketGroup::Open => return Err(answer_error("it is truncated")),
            BracketGroup::Closed(part) => {
                match parse(part).or_else(|why| {
                    remove_trailing_commas(part).map_or(Err(why), |part| parse(&part))
                }) {
                    Ok(value) => values.push(value),
                    Err(why) if looks_like_json(part) => {
                        return Err(answer_error(format!("it is not valid JSON ({why})")));
                    }
                    // The brackets belong to prose, such as [sic].
                    Err(_) => {}
                }
            }
        }
    }
    Ok(values)
}

/// Returns whether the author of this bracketed text intended JSON.
fn looks_like_json(part: &str) -> bool {
    let within = part[1..].trim_start();
    if part.starts_with('[') {
        return within.starts_with(['"', '\'', '{', '[']);
    }
    let after_a_word = within.trim_start_matches(|own: char| own.is_alphanumeric() || own == '_');
    within.starts_with(['"', '\'', '}', '/']) || after_a_word.trim_start().starts_with(':')
}

/// Removes each comma between a value and a closing bracket; returns `None` if there is no such comma.
fn remove_trailing_commas(part: &str) -> Option<String> {
    let mut mended = String::with_capacity(part.len());
    let mut is_mended = false;
    let mut before = '[';
    let mut copied = 0;
    let mut characters = part.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => skip_string(&mut characters),
            ',' if !matches!(before, ',' | ':' | '[' | '{')
                && starts_with_closing_bracket(&part[at + 1..]) =>
            {
                mended.push_str(&part[copied..at]);
                copied = at + 1;
                is_mended = true;
            }
            _ => {}
        }
        if !character.is_whitespace() {
            before = character;
        }
    }
    mended.push_str(&part[copied..]);
    is_mended.then_some(mended)
}

fn starts_with_closing_bracket(rest: &str) -> bool {
    rest.trim_start_matches([' ', '\t', '\r', '\n'])
        .starts_with([']', '}'])
}

/// A bracketed part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BracketGroup<'a> {
    /// The text from the opening bracket to its closing bracket.
    Closed(&'a str),
    /// The text ends before the bracket is closed.
    Open,
}

/// Returns the outermost groups of curly and square brackets in a text.
///
/// Within a group, brackets in strings are skipped, and a closing bracket of the wrong kind ends the group.
fn find_groups(text: &str) -> Vec<BracketGroup<'_>> {
    let mut groups = Vec::new();
    let mut characters = text.char_indices();
    let mut open = Vec::new();
    let mut start = 0;
    while let Some((at, character)) = characters.next() {
        match character {
            '{' | '[' => {
                if open.is_empty() {
                    start = at;
                }
                open.push(if character == '{' { '}' } else { ']' });
            }
            '}' | ']' if !open.is_empty() => {
                // A bracket of the wrong kind ends the group; its content is then invalid JSON and is never parsed as a value.
                let is_right = open.pop() == Some(character);
                if !is_right {
                    open.clear();
                }
                if open.is_empty() {
                    groups.push(BracketGroup::Closed(&text[start..=at]));
                }
            }
            '"' if !open.is_empty() => skip_string(&mut characters),
            _ => {}
        }
    }
    if !open.is_empty() {
        groups.push(BracketGroup::Open);
    }
    groups
}

/// Advances past the rest of a string after its opening quote.
fn skip_string(characters: &mut CharIndices<'_>) {
    let mut is_escaped = false;
    for (_, character) in characters.by_ref() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return,
            _ => {}
        }
    }
}

/// The maximum number of levels of a value.
const MAX_DEPTH: usize = 32;

/// Parses JSON without duplicate keys and with a limited depth.
///
/// # Errors
/// The defect of the text.
fn parse(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut keys = 0;
    if MAX_DEPTH < count_levels(&value, &mut keys) {
        return Err(format!("it has more than {MAX_DEPTH} levels"));
    }
    // Of two values for one key, the parser retains the last; the count of colons reveals the duplicate.
    if keys < count_colons(text) {
        Err("an object in it has a duplicate key".into())
    } else {
        Ok(value)
    }
}

/// Returns the number of levels of a value, and counts its keys.
///
/// The recursion limit of the parser bounds the depth.
fn count_levels(value: &Value, keys: &mut usize) -> usize {
    match value {
        Value::Array(list) => {
            1 + list
                .iter()
                .map(|inner| count_levels(inner, keys))
                .max()
                .unwrap_or_default()
        }
        Value::Object(object) => {
            *keys += object.len();
            1 + object
                .values()
                .map(|inner| count_levels(inner, keys))
                .max()
                .unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Counts the colons outside of strings. JSON has exactly one per key.
fn count_colons(json: &str) -> usize {
    let mut characters = json.char_indices();
    let mut count = 0;
    while let Some((_, character)) = characters.next() {
        match character {
            '"' => skip_string(&mut characters),
            ':' => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests;
