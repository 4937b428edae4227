//! The section that an export adds to a text: a list of links that the text does not contain.

use std::borrow::Cow;

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
        let items: Vec<_> = items.into_iter().map(|item| format!("\n{bullet} {item}")).collect();
        if items.is_empty() { String::new() } else { format!("\n\n{heading}\n{}", items.concat()) }
    }
}

/// Returns the number of lines of a text that have the title of `section`.
pub(crate) fn count_headings(text: &str, section: &str) -> usize {
    heading_starts(text, section).len()
}

/// Removes the section of an export from a text that contains it, possibly edited. Returns the text and the items of the section.
///
/// `section` is the section as it was written. `own_headings` is the number of headings with the same title that the text had
/// before it. The section ends at the first block that is not a part of its list.
pub(crate) fn split_section<'a>(text: &'a str, section: &'a str, own_headings: usize) -> (Cow<'a, str>, Vec<&'a str>) {
    if let Some(text) = text.strip_suffix(section) {
        return (text.into(), text_items(section).collect());
    }
    let (starts, written) = (heading_starts(text, section), text_items(section).collect::<Vec<_>>());
    if let Some(start) = starts.last() {
        let (end, items) = read_list(text, *start);
        // An edit may have removed such a heading of the text itself.
        if own_headings < starts.len() || items.iter().any(|item| written.contains(item)) {
            let before = without_blank_line(&text[..*start]);
            let after = text[end..].trim_start_matches(['\r', '\n']);
            return (if after.is_empty() { before.into() } else { format!("{before}\n\n{after}").into() }, items);
        }
    }
    split_items(text, &written)
}

/// Returns the end of the list below the heading at `start`, and its items.
fn read_list(text: &str, start: usize) -> (usize, Vec<&str>) {
    let mut end = start + text[start..].find('\n').map_or(text.len() - start, |length| length + 1);
    let (mut at, mut items, mut is_after_blank) = (end, Vec::new(), true);
    for line in text[end..].split_inclusive('\n') {
        at += line.len();
        let content = line.trim();
        if content.is_empty() {
            is_after_blank = true;
            continue;
        }
        let continues = !items.is_empty() && !content.starts_with('#') && (!is_after_blank || line.starts_with([' ', '\t']));
        // An edit may remove the mark of the first item.
        let is_bare = items.is_empty() && ["[[", "]("].iter().any(|link| content.contains(link));
        match list_item(line).or((is_bare && !continues).then_some(content)) {
            Some(item) => items.push(item),
            None if continues => {}
            None => break,
        }
        (end, is_after_blank) = (at, false);
    }
    (end, items)
}

/// Removes the items of a section at the end of a text, if only its heading was removed.
fn split_items<'a>(text: &'a str, written: &[&str]) -> (Cow<'a, str>, Vec<&'a str>) {
    let (mut rest, mut items) = (text, Vec::new());
    while let Some(item) = rest.trim_end().lines().next_back().and_then(list_item).filter(|item| written.contains(item)) {
        let end = rest.trim_end();
        rest = &end[..end.rfind('\n').map_or(0, |at| at + 1)];
        items.insert(0, item);
    }
    if items.is_empty() { (text.into(), items) } else { (without_blank_line(rest).into(), items) }
}

/// Returns the starts of the lines of a text that have the title of `section`, at any level.
fn heading_starts(text: &str, section: &str) -> Vec<usize> {
    let title = |line: &str| line.starts_with('#').then(|| line.trim_start_matches('#').trim().to_lowercase());
    let Some(wanted) = section.trim_start().lines().next().and_then(title) else { return Vec::new() };
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
    ["- ", "* ", "+ "].iter().find_map(|bullet| line.trim_start().strip_prefix(bullet)).map(str::trim)
}

/// Returns a text without the line breaks that an export writes before a section.
fn without_blank_line(text: &str) -> &str {
    let without = |text: &'_ str| text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text).len());
    let end = without(text).and_then(|end| without(&text[..end])).or_else(|| without(text)).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STYLE: SectionStyle = SectionStyle { heading: "## Relations", bullet: "-" };

    fn split(text: &str) -> (String, Vec<String>) {
        let section = STYLE.write(["to [[A]]", "to [[B]]"]);
        let (text, items) = split_section(text, &section, 0);
        (text.into_owned(), items.into_iter().map(str::to_owned).collect())
    }

    #[test]
    fn an_edited_section_is_no_part_of_the_text() {
        for (edited, items) in [
            ("text\n\n## Relations\n\n- to [[A]]\n- to [[B]]", vec!["to [[A]]", "to [[B]]"]),
            ("text\r\n\r\n## Relations\r\n\r\n- to [[A]]\r\n", vec!["to [[A]]"]),
            ("text\n\n### relations\n* to [[C]]\n  more\n\n- to [[B]]\nlazy", vec!["to [[C]]", "to [[B]]"]),
            ("text\n\n## Relations\n\nto [[A]]\n- to [[B]]", vec!["to [[A]]", "to [[B]]"]),
            ("text\n\n## Relations", vec![]),
            ("text\n\n- to [[A]]\n- to [[B]]\n", vec!["to [[A]]", "to [[B]]"]),
            ("text", vec![]),
        ] {
            let items = items.into_iter().map(str::to_owned).collect();
            assert_eq!(split(edited), ("text".to_owned(), items), "{edited:?}");
        }
    }

    #[test]
    fn a_text_after_the_section_is_part_of_the_text() {
        for (edited, text) in [
            ("text\n\n## Relations\n\n- to [[A]]\n\nmore\n- own", "text\n\nmore\n- own"),
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
        for edited in [own.to_owned(), format!("{own}{section}"), format!("{own}{section}\n- to [[B]]")] {
            assert_eq!(split_section(&edited, &section, 1).0, own, "{edited:?}");
        }
    }

    #[test]
    fn the_section_is_found_without_a_former_heading_of_the_text() {
        let section = STYLE.write(["to [[A]]"]);
        assert_eq!(split_section("a\n\n## Relations\n\n- to [[A]]\n- to [[B]]", &section, 1).0, "a");
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
            listed.push("new");
            let edited = format!("{written}\n- new");
            prop_assert_eq!(split_section(&edited, &section, count_headings(&text, &section)), (text.as_str().into(), listed));
        }
    }
}
