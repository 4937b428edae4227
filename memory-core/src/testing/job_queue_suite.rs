//! The conformance suite of [`JobQueue`].

use std::sync::Arc;

use chrono::{DateTime, TimeDelta};

use crate::OperationId;
use crate::conversation::{
    ConversationEntry, EntryChange, EntryRole, Job, JobQueue, JobState, PendingJob,
};

/// Checks the contract of [`JobQueue`] on new and empty queues from `make`.
///
/// # Panics
/// If the contract is violated, with the violated rule.
pub fn job_queue_suite(make: &dyn Fn() -> Arc<dyn JobQueue>) {
    check_rules!(
        dyn make;
        jobs_wait_in_their_order_until_they_are_done,
        what_was_decided_comes_back_as_it_was,
        it_is_known_which_turns_were_taken_up,
        one_at_a_time_does_the_jobs,
    );
}

fn job(number: u64) -> Job {
    Job {
        id: OperationId::from_random(number),
        conversation: "work/项目 1".parse().expect("an id"),
        turn: format!("turn-{number}").parse().expect("an id"),
        at: DateTime::UNIX_EPOCH,
    }
}

fn names(queue: &dyn JobQueue) -> Vec<String> {
    queue
        .pending()
        .expect("they are read")
        .into_iter()
        .map(|pending| pending.job.turn.to_string())
        .collect()
}

fn jobs_wait_in_their_order_until_they_are_done(queue: &dyn JobQueue) {
    assert!(names(queue).is_empty());
    for number in [3, 1, 2, 1] {
        queue.push(&[job(number)]).expect("it is kept");
    }
    assert_eq!(
        names(queue),
        ["turn-3", "turn-1", "turn-2"],
        "none is there twice"
    );
    queue
        .record_states(&[(job(1).id, JobState::Done)])
        .expect("it is kept");
    queue
        .record_states(&[(job(1).id, JobState::Waiting { attempts: 1 })])
        .expect("it is kept");
    queue
        .record_states(&[(job(9).id, JobState::Waiting { attempts: 1 })])
        .expect("it is kept");
    assert_eq!(
        names(queue),
        ["turn-3", "turn-2"],
        "what is done stays done"
    );
    queue
        .record_states(&[(job(3).id, JobState::Done)])
        .expect("it is kept");
    queue
        .record_states(&[(job(2).id, JobState::Done)])
        .expect("it is kept");
    queue.push(&[job(2)]).expect("it is no news");
    assert!(names(queue).is_empty(), "what is done is not added again");
    queue.push(&[job(4)]).expect("it is kept");
    assert_eq!(names(queue), ["turn-4"]);
    queue
        .push(&[job(6), job(4), job(5)])
        .expect("they are kept");
    queue
        .record_states(&[(job(4).id, JobState::Done), (job(6).id, JobState::Done)])
        .expect("it is kept");
    assert_eq!(
        names(queue),
        ["turn-5"],
        "several are added and noted in one go"
    );
}

fn what_was_decided_comes_back_as_it_was(queue: &dyn JobQueue) {
    let conversation = job(1).conversation;
    let entry = |id: &str, text: &str| {
        let entry = ConversationEntry::new(
            id.parse().expect("an id"),
            &conversation,
            EntryRole::Memory,
            text,
            DateTime::UNIX_EPOCH,
        );
        ConversationEntry {
            source_id: Some("turn".parse().expect("an id")),
            ..entry
        }
    };
    let changes = vec![
        EntryChange::Add(entry("new", "lives in \"Lyon\"\n里昂")),
        EntryChange::Delete {
            id: entry("old", "").id,
            replaced_by: Some(entry("new", "").id),
        },
        EntryChange::Delete {
            id: entry("older", "").id,
            replaced_by: None,
        },
    ];
    let decided = JobState::Decided {
        changes,
        facts: vec!["lives in Lyon".into()],
    };
    let extracted = JobState::Extracted {
        facts: vec!["likes tea".into()],
        attempts: 1,
    };
    queue
        .push(&[job(1), job(2), job(3)])
        .expect("they are kept");
    queue
        .record_states(&[(job(3).id, extracted.clone())])
        .expect("it is kept");
    queue
        .record_states(&[(job(1).id, decided.clone())])
        .expect("it is kept");
    queue
        .record_states(&[(job(2).id, JobState::Waiting { attempts: 2 })])
        .expect("it is kept");
    let waiting = PendingJob {
        job: job(2),
        state: JobState::Waiting { attempts: 2 },
    };
    assert_eq!(
        queue.pending().expect("they are read"),
        [
            PendingJob {
                job: job(1),
                state: decided
            },
            waiting,
            PendingJob {
                job: job(3),
                state: extracted
            }
        ]
    );
}

fn it_is_known_which_turns_were_taken_up(queue: &dyn JobQueue) {
    let now = DateTime::UNIX_EPOCH + TimeDelta::days(1);
    let taken_up = |days: i64| {
        queue
            .enqueued_turns(now + TimeDelta::days(days))
            .expect("it is known")
    };
    assert_eq!((taken_up(0).since, taken_up(0).turns.len()), (now, 0));
    for number in [1, 2] {
        let job = Job {
            at: now + TimeDelta::seconds(1),
            ..job(number)
        };
        queue.push(std::slice::from_ref(&job)).expect("it is kept");
        queue
            .record_states(&[(job.id.clone(), JobState::Done)])
            .expect("it is kept");
    }
    let known = taken_up(1);
    assert_eq!(known.since, now, "it is known from the same moment on");
    assert!(
        [1, 2].iter().all(|number| known
            .turns
            .contains(&(job(*number).conversation, job(*number).turn))),
        "{known:?}"
    );
}

fn one_at_a_time_does_the_jobs(queue: &dyn JobQueue) {
    let claim = queue.claim().expect("it is told").expect("it is free");
    assert!(queue.claim().expect("it is told").is_none());
    queue.push(&[job(1)]).expect("jobs are added all the same");
    drop(claim);
    assert!(queue.claim().expect("it is told").is_some());
}
