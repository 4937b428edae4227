//! What a daemon has done, for others to read.

use std::path::Path;

use chrono::{DateTime, Utc};
use memory_core::StoreError;
use serde::{Deserialize, Serialize};

use crate::derived;
use crate::error::io_error;

/// The folder, below the home. What is in it may vanish: then nobody knows what was done, and it is done again.
const FOLDER: &str = "index";

/// The file in it.
const NAME: &str = "daemon.json";

/// What a daemon has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonState {
    /// Its process.
    pub pid: u32,
    /// When it began.
    #[serde(with = "moment")]
    pub started_at: DateTime<Utc>,
    /// When it ended, if it did and could still say so.
    #[serde(with = "maybe_moment", default)]
    pub stopped_at: Option<DateTime<Utc>>,
    /// How it learns of changed files: `inotify`, `polling` and the like.
    #[serde(default)]
    pub watching: String,
    /// Where agents are listened to; empty if nowhere.
    #[serde(default)]
    pub socket: String,
    /// When somebody else last wrote, as far as it knows.
    #[serde(with = "maybe_moment", default)]
    pub last_write: Option<DateTime<Utc>>,
    /// Up to where it knows the journal, see [`crate::FileStore::journal_end`].
    #[serde(default)]
    pub journal: String,
    /// What it does.
    #[serde(default)]
    pub chores: Vec<ChoreState>,
}

/// What became of one chore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoreState {
    /// What it is called.
    pub name: String,
    /// When it was last begun, if ever.
    #[serde(with = "maybe_moment", default)]
    pub began_at: Option<DateTime<Utc>>,
    /// When that ended.
    #[serde(with = "maybe_moment", default)]
    pub ended_at: Option<DateTime<Utc>>,
    /// How it ended.
    #[serde(default)]
    pub ending: Option<Ending>,
    /// What there was to say.
    #[serde(default)]
    pub said: Option<String>,
    /// When it last did something, if ever, and was not done in vain.
    #[serde(with = "maybe_moment", default)]
    pub worked_at: Option<DateTime<Utc>>,
    /// When it is due next; nothing if it waits for somebody to write.
    #[serde(with = "maybe_moment", default)]
    pub due_at: Option<DateTime<Utc>>,
}

impl ChoreState {
    /// Returns the state of a chore that was never done.
    pub fn new(name: &str) -> Self {
        let name = name.to_owned();
        Self { name, began_at: None, ended_at: None, ending: None, said: None, worked_at: None, due_at: None }
    }
}

/// How a chore ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It did something.
    Done,
    /// There was nothing to do.
    Nothing,
    /// There was no need, or no way.
    LeftOut,
    /// Somebody asked to stop before all was done.
    Stopped,
    /// It failed.
    Failed,
}

impl Ending {
    /// Returns the word for it.
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
    /// Reads what the last daemon of the home at `root` has done, if it is known.
    pub fn read(root: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(root.join(FOLDER).join(NAME)).ok()?).ok()
    }

    /// Writes it down in one step: whoever reads sees the former state or this one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, root: &Path) -> Result<(), StoreError> {
        let path = Path::new(FOLDER).join(NAME);
        let refused = |error| io_error(format!("write {}", root.join(&path).display()), error);
        let mut bytes = serde_json::to_vec(self).map_err(|error| refused(error.into()))?;
        bytes.push(b'\n');
        derived::write(root, &path, &bytes).map_err(refused)
    }
}

mod moment {
    use chrono::{DateTime, SecondsFormat, Utc};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(at: &DateTime<Utc>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&at.to_rfc3339_opts(SecondsFormat::Millis, true))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DateTime<Utc>, D::Error> {
        let text = String::deserialize(deserializer)?;
        DateTime::parse_from_rfc3339(&text).map(|at| at.to_utc()).map_err(D::Error::custom)
    }
}

mod maybe_moment {
    use chrono::{DateTime, Utc};
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
    pub(super) fn serialize<S: Serializer>(at: &Option<DateTime<Utc>>, serializer: S) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => super::moment::serialize(at, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<DateTime<Utc>>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        // A moment that cannot be read is as good as one that is not known.
        Ok(text.and_then(|text| DateTime::parse_from_rfc3339(&text).ok()).map(|at| at.to_utc()))
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
            ending: Some(Ending::Done),
            said: Some("3 files".into()),
            worked_at: Some(at),
            due_at: None,
        };
        let state = DaemonState {
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
        std::fs::write(&place, r#"{"pid":7,"started_at":"1970-01-01T00:00:00Z","later":true}"#).unwrap();
        assert_eq!(DaemonState::read(home.path()).unwrap().chores, []);
        std::fs::write(&place, "{").unwrap();
        assert_eq!(DaemonState::read(home.path()), None);
    }
}
