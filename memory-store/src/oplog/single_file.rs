//! Operations that change a single file, with one atomic rename or deletion.

use std::io;

use memory_core::{Operation, Recorded};

use super::{LogPayload, OperationLog};
use crate::disk::Disk;
use crate::lock::WriterLock;

/// The engine that carries out the operations of a store on a single file.
///
/// The new content waits under a temporary name, and the line of the operation is appended to the log before the file changes. An
/// interruption between the two is detected by the temporary file (banks and rewritten sessions), by the moved file (deleted sessions), or
/// by the hash of the value. The caller holds the lock of the file.
pub(crate) struct SingleFileOperation<'a, P, E> {
    pub disk: &'a dyn Disk,
    pub log: OperationLog<'a, P>,
    /// The temporary path of the new content.
    pub waiting: String,
    /// Waits for the lock of the log, if the writers of several files share it.
    pub lock: Box<dyn Fn() -> Result<Option<WriterLock>, E> + 'a>,
    /// Returns the error that the log cannot be written.
    pub log_error: fn(io::Error) -> E,
}

impl<P: LogPayload, E> SingleFileOperation<'_, P, E> {
    /// Logs the operation, and changes the file with `place`.
    ///
    /// `place` makes its change completely or not at all, and returns whether it did; `false` means that another program has changed the
    /// file. If the change is not made, that is logged as well.
    pub(crate) fn commit(
        &self,
        record: &Recorded<P>,
        place: impl FnOnce() -> Result<bool, E>,
    ) -> Result<bool, E> {
        let placed = self.append(|log| log.append(record)).and_then(|()| place());
        if matches!(placed, Ok(true)) {
            return placed;
        }
        // If this fails too, the next writer or reader detects that the operation was not carried out.
        let aborted = self.abort(&record.operation);
        placed.and_then(|is_placed| aborted.map(|()| is_placed))
    }

    /// Logs that an operation was not carried out, and removes the temporary file.
    pub(crate) fn abort(&self, operation: &Operation) -> Result<(), E> {
        self.append(|log| log.append_abort(operation))?;
        self.disk.remove(&self.waiting).map_err(self.log_error)
    }

    fn append(&self, append: impl FnOnce(&OperationLog<'_, P>) -> io::Result<()>) -> Result<(), E> {
        let _lock = (self.lock)()?;
        append(&self.log).map_err(self.log_error)
    }
}
