//! Writes turns of conversations to the store and queues their extraction jobs.

use std::collections::{HashMap, VecDeque};
use std::mem::take;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::conversation::{
    ConversationId, Conversations, EntryChange, EntryRole, Job, JobQueue, RecentQuestions,
    new_turn as turn,
};
use memory_core::secret::Checked;
use memory_core::text::format_error_chain;
use memory_core::{Code, StoreError, ToolError, add_time};

use super::backlog::Backlog;
use super::{Mutex, PoisonError, ProxyObserver, QueuedTurn, Receiver, TimedMessage, TurnEvent};

/// Retry interval of failed writes.
///
/// They are also retried after a new turn of the conversation, and at shutdown.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

pub(super) const NOT_KEPT: &str = "turns could not be stored";
const NOT_QUEUED: &str = "fact extraction could not be queued";

/// Maximum total size of failed writes, in bytes; each turn counts as its text plus `TURN_OVERHEAD`.
const MAX_QUEUED: usize = 64 << 20;
const TURN_OVERHEAD: usize = 1 << 10;

/// Maximum size of one write, in bytes, unless a single turn is larger.
const MAX_WRITE: usize = 1 << 20;

/// Maximum number of waiting jobs of a conversation; further ones are found at the next start.
const MAX_JOBS: usize = 1000;

/// Writes turns in the order in which they were received.
pub(super) struct WriterThread<'w> {
    conversations: &'w Conversations,
    queue: &'w dyn JobQueue,
    told: &'w dyn ProxyObserver,
    troubles: &'w Mutex<UnresolvedErrors>,
    questions: RecentQuestions,
    waiting: Vec<PendingTurns>,
    /// The time of the latest turn.
    last: DateTime<Utc>,
    /// Number of turns that were dropped because the retry queue was full.
    lost: usize,
    is_full: bool,
}

/// The unwritten turns of one conversation.
///
/// They are built once, so that retries do not create duplicates.
#[derive(Debug)]
struct PendingTurns {
    conversation: ConversationId,
    turns: Vec<EntryChange>,
    /// Extraction jobs of turns that are already written.
    jobs: VecDeque<Job>,
    is_over: bool,
    /// Whether turns were added since the last attempt.
    is_fresh: bool,
}

impl<'w> WriterThread<'w> {
    pub(super) fn new(
        conversations: &'w Conversations,
        queue: &'w dyn JobQueue,
        told: &'w dyn ProxyObserver,
        troubles: &'w Mutex<UnresolvedErrors>,
    ) -> Self {
        let (questions, waiting, last) =
            (RecentQuestions::default(), Vec::new(), DateTime::UNIX_EPOCH);
        Self {
            conversations,
            queue,
            told,
            troubles,
            questions,
            waiting,
            last,
            lost: 0,
            is_full: false,
        }
    }

    /// Writes until the channel is closed. Returns the number of turns that could not be written.
    pub(super) fn write_all(
        mut self,
        receiver: &Receiver<TimedMessage>,
        backlog: &Backlog,
    ) -> usize {
        loop {
            let next = next(receiver, !self.waiting.is_empty());
            let has_ended = matches!(next, Err(RecvTimeoutError::Disconnected));
            let tries_all = next.is_err();
            let mut count = 0;
            for heard in next.into_iter().chain(receiver.try_iter()) {
                self.add_message(heard);
                count += 1;
            }
            self.write_pending(tries_all);
            backlog.remove(count, self.conversations.clock.now());
            if has_ended {
                return self.lost
                    + self
                        .waiting
                        .iter()
                        .map(|own| own.turns.len())
                        .sum::<usize>();
            }
        }
    }

    /// Adds a message to the pending turns of its conversation.
    ///
    /// All pending turns of a conversation are written together.
    fn add_message(&mut self, (at, QueuedTurn { conversation, what }): TimedMessage) {
        let at = self.ordered_time(at);
        let (role, text, is_over) = match &what {
            TurnEvent::Asked {
                question,
                is_under_way,
            } => {
                if !self.questions.record_if_new(
                    self.conversations,
                    &conversation,
                    (question, at),
                    *is_under_way,
                ) {
                    return;
                }
                (EntryRole::User, question.as_ref(), false)
            }
            TurnEvent::Answered { question, answer } => {
                if let Some(question) = question {
                    self.questions.mark_answered(&conversation, question);
                }
                (EntryRole::Assistant, answer.as_str(), true)
            }
            TurnEvent::Unanswered => (EntryRole::Assistant, "", true),
        };
        let change = turn(self.conversations, &conversation, role, text, at).map(EntryChange::Add);
        let change = change.filter(|change| {
            // An invalid turn would fail again on every retry.
            change
                .check()
                .inspect_err(|error| self.told.report_failure(&format!("{NOT_KEPT}: {error}")))
                .is_ok()
        });
        let place = self
            .waiting
            .iter()
            .position(|own| own.conversation == conversation)
            .unwrap_or_else(|| {
                let (turns, jobs) = (Vec::new(), VecDeque::new());
                self.waiting.push(PendingTurns {
                    conversation,
                    turns,
                    jobs,
                    is_over: false,
                    is_fresh: false,
                });
                self.waiting.len() - 1
            });
        let own = &mut self.waiting[place];
        own.turns.extend(change);
        own.is_over |= is_over;
        own.is_fresh = true;
    }

    /// Returns the time of a turn, moved after that of the previous turn.
    ///
    /// The timestamps define the order of turns. If the clock was set back by a second or more, the new time is used.
    fn ordered_time(&mut self, at: DateTime<Utc>) -> DateTime<Utc> {
        let next = add_time(self.last, TimeDelta::microseconds(1));
        self.last = if at < next && next - at < TimeDelta::seconds(1) {
            next
        } else {
            at
        };
        self.last
    }

    /// Writes the pending turns.
    ///
    /// Earlier failures are retried until one fails again, or all of them with `tries_all`.
    fn write_pending(&mut self, tries_all: bool) {
        let mut waiting = take(&mut self.waiting);
        waiting.sort_by_key(|own| !own.is_fresh);
        self.write_batch(&mut waiting);
        let mut failed = Vec::new();
        let mut is_in_vain = false;
        for mut own in waiting {
            let is_fresh = take(&mut own.is_fresh);
            if is_in_vain && !is_fresh && !tries_all {
                self.waiting.push(own);
                continue;
            }
            match self.write_one(&mut own) {
                Ok(()) => {
                    self.troubles
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .clear(&own.conversation);
                    if own.is_over {
                        self.told.turns_stored(&own.conversation);
                    }
                }
                Err((what, error)) => {
                    let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
                    let news = troubles.record(&own.conversation, what, &error);
                    drop(troubles);
                    if let Some(news) = news {
                        self.told.report_failure(&news);
                    }
                    is_in_vain |= !is_fresh;
                    failed.push(own);
                }
            }
        }
        self.waiting.append(&mut failed);
        self.drop_excess();
    }

    /// Writes the new turns of several conversations in one commit.
    ///
    /// Their jobs are queued together, too, so that the conversations share the syncs.
    ///
    /// If the commit fails, each conversation is written separately, since one conversation may be the cause.
    fn write_batch(&self, waiting: &mut [PendingTurns]) {
        let mut length = 0;
        let fits = |own: &&mut PendingTurns| {
            length += own.turns.iter().map(self::turn_size).sum::<usize>();
            own.is_fresh && length <= MAX_WRITE
        };
        let mut fresh: Vec<&mut PendingTurns> = waiting.iter_mut().take_while(fits).collect();
        if fresh.len() <= 1 {
            return;
        }
        let changes: Vec<_> = fresh
            .iter()
            .map(|own| (&own.conversation, Checked::allowed(own.turns.as_slice())))
            .collect();
        if self.conversations.store.commit_all(&changes).is_err() {
            return;
        }
        for own in &mut fresh {
            own.mark_stored(own.turns.len());
        }
        let jobs: Vec<Job> = fresh
            .iter()
            .flat_map(|own| own.jobs.iter().cloned())
            .collect();
        if self.queue.push(&jobs).is_ok() {
            for own in &mut fresh {
                own.jobs.clear();
            }
        }
    }

    fn write_one(&self, own: &mut PendingTurns) -> Result<(), (&'static str, StoreError)> {
        while !own.turns.is_empty() {
            let ends = own.turns.iter().scan(0, |end, turn| {
                *end += turn_size(turn);
                Some(*end)
            });
            let count = ends.take_while(|end| *end <= MAX_WRITE).count().max(1);
            self.conversations
                .store
                .commit(&own.conversation, Checked::allowed(&own.turns[..count]))
                .map_err(|error| (NOT_KEPT, error))?;
            own.mark_stored(count);
        }
        self.queue
            .push(own.jobs.make_contiguous())
            .map_err(|error| (NOT_QUEUED, error))?;
        own.jobs.clear();
        Ok(())
    }

    /// Drops turns while the retry queue is too large: the newest of the largest conversation first.
    fn drop_excess(&mut self) {
        self.is_full &= !self.waiting.is_empty();
        let mut lengths: Vec<usize> = self
            .waiting
            .iter()
            .map(|own| own.turns.iter().map(turn_size).sum())
            .collect();
        while MAX_QUEUED < lengths.iter().sum() {
            let Some(most) = (0..lengths.len()).max_by_key(|place| lengths[*place]) else {
                return;
            };
            let own = &mut self.waiting[most];
            lengths[most] -= own.turns.pop().as_ref().map_or(0, turn_size);
            self.lost += 1;
            if !std::mem::replace(&mut self.is_full, true) {
                let why = format!(
                    "too many turns wait to be stored; turns of conversation {} are lost",
                    own.conversation
                );
                self.told.report_failure(&why);
            }
        }
        self.waiting
            .iter_mut()
            .for_each(|own| own.jobs.truncate(MAX_JOBS));
    }
}

impl PendingTurns {
    /// Removes the first `count` turns, which are written, and adds their extraction jobs.
    fn mark_stored(&mut self, count: usize) {
        for turn in self.turns.drain(..count) {
            if let EntryChange::Add(entry) = turn
                && entry.role == EntryRole::User
            {
                self.jobs.push_back(Job::of(&entry));
            }
        }
    }
}

fn turn_size(turn: &EntryChange) -> usize {
    TURN_OVERHEAD
        + if let EntryChange::Add(entry) = turn {
            entry.content.len()
        } else {
            0
        }
}

/// Receives the next message; with pending retries, waits at most [`RETRY_INTERVAL`].
fn next(
    receiver: &Receiver<TimedMessage>,
    tries_again: bool,
) -> Result<TimedMessage, RecvTimeoutError> {
    // Time does not pass under test.
    if tries_again && cfg!(not(test)) {
        receiver.recv_timeout(RETRY_INTERVAL)
    } else {
        receiver.recv().map_err(|_| RecvTimeoutError::Disconnected)
    }
}

/// The conversations with a write error that is not resolved yet.
#[derive(Debug, Default)]
pub(super) struct UnresolvedErrors(HashMap<ConversationId, UnresolvedError>);

#[derive(Debug)]
struct UnresolvedError {
    what: &'static str,
    code: Code,
    message: String,
}

impl UnresolvedErrors {
    /// Records an error of a conversation and returns the message to report.
    ///
    /// Returns `None` if the same operation failed with the same code before: two messages of the same error may
    /// contain different file names.
    pub(super) fn record(
        &mut self,
        conversation: &ConversationId,
        what: &'static str,
        error: &StoreError,
    ) -> Option<String> {
        let code = error.code();
        let is_known = self
            .0
            .get(conversation)
            .is_some_and(|own| (own.what, own.code) == (what, code));
        self.0.insert(
            conversation.clone(),
            UnresolvedError {
                what,
                code,
                message: format!("{what}: {error}"),
            },
        );
        (!is_known).then(|| format!("{what}: {}", format_error_chain(error)))
    }

    /// Clears the error of a conversation.
    pub(super) fn clear(&mut self, conversation: &ConversationId) {
        self.0.remove(conversation);
    }

    /// Returns the error of a conversation, if it has one.
    pub(super) fn of(&self, conversation: &ConversationId) -> Option<ToolError> {
        let trouble = self.0.get(conversation)?;
        Some(ToolError::new(trouble.code, trouble.message.clone(), None))
    }
}
