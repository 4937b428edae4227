//! Formats and parses the generated lines of an index.

use crate::text::to_one_line;
use crate::topic::{Topic, TopicName};

/// Maximum length of a title in characters.
const LONGEST_TITLE: usize = 80;

/// Returns the line of a topic, with at most `width` characters of its description.
pub(super) fn format_entry(topic: &Topic, width: usize) -> String {
    // A title without visible characters counts as missing.
    let or = |text: String, otherwise: &str| {
        if text.is_empty() {
            otherwise.to_owned()
        } else {
            text
        }
    };
    let title = or(cut_at_word(&topic.title, LONGEST_TITLE), topic.name.stem());
    let description = or(cut_at_word(&topic.description, width), &title);
    let title = title
        .replace('\\', "\\\\")
        .replace('[', "\\[")
        .replace(']', "\\]");
    let name = topic.name.as_str();
    // These characters would otherwise end the link.
    let name = if name.contains([' ', '(', ')', '<', '>']) {
        format!("<{}>", name.replace('<', "\\<").replace('>', "\\>"))
    } else {
        name.to_owned()
    };
    format!("- [{title}]({name}) - {description}")
}

/// Returns the line that replaces `count` topics.
pub(super) fn format_remaining(count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("- ({count} more file{plural}, less used: list the files to see them)")
}

/// Returns whether a line has the format that [`entry`] produces.
pub(super) fn is_entry(line: &str) -> bool {
    let Some(line) = line.strip_prefix("- [") else {
        return false;
    };
    let leads_to = |(at, _): (usize, &str)| {
        let (target, behind) = link_target(&line[at + "](".len()..])?;
        (behind.starts_with(" - ") && target.to_lowercase().ends_with(".md"))
            .then(|| target.parse::<TopicName>().ok())?
    };
    line.match_indices("](")
        .any(|found| leads_to(found).is_some())
}

/// Returns the names of the topics that a line links to.
pub(super) fn linked_topics(line: &str) -> impl Iterator<Item = TopicName> {
    let links = line
        .match_indices("](")
        .filter_map(|(at, _)| Some(link_target(&line[at + 2..])?.0));
    let wikilinks = line.match_indices("[[").filter_map(|(at, _)| {
        let inner = line[at + 2..].split("]]").next()?;
        inner.split(['|', '#']).next().map(str::to_owned)
    });
    let name = |target: String| {
        target
            .strip_prefix("./")
            .unwrap_or(&target)
            .parse::<TopicName>()
            .ok()
    };
    links.chain(wikilinks).filter_map(name)
}

/// Splits the text after `](` into the link target and the rest of the line.
fn link_target(text: &str) -> Option<(String, &str)> {
    let Some(inner) = text.strip_prefix('<') else {
        let (target, rest) = text.split_once(')')?;
        return (!target.contains([' ', '('])).then(|| (target.replace("%20", " "), rest));
    };
    let (target, rest) = inner.split_once(">)")?;
    Some((
        target
            .trim_end_matches('\\')
            .replace("\\<", "<")
            .replace("\\>", ">"),
        rest,
    ))
}

/// Returns text as one line of at most `longest` characters, cut between words if possible.
pub(super) fn cut_at_word(text: &str, longest: usize) -> String {
    let line = to_one_line(text, usize::MAX);
    let Some((end, _)) = line.char_indices().nth(longest) else {
        return line;
    };
    let room = line
        .char_indices()
        .nth(longest.saturating_sub(1))
        .map_or(end, |(at, _)| at);
    // A word across the limit is dropped, unless that would leave less than half of the text.
    let whole = if line[room..].starts_with(' ') {
        Some(room)
    } else {
        line[..room].rfind(' ')
    };
    let end = whole.filter(|whole| room / 2 < *whole).unwrap_or(room);
    format!(
        "{}…",
        line[..end].trim_end_matches(|letter: char| letter == ' ' || letter.is_ascii_punctuation())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_cut_between_words() {
        assert_eq!(
            cut_at_word("Always run pytest before committing", 40),
            "Always run pytest before committing"
        );
        assert_eq!(
            cut_at_word("Always run pytest before committing", 20),
            "Always run pytest…"
        );
        assert_eq!(
            cut_at_word("Always run pytest, before committing", 20),
            "Always run pytest…"
        );
        assert_eq!(cut_at_word("编辑器设置与交流风格的说明", 6), "编辑器设置…");
        assert_eq!(
            cut_at_word("a verylongwordwithoutanyblank", 10),
            "a verylon…"
        );
        assert_eq!(cut_at_word("two\nlines\u{1b}[31m", 40), "two lines[31m");
    }

    #[test]
    fn lines_of_our_shape_are_told_from_others() {
        for line in [
            "- [Prefs](user_prefs.md) - Editor settings",
            "- [a \\[b\\]](<my file (1).md>) - x",
            "- [a](b) c](d.md) - e",
        ] {
            assert!(is_entry(line), "{line}");
        }
        for line in [
            "- [Prefs](user_prefs.md) — Editor settings",
            "- [Prefs](user_prefs.md)",
            "* [Prefs](user_prefs.md) - Editor settings",
            "- [Prefs](docs/user_prefs.md) - Editor settings",
            "- [Prefs](https://example.org/a.md) - Editor settings",
            "- [Prefs](MEMORY.md) - itself",
            "- Prefs",
        ] {
            assert!(!is_entry(line), "{line}");
        }
    }

    #[test]
    fn the_files_that_a_line_leads_to_are_known() {
        let names = |line| {
            linked_topics(line)
                .map(|name| name.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names("see [a](a.md) and [b](<my b.md>), [[c]], [[d|the d]], [e](my%20e.md)"),
            ["a.md", "my b.md", "my e.md", "c.md", "d.md"]
        );
        assert_eq!(
            names("[a](https://example.org/a) and [x](../x.md)"),
            [""; 0]
        );
    }
}
