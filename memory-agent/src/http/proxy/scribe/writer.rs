//! Writing down what was said.

use std::collections::VecDeque;
use std::mem::take;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::StoreError;
use memory_core::conversation::{ConversationId, Conversations, EntryChange, EntryRole, Job, JobQueue, Questions, said as turn};

use super::backlog::Backlog;
use super::trouble::Troubles;
use super::{Heard, Mutex, PoisonError, Receiver, Said, Told, What};

/// What cannot be kept is tried again after this time, whenever something is said in its conversation, and at the end.
const AGAIN: Duration = Duration::from_secs(5);

pub(super) const NOT_KEPT: &str = "what was said could not be kept";
const NO_FACTS: &str = "no facts can be drawn from what was said";

/// What waits to be tried again has so much room, in bytes; beside its text, each turn takes a share of it.
const ROOM: usize = 64 << 20;
const SHARE: usize = 1 << 10;

/// So much is tried at once, in bytes, or one turn; the rest once that is kept.
const AT_ONCE: usize = 1 << 20;

/// More jobs of a conversation do not wait: the next start finds the others.
const MOST_JOBS: usize = 1000;

/// Writes down what was said, in its order.
pub(super) struct Writer<'w> {
    conversations: &'w Conversations,
    queue: &'w dyn JobQueue,
    told: &'w dyn Told,
    troubles: &'w Mutex<Troubles>,
    questions: Questions,
    waiting: Vec<Waiting>,
    /// When something was said last.
    last: DateTime<Utc>,
    /// How many turns found no room to wait in.
    lost: usize,
    is_full: bool,
}

/// What is about to be kept of one conversation. It is made once, so that it is kept once however often that is tried.
#[derive(Debug)]
struct Waiting {
    conversation: ConversationId,
    turns: Vec<EntryChange>,
    /// Of the turns that were kept already.
    jobs: VecDeque<Job>,
    is_over: bool,
    /// Something was said since it was tried last.
    is_fresh: bool,
}

impl<'w> Writer<'w> {
    pub(super) fn new(
        conversations: &'w Conversations,
        queue: &'w dyn JobQueue,
        told: &'w dyn Told,
        troubles: &'w Mutex<Troubles>,
    ) -> Self {
        let (questions, waiting, last) = (Questions::default(), Vec::new(), DateTime::UNIX_EPOCH);
        Self { conversations, queue, told, troubles, questions, waiting, last, lost: 0, is_full: false }
    }

    /// Writes until nothing more is said. Returns how many turns are lost.
    pub(super) fn write_all(mut self, receiver: &Receiver<Heard>, backlog: &Backlog) -> usize {
        loop {
            let next = next(receiver, !self.waiting.is_empty());
            let has_ended = matches!(next, Err(RecvTimeoutError::Disconnected));
            let tries_all = next.is_err();
            let mut count = 0;
            for heard in next.into_iter().chain(receiver.try_iter()) {
                self.hear(heard);
                count += 1;
            }
            self.keep(tries_all);
            backlog.remove(count, self.conversations.clock.now());
            if has_ended {
                return self.lost + self.waiting.iter().map(|own| own.turns.len()).sum::<usize>();
            }
        }
    }

    /// Puts what is news to what waits, so that what belongs to one conversation is kept in one go.
    fn hear(&mut self, (at, Said { conversation, what }): Heard) {
        let at = self.in_order(at);
        let (role, text, is_over) = match &what {
            What::Asked { question, is_under_way } => {
                if !self.questions.is_news(self.conversations, &conversation, (question, at), *is_under_way) {
                    return;
                }
                (EntryRole::User, question.as_ref(), false)
            }
            What::Answered { question, answer } => {
                if let Some(question) = question {
                    self.questions.answered(&conversation, question);
                }
                (EntryRole::Assistant, answer.as_str(), true)
            }
            What::Unanswered => (EntryRole::Assistant, "", true),
        };
        let change = turn(self.conversations, &conversation, role, text, at).map(EntryChange::Add);
        let change = change.filter(|change| {
            // To try again would be in vain.
            change.check().inspect_err(|error| self.told.trouble(&format!("{NOT_KEPT}: {error}"))).is_ok()
        });
        let place = self.waiting.iter().position(|own| own.conversation == conversation).unwrap_or_else(|| {
            let (turns, jobs) = (Vec::new(), VecDeque::new());
            self.waiting.push(Waiting { conversation, turns, jobs, is_over: false, is_fresh: false });
            self.waiting.len() - 1
        });
        let own = &mut self.waiting[place];
        own.turns.extend(change);
        own.is_over |= is_over;
        own.is_fresh = true;
    }

    /// Returns when something was said that is heard now: later than all before, since who spoke first is told by the time. A clock that was
    /// put back is believed.
    fn in_order(&mut self, at: DateTime<Utc>) -> DateTime<Utc> {
        let next = self.last + TimeDelta::microseconds(1);
        self.last = if at < next && next - at < TimeDelta::seconds(1) { next } else { at };
        self.last
    }

    /// Keeps what waits. What failed before is tried as long as none of it fails again, unless all of it is to be tried.
    fn keep(&mut self, tries_all: bool) {
        let mut waiting = take(&mut self.waiting);
        waiting.sort_by_key(|own| !own.is_fresh);
        self.keep_together(&mut waiting);
        let mut failed = Vec::new();
        let mut is_in_vain = false;
        for mut own in waiting {
            let is_fresh = take(&mut own.is_fresh);
            if is_in_vain && !is_fresh && !tries_all {
                self.waiting.push(own);
                continue;
            }
            match self.keep_one(&mut own) {
                Ok(()) => {
                    self.troubles.lock().unwrap_or_else(PoisonError::into_inner).end(&own.conversation);
                    if own.is_over {
                        self.told.kept(&own.conversation);
                    }
                }
                Err((what, error)) => {
                    let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
                    let news = troubles.begin(&own.conversation, what, &error);
                    drop(troubles);
                    if let Some(news) = news {
                        self.told.trouble(&news);
                    }
                    is_in_vain |= !is_fresh;
                    failed.push(own);
                }
            }
        }
        self.waiting.append(&mut failed);
        self.find_room();
    }

    /// Keeps by one change what was just said in several conversations, and adds all of their jobs in one go, so that their syncs are
    /// shared. What fails is left to be kept by itself, since it may be the fault of one conversation.
    fn keep_together(&self, waiting: &mut [Waiting]) {
        let mut length = 0;
        let fits = |own: &&mut Waiting| {
            length += own.turns.iter().map(self::length).sum::<usize>();
            own.is_fresh && length <= AT_ONCE
        };
        let mut fresh: Vec<&mut Waiting> = waiting.iter_mut().take_while(fits).collect();
        if fresh.len() <= 1 {
            return;
        }
        let changes: Vec<_> = fresh.iter().map(|own| (&own.conversation, own.turns.as_slice())).collect();
        if self.conversations.store.commit_all(&changes).is_err() {
            return;
        }
        for own in &mut fresh {
            own.are_kept(own.turns.len());
        }
        let jobs: Vec<Job> = fresh.iter().flat_map(|own| own.jobs.iter().cloned()).collect();
        if self.queue.push(&jobs).is_ok() {
            for own in &mut fresh {
                own.jobs.clear();
            }
        }
    }

    fn keep_one(&self, own: &mut Waiting) -> Result<(), (&'static str, StoreError)> {
        while !own.turns.is_empty() {
            let ends = own.turns.iter().scan(0, |end, turn| {
                *end += length(turn);
                Some(*end)
            });
            let count = ends.take_while(|end| *end <= AT_ONCE).count().max(1);
            self.conversations.store.commit(&own.conversation, &own.turns[..count]).map_err(|error| (NOT_KEPT, error))?;
            own.are_kept(count);
        }
        self.queue.push(own.jobs.make_contiguous()).map_err(|error| (NO_FACTS, error))?;
        own.jobs.clear();
        Ok(())
    }

    /// Lets go of what there is no room for: the newest where there is most.
    fn find_room(&mut self) {
        self.is_full &= !self.waiting.is_empty();
        let mut lengths: Vec<usize> = self.waiting.iter().map(|own| own.turns.iter().map(length).sum()).collect();
        while ROOM < lengths.iter().sum() {
            let Some(most) = (0..lengths.len()).max_by_key(|place| lengths[*place]) else { return };
            let own = &mut self.waiting[most];
            lengths[most] -= own.turns.pop().as_ref().map_or(0, length);
            self.lost += 1;
            if !std::mem::replace(&mut self.is_full, true) {
                let why = format!("too much waits to be kept; what is said in conversation {} is lost", own.conversation);
                self.told.trouble(&why);
            }
        }
        self.waiting.iter_mut().for_each(|own| own.jobs.truncate(MOST_JOBS));
    }
}

impl Waiting {
    /// Notes that the first `count` turns are kept, and which jobs follow from them.
    fn are_kept(&mut self, count: usize) {
        for turn in self.turns.drain(..count) {
            if let EntryChange::Add(entry) = turn
                && entry.role == EntryRole::User
            {
                self.jobs.push_back(Job::of(&entry));
            }
        }
    }
}

fn length(turn: &EntryChange) -> usize {
    SHARE + if let EntryChange::Add(entry) = turn { entry.content.len() } else { 0 }
}

/// Waits for what is said next; where something is to be tried again, no longer than until then.
fn next(receiver: &Receiver<Heard>, tries_again: bool) -> Result<Heard, RecvTimeoutError> {
    // In tests time does not pass.
    if tries_again && cfg!(not(test)) {
        receiver.recv_timeout(AGAIN)
    } else {
        receiver.recv().map_err(|_| RecvTimeoutError::Disconnected)
    }
}
