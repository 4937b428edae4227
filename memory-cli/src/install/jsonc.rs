//! Edits JSON with comments in place.
//!
//! The parser returns the position of each value. An edit changes only the bytes of the value that is inserted or removed,
//! and the comma next to it.

use std::ops::Range;

use jsonc_parser::ast::{ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::edit::ClientFileError;
use super::edit::{self, TextEdit};

/// The syntax that clients with comments accept; other clients accept less.
const PARSE_OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// One step of a path: into an object by key, or into a list by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsoncStep<'a> {
    /// A key of an object.
    Key(&'a str),
    /// An element of a list.
    At(usize),
}

/// Parses a file; `None` if it is empty or contains only comments.
///
/// # Errors
/// If the file is not valid or its root is not an object.
pub(super) fn parse(text: &str) -> Result<Option<Node<'_>>, ClientFileError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &PARSE_OPTIONS);
    let parsed = parsed.map_err(|error| {
        ClientFileError::malformed(
            text,
            error.range().start,
            lowercase_first(&error.kind().to_string()),
        )
    })?;
    match parsed.value {
        Some(value @ Node::Object(_)) => Ok(Some(value)),
        None => Ok(None),
        Some(other) => Err(ClientFileError::malformed(
            text,
            other.range().start,
            "the file must be an object",
        )),
    }
}

/// Returns the value at a path; the last one if a key occurs twice.
pub(super) fn find<'n, 'a>(root: &'n Node<'a>, path: &[JsoncStep]) -> Option<&'n Node<'a>> {
    path.iter().try_fold(root, |node, step| match (step, node) {
        (JsoncStep::Key(key), Node::Object(object)) => {
            Some(&property(&object.properties, key)?.value)
        }
        (JsoncStep::At(index), Node::Array(list)) => list.elements.get(*index),
        _ => None,
    })
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct JsoncMember {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Value,
    /// The bytes of the value.
    pub range: Range<usize>,
}

/// Returns the members of the object at a path; none if there is no object.
pub(super) fn members(text: &str, path: &[JsoncStep]) -> Result<Vec<JsoncMember>, ClientFileError> {
    let root = parse(text)?;
    let Some(Node::Object(object)) = root.as_ref().and_then(|root| find(root, path)) else {
        return Ok(Vec::new());
    };
    let member = |own: &ObjectProp<'_>| JsoncMember {
        key: own.name.as_str().to_owned(),
        value: value(&own.value),
        range: own.value.range().start..own.value.range().end,
    };
    Ok(object.properties.iter().map(member).collect())
}

/// Returns the value of a node.
pub(super) fn value(node: &Node<'_>) -> Value {
    node.clone().into()
}

/// Returns the byte offset of a node.
pub(super) fn start(node: &Node<'_>) -> usize {
    node.range().start
}

/// Sets the value at a path; creates the objects on the path.
pub(super) fn set_value(
    text: &str,
    path: &[JsoncStep],
    value: &Value,
) -> Result<String, ClientFileError> {
    let Some(root) = parse(text)? else {
        return Ok(append_after_comments(text, &nest_value(path, value)));
    };
    let mut node = &root;
    for (depth, step) in path.iter().enumerate() {
        if let Some(next) = find(node, &path[depth..=depth]) {
            node = next;
            continue;
        }
        let JsoncStep::Key(key) = step else {
            return Err(ClientFileError::malformed(
                text,
                node.range().start,
                "the list is too short",
            ));
        };
        let Node::Object(_) = node else {
            let what = format!("{} must be an object", path_text(&path[..depth]));
            return Err(ClientFileError::malformed(text, node.range().start, what));
        };
        let container = JsoncContainer::of(node, depth == 0).expect("an object holds members");
        return Ok(container.insert(text, Some(key), &nest_value(&path[depth + 1..], value)));
    }
    let layout = JsoncLayout::of(text, &root);
    let range = node.range().start..node.range().end;
    let with = if text[range.clone()].contains('\n') {
        layout.render(value, edit::indent(text, range.start))
    } else {
        value.to_string()
    };
    Ok(edit::apply_edits(text, vec![TextEdit { range, with }]))
}

/// Appends `value` to the list at a path; creates the list if needed.
pub(super) fn append(
    text: &str,
    path: &[JsoncStep],
    value: &Value,
) -> Result<String, ClientFileError> {
    let root = parse(text)?;
    match root.as_ref().and_then(|root| find(root, path)) {
        None => set_value(text, path, &Value::Array(vec![value.clone()])),
        Some(list @ Node::Array(_)) => Ok(JsoncContainer::of(list, false)
            .expect("a list holds members")
            .insert(text, None, value)),
        Some(other) => Err(ClientFileError::malformed(
            text,
            other.range().start,
            format!("{} must be a list", path_text(path)),
        )),
    }
}

/// Removes the value at a path, if there is one.
pub(super) fn remove(text: &str, path: &[JsoncStep]) -> Result<String, ClientFileError> {
    let (Some(root), Some((step, way))) = (parse(text)?, path.split_last()) else {
        return Ok(text.to_owned());
    };
    let Some(parent) = find(&root, way) else {
        return Ok(text.to_owned());
    };
    let index = match (step, parent) {
        (JsoncStep::Key(key), Node::Object(object)) => object
            .properties
            .iter()
            .rposition(|own| own.name.as_str() == *key),
        (JsoncStep::At(index), Node::Array(list)) => {
            (*index < list.elements.len()).then_some(*index)
        }
        _ => None,
    };
    let (Some(index), Some(container)) = (index, JsoncContainer::of(parent, way.is_empty())) else {
        return Ok(text.to_owned());
    };
    Ok(container.remove(text, index))
}

/// Returns whether a file has neither keys nor comments.
pub(super) fn is_empty(text: &str) -> bool {
    let bare: String = text.split_whitespace().collect();
    bare.is_empty() || bare == "{}"
}

/// Returns a path in the form `key.0.key`.
pub(super) fn path_text(path: &[JsoncStep]) -> String {
    let words = path.iter().map(|step| match step {
        JsoncStep::Key(key) => (*key).to_owned(),
        JsoncStep::At(index) => index.to_string(),
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() {
        "the file".to_owned()
    } else {
        words.join(".")
    }
}

fn lowercase_first(sentence: &str) -> String {
    let mut characters = sentence.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(characters).collect()
    })
}

fn property<'n, 'a>(properties: &'n [ObjectProp<'a>], key: &str) -> Option<&'n ObjectProp<'a>> {
    properties.iter().rfind(|own| own.name.as_str() == key)
}

fn nest_value(path: &[JsoncStep], value: &Value) -> Value {
    path.iter()
        .rev()
        .fold(value.clone(), |inner, step| match step {
            JsoncStep::Key(key) => {
                Value::Object([((*key).to_owned(), inner)].into_iter().collect())
            }
            JsoncStep::At(_) => Value::Array(vec![inner]),
        })
}

/// Appends a value to a file that contains only comments.
fn append_after_comments(text: &str, value: &Value) -> String {
    let line_break = edit::line_break(text);
    let between = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        line_break
    };
    let layout = JsoncLayout {
        unit: "  ",
        line_break,
    };
    [text, between, &layout.render(value, ""), line_break].concat()
}

/// The indentation and line breaks of a file.
#[derive(Debug, Clone, Copy)]
struct JsoncLayout<'a> {
    unit: &'a str,
    line_break: &'static str,
}

impl<'a> JsoncLayout<'a> {
    fn of(text: &'a str, root: &Node<'_>) -> Self {
        let first = root
            .as_object()
            .and_then(|object| object.properties.first());
        let indent = first
            .map(|first| edit::indent(text, first.range.start))
            .filter(|indent| !indent.is_empty());
        Self {
            unit: indent.unwrap_or("  "),
            line_break: edit::line_break(text),
        }
    }

    /// Returns a value over several lines; all lines but the first start with `indent`.
    fn render(&self, value: &Value, indent: &str) -> String {
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        serde::Serialize::serialize(value, &mut serializer).expect("a value is JSON");
        let text = String::from_utf8(bytes).expect("JSON is text");
        text.replace('\n', &[self.line_break, indent].concat())
    }
}

/// An object or a list, with the positions of its members.
struct JsoncContainer {
    range: Range<usize>,
    members: Vec<Range<usize>>,
    is_root: bool,
}

impl JsoncContainer {
    fn of(node: &Node<'_>, is_root: bool) -> Option<Self> {
        let members = match node {
            Node::Object(object) => object
                .properties
                .iter()
                .map(|own| own.range.start..own.range.end)
                .collect(),
            Node::Array(list) => list
                .elements
                .iter()
                .map(|own| own.range().start..own.range().end)
                .collect(),
            _ => return None,
        };
        Some(Self {
            range: node.range().start..node.range().end,
            members,
            is_root,
        })
    }

    /// Returns the text with a new last member.
    fn insert(&self, text: &str, key: Option<&str>, value: &Value) -> String {
        let root = parse(text).ok().flatten();
        let layout = root.as_ref().map_or(
            JsoncLayout {
                unit: "  ",
                line_break: "\n",
            },
            |root| JsoncLayout::of(text, root),
        );
        let base = edit::indent(text, self.range.start);
        let end = self.range.end - 1;
        let key = |between: &str| {
            key.map_or_else(String::new, |key| format!("{}:{between}", Value::from(key)))
        };
        let Some(last) = self.members.last() else {
            let gap = JsoncGap::of(text, self.range.start + 1..end);
            let at = gap
                .comments
                .last()
                .map_or(self.range.start + 1, |comment| comment.end);
            let rest = &text[at..end];
            if !self.is_root && !text.trim().contains('\n') {
                return edit::apply_edits(
                    text,
                    vec![TextEdit::insert(at, format!("{}{value}", key("")))],
                );
            }
            let indent = [base, layout.unit].concat();
            let mut with = [
                layout.line_break,
                &indent,
                &key(" "),
                &layout.render(value, &indent),
            ]
            .concat();
            if rest.contains('\n') {
                return edit::apply_edits(text, vec![TextEdit::insert(at, with)]);
            }
            with.extend([layout.line_break, base]);
            return edit::apply_edits(
                text,
                vec![TextEdit {
                    range: at..end,
                    with,
                }],
            );
        };
        let gap = JsoncGap::of(text, last.end..end);
        let behind = gap.comma.map_or(last.end, |comma| comma + 1);
        let comma = if gap.comma.is_some() { "," } else { "" };
        let mut edits = Vec::new();
        if gap.comma.is_none() {
            edits.push(TextEdit::insert(last.end, ","));
        }
        if text[self.range.start..last.start].contains('\n') {
            let own = &text[edit::line_start(text, last.start)..last.start];
            let indent = if own.trim().is_empty() {
                own.to_owned()
            } else {
                [base, layout.unit].concat()
            };
            let with = [
                layout.line_break,
                &indent,
                &key(" "),
                &layout.render(value, &indent),
                comma,
            ]
            .concat();
            edits.push(TextEdit::insert(gap.end_of_line(text, behind), with));
        } else {
            let blank = if text[..last.start].ends_with([' ', '\t']) {
                " "
            } else {
                ""
            };
            edits.push(TextEdit::insert(
                behind,
                [blank, &key(blank), &value.to_string(), comma].concat(),
            ));
        }
        edit::apply_edits(text, edits)
    }

    /// Returns the text without a member.
    fn remove(&self, text: &str, index: usize) -> String {
        let own = &self.members[index];
        let before = index.checked_sub(1).map(|index| self.members[index].end);
        let after = self.members.get(index + 1).map(|next| next.start);
        let gap_before = JsoncGap::of(text, before.unwrap_or(self.range.start + 1)..own.start);
        let gap_after = JsoncGap::of(text, own.end..after.unwrap_or(self.range.end - 1));
        let is_all = self.members.len() == 1
            && gap_before.comments.is_empty()
            && gap_after.comments.is_empty();
        if is_all {
            return edit::apply_edits(
                text,
                vec![TextEdit::remove(self.range.start + 1..self.range.end - 1)],
            );
        }
        let end = gap_after.comma.map_or(own.end, |comma| comma + 1);
        let mut start = text[..own.start].trim_end().len();
        // After the removal, a comment up to the end of a line must not include the next member.
        let follows = text[end..].trim_start_matches([' ', '\t', '\r']);
        if !follows.starts_with('\n')
            && gap_before
                .comments
                .last()
                .is_some_and(|last| last.end == start)
        {
            start = own.start;
        }
        let mut edits = vec![TextEdit::remove(start..end)];
        if let (None, Some(comma)) = (gap_after.comma, gap_before.comma) {
            edits.push(TextEdit::remove(comma..comma + 1));
        }
        edit::apply_edits(text, edits)
    }
}

/// The text next to a member: white space, comments, and at most one comma.
struct JsoncGap {
    comma: Option<usize>,
    comments: Vec<Range<usize>>,
}

impl JsoncGap {
    fn of(text: &str, range: Range<usize>) -> Self {
        let mut gap = Self {
            comma: None,
            comments: Vec::new(),
        };
        let mut at = range.start;
        while at < range.end {
            let rest = &text[at..range.end];
            let length = if rest.starts_with("//") {
                rest.find('\n')
                    .map_or(rest.len(), |end| rest[..end].trim_end_matches('\r').len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                if rest.starts_with(',') {
                    gap.comma = Some(at);
                }
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            };
            gap.comments.push(at..at + length);
            at += length;
        }
        gap
    }

    /// Returns the end of the comments that follow a byte offset on the same line.
    fn end_of_line(&self, text: &str, at: usize) -> usize {
        let follows = |at: usize, comment: &Range<usize>| {
            at <= comment.start && text[at..comment.start].trim_matches([' ', '\t']).is_empty()
        };
        self.comments.iter().fold(at, |at, comment| {
            if follows(at, comment) {
                comment.end
            } else {
                at
            }
        })
    }
}

#[cfg(test)]
mod tests;
