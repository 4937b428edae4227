//! The JSON printer, with the format of jq.

use std::fmt::Write;

use super::number;
use super::value::Val;

/// The maximum nesting that is printed.
const MOST_DEPTH: usize = 10_000;
/// The maximum length in bytes of a value in an error message.
const EXCERPT: usize = 29;

/// Prints a value on one line, without spaces.
pub(crate) fn compact(value: &Val) -> String {
    let mut out = String::new();
    put(value, &mut out, None, 0);
    out
}

/// Prints a value indented by two spaces.
pub(crate) fn pretty(value: &Val) -> String {
    let mut out = String::new();
    put(value, &mut out, Some(2), 0);
    out
}

/// Prints a value, shortened for an error message.
pub(crate) fn excerpt(value: &Val) -> String {
    let shortened = match value {
        Val::Str(text) if EXCERPT + 1 < text.len() => Val::str(&text[..floor(text, EXCERPT + 1)]),
        other => other.clone(),
    };
    let text = compact(&shortened);
    if text.len() <= EXCERPT {
        return text;
    }
    let close = match text.as_bytes()[0] {
        b'"' => "\"",
        b'[' => "]",
        b'{' => "}",
        _ => "",
    };
    let kept = floor(&text, EXCERPT - 3 - close.len());
    format!("{}...{close}", &text[..kept])
}

/// Returns the largest character boundary that is at most `index`.
fn floor(text: &str, index: usize) -> usize {
    (0..=index).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

fn put(value: &Val, out: &mut String, indent: Option<usize>, depth: usize) {
    if MOST_DEPTH < depth {
        out.push_str("<skipped: too deep>");
        return;
    }
    match value {
        Val::Null => out.push_str("null"),
        Val::Bool(true) => out.push_str("true"),
        Val::Bool(false) => out.push_str("false"),
        Val::Num(double) => out.push_str(&number::format(*double)),
        Val::Lit(literal) => out.push_str(literal.text()),
        Val::Str(text) => quote(text, out),
        Val::Arr(values) if values.is_empty() => out.push_str("[]"),
        Val::Arr(values) => {
            out.push('[');
            for (index, value) in values.iter().enumerate() {
                if 0 < index {
                    out.push(',');
                }
                line(out, indent, depth + 1);
                put(value, out, indent, depth + 1);
            }
            line(out, indent, depth);
            out.push(']');
        }
        Val::Obj(map) if map.is_empty() => out.push_str("{}"),
        Val::Obj(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                if 0 < index {
                    out.push(',');
                }
                line(out, indent, depth + 1);
                quote(key, out);
                out.push_str(if indent.is_some() { ": " } else { ":" });
                put(value, out, indent, depth + 1);
            }
            line(out, indent, depth);
            out.push('}');
        }
    }
}

fn line(out: &mut String, indent: Option<usize>, depth: usize) {
    if let Some(width) = indent {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', width * depth));
    }
}

/// Writes a quoted string.
///
/// Only quotes, backslashes, control characters and DEL are escaped.
fn quote(text: &str, out: &mut String) {
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
