//! When the names in a folder have to be listed again.

use crate::disk::racy_ns;

/// Another change within so long could have the same time: a tick of the system is at most 10 ms.
const RACY_NS: i64 = 20_000_000;

/// While a folder changes all the time by our own hands, it is listed so often all the same.
pub(super) const OFTEN_NS: i64 = 1_000_000_000;

/// The names in a folder, as they were listed or written last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) modified_ns: i64,
    pub(super) listed_ns: i64,
    /// Which of our writers was the last one by then.
    pub(super) generation: u64,
}

impl Names {
    /// Tells whether the folder, last changed at `modified_ns`, has no other names: a further change would show in that time, or has not had
    /// time to happen unless by one of ours, who would be another generation.
    pub(super) fn are_those_of(self, modified_ns: i64, generation: u64, now_ns: i64) -> bool {
        let settles_ns = settled_ns(modified_ns);
        let is_recent = now_ns < settles_ns && self.is_fresh(now_ns);
        // The clock may have been set back since they were listed.
        let is_settled = (settles_ns..=now_ns).contains(&self.listed_ns);
        self.modified_ns == modified_ns && (is_settled || is_recent && self.generation == generation)
    }

    pub(super) fn is_fresh(self, now_ns: i64) -> bool {
        (self.listed_ns..self.listed_ns.saturating_add(OFTEN_NS)).contains(&now_ns)
    }
}

/// Returns from when on a further change shows in a time that is `time_ns` now.
pub(super) fn settled_ns(time_ns: i64) -> i64 {
    time_ns.saturating_add(racy_ns(time_ns, RACY_NS))
}
