//! The log of the daemon, and its state for `memory status`.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use memory_core::text::format_error_chain;
use memory_core::{Clock, StoreError};
use memory_dream::schedule::{Chore, ChoreStatus, ScheduleHistory};
use memory_store::{ChoreResult, ChoreState, DaemonState, EventLog, FileStore, SystemClock};

use super::ACTOR;

/// The log and the state of the daemon. Write errors are ignored.
#[derive(Debug)]
pub(crate) struct DaemonLog {
    store: Arc<FileStore>,
    log: Arc<EventLog>,
    state: Mutex<DaemonState>,
}

impl DaemonLog {
    /// Starts a new state for the process `pid`; also returns the history from the previous state.
    pub(crate) fn open(
        store: Arc<FileStore>,
        log: EventLog,
        pid: u32,
    ) -> Result<(Self, ScheduleHistory), StoreError> {
        let now = SystemClock.now();
        let former = DaemonState::read(store.root());
        let journal = store.journal_end()?;
        // The time of a write without a running daemon is unknown, so the current time is used.
        let last_write = match &former {
            Some(former) if !store.was_written_since(&former.journal, ACTOR)? => {
                former.last_write.or(Some(now))
            }
            _ => Some(now),
        };
        let chores: Vec<ChoreState> = former.map(|former| former.chores).unwrap_or_default();
        let done: Vec<(Chore, DateTime<Utc>)> = chores
            .iter()
            .filter(|chore| {
                !matches!(
                    chore.ending,
                    Some(ChoreResult::Failed | ChoreResult::Stopped)
                )
            })
            .filter_map(|chore| Some((Chore::of(&chore.name)?, chore.began_at?)))
            .collect();
        let past = ScheduleHistory::new(now, last_write, &done);
        let chores = chores
            .into_iter()
            .filter(|chore| Chore::of(&chore.name).is_some())
            .collect();
        let state = DaemonState {
            pid,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: now,
            stopped_at: None,
            watching: String::new(),
            socket: String::new(),
            last_write,
            journal,
            chores,
        };
        Ok((
            Self {
                store,
                log: Arc::new(log),
                state: Mutex::new(state),
            },
            past,
        ))
    }

    /// Returns the log.
    pub(crate) fn log(&self) -> Arc<EventLog> {
        Arc::clone(&self.log)
    }

    /// Logs a message.
    pub(crate) fn info(&self, what: &str) {
        self.log.info(SystemClock.now(), what);
    }

    /// Logs a warning.
    pub(crate) fn warning(&self, what: &str) {
        self.log.warning(SystemClock.now(), what);
    }

    /// Records the method of change detection, and the reason if it is a fallback.
    pub(crate) fn record_watching(&self, how: &str, why: Option<&str>) {
        let is_news = std::mem::replace(&mut self.state().watching, how.to_owned()) != how;
        if !is_news {
            return;
        }
        match why {
            None => self.info(&format!("detecting file changes by {how}")),
            Some(why) => self.warning(&format!("detecting file changes by {how}: {why}")),
        }
        self.save();
    }

    /// Records the path of the socket for agents.
    pub(crate) fn record_socket(&self, socket: &Path) {
        let socket = socket.display().to_string();
        self.info(&format!("socket: listening at {socket}"));
        self.state().socket = socket;
        self.save();
    }

    /// Returns whether the journal has writes of other processes since the last call.
    pub(crate) fn take_foreign_writes(&self) -> Result<bool, StoreError> {
        let known = self.state().journal.clone();
        let end = self.store.journal_end()?;
        let was_written = self.store.was_written_since(&known, ACTOR)?;
        self.state().journal = end;
        Ok(was_written)
    }

    /// Records a write by another process.
    pub(crate) fn record_foreign_write(&self) {
        self.state().last_write = Some(SystemClock.now());
    }

    /// Records and logs the result of a chore.
    pub(crate) fn record_chore(
        &self,
        chore: Chore,
        began: DateTime<Utc>,
        done: &Result<ChoreStatus, StoreError>,
    ) {
        let (ending, said) = match done {
            Ok(ChoreStatus::Nothing) => (ChoreResult::Nothing, None),
            Ok(ChoreStatus::This(what)) => (ChoreResult::Done, Some(what.clone())),
            Ok(ChoreStatus::LeftOut(why)) => (ChoreResult::LeftOut, Some(why.clone())),
            Ok(ChoreStatus::Stopped) => (ChoreResult::Stopped, None),
            Err(error) => (ChoreResult::Failed, Some(error_text(error))),
        };
        let ended = SystemClock.now();
        let mut state = self.state();
        let own = chore_state(&mut state, chore);
        let is_news = own.said != said || own.ending != Some(ending);
        (own.began_at, own.ended_at, own.ending) = (Some(began), Some(ended), Some(ending));
        own.said.clone_from(&said);
        if ending == ChoreResult::Done {
            own.worked_at = Some(began);
        }
        drop(state);
        let line = |said: Option<String>| {
            said.map_or_else(|| chore.to_string(), |said| format!("{chore}: {said}"))
        };
        match ending {
            ChoreResult::Done => self.info(&line(said)),
            ChoreResult::Failed if is_news => self.warning(&line(said)),
            ChoreResult::LeftOut if is_news => self.info(&line(said)),
            ChoreResult::Stopped => self.info(&format!("{chore}: interrupted")),
            ChoreResult::Nothing | ChoreResult::Failed | ChoreResult::LeftOut => {}
        }
    }

    /// Records the due times of all chores and saves the state.
    pub(crate) fn record_due_times(&self, due_at: &dyn Fn(Chore) -> Option<DateTime<Utc>>) {
        let mut state = self.state();
        for chore in Chore::ALL {
            let due_at = due_at(chore);
            // A chore that is neither due nor was ever run does not belong to this daemon.
            if due_at.is_some() || state.chores.iter().any(|own| own.name == chore.as_str()) {
                chore_state(&mut state, chore).due_at = due_at;
            }
        }
        drop(state);
        self.save();
    }

    /// Records the end of the process and saves the state.
    pub(crate) fn record_end(&self) {
        let mut state = self.state();
        state.stopped_at = Some(SystemClock.now());
        state
            .chores
            .iter_mut()
            .for_each(|chore| chore.due_at = None);
        drop(state);
        self.save();
    }

    fn save(&self) {
        let state = self.state().clone();
        let _ = state.write(self.store.root());
    }

    fn state(&self) -> MutexGuard<'_, DaemonState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn chore_state(state: &mut DaemonState, chore: Chore) -> &mut ChoreState {
    let index = state
        .chores
        .iter()
        .position(|own| own.name == chore.as_str())
        .unwrap_or_else(|| {
            state.chores.push(ChoreState::new(chore.as_str()));
            state.chores.len() - 1
        });
    &mut state.chores[index]
}

/// Returns the message of an error with its causes.
pub(crate) fn error_text(error: &StoreError) -> String {
    format!("[{}] {}", error.code(), format_error_chain(error))
}
