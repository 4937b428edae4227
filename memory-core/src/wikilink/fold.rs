//! The form in which names are compared.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Returns the form in which two names are compared: NFC, a no-break space like any blank, no blanks around it, and no
/// difference between upper and lower case.
///
/// ```
/// use memory_core::wikilink::fold;
///
/// assert_eq!(fold(" Cafe\u{301}\u{a0}Noir "), fold("café noir"));
/// ```
pub fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.trim().to_ascii_lowercase();
    }
    let name: Cow<'_, str> = if name.contains('\u{a0}') { name.replace('\u{a0}', " ").into() } else { name.into() };
    let name = name.trim();
    match is_nfc_quick(name.chars()) {
        IsNormalized::Yes => name.to_lowercase(),
        IsNormalized::No | IsNormalized::Maybe => name.nfc().collect::<String>().to_lowercase(),
    }
}

/// Returns the part of a folded path after its last `/`.
pub(super) fn last_part(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}

/// Returns a folded file name without the `.md` at its end.
pub(super) fn stem(name: &str) -> &str {
    name.strip_suffix(".md").unwrap_or(name)
}
