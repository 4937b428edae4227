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
/// assert_eq!(fold("T\u{308}"), fold("ẗ"));
/// ```
pub fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.trim().to_ascii_lowercase();
    }
    let name: Cow<'_, str> = if name.contains('\u{a0}') { name.replace('\u{a0}', " ").into() } else { name.into() };
    // Some are one character in lower case only, such as ẗ.
    composed(&composed(name.trim()).to_lowercase()).into_owned()
}

fn composed(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text.into(),
        IsNormalized::No | IsNormalized::Maybe => text.nfc().collect::<String>().into(),
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
