//! Finds the lines of each key of a front matter.

use std::ops::Range;

use memory_core::yaml::{self, YamlNode};

/// A top-level key of the front matter with its position.
///
/// Positions are byte offsets in the front matter.
#[derive(Debug, Clone)]
pub(super) struct YamlEntry {
    /// The key.
    pub(super) key: YamlNode,
    /// The line of the key, counted from 0.
    pub(super) line: usize,
    /// All lines of the entry, without the comments and empty lines that follow it.
    pub(super) lines: Range<usize>,
    /// The offset after the colon.
    pub(super) after_key: usize,
    /// The range of the value; whole lines if [`ValueStyle::Nested`].
    pub(super) value: Range<usize>,
    /// The style of the value.
    pub(super) shape: ValueStyle,
}

/// The style in which a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueStyle {
    /// No value.
    Empty,
    /// Unquoted, on one line or several.
    Plain,
    /// In single quotes.
    Single,
    /// In double quotes.
    Double,
    /// In brackets or braces.
    Flow,
    /// A block scalar: after `|` or `>`, on the following lines.
    Lines,
    /// A list or map on separate lines below the key.
    Nested,
    /// With a tag or an anchor, or an alias.
    Odd,
}

/// Returns the keys in their order, or `None` if the front matter does not have one key per line.
///
/// The result is reliable only if [`yaml::parse`] finds the same keys.
pub(super) fn find_entries(yaml: &str) -> Option<Vec<YamlEntry>> {
    let mut scan = LineScanner {
        text: yaml,
        at: 0,
        line: 0,
    };
    let mut entries = Vec::new();
    // For YAML a single carriage return ends a line, but this scanner splits only at line feeds.
    if yaml.split("\r\n").any(|part| part.contains('\r')) {
        return None;
    }
    while scan.at < yaml.len() {
        let line = scan.line_at(scan.at);
        if is_trivia(line) {
            scan.advance_to(scan.at + line.len());
        } else {
            entries.push(scan.entry()?);
        }
    }
    Some(entries)
}

/// Returns whether a line is empty or a comment.
pub(super) fn is_trivia(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t']);
    line.starts_with('#') || line.trim_end_matches(['\n', '\r', ' ', '\t']).is_empty()
}

/// Returns the length in bytes of the quoted text at the start of `text`; `None` if it is unterminated.
fn quoted_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = *bytes.first()?;
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'\\' if quote == b'"' => at += 2,
            byte if byte != quote => at += 1,
            _ if quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') => at += 2,
            _ => return Some(at + 1),
        }
    }
}

/// Returns the length in bytes of the flow list or map at the start of `text`.
///
/// Also returns the ranges of its items. Returns `None` if it is unterminated.
pub(super) fn flow_items(text: &str) -> Option<(usize, Vec<Range<usize>>)> {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut is_start) = (0, 0_usize, true);
    let (mut items, mut item) = (Vec::new(), 1);
    loop {
        let byte = *bytes.get(at)?;
        let next = bytes.get(at + 1).copied().unwrap_or(b'\n');
        match byte {
            b'"' | b'\'' if is_start => {
                at += quoted_len(&text[at..])?;
                // After a quoted key the colon needs no space.
                if bytes.get(at) == Some(&b':') {
                    at += 1;
                } else {
                    is_start = false;
                }
                continue;
            }
            b'#' if at == 0 || bytes[at - 1].is_ascii_whitespace() => {
                at += text[at..].find('\n')?;
                continue;
            }
            b'[' | b'{' => {
                depth += 1;
                is_start = true;
            }
            b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                is_start = false;
                if depth == 0 {
                    items.push(item..at);
                    return Some((at + 1, items));
                }
            }
            b',' => {
                is_start = true;
                if depth == 1 {
                    items.push(item..at);
                    item = at + 1;
                }
            }
            b':' if next.is_ascii_whitespace() || b",[]{}".contains(&next) => is_start = true,
            byte if !byte.is_ascii_whitespace() => is_start = false,
            _ => {}
        }
        at += 1;
    }
}

/// A scanner over the front matter.
struct LineScanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> LineScanner<'a> {
    /// Returns the rest of the line from an offset, with its line break.
    fn line_at(&self, place: usize) -> &'a str {
        self.text[place..]
            .split_inclusive('\n')
            .next()
            .unwrap_or_default()
    }

    /// Returns the offset of the next line.
    fn next_line(&self, place: usize) -> usize {
        place + self.line_at(place).len()
    }

    fn advance_to(&mut self, place: usize) {
        self.line += self.text[self.at..place].matches('\n').count();
        self.at = place;
    }

    fn entry(&mut self) -> Option<YamlEntry> {
        let (start, line) = (self.at, self.line);
        let (key_len, to_colon) = key_len(self.line_at(start))?;
        let key = key_node(&self.text[start..start + key_len])?;
        let after_key = start + to_colon + 1;
        let rest = self.line_at(after_key);
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let (value, shape) = self.value(after_key, after_key + blanks)?;
        let end = match shape {
            ValueStyle::Nested => value.end,
            _ => self.next_line(value.end),
        };
        self.advance_to(end);
        Some(YamlEntry {
            key,
            line,
            lines: start..end,
            after_key,
            value,
            shape,
        })
    }

    /// Returns the range and the style of the value that starts at `start`.
    fn value(&self, after_key: usize, start: usize) -> Option<(Range<usize>, ValueStyle)> {
        let (len, shape) = match self.text.as_bytes().get(start) {
            None | Some(b'#' | b'\n' | b'\r') => {
                let nested = self.nested_lines(start, true);
                return Some(
                    nested.map_or((after_key..after_key, ValueStyle::Empty), |lines| {
                        (lines, ValueStyle::Nested)
                    }),
                );
            }
            Some(b'"') => (quoted_len(&self.text[start..])?, ValueStyle::Double),
            Some(b'\'') => (quoted_len(&self.text[start..])?, ValueStyle::Single),
            Some(b'[' | b'{') => (flow_items(&self.text[start..])?.0, ValueStyle::Flow),
            Some(b'|' | b'>') => return Some((start..self.lines_end(start), ValueStyle::Lines)),
            Some(b'&' | b'!' | b'*') => {
                return Some((start..self.open_end(start, true), ValueStyle::Odd));
            }
            Some(_) => return Some((start..self.open_end(start, false), ValueStyle::Plain)),
        };
        let rest = self.line_at(start + len).trim_start_matches([' ', '\t']);
        is_trivia(rest).then_some((start..start + len, shape))
    }

    /// Returns the lines below the line of `place` that belong to its entry.
    fn nested_lines(&self, place: usize, with_dashes: bool) -> Option<Range<usize>> {
        let mut at = self.next_line(place);
        let mut lines = None::<Range<usize>>;
        while at < self.text.len() {
            let line = self.line_at(at);
            let end = at + line.len();
            if !is_trivia(line) {
                let is_item = with_dashes && (line.starts_with("- ") || line.trim_end() == "-");
                if !is_item && !line.starts_with([' ', '\t']) {
                    break;
                }
                lines = Some(lines.map_or(at, |lines| lines.start)..end);
            }
            at = end;
        }
        lines
    }

    /// Returns the end of a value without a closing character, without trailing spaces and comment.
    fn open_end(&self, start: usize, with_dashes: bool) -> usize {
        let last_line = |lines: Range<usize>| {
            let text = self.text[lines.clone()].trim_end_matches('\n');
            text.rfind('\n')
                .map_or(lines.start, |place| lines.start + place + 1)
        };
        let from = self
            .nested_lines(start, with_dashes)
            .map_or(start, last_line);
        let line = self.line_at(from);
        let comment = line
            .match_indices('#')
            .find(|(place, _)| line[..*place].ends_with([' ', '\t']))
            .map(|(place, _)| place);
        from + line[..comment.unwrap_or(line.len())]
            .trim_end_matches([' ', '\t', '\n', '\r'])
            .len()
    }

    /// Returns the end of a block scalar, without the last line break.
    fn lines_end(&self, start: usize) -> usize {
        let header = self.line_at(start);
        let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let own_indent = header
            .chars()
            .skip(1)
            .take(2)
            .find_map(|letter| letter.to_digit(10))
            .map(|digit| digit as usize);
        let (mut at, mut end, mut wanted) = (
            self.next_line(start),
            start + header.trim_end().len(),
            own_indent,
        );
        while at < self.text.len() {
            let line = self.line_at(at);
            if !line.trim_end_matches([' ', '\n', '\r']).is_empty() {
                let least = *wanted.get_or_insert(indent(line));
                if least == 0 || indent(line) < least {
                    break;
                }
                end = at + line.trim_end_matches(['\n', '\r']).len();
            }
            at += line.len();
        }
        end
    }
}

/// Parses the text of a key.
fn key_node(key: &str) -> Option<YamlNode> {
    let is_word = key
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        && !["null", "true", "false"].contains(&key);
    if is_word {
        Some(YamlNode::Text(key.to_owned()))
    } else {
        yaml::parse_spelled(key).ok()
    }
}

/// Returns the length of the key at the start of a line, and the offset of its colon.
fn key_len(line: &str) -> Option<(usize, usize)> {
    let bytes = line.as_bytes();
    let is_end = |place: usize| bytes.get(place).is_none_or(u8::is_ascii_whitespace);
    let first = *bytes.first()?;
    if first == b'"' || first == b'\'' {
        let len = quoted_len(line)?;
        let blanks = line[len..].len() - line[len..].trim_start_matches([' ', '\t']).len();
        let colon = len + blanks;
        return (bytes.get(colon) == Some(&b':') && is_end(colon + 1)).then_some((len, colon));
    }
    let is_indicator =
        b" \t#&*!|>%@`{}[],".contains(&first) || b"-?:".contains(&first) && is_end(1);
    if is_indicator || line.starts_with("---") || line.starts_with("...") {
        return None;
    }
    let colon = line
        .match_indices(':')
        .map(|(place, _)| place)
        .find(|place| is_end(place + 1))?;
    let key = &line[..colon];
    if key.contains(" #") || key.contains("\t#") {
        return None;
    }
    Some((key.trim_end().len(), colon))
}
