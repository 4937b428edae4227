//! Builtins for regular expressions.

use std::cell::RefCell;
use std::rc::Rc;

use fancy_regex::{Regex, RegexBuilder};
use jaq_core::native::{Fun, bome, run, v};

use super::builtin;
use crate::jq::engine::JqTypes;
use crate::jq::error::{JqEvalResult, runtime_error, type_error};
use crate::jq::value::{Map, Val};

pub(super) fn natives() -> Vec<Fun<JqTypes>> {
    vec![
        run(("_match", v(3), |mut cv| {
            let (test, flags, pattern) = (cv.0.pop_var(), cv.0.pop_var(), cv.0.pop_var());
            bome(matches(&cv.1, &pattern, &flags, test.truthy()))
        })),
        builtin!("_between", text_between, 1),
        builtin!("_replaced", replace_matches, 2),
    ]
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a letter, and any may stand with any"
)]
struct RegexFlags {
    global: bool,
    ignore_case: bool,
    extended: bool,
    dot_all: bool,
    skip_empty: bool,
}

impl RegexFlags {
    fn parse(flags: &Val) -> JqEvalResult<Self> {
        let mut parsed = Self::default();
        let letters = match flags {
            Val::Null => return Ok(parsed),
            Val::Str(letters) => letters,
            other => return Err(type_error(other, "is not a string")),
        };
        for letter in letters.chars() {
            match letter {
                'g' => parsed.global = true,
                'i' => parsed.ignore_case = true,
                'x' => parsed.extended = true,
                'p' => parsed.dot_all = true,
                'n' => parsed.skip_empty = true,
                // `^` and `$` match only at the ends of the text anyway (`s`), and the match found is mostly the longest one (`l`).
                's' | 'l' => (),
                _ => {
                    return Err(runtime_error(format!(
                        "{letters} is not a valid modifier string"
                    )));
                }
            }
        }
        Ok(parsed)
    }
}

thread_local! {
    /// The last regular expression, because most programs use one pattern repeatedly.
    static LAST: RefCell<Option<(String, RegexFlags, Rc<Regex>)>> = const { RefCell::new(None) };
}

fn compile(pattern: &str, flags: RegexFlags) -> JqEvalResult<Rc<Regex>> {
    let known = LAST.with_borrow(|last| match last {
        Some((text, with, regex)) if text == pattern && *with == flags => Some(Rc::clone(regex)),
        _ => None,
    });
    if let Some(regex) = known {
        return Ok(regex);
    }
    let mut options = String::new();
    for (wanted, letter) in [
        (flags.ignore_case, 'i'),
        (flags.extended, 'x'),
        (flags.dot_all, 's'),
    ] {
        if wanted {
            options.push(letter);
        }
    }
    let text = if options.is_empty() {
        pattern.to_owned()
    } else {
        format!("(?{options}){pattern}")
    };
    let regex = RegexBuilder::new(&text).build();
    let regex = Rc::new(
        regex.map_err(|error| runtime_error(format!("{pattern} is not a valid regex: {error}")))?,
    );
    LAST.set(Some((pattern.to_owned(), flags, Rc::clone(&regex))));
    Ok(regex)
}

/// Returns all matches as objects, or whether there is a match.
fn matches(value: &Val, pattern: &Val, flags: &Val, only_whether: bool) -> JqEvalResult {
    let Val::Str(text) = value else {
        return Err(type_error(
            value,
            "cannot be matched, as it is not a string",
        ));
    };
    let Val::Str(pattern) = pattern else {
        return Err(type_error(
            pattern,
            "cannot be matched, as it is not a string",
        ));
    };
    let flags = RegexFlags::parse(flags)?;
    let regex = compile(pattern, flags)?;
    let names: Vec<Option<&str>> = regex.capture_names().collect();
    let mut characters = CharacterOffsets {
        text,
        byte: 0,
        count: 0,
    };
    let mut found = Vec::new();
    let mut from = 0;
    while from <= text.len() {
        let captures = regex.captures_from_pos(text.as_str(), from);
        let captures = captures.map_err(|error| runtime_error(format!("{pattern}: {error}")))?;
        let Some(captures) = captures else { break };
        let whole = captures
            .get(0)
            .expect("the whole of a match is its first group");
        from = whole.end();
        if whole.start() == whole.end() {
            from += text[from..].chars().next().map_or(1, char::len_utf8);
            if flags.skip_empty {
                continue;
            }
        }
        if only_whether {
            return Ok(Val::Bool(true));
        }
        let start = characters.count_to(whole.start());
        let groups = names.iter().enumerate().skip(1).map(|(index, name)| {
            let name = name.map_or(Val::Null, Val::str);
            match captures.get(index) {
                Some(group) => {
                    let before = &text[whole.start().min(group.start())..group.start()];
                    match_object(start + before.chars().count(), group.as_str(), Some(name))
                }
                None => Val::record([
                    ("offset", Val::Num(-1.0)),
                    ("length", Val::Num(0.0)),
                    ("string", Val::Null),
                    ("name", name),
                ]),
            }
        });
        let groups: Val = groups.collect();
        let Val::Obj(mut fields) = match_object(start, whole.as_str(), None) else {
            continue;
        };
        Rc::make_mut(&mut fields).insert(Rc::new("captures".to_owned()), groups);
        found.push(Val::Obj(fields));
        if !flags.global {
            break;
        }
    }
    Ok(if only_whether {
        Val::Bool(false)
    } else {
        Val::array(found)
    })
}

fn match_object(offset: usize, text: &str, name: Option<Val>) -> Val {
    let mut map = Map::default();
    let fields = [
        ("offset", Some(Val::count(offset))),
        ("length", Some(Val::count(text.chars().count()))),
        ("string", Some(Val::str(text))),
        ("name", name),
    ];
    for (key, value) in fields {
        if let Some(value) = value {
            map.insert(Rc::new(key.to_owned()), value);
        }
    }
    Val::object(map)
}

/// Converts ascending byte offsets to character offsets.
struct CharacterOffsets<'t> {
    text: &'t str,
    byte: usize,
    count: usize,
}

impl CharacterOffsets<'_> {
    fn count_to(&mut self, byte: usize) -> usize {
        self.count += self.text[self.byte..byte].chars().count();
        self.byte = byte;
        self.count
    }
}

fn object_field(value: &Val, name: &str) -> Val {
    match value {
        Val::Obj(map) => map.get(&name.to_owned()).cloned().unwrap_or_default(),
        _ => Val::Null,
    }
}

fn count(value: &Val) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is an offset of ours"
    )]
    let count = value.number().unwrap_or(0.0) as usize;
    count
}

/// Returns the parts of the text between `matches`.
fn text_between(value: Val, matches: &Val) -> JqEvalResult {
    let (Val::Str(text), Val::Arr(matches)) = (&value, matches) else {
        return Ok(value);
    };
    let mut rest = text.chars();
    let mut at = 0;
    let mut pieces = Vec::with_capacity(matches.len() + 1);
    for found in matches.iter() {
        let (offset, length) = (
            count(&object_field(found, "offset")),
            count(&object_field(found, "length")),
        );
        pieces.push(Val::str(
            rest.by_ref().take(offset - at).collect::<String>(),
        ));
        rest.by_ref().take(length).for_each(drop);
        at = offset + length;
    }
    pieces.push(Val::str(rest.as_str()));
    Ok(Val::array(pieces))
}

/// Returns the texts with all matches replaced.
///
/// The first text has the first string of each element of `new`, the second text the second strings, and so on.
fn replace_matches(value: Val, matches: &Val, new: &Val) -> JqEvalResult {
    let (Val::Arr(pieces), Val::Arr(new)) = (text_between(value, matches)?, new) else {
        return Ok(Val::Null);
    };
    let list = |value: &Val| match value {
        Val::Arr(values) => values.clone(),
        _ => Rc::default(),
    };
    let variants = new.iter().map(|new| list(new).len()).max().unwrap_or(0);
    let text = |variant: usize| {
        let mut text = Val::str("");
        for (piece, new) in pieces.iter().zip(new.iter()) {
            if let Some(new) = list(new).get(variant) {
                text = ((text + piece.clone())? + new.clone())?;
            }
        }
        text + pieces.last().cloned().unwrap_or_default()
    };
    (0..variants).map(text).collect()
}
