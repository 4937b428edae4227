//! Editing of one value in the text of the settings file, without changes to the rest, and the check of a new address.

use memory_agent::model::{ServerAddress, is_host};
use memory_core::ParseError;
use serde_yaml::Value;

/// Returns the text with `value` at `key`, a path with dots. An empty value removes the line; if the line has a comment, the
/// key stays with its comment and without a value.
///
/// Returns `None` if the text requires manual editing: if it uses braces, or a list in place of one value.
pub(crate) fn set_value(text: &str, key: &str, value: &str) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let parts: Vec<&str> = key.split('.').collect();
    let (last, sections) = parts.split_last()?;
    let (mut start, mut end, mut indent) = (0, lines.len(), 0);
    let mut heads = Vec::new();
    for (depth, section) in sections.iter().enumerate() {
        let Some(at) = find_key(&lines[start..end], section, indent).map(|at| start + at) else {
            if value.is_empty() {
                return Some(text.to_owned());
            }
            let new = section_lines(&sections[depth..], last, value, indent);
            lines.splice(end..end, new);
            return Some(join_lines(&lines, text));
        };
        if !line_value(&lines[at], section).is_empty() {
            return None;
        }
        heads.push(at);
        start = at + 1;
        end = start
            + lines[start..end]
                .iter()
                .position(|line| ends_section(line, indent))
                .unwrap_or(end - start);
        let inner = lines[start..end]
            .iter()
            .find(|line| is_data(line))
            .map_or(indent + 2, |line| indent_width(line));
        indent = inner;
    }
    let line = format!("{}{last}: {}", " ".repeat(indent), quote_value(value));
    if let Some(at) = find_key(&lines[start..end], last, indent).map(|at| start + at) {
        let has_more = lines[at + 1..end]
            .iter()
            .find(|line| is_data(line))
            .is_some_and(|line| indent < indent_width(line));
        if has_more || line_value(&lines[at], last).starts_with(['[', '{', '|', '>', '&', '*', '!'])
        {
            return None;
        }
        let comment = comment(&lines[at]);
        if !value.is_empty() {
            lines[at] = line + comment;
        } else if !comment.is_empty() {
            lines[at] = format!("{}{last}:{comment}", " ".repeat(indent));
        } else {
            lines.remove(at);
            remove_empty_sections(&mut lines, &heads);
        }
    } else if !value.is_empty() {
        let example = format!("# {last}:");
        let behind = lines[start..end]
            .iter()
            .position(|own| own.trim_start().starts_with(&example));
        lines.insert(behind.map_or(start, |at| start + at + 1), line);
    }
    Some(join_lines(&lines, text))
}

/// The settings that are a list and can be changed. Commas and line breaks divide a text into items.
const LISTS: [&str; 2] = ["review.rules", "http.allowed_origins"];

/// Returns whether the value of `key` is a list that can be changed.
pub(crate) fn is_list(key: &str) -> bool {
    LISTS.contains(&key)
}

/// Returns the different items of a list that is written as a text; `none` alone means no item.
pub(crate) fn list_items(value: &str) -> Vec<&str> {
    let mut items: Vec<&str> = Vec::new();
    for item in value.split([',', '\n']).map(str::trim) {
        if !item.is_empty() && !items.iter().any(|own| is_same_item(own, item)) {
            items.push(item);
        }
    }
    if items == ["none"] { Vec::new() } else { items }
}

fn is_same_item(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

/// Returns the text with the items in `value` at `key`, a path with dots.
///
/// A list keeps its form, the lines of its other items, and all comments. Without items, its key stays without a value, so that
/// items that are set later have the same place. Returns `None` if the text requires manual editing.
pub(crate) fn set_list(text: &str, key: &str, value: &str) -> Option<String> {
    let items = list_items(value);
    let read: Value = serde_yaml::from_str(text).ok()?;
    let with_key;
    let (text, former) = match key.split('.').try_fold(&read, |own, part| own.get(part)) {
        None if items.is_empty() => return Some(text.to_owned()),
        None => {
            // The line of the key is written first, and its items then replace the value.
            with_key = set_value(text, key, "none")?;
            (with_key.as_str(), [].as_slice())
        }
        Some(Value::Null) => (text, [].as_slice()),
        Some(Value::Sequence(former)) => (text, former.as_slice()),
        Some(_) => return set_value(text, key, &items.join(", ")),
    };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (mut head, mut indent) = (0, 0);
    for (depth, part) in key.split('.').enumerate() {
        if 0 < depth {
            head += 1;
            indent = indent_width(lines[head..].iter().find(|line| is_data(line))?);
        }
        head += find_key(&lines[head..], part, indent)?;
    }
    let comment_text = comment(&lines[head]);
    let (name, flow) = lines[head].strip_suffix(comment_text)?.split_once(':')?;
    let is_flow = flow.trim_start().starts_with('[');
    if is_flow && !flow.trim_end().ends_with(']') {
        return None;
    }
    let new_head = if is_flow && !items.is_empty() {
        let items = serde_json::to_string(&items).ok()?;
        format!("{name}: {items}{comment_text}")
    } else {
        format!("{name}:{comment_text}")
    };
    lines[head] = new_head;
    if !is_flow {
        let (mut blocks, length) = item_blocks(&lines[head + 1..], former)?;
        let first = blocks.first().and_then(|(_, lines)| lines.last());
        let indent = " ".repeat(first.map_or(indent + 2, |line| indent_width(line)));
        let mut new: Vec<String> = Vec::new();
        for item in &items {
            match blocks.iter().position(|(own, _)| is_same_item(own, item)) {
                Some(at) => new.extend(blocks.remove(at).1),
                None => new.push(format!("{indent}- {}", quote_value(item))),
            }
        }
        // Comments on removed items stay, as lines below the others.
        for line in blocks.iter().flat_map(|(_, lines)| lines) {
            if !is_data(line) {
                new.push(line.clone());
            } else if !comment(line).is_empty() {
                new.push(format!("{indent}{}", comment(line).trim_start()));
            }
        }
        lines.splice(head + 1..head + 1 + length, new);
    }
    Some(join_lines(&lines, text))
}

/// An item of a list with its lines, of which the last has the item and the others are comments.
type ItemBlock = (String, Vec<String>);

/// Returns the items of a list with their lines, and the number of the lines.
///
/// Returns `None` if an item has several lines.
fn item_blocks(lines: &[String], items: &[Value]) -> Option<(Vec<ItemBlock>, usize)> {
    let (mut blocks, mut own) = (Vec::new(), Vec::new());
    for (number, line) in lines.iter().enumerate() {
        if blocks.len() == items.len() {
            return Some((blocks, number));
        }
        own.push(line.clone());
        if is_data(line) {
            let item: Value = serde_yaml::from_str(line.trim_start().strip_prefix("- ")?).ok()?;
            let item = item.as_str().filter(|_| item == items[blocks.len()])?;
            blocks.push((item.to_owned(), std::mem::take(&mut own)));
        }
    }
    (blocks.len() == items.len()).then_some((blocks, lines.len()))
}

/// Checks a new value of `key` if the setting is a list, the address of a server or a host. An empty value is the default.
///
/// A file that contains an invalid address is accepted, so that all that needs no server works; the address is rejected on use.
pub(crate) fn check_value(key: &str, value: &str) -> Result<(), ParseError> {
    if is_list(key) && list_items(value).contains(&"none") {
        let wanted = "a value of a list with others; alone it means that the list has no values";
        return Err(ParseError::new("none", wanted));
    }
    let text = value.trim();
    if key.ends_with("base_url") {
        let address = ServerAddress::from(text);
        let wanted = "the URL of a server, such as https://api.openai.com/v1 or http://localhost:11434/v1: http:// or https:// and a \
                      host, without a user name, query or fragment";
        // An address with a password is not shown.
        let invalid = !text.is_empty() && !address.is_url();
        return if invalid {
            Err(ParseError::new(&address.to_string(), wanted))
        } else {
            Ok(())
        };
    }
    let invalid = key == "proxy.host" && !text.is_empty() && !is_host(text);
    if invalid {
        let wanted = "a host name or an IP address without a port, such as 127.0.0.1 or localhost";
        Err(ParseError::new(text, wanted))
    } else {
        Ok(())
    }
}

/// Removes the heads of sections that have neither a value nor a comment, the innermost first.
fn remove_empty_sections(lines: &mut Vec<String>, heads: &[usize]) {
    for &head in heads.iter().rev() {
        let indent = indent_width(&lines[head]);
        let mut inner = lines[head + 1..]
            .iter()
            .take_while(|line| !ends_section(line, indent));
        if inner.any(|line| !line.trim().is_empty() && indent < indent_width(line)) {
            return;
        }
        lines.remove(head);
    }
}

/// Returns the lines of missing sections that contain a value.
fn section_lines(sections: &[&str], last: &str, value: &str, indent: usize) -> Vec<String> {
    let mut lines: Vec<String> = sections
        .iter()
        .enumerate()
        .map(|(depth, section)| format!("{}{section}:", " ".repeat(indent + 2 * depth)))
        .collect();
    lines.push(format!(
        "{}{last}: {}",
        " ".repeat(indent + 2 * sections.len()),
        quote_value(value)
    ));
    lines
}

fn find_key(lines: &[String], key: &str, indent: usize) -> Option<usize> {
    lines.iter().position(|line| {
        is_data(line)
            && indent_width(line) == indent
            && line.trim_start().starts_with(&format!("{key}:"))
    })
}

/// Returns the value in a line, without its key.
fn line_value<'l>(line: &'l str, key: &str) -> &'l str {
    let said = line
        .trim_start()
        .strip_prefix(key)
        .and_then(|rest| rest.strip_prefix(':'))
        .unwrap_or_default()
        .trim();
    if said.starts_with('#') { "" } else { said }
}

/// Returns the comment at the end of a line, with the spaces before it.
fn comment(line: &str) -> &str {
    let (mut quote, mut is_escaped, mut before) = (None, false, ' ');
    for (at, letter) in line.char_indices() {
        match quote {
            _ if is_escaped => is_escaped = false,
            Some('"') if letter == '\\' => is_escaped = true,
            Some(open) if letter == open => quote = None,
            None if letter == '#' && before == ' ' => {
                return &line[line[..at].trim_end().len()..];
            }
            // The second of two quotes inside a quoted text opens it again. In a list, `[` or `,` may be before a quote.
            None if letter == '"' || letter == '\'' => {
                quote = Some(letter).filter(|_| " [,".contains(before) || before == letter);
            }
            _ => {}
        }
        before = letter;
    }
    ""
}

fn is_data(line: &str) -> bool {
    let bare = line.trim_start();
    !bare.is_empty() && !bare.starts_with('#')
}

fn ends_section(line: &str, indent: usize) -> bool {
    is_data(line) && indent_width(line) <= indent
}

fn indent_width(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Quotes a value unless YAML parses it as this text, or as a number or Boolean.
fn quote_value(value: &str) -> String {
    let is_plain = match serde_yaml::from_str::<Value>(value) {
        Ok(Value::String(read)) => read == value,
        Ok(Value::Number(_) | Value::Bool(_)) => true,
        _ => false,
    };
    if is_plain {
        value.to_owned()
    } else {
        serde_json::Value::from(value).to_string()
    }
}

/// Joins lines with the line breaks of `text`.
fn join_lines(lines: &[String], text: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    lines.iter().flat_map(|line| [line.as_str(), end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_set_and_all_else_stays() {
        for (text, key, value, expected) in [
            ("", "git.enabled", "true", "git:\n  enabled: true\n"),
            (
                "a: 1 # one\n",
                "git.enabled",
                "true",
                "a: 1 # one\ngit:\n  enabled: true\n",
            ),
            (
                "git:\n  # enabled: false\n\n# more\nb:\n  c: 1\n",
                "git.enabled",
                "true",
                "git:\n  # enabled: false\n  enabled: true\n\n# more\nb:\n  c: 1\n",
            ),
            (
                "git:\n    enabled: no\nb: 1\n",
                "git.enabled",
                "true",
                "git:\n    enabled: true\nb: 1\n",
            ),
            (
                "in:\n  a:\n    path: x\n  b:\n    path: y\n",
                "in.b.path",
                "z: 1",
                "in:\n  a:\n    path: x\n  b:\n    path: \"z: 1\"\n",
            ),
            ("timezone: x\n", "timezone", "null", "timezone: \"null\"\n"),
            (
                "git:\n  enabled: false   # keep off: a share\n",
                "git.enabled",
                "true",
                "git:\n  enabled: true   # keep off: a share\n",
            ),
            ("a: \"x # y\" # z\n", "a", "b", "a: b # z\n"),
            ("a: x#y\n", "a", "b", "a: b\n"),
            ("a: x\r\nc: 1\r\n", "a", "b", "a: b\r\nc: 1\r\n"),
            ("a: # z\n", "a", "b", "a: b # z\n"),
            ("a: 'it''s # x' # z\n", "a", "b", "a: b # z\n"),
            ("a: \"C:\\\\\" # z\n", "a", "b", "a: b # z\n"),
            ("a: it's # z\n", "a", "b", "a: b # z\n"),
        ] {
            assert_eq!(
                set_value(text, key, value).as_deref(),
                Some(expected),
                "{text:?}"
            );
        }
        for (text, expected) in [
            ("a: 1\ngit:\n  enabled: true\nb: 2\n", "a: 1\nb: 2\n"),
            (
                "git:\n  # on\n  enabled: true\nb: 2\n",
                "git:\n  # on\nb: 2\n",
            ),
            (
                "git:\n  enabled: true # on\nb: 2\n",
                "git:\n  enabled: # on\nb: 2\n",
            ),
            (
                "git:\n  # on\n  enabled: true\n  more: 1\n",
                "git:\n  # on\n  more: 1\n",
            ),
            ("a: 1\n", "a: 1\n"),
            ("git:\n  more: 1\n", "git:\n  more: 1\n"),
        ] {
            assert_eq!(
                set_value(text, "git.enabled", "").as_deref(),
                Some(expected),
                "{text:?}"
            );
        }
        for odd in [
            "git: {enabled: false}\n",
            "git:\n  enabled:\n    - a\n",
            "git:\n  enabled: [a]\n",
        ] {
            assert_eq!(set_value(odd, "git.enabled", "true"), None, "{odd:?}");
        }
    }

    #[test]
    fn the_items_of_a_list_are_changed_and_all_other_lines_stay() {
        let two = "codex * propose\ncursor global propose";
        for (one, both) in [
            (
                "review:\n  rules: cursor global propose # why\n",
                "review:\n  rules: codex * propose, cursor global propose # why\n",
            ),
            (
                "review:\n  # first\n  rules:\n    # of cursor\n    - cursor  global propose # why\n    # last\nb: 1\n",
                "review:\n  # first\n  rules:\n    - codex * propose\n    # of cursor\n    - cursor  global propose # why\n    \
                 # last\nb: 1\n",
            ),
            (
                "review:\n  rules: [\"cursor global propose\"] # see [note], keep\n",
                "review:\n  rules: [\"codex * propose\",\"cursor global propose\"] # see [note], keep\n",
            ),
            (
                "review:\r\n  rules:\r\n  - cursor global propose\r\n",
                "review:\r\n  rules:\r\n  - codex * propose\r\n  - cursor global propose\r\n",
            ),
        ] {
            let set = |text, value| set_list(text, "review.rules", value);
            assert_eq!(set(one, two).as_deref(), Some(both), "{one:?}");
            let back = set(both, "cursor global propose, ");
            assert_eq!(back.as_deref(), Some(one), "{both:?}");
            let none = set(both, "").expect("a usual form");
            assert!(!none.contains("cursor "), "{none}");
        }
        for (text, key, value, expected) in [
            (
                "# mine\n",
                "review.rules",
                two,
                "# mine\nreview:\n  rules:\n    - codex * propose\n    - cursor global propose\n",
            ),
            (
                "http:\n  allowed_origins: [http://b] # from [1], keep\n",
                "http.allowed_origins",
                "http://a, http://a\nhttp://a",
                "http:\n  allowed_origins: [\"http://a\"] # from [1], keep\n",
            ),
            (
                "http:\n  allowed_origins: [\"http://a # b\",'http://c'] # d\n",
                "http.allowed_origins",
                "http://a",
                "http:\n  allowed_origins: [\"http://a\"] # d\n",
            ),
            (
                "http:\n  allowed_origins:\n    # gone\n    - http://a.example # of Anna\n    - http://b.example\n",
                "http.allowed_origins",
                "http://b.example\n\"#x\"",
                "http:\n  allowed_origins:\n    - http://b.example\n    - \"\\\"#x\\\"\"\n    # gone\n    # of Anna\n",
            ),
        ] {
            assert_eq!(set_list(text, key, value).as_deref(), Some(expected));
        }
        for text in [
            "review:\n  rules:\n    - >-\n      cursor global\n      propose\n",
            "review: {rules: [cursor global propose]}\n",
            "review:\n  rules: [cursor global propose,\n    codex * direct]\n",
        ] {
            assert_eq!(set_list(text, "review.rules", two), None, "{text:?}");
        }
    }

    #[test]
    fn an_empty_list_keeps_its_comments_and_its_place() {
        let set = |text: &str, value| set_list(text, "http.allowed_origins", value);
        for (text, emptied, back) in [
            (
                "http:\n  allowed_origins: # why this\n    - http://a # laptop\n    - http://b\nb: 1\n",
                "http:\n  allowed_origins: # why this\n    # laptop\nb: 1\n",
                "http:\n  allowed_origins: # why this\n    - http://a\n    - http://b\n    # laptop\nb: 1\n",
            ),
            (
                "http:\n  # ours\n  allowed_origins: [http://a, http://b]\nb: 1\n",
                "http:\n  # ours\n  allowed_origins:\nb: 1\n",
                "http:\n  # ours\n  allowed_origins:\n    - http://a\n    - http://b\nb: 1\n",
            ),
        ] {
            for none in ["", " , ,", "none"] {
                assert_eq!(set(text, none).as_deref(), Some(emptied), "{text:?}");
            }
            let found = set(emptied, "http://a\nhttp://b");
            assert_eq!(found.as_deref(), Some(back), "{emptied:?}");
        }
    }
}
