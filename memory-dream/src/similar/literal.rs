//! Extracts words that must be compared character by character.

use memory_core::wikilink;

/// Returns the addresses, paths, identifiers, options, tags and wikilinks of a text, in order.
///
/// `prose` is the text with its code blanked.
pub(super) fn extract_literals(prose: &str) -> Vec<String> {
    let parts_words = |character: char| character.is_whitespace() || '\u{2e80}' <= character;
    let around = |character: char| "()[]{}<>\"'“”‘’,.;:!?*_~`".contains(character);
    let words = prose.split(parts_words).map(|word| word.trim_matches(around)).filter(|word| is_literal(word));
    let links =
        wikilink::parse_prose_wikilinks(prose).into_iter().map(|link| format!("[[{}]]", wikilink::fold_link_name(&link.target)));
    words.map(str::to_owned).chain(links).collect()
}

fn is_literal(word: &str) -> bool {
    let has_letter = word.contains(char::is_alphabetic);
    let is_option = word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|next: char| next == '-' || next.is_alphabetic()));
    has_letter && (is_option || word.contains(['/', '\\', '_', '@', '#', '+', '=', '<', '>', '$', '^', '&', '~', '|', '.', ':']))
}
