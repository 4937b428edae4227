//! Locates the parts of a JSON text as byte ranges, to edit one part without changing the others.

use std::borrow::Cow;
use std::ops::Range;

use memory_core::json::{JsonTokenKind, JsonTokens, unquote};

use crate::exact_json::replace_lone_surrogates;

/// A member of a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MemberRange<'t> {
    pub key: Cow<'t, str>,
    /// Offset of the key in the text.
    pub begins: usize,
    pub value: Range<usize>,
}

/// Returns the members of the object at `place`; `None` if it is not an object or not JSON.
///
/// A key with invalid escapes becomes the empty key.
pub(super) fn members(text: &str, place: Range<usize>) -> Option<Vec<MemberRange<'_>>> {
    let mut members = Vec::new();
    let mut key = None;
    let mut begins = 0;
    for_each_value(
        text,
        place,
        JsonTokenKind::ObjectBegins,
        &mut |kind, range| {
            if kind == JsonTokenKind::Key {
                begins = range.start;
                key = Some(unquote(&text[range]).unwrap_or_default());
            } else if let Some(key) = key.take() {
                members.push(MemberRange {
                    key,
                    begins,
                    value: range,
                });
            }
        },
    )?;
    Some(members)
}

/// Returns the byte ranges of the items of the array at `place`; `None` if it is not an array.
pub(super) fn items(text: &str, place: Range<usize>) -> Option<Vec<Range<usize>>> {
    let mut items = Vec::new();
    for_each_value(text, place, JsonTokenKind::ArrayBegins, &mut |_, range| {
        items.push(range);
    })?;
    Some(items)
}

/// Returns the string at `place`; `None` if it is not a string.
pub(super) fn parse_string(text: &str, place: Range<usize>) -> Option<Cow<'_, str>> {
    unquote(&text[place])
}

/// Returns the string at `place`, with lone surrogates replaced by U+FFFD.
pub(super) fn parse_lossy_string(text: &str, place: Range<usize>) -> Option<Cow<'_, str>> {
    unquote(&text[place.clone()]).or_else(|| {
        unquote(&replace_lone_surrogates(&text[place])).map(|read| Cow::Owned(read.into_owned()))
    })
}

/// Returns the texts of a list of content parts, the form of a message with several parts.
pub(super) fn part_texts(text: &str, place: Range<usize>) -> Option<Vec<Cow<'_, str>>> {
    let words =
        |part: Range<usize>| parse_lossy_string(text, find(&members(text, part)?, "text")?.clone());
    Some(items(text, place)?.into_iter().filter_map(words).collect())
}

/// Returns the value of the last member with this key, like common JSON parsers.
pub(super) fn find<'m>(members: &'m [MemberRange<'_>], key: &str) -> Option<&'m Range<usize>> {
    members
        .iter()
        .rev()
        .find(|member| member.key == key)
        .map(|member| &member.value)
}

/// Calls `each` for every direct key and value of an object or array.
///
/// `wanted` is the token that opens it.
fn for_each_value(
    text: &str,
    place: Range<usize>,
    wanted: JsonTokenKind,
    each: &mut dyn FnMut(JsonTokenKind, Range<usize>),
) -> Option<()> {
    let offset = place.start;
    let mut tokens = JsonTokens::of(&text[place]);
    if tokens.next()?.ok()?.kind != wanted {
        return None;
    }
    let mut start = 0;
    for token in tokens {
        let token = token.ok()?;
        if token.depth != 1 {
            continue;
        }
        let range = offset + token.range.start..offset + token.range.end;
        match token.kind {
            JsonTokenKind::ObjectBegins | JsonTokenKind::ArrayBegins => start = range.start,
            JsonTokenKind::ObjectEnds | JsonTokenKind::ArrayEnds => {
                each(token.kind, start..range.end);
            }
            JsonTokenKind::Key
            | JsonTokenKind::String
            | JsonTokenKind::Number
            | JsonTokenKind::Literal => {
                each(token.kind, range);
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_is_read_as_what_is_no_character() {
        for (text, read) in [
            (r#""lone \ud83d surrogate""#, "lone \u{fffd} surrogate"),
            (r#""\ud83d\ude00 \ude00\ud83d""#, "😀 \u{fffd}\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\\ud83d é\u4e16 \ud800""#, "\\ud83d é世 \u{fffd}"),
        ] {
            assert_eq!(
                parse_lossy_string(text, 0..text.len()).as_deref(),
                Some(read),
                "{text}"
            );
        }
        assert_eq!(parse_lossy_string("3", 0..1), None);
    }

    #[test]
    fn parts_are_found_where_they_stand() {
        let text = r#" {"a": [1, {"b": [2]}, "x"], "\u0062" : null, "a":3}"#;
        let found = members(text, 0..text.len()).expect("an object");
        let told: Vec<_> = found
            .iter()
            .map(|own| format!("{}={}", own.key, &text[own.value.clone()]))
            .collect();
        assert_eq!(told, [r#"a=[1, {"b": [2]}, "x"]"#, "b=null", "a=3"]);
        assert_eq!(find(&found, "a").map(|own| &text[own.clone()]), Some("3"));
        let inner = items(text, found[0].value.clone()).expect("an array");
        assert_eq!(
            inner
                .iter()
                .map(|own| &text[own.clone()])
                .collect::<Vec<_>>(),
            ["1", r#"{"b": [2]}"#, r#""x""#]
        );
        assert_eq!(parse_string(text, inner[2].clone()).as_deref(), Some("x"));
        for none in ["", "[1]", "{\"a\":1", "{\"a\":1} 2", "3"] {
            assert_eq!(members(none, 0..none.len()), None, "{none}");
        }
    }
}
