//! Extracts JSON from the response of a language model.

mod group;
mod strict;

use serde_json::Value;

use group::{BracketGroup, find_groups};

/// The maximum size of a response, in bytes.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// The error for a response without usable JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
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
        return Err(answer_error(format!("it has {} bytes, more than the limit for JSON", text.len())));
    }
    let said = strip_reasoning(text)?;
    let mut fenced = Vec::new();
    for block in fenced_blocks(said) {
        fenced.extend(parse_values(block)?);
    }
    let found = if fenced.is_empty() { parse_values(said)? } else { fenced };
    let mut distinct = found.into_iter();
    let first = distinct.next().ok_or_else(|| answer_error("it contains no JSON object or list"))?;
    if distinct.all(|other| other == first) { Ok(first) } else { Err(answer_error("it contains several different JSON values")) }
}

fn answer_error(why: impl Into<String>) -> JsonAnswerError {
    JsonAnswerError { why: why.into() }
}

/// Removes the reasoning at the start of a response. JSON in the reasoning is not part of the response.
fn strip_reasoning(text: &str) -> Result<&str, JsonAnswerError> {
    let Some(thoughts) = text.trim_start().strip_prefix("<think>") else { return Ok(text) };
    let (_, said) = thoughts.split_once("</think>").ok_or_else(|| answer_error("it is truncated"))?;
    Ok(said)
}

/// Returns the content of fenced code blocks. The last block may lack its closing fence.
///
/// A fence is a line that starts with three backticks or tildes.
fn fenced_blocks(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let (mut open, mut position) = (None, 0);
    for line in text.split_inclusive('\n') {
        let (start, is_fence) = (position, ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence)));
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
                match strict::parse(part)
                    .or_else(|why| remove_trailing_commas(part).map_or(Err(why), |part| strict::parse(&part)))
                {
                    Ok(value) => values.push(value),
                    Err(why) if looks_like_json(part) => return Err(answer_error(format!("it is not valid JSON ({why})"))),
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
            '"' => group::skip_string(&mut characters),
            ',' if !matches!(before, ',' | ':' | '[' | '{') && starts_with_closing_bracket(&part[at + 1..]) => {
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
    rest.trim_start_matches([' ', '\t', '\r', '\n']).starts_with([']', '}'])
}

#[cfg(test)]
mod tests;
