//! The durable record of rejected proposals, which is part of the journal.

use crate::{ContentHash, History, MemoryId, StoreError, Verb};

/// The text before the hashes in the reason of a rejection.
const REJECTED: &str = "rejected proposal ";

/// The text before the hash in the reason of an edit.
const EDITED: &str = "edited proposal ";

/// Returns the reason for the journal, which identifies the rejected content and its former versions.
pub(super) fn rejection_reason(fingerprints: &[ContentHash]) -> String {
    format!(
        "{REJECTED}{}",
        fingerprints
            .iter()
            .map(ContentHash::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    )
}

fn is_rejected_by(reason: &str, fingerprint: &ContentHash) -> bool {
    let hashes = reason.strip_prefix(REJECTED).unwrap_or_default();
    hashes.split(' ').any(|hash| {
        hash.parse()
            .is_ok_and(|hash: ContentHash| hash == *fingerprint)
    })
}

/// Returns the reason for the journal, which identifies the content of a proposal before a person edited it.
pub(super) fn edit_reason(fingerprint: &ContentHash) -> String {
    format!("{EDITED}{fingerprint}")
}

/// Returns the contents of a proposal before a person edited it.
pub(super) fn edited_fingerprints(
    history: &dyn History,
    id: MemoryId,
) -> Result<Vec<ContentHash>, StoreError> {
    let mut former = Vec::new();
    for change in history.changes_of(Verb::Update) {
        let change = change?;
        let hash: Option<ContentHash> = change
            .why
            .as_deref()
            .and_then(|why| why.strip_prefix(EDITED)?.parse().ok());
        former.extend(hash.filter(|_| change.id == id));
    }
    Ok(former)
}

/// Returns whether a person rejected the content with this hash, and did not undo the rejection.
///
/// The journal outlives the trash, so the answer does not depend on the age of the rejection.
pub(crate) fn is_rejected(
    history: &dyn History,
    fingerprint: &ContentHash,
) -> Result<bool, StoreError> {
    for change in history.changes_of(Verb::Reject) {
        if change?
            .why
            .is_some_and(|why| is_rejected_by(&why, fingerprint))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_the_rejected_content() {
        let [green, black] = ["green tea", "black tea"].map(ContentHash::of);
        let both = rejection_reason(&[green, black]);
        assert!(is_rejected_by(&both, &green) && is_rejected_by(&both, &black));
        assert!(
            !is_rejected_by(&rejection_reason(&[green]), &black)
                && !is_rejected_by("it expired", &green)
        );
    }
}
