//! The queue of extraction jobs, as lines of a file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Debug;
use std::fs::TryLockError;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use memory_core::conversation::{
    ConversationEntry, ConversationId, EnqueuedTurns, EntryChange, EntryId, EntryRole, Job,
    JobQueue, JobState, PendingJob,
};
use memory_core::{OperationId, StoreError, parse_rfc3339};
use serde::{Deserialize, Serialize};

use super::layout::format_time;
use crate::disk::{Disk, LazyDisk, append_line, replace_file};
use crate::error::{io_error, read_error, write_error};
use crate::lock::{LOCK_FILE, PATIENCE, WriterLock};

/// The folder of the queue, next to the conversations.
const FOLDER: &str = ".conversations";

const PATH: &str = ".conversations/jobs.jsonl";

/// The lock of the process that extracts facts.
const RUNNING: &str = ".conversations/running";

/// The temporary name of a new file.
const TEMP_FILE: &str = ".conversations/.new-jobs.tmp";

/// An empty queue with a file longer than this, in bytes, gets a new file.
const COMPACT_ABOVE: u64 = 64 * 1024;

/// A job queue in a file. Additions are one write and one sync.
#[derive(Debug)]
pub struct JobFile {
    place: LazyDisk,
    seen: Mutex<JobFileCache>,
}

/// The parsed content of the file, so that the next read only parses new lines.
#[derive(Debug, Default)]
struct JobFileCache {
    inode: u64,
    length: u64,
    /// The last line that was parsed: if it has changed, the file was replaced.
    last: Vec<u8>,
    /// The pending jobs, in the order of their addition.
    jobs: BTreeMap<u64, PendingJob>,
    /// The position of each job in that order, including finished jobs.
    places: HashMap<String, u64>,
    /// The time since which all turns with a job, pending or finished, are in `turns`.
    since: Option<DateTime<Utc>>,
    turns: HashSet<(ConversationId, EntryId)>,
    /// The time of the newest of these turns.
    latest: Option<DateTime<Utc>>,
}

/// The first line of a file: the time since which the file lists all turns with a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct JobFileHeader {
    since: String,
}

/// A line of the file: a job or its new state.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct JobLine {
    job: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<JobChangeLine>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<bool>,
}

/// A change of an entry: an added fact with all its fields, or the id of a deleted one.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct JobChangeLine {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<String>,
}

impl JobFile {
    /// Returns the jobs of the conversations at `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            place: LazyDisk::new(root.into()),
            seen: Mutex::default(),
        }
    }

    /// Returns the jobs of the conversations at `root`, with `disk` for writes.
    pub fn with_disk(root: impl Into<PathBuf>, disk: Arc<dyn Disk>) -> Self {
        Self {
            place: LazyDisk::on_disk(root.into(), disk),
            seen: Mutex::default(),
        }
    }

    /// Appends lines, as one write and one sync.
    fn append(&self, lines: &[JobLine]) -> Result<(), StoreError> {
        if lines.is_empty() {
            return Ok(());
        }
        let disk = self.create()?;
        let _lock = self.lock(disk)?;
        let texts = lines
            .iter()
            .map(|line| serde_json::to_vec(line).expect("texts and numbers have a JSON form"));
        let bytes = texts.collect::<Vec<_>>().join(&b'\n');
        append_line(disk, PATH, &bytes).map_err(write_error(PATH))?;
        if lines.iter().any(|line| line.done == Some(true)) {
            // A long file is harmless.
            let _ = self.compact(disk);
        }
        Ok(())
    }

    /// Returns the disk, and creates the folder if it is missing.
    fn create(&self) -> Result<&dyn Disk, StoreError> {
        self.place.get_or_create().map_err(read_error(FOLDER))
    }

    fn lock_cache(&self) -> MutexGuard<'_, JobFileCache> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the file if it is long and no job is pending. The caller holds the lock.
    fn compact(&self, disk: &dyn Disk) -> Result<(), StoreError> {
        let mut seen = self.lock_cache();
        seen.read_new_lines(disk)?;
        match seen.latest.max(seen.since) {
            Some(since) if COMPACT_ABOVE < seen.length && seen.jobs.is_empty() => {
                write_empty_file(disk, since)
            }
            _ => Ok(()),
        }
    }

    fn lock(&self, disk: &dyn Disk) -> Result<WriterLock, StoreError> {
        let path = format!("{FOLDER}/{LOCK_FILE}");
        WriterLock::acquire_file(disk, self.place.root(), &path, PATIENCE)
    }
}

impl JobQueue for JobFile {
    fn push(&self, jobs: &[Job]) -> Result<(), StoreError> {
        self.append(&jobs.iter().map(job_line).collect::<Vec<_>>())
    }

    fn record_states(&self, states: &[(OperationId, JobState)]) -> Result<(), StoreError> {
        self.append(
            &states
                .iter()
                .map(|(job, state)| state_line(job, state))
                .collect::<Vec<_>>(),
        )
    }

    fn pending(&self) -> Result<Vec<PendingJob>, StoreError> {
        let disk = self.place.get().map_err(read_error(FOLDER))?;
        let Some(disk) = disk else {
            return Ok(Vec::new());
        };
        let mut seen = self.lock_cache();
        seen.read_new_lines(disk)?;
        Ok(seen.jobs.values().cloned().collect())
    }

    fn enqueued_turns(&self, now: DateTime<Utc>) -> Result<EnqueuedTurns, StoreError> {
        let disk = self.create()?;
        let _lock = self.lock(disk)?;
        let mut seen = self.lock_cache();
        seen.read_new_lines(disk)?;
        if seen.since.is_none() {
            write_empty_file(disk, now)?;
            seen.read_new_lines(disk)?;
        }
        Ok(EnqueuedTurns {
            since: seen.since.unwrap_or(now),
            turns: seen.turns.clone(),
        })
    }

    fn claim(&self) -> Result<Option<Box<dyn Debug + Send>>, StoreError> {
        let disk = self.create()?;
        match WriterLock::try_acquire_file(disk, RUNNING) {
            Ok(lock) => Ok(Some(Box::new(lock))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(io_error(format!("lock {RUNNING}"), error)),
        }
    }
}

/// Replaces the file by a new one without jobs, durably and atomically.
///
/// No job may be pending. The caller holds the lock.
fn write_empty_file(disk: &dyn Disk, since: DateTime<Utc>) -> Result<(), StoreError> {
    let mut bytes = serde_json::to_vec(&JobFileHeader {
        since: format_time(since),
    })
    .expect("texts have a JSON form");
    bytes.push(b'\n');
    replace_file(disk, TEMP_FILE, PATH, &bytes).map_err(write_error(PATH))
}

fn job_line(job: &Job) -> JobLine {
    JobLine {
        job: job.id.to_string(),
        conversation: Some(job.conversation.to_string()),
        turn: Some(job.turn.to_string()),
        at: Some(job.at.to_rfc3339()),
        ..JobLine::default()
    }
}

fn state_line(job: &OperationId, state: &JobState) -> JobLine {
    let mut line = JobLine {
        job: job.to_string(),
        ..JobLine::default()
    };
    match state {
        JobState::Waiting { attempts } => line.attempts = Some(*attempts),
        // The line has facts and no changes; versions that cannot read it extract the facts again.
        JobState::Extracted { facts, attempts } => {
            line.facts = Some(facts.clone());
            line.attempts = Some(*attempts).filter(|attempts| 0 < *attempts);
        }
        JobState::Decided { changes, facts } => {
            line.changes = Some(changes.iter().map(change_line).collect());
            line.facts = Some(facts.clone());
        }
        JobState::Done => line.done = Some(true),
    }
    line
}

impl JobFileCache {
    /// Parses the lines added since the last call. Omits invalid and incomplete lines.
    fn read_new_lines(&mut self, disk: &dyn Disk) -> Result<(), StoreError> {
        let told = read_error(PATH);
        let Some(found) = disk.stat(PATH).map_err(told)? else {
            *self = Self::default();
            return Ok(());
        };
        let read = |start: u64| {
            let length = usize::try_from(found.size.saturating_sub(start)).unwrap_or(usize::MAX);
            disk.read_part(PATH, start, length).map_err(told)
        };
        let mut start = self.length - self.last.len() as u64;
        let mut bytes = read(start)?;
        if self.inode != found.inode || !bytes.starts_with(&self.last) {
            *self = Self {
                inode: found.inode,
                ..Self::default()
            };
            (start, bytes) = (0, read(0)?);
        }
        let known = self.last.len();
        let Some(end) = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map(|last| last + 1)
        else {
            return Ok(());
        };
        for line in bytes[known..end].split(|byte| *byte == b'\n') {
            match serde_json::from_slice::<JobLine>(line) {
                Ok(line) => self.add_line(line),
                Err(_) => self.since = self.since.or_else(|| parse_header(line)),
            }
        }
        self.length = start + end as u64;
        let last = bytes[..end - 1]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |before| before + 1);
        self.last = bytes[last..end].to_vec();
        Ok(())
    }

    fn add_line(&mut self, line: JobLine) {
        let Some(place) = self.places.get(&line.job).copied() else {
            if let Some(job) = parse_job(&line) {
                self.turns
                    .insert((job.conversation.clone(), job.turn.clone()));
                self.since = self.since.or(Some(job.at));
                self.latest = self.latest.max(Some(job.at));
                let place = self.places.len() as u64;
                self.places.insert(line.job, place);
                self.jobs.insert(
                    place,
                    PendingJob {
                        job,
                        state: JobState::Waiting { attempts: 0 },
                    },
                );
            }
            return;
        };
        let state = self
            .jobs
            .get(&place)
            .and_then(|own| parse_state(&own.job, &line));
        match state {
            Some(JobState::Done) => drop(self.jobs.remove(&place)),
            Some(state) => drop(self.jobs.get_mut(&place).map(|own| own.state = state)),
            None => {}
        }
    }
}

fn parse_header(line: &[u8]) -> Option<DateTime<Utc>> {
    let mark = serde_json::from_slice::<JobFileHeader>(line).ok()?;
    parse_rfc3339(&mark.since)
}

fn parse_job(line: &JobLine) -> Option<Job> {
    Some(Job {
        id: line.job.parse().ok()?,
        conversation: line.conversation.as_deref()?.parse().ok()?,
        turn: line.turn.as_deref()?.parse().ok()?,
        at: parse_rfc3339(line.at.as_deref()?)?,
    })
}

fn parse_state(job: &Job, line: &JobLine) -> Option<JobState> {
    if line.done == Some(true) {
        return Some(JobState::Done);
    }
    if let Some(changes) = &line.changes {
        let changes = changes
            .iter()
            .map(|change| parse_change(&job.conversation, change))
            .collect::<Option<_>>()?;
        return Some(JobState::Decided {
            changes,
            facts: line.facts.clone().unwrap_or_default(),
        });
    }
    let attempts = line.attempts.unwrap_or_default();
    let extracted = line.facts.as_ref().map(|facts| JobState::Extracted {
        facts: facts.clone(),
        attempts,
    });
    extracted.or(line.attempts.map(|attempts| JobState::Waiting { attempts }))
}

fn change_line(change: &EntryChange) -> JobChangeLine {
    match change {
        EntryChange::Add(entry) => JobChangeLine {
            id: entry.id.to_string(),
            content: Some(entry.content.clone()),
            created_at: Some(format_time(entry.created_at)),
            source_id: entry.source_id.as_ref().map(ToString::to_string),
            replaced_by: None,
        },
        EntryChange::Delete { id, replaced_by } => JobChangeLine {
            id: id.to_string(),
            content: None,
            created_at: None,
            source_id: None,
            replaced_by: replaced_by.as_ref().map(ToString::to_string),
        },
    }
}

fn parse_change(conversation: &ConversationId, line: &JobChangeLine) -> Option<EntryChange> {
    let id: EntryId = line.id.parse().ok()?;
    let parsed =
        |text: &Option<String>| text.as_deref().map(str::parse::<EntryId>).transpose().ok();
    let Some(content) = &line.content else {
        return Some(EntryChange::Delete {
            id,
            replaced_by: parsed(&line.replaced_by)?,
        });
    };
    let at = parse_rfc3339(line.created_at.as_deref()?)?;
    let entry = ConversationEntry::new(id, conversation, EntryRole::Memory, content, at);
    Some(EntryChange::Add(ConversationEntry {
        source_id: parsed(&line.source_id)?,
        ..entry
    }))
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_file_that_begins_anew_knows_from_when_on_each_turn_has_a_job() {
        let home = tempfile::tempdir().unwrap();
        let jobs = JobFile::new(home.path());
        let turn = |number: i64| {
            let at = DateTime::UNIX_EPOCH + TimeDelta::seconds(number);
            let id = format!("{number}-{}", "x".repeat(200)).parse().unwrap();
            ConversationEntry::new(
                id,
                &ConversationId::default_conversation(),
                EntryRole::User,
                "tea",
                at,
            )
        };
        for number in 1..=200 {
            jobs.push(&[Job::of(&turn(number))]).unwrap();
        }
        let known = jobs.enqueued_turns(DateTime::UNIX_EPOCH).unwrap();
        assert_eq!((known.since, known.turns.len()), (turn(1).created_at, 200));
        for number in 1..=200 {
            jobs.record_states(&[(Job::of(&turn(number)).id, JobState::Done)])
                .unwrap();
        }
        for jobs in [&jobs, &JobFile::new(home.path())] {
            let known = jobs.enqueued_turns(DateTime::UNIX_EPOCH).unwrap();
            assert_eq!((known.since, known.turns.len()), (turn(200).created_at, 0));
        }
        jobs.push(&[Job::of(&turn(201))]).unwrap();
        assert_eq!(
            jobs.enqueued_turns(DateTime::UNIX_EPOCH)
                .unwrap()
                .turns
                .len(),
            1
        );
        assert_eq!(jobs.pending().unwrap().len(), 1);
    }
}
