//! Fuzzes texts with wikilinks and tags: the span of each link contains it.

use memory_core::wikilink::{
    blank_code, fold_link_name, inline_tags, lookup_keys, parse, parse_prose_wikilinks,
};

/// Finds the wikilinks and tags of a text.
pub fn wikilinks(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let prose = blank_code(&text);
    assert_eq!(prose.len(), text.len(), "code is blanked in place");
    let links = parse(&text);
    assert_eq!(links, parse_prose_wikilinks(&prose));
    let mut end = 0;
    for link in &links {
        // A slice within a character would panic.
        let there = &text[link.span.clone()];
        assert!(
            there.starts_with(if link.embed { "![[" } else { "[[" }) && there.ends_with("]]"),
            "{there}"
        );
        assert!(end <= link.span.start && !there.contains('\n'), "{there}");
        // Code in the target is blanked.
        assert!(prose[link.span.clone()].contains(&link.target), "{there}");
        end = link.span.end;
        let _ = lookup_keys(&link.target);
        assert_eq!(
            fold_link_name(&fold_link_name(&link.target)),
            fold_link_name(&link.target),
            "a name that is folded is folded"
        );
    }
    for tag in inline_tags(&text) {
        assert!(
            !tag.is_empty() && prose.contains(&format!("#{tag}")),
            "{tag}"
        );
    }
}
