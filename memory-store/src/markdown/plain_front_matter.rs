//! Front matter of files other than memories, as a list of keys and text values.

use std::borrow::Cow;
use std::ops::Range;

use memory_core::front_matter::{self, line_break};
use memory_core::parse_day;
use memory_core::yaml::{self, YamlNode};

use super::lines::{self, ValueStyle, YamlEntry};
use super::scalar::{ScalarContext, double_quoted, scalar, single_quoted};
use super::text;

/// The maximum length of a front matter that is parsed, in bytes.
const MAX_FRONT_MATTER_BYTES: usize = 1 << 20;

/// The front matter of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlainFrontMatter {
    /// The keys with text values, in their order; the keys of a nested map are `map.key`.
    pub values: Vec<(String, String)>,
    /// The defect, if any; the values that could be read are present anyway.
    pub problem: Option<String>,
    /// Whether the front matter has no closing fence.
    pub is_open: bool,
}

impl PlainFrontMatter {
    /// Parses the front matter of a text.
    pub(crate) fn of(text: &str) -> Self {
        let parts = front_matter::split(text);
        let mut front = Self {
            values: Vec::new(),
            problem: None,
            is_open: parts.is_open,
        };
        if parts.is_open {
            front.problem =
                Some("the front matter that starts in line 1 has no closing line".into());
        }
        let Some(fences) = parts.front else {
            return front;
        };
        if MAX_FRONT_MATTER_BYTES < fences.yaml.len() {
            front.problem = Some("the front matter is longer than 1 MiB".into());
            return front;
        }
        match yaml::parse_spelled(fences.yaml) {
            Ok(YamlNode::Map(entries)) => front.values = text_values(&entries),
            Ok(YamlNode::Null) => {}
            Ok(_) => {
                front.problem = Some("the front matter is not a map of keys and values".into());
            }
            Err(error) => {
                let line = error
                    .line
                    .map_or_else(String::new, |line| format!(" (line {})", line + 2));
                front.problem = Some(format!(
                    "the front matter is not valid YAML{line}: {}",
                    error.what
                ));
                front.values = plain_lines(fences.yaml);
            }
        }
        front
    }

    /// Returns the value of a key; the first one if the key is duplicated.
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        self.values
            .iter()
            .find(|(own, _)| own == key)
            .map(|(_, value)| value.as_str())
    }

    /// Returns whether replacing the front matter of a text by `keys` loses no readable data.
    pub(crate) fn is_replaceable(text: &str, keys: &[&str]) -> bool {
        let Some(fences) = front_matter::split(text).front else {
            return true;
        };
        match yaml::parse_spelled(fences.yaml) {
            Ok(YamlNode::Map(entries)) => entries
                .iter()
                .all(|(key, _)| matches!(key, YamlNode::Text(key) if keys.contains(&key.as_str()))),
            Ok(_) | Err(_) => true,
        }
    }

    fn without(&self, keys: &[(&str, &str)]) -> Vec<(String, String)> {
        let is_other = |(own, _): &&(String, String)| !keys.iter().any(|(key, _)| key == own);
        self.values.iter().filter(is_other).cloned().collect()
    }
}

/// Decodes bytes leniently, and returns the defect, if any.
pub(crate) fn lossy_text(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    let (text, fault) = text::decode_lossy(bytes);
    (text, fault.map(|fault| fault.what))
}

/// Returns whether the front matter of a text ends within `beginning`, the start of the text.
pub(crate) fn has_whole_front_matter(beginning: &str) -> bool {
    !front_matter::split(beginning).is_open
}

/// Returns the text after the front matter.
pub(crate) fn body(text: &str) -> &str {
    front_matter::split(text).body
}

/// Returns `text` with the given front matter values, and with the body `content` if given.
///
/// A key `map.key` is changed in its map. Other keys, comments, the order of keys and the empty lines between the front matter
/// and the body are unchanged.
///
/// # Errors
/// The reason why this is not possible without damage to the rest.
pub(crate) fn set_values(
    text: &str,
    values: &[(&str, &str)],
    content: Option<&str>,
) -> Result<String, String> {
    let parts = front_matter::split(text);
    let before = PlainFrontMatter::of(text);
    if parts.is_open {
        return Err("the front matter that starts in line 1 has no closing line".into());
    }
    let newline = line_break(text);
    let body = content.map_or(Cow::Borrowed(parts.body), |content| {
        new_body(parts.body, parts.front.is_some(), content, newline)
    });
    let Some(fences) = parts.front else {
        let keys: String = values
            .iter()
            .map(|(key, value)| line(key, value, newline))
            .collect();
        let gap = if content.is_none() && !body.is_empty() {
            newline
        } else {
            ""
        };
        return Ok([
            parts.mark, "---", newline, &keys, "---", newline, gap, &body,
        ]
        .concat());
    };
    let odd = || "the front matter has a format that cannot be edited line by line".to_owned();
    let entries = lines::find_entries(fences.yaml).ok_or_else(odd)?;
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut added = String::new();
    for (key, value) in values
        .iter()
        .filter(|(key, value)| before.value(key) != Some(*value))
    {
        let (outer, inner) = key
            .split_once('.')
            .map_or((*key, None), |(outer, inner)| (outer, Some(inner)));
        let mut own = entries
            .iter()
            .filter(|entry| matches!(&entry.key, YamlNode::Text(own) if own == outer));
        match own.next() {
            Some(entry) if inner.is_some() => {
                let place = inner
                    .and_then(|inner| nested_value(fences.yaml, entry, inner))
                    .ok_or_else(odd)?;
                edits.push((place, format_value(value)));
            }
            Some(_) if own.next().is_some() => {
                return Err(format!("the key `{key}` is duplicated"));
            }
            Some(entry) => {
                edits.push(entry_edit(fences.yaml, entry, key, value, newline).ok_or_else(odd)?);
            }
            None => added.push_str(&line(key, value, newline)),
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut yaml = fences.yaml.to_owned();
    for (range, text) in edits.into_iter().rev() {
        yaml.replace_range(range, &text);
    }
    let closing = if fences.closing.ends_with('\n') || body.is_empty() {
        ""
    } else {
        newline
    };
    let whole = [
        parts.mark,
        fences.opening,
        &yaml,
        &added,
        fences.closing,
        closing,
        &body,
    ]
    .concat();
    let after = PlainFrontMatter::of(&whole);
    if values
        .iter()
        .any(|(key, value)| after.value(key) != Some(*value))
        || before.without(values) != after.without(values)
    {
        return Err("the front matter cannot be updated without damage to its other keys".into());
    }
    Ok(whole)
}

/// Returns the body with this content, after the same empty lines as before.
fn new_body<'t>(former: &'t str, has_front: bool, content: &str, newline: &str) -> Cow<'t, str> {
    let blank_lines = former
        .split_inclusive('\n')
        .take_while(|line| line.trim().is_empty());
    let gap = if has_front && !former.trim().is_empty() {
        &former[..blank_lines.map(str::len).sum()]
    } else {
        newline
    };
    let content = content.replace("\r\n", "\n");
    let content = content.trim_end_matches('\n');
    // If the content is the same, the body is not reformatted.
    if former.trim() == content.replace('\n', newline).trim() && !former.is_empty() {
        return Cow::Borrowed(former);
    }
    let content = content.trim_start_matches('\n').replace('\n', newline);
    let end = if content.is_empty() { "" } else { newline };
    Cow::Owned([gap, &content, end].concat())
}

fn line(key: &str, value: &str, newline: &str) -> String {
    [key, ": ", &format_value(value), newline].concat()
}

/// Formats a value for the line of its key.
///
/// A date needs no quotes, because a parser that reads it as a date gets the same day.
fn format_value(value: &str) -> String {
    if parse_day(value).is_some() {
        value.to_owned()
    } else {
        scalar(value, ScalarContext::Block)
    }
}

/// Returns the range to replace and its replacement, to set the value of an entry.
fn entry_edit(
    yaml: &str,
    entry: &YamlEntry,
    key: &str,
    value: &str,
    newline: &str,
) -> Option<(Range<usize>, String)> {
    let place = entry.value.clone();
    match entry.shape {
        ValueStyle::Plain | ValueStyle::Lines | ValueStyle::Flow => {
            Some((place, format_value(value)))
        }
        ValueStyle::Double => Some((place, double_quoted(value))),
        ValueStyle::Single => Some((
            place,
            single_quoted(value).unwrap_or_else(|| double_quoted(value)),
        )),
        ValueStyle::Empty => Some((
            entry.after_key..entry.after_key,
            format!(" {}", format_value(value)),
        )),
        ValueStyle::Nested => {
            let is_ended = yaml[entry.lines.clone()].ends_with('\n');
            Some((
                entry.lines.clone(),
                line(key, value, if is_ended { newline } else { "" }),
            ))
        }
        ValueStyle::Odd => None,
    }
}

/// Returns the range of a key's value in the nested map of `entry`.
///
/// Returns `None` unless the value is one plain word on one line.
fn nested_value(yaml: &str, entry: &YamlEntry, key: &str) -> Option<Range<usize>> {
    let mut at = entry.lines.start;
    let mut found = None;
    for line in yaml[entry.lines.clone()].split_inclusive('\n') {
        let value = line
            .trim_start()
            .strip_prefix(key)
            .and_then(|rest| rest.strip_prefix(": "));
        if let Some(value) = value.filter(|_| line.starts_with([' ', '\t'])) {
            let start = at + line.len() - value.len();
            let word = value
                .split([' ', '\t', '\r', '\n'])
                .next()
                .unwrap_or_default();
            let is_plain = !word.is_empty()
                && word
                    .chars()
                    .all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-');
            if !is_plain || found.replace(start..start + word.len()).is_some() {
                return None;
            }
        }
        at += line.len();
    }
    found
}

fn text_values(entries: &[(YamlNode, YamlNode)]) -> Vec<(String, String)> {
    let mut words = Vec::new();
    for (key, value) in entries {
        let YamlNode::Text(key) = key else { continue };
        match value {
            YamlNode::Text(value) | YamlNode::Literal(value) => {
                words.push((key.clone(), value.clone()));
            }
            YamlNode::Map(inner) => {
                let below = self::text_values(inner)
                    .into_iter()
                    .map(|(own, value)| (format!("{key}.{own}"), value));
                words.extend(below);
            }
            YamlNode::Null | YamlNode::List(_) | YamlNode::Tagged(..) => {}
        }
    }
    words
}

/// Reads invalid YAML as lines of `key: value`, for values that lack the necessary quotes.
fn plain_lines(yaml: &str) -> Vec<(String, String)> {
    let word = |line: &str| {
        let (key, value) = line.split_once(':')?;
        let value = value.trim();
        let is_key =
            !key.is_empty() && !key.starts_with([' ', '\t', '#', '-', '"', '\'', '[', '{']);
        (is_key && !value.is_empty()).then(|| (key.trim_end().to_owned(), value.to_owned()))
    };
    yaml.lines().filter_map(word).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const THEIRS: &str = "\u{feff}---\r\n# mine\r\nowner: Anna # not you\r\nname: 'Old'\r\ntags: [a,  b]\r\ndescription: \"x\"\r\n---\r\n\r\n\r\nbody\r\n\r\n";

    #[test]
    fn what_is_not_changed_stays_byte_for_byte() {
        let after = set_values(
            THEIRS,
            &[
                ("name", "It's new"),
                ("description", "y: z"),
                ("type", "user"),
            ],
            None,
        )
        .unwrap();
        let expected = THEIRS
            .replace("'Old'", "'It''s new'")
            .replace("\"x\"\r\n", "\"y: z\"\r\ntype: user\r\n");
        assert_eq!(after, expected);
        assert_eq!(
            set_values(
                &after,
                &[("name", "It's new"), ("type", "user")],
                Some("body")
            )
            .unwrap(),
            after
        );
        let other = set_values(THEIRS, &[], Some("one\ntwo\n")).unwrap();
        assert_eq!(other, THEIRS.replace("body\r\n\r\n", "one\r\ntwo\r\n"));
    }

    #[test]
    fn a_text_without_front_matter_gets_one() {
        let values = [("name", "A"), ("description", "b: c")];
        let front = "---\nname: A\ndescription: \"b: c\"\n---\n";
        assert_eq!(
            set_values("", &values, Some("x")).unwrap(),
            format!("{front}\nx\n")
        );
        assert_eq!(
            set_values("old\n", &values, None).unwrap(),
            format!("{front}\nold\n")
        );
        assert_eq!(
            set_values("", &values, Some("")).unwrap(),
            format!("{front}\n")
        );
    }

    #[test]
    fn what_is_no_yaml_is_read_and_changed_line_by_line() {
        let text = "---\nname: A\ndescription: Fix: use X\ntype: user\n---\nbody\n";
        let front = PlainFrontMatter::of(text);
        assert_eq!(
            (front.value("description"), front.value("type")),
            (Some("Fix: use X"), Some("user"))
        );
        assert!(
            front
                .problem
                .unwrap()
                .starts_with("the front matter is not valid YAML (line 3)")
        );
        let after = set_values(text, &[("type", "project")], None).unwrap();
        assert_eq!(after, text.replace("user", "project"));
        let after = set_values(text, &[("description", "Fix: use Y")], None).unwrap();
        assert_eq!(after, text.replace("Fix: use X", "\"Fix: use Y\""));
    }

    #[test]
    fn values_in_any_style_are_changed_or_refused() {
        for (value, expected) in [
            (
                "description: |\n  two\n  lines\n",
                Some("description: new\n"),
            ),
            ("description:\n", Some("description: new\n")),
            ("description:\n  - a\n", Some("description: new\n")),
            ("description: [a, b]\n", Some("description: new\n")),
            ("description: &a x\nother: *a\n", None),
            ("description: x\ndescription: y\n", None),
        ] {
            let text = format!("---\n{value}---\n");
            let after = set_values(&text, &[("description", "new")], None).ok();
            assert_eq!(
                after,
                expected.map(|expected| format!("---\n{expected}---\n")),
                "{value}"
            );
        }
        assert!(set_values("---\nname: x\n", &[("name", "y")], None).is_err());
        assert_eq!(
            PlainFrontMatter::of("---\nmetadata:\n  type: user\n---\n").value("metadata.type"),
            Some("user")
        );
    }

    proptest! {
        #[test]
        fn any_words_come_back(name in "\\PC{1,30}", description in "\\PC{1,60}", content in "[a-z \n-]{0,40}") {
            let values = [("name", name.trim()), ("description", description.trim()), ("type", "user")];
            prop_assume!(values.iter().all(|(_, value)| !value.is_empty()));
            for former in ["", THEIRS, "---\nname: a\n---\n\nb\n"] {
                let text = set_values(former, &values, Some(&content)).unwrap();
                let front = PlainFrontMatter::of(&text);
                for (key, value) in values {
                    prop_assert_eq!(front.value(key), Some(value), "{}", text);
                }
                prop_assert_eq!(front_matter::split(&text).body.trim().replace("\r\n", "\n"), content.trim());
            }
        }
    }
}
