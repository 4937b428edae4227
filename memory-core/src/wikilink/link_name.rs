//! Normalization of names for comparison.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Returns the normalized form for comparing names.
///
/// It is in NFC and in lower case, without surrounding whitespace, and with no-break spaces replaced by spaces.
///
/// ```
/// use memory_core::wikilink::fold_link_name;
///
/// assert_eq!(fold_link_name(" Cafe\u{301}\u{a0}Noir "), fold_link_name("café noir"));
/// assert_eq!(fold_link_name("T\u{308}"), fold_link_name("ẗ"));
/// ```
pub fn fold_link_name(name: &str) -> String {
    if name.is_ascii() {
        return name.trim().to_ascii_lowercase();
    }
    let name: Cow<'_, str> = if name.contains('\u{a0}') { name.replace('\u{a0}', " ").into() } else { name.into() };
    // A second composition is needed: some characters, such as ẗ, are precomposed only in lower case.
    to_nfc(&to_nfc(name.trim()).to_lowercase()).into_owned()
}

fn to_nfc(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text.into(),
        IsNormalized::No | IsNormalized::Maybe => text.nfc().collect::<String>().into(),
    }
}

/// Returns the last component of a normalized path.
pub(super) fn last_component(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}

/// Returns a normalized file name without its `.md` extension.
pub(super) fn strip_md(name: &str) -> &str {
    name.strip_suffix(".md").unwrap_or(name)
}
