//! Tests of reminders in dreams.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{
    MemoryId, Patch, ReminderQuery, SecretPolicy, delete, remind_of_memory, snooze, undo, update,
};
use memory_dream::{DreamLevel, DreamTask};

use crate::fixture::DreamFixture;

#[test]
fn a_reminder_goes_along_with_what_it_was_made_from() {
    let bed = DreamFixture::new();
    let short = bed.write("The lease of the office ends soon.");
    let long = bed.write("The lease of the office ends soon. Ask the landlord.");
    let due = bed.services.clock.now() + TimeDelta::days(3);
    remind_of_memory(
        &bed.services,
        &short.to_string(),
        Some(due.into()),
        &chrono::Utc,
    )
    .expect("a reminder is made");
    bed.dream(&[DreamTask::Merge]);
    let reminders = bed
        .services
        .store
        .reminders(ReminderQuery::Of(long), None, None)
        .expect("they are told");
    assert_eq!(reminders.memories.len(), 1);
    delete(&bed.services, &long.to_string()).expect("it is deleted");
    assert!(
        bed.services
            .store
            .reminders(ReminderQuery::Open, None, None)
            .expect("they are told")
            .memories
            .is_empty()
    );
}

#[test]
fn a_deep_dream_makes_each_reminder_once() {
    let bed = DreamFixture::new();
    let id = bed.write("Remind me to call Anna tomorrow at 3pm.");
    bed.write("We called Anna last Friday at 3pm.");
    let dreamt = bed.dream(DreamLevel::Deep.tasks());
    assert_eq!(
        dreamt
            .reminders
            .iter()
            .map(|own| own.of)
            .collect::<Vec<_>>(),
        [id]
    );
    let open = || {
        bed.services
            .store
            .reminders(ReminderQuery::Open, None, None)
            .expect("they are told")
            .memories
    };
    assert!(
        open().len() == 1
            && open()[0]
                .memory
                .reminder
                .as_ref()
                .is_some_and(|reminder| reminder.of == Some(id))
    );
    assert!(bed.dream(DreamLevel::Deep.tasks()).is_empty() && open().len() == 1);
    delete(&bed.services, &id.to_string()).expect("it is deleted");
    assert!(open().is_empty());
}

/// Returns the due times of open reminders.
fn due_times(bed: &DreamFixture) -> Vec<String> {
    let open = bed
        .services
        .store
        .reminders(ReminderQuery::Open, None, None)
        .expect("they are told")
        .memories;
    open.iter()
        .filter_map(|stored| stored.memory.reminder.clone())
        .map(|own| own.due.to_rfc3339())
        .collect()
}

fn set_text(bed: &DreamFixture, id: MemoryId, text: &str) {
    let patch = Patch {
        content: Some(text.to_owned()),
        ..Patch::default()
    };
    update(
        &bed.services,
        &id.to_string(),
        &patch,
        None,
        SecretPolicy::Refuse,
    )
    .expect("it is changed");
}

#[test]
fn a_date_that_is_changed_moves_its_reminder_and_undo_moves_it_back() {
    let bed = DreamFixture::new();
    let id = bed.write("Remind me to call Anna on 2 March 2124 at 3pm.");
    bed.dream(&[DreamTask::Remind]);
    let first = bed
        .services
        .store
        .reminders(ReminderQuery::Open, None, None)
        .expect("they are told")
        .memories[0]
        .memory
        .id;
    snooze(
        &bed.services,
        &first.to_string(),
        "2124-03-02T18:00:00Z"
            .parse::<DateTime<Utc>>()
            .expect("a moment")
            .into(),
    )
    .expect("it is put off");
    set_text(&bed, id, "Remind me to call Anna on 5 March 2124 at 3pm.");
    assert_eq!(due_times(&bed), ["2124-03-02T18:00:00+00:00"]);
    let rehearsed = bed.with(&[DreamTask::Remind], true);
    assert_eq!(
        (
            rehearsed
                .withdrawn
                .iter()
                .map(|own| (own.id, own.of))
                .collect::<Vec<_>>(),
            rehearsed.reminders.len()
        ),
        (vec![(first, id)], 1)
    );

    let dreamt = bed.dream(DreamLevel::Deep.tasks());
    assert_eq!(
        (
            due_times(&bed),
            dreamt.withdrawn.len(),
            dreamt.reminders.len()
        ),
        (vec!["2124-03-05T15:00:00+00:00".to_owned()], 1, 1)
    );
    assert!(bed.dream(DreamLevel::Deep.tasks()).is_empty());
    undo(
        &bed.services,
        dreamt
            .operation
            .as_ref()
            .map(memory_core::OperationId::as_str),
    )
    .expect("it is taken back");
    assert_eq!(due_times(&bed), ["2124-03-02T18:00:00+00:00"]);
}

#[test]
fn a_reminder_stays_while_its_time_is_named_or_where_a_person_gave_it_one() {
    let bed = DreamFixture::new();
    let id = bed.write("Call Anna on 2 March 2124 at 3pm.");
    let given = "2124-02-01T08:00:00Z"
        .parse::<DateTime<Utc>>()
        .expect("a moment");
    remind_of_memory(&bed.services, &id.to_string(), Some(given.into()), &Utc).expect("it is made");
    remind_of_memory(&bed.services, &id.to_string(), None, &Utc).expect("it is made");
    // A dream creates no reminder for this text, but the text still names the time.
    set_text(
        &bed,
        id,
        "Anna was born at noon. We spoke of 2 March 2124 at 3pm, it seems.",
    );
    assert!(bed.dream(&[DreamTask::Remind]).withdrawn.is_empty());
    assert_eq!(
        due_times(&bed),
        ["2124-02-01T08:00:00+00:00", "2124-03-02T15:00:00+00:00"]
    );
    set_text(&bed, id, "Call Anna.");
    assert_eq!(bed.dream(&[DreamTask::Remind]).withdrawn.len(), 1);
    assert_eq!(due_times(&bed), ["2124-02-01T08:00:00+00:00"]);
}

#[test]
fn a_reminder_that_is_done_is_left_where_it_is() {
    let bed = DreamFixture::new();
    let id = bed.write("Remind me to call Anna on 2 March 2124 at 3pm.");
    bed.dream(&[DreamTask::Remind]);
    let first = bed
        .services
        .store
        .reminders(ReminderQuery::Open, None, None)
        .expect("they are told")
        .memories[0]
        .memory
        .id;
    memory_core::done(&bed.services, &first.to_string(), &Utc).expect("it is done");
    set_text(&bed, id, "Remind me to call Anna on 5 March 2124 at 3pm.");
    assert!(bed.dream(&[DreamTask::Remind]).withdrawn.is_empty());
    assert!(bed.get(first).is_some());
}

#[test]
fn a_first_deep_dream_hears_every_memory() {
    let bed = DreamFixture::new();
    let names = [
        "Anna", "Ben", "Mei", "Carlos", "Priya", "Tom", "Lena", "Omar", "Yuki", "Sara", "Ida",
        "Noah",
    ];
    let ids: BTreeSet<MemoryId> = names
        .iter()
        .map(|name| bed.write(&format!("Remind me to call {name} tomorrow at 3pm.")))
        .collect();
    let dreamt = bed.dream(&[DreamTask::Remind]);
    assert_eq!(
        dreamt
            .reminders
            .iter()
            .map(|own| own.of)
            .collect::<BTreeSet<_>>(),
        ids
    );
}
