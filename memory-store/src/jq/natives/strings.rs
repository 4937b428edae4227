//! Builtins for strings.

use std::rc::Rc;

use jaq_core::native::Fun;

use super::builtin;
use crate::jq::engine::JqTypes;
use crate::jq::error::{JqEvalResult, runtime_error, type_error};
use crate::jq::value::Val;
use crate::jq::{arithmetic, read, write};

pub(super) fn natives() -> Vec<Fun<JqTypes>> {
    vec![
        builtin!("tostring", to_string),
        builtin!("tojson", to_json),
        builtin!("fromjson", from_json),
        builtin!("tonumber", to_number),
        builtin!("toboolean", to_boolean),
        builtin!("utf8bytelength", byte_length),
        builtin!("explode", explode),
        builtin!("implode", implode),
        builtin!("ascii_downcase", ascii_downcase),
        builtin!("ascii_upcase", ascii_upcase),
        builtin!("startswith", starts_with, 1),
        builtin!("endswith", ends_with, 1),
        builtin!("trim", trim),
        builtin!("ltrim", trim_start),
        builtin!("rtrim", trim_end),
        builtin!("split", split, 1),
        builtin!("_strindices", indices, 1),
    ]
}

fn to_string(value: Val) -> JqEvalResult {
    Ok(Val::Str(value.text()))
}

fn to_json(value: Val) -> JqEvalResult {
    Ok(Val::str(write::compact(&value)))
}

fn from_json(value: Val) -> JqEvalResult {
    let Val::Str(text) = &value else {
        return Err(type_error(&value, "only strings can be parsed"));
    };
    let bare = text.trim_matches([' ', '\t', '\r', '\n']);
    if bare.is_empty() {
        return Ok(Val::Null);
    }
    read::parse_one(text).map_err(|flaw| runtime_error(format!("{flaw} (while parsing '{text}')")))
}

fn to_number(value: Val) -> JqEvalResult {
    let Val::Str(text) = &value else {
        return match value {
            Val::Num(_) | Val::Lit(_) => Ok(value),
            other => Err(type_error(&other, "cannot be parsed as a number")),
        };
    };
    let number = match text.strip_prefix('-').unwrap_or(text) {
        "nan" => Some(Val::Num(f64::NAN)),
        _ if read::is_number(text) => Val::parse_number(text.strip_prefix('+').unwrap_or(text)),
        _ => None,
    };
    number.ok_or_else(|| type_error(&value, "cannot be parsed as a number"))
}

fn to_boolean(value: Val) -> JqEvalResult {
    match &value {
        Val::Bool(_) => Ok(value),
        Val::Str(text) if text.as_str() == "true" => Ok(Val::Bool(true)),
        Val::Str(text) if text.as_str() == "false" => Ok(Val::Bool(false)),
        other => Err(type_error(other, "cannot be parsed as a boolean")),
    }
}

fn byte_length(value: Val) -> JqEvalResult {
    match &value {
        Val::Str(text) => Ok(Val::count(text.len())),
        other => Err(type_error(other, "only strings have UTF-8 byte length")),
    }
}

fn explode(value: Val) -> JqEvalResult {
    match &value {
        Val::Str(text) => Ok(text
            .chars()
            .map(|char| Val::Num(f64::from(u32::from(char))))
            .collect()),
        other => Err(type_error(other, "cannot be exploded")),
    }
}

fn implode(value: Val) -> JqEvalResult {
    let Val::Arr(codes) = &value else {
        return Err(runtime_error("implode input must be an array"));
    };
    let char = |code: &Val| match code.number() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what is no code point is replaced"
        )]
        Some(code) if !code.is_nan() => {
            let char = if code < 0.0 {
                None
            } else {
                char::from_u32(code as u32)
            };
            Ok(char.unwrap_or(char::REPLACEMENT_CHARACTER))
        }
        _ => Err(type_error(
            code,
            "can't be imploded, unicode codepoint needs to be numeric",
        )),
    };
    codes
        .iter()
        .map(char)
        .collect::<JqEvalResult<String>>()
        .map(Val::str)
}

fn ascii_downcase(value: Val) -> JqEvalResult {
    match value {
        Val::Str(mut text) => {
            Rc::make_mut(&mut text).make_ascii_lowercase();
            Ok(Val::Str(text))
        }
        _ => Err(runtime_error("ascii_downcase input must be a string")),
    }
}

fn ascii_upcase(value: Val) -> JqEvalResult {
    match value {
        Val::Str(mut text) => {
            Rc::make_mut(&mut text).make_ascii_uppercase();
            Ok(Val::Str(text))
        }
        _ => Err(runtime_error("ascii_upcase input must be a string")),
    }
}

fn starts_with(value: Val, prefix: &Val) -> JqEvalResult {
    match (&value, prefix) {
        (Val::Str(text), Val::Str(prefix)) => Ok(Val::Bool(text.starts_with(&***prefix))),
        _ => Err(runtime_error("startswith() requires string inputs")),
    }
}

fn ends_with(value: Val, suffix: &Val) -> JqEvalResult {
    match (&value, suffix) {
        (Val::Str(text), Val::Str(suffix)) => Ok(Val::Bool(text.ends_with(&***suffix))),
        _ => Err(runtime_error("endswith() requires string inputs")),
    }
}

fn trim(value: Val) -> JqEvalResult {
    trim_with(&value, |text| text.trim_matches(is_space))
}

fn trim_start(value: Val) -> JqEvalResult {
    trim_with(&value, |text| text.trim_start_matches(is_space))
}

fn trim_end(value: Val) -> JqEvalResult {
    trim_with(&value, |text| text.trim_end_matches(is_space))
}

fn trim_with(value: &Val, trim: fn(&str) -> &str) -> JqEvalResult {
    match value {
        Val::Str(text) => Ok(Val::str(trim(text))),
        _ => Err(runtime_error("trim input must be a string")),
    }
}

fn is_space(char: char) -> bool {
    char.is_whitespace()
}

fn split(value: Val, separator: &Val) -> JqEvalResult {
    match (&value, separator) {
        (Val::Str(text), Val::Str(separator)) => Ok(arithmetic::split(text, separator)),
        _ => Err(runtime_error("split input and separator must be strings")),
    }
}

/// Returns the start positions of `sought` in characters; matches may overlap.
fn indices(value: Val, sought: &Val) -> JqEvalResult {
    let Val::Str(text) = &value else {
        return Err(type_error(
            &value,
            "cannot be searched, as it is not a string",
        ));
    };
    let Val::Str(sought) = sought else {
        return Err(type_error(sought, "is not a string"));
    };
    if sought.is_empty() {
        return Ok(Val::Null);
    }
    let mut found = Vec::new();
    let (mut from, mut counted, mut chars) = (0, 0, 0);
    while let Some(at) = text[from..].find(&***sought) {
        let at = from + at;
        chars += text[counted..at].chars().count();
        counted = at;
        found.push(Val::count(chars));
        from = at + text[at..].chars().next().map_or(1, char::len_utf8);
    }
    Ok(Val::array(found))
}
