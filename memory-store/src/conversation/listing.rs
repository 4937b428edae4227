//! Decides when a folder must be listed again.

use crate::disk::racy_ns;

/// Two changes within this time can have the same file time, in nanoseconds: a tick is at most 10 ms.
const RACY_NS: i64 = 20_000_000;

/// Maximum age of a listing while this program changes the folder continuously, in nanoseconds.
pub(super) const OFTEN_NS: i64 = 1_000_000_000;

/// The state of a folder at its last listing or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FolderListing {
    pub(super) modified_ns: i64,
    pub(super) listed_ns: i64,
    /// The generation of the last writer at that time.
    pub(super) generation: u64,
}

impl FolderListing {
    /// Returns whether a folder last modified at `modified_ns` still has the listed names.
    ///
    /// Either any further change would alter this time, or the listing is recent and no other writer of this program has run.
    pub(super) fn is_current(self, modified_ns: i64, generation: u64, now_ns: i64) -> bool {
        let settles_ns = settled_ns(modified_ns);
        let is_recent = now_ns < settles_ns && self.is_fresh(now_ns);
        // The clock may have been set back since the listing.
        let is_settled = (settles_ns..=now_ns).contains(&self.listed_ns);
        self.modified_ns == modified_ns && (is_settled || is_recent && self.generation == generation)
    }

    pub(super) fn is_fresh(self, now_ns: i64) -> bool {
        (self.listed_ns..self.listed_ns.saturating_add(OFTEN_NS)).contains(&now_ns)
    }
}

/// Returns the time from which a further change alters a file time of `time_ns`.
pub(super) fn settled_ns(time_ns: i64) -> i64 {
    time_ns.saturating_add(racy_ns(time_ns, RACY_NS))
}
