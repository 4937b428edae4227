//! The Markdown links of a text to other files.

use std::ops::Range;

use memory_core::html::MarkdownEvents;
use percent_encoding::percent_decode_str;
use pulldown_cmark::{Event, LinkType, Options, Tag};

/// The marks between the shown text and the address of a link.
const ADDRESS_START: &str = "](";

/// The marks between the name and the address in the definition of a link.
const DEFINITION_START: &str = "]:";

/// Returns the targets of the Markdown links and images of a text that lead to files, in order.
///
/// A target that starts with `/` is relative to the root of the source. All others are relative to the file, and start
/// with `./` or `../`. Links to the web and to a part of the same file are left out.
pub(crate) fn file_links(text: &str) -> Vec<String> {
    addresses(text)
        .iter()
        .filter_map(|address| file_target(address))
        .collect()
}

/// Returns the addresses of the Markdown links and images of a text, in order.
///
/// A text that exceeds its budget of work has none.
pub(crate) fn addresses(text: &str) -> Vec<String> {
    // Every link contains one of these; most texts contain none.
    if !text.contains(ADDRESS_START) && !text.contains(DEFINITION_START) {
        return Vec::new();
    }
    find_in_events(text, |event, _| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    })
}

/// Returns what `find` returns for the events of a text with their spans; nothing if the text exceeds its budget of work.
fn find_in_events<T>(
    text: &str,
    mut find: impl FnMut(Event<'_>, Range<usize>) -> Option<T>,
) -> Vec<T> {
    let Some(mut events) = MarkdownEvents::new(text, Options::ENABLE_FOOTNOTES) else {
        return Vec::new();
    };
    let found = events
        .by_ref()
        .filter_map(|(event, span)| find(event, span))
        .collect();
    if events.is_exhausted() {
        return Vec::new();
    }
    found
}

/// Returns the addresses of the Markdown links and images of a text with an address of their own, and of the definitions of the others,
/// in order. Each has its span from the end of the shown text or of the name on.
///
/// An address with escaped characters is left out. A text that exceeds its budget of work has none.
pub(crate) fn address_spans(text: &str) -> Vec<(Range<usize>, String)> {
    if !text.contains(ADDRESS_START) && !text.contains(DEFINITION_START) {
        return Vec::new();
    }
    let mut addresses = find_in_events(text, |event, span| {
        let Event::Start(
            Tag::Link {
                link_type: LinkType::Inline,
                dest_url,
                ..
            }
            | Tag::Image {
                link_type: LinkType::Inline,
                dest_url,
                ..
            },
        ) = event
        else {
            return None;
        };
        let link = &text[span.clone()];
        let starts = link.rmatch_indices(ADDRESS_START).map(|(at, _)| at);
        let address = |start: &usize| {
            let address = &link[*start + ADDRESS_START.len()..];
            address
                .strip_prefix('<')
                .unwrap_or(address)
                .starts_with(&*dest_url)
        };
        let start = starts
            .clone()
            .find(address)
            .filter(|_| !dest_url.is_empty())?;
        let end = start + link[start..].find(&*dest_url)? + dest_url.len();
        Some((span.start + start..span.start + end, dest_url.into_string()))
    });
    addresses.extend(definition_spans(text));
    addresses.sort_by_key(|(span, _)| span.start);
    addresses
}

/// Returns the addresses in the definitions of links, such as `[name]: address`. Each has its span from the end of the name on.
fn definition_spans(text: &str) -> Vec<(Range<usize>, String)> {
    let Some(events) = MarkdownEvents::new(text, Options::ENABLE_FOOTNOTES) else {
        return Vec::new();
    };
    let address = |span: &Range<usize>, address: &str| {
        let source = &text[span.clone()];
        let start = source.find(DEFINITION_START)?;
        let written = source[start + DEFINITION_START.len()..].trim_start();
        let written = written.strip_prefix('<').unwrap_or(written);
        let end = source.len() - written.len() + address.len();
        let is_plain = !address.is_empty() && written.starts_with(address);
        is_plain.then(|| (span.start + start..span.start + end, address.to_owned()))
    };
    let definitions = events.definitions().iter();
    definitions
        .filter_map(|(_, definition)| address(&definition.span, &definition.dest))
        .collect()
}

/// Returns the file that the address of a link leads to, as a target of links between notes.
pub(crate) fn file_target(address: &str) -> Option<String> {
    // A wikilink in place of an address is found as such.
    let is_wikilink = address.starts_with("[[") && address.ends_with("]]");
    if has_scheme(address) || address.starts_with("//") || is_wikilink {
        return None;
    }
    let path = address.split(['#', '?']).next().unwrap_or_default();
    let path = percent_decode_str(path).decode_utf8_lossy();
    if path.trim().is_empty() || path.contains(char::is_control) {
        return None;
    }
    let is_placed = path.starts_with('/') || path.starts_with("./") || path.starts_with("../");
    Some(if is_placed {
        path.into_owned()
    } else {
        format!("./{path}")
    })
}

/// Returns the path of the file to which a link in the file at `from` leads, unless it is not in the same source.
pub(crate) fn resolve_path(from: &str, target: &str) -> Option<String> {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = if target.starts_with('/') {
        Vec::new()
    } else {
        folder.split('/').collect()
    };
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()?),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    Some(parts.join("/"))
}

/// Returns whether an address starts with the name of a protocol, such as `https:`.
fn has_scheme(address: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    };
    address
        .split_once(':')
        .is_some_and(|(scheme, _)| is_scheme(scheme))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{address_spans, file_links, resolve_path};

    #[test]
    fn links_to_files_are_found_and_decoded() {
        let text = "[a](b%20c.md#part) ![p](<img/p q.png> \"title\") [r] [[w]] [^n]\n\n[r]: /root.md\n[^n]: note\n";
        assert_eq!(file_links(text), ["./b c.md", "./img/p q.png", "/root.md"]);
        assert_eq!(
            file_links("| a |\n|---|\n| [键](../文.md) |\n"),
            ["../文.md"]
        );
    }

    #[test]
    fn links_between_files_lead_to_paths_of_the_source() {
        for (from, target, path) in [
            ("a.md", "./b.md", Some("b.md")),
            ("x/a.md", "../b.md", Some("b.md")),
            ("x/y/a.md", "./../z/b.md", Some("x/z/b.md")),
            ("x/a.md", "/b.md", Some("b.md")),
            ("x/a.md", "../../b.md", None),
        ] {
            assert_eq!(
                resolve_path(from, target).as_deref(),
                path,
                "{from} {target}"
            );
        }
    }

    #[test]
    fn links_to_other_places_and_in_code_are_left_out() {
        let text = "[w]([[w]]) [a](https://x.y/z.md) [b](mailto:x@y) [c](#part) [d](//host/x) <https://x.y> `[e](e.md)`\n\n    [f](f.md)\n";
        assert_eq!(file_links(text), [""; 0]);
    }

    #[test]
    fn the_addresses_of_links_have_their_places() {
        let text = "[a](b.md#x \"](t)\") [![p](<i p.png>)](c.md) [r] `[d](d.md)` [e](e\\_.md)\n\n[r]: <r s.md> \"r\"\n[u]:\n  u.md\n";
        let found = address_spans(text)
            .into_iter()
            .map(|(span, address)| (&text[span], address));
        let expected = [
            ("](b.md#x", "b.md#x"),
            ("](<i p.png", "i p.png"),
            ("](c.md", "c.md"),
            ("]: <r s.md", "r s.md"),
            ("]:\n  u.md", "u.md"),
        ];
        assert_eq!(
            found.collect::<Vec<_>>(),
            expected.map(|(part, address)| (part, address.to_owned()))
        );
    }

    #[test]
    fn a_text_that_exceeds_its_budget_has_no_links() {
        let link = "\n\n[a](b.md)";
        for text in [
            ">".repeat(200_000),
            "[![a](b)".repeat(100_000),
            "- ".repeat(1_000),
        ] {
            assert_eq!(file_links(&(text.clone() + link)), [""; 0]);
            assert_eq!(address_spans(&(text + link)), []);
        }
        assert_eq!(file_links(&("tea\n\n".repeat(50_000) + link)), ["./b.md"]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "([a-c]|\\[|\\]|\\(|\\)|<|>|%|%e9|%00|#|\n|:|/|\\.|`|键){0,40}") {
            for (span, address) in address_spans(&text) {
                prop_assert!(text[span].ends_with(&address));
            }
            prop_assert!(file_links(&text).iter().all(|link| !link.contains(['\n', '\r', '\0'])));
        }
    }
}
