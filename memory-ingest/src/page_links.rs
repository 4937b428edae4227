//! Links to pages that a text cites.

use std::collections::HashSet;

use crate::note::one_line;

/// Returns links to these pages, with their titles and addresses, in parentheses; `None` without an address of the web.
///
/// A page occurs once.
pub(crate) fn page_links<'a>(
    pages: impl IntoIterator<Item = (Option<&'a str>, &'a str)>,
) -> Option<String> {
    let mut links = Vec::<String>::new();
    let mut seen = HashSet::new();
    for (title, address) in pages {
        let is_web = ["https://", "http://"]
            .iter()
            .any(|scheme| address.starts_with(scheme));
        if !is_web
            || address
                .contains(|character: char| character.is_whitespace() || character.is_control())
            || !seen.insert(address)
        {
            continue;
        }
        let title = title
            .map(one_line)
            .unwrap_or_default()
            .replace(['[', ']'], " ");
        let address = address.replace('(', "%28").replace(')', "%29");
        links.push(if title.trim().is_empty() {
            format!("<{address}>")
        } else {
            format!("[{}]({address})", title.trim())
        });
    }
    (!links.is_empty()).then(|| format!("({})", links.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::page_links;

    #[test]
    fn pages_are_linked_once_by_their_titles() {
        let pages = [
            (Some("A [b]\nc"), "https://x.y/(z)"),
            (None, "http://x.y"),
            (Some("again"), "http://x.y"),
            (Some("no page"), "file:///x"),
        ];
        assert_eq!(
            page_links(pages).as_deref(),
            Some("([A  b  c](https://x.y/%28z%29), <http://x.y>)")
        );
        assert_eq!(
            page_links([(Some("a"), "javascript:x"), (None, "https://x y")]),
            None
        );
    }
}
