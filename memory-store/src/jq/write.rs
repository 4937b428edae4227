//! The JSON printer, with the format of jq.

use std::fmt::{self, Write};

use super::number;
use super::value::Val;

/// The maximum nesting that is printed.
const MAX_DEPTH: usize = 10_000;
/// The maximum length in bytes of a value in an error message.
const MAX_EXCERPT_BYTES: usize = 29;

impl fmt::Display for Val {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&compact(self))
    }
}

/// Prints a value on one line, without spaces.
pub(crate) fn compact(value: &Val) -> String {
    let mut out = String::new();
    write_value(value, &mut out, None, 0);
    out
}

/// Prints a value indented by two spaces.
pub(crate) fn pretty(value: &Val) -> String {
    let mut out = String::new();
    write_value(value, &mut out, Some(2), 0);
    out
}

/// Prints a value, shortened for an error message.
pub(crate) fn excerpt(value: &Val) -> String {
    let shortened = match value {
        Val::Str(text) if MAX_EXCERPT_BYTES + 1 < text.len() => {
            Val::str(&text[..floor_boundary(text, MAX_EXCERPT_BYTES + 1)])
        }
        other => other.clone(),
    };
    let text = compact(&shortened);
    if text.len() <= MAX_EXCERPT_BYTES {
        return text;
    }
    let close = match text.as_bytes()[0] {
        b'"' => "\"",
        b'[' => "]",
        b'{' => "}",
        _ => "",
    };
    let kept = floor_boundary(&text, MAX_EXCERPT_BYTES - 3 - close.len());
    format!("{}...{close}", &text[..kept])
}

/// Returns the largest character boundary that is at most `index`.
fn floor_boundary(text: &str, index: usize) -> usize {
    (0..=index)
        .rev()
        .find(|index| text.is_char_boundary(*index))
        .unwrap_or(0)
}

fn write_value(value: &Val, out: &mut String, indent: Option<usize>, depth: usize) {
    if MAX_DEPTH < depth {
        out.push_str("<skipped: too deep>");
        return;
    }
    match value {
        Val::Null => out.push_str("null"),
        Val::Bool(true) => out.push_str("true"),
        Val::Bool(false) => out.push_str("false"),
        Val::Num(double) => out.push_str(&number::format(*double)),
        Val::Lit(literal) => out.push_str(literal.text()),
        Val::Str(text) => write_quoted(text, out),
        Val::Arr(values) if values.is_empty() => out.push_str("[]"),
        Val::Arr(values) => {
            out.push('[');
            for (index, value) in values.iter().enumerate() {
                if 0 < index {
                    out.push(',');
                }
                write_line_break(out, indent, depth + 1);
                write_value(value, out, indent, depth + 1);
            }
            write_line_break(out, indent, depth);
            out.push(']');
        }
        Val::Obj(map) if map.is_empty() => out.push_str("{}"),
        Val::Obj(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                if 0 < index {
                    out.push(',');
                }
                write_line_break(out, indent, depth + 1);
                write_quoted(key, out);
                out.push_str(if indent.is_some() { ": " } else { ":" });
                write_value(value, out, indent, depth + 1);
            }
            write_line_break(out, indent, depth);
            out.push('}');
        }
    }
}

fn write_line_break(out: &mut String, indent: Option<usize>, depth: usize) {
    if let Some(width) = indent {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', width * depth));
    }
}

/// Writes a quoted string.
///
/// Only quotes, backslashes, control characters and DEL are escaped.
fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    let mut plain = 0;
    for (index, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\t' => "\\t",
            b'\r' => "\\r",
            0x08 => "\\b",
            0x0c => "\\f",
            0..=0x1f | 0x7f => "",
            _ => continue,
        };
        out.push_str(&text[plain..index]);
        plain = index + 1;
        if escape.is_empty() {
            write!(out, "\\u{byte:04x}").expect("a string takes everything");
        } else {
            out.push_str(escape);
        }
    }
    out.push_str(&text[plain..]);
    out.push('"');
}
