//! The conformance suite of the summaries of a [`crate::MemoryStore`].

use chrono::TimeDelta;

use crate::{
    CachedAnalysis, Category, Draft, Filter, MemoryId, MemorySummary, Patch, Phase, SecretPolicy,
    Services, delete, link, update, upgrade, write,
};

/// Checks the contract of [`crate::MemoryStore::summaries`] and the cached analyses. `make` returns services over a new, empty store.
///
/// # Panics
/// If the contract is violated.
pub fn summaries_suite(make: &dyn Fn() -> Services) {
    check_rules!(
        make;
        an_outline_tells_what_the_memory_says,
        connections_have_the_tags_and_links_of_the_filtered_memories,
        an_impression_is_of_one_text,
        what_is_gone_leaves_no_outline,
        a_later_impression_takes_the_place_of_a_former,
    );
}

fn put(services: &Services, content: &str) -> MemoryId {
    write(services, Draft::new(content), SecretPolicy::Refuse)
        .expect("a draft is written")
        .id
}

fn load_summaries(services: &Services) -> Vec<MemorySummary> {
    services.store.refresh().expect("the files can be read");
    services.store.summaries().expect("they are told")
}

fn store_analysis(services: &Services, outline: &MemorySummary, bytes: &[u8]) {
    let impression = CachedAnalysis {
        id: outline.id,
        text: outline.text,
        bytes: bytes.to_vec(),
    };
    services
        .store
        .store_analyses(&[impression])
        .expect("it is kept");
}

fn an_outline_tells_what_the_memory_says(services: &Services) {
    let end = services.clock.now() + TimeDelta::days(3);
    let draft = Draft {
        expires_at: Some(end),
        ..Draft::new("green tea")
    };
    let id = write(services, draft, SecretPolicy::Refuse)
        .expect("it is written")
        .id;
    let other = upgrade(
        services,
        &put(services, "Anna is my sister").to_string(),
        Some(Category::People),
    );
    let other = other.expect("it is filed").memory;
    services.store.count_access(&[other.id, other.id]);
    let told = load_summaries(services);
    assert!(told.is_sorted_by_key(|outline| outline.id) && told.len() == 2);
    let of = |id: MemoryId| {
        told.iter()
            .find(|outline| outline.id == id)
            .expect("it is told of")
    };
    assert_eq!(
        (of(id).phase, of(id).category, of(id).ends_at),
        (Phase::Inbox, Category::Inbox, Some(end))
    );
    let filed = of(other.id);
    assert_eq!(
        (filed.phase, filed.category, filed.access_count),
        (Phase::Organized, Category::People, 2)
    );
    assert_eq!(
        (filed.created_at, filed.updated_at, &filed.scope),
        (other.created_at, other.updated_at, &other.scope)
    );
    assert!(
        filed.ends_at.is_none()
            && !filed.is_superseded
            && !filed.is_damaged
            && filed.impression.is_none()
    );
    let patch = Patch {
        superseded_by: Some(Some(other.id)),
        ..Patch::default()
    };
    update(
        services,
        &id.to_string(),
        &patch,
        None,
        SecretPolicy::Refuse,
    )
    .expect("it is changed");
    assert!(
        load_summaries(services)
            .iter()
            .any(|outline| outline.id == id && outline.is_superseded)
    );
}

fn connections_have_the_tags_and_links_of_the_filtered_memories(services: &Services) {
    let draft = Draft::new("green tea").category(Category::Preferences);
    let tea = write(services, draft.tags(["Drink/tea"]), SecretPolicy::Refuse)
        .expect("it is written")
        .id;
    let (cup, other) = (put(services, "a cup"), put(services, "something else"));
    for id in [cup, other] {
        link(services, &tea.to_string(), &id.to_string()).expect("they are linked");
    }
    delete(services, &other.to_string()).expect("it is deleted");
    services.store.refresh().expect("the files can be read");
    let read = |filter: &Filter| {
        let found = services.store.connections(filter, services.clock.now());
        found.expect("they are read")
    };
    let found = read(&Filter::default());
    let ids: Vec<MemoryId> = found.memories.iter().map(|memory| memory.id).collect();
    assert!(ids.is_sorted() && ids.len() == 2, "{found:?}");
    let position = |id: MemoryId| ids.iter().position(|own| *own == id).expect("it is there");
    let own = &found.memories[position(tea)];
    let mut tags: Vec<String> = (own.tags.iter())
        .map(|tag| found.tags[*tag].to_lowercase())
        .collect();
    tags.sort();
    assert_eq!(tags, ["drink", "drink/tea"]);
    assert_eq!(
        (own.category, &own.links),
        (Category::Preferences, &vec![position(cup)])
    );
    assert_eq!(found.memories[position(cup)].links, [position(tea)]);
    let filter = Filter {
        category: Some(Category::Preferences),
        ..Filter::default()
    };
    let of_category = read(&filter).memories;
    assert!(
        of_category.len() == 1 && of_category[0].links.is_empty(),
        "{of_category:?}"
    );
}

fn an_impression_is_of_one_text(services: &Services) {
    let id = put(services, "green tea").to_string();
    store_analysis(services, &load_summaries(services)[0], b"liked");
    let impression = |services: &Services| load_summaries(services)[0].impression.clone();
    assert_eq!(impression(services).as_deref(), Some(b"liked".as_slice()));
    upgrade(services, &id, Some(Category::Preferences)).expect("it is filed");
    assert_eq!(
        impression(services).as_deref(),
        Some(b"liked".as_slice()),
        "the text is the same"
    );
    let former = load_summaries(services).remove(0);
    let change = |content: &str| {
        let patch = Patch {
            content: Some(content.into()),
            ..Patch::default()
        };
        update(services, &id, &patch, None, SecretPolicy::Refuse).expect("it is changed");
    };
    change("black tea");
    assert_eq!(impression(services), None);
    store_analysis(services, &former, b"late");
    assert_eq!(impression(services), None, "that text is no more");
}

fn what_is_gone_leaves_no_outline(services: &Services) {
    let id = put(services, "green tea");
    put(services, "black tea");
    let former = load_summaries(services);
    delete(services, &id.to_string()).expect("it is deleted");
    for outline in &former {
        store_analysis(services, outline, b"liked");
    }
    let told = load_summaries(services);
    assert!(told.len() == 1 && told[0].id != id && told[0].impression.is_some());
}

fn a_later_impression_takes_the_place_of_a_former(services: &Services) {
    put(services, "green tea");
    for bytes in [b"liked".as_slice(), b"loved"] {
        store_analysis(services, &load_summaries(services)[0], bytes);
    }
    assert_eq!(
        load_summaries(services)[0].impression.as_deref(),
        Some(b"loved".as_slice())
    );
}
