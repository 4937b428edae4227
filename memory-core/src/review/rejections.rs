//! The durable record of rejected proposals, which is part of the journal.

use crate::{ContentHash, History, StoreError, Verb};

/// The text before the hash in the reason of a rejection.
const REASON: &str = "rejected proposal ";

/// Returns the reason for the journal, which identifies the rejected content.
pub(crate) fn rejection_reason(fingerprint: &ContentHash) -> String {
    format!("{REASON}{fingerprint}")
}

fn rejected_fingerprint(reason: &str) -> Option<ContentHash> {
    reason.strip_prefix(REASON)?.parse().ok()
}

/// Returns whether a person rejected the content with this hash, and did not undo the rejection.
///
/// The journal outlives the trash, so the answer does not depend on the age of the rejection.
pub(crate) fn is_rejected(history: &dyn History, fingerprint: &ContentHash) -> Result<bool, StoreError> {
    for change in history.changes_of(Verb::Reject) {
        if change?.why.as_deref().and_then(rejected_fingerprint) == Some(*fingerprint) {
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
        let hash = ContentHash::of("green tea");
        assert_eq!(rejected_fingerprint(&rejection_reason(&hash)), Some(hash));
        assert_eq!(rejected_fingerprint("it expired"), None);
    }
}
