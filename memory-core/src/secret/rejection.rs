//! Rejection of text with credentials.

use std::collections::HashSet;

use super::find;
use crate::StoreError;

/// Checks that texts contain no credentials. All writes pass this check.
///
/// # Errors
/// [`StoreError::Secret`] with the kinds that were found.
pub fn reject_secrets<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<(), StoreError> {
    let mut kinds: Vec<_> = texts.into_iter().flat_map(find).map(|found| found.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.is_empty() { Ok(()) } else { Err(StoreError::Secret { kinds }) }
}

/// Checks that a text contains no credentials that the previous text `former` does not contain.
///
/// # Errors
/// Those of [`reject_secrets`].
pub fn reject_added_secrets(former: &str, text: &str) -> Result<(), StoreError> {
    let found = find(text);
    if found.is_empty() {
        return Ok(());
    }
    let known: HashSet<&str> = find(former).into_iter().map(|found| &former[found.span]).collect();
    let mut kinds: Vec<_> =
        found.into_iter().filter(|found| !known.contains(&text[found.span.clone()])).map(|found| found.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.is_empty() { Ok(()) } else { Err(StoreError::Secret { kinds }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_credentials_that_are_new_are_refused() {
        let token = |end: &str| format!("{{\"token\": \"ghp_{}{end}\"}}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7");
        let (one, other) = (token("R8"), token("S9"));
        reject_added_secrets("", &one).unwrap_err();
        reject_added_secrets(&one, &one).unwrap();
        reject_added_secrets(&one, &format!("[{one}, 1]")).unwrap();
        reject_added_secrets(&one, &other).unwrap_err();
        reject_added_secrets(&one, &format!("[{one}, {other}]")).unwrap_err();
        reject_added_secrets(&one, "{}").unwrap();
    }
}
