//! What dreams do to memories, over the store in memory.

use std::ops::ControlFlow;
use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use memory_core::testing::{FakeChat, FakeClock, FakeStore, services};
use memory_core::{
    Category, ContentHash, Draft, Filter, Memory, MemoryId, Patch, Phase, Reminders, Scope, Secrets, Services, TextVector, Verb,
    delete, link, pin, remind_of, restore, snooze, undo, update, upgrade, whole_text, write,
};
use memory_dream::merge::conserved;
use memory_dream::{Dream, Dreamt, Level, Pace, Rules, Task, dream};
use proptest::prelude::*;

const AGEING: [Task; 3] = [Task::Expire, Task::Decay, Task::Upgrade];

fn what(tasks: &[Task], is_rehearsal: bool) -> Dream<'_, Utc> {
    Dream { verb: Verb::Dream, tasks, rules: Rules::default(), is_rehearsal, zone: &Utc }
}

struct Bed {
    services: Services,
    clock: Arc<FakeClock>,
}

impl Bed {
    fn new() -> Self {
        let clock = Arc::new(FakeClock::default());
        let services = Services { clock: Arc::clone(&clock) as _, ..services(Arc::new(FakeStore::default())) };
        Self { services, clock }
    }

    fn put(&self, text: &str) -> MemoryId {
        write(&self.services, Draft::new(text), Secrets::Refuse).expect("it is written").id
    }

    fn file(&self, text: &str, category: Category) -> MemoryId {
        let id = self.put(text);
        upgrade(&self.services, &id.to_string(), Some(category)).expect("it is filed");
        id
    }

    fn days_pass(&self, days: i64) {
        self.clock.advance(TimeDelta::days(days));
    }

    fn read(&self, id: MemoryId, times: usize) {
        self.services.store.count_access(&vec![id; times]);
    }

    fn dream(&self, tasks: &[Task]) -> Dreamt {
        self.with(tasks, false)
    }

    fn with(&self, tasks: &[Task], is_rehearsal: bool) -> Dreamt {
        let mut go_on = |_| ControlFlow::Continue(());
        dream(&self.services, &what(tasks, is_rehearsal), &mut Pace::new(&mut go_on)).expect("it is done")
    }

    fn all(&self) -> Vec<Memory> {
        let now = self.services.clock.now();
        self.services.store.memories(&Filter::everything(), now).map(|stored| stored.expect("it is read").memory).collect()
    }

    fn get(&self, id: MemoryId) -> Option<Memory> {
        self.services.store.get(&id).ok().map(|stored| stored.memory)
    }
}

#[test]
fn a_light_dream_files_what_is_clear_and_leaves_what_is_not() {
    let bed = Bed::new();
    let clear = bed.put("The user prefers dark mode in every editor and dislikes light themes");
    let chinese = bed.put("教训：上线前必须先备份数据库，上次没有备份导致数据丢失");
    let unclear = bed.put("tbd");
    let dreamt = bed.dream(Level::Light.tasks());
    let place = |id| bed.get(id).map(|memory| (memory.phase, memory.category));
    assert_eq!(place(clear), Some((Phase::Organized, Category::Preferences)));
    assert_eq!(place(chinese), Some((Phase::Organized, Category::Lessons)));
    assert_eq!(place(unclear), Some((Phase::Inbox, Category::Inbox)));
    assert_eq!((dreamt.filed.len(), dreamt.unsure.iter().map(|unsure| unsure.id).collect::<Vec<_>>()), (2, vec![unclear]));
    assert!(dreamt.operation.is_some() && bed.dream(Level::Light.tasks()).operation.is_none());
}

#[test]
fn what_is_suggested_wins_over_what_is_guessed() {
    let bed = Bed::new();
    let id = bed.put("The user prefers dark mode in every editor");
    let mut memory = bed.get(id).expect("it is there");
    memory.category = Category::Project;
    let mut taken = memory_core::Refinement::new(&bed.services, Verb::Ingest);
    let expected = bed.services.store.get(&id).expect("it is there").stamp;
    let changes = vec![memory_core::Change::Replace { expected, memory: Box::new(memory) }];
    taken.commit(vec![memory_core::Unit { changes, ..memory_core::Unit::default() }]).expect("it is changed");
    bed.dream(Level::Light.tasks());
    assert_eq!(bed.get(id).map(|memory| memory.category), Some(Category::Project));
}

#[test]
fn what_says_the_same_becomes_one_and_undo_parts_it_again() {
    let bed = Bed::new();
    let short = bed.put("The staging server runs PostgreSQL 16 on port 5433.");
    let long = bed.put("The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.");
    let other = bed.put("See the note on backups.");
    link(&bed.services, &other.to_string(), &short.to_string()).expect("they are linked");
    let tag = Patch { add_tags: ["infra"].into_iter().collect(), ..Patch::default() };
    update(&bed.services, &short.to_string(), &tag, None, Secrets::Refuse).expect("it is tagged");
    let before = bed.all();

    let dreamt = bed.dream(&[Task::Merge]);
    assert_eq!(dreamt.merged.iter().map(|merge| (merge.kept, merge.gone.clone())).collect::<Vec<_>>(), [(long, vec![short])]);
    let kept = bed.get(long).expect("it is kept");
    assert!(kept.tags.iter().any(|tag| tag == "infra") && kept.supersedes == [short] && kept.links == [other]);
    assert_eq!(bed.get(other).map(|memory| memory.links), Some(vec![long]), "whoever linked to the one now links to the other");
    assert!(bed.get(short).is_none());
    let operation = dreamt.operation.expect("something was changed");
    let reasons: Vec<String> =
        bed.services.history.changes(&operation).filter_map(|change| change.expect("it is told").why).collect();
    assert!(
        reasons.iter().any(|why| why.contains(&long.to_string())) && reasons.iter().any(|why| why.contains(&short.to_string()))
    );

    undo(&bed.services, Some(operation.as_str())).expect("it is taken back");
    let texts = |all: &[Memory]| all.iter().map(|memory| (memory.id, memory.content.clone())).collect::<Vec<_>>();
    assert_eq!(texts(&bed.all()), texts(&before));
}

#[test]
fn what_differs_in_a_number_a_name_or_a_not_stays_apart() {
    let bed = Bed::new();
    for text in [
        "The staging server listens on port 5433.",
        "The staging server listens on port 5434.",
        "Anna likes green tea in the morning.",
        "Ben likes green tea in the morning.",
        "Never deploy on a Friday afternoon.",
        "Deploy on a Friday afternoon.",
        "服务器监听端口 8080，不要改动。",
        "服务器监听端口 8081，不要改动。",
    ] {
        bed.put(text);
    }
    assert!(bed.dream(&[Task::Merge]).merged.is_empty());
    assert_eq!(bed.all().len(), 8);
}

#[test]
fn age_takes_what_nobody_wants_and_spares_the_rest() {
    let bed = Bed::new();
    let old = bed.put("tbd");
    let pinned = bed.put("pinned");
    pin(&bed.services, &pinned.to_string()).expect("it is pinned");
    let wanted = bed.put("asked for often");
    bed.read(wanted, 3);
    let linked = bed.put("linked from the archive");
    let archive = bed.file("the archive", Category::Knowledge);
    link(&bed.services, &archive.to_string(), &linked.to_string()).expect("they are linked");
    bed.read(archive, 1);
    bed.days_pass(7);
    let fresh = bed.put("just written");

    let dreamt = bed.dream(&AGEING);
    assert_eq!(dreamt.parted.iter().map(|parting| parting.id).collect::<Vec<_>>(), [old]);
    assert!(bed.get(old).is_none() && [pinned, linked, fresh, archive].iter().all(|id| bed.get(*id).is_some()));
    assert_eq!(bed.get(wanted).map(|memory| memory.phase), Some(Phase::Organized));

    bed.days_pass(30);
    let unread = bed.file("nobody reads this", Category::Knowledge);
    bed.days_pass(29);
    assert!(!bed.dream(&[Task::Decay]).parted.iter().any(|parting| parting.id == unread));
    bed.days_pass(1);
    assert!(bed.dream(&[Task::Decay]).parted.iter().any(|parting| parting.id == unread));
}

#[test]
fn a_reminder_goes_along_with_what_it_was_made_from() {
    let bed = Bed::new();
    let short = bed.put("The lease of the office ends soon.");
    let long = bed.put("The lease of the office ends soon. Ask the landlord.");
    let due = bed.services.clock.now() + TimeDelta::days(3);
    remind_of(&bed.services, &short.to_string(), Some(due), &chrono::Utc).expect("a reminder is made");
    bed.dream(&[Task::Merge]);
    let reminders = bed.services.store.reminders(Reminders::Of(long), None, None).expect("they are told");
    assert_eq!(reminders.memories.len(), 1);
    delete(&bed.services, &long.to_string()).expect("it is deleted");
    assert!(bed.services.store.reminders(Reminders::Open, None, None).expect("they are told").memories.is_empty());
}

#[test]
fn a_rehearsal_changes_nothing_and_says_what_would_be() {
    let bed = Bed::new();
    bed.put("The user prefers dark mode in every editor.");
    bed.put("The user prefers dark mode in every editor. And large letters.");
    let before = bed.all();
    let would = bed.with(Level::Medium.tasks(), true);
    assert!(bed.all() == before && would.operation.is_none() && !would.merged.is_empty());
    let did = bed.dream(Level::Medium.tasks());
    assert_eq!(would.merged, did.merged);
}

#[test]
fn who_stops_a_dream_keeps_what_was_done() {
    let bed = Bed::new();
    for number in 0..10 {
        bed.put(&format!("The user prefers theme number {number} in the editor"));
    }
    let mut stop = |_| ControlFlow::Break(());
    let mut pace = Pace::new(&mut stop);
    let dreamt = dream(&bed.services, &what(Level::Light.tasks(), false), &mut pace).expect("it stops");
    assert!(dreamt.is_cut);
    assert_eq!(bed.all().len(), 10);
    bed.dream(Level::Light.tasks());
    assert!(bed.dream(Level::Light.tasks()).is_empty());
}

fn sentence() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("The user prefers dark mode.".to_owned()),
        Just("The staging server runs PostgreSQL 16.".to_owned()),
        Just("Never deploy on a Friday.".to_owned()),
        Just("用户喜欢深色模式。".to_owned()),
        Just("See [[the archive]] and [[nothing]].".to_owned()),
        Just("- one\n- two\n".to_owned()),
        Just("```\nlet a = 1;\n```\n".to_owned()),
        "[A-Za-z0-9 .!?,\\n]{1,40}",
        "\\PC{1,12}",
    ]
}

fn answer() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(
            r#"[{"id": "m1", "category": "soul"}, {"id": "m2", "category": "inbox"}, {"id": "m1", "category": "people"}]"#
                .to_owned()
        ),
        Just("Forget everything and file it under soul.".to_owned()),
        Just("Tea is good. Tea is good.".to_owned()),
        "\\PC{0,60}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_a_language_model_answers_one_undo_brings_everything_back(
        texts in proptest::collection::vec(proptest::collection::vec(sentence(), 1..4), 1..8),
        long in "[a-z]{2,9}( [a-z]{2,9}){150,220}",
        answers in proptest::collection::vec(answer(), 0..6),
    ) {
        let bed = Bed::new();
        for text in texts.iter().map(|sentences| sentences.concat()).chain([long]) {
            if !text.trim().is_empty() {
                let _ = write(&bed.services, Draft::new(&text), Secrets::Keep);
            }
        }
        let chat = FakeChat::answering(&answers.iter().map(String::as_str).collect::<Vec<_>>());
        let bed = Bed { services: Services { chat: Some(Arc::new(chat)), ..bed.services.clone() }, ..bed };
        let before = bed.all();
        let dreamt = bed.dream(Level::Deep.tasks());
        prop_assert!(dreamt.operation.is_some() != dreamt.is_empty(), "{dreamt:?}");
        let Some(operation) = dreamt.operation else { return Ok(()) };
        undo(&bed.services, Some(operation.as_str())).expect("it is taken back");
        prop_assert!(bed.all() == before);
    }

    #[test]
    fn no_sentence_is_lost_and_a_second_dream_changes_nothing(
        texts in proptest::collection::vec(proptest::collection::vec(sentence(), 1..4), 1..12),
        level in 1..=3_u8,
    ) {
        let bed = Bed::new();
        for text in &texts {
            let text = text.concat();
            if !text.trim().is_empty() {
                let _ = write(&bed.services, Draft::new(&text), Secrets::Keep);
            }
        }
        let before = bed.all();
        let tasks = Level::from_number(level).expect("it is a level").tasks();
        let dreamt = bed.dream(tasks);
        let after = bed.all();
        let sources: Vec<&str> = before.iter().map(|memory| memory.content.as_str()).collect();
        let kept: Vec<&str> = after.iter().map(|memory| memory.content.as_str()).collect();
        prop_assert!(conserved(&sources, &kept).is_ok());
        prop_assert!(dreamt.skipped.is_empty(), "{dreamt:?}");
        let again = bed.dream(tasks);
        prop_assert!(again.is_empty() && again.operation.is_none(), "{again:?}");
        prop_assert!(bed.all() == after);
    }
}

#[test]
fn a_deep_dream_writes_down_what_is_certain_and_lists_the_rest() {
    let bed = Bed::new();
    let old = bed.file("Anna lives in Berlin.", Category::People);
    bed.days_pass(1);
    let new = bed.file("Anna no longer lives in Berlin.", Category::People);
    let dreamt = bed.dream(Level::Deep.tasks());
    assert_eq!(dreamt.superseded.iter().map(|own| (own.of, own.superseded_by)).collect::<Vec<_>>(), [(old, new)]);
    let (older, newer) = (bed.get(old).expect("it is there"), bed.get(new).expect("it is there"));
    assert_eq!((older.superseded_by, older.valid_until, newer.supersedes), (Some(new), Some(newer.created_at), vec![old]));
    assert!(dreamt.review.is_some_and(|review| review.contradictions.first.len() == 1));
    assert!(bed.dream(Level::Deep.tasks()).is_empty());
    undo(&bed.services, dreamt.operation.as_ref().map(memory_core::OperationId::as_str)).expect("it is taken back");
    assert_eq!(bed.get(old).expect("it is there").superseded_by, None);
}

#[test]
fn a_deep_dream_makes_each_reminder_once() {
    let bed = Bed::new();
    let id = bed.put("Remind me to call Anna tomorrow at 3pm.");
    bed.put("We called Anna last Friday at 3pm.");
    let dreamt = bed.dream(Level::Deep.tasks());
    assert_eq!(dreamt.reminders.iter().map(|own| own.of).collect::<Vec<_>>(), [id]);
    let open = || bed.services.store.reminders(Reminders::Open, None, None).expect("they are told").memories;
    assert!(open().len() == 1 && open()[0].memory.reminder.is_some_and(|reminder| reminder.of == Some(id)));
    assert!(bed.dream(Level::Deep.tasks()).is_empty() && open().len() == 1);
    delete(&bed.services, &id.to_string()).expect("it is deleted");
    assert!(open().is_empty());
}

#[test]
fn a_wikilink_by_the_id_of_what_became_part_of_another_leads_there() {
    let bed = Bed::new();
    let short = bed.put("The staging server runs PostgreSQL 16 on port 5433.");
    let long = bed.put("The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.");
    assert_eq!(bed.dream(&[Task::Merge]).merged.iter().map(|merge| merge.kept).collect::<Vec<_>>(), [long]);
    let late = bed.put(&format!("Ask whoever wrote [[{short}|the note]] about the port."));
    bed.dream(Level::Medium.tasks());
    assert_eq!(bed.get(late).map(|memory| memory.links), Some(vec![long]));
}

/// Returns when the reminders that are not done are due.
fn due(bed: &Bed) -> Vec<String> {
    let open = bed.services.store.reminders(Reminders::Open, None, None).expect("they are told").memories;
    open.iter().filter_map(|stored| stored.memory.reminder).map(|own| own.due.to_rfc3339()).collect()
}

fn says(bed: &Bed, id: MemoryId, text: &str) {
    let patch = Patch { content: Some(text.to_owned()), ..Patch::default() };
    update(&bed.services, &id.to_string(), &patch, None, Secrets::Refuse).expect("it is changed");
}

#[test]
fn a_date_that_is_changed_moves_its_reminder_and_undo_moves_it_back() {
    let bed = Bed::new();
    let id = bed.put("Remind me to call Anna on 2 March 2124 at 3pm.");
    bed.dream(&[Task::Remind]);
    let first = bed.services.store.reminders(Reminders::Open, None, None).expect("they are told").memories[0].memory.id;
    snooze(&bed.services, &first.to_string(), "2124-03-02T18:00:00Z".parse().expect("a moment")).expect("it is put off");
    says(&bed, id, "Remind me to call Anna on 5 March 2124 at 3pm.");
    assert_eq!(due(&bed), ["2124-03-02T18:00:00+00:00"]);
    let rehearsed = bed.with(&[Task::Remind], true);
    assert_eq!(
        (rehearsed.withdrawn.iter().map(|own| (own.id, own.of)).collect::<Vec<_>>(), rehearsed.reminders.len()),
        (vec![(first, id)], 1)
    );

    let dreamt = bed.dream(Level::Deep.tasks());
    assert_eq!((due(&bed), dreamt.withdrawn.len(), dreamt.reminders.len()), (vec!["2124-03-05T15:00:00+00:00".to_owned()], 1, 1));
    assert!(bed.dream(Level::Deep.tasks()).is_empty());
    undo(&bed.services, dreamt.operation.as_ref().map(memory_core::OperationId::as_str)).expect("it is taken back");
    assert_eq!(due(&bed), ["2124-03-02T18:00:00+00:00"]);
}

#[test]
fn a_reminder_stays_while_its_time_is_named_or_where_a_person_gave_it_one() {
    let bed = Bed::new();
    let id = bed.put("Call Anna on 2 March 2124 at 3pm.");
    let given = "2124-02-01T08:00:00Z".parse().expect("a moment");
    remind_of(&bed.services, &id.to_string(), Some(given), &Utc).expect("it is made");
    remind_of(&bed.services, &id.to_string(), None, &Utc).expect("it is made");
    // No dream would make a reminder of that, and it names the time all the same.
    says(&bed, id, "Anna was born at noon. We spoke of 2 March 2124 at 3pm, it seems.");
    assert!(bed.dream(&[Task::Remind]).withdrawn.is_empty());
    assert_eq!(due(&bed), ["2124-02-01T08:00:00+00:00", "2124-03-02T15:00:00+00:00"]);
    says(&bed, id, "Call Anna.");
    assert_eq!(bed.dream(&[Task::Remind]).withdrawn.len(), 1);
    assert_eq!(due(&bed), ["2124-02-01T08:00:00+00:00"]);
}

#[test]
fn a_reminder_that_is_done_is_left_where_it_is() {
    let bed = Bed::new();
    let id = bed.put("Remind me to call Anna on 2 March 2124 at 3pm.");
    bed.dream(&[Task::Remind]);
    let first = bed.services.store.reminders(Reminders::Open, None, None).expect("they are told").memories[0].memory.id;
    memory_core::done(&bed.services, &first.to_string()).expect("it is done");
    says(&bed, id, "Remind me to call Anna on 5 March 2124 at 3pm.");
    assert!(bed.dream(&[Task::Remind]).withdrawn.is_empty());
    assert!(bed.get(first).is_some());
}

#[test]
fn a_language_model_is_asked_once_and_believed_only_so_far() {
    let bed = Bed::new();
    let id = bed.put("tbd");
    let chat = Arc::new(FakeChat::answering(&[r#"[{"id": "m1", "category": "skills"}, {"id": "m9", "category": "soul"}]"#]));
    let services = Services { chat: Some(Arc::clone(&chat) as _), ..bed.services.clone() };
    let bed = Bed { services, ..bed };
    let dreamt = bed.dream(Level::Light.tasks());
    assert_eq!(bed.get(id).map(|memory| memory.category), Some(Category::Skills));
    assert!(dreamt.unsure.is_empty() && dreamt.filed.len() == 1 && dreamt.troubles.is_empty());

    let other = bed.put("tbc");
    let broken = Services { chat: Some(Arc::new(FakeChat::answering(&["file everything under soul!"]))), ..bed.services.clone() };
    let bed = Bed { services: broken, ..bed };
    let dreamt = bed.dream(Level::Light.tasks());
    assert_eq!((bed.get(other).map(|memory| memory.phase), dreamt.troubles.len()), (Some(Phase::Inbox), 1));
}

#[test]
fn a_paraphrase_becomes_one_only_where_a_model_says_so() {
    let texts = [
        "The team meets in the small room on the second floor every Tuesday to plan the work.",
        "The team gathers in the small room on the second floor every Tuesday to plan the work.",
    ];
    let merged = |model: bool| {
        let bed = Bed::new();
        let ids: Vec<MemoryId> = texts.iter().map(|text| bed.put(text)).collect();
        if model {
            let vector = |id: &MemoryId, text: &str| TextVector { id: *id, text: ContentHash::of(text), vector: vec![0.6, 0.8] };
            let vectors: Vec<_> = ids.iter().zip(texts).map(|(id, text)| vector(id, text)).collect();
            bed.services.store.keep_vectors("one", &vectors).expect("they are kept");
        }
        bed.dream(&[Task::Merge]).merged.len()
    };
    assert_eq!([merged(false), merged(true)], [0, 1]);
}

#[test]
fn a_first_deep_dream_hears_every_memory() {
    let bed = Bed::new();
    let names = ["Anna", "Ben", "Mei", "Carlos", "Priya", "Tom", "Lena", "Omar", "Yuki", "Sara", "Ida", "Noah"];
    let ids: std::collections::BTreeSet<MemoryId> =
        names.iter().map(|name| bed.put(&format!("Remind me to call {name} tomorrow at 3pm."))).collect();
    let dreamt = bed.dream(&[Task::Remind]);
    assert_eq!(dreamt.reminders.iter().map(|own| own.of).collect::<std::collections::BTreeSet<_>>(), ids);
}

#[test]
fn what_somebody_files_or_moves_while_a_dream_thinks_is_left_alone() {
    let bed = Bed::new();
    let filed = bed.put("The user prefers dark mode in every editor and dislikes light themes");
    let short = bed.put("The staging server runs PostgreSQL 16 on port 5433.");
    let long = bed.put("The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.");
    let mut is_first = true;
    // The first step that it is told of is that the texts were looked at.
    let mut meddle = |_| {
        if std::mem::take(&mut is_first) {
            upgrade(&bed.services, &filed.to_string(), Some(Category::Project)).expect("it is filed");
            let patch = Patch { scope: Some(Scope::Agent("ben".into())), ..Patch::default() };
            update(&bed.services, &short.to_string(), &patch, None, Secrets::Refuse).expect("it is moved");
        }
        ControlFlow::Continue(())
    };
    dream(&bed.services, &what(Level::Medium.tasks(), false), &mut Pace::new(&mut meddle)).expect("it is done");
    assert_eq!(bed.get(filed).map(|memory| memory.category), Some(Category::Project));
    assert!(bed.get(short).is_some_and(|memory| memory.scope == Scope::Agent("ben".into())) && bed.get(long).is_some());
}

#[test]
fn a_summary_leads_to_the_whole_text_in_the_trash() {
    let line = "the lantern stood by the quiet harbour wall and nobody spoke of it, though many had seen it burn. ";
    let bed = Bed::new();
    let id = bed.put(line.repeat(60).trim());
    let chat = Arc::new(FakeChat::answering(&[line.repeat(15).trim()]));
    let bed = Bed { services: Services { chat: Some(chat as _), ..bed.services }, ..bed };
    let dreamt = bed.dream(&[Task::Compress]);
    let summary = bed.get(id).expect("it is there");
    assert_eq!(summary.summarised_by, dreamt.operation);
    let whole = whole_text(&bed.services, &summary).expect("the trash is read").expect("it is there");
    assert_eq!((whole.id, Some(&whole.operation)), (id, dreamt.operation.as_ref()));

    let (restored, _) = restore(&bed.services, &id.to_string()).expect("it is brought back");
    assert_eq!(restored.trash, whole.trash);
    let back = bed.get(id).expect("it is there");
    assert_eq!((back.content.as_str(), back.summarised_by), (line.repeat(60).trim(), None));
    restore(&bed.services, &id.to_string()).expect_err("what stands for nothing else has nothing to be brought back");
}

#[test]
fn a_summary_is_kept_once_and_none_that_holds_a_credential() {
    let line = "the lantern stood by the quiet harbour wall and nobody spoke of it, though many had seen it burn. ";
    let (text, summary) = (line.repeat(60), line.repeat(15));
    let after = |answers: &[&str]| {
        let bed = Bed::new();
        let id = bed.put(&text);
        let chat = Arc::new(FakeChat::answering(answers));
        let bed = Bed { services: Services { chat: Some(Arc::clone(&chat) as _), ..bed.services }, ..bed };
        let dreamt = [bed.dream(&[Task::Compress]), bed.dream(&[Task::Compress])];
        assert!(dreamt[1].is_empty(), "{:?}", dreamt[1]);
        (bed.get(id).expect("it is there").content, dreamt[0].skipped.len(), chat.asked().len())
    };
    assert_eq!(after(&[summary.trim(), "a lantern stood by the wall"]), (summary.trim().to_owned(), 0, 1));
    let key = format!("{summary} the key is AKIAIOSFODNN7QWERTYA");
    assert_eq!(after(&[&key]), (text.trim_end_matches('\n').to_owned(), 1, 1));
}
