//! Replacing and deleting the files of sessions.

use std::io;

use memory_core::instance::InstanceError;
use memory_core::instance::history::{PurgeResult, RecordFilter, SessionName, SessionRecord};
use memory_core::{ContentHasher, Operation, OperationId, Recorded};

use super::file::{SessionFile, file_error, parse_record};
use super::operations::{self, RemainingLines, SessionPayload};
use crate::disk::{Disk, ForwardLines};
use crate::lock::WriterLock;
use crate::oplog::SingleFileOperation;

/// Number of bytes after which the buffer is written.
const CHUNK: usize = 4 * 1024 * 1024;

/// The replacement or deletion of the file of a session. The caller holds the lock of the session.
#[derive(Clone, Copy)]
pub(super) struct SessionRewriter<'a> {
    pub disk: &'a dyn Disk,
    pub session: &'a SessionName,
    pub path: &'a str,
    pub operation: &'a Operation,
    /// Waits for the lock of the operation log.
    pub lock: &'a dyn Fn() -> Result<WriterLock, InstanceError>,
}

impl SessionRewriter<'_> {
    /// Deletes the records that match `filter`.
    pub(super) fn purge(&self, filter: &RecordFilter) -> Result<PurgeResult, InstanceError> {
        let mut done = PurgeResult::default();
        for line in self.lines()? {
            match parse_record(self.path, &line.map_err(file_error(self.path))?) {
                Some(Ok(record)) if filter.matches(&record) => done.purged += 1,
                Some(Ok(_)) => done.kept += 1,
                Some(Err(_)) | None => {}
            }
        }
        if done.purged == 0 {
            return Ok(done);
        }
        let fits = |line: &_| matches!(parse_record(self.path, line), Some(Ok(record)) if filter.matches(&record));
        let staying = self.lines()?.filter(|line| !line.as_ref().is_ok_and(fits));
        self.replace(
            staying,
            SessionPayload::new(self.session.as_str(), done.purged),
            None,
        )?;
        Ok(done)
    }

    /// Replaces the records of the session with `records`.
    pub(super) fn import(&self, records: &[SessionRecord]) -> Result<(), InstanceError> {
        let line = |record: &SessionRecord| {
            Ok(crate::disk::RawLine {
                at: 0,
                bytes: record.text().as_str().as_bytes().to_vec(),
                is_whole: true,
            })
        };
        self.replace(
            records.iter().map(line),
            SessionPayload::new(self.session.as_str(), records.len()),
            None,
        )
    }

    /// Moves the session to the trash, and returns its number of records.
    pub(super) fn delete(&self) -> Result<usize, InstanceError> {
        let mut records = 0;
        for line in self.lines()? {
            records += usize::from(matches!(
                parse_record(self.path, &line.map_err(file_error(self.path))?),
                Some(Ok(_))
            ));
        }
        self.move_to_trash(SessionPayload::new(self.session.as_str(), records), None)?;
        Ok(records)
    }

    /// Logs `payload` and moves the file to the trash.
    pub(super) fn move_to_trash(
        &self,
        mut payload: SessionPayload,
        undoes: Option<&OperationId>,
    ) -> Result<(), InstanceError> {
        let folder = operations::log(self.disk).trash_folder(self.operation);
        let former = format!("{folder}/{}", self.path);
        payload.former = Some(former.clone());
        let record = Recorded::new(self.operation, payload, undoes);
        let moved = || {
            self.disk
                .rename(self.path, &former)
                .map(|()| true)
                .map_err(file_error(self.path))
        };
        self.file_operation().commit(&record, moved)?;
        // The new name in the trash must be durable before the removal of the old one.
        self.disk
            .sync_folder(&folder)
            .and_then(|()| self.disk.sync_folder(""))
            .map_err(file_error(self.path))
    }

    /// Replaces the file with one of these lines. The old file, if there is one, is moved to the trash.
    pub(super) fn replace(
        &self,
        lines: impl Iterator<Item = io::Result<crate::disk::RawLine>>,
        mut payload: SessionPayload,
        undoes: Option<&OperationId>,
    ) -> Result<(), InstanceError> {
        let folder = operations::log(self.disk).trash_folder(self.operation);
        let file = self.file_operation();
        let prepared = self.write(&file.waiting, lines).and_then(|left| {
            payload.left = Some(left);
            payload.next = Some(file.waiting.clone());
            if self.disk.stat(self.path)?.is_some() {
                let former = format!("{folder}/{}", self.path);
                self.disk.hard_link(self.path, &former)?;
                payload.former = Some(former);
            }
            self.disk.sync_folder(&folder)
        });
        if let Err(error) = prepared {
            // If this fails too, the file is deleted with the trash.
            let _ = self.disk.remove(&file.waiting);
            return Err(file_error(self.path)(error));
        }
        let record = Recorded::new(self.operation, payload, undoes);
        let renamed = || {
            self.disk
                .rename(&file.waiting, self.path)
                .map(|()| true)
                .map_err(file_error(self.path))
        };
        file.commit(&record, renamed)?;
        self.disk.sync_folder("").map_err(file_error(self.path))
    }

    fn file_operation(&self) -> SingleFileOperation<'_, SessionPayload> {
        let waiting = operations::next_path(self.disk, self.operation, self.path);
        let lock = Box::new(|| (self.lock)().map(Some));
        SingleFileOperation {
            disk: self.disk,
            log: operations::log(self.disk),
            waiting,
            lock,
        }
    }

    fn write(
        &self,
        path: &str,
        lines: impl Iterator<Item = io::Result<crate::disk::RawLine>>,
    ) -> io::Result<RemainingLines> {
        self.disk.write(path, b"")?;
        let (mut bytes, mut whole, mut hash) = (Vec::new(), 0, ContentHasher::default());
        for line in lines {
            let mut line = line?;
            // A record without a newline, as some editors leave it, may be followed by other lines here.
            let is_whole = line.is_whole || matches!(parse_record(path, &line), Some(Ok(_)));
            if is_whole {
                line.bytes.push(b'\n');
                whole += line.bytes.len() as u64;
                hash.update(&line.bytes);
            }
            bytes.extend_from_slice(&line.bytes);
            if CHUNK <= bytes.len() {
                self.disk.append(path, &bytes)?;
                bytes.clear();
            }
        }
        let synced = if bytes.is_empty() {
            self.disk.sync_file(path)
        } else {
            self.disk.append(path, &bytes)
        };
        synced?;
        Ok(RemainingLines {
            bytes: whole,
            hash: hash.finish().to_string(),
        })
    }

    /// Returns whether the session exists.
    pub(super) fn exists(&self) -> Result<bool, InstanceError> {
        self.disk
            .stat(self.path)
            .map(|found| found.is_some())
            .map_err(file_error(self.path))
    }

    fn lines(&self) -> Result<ForwardLines, InstanceError> {
        let missing = || file_error(self.path)(io::ErrorKind::NotFound.into());
        let SessionFile { file, end } =
            SessionFile::open(self.disk, self.path, || ())?.ok_or_else(missing)?;
        Ok(ForwardLines::new(file, end))
    }
}
