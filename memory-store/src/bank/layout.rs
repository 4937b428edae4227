//! Finds the parts of a bank in its text.

use std::collections::HashSet;
use std::ops::Range;

use memory_core::json::{JsonError, JsonToken, JsonTokenKind, JsonTokens, unquote};

/// The positions of the parts of a bank in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BankLayout {
    /// The document, with its braces.
    pub document: Range<usize>,
    /// The `_meta` object, if any.
    pub meta: Option<MetaLayout>,
    /// The value of `_meta`, if it is not an object.
    pub no_meta: Option<Range<usize>>,
    /// The object of all entries, with its braces.
    pub entries: Range<usize>,
    /// The entries, in order.
    pub items: Vec<EntryLayout>,
}

/// The positions of the parts of `_meta`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MetaLayout {
    /// The whole object, with its braces.
    pub range: Range<usize>,
    pub version: Option<Range<usize>>,
    pub created_at: Option<Range<usize>>,
    pub updated_at: Option<Range<usize>>,
    pub schema: Option<Range<usize>>,
}

/// The positions of the parts of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EntryLayout {
    /// The key, unescaped.
    pub key: String,
    /// The key, the colon and the value.
    pub range: Range<usize>,
    /// The value; if it is not an object, the entry is damaged.
    pub entry: Range<usize>,
    pub value: Option<Range<usize>>,
    pub created_at: Option<Range<usize>>,
    pub updated_at: Option<Range<usize>>,
    pub ttl: Option<Range<usize>>,
}

/// The reason why a text is not a bank.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BankLayoutError {
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error("it is not a JSON object")]
    NoObject,
    #[error("it has no entries object")]
    NoEntries,
    #[error("duplicate key {0:?}")]
    Twice(String),
}

/// Finds the parts of a bank.
pub(super) fn parse_layout(text: &str) -> Result<BankLayout, BankLayoutError> {
    let mut tokens = JsonTokens::of(text);
    let begin = tokens.next().transpose()?;
    let Some(begin) = begin.filter(|token| token.kind == JsonTokenKind::ObjectBegins) else {
        return Err(BankLayoutError::NoObject);
    };
    let (mut meta, mut no_meta, mut entries, mut seen) = (None, None, None, HashSet::new());
    let end = loop {
        let Some((name, _)) = key(text, &mut tokens)? else {
            break tokens.offset();
        };
        if !seen.insert(name.clone()) {
            return Err(BankLayoutError::Twice(name));
        }
        let first = next_token(&mut tokens)?;
        match (name.as_str(), first.kind) {
            ("_meta", JsonTokenKind::ObjectBegins) => {
                meta = Some(read_meta(text, &mut tokens, &first)?);
            }
            ("_meta", _) => no_meta = Some(skip_value(&mut tokens, &first)?),
            ("entries", JsonTokenKind::ObjectBegins) => {
                entries = Some(read_entries(text, &mut tokens, &first)?);
            }
            _ => {
                skip_value(&mut tokens, &first)?;
            }
        }
    };
    // Text after the document is an error.
    tokens.next().transpose()?;
    let (entries, items) = entries.ok_or(BankLayoutError::NoEntries)?;
    Ok(BankLayout {
        document: begin.range.start..end,
        meta,
        no_meta,
        entries,
        items,
    })
}

/// Finds the parts of one entry, given as a key, a colon and a value.
pub(super) fn parse_entry_layout(text: &str) -> Result<EntryLayout, BankLayoutError> {
    // With braces the text is an object with one member; the positions are then one byte too high.
    let wrapped = format!("{{{text}}}");
    let mut tokens = JsonTokens::of(&wrapped);
    let _ = tokens.next();
    let mut item = read_item(&wrapped, &mut tokens)?.ok_or(BankLayoutError::NoEntries)?;
    for token in tokens {
        token?;
    }
    let back = |range: &mut Range<usize>| *range = range.start - 1..range.end - 1;
    [&mut item.range, &mut item.entry]
        .into_iter()
        .for_each(back);
    [
        &mut item.value,
        &mut item.created_at,
        &mut item.updated_at,
        &mut item.ttl,
    ]
    .into_iter()
    .flatten()
    .for_each(back);
    Ok(item)
}

fn read_meta(
    text: &str,
    tokens: &mut JsonTokens<'_>,
    first: &JsonToken,
) -> Result<MetaLayout, BankLayoutError> {
    let mut meta = MetaLayout {
        range: 0..0,
        version: None,
        created_at: None,
        updated_at: None,
        schema: None,
    };
    while let Some((name, _)) = key(text, tokens)? {
        let first = next_token(tokens)?;
        let range = skip_value(tokens, &first)?;
        match name.as_str() {
            "version" => meta.version = Some(range),
            "created_at" => meta.created_at = Some(range),
            "updated_at" => meta.updated_at = Some(range),
            "schema" => meta.schema = Some(range),
            _ => {}
        }
    }
    meta.range = first.range.start..tokens.offset();
    Ok(meta)
}

fn read_entries(
    text: &str,
    tokens: &mut JsonTokens<'_>,
    first: &JsonToken,
) -> Result<(Range<usize>, Vec<EntryLayout>), BankLayoutError> {
    let mut items = Vec::new();
    let mut seen = HashSet::new();
    while let Some(item) = read_item(text, tokens)? {
        if !seen.insert(item.key.clone()) {
            return Err(BankLayoutError::Twice(item.key));
        }
        items.push(item);
    }
    Ok((first.range.start..tokens.offset(), items))
}

fn read_item(
    text: &str,
    tokens: &mut JsonTokens<'_>,
) -> Result<Option<EntryLayout>, BankLayoutError> {
    let Some((name, start)) = key(text, tokens)? else {
        return Ok(None);
    };
    let first = next_token(tokens)?;
    let mut item = EntryLayout {
        key: name,
        range: 0..0,
        entry: 0..0,
        value: None,
        created_at: None,
        updated_at: None,
        ttl: None,
    };
    if first.kind == JsonTokenKind::ObjectBegins {
        while let Some((name, _)) = key(text, tokens)? {
            let first = next_token(tokens)?;
            let range = skip_value(tokens, &first)?;
            match name.as_str() {
                "value" => item.value = Some(range),
                "created_at" => item.created_at = Some(range),
                "updated_at" => item.updated_at = Some(range),
                "ttl" => item.ttl = Some(range),
                _ => {}
            }
        }
        item.entry = first.range.start..tokens.offset();
    } else {
        item.entry = skip_value(tokens, &first)?;
    }
    item.range = start..item.entry.end;
    Ok(Some(item))
}

/// Returns the next key and its start, or `None` at the end of the object.
fn key(
    text: &str,
    tokens: &mut JsonTokens<'_>,
) -> Result<Option<(String, usize)>, BankLayoutError> {
    let token = next_token(tokens)?;
    if token.kind != JsonTokenKind::Key {
        return Ok(None);
    }
    let at = token.range.start;
    let name = unquote(&text[token.range]).ok_or(JsonError::Syntax {
        at,
        what: "a key is not a string",
    })?;
    Ok(Some((name.into_owned(), at)))
}

fn next_token(tokens: &mut JsonTokens<'_>) -> Result<JsonToken, BankLayoutError> {
    match tokens.next() {
        Some(token) => Ok(token?),
        None => Err(JsonError::Syntax {
            at: tokens.offset(),
            what: "unexpected end of text",
        }
        .into()),
    }
}

/// Skips the value that starts with `first`, and returns its range.
fn skip_value(
    tokens: &mut JsonTokens<'_>,
    first: &JsonToken,
) -> Result<Range<usize>, BankLayoutError> {
    if !matches!(
        first.kind,
        JsonTokenKind::ObjectBegins | JsonTokenKind::ArrayBegins
    ) {
        return Ok(first.range.clone());
    }
    loop {
        let next = next_token(tokens)?;
        if next.depth == first.depth {
            return Ok(first.range.start..next.range.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BANK: &str = r#" { "x": [1], "_meta": {"version": 1, "updated_at": "u", "schema": {"a": []}},
        "entries": { "a": {"value": {"v": [1, 2]}, "note": 1, "ttl": 5}, "b\u0021" : 7 } } "#;

    #[test]
    fn the_parts_of_a_bank_are_found_whatever_stands_beside_them() {
        let layout = parse_layout(BANK).unwrap();
        let text = |range: &Range<usize>| &BANK[range.clone()];
        assert_eq!(text(&layout.document), BANK.trim());
        let meta = layout.meta.unwrap();
        assert_eq!(meta.schema.as_ref().map(text), Some(r#"{"a": []}"#));
        assert_eq!(
            (meta.created_at, meta.updated_at.as_ref().map(text)),
            (None, Some("\"u\""))
        );
        assert!(
            text(&layout.entries).starts_with("{ \"a\"") && text(&layout.entries).ends_with("7 }")
        );
        let [first, second] = layout.items.as_slice() else {
            panic!("two entries")
        };
        assert_eq!(
            (first.key.as_str(), first.value.as_ref().map(text)),
            ("a", Some(r#"{"v": [1, 2]}"#))
        );
        assert_eq!(
            (first.ttl.as_ref().map(text), first.created_at.clone()),
            (Some("5"), None)
        );
        assert_eq!(
            (
                second.key.as_str(),
                text(&second.entry),
                second.value.clone()
            ),
            ("b!", "7", None)
        );
        assert_eq!(text(&second.range), r#""b\u0021" : 7"#);
    }

    #[test]
    fn an_entry_by_itself_has_its_parts_where_they_stand() {
        let text = r#""a": {"value": [1], "ttl": null}"#;
        let item = parse_entry_layout(text).unwrap();
        assert_eq!(
            (
                &text[item.range],
                &text[item.value.unwrap()],
                &text[item.ttl.unwrap()]
            ),
            (text, "[1]", "null")
        );
        for wrong in [
            "",
            r#""a""#,
            r#""a": {"value": 1"#,
            r#""a": 1, "b"#,
            r#""a": 1} , {"b": 2"#,
        ] {
            parse_entry_layout(wrong).unwrap_err();
        }
    }

    #[test]
    fn what_is_no_bank_is_refused_with_the_reason() {
        let why = |text: &str| parse_layout(text).unwrap_err();
        assert_eq!(why("[]"), BankLayoutError::NoObject);
        assert_eq!(why("{}"), BankLayoutError::NoEntries);
        assert_eq!(why(r#"{"entries": []}"#), BankLayoutError::NoEntries);
        assert_eq!(
            why(r#"{"entries": {"a": 1, "\u0061": 2}}"#),
            BankLayoutError::Twice("a".into())
        );
        assert_eq!(
            why(r#"{"entries": {}, "entries": {}}"#),
            BankLayoutError::Twice("entries".into())
        );
        assert!(matches!(
            why(r#"{"entries": {}} x"#),
            BankLayoutError::Json(_)
        ));
        assert!(matches!(
            why(r#"{"entries": {"a": 1"#),
            BankLayoutError::Json(_)
        ));
    }
}
