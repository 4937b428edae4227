//! Builtins for formats: `@csv`, `@base64` and others.

use std::fmt::Write;

use jaq_core::native::Fun;

use super::builtin;
use crate::jq::engine::JqTypes;
use crate::jq::error::{JqEvalResult, runtime_error, type_error};
use crate::jq::value::Val;
use crate::jq::write;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

pub(super) fn natives() -> Vec<Fun<JqTypes>> {
    vec![builtin!("format", format, 1)]
}

/// Formats a value; `@csv` is `format("csv")`.
fn format(value: Val, name: &Val) -> JqEvalResult {
    let Val::Str(name) = name else {
        return Err(type_error(name, "is not a valid format"));
    };
    match name.as_str() {
        "text" => text(value),
        "json" => json(value),
        "csv" => csv(value),
        "tsv" => tsv(value),
        "html" => html(value),
        "uri" => uri(value),
        "urid" => uri_decoded(value),
        "sh" => shell(value),
        "base64" => base64(value),
        "base64d" => base64_decoded(value),
        "base32" => base32(value),
        "base32d" => base32_decoded(value),
        other => Err(runtime_error(format!("{other} is not a valid format"))),
    }
}

fn text(value: Val) -> JqEvalResult {
    Ok(Val::Str(value.text()))
}

fn json(value: Val) -> JqEvalResult {
    Ok(Val::str(write::compact(&value)))
}

fn csv(value: Val) -> JqEvalResult {
    row(&value, ",", "cannot be csv-formatted, only array", |text| {
        format!("\"{}\"", text.replace('"', "\"\""))
    })
}

fn tsv(value: Val) -> JqEvalResult {
    row(
        &value,
        "\t",
        "cannot be tsv-formatted, only array",
        |text| {
            text.replace('\\', "\\\\")
                .replace('\t', "\\t")
                .replace('\n', "\\n")
                .replace('\r', "\\r")
        },
    )
}

fn row(
    value: &Val,
    separator: &str,
    unfit_reason: &str,
    quote: fn(&str) -> String,
) -> JqEvalResult {
    let Val::Arr(cells) = value else {
        return Err(type_error(value, unfit_reason));
    };
    let cell = |cell: &Val| match cell {
        Val::Null => Ok(String::new()),
        Val::Num(number) if number.is_nan() => Ok(String::new()),
        Val::Bool(_) | Val::Num(_) | Val::Lit(_) => Ok(write::compact(cell)),
        Val::Str(text) => Ok(quote(text)),
        other => Err(type_error(other, "is not valid in a csv row")),
    };
    let cells: Vec<String> = cells.iter().map(cell).collect::<JqEvalResult<_>>()?;
    Ok(Val::str(cells.join(separator)))
}

fn html(value: Val) -> JqEvalResult {
    let mut out = String::new();
    for char in value.text().chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&apos;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    Ok(Val::str(out))
}

fn uri(value: Val) -> JqEvalResult {
    let mut out = String::new();
    for byte in value.text().bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("a string takes everything");
        }
    }
    Ok(Val::str(out))
}

fn uri_decoded(value: Val) -> JqEvalResult {
    let text = value.text();
    let wrong = || type_error(&Val::Str(text.clone()), "is not a valid uri encoding");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let [high, low, tail @ ..] = rest else {
            return Err(wrong());
        };
        let digit = |byte: u8| {
            char::from(byte)
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        };
        let (Some(high), Some(low)) = (digit(*high), digit(*low)) else {
            return Err(wrong());
        };
        bytes.push(high * 16 + low);
        rest = tail;
    }
    String::from_utf8(bytes).map(Val::str).map_err(|_| wrong())
}

fn shell(value: Val) -> JqEvalResult {
    let word = |word: &Val| match word {
        Val::Str(text) => Ok(format!("'{}'", text.replace('\'', "'\\''"))),
        Val::Arr(_) | Val::Obj(_) => Err(type_error(word, "can not be escaped for shell")),
        other => Ok(write::compact(other)),
    };
    let words: Vec<String> = match &value {
        Val::Arr(words) => words.iter().map(word).collect::<JqEvalResult<_>>()?,
        other => vec![word(other)?],
    };
    Ok(Val::str(words.join(" ")))
}

fn base64(value: Val) -> JqEvalResult {
    Ok(Val::str(encode(value.text().as_bytes(), BASE64, 6, 4)))
}

fn base32(value: Val) -> JqEvalResult {
    Ok(Val::str(encode(value.text().as_bytes(), BASE32, 5, 8)))
}

/// Encodes bytes as digits of `bits` bits each, padded with `=` to groups of `group`.
fn encode(bytes: &[u8], alphabet: &[u8], bits: u32, group: usize) -> String {
    let mut out = String::new();
    let (mut held, mut count) = (0_u32, 0);
    let mask = (1 << bits) - 1;
    let mut push = |digit: u32| out.push(char::from(alphabet[(digit & mask) as usize]));
    for byte in bytes {
        held = (held << 8 | u32::from(*byte)) & 0xffff;
        count += 8;
        while bits <= count {
            count -= bits;
            push(held >> count);
        }
    }
    if 0 < count {
        push(held << (bits - count));
    }
    while !out.len().is_multiple_of(group) {
        out.push('=');
    }
    out
}

fn base64_decoded(value: Val) -> JqEvalResult {
    decode(
        value,
        BASE64,
        6,
        "is not valid base64 data",
        "trailing base64 byte found",
    )
}

fn base32_decoded(value: Val) -> JqEvalResult {
    decode(
        value,
        BASE32,
        5,
        "is not valid base32 data",
        "trailing base32 byte found",
    )
}

fn decode(value: Val, alphabet: &[u8], bits: u32, invalid: &str, trailing: &str) -> JqEvalResult {
    let text = value.text();
    let mut bytes = Vec::new();
    let (mut held, mut count, mut digits) = (0_u32, 0, 0);
    for byte in text.bytes().take_while(|byte| *byte != b'=') {
        let Some(digit) = alphabet.iter().position(|other| *other == byte) else {
            return Err(type_error(&Val::Str(text), invalid));
        };
        held = (held << bits | u32::try_from(digit).unwrap_or(0)) & 0xf_ffff;
        count += bits;
        digits += 1;
        if 8 <= count {
            count -= 8;
            bytes.push(u8::try_from(held >> count & 0xff).unwrap_or(0));
        }
    }
    if bits == 6 && digits % 4 == 1 {
        return Err(type_error(&Val::Str(text), trailing));
    }
    Ok(Val::str(String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result_text(result: JqEvalResult) -> String {
        result
            .unwrap_or_else(jaq_core::Error::into_val)
            .text()
            .to_string()
    }

    #[test]
    fn what_is_encoded_can_be_decoded() {
        for text in ["", "a", "ab", "abc", "abcd", "ä語😀", "\0\n%+/="] {
            let value = || Val::str(text);
            assert_eq!(result_text(base64(value()).and_then(base64_decoded)), text);
            assert_eq!(result_text(base32(value()).and_then(base32_decoded)), text);
            assert_eq!(result_text(uri(value()).and_then(uri_decoded)), text);
        }
        assert_eq!(
            result_text(base64(Val::str("any carnal"))),
            "YW55IGNhcm5hbA=="
        );
        assert_eq!(result_text(base32(Val::str("foobar"))), "MZXW6YTBOI======");
    }

    #[test]
    fn rows_are_quoted_as_their_readers_want() {
        let row = || {
            Val::array(vec![
                Val::str("a\"b,\tc"),
                Val::Num(1.5),
                Val::Null,
                Val::Bool(true),
            ])
        };
        assert_eq!(result_text(csv(row())), "\"a\"\"b,\tc\",1.5,,true");
        assert_eq!(result_text(tsv(row())), "a\"b,\\tc\t1.5\t\ttrue");
        assert_eq!(result_text(shell(Val::str("it's"))), "'it'\\''s'");
        assert_eq!(
            result_text(html(Val::str("<a href='x'>&"))),
            "&lt;a href=&apos;x&apos;&gt;&amp;"
        );
    }

    #[test]
    fn what_cannot_be_decoded_is_named() {
        assert_eq!(
            result_text(base64_decoded(Val::str("a?"))),
            "string (\"a?\") is not valid base64 data"
        );
        assert_eq!(
            result_text(uri_decoded(Val::str("%f"))),
            "string (\"%f\") is not a valid uri encoding"
        );
    }
}
