//! The conformance suite of the vectors of a [`crate::MemoryStore`].

use std::sync::Arc;

use super::FakeEmbedder;
use crate::{
    Draft, EmbedError, EmbedReport, Embedder, Embedding, Filter, MemoryId, Patch, Query, Ranking,
    Scope, SearchResults, SecretPolicy, Services, StoreError, delete, embed, search, update, write,
};

/// Checks the contract of the vectors of a [`crate::MemoryStore`], and the use of vectors by searches.
///
/// `make` returns services over a new, empty store.
///
/// # Panics
/// If the contract is violated.
pub fn embeddings_suite(make: &dyn Fn() -> Services) {
    check_rules!(
        make;
        a_hit_without_common_words_is_found_by_its_vector,
        what_has_no_vector_yet_is_found_by_its_words,
        a_changed_text_has_no_vector,
        those_without_a_vector_are_counted,
        a_long_text_is_found_by_its_best_passage,
        another_model_never_mixes,
        filters_apply_to_vectors_too,
        embedding_goes_on_where_it_stopped,
        what_is_gone_or_changed_meanwhile_is_not_kept,
        a_failing_model_degrades_the_answer,
        a_model_that_has_read_nothing_is_not_asked,
        among_few_what_is_near_is_found_and_what_is_not_is_not,
        what_the_model_cannot_read_is_found_by_its_words_alone,
        without_a_model_nothing_is_embedded,
    );
}

/// An embedding model with an identity and a function.
#[derive(Debug, Clone, Copy)]
struct FunctionEmbedder(
    &'static str,
    fn(&[&str]) -> Result<Vec<Embedding>, EmbedError>,
);

impl Embedder for FunctionEmbedder {
    fn identity(&self) -> &str {
        self.0
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        self.1(texts)
    }
}

/// Embeds texts with three synonyms.
fn embed_synonyms(texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
    let texts: Vec<String> = texts
        .iter()
        .map(|text| text.replace("automobile", "car").replace("vehicle", "car"))
        .collect();
    FakeEmbedder.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A model with three synonyms.
const SYNONYMS: FunctionEmbedder = FunctionEmbedder("one", embed_synonyms);

/// A model that supports only ASCII text.
const ASCII: FunctionEmbedder = FunctionEmbedder("ascii", |texts| {
    let mut vectors = embed_synonyms(texts)?;
    for (vector, text) in vectors.iter_mut().zip(texts) {
        if !text.is_ascii() {
            vector.fill(0.0);
        }
    }
    Ok(vectors)
});

/// A model that fails.
const FAILING: FunctionEmbedder = FunctionEmbedder("failing", |_| {
    Err(EmbedError {
        why: "it is asleep".into(),
        hint: Some("wake it".into()),
    })
});

/// A model that cannot be loaded.
const UNLOADED: FunctionEmbedder = FunctionEmbedder("", |_| {
    Err(EmbedError {
        why: "it is not there".into(),
        hint: None,
    })
});

fn with(services: &Services, embedder: FunctionEmbedder) -> Services {
    Services {
        embedder: Some(Arc::new(embedder)),
        ..services.clone()
    }
}

fn put(services: &Services, content: &str) -> MemoryId {
    write(services, Draft::new(content), SecretPolicy::Refuse)
        .expect("a draft is written")
        .id
}

/// Stores a memory about an automobile, and forty memories about other subjects.
fn write_notes(services: &Services) -> MemoryId {
    for number in 0..40 {
        put(
            services,
            &format!(
                "note{number} tells of thing{} and of place{}",
                number * 7,
                number * 11
            ),
        );
    }
    put(services, "automobile")
}

fn ask(services: &Services, text: &str) -> SearchResults {
    ask_in(services, text, Filter::default())
}

fn ask_in(services: &Services, text: &str, filter: Filter) -> SearchResults {
    let query = Query {
        text: text.into(),
        filter,
        limit: 10,
        ranking: Ranking::default(),
    };
    search(services, &query).expect("it is answered")
}

fn hit_ids(found: &SearchResults) -> Vec<MemoryId> {
    found.hits.iter().map(|hit| hit.stored.memory.id).collect()
}

fn embed_all(services: &Services) -> EmbedReport {
    embed(services, &mut |_| (), None).expect("everything is embedded")
}

fn a_hit_without_common_words_is_found_by_its_vector(services: &Services) {
    let services = with(services, SYNONYMS);
    let id = write_notes(&services);
    assert!(
        ask(&services, "vehicle").hits.is_empty(),
        "nothing has a vector yet"
    );
    assert_eq!(
        embed_all(&services),
        EmbedReport {
            embedded: 41,
            unreadable: 0,
            left: 0
        }
    );
    let answer = ask(&services, "vehicle");
    assert_eq!(
        answer.hits.first().map(|hit| hit.stored.memory.id),
        Some(id)
    );
    assert!(
        answer.hits.len() as u64 <= answer.total && answer.total < 5 && answer.degraded.is_none(),
        "{}",
        answer.total
    );
    assert_eq!(embed_all(&services), EmbedReport::default());
}

fn what_has_no_vector_yet_is_found_by_its_words(services: &Services) {
    let services = with(services, SYNONYMS);
    write_notes(&services);
    embed_all(&services);
    let id = put(&services, "a zeppelin over the lake");
    assert!(hit_ids(&ask(&services, "zeppelin")).contains(&id));
}

fn a_changed_text_has_no_vector(services: &Services) {
    let services = with(services, SYNONYMS);
    let id = write_notes(&services);
    embed_all(&services);
    let change = |content: &str| {
        let patch = Patch {
            content: Some(content.into()),
            ..Patch::default()
        };
        update(
            &services,
            &id.to_string(),
            &patch,
            None,
            SecretPolicy::Refuse,
        )
        .expect("it is changed");
    };
    change("a boat");
    assert!(
        !hit_ids(&ask(&services, "vehicle")).contains(&id),
        "what it said is no answer any more"
    );
    assert_eq!(
        services
            .store
            .memories_without_vector("one")
            .expect("it is known"),
        [id]
    );
    assert_eq!(
        embed_all(&services),
        EmbedReport {
            embedded: 1,
            unreadable: 0,
            left: 0
        }
    );
    change("vehicle");
    assert_eq!(
        embed_all(&services),
        EmbedReport {
            embedded: 1,
            unreadable: 0,
            left: 0
        }
    );
    assert_eq!(hit_ids(&ask(&services, "automobile")).first(), Some(&id));
    delete(&services, &id.to_string()).expect("it is deleted");
    assert!(!hit_ids(&ask(&services, "automobile")).contains(&id));
    assert!(
        services
            .store
            .memories_without_vector("one")
            .expect("it is known")
            .is_empty()
    );
}

fn those_without_a_vector_are_counted(services: &Services) {
    let services = with(services, SYNONYMS);
    let count = |identity| {
        services
            .store
            .count_without_vector(identity)
            .expect("it is known")
    };
    assert_eq!(count("one"), 0);
    let [boat, _, tea] = ["a boat", "a car", "green tea"].map(|text| put(&services, text));
    assert_eq!(count("one"), 3);
    embed_all(&services);
    assert_eq!((count("one"), count("other")), (0, 3));
    let patch = Patch {
        content: Some("a ship".into()),
        ..Patch::default()
    };
    update(
        &services,
        &boat.to_string(),
        &patch,
        None,
        SecretPolicy::Refuse,
    )
    .expect("it is changed");
    assert_eq!(count("one"), 1);
    delete(&services, &tea.to_string()).expect("it is deleted");
    assert_eq!((count("one"), count("other")), (1, 2));
    crate::undo(&services, None).expect("it is undone");
    assert_eq!(
        count("one"),
        services
            .store
            .memories_without_vector("one")
            .expect("it is known")
            .len() as u64
    );
    embed_all(&services);
    assert_eq!(count("one"), 0);
}

fn a_long_text_is_found_by_its_best_passage(services: &Services) {
    let services = with(services, SYNONYMS);
    write_notes(&services);
    let filler: Vec<String> = (0..300).map(|number| format!("filler{number}")).collect();
    let text = format!("{}\n\n{}", filler.join(" "), "automobile ".repeat(100));
    let id = put(&services, &text);
    embed_all(&services);
    let found = ask(&services, "vehicle");
    let hit = found.hits.iter().find(|hit| hit.stored.memory.id == id);
    assert!(hit.is_some(), "{:?}", hit_ids(&found));
    assert_eq!(
        services
            .store
            .count_without_vector("one")
            .expect("it is known"),
        0
    );
}

fn another_model_never_mixes(services: &Services) {
    let one = with(services, SYNONYMS);
    let id = write_notes(&one);
    embed_all(&one);
    let other = with(services, FunctionEmbedder("other", embed_synonyms));
    assert!(ask(&other, "vehicle").hits.is_empty());
    assert_eq!(
        other
            .store
            .memories_without_vector("other")
            .expect("it is known")
            .len(),
        41
    );
    assert_eq!(embed_all(&other).embedded, 41);
    assert_eq!(
        (
            hit_ids(&ask(&other, "vehicle"))[0],
            hit_ids(&ask(&one, "vehicle"))[0]
        ),
        (id, id)
    );
}

fn filters_apply_to_vectors_too(services: &Services) {
    let services = with(services, SYNONYMS);
    let id = write_notes(&services);
    let mut draft = Draft::new("automobile");
    draft.scope = Scope::Agent("other".into());
    let other = write(&services, draft, SecretPolicy::Refuse)
        .expect("it is written")
        .id;
    embed_all(&services);
    let within = |scope| {
        hit_ids(&ask_in(
            &services,
            "vehicle",
            Filter {
                scope: Some(scope),
                ..Filter::default()
            },
        ))
    };
    let (global, agents) = (within(Scope::Global), within(Scope::Agent("other".into())));
    assert!(global.contains(&id) && !global.contains(&other));
    assert_eq!(agents, [other]);
    let within = |scopes: &[Scope]| {
        ask_in(
            &services,
            "vehicle",
            Filter {
                within: Some(scopes.to_vec()),
                ..Filter::default()
            },
        )
    };
    let (own, none) = (
        within(&[Scope::Global, Scope::Agent("own".into())]),
        within(&[]),
    );
    assert!(hit_ids(&own).contains(&id) && !hit_ids(&own).contains(&other));
    assert_eq!(hit_ids(&within(&[Scope::Agent("other".into())])), [other]);
    assert_eq!(
        (own.hits.len() as u64, none.hits.len()),
        (own.total.min(10), 0)
    );
}

fn embedding_goes_on_where_it_stopped(services: &Services) {
    let services = with(services, SYNONYMS);
    write_notes(&services);
    let mut told = Vec::new();
    let report = embed(
        &services,
        &mut |progress| told.push((progress.done, progress.total)),
        Some(35),
    )
    .expect("it goes");
    assert_eq!(
        report,
        EmbedReport {
            embedded: 35,
            unreadable: 0,
            left: 6
        }
    );
    assert_eq!(told, [(0, Some(35)), (32, Some(35)), (35, Some(35))]);
    assert_eq!(
        embed_all(&services),
        EmbedReport {
            embedded: 6,
            unreadable: 0,
            left: 0
        }
    );
}

fn what_is_gone_or_changed_meanwhile_is_not_kept(services: &Services) {
    let id = put(services, "as it is now");
    let vector = vec![1.0, 0.0];
    let of = |id, text: &str| crate::TextVector {
        id,
        text: crate::ContentHash::of(text),
        vectors: vec![vector.clone()],
    };
    let gone = services.ids.memory_id();
    let keep = |vectors: &[crate::TextVector]| {
        services
            .store
            .store_vectors("two", vectors)
            .expect("they are kept")
    };
    assert_eq!(keep(&[of(id, "as it was"), of(gone, "as it is now")]), 0);
    assert_eq!(
        services
            .store
            .memories_without_vector("two")
            .expect("it is known"),
        [id]
    );
    assert_eq!(keep(&[of(id, "as it is now")]), 1);
    assert!(
        services
            .store
            .memories_without_vector("two")
            .expect("it is known")
            .is_empty()
    );
}

fn a_failing_model_degrades_the_answer(services: &Services) {
    let services = with(services, FAILING);
    let id = put(&services, "dark mode");
    let vector = crate::TextVector {
        id,
        text: crate::ContentHash::of("dark mode"),
        vectors: vec![vec![1.0, 0.0]],
    };
    services
        .store
        .store_vectors("failing", &[vector])
        .expect("it is kept");
    let answer = ask(&services, "dark");
    assert_eq!(hit_ids(&answer), [id]);
    assert!(
        answer
            .degraded
            .is_some_and(|why| why.contains("it is asleep"))
    );
    put(&services, "light mode");
    let error = embed(&services, &mut |_| (), None).expect_err("it cannot");
    assert!(matches!(error, StoreError::Embed(_)) && error.hint().as_deref() == Some("wake it"));
}

fn a_model_that_has_read_nothing_is_not_asked(services: &Services) {
    let meaning = with(services, SYNONYMS);
    let failing = with(services, FAILING);
    let id = put(services, "dark mode");
    let unopened = with(services, UNLOADED);
    assert!(!services.store.has_vectors(None).expect("it is known"));
    assert!(
        ask(&unopened, "dark").degraded.is_none(),
        "nothing is missed"
    );
    embed_all(&meaning);
    assert!(services.store.has_vectors(None).expect("it is known"));
    assert!(
        ask(&unopened, "dark").degraded.is_some(),
        "who cannot be told is asked why"
    );
    // The store has vectors, but only of another model.
    assert!(
        !services
            .store
            .has_vectors(Some("failing"))
            .expect("it is known")
    );
    let answer = ask(&failing, "dark");
    assert_eq!((hit_ids(&answer), answer.degraded), (vec![id], None));
    assert!(
        services
            .store
            .has_vectors(Some("one"))
            .expect("it is known")
    );
    delete(services, &id.to_string()).expect("it is deleted");
    assert!(ask(&meaning, "vehicle").degraded.is_none());
}

fn among_few_what_is_near_is_found_and_what_is_not_is_not(services: &Services) {
    let services = with(services, SYNONYMS);
    let id = put(&services, "automobile");
    for others in [
        "",
        "dark mode everywhere",
        "green tea with lemon",
        "the train to Vienna",
    ] {
        if !others.is_empty() {
            put(&services, others);
        }
        embed_all(&services);
        assert_eq!(
            hit_ids(&ask(&services, "vehicle")),
            [id],
            "beside {others:?}"
        );
        assert_eq!(
            hit_ids(&ask(&services, "zeppelin")),
            [],
            "beside {others:?}"
        );
    }
}

fn what_the_model_cannot_read_is_found_by_its_words_alone(services: &Services) {
    let services = with(services, ASCII);
    let car = write_notes(&services);
    let [theme, _] = ["用户喜欢深色模式", "用户喜欢喝绿茶"].map(|text| put(&services, text));
    assert_eq!(
        embed_all(&services),
        EmbedReport {
            embedded: 43,
            unreadable: 2,
            left: 0
        }
    );
    assert_eq!(
        embed_all(&services),
        EmbedReport::default(),
        "the model does not read them again"
    );
    assert_eq!(
        hit_ids(&ask(&services, "vehicle")).first(),
        Some(&car),
        "vectors of zeros are near to none"
    );
    let answer = ask(&services, "深色模式");
    assert_eq!(
        (hit_ids(&answer).first(), answer.degraded),
        (Some(&theme), None)
    );
}

fn without_a_model_nothing_is_embedded(services: &Services) {
    let services = Services {
        embedder: None,
        ..services.clone()
    };
    assert!(matches!(
        embed(&services, &mut |_| (), None),
        Err(StoreError::NoModel)
    ));
}
