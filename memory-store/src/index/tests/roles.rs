//! Tests of conversations with an assistant, and of conversations in any scope.

use memory_core::rank::{PARTS, RankFeature, RankWeights};
use memory_core::{Query, Ranking};

use super::fixture::{
    IndexFixture, TestNote, check_flushed_and_pending, numbers, numbers_of, query, search,
};

const REPLY: &str = "For dinner near the harbour I recommend the Lantern: fresh fish, a view of the harbour, dinner until ten, and a quiet \
                     room. Dinner at the harbour is best early; the harbour is crowded at night, and dinner takes time.";

/// Returns a home with a conversation of a person and an assistant about several subjects.
///
/// `person` and `assistant` are the front matter of their messages.
fn talk(scope: &str, person: &str, assistant: &str) -> IndexFixture {
    let own = |front: &str| format!("scope: {scope}\n{front}\n");
    let (person, assistant) = (own(person), own(assistant));
    let home = IndexFixture::new();
    let asked = [
        "I eat no fish, so where is dinner at the harbour good?",
        "My bike has a flat tyre",
        "Which tea has no caffeine?",
    ];
    let long = "Here is a long explanation with many words in it, which goes on and on about the subject and repeats itself often";
    for (number, body) in (0..).zip(asked) {
        home.write(&TestNote {
            number: 2 * number + 1,
            front: &person,
            body,
            ..TestNote::default()
        });
        let body = if number == 0 { REPLY } else { long };
        home.write(&TestNote {
            number: 2 * number + 2,
            front: &assistant,
            body,
            ..TestNote::default()
        });
    }
    home
}

/// Returns the number of hits with a feature, if all features count.
fn count_of(home: &IndexFixture, text: &str, feature: RankFeature) -> usize {
    let weights = Some(RankWeights([1.0; PARTS.len()]));
    let ranking = Ranking {
        weights,
        ..Ranking::default()
    };
    let query = Query {
        ranking,
        ..query(text)
    };
    let hits = search(&home.index(), &query).hits;
    let parts = hits.iter().flat_map(|hit| &hit.explanation.parts);
    parts.filter(|part| part.part == feature).count()
}

#[test]
fn messages_of_the_person_precede_those_of_the_assistant_unless_these_are_asked_for() {
    let sources = ["source: User", "source: Assistant"];
    for (scope, [person, assistant]) in [
        ("conversation:a", ["role: person", "role: assistant"]),
        ("conversation:a", sources),
        ("project:x", sources),
    ] {
        check_flushed_and_pending(&talk(scope, person, assistant), |index| {
            assert_eq!(
                numbers(index, "dinner at the harbour")[0],
                1,
                "{scope} {person}"
            );
            assert_eq!(
                numbers(index, "What did you recommend for dinner at the harbour?")[0],
                2,
                "{scope} {person}"
            );
        });
    }
}

#[test]
fn the_length_of_their_messages_tells_an_assistant_from_a_person_in_every_scope() {
    for scope in ["conversation:a", "project:x", "global"] {
        check_flushed_and_pending(&talk(scope, "source: Jo", "source: Helper"), |index| {
            let found = search(index, &query("dinner at the harbour"));
            let has_role = |number: usize| {
                found.hits[number]
                    .explanation
                    .parts
                    .iter()
                    .any(|part| part.part == RankFeature::Assistant)
            };
            assert_eq!(
                (numbers_of(&found)[0], has_role(0), has_role(1)),
                (1, false, true),
                "{scope}"
            );
        });
    }
}

#[test]
fn neighbours_count_in_every_scope_where_several_speakers_take_turns() {
    let supports = |scope: &str, front: [&str; 2]| {
        let home = talk(scope, front[0], front[1]);
        count_of(&home, "dinner, flat tyre", RankFeature::Reply)
    };
    for scope in ["project:x", "conversation:a"] {
        assert!(0 < supports(scope, ["source: Anna", "source: Ben"]));
        assert_eq!(
            supports(scope, ["source: notes", "source: notes"]),
            0,
            "notes that were written one after another"
        );
    }
    assert!(
        0 < supports("conversation:a", ["role: person", "role: person"]),
        "a role makes messages of them"
    );
}

#[test]
fn the_name_of_a_speaker_is_no_subject_in_any_scope() {
    let named = |front: [&str; 2]| {
        let home = talk("project:x", front[0], front[1]);
        count_of(&home, "Where does Anna have dinner?", RankFeature::Named)
    };
    assert!(0 < named(["source: Anna", "source: Ben"]));
    assert_eq!(
        named(["source: Anna", "source: Anna"]),
        0,
        "she writes notes"
    );
}

#[test]
fn notes_that_programs_write_within_minutes_are_no_messages() {
    // Two programs one after the other, and three at the same time.
    for writers in ["eeeeeeeeiiii", "eizzeieeziizzeizee"] {
        let home = IndexFixture::new();
        for (number, writer) in (1..).zip(writers.chars()) {
            home.write(&TestNote {
                number,
                front: &format!("scope: project:x\nsource: {writer}\n"),
                body: "The harbour has many boats",
                ..TestNote::default()
            });
        }
        check_flushed_and_pending(&home, |index| {
            let found = search(index, &query("harbour"));
            assert!(!found.hits.is_empty());
            assert!(
                found.hits.iter().all(|hit| !hit.explanation.is_turn),
                "{writers}"
            );
        });
    }
}

#[test]
fn a_fact_beside_messages_with_roles_is_no_message() {
    for scope in ["conversation:a", "project:x"] {
        let sources = [
            "role: person\nsource: User",
            "role: assistant\nsource: Assistant",
        ];
        let home = talk(scope, sources[0], sources[1]);
        home.write(&TestNote {
            number: 7,
            front: &format!("scope: {scope}\n"),
            body: "The harbour office closes at six",
            ..TestNote::default()
        });
        check_flushed_and_pending(&home, |index| {
            let found = search(index, &query("when does the harbour close"));
            let is_turn: Vec<bool> = found
                .hits
                .iter()
                .map(|hit| hit.explanation.is_turn)
                .collect();
            assert_eq!(
                (numbers_of(&found), is_turn),
                (vec![7, 1, 2], vec![false, true, true]),
                "{scope}"
            );
        });
    }
}
