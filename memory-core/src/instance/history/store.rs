//! Where what was said is kept.

use chrono::{DateTime, Utc};

use super::{Filter, Record, SessionName, Window};
use crate::instance::{InstanceError, InstanceOperation, Operations};

/// Records, one after another; they can be read on whatever becomes of the store that gave them.
pub type Records = Box<dyn Iterator<Item = Result<Record, InstanceError>> + Send>;

/// The sessions of one instance. Every implementation passes `testing::message_suite`.
///
/// All methods may be called from any thread and from many processes at once. Once a change has returned, neither a crash nor a power
/// cut loses it; one that fails, or is cut off, has happened whole or not at all. The records of a session are in the order in which
/// they were appended, and no record stands in the middle of another.
/// [`Operations`] tells of deletions and purges.
pub trait MessageStore: Operations {
    /// Adds records at the end of a session, which begins with them if it is not there. They follow each other directly. Of several,
    /// the first ones may be there if the power fails in between.
    ///
    /// # Errors
    /// When the store refuses.
    fn append(&self, session: &SessionName, records: &[Record], operation: &InstanceOperation)
    -> Result<Appended, InstanceError>;

    /// Returns the records of a session that fit `filter` and lie in `window`, in their order; none if there is no such session.
    ///
    /// The last few of a long session are found without reading the others. What cannot be read as a record comes as
    /// [`InstanceError::Damaged`] in its place, counts for nothing, and the others follow; behind any other error nothing follows.
    ///
    /// # Errors
    /// When the store refuses.
    fn records(&self, session: &SessionName, filter: &Filter, window: Window) -> Result<Records, InstanceError>;

    /// Returns what sessions there are, by name.
    ///
    /// # Errors
    /// When the store refuses.
    fn sessions(&self) -> Result<Vec<SessionSummary>, InstanceError>;

    /// Removes a whole session, and returns how many records it had; `None` if there is no such session. What it was is kept.
    ///
    /// # Errors
    /// When the store refuses.
    fn delete(&self, session: &SessionName, operation: &InstanceOperation) -> Result<Option<usize>, InstanceError>;

    /// Removes the records that fit `filter`, all at once. What the session was is kept. What cannot be read as a record stays.
    ///
    /// # Errors
    /// When the store refuses.
    fn purge(&self, session: &SessionName, filter: &Filter, operation: &InstanceOperation) -> Result<Purged, InstanceError>;
}

/// What an append did beside adding its records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Appended {
    /// Where that was set aside which an append that was cut off had left at the end of the session.
    pub set_aside: Option<String>,
}

/// A session, without what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its name.
    pub session: SessionName,
    /// How many records it has.
    pub records: usize,
    /// When its last record was said, as far as that is known.
    pub last_at: Option<DateTime<Utc>>,
}

/// What a purge did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purged {
    /// How many records are gone.
    pub purged: usize,
    /// How many are left.
    pub kept: usize,
}
