//! Enqueues turns for the extraction of facts.

use chrono::TimeDelta;

use super::{ConversationEntry, Conversations, Job, JobQueue};
use crate::StoreError;

/// Enqueues `turn` for the extraction of facts; the job survives a crash.
///
/// # Errors
/// An error of the queue.
pub fn enqueue(queue: &dyn JobQueue, turn: &ConversationEntry) -> Result<(), StoreError> {
    queue.push(&[Job::of(turn)])
}

/// The maximum age of a turn that a crashed process may have left without a job.
///
/// Older turns, and turns with a later time, were copied from another machine, which processes them.
const MAX_TURN_AGE: TimeDelta = TimeDelta::days(1);

/// Enqueues stored turns that a crashed process did not enqueue, and returns their number.
///
/// # Errors
/// If the turns cannot be read, or an error of the queue.
pub fn enqueue_missing(conversations: &Conversations, queue: &dyn JobQueue) -> Result<usize, StoreError> {
    let now = conversations.clock.now();
    let known = queue.enqueued_turns(now)?;
    let mut rest = conversations.store.user_turns_since(known.since)?;
    rest.retain(|turn| (now - MAX_TURN_AGE..=now).contains(&turn.created_at));
    rest.retain(|turn| !known.turns.contains(&(turn.conversation.clone(), turn.id.clone())));
    rest.sort_by_key(|turn| turn.created_at);
    let jobs: Vec<Job> = rest.iter().map(|turn| Job::of(turn)).collect();
    queue.push(&jobs)?;
    Ok(rest.len())
}

#[cfg(test)]
mod tests {
    use crate::secret::Checked;
    use std::sync::Arc;

    use super::*;
    use crate::conversation::{ConversationId, EntryChange, EntryRole, JobState, store_turn};
    use crate::testing::{FakeConversations, FakeJobs, conversations};

    #[test]
    fn a_turn_whose_job_was_never_added_gets_one_and_no_other_does() {
        let (all, queue) = (conversations(Arc::new(FakeConversations::default())), FakeJobs::default());
        let keep = |place: &str, role, text: &str| {
            store_turn(&all, &place.parse().unwrap(), role, text).unwrap().expect("it says something")
        };
        keep("default", EntryRole::User, "from before");
        assert_eq!(enqueue_missing(&all, &queue).unwrap(), 0, "what another program kept long ago is no work");
        let done = keep("default", EntryRole::User, "done");
        enqueue(&queue, &done).unwrap();
        queue.record_states(&[(Job::of(&done).id, JobState::Done)]).unwrap();
        enqueue(&queue, &keep("work", EntryRole::User, "waits")).unwrap();
        keep("default", EntryRole::Assistant, "an answer");
        let lost = [keep("work", EntryRole::User, "lost"), keep("default", EntryRole::User, "lost too")];
        assert_eq!(enqueue_missing(&all, &queue).unwrap(), 2);
        let turns: Vec<_> = queue.pending().unwrap().into_iter().map(|pending| pending.job.turn).collect();
        assert_eq!(turns[1..], lost.clone().map(|turn| turn.id));
        assert_eq!(enqueue_missing(&all, &queue).unwrap(), 0);
        let [later, _] = lost;
        let created_at = later.created_at + TimeDelta::days(2);
        let brought = ConversationEntry { id: "from-elsewhere".parse().unwrap(), created_at, ..later };
        all.store.commit(&brought.conversation.clone(), Checked::allowed(&[EntryChange::Add(brought)])).unwrap();
        assert_eq!(enqueue_missing(&all, &queue).unwrap(), 0, "what others said elsewhere is theirs to see to");
    }

    #[test]
    fn a_turn_has_one_job_however_often_it_is_taken_up() {
        let (all, queue) = (conversations(Arc::new(FakeConversations::default())), FakeJobs::default());
        let place = ConversationId::default_conversation();
        let turn = store_turn(&all, &place, EntryRole::User, "tea").unwrap().expect("it says something");
        let other = store_turn(&all, &"work".parse().unwrap(), EntryRole::User, "tea").unwrap().expect("it says something");
        for turn in [&turn, &other, &turn] {
            enqueue(&queue, turn).unwrap();
        }
        assert_eq!(queue.pending().unwrap().len(), 2);
    }
}
