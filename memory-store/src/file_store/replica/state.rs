//! The state of a replica: which operations of the log its files contain.

use memory_core::{Recorded, StoreError};
use serde::{Deserialize, Serialize};

use super::Replica;
use crate::cache_file;
use crate::error::{io_error, replica_folder_error};
use crate::file_store::FileStore;
use crate::index::CATEGORIES;
use crate::journal::JournalPayload;
use crate::log_connection::is_unreachable;
use crate::oplog::LogPosition;
use crate::shared_log::LogHeads;

/// The file with the state of a replica.
pub(super) const STATE: &str = "replica.json";

/// The folders that are derived from the log.
pub(super) const DERIVED: [&str; 3] = [CATEGORIES, "journal", "trash"];

const OTHER_FOLDER: &str = "use another folder";

const MIGRATE: &str = "use another folder with --root, or copy this home into the database with `memory shared migrate`";

const DELETE_MEMORIES: &str = "delete replica.json, categories/, journal/ and trash/ if the database contains all memories of this home; the \
    next command fetches them. Do not delete offline/";

const DELETE_REPLICA: &str = "choose another home with --root; or send the writes in offline/ with the former token, and then delete replica.json, \
    categories/, journal/, trash/, banks/, topics/, entries/, .conversations/.replica.jsonl, index/, memory.md and pending.md";

/// The operations that a replica contains.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ReplicaState {
    /// The id of the log.
    pub database: String,
    /// The principal of the node, if it has a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The scopes that the principal may read; `None` for all scopes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readable: Option<Vec<String>>,
    /// Those of them that it may not write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_only: Vec<String>,
    /// Whether the replica is created because the node may no longer read a scope.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_lost_scope: bool,
    /// A position in the journal; `None` while the replica is created.
    ///
    /// All operations before it are in `heads`. Later ones are in the queue, or were interrupted before the state was saved, or precede
    /// one in the queue.
    pub journal: Option<String>,
    pub heads: LogHeads,
    /// The start of the system since which files are written without syncs, if any are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// A position in the journal. The files of all operations before it are durable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synced: Option<String>,
}

impl ReplicaState {
    /// Returns whether the principal may write an access key, according to the last contact with the database.
    pub(super) fn is_writable(&self, key: &str) -> bool {
        let is_readable =
            (self.readable.as_ref()).is_none_or(|readable| readable.iter().any(|own| own == key));
        is_readable && !self.read_only.iter().any(|own| own == key)
    }
}

/// A replica with its state.
#[derive(Debug)]
pub(super) struct CurrentReplica {
    pub state: ReplicaState,
    /// The operations in the files after the position of `state`, newest first.
    pub done: Vec<Recorded<JournalPayload>>,
    /// The reason why it is not known whether the database is the right one, if it cannot be reached.
    pub unreachable: Option<StoreError>,
}

impl CurrentReplica {
    /// Returns whether `record` is in the files.
    pub(super) fn has(&self, record: &Recorded<JournalPayload>) -> bool {
        self.done
            .iter()
            .any(|own| own.operation.id == record.operation.id && own.subject == record.subject)
    }
}

impl FileStore {
    /// Returns the replica, or `None` if it must be created.
    ///
    /// # Errors
    /// If the folder belongs to another database, or contains memories that are in no database.
    pub(super) fn current(&self, replica: &Replica) -> Result<Option<CurrentReplica>, StoreError> {
        let (identity, unreachable) = match replica.connection.identity() {
            Ok(identity) => (Some(identity), None),
            Err(error) if is_unreachable(&error) && self.has_state() => (None, Some(error)),
            Err(error) => return Err(error),
        };
        let Some(state) = self.read_state()? else {
            let is_used = |folder: &&&str| {
                self.disk
                    .list_folder(folder)
                    .is_ok_and(|entries| !entries.is_empty())
            };
            return match DERIVED.iter().find(is_used) {
                None => Ok(None),
                Some(folder) => Err(self.other_home_error(
                    &format!("{folder}/ exists, but its memories are not in the database"),
                    MIGRATE,
                )),
            };
        };
        if identity.is_some_and(|identity| identity.id != state.database) {
            return Err(self.other_home_error("it is a replica of another database", OTHER_FOLDER));
        }
        if identity.is_some_and(|identity| identity.principal != state.principal) {
            return Err(
                self.other_home_error("it is a replica for another principal", DELETE_REPLICA)
            );
        }
        let Some(mark) = state.journal.as_deref().and_then(LogPosition::from_text) else {
            return Ok(None);
        };
        if self.has_lost_files(replica, &state)? {
            return Ok(None);
        }
        let end = self.journal().end()?;
        if end == mark {
            return Ok(Some(CurrentReplica {
                state,
                done: Vec::new(),
                unreachable,
            }));
        }
        // Without the journal, the history is incomplete.
        if !self.journal().contains(&mark)? {
            return Ok(None);
        }
        let done = self.journal().operations_after(&mark)?;
        let done = done.collect::<Result<_, _>>()?;
        Ok(Some(CurrentReplica {
            state,
            done,
            unreachable,
        }))
    }

    pub(super) fn has_state(&self) -> bool {
        self.read_state()
            .is_ok_and(|state| state.is_some_and(|state| state.journal.is_some()))
    }

    pub(super) fn read_state(&self) -> Result<Option<ReplicaState>, StoreError> {
        let read = self
            .disk
            .read(STATE)
            .map_err(|error| io_error(format!("read {STATE}"), error))?;
        let Some((bytes, _)) = read else {
            return Ok(None);
        };
        // A power cut may damage the file. The id of the log then is unknown, so the user decides.
        let damaged = |_| self.other_home_error(&format!("{STATE} is damaged"), DELETE_MEMORIES);
        serde_json::from_slice(&bytes).map(Some).map_err(damaged)
    }

    fn other_home_error(&self, why: &str, hint: &'static str) -> StoreError {
        replica_folder_error(&self.root, why, hint)
    }

    /// Saves the state, with the current end of the journal if no operation is queued.
    pub(super) fn save(&self, state: &mut ReplicaState) -> Result<(), StoreError> {
        if state.journal.is_none() || self.queue().is_empty()? {
            state.journal = Some(self.journal_end()?);
        }
        self.write_state(state)
    }

    pub(super) fn write_state(&self, state: &ReplicaState) -> Result<(), StoreError> {
        let text = serde_json::to_vec(state).expect("texts and numbers have a JSON form");
        cache_file::write(&self.root, STATE, &text)
            .map_err(|error| io_error(format!("write {STATE}"), error))
    }
}
