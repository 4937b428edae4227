//! Parses memory files.

use chrono::{DateTime, Utc};
use memory_core::front_matter::{self, FileParts};
use memory_core::yaml::{self, YamlNode};
use memory_core::{Memory, Problem};

use super::format::{FrontMatter, UnusableValue, is_known, keeps_spelling};
use super::lines::{self, ValueStyle, YamlEntry};
use super::text::{FileDefect, decode_lossy};

/// The maximum length of a front matter that is parsed, in bytes.
const MAX_FRONT_MATTER_BYTES: usize = 1 << 20;

const FIX_BY_HAND: &str = "correct it by hand; until then the file is read-only";

/// The result of parsing a memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedFile {
    /// The memory; missing or unreadable fields have their defaults.
    pub memory: Memory,
    /// The first defect of the file, if any. A file with a defect must not be changed.
    pub problem: Option<Problem>,
    /// The fields of the front matter that are no fields of a memory, with their values as text.
    pub other_fields: Vec<(String, String)>,
}

/// Parses a memory file.
///
/// This never fails: the result always contains the content and all fields that could be read.
///
/// `path` is the path below the home, with `/` between its components; the folder determines phase and category. `modified` is
/// the modification time of the file; it replaces dates that the front matter does not contain.
pub fn decode(path: &str, bytes: &[u8], modified: DateTime<Utc>) -> DecodedFile {
    let (text, fault) = decode_lossy(bytes);
    let reading = ParsedFile::of(&text);
    let memory = reading
        .front
        .into_memory(path, reading.content.to_owned(), modified);
    let other_fields = other_fields(&reading.entries);
    DecodedFile {
        memory,
        problem: fault.or(reading.fault).map(|fault| fault.of(path)),
        other_fields,
    }
}

fn other_fields(entries: &[(YamlNode, YamlNode)]) -> Vec<(String, String)> {
    let other = entries.iter().filter_map(|(key, value)| match key {
        YamlNode::Text(key) | YamlNode::Literal(key) if !is_known(key) => {
            Some((key.clone(), value.to_plain_text()))
        }
        _ => None,
    });
    other.collect()
}

/// A parsed memory file, before the conversion to a memory.
#[derive(Debug)]
pub(super) struct ParsedFile<'a> {
    /// The text, split into front matter and body.
    pub(super) parts: FileParts<'a>,
    /// The content of the memory.
    pub(super) content: &'a str,
    /// The entries of the front matter.
    pub(super) entries: Vec<(YamlNode, YamlNode)>,
    /// The fields that were read from the entries.
    pub(super) front: FrontMatter,
    /// The first defect of the text, if any.
    pub(super) fault: Option<FileDefect>,
}

impl<'a> ParsedFile<'a> {
    /// Parses a text.
    pub(super) fn of(text: &'a str) -> Self {
        let parts = front_matter::split(text);
        let content = front_matter::content(parts.body);
        let mut reading = Self {
            parts,
            content,
            entries: Vec::new(),
            front: FrontMatter::default(),
            fault: None,
        };
        if parts.is_open {
            let hint = "add a closing line `---`, or start the file with an empty line";
            reading.fault = Some(FileDefect::new(
                1,
                "the front matter that starts in line 1 has no closing line",
                hint,
            ));
        }
        let Some(front) = parts.front else {
            return reading;
        };
        if MAX_FRONT_MATTER_BYTES < front.yaml.len() {
            let hint = "move text that is not metadata into the body";
            reading.fault = Some(FileDefect::new(
                1,
                "the front matter is longer than 1 MiB",
                hint,
            ));
            return reading;
        }
        match yaml::parse(front.yaml) {
            Ok(YamlNode::Map(entries)) => reading.read_entries(front.yaml, entries),
            Ok(YamlNode::Null) => {}
            Ok(_) => {
                // This may be text between two thematic breaks; as content it remains searchable.
                reading.content = front_matter::content(&text[parts.mark.len()..]);
                let hint = "write it as `key: value`, or start the file with an empty line";
                reading.fault = Some(FileDefect::new(
                    2,
                    "the front matter is not a map of keys and values",
                    hint,
                ));
            }
            Err(error) => {
                reading.read_entries(front.yaml, readable_entries(front.yaml));
                let what = format!("the front matter is not valid YAML: {}", error.what);
                reading.fault = Some(FileDefect::new(
                    error.line.map(file_line),
                    what,
                    FIX_BY_HAND,
                ));
            }
        }
        reading
    }

    fn read_entries(&mut self, yaml: &str, mut entries: Vec<(YamlNode, YamlNode)>) {
        let is_misspelled = |(key, value): &(YamlNode, YamlNode)| {
            matches!(key, YamlNode::Text(key) if keeps_spelling(key)) && value.has_literals()
        };
        if entries.iter().any(is_misspelled)
            && let Ok(YamlNode::Map(spelled)) = yaml::parse_spelled(yaml)
        {
            entries = spelled;
        }
        let (front, unusable) = FrontMatter::read(&entries);
        self.front = front;
        self.front.add_tags(hash_tags(yaml));
        self.fault = find_duplicate(yaml, &entries).or_else(|| {
            let UnusableValue { index, key, what } = unusable?;
            Some(FileDefect::new(
                entry_line(yaml, index, entries.len()),
                format!("the value of `{key}` {what}"),
                FIX_BY_HAND,
            ))
        });
        self.entries = entries;
    }
}

/// Returns the tags that are written after a `#`, as in `tags: a #b`.
///
/// YAML reads `#b` as a comment.
fn hash_tags(yaml: &str) -> Vec<String> {
    let is_candidate =
        |line: &str| line.starts_with("tag") && line.contains([' ', '\t']) && line.contains('#');
    // Most front matter has no `#`, so this check avoids a scan of the lines.
    if !yaml.contains('#') || !yaml.lines().any(is_candidate) {
        return Vec::new();
    }
    let is_tags = |entry: &YamlEntry| matches!(&entry.key, YamlNode::Text(key) if key == "tags" || key == "tag");
    let is_bare = |entry: &YamlEntry| matches!(entry.shape, ValueStyle::Plain | ValueStyle::Empty);
    let entries = lines::find_entries(yaml).unwrap_or_default();
    let mut tags = Vec::new();
    for entry in entries
        .iter()
        .filter(|entry| is_tags(entry) && is_bare(entry))
    {
        let comment = yaml[entry.value.end..].lines().next().unwrap_or_default();
        let words: Vec<&str> = comment
            .split([' ', '\t', ','])
            .filter(|word| !word.is_empty())
            .collect();
        if words
            .iter()
            .all(|word| word.len() > 1 && word.starts_with('#'))
        {
            tags.extend(words.into_iter().map(str::to_owned));
        }
    }
    tags
}

/// Returns a fault if a map contains a key twice.
fn find_duplicate(yaml: &str, entries: &[(YamlNode, YamlNode)]) -> Option<FileDefect> {
    let mut seen = std::collections::HashSet::with_capacity(entries.len());
    let twice = entries.iter().position(|(key, _)| !seen.insert(key));
    let below = || {
        entries.iter().position(|(key, value)| {
            key.duplicate_key()
                .or_else(|| value.duplicate_key())
                .is_some()
        })
    };
    let index = twice.or_else(below)?;
    let (key, value) = &entries[index];
    let key = if twice.is_some() {
        key
    } else {
        key.duplicate_key().or_else(|| value.duplicate_key())?
    };
    let name = match key {
        YamlNode::Text(key) | YamlNode::Literal(key) => format!("the key `{key}`"),
        YamlNode::Null | YamlNode::List(_) | YamlNode::Map(_) | YamlNode::Tagged(..) => {
            "a key".into()
        }
    };
    let what = format!("{name} is duplicated in the front matter");
    Some(FileDefect::new(
        entry_line(yaml, index, entries.len()),
        what,
        "remove one of the two; until then the file is read-only",
    ))
}

/// Returns the line in the file of the entry at `index`.
///
/// Returns `None` if the line scanner does not find `count` entries.
fn entry_line(yaml: &str, index: usize, count: usize) -> Option<usize> {
    let entries = lines::find_entries(yaml).filter(|entries| entries.len() == count)?;
    entries.get(index).map(|entry| file_line(entry.line))
}

/// Converts a line of the front matter, counted from 0, to a line of the file, counted from 1.
fn file_line(line: usize) -> usize {
    line + 2
}

/// Returns the memory's entries that parse individually, if the front matter as a whole does not.
///
/// A line such as `title: Re: the plan` is a text without its quotes.
fn readable_entries(yaml: &str) -> Vec<(YamlNode, YamlNode)> {
    let starts_known = |line: &str| {
        line.split_once(':')
            .is_some_and(|(key, _)| is_known(key.trim_end()))
    };
    let goes_on = |line: &str| line.starts_with([' ', '\t', '-']);
    let (mut readable, mut at, mut start) = (Vec::new(), 0, None::<usize>);
    let mut take = |from: Option<usize>, to: usize| {
        let Some(entry) = from.map(|from| &yaml[from..to]) else {
            return;
        };
        match yaml::parse_spelled(entry) {
            Ok(YamlNode::Map(entries)) => readable.extend(entries),
            Ok(_) => {}
            Err(_) => readable.extend(unquoted_title(entry)),
        }
    };
    for line in yaml.split_inclusive('\n') {
        if !goes_on(line) {
            take(start, at);
            start = starts_known(line).then_some(at);
        }
        at += line.len();
    }
    take(start, at);
    readable
}

/// Returns the title in an entry of one line, unless its value has a notation of YAML.
fn unquoted_title(entry: &str) -> Option<(YamlNode, YamlNode)> {
    let (key, value) = entry.trim_end().split_once(": ")?;
    let value = value.split(" #").next().unwrap_or_default().trim();
    let is_title = key.trim_end() == "title" && !value.contains('\n');
    let is_plain = !value.starts_with(['[', '{', '"', '\'', '|', '>', '#', '&', '*', '!'])
        && !value.starts_with("- ")
        && !value.starts_with("? ");
    let text = |text: &str| YamlNode::Text(text.to_owned());
    (is_title && is_plain).then(|| (text("title"), text(value)))
}
