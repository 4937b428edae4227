//! The rules of [`crate::MemoryStore::facets`] and [`crate::MemoryStore::tagged`].

use chrono::TimeDelta;

use super::{draft, put};
use crate::{
    Category, Draft, FacetCounts, Filter, MatchCoverage, MemoryStoreExt, Patch, Query, Ranking,
    Scope, SecretPolicy, Services, delete, facets, first_of_month, search, update,
};

fn count(services: &Services, text: &str) -> FacetCounts {
    facets(services, &Query::new(text)).expect("they are counted")
}

fn in_lower_case(counts: &[(String, u64)]) -> Vec<(String, u64)> {
    counts
        .iter()
        .map(|(name, count)| (name.to_lowercase(), *count))
        .collect()
}

pub(super) fn counts_by_attribute_follow_every_change(services: &Services) {
    let tea = Draft {
        source: "Claude".into(),
        scope: Scope::Agent("claude".into()),
        ..draft("green tea")
    };
    let tea = put(
        services,
        tea.category(Category::Preferences)
            .tags(["Drink/Tea", "home"]),
    );
    let coffee = put(
        services,
        draft("coffee")
            .category(Category::Knowledge)
            .tags(["drink"]),
    );
    put(services, draft("green leaves"));
    let all = count(services, "");
    assert_eq!(all.counted, 3);
    let categories = [
        (Category::Inbox, 1),
        (Category::Knowledge, 1),
        (Category::Preferences, 1),
    ];
    assert_eq!(all.categories, categories);
    assert_eq!(
        all.scopes,
        [(Scope::Global, 2), (Scope::Agent("claude".into()), 1)]
    );
    assert_eq!(all.sources, [("claude".to_owned(), 1)]);
    let named = |name: &str, count| (name.to_owned(), count);
    assert_eq!(
        in_lower_case(&all.tags),
        [named("drink", 2), named("drink/tea", 1), named("home", 1)]
    );
    let month = first_of_month(
        services
            .store
            .get_by(&tea)
            .expect("it is there")
            .memory
            .created_at,
    );
    assert_eq!(all.months, [(month, 3)]);

    let green = count(services, "green");
    assert_eq!(
        (green.counted, green.tags.len(), green.scopes.len()),
        (2, 3, 2)
    );
    assert_eq!(
        count(services, "green leaves").counted,
        1,
        "the memory with more of the words"
    );
    assert_eq!(count(services, "tag:drink").counted, 2);
    assert_eq!(count(services, "nowhere").counted, 0);
    let filter = Filter {
        within: Some(vec![Scope::Global]),
        ..Filter::default()
    };
    assert_eq!(
        facets(services, &Query::new("").filter(filter))
            .expect("counted")
            .counted,
        2,
        "within a scope"
    );

    let patch = Patch {
        remove_tags: ["home"].into_iter().collect(),
        ..Patch::default()
    };
    update(services, &tea, &patch, None, SecretPolicy::Refuse).expect("it is changed");
    assert_eq!(
        in_lower_case(&count(services, "").tags),
        [named("drink", 2), named("drink/tea", 1)]
    );
    delete(services, &coffee).expect("it is deleted");
    let left = count(services, "");
    assert_eq!(
        (left.counted, in_lower_case(&left.tags)),
        (2, vec![named("drink", 1), named("drink/tea", 1)])
    );
}

pub(super) fn best_matches_and_the_rest_are_all_matches(services: &Services) {
    for text in [
        "green tea at noon",
        "green tea",
        "green leaves",
        "black tea",
        "coffee",
    ] {
        put(services, draft(text));
    }
    let find = |text: &str, coverage| {
        let query = Query::new(text).ranking(Ranking {
            coverage,
            ..Ranking::default()
        });
        let found = search(services, &query).expect("answered");
        let mut texts: Vec<String> = found
            .hits
            .iter()
            .map(|hit| hit.stored.memory.content.trim().to_owned())
            .collect();
        texts.sort();
        assert_eq!(found.total, texts.len() as u64, "{text} {coverage:?}");
        texts
    };
    for (text, best, rest) in [
        (
            "green tea",
            vec!["green tea", "green tea at noon"],
            vec!["black tea", "green leaves"],
        ),
        (
            "tea",
            vec!["black tea", "green tea", "green tea at noon"],
            vec![],
        ),
        (
            "green tea leaves",
            vec!["green leaves", "green tea", "green tea at noon"],
            vec!["black tea"],
        ),
        (
            "tea absentword",
            vec!["black tea", "green tea", "green tea at noon"],
            vec![],
        ),
        ("absentword", vec![], vec![]),
    ] {
        assert_eq!(find(text, MatchCoverage::Best), best, "{text}");
        assert_eq!(find(text, MatchCoverage::Rest), rest, "{text}");
        assert_eq!(
            find(text, MatchCoverage::Any).len(),
            best.len() + rest.len(),
            "{text}"
        );
        assert_eq!(count(services, text).counted, best.len() as u64, "{text}");
    }
}

pub(super) fn what_has_ended_is_not_counted(services: &Services) {
    let end = services.clock.now() + TimeDelta::minutes(1);
    put(
        services,
        Draft {
            expires_at: Some(end),
            ..draft("soon over").tags(["brief"])
        },
    );
    assert_eq!(count(services, "").counted, 1);
    let later = end + TimeDelta::seconds(1);
    let counts = services
        .store
        .facets(None, &Filter::default(), later)
        .expect("they are counted");
    assert_eq!(
        counts,
        FacetCounts::default(),
        "the same memories at a later time"
    );
    assert_eq!(
        services
            .store
            .facets(None, &Filter::all(), later)
            .expect("they are counted")
            .counted,
        1
    );
    assert_eq!(
        services
            .store
            .facets(None, &Filter::default(), services.clock.now())
            .expect("counted")
            .counted,
        1
    );
}

pub(super) fn memories_with_a_tag_are_found_newest_first(services: &Services) {
    let oldest = put(services, draft("one").tags(["drink"]));
    let own = Draft {
        scope: Scope::Agent("claude".into()),
        ..draft("two").tags(["Drink/tea"])
    };
    let newest = put(services, own);
    put(services, draft("three").tags(["drinks"]));
    let now = services.clock.now();
    let tagged = |tag: &str, within: Option<&[Scope]>, limit| {
        let found = services
            .store
            .tagged(tag, within, limit, now)
            .expect("they are read");
        found
            .into_iter()
            .map(|stored| stored.memory.id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(tagged("#DRINK", None, 9), [newest.clone(), oldest.clone()]);
    assert_eq!(tagged("drink", None, 1), [newest]);
    assert_eq!(
        tagged("drink", Some(&[Scope::Global]), 9),
        std::slice::from_ref(&oldest)
    );
    assert!(tagged("drink", Some(&[]), 9).is_empty() && tagged("tea", None, 9).is_empty());
    delete(services, &oldest).expect("it is deleted");
    assert_eq!(tagged("drink", None, 9).len(), 1);
}
