//! The storage interface of sessions.

use chrono::{DateTime, Utc};

use super::{RecordFilter, SessionName, SessionRecord, Window};
use crate::instance::{InstanceError, InstanceOperations};
use crate::secret::Checked;
use crate::{Operation, Progress, SearchRequest, SearchResults};

/// An iterator over records, independent of the lifetime of the store.
pub type SessionRecords = Box<dyn Iterator<Item = Result<SessionRecord, InstanceError>> + Send>;

/// The storage of the sessions of one instance. Every implementation passes `testing::message_suite`.
///
/// All methods may be called from any thread and from multiple processes concurrently. Once a change has returned, it
/// survives a crash and a power loss. A change that fails or is interrupted has happened completely or not at all. The
/// records of a session are in the order in which they were appended, and concurrent appends do not interleave within a
/// record. [`InstanceOperations`] lists deletions and purges.
pub trait MessageStore: InstanceOperations {
    /// Appends records to a session, which is created if it does not exist. The records are contiguous.
    ///
    /// After a power loss a prefix of `records` may have been stored.
    ///
    /// # Errors
    /// An error of the store.
    fn append(
        &self,
        session: &SessionName,
        records: Checked<&[SessionRecord]>,
        operation: &Operation,
    ) -> Result<SessionAppendResult, InstanceError>;

    /// Returns the records of a session that match `filter` and are in `window`, in order.
    ///
    /// A session that does not exist has no records. Reading the last records of a long session does not read the
    /// preceding ones. A line that cannot be parsed as a record yields an [`InstanceError::Damaged`] at its position,
    /// does not count towards `window`, and iteration continues; any other error ends it.
    ///
    /// # Errors
    /// An error of the store.
    fn records(
        &self,
        session: &SessionName,
        filter: &RecordFilter,
        window: Window,
    ) -> Result<SessionRecords, InstanceError>;

    /// Returns the sessions by name.
    ///
    /// # Errors
    /// An error of the store.
    fn sessions(&self) -> Result<Vec<SessionSummary>, InstanceError>;

    /// Updates the index of the messages to the sessions, if the store has one. `progress` counts bytes.
    ///
    /// # Errors
    /// An error of the store.
    fn refresh_index(&self, _progress: &mut dyn FnMut(Progress)) -> Result<(), InstanceError> {
        Ok(())
    }

    /// Builds the index of the messages anew, if the store has one.
    ///
    /// # Errors
    /// An error of the store.
    fn rebuild_index(&self, _progress: &mut dyn FnMut(Progress)) -> Result<(), InstanceError> {
        Ok(())
    }

    /// Returns the messages that match, best first, in the scopes `conversation:<session>`; `None` if the store has no index.
    ///
    /// They are those of the last [`Self::refresh_index`], without messages that have changed since.
    ///
    /// # Errors
    /// An error of the store.
    fn search(
        &self,
        _asked: &SearchRequest<'_>,
        _now: DateTime<Utc>,
    ) -> Result<Option<SearchResults>, InstanceError> {
        Ok(None)
    }

    /// Deletes a whole session, and returns its number of records; `None` if it does not exist.
    ///
    /// The session is retained for undo.
    ///
    /// # Errors
    /// An error of the store.
    fn delete(
        &self,
        session: &SessionName,
        operation: &Operation,
    ) -> Result<Option<usize>, InstanceError>;

    /// Returns whether the store supports [`Self::replace`].
    ///
    /// # Errors
    /// [`InstanceError::Invalid`] if it does not.
    fn check_replace(&self) -> Result<(), InstanceError>;

    /// Replaces all records of a session, which is created if it does not exist.
    ///
    /// The previous state of the session is retained for undo. Several sessions may be replaced in one operation.
    ///
    /// # Errors
    /// [`InstanceError::Invalid`] if the store does not support it, or an error of the store.
    fn replace(
        &self,
        session: &SessionName,
        records: Checked<&[SessionRecord]>,
        operation: &Operation,
    ) -> Result<(), InstanceError>;

    /// Deletes the records that match `filter` in one operation.
    ///
    /// The previous state of the session is retained for undo. Lines that cannot be parsed as a record are not deleted.
    ///
    /// # Errors
    /// An error of the store.
    fn purge(
        &self,
        session: &SessionName,
        filter: &RecordFilter,
        operation: &Operation,
    ) -> Result<PurgeResult, InstanceError>;
}

/// The result of an append.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionAppendResult {
    /// Where an incomplete record at the end of the session, from an interrupted append, was moved to.
    pub set_aside: Option<String>,
}

/// A session, without its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// The name of the session.
    pub session: SessionName,
    /// Number of records.
    pub records: usize,
    /// The time of the last record, if available.
    pub last_at: Option<DateTime<Utc>>,
}

/// The result of a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PurgeResult {
    /// Number of deleted records.
    pub purged: usize,
    /// Number of remaining records.
    pub kept: usize,
}
