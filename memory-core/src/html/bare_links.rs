//! Finds addresses of web pages in plain text.

use std::ops::Range;

use crate::text::is_blankless;

/// Returns the ranges of the addresses with the scheme `http` or `https` in `text`.
///
/// An address ends before a blank, a quotation mark, a hidden character, a letter of a script without blanks, and without the
/// punctuation of the sentence around it.
pub(super) fn bare_links(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(found) = text[at..].find("://") {
            let separator = at + found;
            let end = separator + address_length(&text[separator..]);
            at = end.max(separator + 3);
            let has_host = text[separator + 3..at].starts_with(char::is_alphanumeric);
            if let Some(start) = scheme_start(&text[..separator]).filter(|_| has_host) {
                return Some(start..end);
            }
        }
        None
    })
}

/// Returns the start of the scheme at the end of `text`, unless a letter or digit precedes it.
fn scheme_start(text: &str) -> Option<usize> {
    let scheme = ["https", "http"].into_iter().find(|scheme| {
        text.len()
            .checked_sub(scheme.len())
            .and_then(|start| text.get(start..))
            .is_some_and(|end| end.eq_ignore_ascii_case(scheme))
    })?;
    let start = text.len() - scheme.len();
    let is_word = text[..start].ends_with(|before: char| {
        before.is_alphanumeric() && !is_blankless(before) || matches!(before, '+' | '-' | '.')
    });
    (!is_word).then_some(start)
}

/// Returns the length of the address at the start of `text`.
fn address_length(text: &str) -> usize {
    let is_part = |character: char| {
        (character.is_ascii_graphic() && !matches!(character, '<' | '>' | '"' | '`'))
            || (character.is_alphanumeric() && !is_blankless(character))
    };
    let end = text.find(|character| !is_part(character));
    let address = &text[..end.unwrap_or(text.len())];
    // A bracket belongs to the address if it has its partner there.
    let count = |wanted: char| address.matches(wanted).count();
    let mut unopened = count(')').saturating_sub(count('('));
    let kept = address.trim_end_matches(|last: char| match last {
        '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~' | ']' | '}' | '|' => true,
        ')' if 0 < unopened => {
            unopened -= 1;
            true
        }
        _ => false,
    });
    kept.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<&str> {
        bare_links(text).map(|range| &text[range]).collect()
    }

    #[test]
    fn an_address_ends_where_the_sentence_goes_on() {
        for (text, address) in [
            ("see https://a.b/c.", "https://a.b/c"),
            ("(see HTTP://a.b/c?d=e&f)", "HTTP://a.b/c?d=e&f"),
            ("https://a.b/c_(d), then", "https://a.b/c_(d)"),
            ("\"https://a.b\" or", "https://a.b"),
            ("https://a.b/ä/ö!?", "https://a.b/ä/ö"),
            ("見てhttps://a.b/cです", "https://a.b/c"),
            ("https://a.b/c\u{202e}d", "https://a.b/c"),
            ("https://a.b/c...", "https://a.b/c"),
            ("https://[::1] https://a.b/))", "https://a.b/"),
        ] {
            assert_eq!(found(text), [address], "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_addresses() {
        for text in [
            "https://",
            "http:// a",
            "javascript://a",
            "xhttps://a.b",
            "git+https://a.b",
            "ftp://a.b",
            "https:/a.b",
            "https://<a>",
            "://",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_ranges_are_addresses_in_the_order_of_the_text(text in "(https?://|[a-c)(.]|é|語| ){0,12}") {
            let mut end = 0;
            for range in bare_links(&text) {
                prop_assert!(end <= range.start);
                prop_assert!(text[range.clone()].starts_with("http"));
                end = range.end;
            }
        }
    }
}
