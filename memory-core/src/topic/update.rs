//! Replaces a passage of a topic.

use std::borrow::Cow;

use super::services::index_overflow;
use super::write::{check_text, refuse_new_secrets};
use super::{
    TopicChange, TopicError, TopicName, TopicPath, TopicText, TopicWriteResult, Topics, find,
};
use crate::{SecretPolicy, Verb};

/// Replaces `old` by `new` in the file of the topic called `reference`.
///
/// `old` must occur exactly once, verbatim except for line breaks, which are converted to those of the file.
///
/// # Errors
/// [`TopicError::Absent`], [`TopicError::Twice`]; if the result cannot be parsed as a topic or has an invalid type; if
/// `new` adds a credential; or a disk error.
pub fn update(
    topics: &Topics,
    reference: &str,
    old: &str,
    new: &str,
    secrets: SecretPolicy,
) -> Result<TopicWriteResult, TopicError> {
    let name: TopicName = find(topics, reference)?;
    let operation = topics.begin(Verb::Update)?;
    let mut decide = |former: Option<&TopicText>| {
        let former = former.ok_or_else(|| TopicError::not_found(reference))?;
        let (next, _) = replace_once(name.path(), &former.text, old, new)?;
        let next = refuse_new_secrets(&former.text, next, secrets)?;
        Ok(if *next == former.text {
            TopicChange::Keep
        } else {
            TopicChange::Revised(next)
        })
    };
    let done = topics.store.change(name.path(), &operation, &mut decide)?;
    topics.store.count_use(&name, operation.at);
    let long_index = index_overflow(topics).ok().flatten();
    Ok(TopicWriteResult {
        name,
        created: false,
        changed: done.is_yes(),
        stale_index: done.stale_index(),
        long_index,
    })
}

/// Replaces the single occurrence of `old` in `text`; returns the text and the line, counted from 1.
///
/// The line breaks of `new`, and of `old` if it does not occur verbatim, are converted to those of `text`.
pub(super) fn replace_once(
    path: &TopicPath,
    text: &str,
    old: &str,
    new: &str,
) -> Result<(String, usize), TopicError> {
    if old.is_empty() {
        return Err(TopicError::invalid(
            "the text to replace is empty",
            "copy the text verbatim from the file",
        ));
    }
    let (mut old, new) = (Cow::Borrowed(old), match_line_breaks(text, new));
    let mut places = find_occurrences(text, &old);
    if places.is_empty() {
        old = match_line_breaks(text, &old).into_owned().into();
        places = self::find_occurrences(text, &old);
    }
    let [place] = places[..] else {
        let name = path.to_string();
        return Err(match places[..] {
            [] => TopicError::Absent { name },
            _ => TopicError::Twice {
                name,
                lines: places.iter().map(|place| line_at(text, *place)).collect(),
            },
        });
    };
    let next = [&text[..place], &new, &text[place + old.len()..]].concat();
    check_text(&next)?;
    Ok((next, line_at(text, place)))
}

/// Returns `more` with the style of the first line break of `text`.
pub(super) fn match_line_breaks<'t>(text: &str, more: &'t str) -> Cow<'t, str> {
    let is_long = text
        .find('\n')
        .is_some_and(|end| text[..end].ends_with('\r'));
    if is_long && more.contains('\n') {
        more.replace("\r\n", "\n").replace('\n', "\r\n").into()
    } else {
        more.into()
    }
}

/// Returns the byte offsets of `old` in `text`, including overlapping occurrences.
fn find_occurrences(text: &str, old: &str) -> Vec<usize> {
    let step = old.chars().next().map_or(1, char::len_utf8);
    let (mut places, mut at) = (Vec::new(), 0);
    while let Some(found) = text[at..].find(old) {
        places.push(at + found);
        at += found + step;
    }
    places
}

/// Returns the line of a byte offset, counted from 1.
fn line_at(text: &str, place: usize) -> usize {
    text[..place].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn a_passage_is_replaced_where_it_stands_once_to_the_letter() {
        let path: TopicPath = "a.md".parse().unwrap();
        let told = |error: TopicError| error.to_string();
        let replaced = |text: &str, old: &str| {
            replace_once(&path, text, old, "X")
                .map(|(next, _)| next)
                .map_err(told)
        };
        assert_eq!(replaced("tea at nine", "tea").as_deref(), Ok("X at nine"));
        assert_eq!(replaced("深色主题", "色").as_deref(), Ok("深X主题"));
        assert_eq!(
            replaced("a\nb", "a\r\nb").unwrap_err(),
            "a.md does not contain that text"
        );
        assert_eq!(
            replaced("Tea", "tea").unwrap_err(),
            "a.md does not contain that text"
        );
        assert_eq!(
            replaced("a\nb\na", "a").unwrap_err(),
            "a.md contains that text 2 times, in lines 1, 3"
        );
        assert_eq!(
            replaced("aaa", "aa").unwrap_err(),
            "a.md contains that text 2 times, in lines 1, 1"
        );
        assert_eq!(
            super::replace_once(&path, "a", "", "b").unwrap_err().code(),
            Code::InvalidInput
        );
        assert_eq!(
            super::replace_once(&path, "a", "a", "\0")
                .unwrap_err()
                .code(),
            Code::InvalidInput
        );
    }

    #[test]
    fn line_breaks_are_those_of_the_file() {
        let path: TopicPath = "a.md".parse().unwrap();
        let replaced =
            |text: &str, old: &str, new: &str| replace_once(&path, text, old, new).unwrap();
        assert_eq!(
            replaced("0\r\na\r\nb\r\n", "a\nb", "x\ny\r\nz"),
            ("0\r\nx\r\ny\r\nz\r\n".into(), 2)
        );
        assert_eq!(
            replaced("a\r\nb\r\n", "b", "x\ny"),
            ("a\r\nx\r\ny\r\n".into(), 2)
        );
        assert_eq!(
            replaced("0\na\nb\n", "a\nb", "x\ny"),
            ("0\nx\ny\n".into(), 2)
        );
        // A verbatim occurrence takes precedence.
        assert_eq!(replaced("0\r\na\nb\r\n", "a\nb", "x").0, "0\r\nx\r\n");
    }
}
