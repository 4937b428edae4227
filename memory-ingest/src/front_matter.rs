//! The front matter of a note.

use memory_core::{MEMORY_KEYS, front_matter};

use crate::own_fields;
use crate::yaml::{self, Yaml, YamlParseError};

/// Maximum size of front matter in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Returns whether a key is one of a memory, or a variant that people write.
///
/// A foreign key with the same name gets a prefix, so that it is not parsed as one of these.
fn is_memory_key(key: &str) -> bool {
    MEMORY_KEYS.contains(&key) || ["tag", "alias"].contains(&key)
}

/// A text split into its front matter and its body.
#[derive(Debug)]
pub(crate) struct SplitText<'a> {
    /// The lines between the fences.
    pub(crate) source: &'a str,
    /// The parsed front matter.
    pub(crate) fields: Result<Vec<(String, Yaml)>, YamlParseError>,
    /// The text after the front matter.
    pub(crate) body: &'a str,
}

/// Splits `text`. A text without front matter has no fields and is all body.
pub(crate) fn split_front_matter(text: &str) -> SplitText<'_> {
    let parts = front_matter::split(text);
    if let Some(front) = parts.front {
        return SplitText {
            source: front.yaml,
            fields: parse_fields(front.yaml),
            body: parts.body,
        };
    }
    let fields = if parts.is_open && text.contains('\n') {
        Err(YamlParseError {
            line: Some(0),
            what: "its front matter has no closing ---".into(),
        })
    } else {
        Ok(Vec::new())
    };
    SplitText {
        source: "",
        fields,
        body: text,
    }
}

/// Returns the lines of the front matter of the file of a memory that are not fields of the memory, if there are any.
pub(crate) fn extra_lines(file: &str) -> Option<String> {
    let split = split_front_matter(file);
    split
        .foreign_lines(&is_memory_key, "")
        .filter(|lines| !lines.trim().is_empty())
}

/// Returns the keys in lines of front matter, with their values and their lines; nothing if these cannot be split by key.
pub(crate) fn key_lines(lines: &str) -> Vec<(String, Yaml, &str)> {
    let (fields, (_, segments)) = (parse_fields(lines).unwrap_or_default(), split_by_key(lines));
    let is_split = fields.len() == segments.len();
    let fields = fields
        .into_iter()
        .zip(segments)
        .map(|((key, value), lines)| (key, value, lines));
    if is_split {
        fields.collect()
    } else {
        Vec::new()
    }
}

fn parse_fields(source: &str) -> Result<Vec<(String, Yaml)>, YamlParseError> {
    if MAX_BYTES < source.len() {
        return Err(YamlParseError {
            line: None,
            what: "its front matter is larger than 1 MiB".into(),
        });
    }
    match yaml::parse(source)? {
        Yaml::Map(fields) => Ok(fields),
        Yaml::Null => Ok(Vec::new()),
        _ => Err(YamlParseError {
            line: Some(1),
            what: "its front matter is not a map of keys and values".into(),
        }),
    }
}

impl SplitText<'_> {
    /// Returns the comment after a plain scalar, with its `#`.
    pub(crate) fn comment(&self, key: &str) -> Option<&str> {
        let value = self.raw_line(key)?;
        let is_plain = !value
            .trim_start()
            .starts_with(['"', '\'', '[', '|', '>', '&']);
        value
            .find(" #")
            .filter(|_| is_plain)
            .map(|at| &value[at + 1..])
    }

    fn raw_line(&self, key: &str) -> Option<&str> {
        let lines = self
            .source
            .lines()
            .filter(|line| !line.starts_with([' ', '\t', '#']));
        lines
            .filter_map(|line| line.split_once(':'))
            .find(|(own, _)| own.trim() == key)
            .map(|(_, value)| value)
    }

    /// Returns the lines of the keys that are not `consumed`, for the front matter of a memory.
    ///
    /// Comments are preserved, also those of consumed keys. A key of the same name as one of a memory is renamed to
    /// `<source_name>_<key>`. Returns `None` if the lines cannot be split by key; then the front matter must be
    /// preserved in some other way.
    pub(crate) fn foreign_lines(
        &self,
        consumed: &dyn Fn(&str) -> bool,
        source_name: &str,
    ) -> Option<String> {
        let fields = self.fields.as_ref().ok()?;
        let (preamble, segments) = split_by_key(self.source);
        if segments.len() != fields.len() {
            return None;
        }
        let mut lines = preamble.replace("\r\n", "\n");
        let mut expected = Vec::new();
        for ((key, value), segment) in fields.iter().zip(segments) {
            let segment = segment.replace("\r\n", "\n");
            if key == own_fields::KEY && consumed(key) {
                continue;
            }
            if consumed(key) {
                append_comments(&segment, &mut lines);
                continue;
            }
            let is_ours = is_memory_key(key);
            let prefix = if is_ours {
                format!("{}_", source_name.replace('-', "_"))
            } else {
                String::new()
            };
            let quote = segment.len() - segment.trim_start_matches(['"', '\'']).len();
            lines.push_str(&segment[..quote]);
            lines.push_str(&prefix);
            lines.push_str(&segment[quote..]);
            expected.push((prefix + key, value.clone()));
        }
        if !lines.is_empty() && !lines.ends_with('\n') {
            lines.push('\n');
        }
        // Lines that are invalid on their own, such as an alias without its anchor, are detected between other lines.
        let among_others = |field: &str| (field.to_owned(), Yaml::Plain("0".into()));
        expected.insert(0, among_others("before the lines"));
        expected.push(among_others("after the lines"));
        (yaml::parse(&format!("before the lines: 0\n{lines}after the lines: 0\n"))
            == Ok(Yaml::Map(expected)))
        .then_some(lines)
    }
}

/// Splits front matter into the part before its first key and one part for each key.
fn split_by_key(source: &str) -> (&str, Vec<&str>) {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let is_item = line.starts_with("- ") || line.trim_end() == "-";
        if !is_item && !line.starts_with([' ', '\t', '#', '\r', '\n']) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([source.len()]);
    let segments = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &source[*start..end])
        .collect();
    (
        &source[..starts.first().copied().unwrap_or(source.len())],
        segments,
    )
}

/// Appends the comments of a consumed key to `lines`.
fn append_comments(segment: &str, lines: &mut String) {
    for line in segment.lines().map(str::trim) {
        if line.starts_with('#') {
            lines.extend([line, "\n"]);
        } else if has_comment(line) {
            lines.extend(["# ", line, "\n"]);
        }
    }
}

/// Returns whether a line ends with a comment; a `#` within quotes does not count.
fn has_comment(line: &str) -> bool {
    let value = line
        .split_once(": ")
        .map_or(line, |(_, value)| value)
        .trim_start_matches("- ")
        .trim_start();
    let quoted = value
        .starts_with(['"', '\'', '[', '{'])
        .then(|| value.rfind(['"', '\'']))
        .flatten();
    value[quoted.unwrap_or_default()..].contains(" #")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::split_front_matter;
    use crate::yaml::Yaml;

    fn kept_lines(text: &str) -> Option<String> {
        split_front_matter(text).foreign_lines(&|key| key == "tags" || key == "title", "obsidian")
    }

    #[test]
    fn only_the_first_block_is_front_matter() {
        assert_eq!(
            split_front_matter("---\na: 1\n---\nb\n---\nc").body,
            "b\n---\nc"
        );
        assert_eq!(split_front_matter("--- \r\na: 1\r\n---\t\r\nb").body, "b");
        assert_eq!(split_front_matter("---\na: 1\n---").body, "");
        assert_eq!(split_front_matter("---\n---\nb").body, "b");
        for text in [
            "a\n---\nb: 1\n---\n",
            "----\na: 1\n---\n",
            "---a\n---\n",
            "",
            "---",
        ] {
            let parted = split_front_matter(text);
            assert_eq!(
                (parted.body, parted.fields.as_ref().map(Vec::len)),
                (text, Ok(0)),
                "{text}"
            );
        }
        assert!(split_front_matter("---\na: 1\nb").fields.is_err());
    }

    #[test]
    fn foreign_lines_keep_their_comments_and_form() {
        let text = "---\n# top\ntitle: T # why\nb:   1.10 # x\ntags:\n- a\n# between\n- b\n\nc:\n  - d # e\n---\n";
        let kept = "# top\n# title: T # why\nb:   1.10 # x\n# between\nc:\n  - d # e\n";
        assert_eq!(kept_lines(text).as_deref(), Some(kept));
    }

    #[test]
    fn a_key_called_as_one_of_ours_gets_another_name() {
        assert_eq!(
            kept_lines("---\nalias: {a: 1}\n---\n").as_deref(),
            Some("obsidian_alias: {a: 1}\n")
        );
        assert_eq!(
            kept_lines("---\nrole: person\n---\n").as_deref(),
            Some("obsidian_role: person\n")
        );
        assert_eq!(
            kept_lines("---\nproposed_by: codex\n---\n").as_deref(),
            Some("obsidian_proposed_by: codex\n")
        );
        assert_eq!(
            kept_lines("---\nid: 1\n\"links\": [a]\n---\n").as_deref(),
            Some("obsidian_id: 1\n\"obsidian_links\": [a]\n")
        );
    }

    #[test]
    fn lines_that_do_not_stand_alone_are_not_parted() {
        assert_eq!(kept_lines("---\ntitle: &a T\nb: *a\n---\n"), None);
        assert_eq!(kept_lines("---\n{a: 1,\nb: 2}\n---\n"), None);
        assert_eq!(kept_lines("---\nid: 1\nobsidian_id: 2\n---\n"), None);
    }

    #[test]
    fn a_number_is_read_as_it_is_written() {
        let fields = split_front_matter("---\ntitle: 1.10 # x\n---\n").fields;
        let title = Yaml::Plain("1.10".into());
        assert_eq!(fields, Ok(vec![("title".into(), title)]));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "---\n([a-c]: |- |\\[|\\]|\n|#| |\"|&a|\\*a|键|id: ){0,30}\n---\nbody") {
            kept_lines(&text);
        }
    }
}
