//! Parses the single-valued attributes of the user and of things, such as a home, the name of a pet, or a port.

use super::words::{CHINESE, ENGLISH};
use crate::earlier::{before_condition, is_value_word};
use crate::language::strip_any;
use crate::query_parser::is_stop_token;
use crate::text::{fold, is_han};

/// Returns the attributes in a clause, each with its value.
pub(super) fn parse_attributes(clause: &str) -> Vec<(String, String)> {
    let clause = before_condition(clause);
    let mut found: Vec<(String, String)> = parse_chinese(clause).into_iter().collect();
    let spelled: Vec<&str> = clause
        .split_whitespace()
        .map(|word| word.trim_matches(|own: char| !own.is_alphanumeric()))
        .collect();
    let words: Vec<String> = spelled
        .iter()
        .map(|word| fold(word).replace('’', "'"))
        .collect();
    // "We also work on Monday" adds a value.
    if words.iter().any(|word| ["also", "too"].contains(&&**word)) {
        return Vec::new();
    }
    let all: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| !ENGLISH.ignored_words.contains(word))
        .collect();
    let spelled: Vec<&str> = spelled
        .into_iter()
        .filter(|word| {
            !ENGLISH
                .ignored_words
                .contains(&fold(word).replace('’', "'").as_str())
        })
        .collect();
    found.extend(parse_english(&all, &spelled));
    found
}

/// Returns whether two values of an attribute may be equal: they are, or one only adds details.
pub(super) fn is_same_value(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let has_all_words = || {
        let words: Vec<&str> = long.split(' ').collect();
        short.split(' ').all(|word| words.contains(&word))
    };
    let is_longer_han = || long.starts_with(short) && long.chars().all(is_han);
    has_all_words() || is_longer_han()
}

/// Returns the head of a value, without details.
fn value_head<'v, 'w>(value: &'v [&'w str]) -> &'v [&'w str] {
    let begin = value
        .iter()
        .take_while(|word| matches!(**word, "on" | "at" | "in"))
        .count();
    let value = &value[begin..];
    &value[..value
        .iter()
        .position(|word| ENGLISH.adjuncts.contains(word))
        .unwrap_or(value.len())]
}

fn parse_english(words: &[&str], spelled: &[&str]) -> Option<(String, String)> {
    let words = match words {
        ["the", "user", rest @ ..] => [&["i"], rest].concat(),
        ["the", "user's", rest @ ..] => [&["my"], rest].concat(),
        _ => words.to_vec(),
    };
    let own = |value: &[&str]| {
        let value: Vec<&str> = value_head(value)
            .iter()
            .copied()
            .filter(|word| !["a", "an", "the"].contains(word))
            .collect();
        (!value.is_empty()).then(|| value.join(" "))
    };
    let (name, value) = match words.as_slice() {
        [
            "i" | "we",
            "live" | "lives" | "reside" | "resides",
            "in" | "at" | "near",
            value @ ..,
        ]
        | ["i'm" | "we're", "living", "in" | "at" | "near", value @ ..]
        | [
            "i" | "we",
            "am" | "is" | "are",
            "living",
            "in" | "at" | "near",
            value @ ..,
        ] => ("home".into(), value),
        ["i" | "we", "moved", "to", value @ ..] => {
            let place = value_head(value);
            let end = spelled.len() - (value.len() - place.len());
            let is_name = |word: &&str| {
                word.starts_with(char::is_uppercase)
                    && !ENGLISH.non_places.contains(&fold(word).as_str())
            };
            if !spelled[end - place.len()..end].iter().all(is_name) {
                return None;
            }
            ("home".into(), place)
        }
        ["i", "work" | "works", "at" | "for", value @ ..]
        | ["i'm", "working", "at" | "for", value @ ..] => ("employer".into(), value),
        ["i", "work" | "works", "as", value @ ..] | ["my", "job", "is", value @ ..] => {
            ("job".into(), value)
        }
        ["i", "am" | "is", value, "years", "old", ..] | ["i'm", value, "years", "old", ..] => {
            ("age".into(), std::slice::from_ref(value))
        }
        ["my", "name", "is", value @ ..]
        | ["my", "name's", value @ ..]
        | ["call", "me", value @ ..] => ("name".into(), value),
        ["my", "favourite" | "favorite", rest @ ..] => {
            let is = rest.iter().position(|word| matches!(*word, "is" | "are"))?;
            (
                format!("favourite {}", rest[..is].join(" ")),
                &rest[is + 1..],
            )
        }
        ["my" | "our", rest @ ..] => {
            let is = rest
                .iter()
                .position(|word| matches!(*word, "is" | "are" | "called" | "named"))?;
            let value = &rest[is + 1..];
            let value = if let ["called" | "named", value @ ..] = value {
                value
            } else {
                value
            };
            let thing = rest[..is].join(" ").replace("'s name", "");
            let is_one_of_several = thing
                .rsplit(' ')
                .next()
                .is_some_and(|kind| ENGLISH.multiple_kinds.contains(&kind));
            if is_one_of_several
                && !rest[..is]
                    .iter()
                    .any(|word| ENGLISH.unique_qualifiers.contains(word))
            {
                return None;
            }
            // Only a name, a number or a day is single-valued: a brown dog may also be large.
            let first = value
                .iter()
                .find(|word| !["on", "at", "in"].contains(word))?;
            let is_name = |word: &&&str| {
                fold(word) == **first
                    && word.starts_with(|own: char| own.is_uppercase() || own.is_numeric())
            };
            spelled.iter().find(is_name)?;
            (format!("name of {thing}"), value)
        }
        // Of anything else, only a number, a day or a month is single-valued.
        words => {
            let is = words
                .iter()
                .position(|word| matches!(*word, "is" | "are"))?;
            let value = &words[is + 1..];
            let value: Vec<&str> = value
                .iter()
                .copied()
                .filter(|word| !["on", "at", "in"].contains(word))
                .collect();
            let is_thing = words[..is].iter().any(|word| !is_stop_token(word, true));
            let is_single = !value.is_empty() && value.iter().all(|word| is_value_word(word));
            return (is_thing && is_single).then(|| (words[..is].join(" "), value.join(" ")));
        }
    };
    Some((name, own(value)?))
}

fn parse_chinese(clause: &str) -> Option<(String, String)> {
    let text: String = clause.chars().filter(|own| own.is_alphanumeric()).collect();
    let of_user = strip_any(&text, &["我们", "用户", "用戶", "我"]);
    let Some(text) = of_user else {
        let (thing, number) = text.split_once('是')?;
        let is_single = !thing.ends_with(['但', '还', '总', '不', '就', '也', '都'])
            && !thing.is_empty()
            && number.chars().all(char::is_numeric);
        return is_single.then(|| (thing.to_owned(), number.to_owned()));
    };
    let text = strip_any(text, &["现在", "目前", "已经", "今年"]).unwrap_or(text);
    let value = |value: &str| {
        let value = value.trim_end_matches(['了', '啦', '啊']);
        (!value.is_empty()).then(|| value.to_owned())
    };
    if let Some(home) = strip_any(text, &["住在", "搬到了", "搬到", "搬去了", "搬去"]) {
        return Some(("home".into(), value(home)?));
    }
    if let Some(place) = text.strip_prefix('在') {
        let employer = ["工作", "上班"]
            .iter()
            .find_map(|verb| place.trim_end_matches('了').strip_suffix(verb))?;
        return Some(("employer".into(), value(employer)?));
    }
    if let Some(age) = text.strip_suffix('岁').or_else(|| text.strip_suffix('歲')) {
        return Some(("age".into(), value(age)?));
    }
    if let Some((kind, own)) = text
        .strip_prefix("最喜欢的")
        .and_then(|rest| rest.split_once('是'))
    {
        return Some((format!("favourite {kind}"), value(own)?));
    }
    if let Some(name) = text
        .strip_prefix('叫')
        .or_else(|| text.strip_prefix("的名字是"))
    {
        return Some(("name".into(), value(name)?));
    }
    let (thing, name) = text
        .split_once("的名字是")
        .or_else(|| text.split_once("名叫"))
        .or_else(|| text.split_once('叫'))?;
    let thing = thing.trim_start_matches('的');
    let is_one_of_several = CHINESE
        .multiple_kinds
        .iter()
        .any(|kind| thing.ends_with(kind))
        && !thing.contains('最');
    if is_one_of_several {
        None
    } else {
        Some((format!("name of {thing}"), value(name)?))
    }
}
