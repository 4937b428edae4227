//! The section that an export adds to a text: a list of links that the text does not contain.

use std::borrow::Cow;
use std::collections::HashSet;

/// A section of an export.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SectionStyle {
    /// The heading, with its marks.
    pub(crate) heading: &'static str,
    /// The mark of a list item.
    pub(crate) bullet: &'static str,
}

impl SectionStyle {
    /// Returns the section with these items, as it follows a text; empty without items.
    pub(crate) fn write<'a>(self, items: impl IntoIterator<Item = &'a str>) -> String {
        let Self { heading, bullet } = self;
        let items: Vec<_> = items
            .into_iter()
            .map(|item| format!("\n{bullet} {item}"))
            .collect();
        if items.is_empty() {
            String::new()
        } else {
            format!("\n\n{heading}\n{}", items.concat())
        }
    }
}

/// Returns the number of lines of a text that have the title of `section`.
pub(crate) fn count_headings(text: &str, section: &str) -> usize {
    heading_starts(text, section).len()
}

/// Removes the section of an export from a text that contains it, possibly edited. Returns the text and the items of the section.
///
/// `section` is the section as it was written. `own_headings` is the number of headings with the same title that the text had
/// before it. The section ends at the first block that is not a part of its list. An item that is more than a link, such as a
/// remark, becomes part of the text.
pub(crate) fn split_section<'a>(
    text: &'a str,
    section: &'a str,
    own_headings: usize,
) -> (Cow<'a, str>, Vec<&'a str>) {
    if let Some(text) = text.strip_suffix(section) {
        return (text.into(), text_items(section).collect());
    }
    let (starts, written) = (
        heading_starts(text, section),
        WrittenItems::new(text_items(section)),
    );
    if let Some(start) = starts.last() {
        let (end, items) = read_list(text, *start);
        // An edit may have removed such a heading of the text itself.
        if own_headings < starts.len() || items.iter().any(|item| written.contain(item.text)) {
            let is_link = |item: &ListItem<'_>| item.is_line && written.has_form_of(item.text);
            let (links, others): (Vec<_>, Vec<_>) = items.into_iter().partition(is_link);
            let before = without_blank_line(&text[..*start]);
            let others: Vec<_> = others.into_iter().map(|item| item.source).collect();
            let after = text[end..].trim_start_matches(['\r', '\n']);
            let mut joined = Cow::from(before);
            for part in [others.join("\n").as_str(), after]
                .into_iter()
                .filter(|part| !part.is_empty())
            {
                joined = format!("{joined}\n\n{part}").into();
            }
            return (joined, links.into_iter().map(|item| item.text).collect());
        }
    }
    split_items(text, &written)
}

/// An item of a list.
struct ListItem<'a> {
    /// The text of the first line.
    text: &'a str,
    /// All lines of the item.
    source: &'a str,
    /// Whether the item has one line.
    is_line: bool,
}

/// Returns the end of the list below the heading at `start`, and its items.
fn read_list(text: &str, start: usize) -> (usize, Vec<ListItem<'_>>) {
    let mut end = start
        + text[start..]
            .find('\n')
            .map_or(text.len() - start, |length| length + 1);
    let (mut at, mut items, mut is_after_blank) = (end, Vec::<ListItem<'_>>::new(), true);
    let mut first = at;
    for line in text[end..].split_inclusive('\n') {
        let line_start = at;
        at += line.len();
        let content = line.trim();
        if content.is_empty() {
            is_after_blank = true;
            continue;
        }
        let continues = !items.is_empty()
            && !content.starts_with('#')
            && (!is_after_blank || line.starts_with([' ', '\t']));
        // An edit may remove the mark of the first item.
        let is_bare = items.is_empty() && ["[[", "]("].iter().any(|link| content.contains(link));
        match (
            list_item(line).or((is_bare && !continues).then_some(content)),
            items.last_mut(),
        ) {
            (Some(item), _) => {
                first = line_start;
                items.push(ListItem {
                    text: item,
                    source: line.trim_end(),
                    is_line: true,
                });
            }
            (None, Some(item)) if continues => {
                item.source = text[first..at].trim_end();
                item.is_line = false;
            }
            _ => break,
        }
        (end, is_after_blank) = (at, false);
    }
    (end, items)
}

/// The items of a list as an export wrote them.
#[derive(Debug, Default)]
pub(crate) struct WrittenItems<'a> {
    items: HashSet<&'a str>,
    /// The targets of their links, and the texts around these.
    targets: HashSet<&'a str>,
    around: HashSet<(&'a str, &'a str)>,
}

impl<'a> WrittenItems<'a> {
    pub(crate) fn new(items: impl IntoIterator<Item = &'a str>) -> Self {
        let mut written = Self::default();
        for item in items {
            written.items.insert(item);
            if let Some(form) = LinkItem::of(item) {
                written.targets.insert(form.target);
                written.around.insert(form.around);
            }
        }
        written
    }

    pub(crate) fn contain(&self, item: &str) -> bool {
        self.items.contains(item)
    }

    /// Returns whether an item is one of these, or a link to another note in the same form or without other words.
    pub(crate) fn has_form_of(&self, item: &str) -> bool {
        if self.contain(item) {
            return true;
        }
        let Some(own) = LinkItem::of(item) else {
            return false;
        };
        // Another label of the same link is not part of the list.
        let is_relabelled = own.is_markdown && self.targets.contains(own.target);
        own.is_plain()
            && !is_relabelled
            && (own.around == ("", "") || self.around.contains(&own.around))
    }
}

/// An item of a list with one link.
#[derive(Debug, Clone, Copy)]
struct LinkItem<'a> {
    /// The texts before and after the link.
    around: (&'a str, &'a str),
    target: &'a str,
    is_markdown: bool,
}

impl<'a> LinkItem<'a> {
    fn of(item: &'a str) -> Option<Self> {
        let wikilink = || {
            let (before, rest) = item.split_once("[[")?;
            let (target, after) = rest.split_once("]]")?;
            Some(Self {
                around: (before, after),
                target,
                is_markdown: false,
            })
        };
        let markdown = || {
            let (before, rest) = item.split_once('[')?;
            let (_, rest) = rest.split_once("](")?;
            // Parentheses in an address come in pairs.
            let mut depth = 0;
            let is_end = |character: char| {
                depth += i32::from(character == '(') - i32::from(character == ')');
                depth < 0
            };
            let (target, after) = rest.split_at(rest.find(is_end)?);
            let after = &after[1..];
            Some(Self {
                around: (before, after),
                target,
                is_markdown: true,
            })
        };
        wikilink().or_else(markdown)
    }

    /// Returns whether the link is only a target, which is all that a list of links expresses.
    fn is_plain(&self) -> bool {
        let has_more = |text: &str| ["[[", "]("].iter().any(|mark| text.contains(mark));
        !self.target.contains(['|', '#', '^']) && !has_more(self.target) && !has_more(self.around.1)
    }
}

/// Removes the items of a section at the end of a text, if only its heading was removed.
fn split_items<'a>(text: &'a str, written: &WrittenItems<'_>) -> (Cow<'a, str>, Vec<&'a str>) {
    let (mut rest, mut items) = (text, Vec::new());
    while let Some(item) = rest
        .trim_end()
        .lines()
        .next_back()
        .and_then(list_item)
        .filter(|item| written.contain(item))
    {
        let end = rest.trim_end();
        rest = &end[..end.rfind('\n').map_or(0, |at| at + 1)];
        items.push(item);
    }
    items.reverse();
    if items.is_empty() {
        (text.into(), items)
    } else {
        (without_blank_line(rest).into(), items)
    }
}

/// Returns the starts of the lines of a text that have the title of `section`, at any level.
fn heading_starts(text: &str, section: &str) -> Vec<usize> {
    let title = |line: &str| {
        line.starts_with('#')
            .then(|| line.trim_start_matches('#').trim().to_lowercase())
    };
    let Some(wanted) = section.trim_start().lines().next().and_then(title) else {
        return Vec::new();
    };
    let mut at = 0;
    let starts = text.split_inclusive('\n').filter_map(|line| {
        at += line.len();
        (title(line).as_ref() == Some(&wanted)).then_some(at - line.len())
    });
    starts.collect()
}

fn text_items(section: &str) -> impl Iterator<Item = &str> {
    section.lines().filter_map(list_item)
}

/// Returns the text of a list item.
fn list_item(line: &str) -> Option<&str> {
    ["- ", "* ", "+ "]
        .iter()
        .find_map(|bullet| line.trim_start().strip_prefix(bullet))
        .map(str::trim)
}

/// Returns a text without the line breaks that an export writes before a section.
fn without_blank_line(text: &str) -> &str {
    let without = |text: &'_ str| {
        text.strip_suffix('\n')
            .map(|text| text.strip_suffix('\r').unwrap_or(text).len())
    };
    let end = without(text)
        .and_then(|end| without(&text[..end]))
        .or_else(|| without(text))
        .unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STYLE: SectionStyle = SectionStyle {
        heading: "## Relations",
        bullet: "-",
    };

    fn split(text: &str) -> (String, Vec<String>) {
        let section = STYLE.write(["to [[A]]", "to [[B]]"]);
        let (text, items) = split_section(text, &section, 0);
        (
            text.into_owned(),
            items.into_iter().map(str::to_owned).collect(),
        )
    }

    #[test]
    fn an_edited_section_is_no_part_of_the_text() {
        for (edited, items) in [
            (
                "text\n\n## Relations\n\n- to [[A]]\n- to [[B]]",
                vec!["to [[A]]", "to [[B]]"],
            ),
            (
                "text\r\n\r\n## Relations\r\n\r\n- to [[A]]\r\n",
                vec!["to [[A]]"],
            ),
            (
                "text\n\n### relations\n* to [[C]]\n\n- [[D]]\n+ to [[B]]",
                vec!["to [[C]]", "[[D]]", "to [[B]]"],
            ),
            (
                "text\n\n## Relations\n\nto [[A]]\n- to [[B]]",
                vec!["to [[A]]", "to [[B]]"],
            ),
            ("text\n\n## Relations", vec![]),
            (
                "text\n\n- to [[A]]\n- to [[B]]\n",
                vec!["to [[A]]", "to [[B]]"],
            ),
            ("text", vec![]),
        ] {
            let items = items.into_iter().map(str::to_owned).collect();
            assert_eq!(split(edited), ("text".to_owned(), items), "{edited:?}");
        }
    }

    #[test]
    fn an_item_that_is_more_than_a_link_is_part_of_the_text() {
        for item in [
            "- [fact] new #tag",
            "- remark",
            "* depends_on [[A]]",
            "- to [[A]] (context)",
            "- to [[A|shown]]",
            "- to [[C#part]]",
            "- to [[C]] and [[D]]",
            "- to [[C]]\n  more",
            "- to [[B]]\nlazy",
        ] {
            let edited = format!("text\n\n## Relations\n\n- to [[A]]\n{item}\n\nafter");
            assert_eq!(
                split(&edited),
                (
                    format!("text\n\n{item}\n\nafter"),
                    vec!["to [[A]]".to_owned()]
                ),
                "{item}"
            );
        }
        let written = ["[Tea](tea.md)"];
        for (item, is_link) in [
            ("[Tea](tea.md)", true),
            ("[Cup (blue)](../a/cup (1).md)", true),
            ("[My tea](tea.md)", false),
            ("[Cup](cup.md#top)", false),
            ("see [Cup](cup.md)", false),
            ("[Cup](cup.md) (since May)", false),
            ("[a](a.md), [b](b.md)", false),
        ] {
            assert_eq!(
                WrittenItems::new(written).has_form_of(item),
                is_link,
                "{item}"
            );
        }
    }

    #[test]
    fn a_text_after_the_section_is_part_of_the_text() {
        for (edited, text) in [
            (
                "text\n\n## Relations\n\n- to [[A]]\n\nmore\n- own",
                "text\n\nmore\n- own",
            ),
            ("text\n\n## Relations\n- to [[A]]\n# More", "text\n\n# More"),
            ("text\n\n## Relations\n\nmore", "text\n\nmore"),
        ] {
            assert_eq!(split(edited).0, text, "{edited:?}");
        }
    }

    #[test]
    fn a_section_of_the_text_itself_remains() {
        let own = "a\n## Relations\n- own [[X]]";
        let section = STYLE.write(["to [[A]]"]);
        assert_eq!(count_headings(own, &section), 1);
        for edited in [
            own.to_owned(),
            format!("{own}{section}"),
            format!("{own}{section}\n- to [[B]]"),
        ] {
            assert_eq!(split_section(&edited, &section, 1).0, own, "{edited:?}");
        }
    }

    #[test]
    fn the_section_is_found_without_a_former_heading_of_the_text() {
        let section = STYLE.write(["to [[A]]"]);
        assert_eq!(
            split_section("a\n\n## Relations\n\n- to [[A]]\n- to [[B]]", &section, 1).0,
            "a"
        );
    }

    proptest! {
        #[test]
        fn the_section_of_every_text_is_found(
            text in "([a-c]|## Relations|# R|- |\n|\\[\\[A\\]\\]| ){0,20}", items in prop::collection::vec("[a-c]{1,3} \\[\\[A\\]\\]", 1..4)
        ) {
            let section = STYLE.write(items.iter().map(String::as_str));
            let mut listed: Vec<_> = items.iter().map(String::as_str).collect();
            let written = format!("{text}{section}");
            prop_assert_eq!(split_section(&written, &section, 0), (text.as_str().into(), listed.clone()));
            let new = items[0].replace("[[A]]", "[[B]]");
            listed.push(&new);
            let edited = format!("{written}\n- {new}");
            prop_assert_eq!(split_section(&edited, &section, count_headings(&text, &section)), (text.as_str().into(), listed));
        }
    }
}
