//! The state of a daemon, for other processes.

use std::path::Path;

use chrono::{DateTime, Utc};
use memory_core::StoreError;
use serde::{Deserialize, Serialize};

use crate::cache_file;
use crate::error::io_error;

/// The folder, below the home. Its content may be deleted: the chores then run again.
const FOLDER: &str = "index";

/// The file in the folder.
const NAME: &str = "daemon.json";

/// The state of a daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonState {
    /// The process id.
    pub pid: u32,
    /// The version of the program; empty in a state of version 0.1.0.
    #[serde(default)]
    pub version: String,
    /// The time of its start.
    #[serde(with = "moment")]
    pub started_at: DateTime<Utc>,
    /// The time of its end, if it ended and could record it.
    #[serde(with = "maybe_moment", default)]
    pub stopped_at: Option<DateTime<Utc>>,
    /// The method of detecting changed files: `inotify`, `polling` and the like.
    #[serde(default)]
    pub watching: String,
    /// The address of the socket for agents; empty if there is no socket.
    #[serde(default)]
    pub socket: String,
    /// The time of the last write by another process, if the daemon detected one.
    #[serde(with = "maybe_moment", default)]
    pub last_write: Option<DateTime<Utc>>,
    /// The position in the journal that the daemon has processed, see [`crate::FileStore::journal_end`].
    #[serde(default)]
    pub journal: String,
    /// The states of its chores.
    #[serde(default)]
    pub chores: Vec<ChoreState>,
}

/// The state of a chore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoreState {
    /// The name of the chore.
    pub name: String,
    /// The time of its last start, if it ever ran.
    #[serde(with = "maybe_moment", default)]
    pub began_at: Option<DateTime<Utc>>,
    /// The time at which its last run ended.
    #[serde(with = "maybe_moment", default)]
    pub ended_at: Option<DateTime<Utc>>,
    /// The result of its last run.
    #[serde(default)]
    pub ending: Option<ChoreResult>,
    /// The message of its last run.
    #[serde(default)]
    pub said: Option<String>,
    /// The time of the last run that had work to do, if any.
    #[serde(with = "maybe_moment", default)]
    pub worked_at: Option<DateTime<Utc>>,
    /// The time of its next run; `None` if it waits for a write.
    #[serde(with = "maybe_moment", default)]
    pub due_at: Option<DateTime<Utc>>,
}

impl ChoreState {
    /// Returns the state of a chore that has never run.
    pub fn new(name: &str) -> Self {
        let name = name.to_owned();
        Self {
            name,
            began_at: None,
            ended_at: None,
            ending: None,
            said: None,
            worked_at: None,
            due_at: None,
        }
    }
}

/// The result of a run of a chore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoreResult {
    /// It did something.
    Done,
    /// There was no work to do.
    Nothing,
    /// The run was unnecessary or impossible.
    LeftOut,
    /// It was stopped before it was complete.
    Stopped,
    /// It failed.
    Failed,
}

impl ChoreResult {
    /// Returns the name of the result.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Nothing => "nothing",
            Self::LeftOut => "left_out",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }
}

impl DaemonState {
    /// Reads the state of the last daemon of the home at `root`, if its file is valid.
    pub fn read(root: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(root.join(FOLDER).join(NAME)).ok()?).ok()
    }

    /// Writes the state atomically: a reader gets the previous state or this one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, root: &Path) -> Result<(), StoreError> {
        let path = Path::new(FOLDER).join(NAME);
        let refused = |error| io_error(format!("write {}", root.join(&path).display()), error);
        let mut bytes = serde_json::to_vec(self).map_err(|error| refused(error.into()))?;
        bytes.push(b'\n');
        cache_file::write(root, &path, &bytes).map_err(refused)
    }
}

mod moment {
    use chrono::{DateTime, SecondsFormat, Utc};
    use memory_core::parse_rfc3339;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        at: &DateTime<Utc>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&at.to_rfc3339_opts(SecondsFormat::Millis, true))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<DateTime<Utc>, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_rfc3339(&text).ok_or_else(|| D::Error::custom("not a time in RFC 3339"))
    }
}

mod maybe_moment {
    use chrono::{DateTime, Utc};
    use memory_core::parse_rfc3339;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(
        clippy::ref_option,
        reason = "serde hands over a reference to the field"
    )]
    pub(super) fn serialize<S: Serializer>(
        at: &Option<DateTime<Utc>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => super::moment::serialize(at, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<DateTime<Utc>>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        // An invalid time counts as unknown.
        Ok(text.and_then(|text| parse_rfc3339(&text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_what_cannot_be_read_is_not_known() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(DaemonState::read(home.path()), None);
        let at = DateTime::UNIX_EPOCH;
        let chore = ChoreState {
            name: "purge".into(),
            began_at: Some(at),
            ended_at: Some(at),
            ending: Some(ChoreResult::Done),
            said: Some("3 files".into()),
            worked_at: Some(at),
            due_at: None,
        };
        let state = DaemonState {
            version: "0.1.0".into(),
            pid: 7,
            started_at: at,
            stopped_at: None,
            watching: "inotify".into(),
            socket: "/home/me/.memory/memory.sock".into(),
            last_write: Some(at),
            journal: "2026-05.jsonl:9".into(),
            chores: vec![chore],
        };
        state.write(home.path()).unwrap();
        assert_eq!(DaemonState::read(home.path()), Some(state));
        let place = home.path().join("index/daemon.json");
        std::fs::write(
            &place,
            r#"{"pid":7,"started_at":"1970-01-01T00:00:00Z","later":true}"#,
        )
        .unwrap();
        assert_eq!(DaemonState::read(home.path()).unwrap().chores, []);
        std::fs::write(&place, "{").unwrap();
        assert_eq!(DaemonState::read(home.path()), None);
    }
}
