//! Detection of credentials in text, and the rejection or redaction of such text.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::assigned::find_in_column;
use super::rule::SecretRule;
use super::rules::RULES;
use crate::StoreError;
use crate::text::{deceptive_characters, to_ascii_form, visible_char};

/// A credential in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Secret {
    /// The kind, for display: `GitHub token`, `private key`, `password`.
    pub kind: &'static str,
    /// The byte range of the credential. For an assignment and a URL, it covers only the value.
    pub span: Range<usize>,
}

/// Returns the credentials in `text`, in order and without overlaps.
///
/// Credentials are found in the text itself, and in the text as its reader sees it: without invisible characters, with
/// full-width letters as ordinary ones, and without the escapes of strings in JSON and YAML.
///
/// Placeholders such as `sk-xxxx`, `${TOKEN}` or `<password>`, hashes and UUIDs are not credentials. Text without any
/// prefix of a credential costs one pass over its bytes. A pattern is compiled when it is first needed.
pub fn find(text: &str) -> Vec<Secret> {
    let mut found = find_spans(text);
    if let Some(visible) = VisibleText::of(text) {
        let original = |(span, rule): (Range<usize>, _)| {
            let [start, end] = [span.start, span.end].map(|offset| visible.original_offset(offset));
            (start..end, rule)
        };
        found.extend(find_spans(&visible.text).into_iter().map(original));
    }
    // Of credentials with the same start, the first rule has the most specific kind.
    found.sort_by_key(|(span, rule)| (span.start, rule.order()));

    let mut secrets = Vec::<Secret>::new();
    for (span, rule) in found {
        match secrets.last_mut() {
            Some(before) if span.start < before.span.end => {
                before.span.end = before.span.end.max(span.end);
            }
            _ => secrets.push(Secret {
                kind: rule.kind,
                span,
            }),
        }
    }
    secrets
}

/// Returns the span of each credential in `text` with its rule; they may overlap.
fn find_spans(text: &str) -> Vec<(Range<usize>, &'static SecretRule)> {
    let mut found = Vec::new();
    let mut covered = 0;
    for_each_hit(text, &mut |rule, hit| {
        // An assigned value inside another credential ends with it; skipping it avoids scanning a long value
        // repeatedly.
        if rule.is_assignment() && hit.start < covered {
            return;
        }
        if let Some(span) = rule.find_span(text, hit.clone()) {
            covered = covered.max(span.end);
            found.push((span, rule));
        } else if rule.is_assignment() {
            for span in find_in_column(text, hit) {
                covered = covered.max(span.end);
                found.push((span, rule));
            }
        }
    });
    found
}

/// A text as its reader sees it.
struct VisibleText {
    text: String,
    /// The offsets behind each changed character, in this text and in the original.
    changes: Vec<(usize, usize)>,
}

impl VisibleText {
    /// Returns the text as its reader sees it, or `None` if that is the text itself.
    fn of(original: &str) -> Option<Self> {
        let is_ordinary =
            |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t') && byte != b'\\';
        if original.bytes().all(is_ordinary) {
            return None;
        }
        let (mut text, mut changes) = (String::with_capacity(original.len()), Vec::new());
        let mut deceptive = deceptive_characters(original).peekable();
        let mut escape_end = 0;
        for (at, character) in original.char_indices() {
            if at < escape_end {
                continue;
            }
            if character == '\\'
                && let Some((decoded, length)) = decode_escape(&original[at..])
            {
                text.extend(decoded);
                escape_end = at + length;
                changes.push((text.len(), escape_end));
                continue;
            }
            let is_deceptive = deceptive.next_if_eq(&(at, character)).is_some();
            // A separator of lines is invisible, but separates.
            let is_hidden =
                visible_char(character).is_none_or(|visible| is_deceptive && visible == character);
            let shown = to_ascii_form(character);
            if !is_hidden {
                text.push(shown);
            }
            if is_hidden || shown != character {
                changes.push((text.len(), at + character.len_utf8()));
            }
        }
        (!changes.is_empty()).then_some(Self { text, changes })
    }

    /// Returns the offset in the original text, behind the invisible characters at this place.
    fn original_offset(&self, offset: usize) -> usize {
        let before = self.changes.partition_point(|(at, _)| *at <= offset);
        let (at, original) = before
            .checked_sub(1)
            .map_or((0, 0), |last| self.changes[last]);
        original + (offset - at)
    }
}

/// Returns the character that an escape at the start of `text` denotes, and the length of the escape in bytes.
///
/// An escaped line break denotes none, and continues the line. In a string within a string, escapes have several backslashes.
fn decode_escape(text: &str) -> Option<(Option<char>, usize)> {
    const MAX_MARKS: usize = 8;
    const MAX_INDENT: usize = 64;
    let count = |text: &str, most: usize, accept: &[u8]| {
        let bytes = text.bytes().take(most);
        bytes.take_while(|byte| accept.contains(byte)).count()
    };
    let start = count(text, MAX_MARKS, b"\\");
    let body = &text[start..];
    let digits = match body.bytes().next()? {
        b'/' => return Some((Some('/'), start + 1)),
        b'\n' | b'\r' => {
            let line_break = if body.starts_with("\r\n") { 2 } else { 1 };
            let indent = count(&body[line_break..], MAX_INDENT, b" \t");
            return Some((None, start + line_break + indent));
        }
        b'x' => body.get(1..3)?,
        b'u' => body.get(1..5)?,
        b'U' => body.get(1..9)?,
        _ => return None,
    };
    let is_code = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_code)?;
    let end = start + 1 + digits.len();
    char::from_u32(code).map(|decoded| (Some(decoded), end))
}

static PREFILTER: LazyLock<LiteralPrefilter> = LazyLock::new(LiteralPrefilter::new);

/// Calls `each` with every rule and position of its literals in `text`, in order of position.
fn for_each_hit(text: &str, each: &mut dyn FnMut(&'static SecretRule, Range<usize>)) {
    let prefilter = &*PREFILTER;
    let bytes = text.as_bytes();
    let mut slot = 0;
    for (last, &byte) in bytes.iter().enumerate() {
        slot = next_slot(slot, byte);
        let group = prefilter.slots[slot];
        if group == 0 || last < 2 {
            continue;
        }
        let at = last - 2;
        for (rule, literal) in &prefilter.groups[usize::from(group)] {
            if rule.matches_literal(literal, &bytes[at..]) {
                each(rule, at..at + literal.len());
            }
        }
    }
}

/// Returns the slot of the last three bytes: five bits of each, in which letters of both cases are equal.
fn next_slot(slot: usize, byte: u8) -> usize {
    (slot << 5 | usize::from(byte & 31)) & 0x7fff
}

/// The literals of all rules by the slot of their first three bytes.
struct LiteralPrefilter {
    /// The index in `groups` of each slot; the group 0 is empty.
    slots: Vec<u16>,
    groups: Vec<Vec<(&'static SecretRule, &'static str)>>,
}

impl LiteralPrefilter {
    fn new() -> Self {
        let (mut slots, mut groups) = (vec![0; 1 << 15], vec![Vec::new()]);
        for rule in &RULES {
            for &literal in rule.literals {
                let slot = literal.bytes().take(3).fold(0, next_slot);
                if slots[slot] == 0 {
                    slots[slot] = u16::try_from(groups.len()).expect("there are fewer slots");
                    groups.push(Vec::new());
                }
                groups[usize::from(slots[slot])].push((rule, literal));
            }
        }
        Self { slots, groups }
    }
}

/// Checks that texts contain no credentials. All writes pass this check.
///
/// # Errors
/// [`StoreError::Secret`] with the kinds that were found.
pub fn reject_secrets<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<(), StoreError> {
    let mut kinds: Vec<_> = texts
        .into_iter()
        .flat_map(find)
        .map(|found| found.kind)
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.is_empty() {
        Ok(())
    } else {
        Err(StoreError::Secret { kinds })
    }
}

/// Checks that a text contains no credentials that the previous text `former` does not contain.
///
/// # Errors
/// Those of [`reject_secrets`].
pub fn reject_added_secrets(former: &str, text: &str) -> Result<(), StoreError> {
    let found = find(text);
    if found.is_empty() {
        return Ok(());
    }
    let known: HashSet<&str> = find(former)
        .into_iter()
        .map(|found| &former[found.span])
        .collect();
    let mut kinds: Vec<_> = found
        .into_iter()
        .filter(|found| !known.contains(&text[found.span.clone()]))
        .map(|found| found.kind)
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.is_empty() {
        Ok(())
    } else {
        Err(StoreError::Secret { kinds })
    }
}

/// A text with redacted credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedactedText {
    /// The text with `[redacted: <kind>]` in place of each credential.
    pub text: String,
    /// The redacted kinds without duplicates, in order of occurrence.
    pub kinds: Vec<&'static str>,
}

/// Maximum number of additional redaction passes.
const MAX_PASSES: usize = 8;

/// Returns `text` with redacted credentials, or `None` if it contains no credentials.
pub fn redact(text: &str) -> Option<RedactedText> {
    let mut redacted = redact_once(text)?;
    // A redaction may reveal a further match in the surrounding text.
    for _ in 0..MAX_PASSES {
        let Some(more) = redact_once(&redacted.text) else {
            break;
        };
        redacted.text = more.text;
        redacted.kinds.extend(
            more.kinds
                .into_iter()
                .filter(|kind| !redacted.kinds.contains(kind))
                .collect::<Vec<_>>(),
        );
    }
    Some(redacted)
}

/// Returns `text` without credentials, for a message.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    redact(text).map_or(Cow::Borrowed(text), |redacted| Cow::Owned(redacted.text))
}

fn redact_once(text: &str) -> Option<RedactedText> {
    let secrets = find(text);
    if secrets.is_empty() {
        return None;
    }
    let mut redacted = String::with_capacity(text.len());
    let mut kinds = Vec::new();
    let mut rest = 0;
    for secret in secrets {
        redacted.push_str(&text[rest..secret.span.start]);
        redacted.push_str("[redacted: ");
        redacted.push_str(secret.kind);
        redacted.push(']');
        rest = secret.span.end;
        if !kinds.contains(&secret.kind) {
            kinds.push(secret.kind);
        }
    }
    redacted.push_str(&text[rest..]);
    Some(RedactedText {
        text: redacted,
        kinds,
    })
}

#[cfg(test)]
mod tests;
