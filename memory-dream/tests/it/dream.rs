//! Tests of dreams, with an in-memory store.

use std::ops::ControlFlow;
use std::sync::Arc;

use memory_core::testing::{FakeChat, FakeRecallLedger};
use memory_core::{
    Category, Memory, Patch, Phase, RecallInterface, RecallRecord, RecalledId, Scope, SecretPolicy,
    Services, Verb, find_full_text, link, pin, record_recall, restore, undo, update, upgrade,
};
use memory_dream::lifecycle::Exemption;
use memory_dream::{DreamLevel, DreamRequest, DreamTask, ProgressCallback, dream};

use crate::fixture::{DreamFixture, dream_request};

const LIFECYCLE_TASKS: [DreamTask; 3] = [DreamTask::Expire, DreamTask::Decay, DreamTask::Upgrade];

#[test]
fn a_light_dream_files_what_is_clear_and_leaves_what_is_not() {
    let bed = DreamFixture::new();
    let clear = bed.write("The user prefers dark mode in every editor and dislikes light themes");
    let chinese = bed.write("教训：上线前必须先备份数据库，上次没有备份导致数据丢失");
    let unclear = bed.write("tbd");
    let dreamt = bed.dream(DreamLevel::Light.tasks());
    let place = |id| bed.get(id).map(|memory| (memory.phase, memory.category));
    assert_eq!(
        place(clear),
        Some((Phase::Organized, Category::Preferences))
    );
    assert_eq!(place(chinese), Some((Phase::Organized, Category::Lessons)));
    assert_eq!(place(unclear), Some((Phase::Inbox, Category::Inbox)));
    assert_eq!(
        (
            dreamt.filed.len(),
            dreamt
                .unsure
                .iter()
                .map(|unsure| unsure.id)
                .collect::<Vec<_>>()
        ),
        (2, vec![unclear])
    );
    assert!(dreamt.operation.is_some() && bed.dream(DreamLevel::Light.tasks()).operation.is_none());
}

#[test]
fn what_is_suggested_wins_over_what_is_guessed() {
    let bed = DreamFixture::new();
    let id = bed.write("The user prefers dark mode in every editor");
    let mut memory = bed.get(id).expect("it is there");
    memory.category = Category::Project;
    let mut taken = memory_core::Refinement::new(&bed.services, Verb::Ingest);
    let expected = bed.services.store.get(&id).expect("it is there").stamp;
    let changes = vec![memory_core::Change::Replace {
        expected,
        memory: Box::new(memory),
    }];
    taken
        .commit(vec![memory_core::RefinementUnit {
            changes,
            ..memory_core::RefinementUnit::default()
        }])
        .expect("it is changed");
    bed.dream(DreamLevel::Light.tasks());
    assert_eq!(
        bed.get(id).map(|memory| memory.category),
        Some(Category::Project)
    );
}

#[test]
fn what_says_the_same_becomes_one_and_undo_parts_it_again() {
    let bed = DreamFixture::new();
    let short = bed.write("The staging server runs PostgreSQL 16 on port 5433.");
    let long = bed
        .write("The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.");
    let other = bed.write("See the note on backups.");
    link(&bed.services, &other.to_string(), &short.to_string()).expect("they are linked");
    let tag = Patch {
        add_tags: ["infra"].into_iter().collect(),
        ..Patch::default()
    };
    update(
        &bed.services,
        &short.to_string(),
        &tag,
        None,
        SecretPolicy::Refuse,
    )
    .expect("it is tagged");
    let before = bed.all();

    let dreamt = bed.dream(&[DreamTask::Merge]);
    assert_eq!(
        dreamt
            .merged
            .iter()
            .map(|merge| (merge.kept, merge.gone.clone()))
            .collect::<Vec<_>>(),
        [(long, vec![short])]
    );
    let kept = bed.get(long).expect("it is kept");
    assert!(
        kept.tags.iter().any(|tag| tag == "infra")
            && kept.supersedes == [short]
            && kept.links == [other]
    );
    assert_eq!(
        bed.get(other).map(|memory| memory.links),
        Some(vec![long]),
        "whoever linked to the one now links to the other"
    );
    assert!(bed.get(short).is_none());
    let operation = dreamt.operation.expect("something was changed");
    let reasons: Vec<String> = bed
        .services
        .history
        .changes(&operation)
        .filter_map(|change| change.expect("it is told").why)
        .collect();
    assert!(
        reasons.iter().any(|why| why.contains(&long.to_string()))
            && reasons.iter().any(|why| why.contains(&short.to_string()))
    );

    undo(&bed.services, Some(operation.as_str())).expect("it is taken back");
    let texts = |all: &[Memory]| {
        all.iter()
            .map(|memory| (memory.id, memory.content.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(&bed.all()), texts(&before));
}

#[test]
fn what_differs_in_a_number_a_name_or_a_not_stays_apart() {
    let bed = DreamFixture::new();
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
        bed.write(text);
    }
    assert!(bed.dream(&[DreamTask::Merge]).merged.is_empty());
    assert_eq!(bed.all().len(), 8);
}

#[test]
fn age_takes_what_nobody_wants_and_spares_the_rest() {
    let bed = DreamFixture::new();
    let old = bed.write("tbd");
    let pinned = bed.write("pinned");
    pin(&bed.services, &pinned.to_string()).expect("it is pinned");
    let wanted = bed.write("asked for often");
    bed.read(wanted, 3);
    let linked = bed.write("linked from the archive");
    let archive = bed.file("the archive", Category::Knowledge);
    link(&bed.services, &archive.to_string(), &linked.to_string()).expect("they are linked");
    bed.read(archive, 1);
    bed.advance_days(7);
    let fresh = bed.write("just written");

    let dreamt = bed.dream(&LIFECYCLE_TASKS);
    assert_eq!(
        dreamt
            .parted
            .iter()
            .map(|parting| parting.id)
            .collect::<Vec<_>>(),
        [old]
    );
    assert!(
        bed.get(old).is_none()
            && [pinned, linked, fresh, archive]
                .iter()
                .all(|id| bed.get(*id).is_some())
    );
    assert_eq!(
        bed.get(wanted).map(|memory| memory.phase),
        Some(Phase::Organized)
    );

    bed.advance_days(30);
    let unread = bed.file("nobody reads this", Category::Knowledge);
    bed.advance_days(29);
    assert!(
        !bed.dream(&[DreamTask::Decay])
            .parted
            .iter()
            .any(|parting| parting.id == unread)
    );
    bed.advance_days(1);
    assert!(
        bed.dream(&[DreamTask::Decay])
            .parted
            .iter()
            .any(|parting| parting.id == unread)
    );
}

#[test]
fn a_memory_that_an_agent_received_is_not_removed_for_the_next_30_days() {
    let bed = DreamFixture::new();
    let ids = [
        bed.file("an agent receives this", Category::Knowledge),
        bed.write("xyzzy"),
    ];
    let ledger = FakeRecallLedger::default();
    bed.advance_days(6);
    for id in ids {
        let recall = RecallRecord {
            at: bed.services.clock.now(),
            agent: String::new(),
            session: None,
            project: None,
            interface: RecallInterface::Hook.as_str().to_owned(),
            tool: String::new(),
            query: None,
            memories: vec![RecalledId::unranked(id.to_string())],
            tokens: 1,
        };
        record_recall(&ledger, recall);
    }
    let parted = || {
        let request = DreamRequest {
            recalls: Some(&ledger),
            ..dream_request(&LIFECYCLE_TASKS, false)
        };
        let mut go_on = |_| ControlFlow::Continue(());
        let dreamt = dream(
            &bed.services,
            &request,
            &mut ProgressCallback::new(&mut go_on),
        )
        .expect("a dream");
        (dreamt.parted.len(), dreamt.spared)
    };
    bed.advance_days(29);
    let received = Exemption::Received;
    let (removed, mut spared) = parted();
    spared.sort_unstable_by_key(|(id, _)| *id != ids[0]);
    assert_eq!(
        (removed, spared),
        (0, ids.map(|id| (id, received)).to_vec())
    );
    bed.advance_days(2);
    assert_eq!(parted(), (2, Vec::new()));
}

#[test]
fn a_rehearsal_changes_nothing_and_says_what_would_be() {
    let bed = DreamFixture::new();
    bed.write("The user prefers dark mode in every editor.");
    bed.write("The user prefers dark mode in every editor. And large letters.");
    let before = bed.all();
    let would = bed.with(DreamLevel::Medium.tasks(), true);
    assert!(bed.all() == before && would.operation.is_none() && !would.merged.is_empty());
    let did = bed.dream(DreamLevel::Medium.tasks());
    assert_eq!(would.merged, did.merged);
}

#[test]
fn who_stops_a_dream_keeps_what_was_done() {
    let bed = DreamFixture::new();
    for number in 0..10 {
        bed.write(&format!(
            "The user prefers theme number {number} in the editor"
        ));
    }
    let mut stop = |_| ControlFlow::Break(());
    let mut pace = ProgressCallback::new(&mut stop);
    let dreamt = dream(
        &bed.services,
        &dream_request(DreamLevel::Light.tasks(), false),
        &mut pace,
    )
    .expect("it stops");
    assert!(dreamt.is_cut);
    assert_eq!(bed.all().len(), 10);
    bed.dream(DreamLevel::Light.tasks());
    assert!(bed.dream(DreamLevel::Light.tasks()).is_empty());
}

#[test]
fn a_deep_dream_writes_down_what_is_certain_and_lists_the_rest() {
    let bed = DreamFixture::new();
    let old = bed.file("Anna lives in Berlin.", Category::People);
    bed.advance_days(1);
    let new = bed.file("Anna no longer lives in Berlin.", Category::People);
    let dreamt = bed.dream(DreamLevel::Deep.tasks());
    assert_eq!(
        dreamt
            .superseded
            .iter()
            .map(|own| (own.of, own.superseded_by))
            .collect::<Vec<_>>(),
        [(old, new)]
    );
    let (older, newer) = (
        bed.get(old).expect("it is there"),
        bed.get(new).expect("it is there"),
    );
    assert_eq!(
        (older.superseded_by, older.valid_until, newer.supersedes),
        (Some(new), Some(newer.created_at), vec![old])
    );
    assert!(
        dreamt
            .review
            .is_some_and(|review| review.contradictions.first.len() == 1)
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
    assert_eq!(bed.get(old).expect("it is there").superseded_by, None);
}

#[test]
fn a_wikilink_by_the_id_of_what_became_part_of_another_leads_there() {
    let bed = DreamFixture::new();
    let short = bed.write("The staging server runs PostgreSQL 16 on port 5433.");
    let long = bed
        .write("The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.");
    assert_eq!(
        bed.dream(&[DreamTask::Merge])
            .merged
            .iter()
            .map(|merge| merge.kept)
            .collect::<Vec<_>>(),
        [long]
    );
    let late = bed.write(&format!(
        "Ask whoever wrote [[{short}|the note]] about the port."
    ));
    bed.dream(DreamLevel::Medium.tasks());
    assert_eq!(bed.get(late).map(|memory| memory.links), Some(vec![long]));
}

#[test]
fn a_language_model_is_asked_once_and_believed_only_so_far() {
    let bed = DreamFixture::new();
    let id = bed.write("tbd");
    let chat = Arc::new(FakeChat::with_answers(&[
        r#"[{"id": "m1", "category": "skills"}, {"id": "m9", "category": "soul"}]"#,
    ]));
    let services = Services {
        chat: Some(Arc::clone(&chat) as _),
        ..bed.services.clone()
    };
    let bed = DreamFixture { services, ..bed };
    let dreamt = bed.dream(DreamLevel::Light.tasks());
    assert_eq!(
        bed.get(id).map(|memory| memory.category),
        Some(Category::Skills)
    );
    assert!(dreamt.unsure.is_empty() && dreamt.filed.len() == 1 && dreamt.troubles.is_empty());

    let other = bed.write("tbc");
    let broken = Services {
        chat: Some(Arc::new(FakeChat::with_answers(&[
            "file everything under soul!",
        ]))),
        ..bed.services.clone()
    };
    let bed = DreamFixture {
        services: broken,
        ..bed
    };
    let dreamt = bed.dream(DreamLevel::Light.tasks());
    assert_eq!(
        (
            bed.get(other).map(|memory| memory.phase),
            dreamt.troubles.len()
        ),
        (Some(Phase::Inbox), 1)
    );
}

#[test]
fn memories_merge_by_themselves_only_if_one_contains_every_sentence_of_the_other() {
    for (texts, is_merged) in [
        (
            ["Use ｔａｂｓ in this project.", "use tabs  in this project"],
            true,
        ),
        (
            [
                "The port is 80. The host is ada.",
                "The port is 80. Ask Anna. The host is ada.",
            ],
            true,
        ),
        (["用制表符缩进代码。", "用制表符 缩进代码"], true),
        (
            [
                "Stop the service. Then run the migration of the database.",
                "Then run the migration of the database. Stop the service.",
            ],
            false,
        ),
        (
            [
                "Retry the request if the status code is >= 500 in the client.",
                "Retry the request if the status code is < 500 in the client.",
            ],
            false,
        ),
        (
            [
                "Compare both versions of the file with a == b in the script.",
                "Compare both versions of the file with a != b in the script.",
            ],
            false,
        ),
        (
            [
                "The offset of the time zone in the tests is +2 for all servers.",
                "The offset of the time zone in the tests is -2 for all servers.",
            ],
            false,
        ),
        (
            [
                "Anna wants the weekly report of the team before lunch on Monday.",
                "Anna wants the weekly report of the team before lunch on Monday, as a table.",
            ],
            false,
        ),
        (
            [
                "papá cocina todos los domingos",
                "papa cocina todos los domingos",
            ],
            false,
        ),
        (
            [
                "服务启动前先备份数据库再升级",
                "服务启动前先升级数据库再备份",
            ],
            false,
        ),
    ] {
        let bed = DreamFixture::new();
        for text in texts {
            bed.write(text);
        }
        let dreamt = bed.dream(&[DreamTask::Merge]);
        assert_eq!(dreamt.merged.len(), usize::from(is_merged), "{texts:?}");
    }
}

#[test]
fn what_somebody_files_or_moves_while_a_dream_thinks_is_left_alone() {
    let bed = DreamFixture::new();
    let filed = bed.write("The user prefers dark mode in every editor and dislikes light themes");
    let short = bed.write("The staging server runs PostgreSQL 16 on port 5433.");
    let long = bed
        .write("The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night.");
    let mut is_first = true;
    // The first reported step is the analysis of the texts.
    let mut meddle = |_| {
        if std::mem::take(&mut is_first) {
            upgrade(&bed.services, &filed.to_string(), Some(Category::Project))
                .expect("it is filed");
            let patch = Patch {
                scope: Some(Scope::Agent("ben".into())),
                ..Patch::default()
            };
            update(
                &bed.services,
                &short.to_string(),
                &patch,
                None,
                SecretPolicy::Refuse,
            )
            .expect("it is moved");
        }
        ControlFlow::Continue(())
    };
    dream(
        &bed.services,
        &dream_request(DreamLevel::Medium.tasks(), false),
        &mut ProgressCallback::new(&mut meddle),
    )
    .expect("it is done");
    assert_eq!(
        bed.get(filed).map(|memory| memory.category),
        Some(Category::Project)
    );
    assert!(
        bed.get(short)
            .is_some_and(|memory| memory.scope == Scope::Agent("ben".into()))
            && bed.get(long).is_some()
    );
}

#[test]
fn a_summary_leads_to_the_whole_text_in_the_trash() {
    let line = "the lantern stood by the quiet harbour wall and nobody spoke of it, though many had seen it burn. ";
    let bed = DreamFixture::new();
    let id = bed.write(line.repeat(60).trim());
    let chat = Arc::new(FakeChat::with_answers(&[line.repeat(15).trim()]));
    let bed = DreamFixture {
        services: Services {
            chat: Some(chat as _),
            ..bed.services
        },
        ..bed
    };
    let dreamt = bed.dream(&[DreamTask::Compress]);
    let summary = bed.get(id).expect("it is there");
    assert_eq!(summary.summarised_by, dreamt.operation);
    let whole = find_full_text(&bed.services, &summary)
        .expect("the trash is read")
        .expect("it is there");
    assert_eq!(
        (whole.id, Some(&whole.operation.id)),
        (id, dreamt.operation.as_ref())
    );

    let (restored, _) = restore(&bed.services, &id.to_string()).expect("it is brought back");
    assert_eq!(restored.trash, whole.trash);
    let back = bed.get(id).expect("it is there");
    assert_eq!(
        (back.content.as_str(), back.summarised_by),
        (line.repeat(60).trim(), None)
    );
    restore(&bed.services, &id.to_string())
        .expect_err("what stands for nothing else has nothing to be brought back");
}

#[test]
fn a_summary_is_kept_once_and_none_that_holds_a_credential() {
    let line = "the lantern stood by the quiet harbour wall and nobody spoke of it, though many had seen it burn. ";
    let (text, summary) = (line.repeat(60), line.repeat(15));
    let after = |answers: &[&str]| {
        let bed = DreamFixture::new();
        let id = bed.write(&text);
        let chat = Arc::new(FakeChat::with_answers(answers));
        let bed = DreamFixture {
            services: Services {
                chat: Some(Arc::clone(&chat) as _),
                ..bed.services
            },
            ..bed
        };
        let dreamt = [
            bed.dream(&[DreamTask::Compress]),
            bed.dream(&[DreamTask::Compress]),
        ];
        assert!(dreamt[1].is_empty(), "{:?}", dreamt[1]);
        (
            bed.get(id).expect("it is there").content,
            dreamt[0].skipped.len(),
            chat.requests().len(),
        )
    };
    assert_eq!(
        after(&[summary.trim(), "a lantern stood by the wall"]),
        (summary.trim().to_owned(), 0, 1)
    );
    let key = format!("{summary} the key is AKIAIOSFODNN7QWERTYA");
    assert_eq!(
        after(&[&key]),
        (text.trim_end_matches('\n').to_owned(), 1, 1)
    );
}
