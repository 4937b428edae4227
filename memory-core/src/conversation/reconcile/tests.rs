use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

fn conversation() -> ConversationId {
    ConversationId::default_conversation()
}

fn known(texts: &[&str]) -> Vec<Arc<ConversationEntry>> {
    let entry = |(number, text): (usize, &&str)| {
        let id = format!("known-{number}").parse().unwrap();
        Arc::new(ConversationEntry::new(
            id,
            &conversation(),
            EntryRole::Memory,
            text,
            DateTime::UNIX_EPOCH,
        ))
    };
    texts.iter().enumerate().map(entry).collect()
}

fn plan(texts: &[&str], facts: &[&str], decisions: &[FactDecision]) -> Vec<EntryChange> {
    let fact = |fact: &&str| ExtractedFact {
        text: (*fact).to_owned(),
        source: None,
    };
    let facts: Vec<ExtractedFact> = facts.iter().map(fact).collect();
    let mut count = 0;
    let mut next_id = || {
        count += 1;
        format!("new-{count}").parse().unwrap()
    };
    plan_facts(
        &conversation(),
        &known(texts),
        &facts,
        decisions,
        DateTime::UNIX_EPOCH,
        &mut next_id,
    )
}

/// Formats a plan, one line per change.
fn format_changes(changes: &[EntryChange]) -> Vec<String> {
    let told = |change: &EntryChange| match change {
        EntryChange::Add(entry) => format!("+ {} {}", entry.id, entry.content),
        EntryChange::Delete {
            id,
            replaced_by: None,
        } => format!("- {id}"),
        EntryChange::Delete {
            id,
            replaced_by: Some(by),
        } => format!("- {id} for {by}"),
    };
    changes.iter().map(told).collect()
}

fn add(text: &str) -> FactDecision {
    FactDecision::Add { text: text.into() }
}

fn update(number: usize, text: &str) -> FactDecision {
    FactDecision::Update {
        number,
        text: text.into(),
    }
}

#[test]
fn decisions_are_read_from_whatever_a_model_puts_around_them() {
    let expected = vec![
        add("likes tea"),
        update(0, "lives in Lyon"),
        FactDecision::Delete { number: 1 },
        FactDecision::Keep { number: 2 },
    ];
    let list = r#"[{"event": "ADD", "id": 3, "text": "likes tea"}, {"event": "update", "id": "0", "text": " lives in\nLyon"},
        {"event": "DELETE", "id": 1, "text": "x"}, {"event": "NONE", "id": 2}, {"event": "ADD", "text": " "}]"#;
    for answer in [
        list.to_owned(),
        format!("Here:\n```json\n{list}\n```"),
        format!("{{\"response\": {list}}}"),
    ] {
        assert_eq!(parse_decisions(&answer, 3).unwrap(), expected);
    }
}

#[test]
fn ids_that_were_not_given_are_told_to_the_model() {
    for (answer, part) in [
        (
            r#"[{"event": "UPDATE", "id": 3, "text": "x"}]"#,
            "UPDATE names the id 3",
        ),
        (r#"[{"event": "DELETE"}]"#, "DELETE names the id null"),
        (r#"[{"event": "NONE", "id": -1}]"#, "they go from 0 to 2"),
        (
            r#"[{"event": "MERGE", "id": 1}]"#,
            "the event \"MERGE\" is none of",
        ),
        (r#"["likes tea"]"#, "the event \"\" is none of"),
        ("I would update the first one.", "no JSON"),
        (r#"{"event": "ADD"}"#, "no list"),
    ] {
        let why = parse_decisions(answer, 3).unwrap_err().why;
        assert!(why.contains(part), "{answer}: {why}");
    }
}

#[test]
fn an_update_is_a_deletion_and_an_addition_and_the_tombstone_tells_of_it() {
    let changes = plan(
        &["lives in Ghent", "loves pizza"],
        &["lives in Lyon", "hates pizza"],
        &[
            update(0, "lives in Lyon"),
            FactDecision::Delete { number: 1 },
            add("hates pizza"),
        ],
    );
    assert_eq!(
        format_changes(&changes),
        [
            "+ new-1 lives in Lyon",
            "+ new-2 hates pizza",
            "- known-0 for new-1",
            "- known-1"
        ]
    );
}

#[test]
fn where_only_something_goes_the_new_facts_are_added_all_the_same() {
    let facts = ["hates pizza"];
    for decisions in [
        vec![FactDecision::Delete { number: 0 }],
        vec![],
        vec![
            FactDecision::Delete { number: 0 },
            FactDecision::Keep { number: 1 },
        ],
    ] {
        let changes = format_changes(&plan(&["loves pizza", "likes tea"], &facts, &decisions));
        assert!(
            changes.contains(&"+ new-1 hates pizza".to_owned()),
            "{decisions:?}: {changes:?}"
        );
    }
    assert!(
        plan(
            &["loves pizza"],
            &["loves pizza"],
            &[FactDecision::Keep { number: 0 }]
        )
        .is_empty()
    );
}

#[test]
fn what_is_known_word_for_word_is_not_added_again() {
    assert!(plan(&["The user likes tea."], &["the user  likes tea"], &[]).is_empty());
    assert!(plan(&["likes tea"], &["likes tea"], &[update(0, "Likes tea.")]).is_empty());
    let deleted = plan(
        &["likes tea"],
        &["likes tea"],
        &[FactDecision::Delete { number: 0 }],
    );
    assert_eq!(format_changes(&deleted), ["+ new-1 likes tea", "- known-0"]);
}

#[test]
fn a_second_update_of_the_same_one_is_new() {
    let changes = format_changes(&plan(
        &["lives in Ghent"],
        &["a", "b"],
        &[
            update(0, "a"),
            update(0, "b"),
            FactDecision::Delete { number: 0 },
        ],
    ));
    assert_eq!(changes, ["+ new-1 a", "+ new-2 b", "- known-0 for new-1"]);
}

#[test]
fn a_turn_adds_three_facts_at_most_whatever_is_decided() {
    let fact = |turn: &str, text: &str| ExtractedFact {
        text: text.into(),
        source: Some(turn.parse().unwrap()),
    };
    let facts = [fact("turn-1", "likes tea"), fact("turn-2", "owns a dog")];
    let adds = |what: &str| {
        (0..9)
            .map(|number| add(&format!("{what} {number}")))
            .collect::<Vec<_>>()
    };
    let mut decisions = [adds("likes tea"), adds("owns a dog")].concat();
    decisions.push(update(0, "likes tea with milk"));
    let mut next = (0..).map(|number| format!("new-{number}").parse().unwrap());
    let changes = plan_facts(
        &conversation(),
        &known(&["likes tea"]),
        &facts,
        &decisions,
        DateTime::UNIX_EPOCH,
        &mut || next.next().unwrap(),
    );
    let sources: Vec<String> = changes
        .iter()
        .map(|change| match change {
            EntryChange::Add(entry) => entry.source_id.as_ref().unwrap().to_string(),
            EntryChange::Delete { .. } => "deleted".into(),
        })
        .collect();
    // The update exceeds the limit of its turn, so the fact that it would replace remains.
    assert_eq!(
        sources,
        ["turn-1", "turn-1", "turn-1", "turn-2", "turn-2", "turn-2"]
    );
}

fn any_decision() -> impl Strategy<Value = FactDecision> {
    let text = || prop::sample::select(vec!["a", "b", "c", "d", "e"]).prop_map(str::to_owned);
    prop_oneof![
        text().prop_map(|text| FactDecision::Add { text }),
        (0_usize..6, text()).prop_map(|(number, text)| FactDecision::Update { number, text }),
        (0_usize..6).prop_map(|number| FactDecision::Delete { number }),
        (0_usize..6).prop_map(|number| FactDecision::Keep { number }),
    ]
}

proptest! {
    #[test]
    fn every_entry_is_active_or_a_tombstone_and_no_id_is_used_twice(
        texts in proptest::collection::vec(prop::sample::select(vec!["a", "b", "c", "x"]), 0..5),
        facts in proptest::collection::vec(prop::sample::select(vec!["a", "d", "e"]), 1..4),
        decisions in proptest::collection::vec(any_decision(), 0..8),
    ) {
        let changes = plan(&texts, &facts, &decisions);
        let mut active: BTreeMap<EntryId, String> =
            known(&texts).iter().map(|entry| (entry.id.clone(), entry.content.clone())).collect();
        let all: BTreeSet<EntryId> = active.keys().cloned().collect();
        let mut tombstones = BTreeSet::new();
        for change in &changes {
            match change {
                EntryChange::Add(entry) => prop_assert!(active.insert(entry.id.clone(), entry.content.clone()).is_none()),
                EntryChange::Delete { id, replaced_by } => {
                    prop_assert!(active.remove(id).is_some() && tombstones.insert(id.clone()));
                    prop_assert!(replaced_by.as_ref().is_none_or(|by| active.contains_key(by)));
                }
            }
        }
        prop_assert!(all.iter().all(|id| active.contains_key(id) || tombstones.contains(id)));
        // A new fact is not lost if no decision mentions it.
        let tells = decisions.iter().any(|decision| match decision {
            FactDecision::Add { .. } | FactDecision::Update { .. } | FactDecision::Keep { .. } => true,
            FactDecision::Delete { .. } => false,
        });
        if !tells {
            prop_assert!(facts.iter().all(|fact| active.values().any(|text| text == fact)));
        }
    }

    #[test]
    fn no_answer_makes_it_panic(answer in any::<String>(), known in 0_usize..4) {
        let _ = parse_decisions(&answer, known);
        let _ = super::super::parse_facts(&answer);
    }
}
