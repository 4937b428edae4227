//! Checks that memories outside the requested scopes are treated as missing.

use chrono::TimeDelta;
use uuid::Uuid;

use super::{all, draft, put, query};
use crate::secret::Checked;
use crate::{
    Change, Draft, Filter, MemoryId, MemoryStoreExt, NameMatch, PageRequest, Query, Reminder,
    ReminderQuery, Scope, Services, StoreError, Verb, list, search,
};

pub(super) fn what_lies_elsewhere_is_not_there(services: &Services) {
    let scopes = [
        Scope::Global,
        Scope::Agent("a".into()),
        Scope::Agent("b".into()),
        Scope::Conversation("c".into()),
    ];
    for number in 0..40 {
        let scope = scopes[number % scopes.len()].clone();
        put(
            services,
            Draft {
                scope,
                ..draft(&format!("tea {number}"))
            },
        );
    }
    put(
        services,
        Draft {
            scope: scopes[2].clone(),
            ..draft("a cup of porcelain")
        },
    );
    let within = |scopes: &[Scope]| Filter {
        within: Some(scopes.to_vec()),
        ..Filter::default()
    };
    let ask = |text: &str, filter: Filter| {
        search(
            services,
            &Query {
                filter,
                ..query(text, 3)
            },
        )
        .expect("answered")
    };
    for (seen, total) in [(&scopes[..2], 20), (&scopes[..], 40), (&[], 0)] {
        let found = ask("tea", within(seen));
        assert_eq!(
            (found.hits.len(), found.total),
            (total.min(3), total as u64),
            "{seen:?}"
        );
        assert!(
            found
                .hits
                .iter()
                .all(|hit| seen.contains(&hit.stored.memory.scope))
        );
        let page = list(
            services,
            &within(seen),
            &PageRequest {
                limit: Some(7),
                ..all()
            },
        )
        .expect("listed");
        let others = usize::from(seen.contains(&scopes[2]));
        assert_eq!(
            (page.memories.len(), page.total),
            ((total + others).min(7), (total + others) as u64)
        );
        assert!(
            page.memories
                .iter()
                .all(|stored| seen.contains(&stored.memory.scope))
        );
        let walked: Vec<_> = services
            .store
            .memories(&within(seen), services.clock.now())
            .map(Result::unwrap)
            .collect();
        assert_eq!(walked.len(), total + others);
        assert!(
            walked
                .iter()
                .all(|stored| seen.contains(&stored.memory.scope))
        );
    }
    assert_eq!(
        (
            ask("porcelain", within(&scopes[..2])).total,
            ask("porcelain", within(&scopes)).total
        ),
        (0, 1)
    );
    let other = Filter {
        scope: Some(scopes[2].clone()),
        ..within(&scopes[..2])
    };
    assert_eq!(
        ask("tea", other.clone()).total,
        0,
        "a scope that lies elsewhere"
    );
    assert_eq!(
        ask("tea scope:agent:b", within(&scopes[..2])).total,
        0,
        "or is typed into the question"
    );
    assert_eq!(list(services, &other, &all()).expect("listed").total, 0);
}

pub(super) fn what_lies_elsewhere_is_not_called_so(services: &Services) {
    let scopes = [
        Scope::Global,
        Scope::Agent("a".into()),
        Scope::Agent("b".into()),
    ];
    let ids = [1, 2, 3].map(|number: u128| MemoryId::from(Uuid::from_u128(0xabcd << 112 | number)));
    for (id, scope) in ids.iter().zip(&scopes) {
        let mut set = services.change_set(Verb::Import);
        let memory = Draft {
            scope: scope.clone(),
            ..draft(&format!("of {scope}"))
        }
        .into_memory(*id, set.operation.at);
        set.changes.push(Change::Create {
            memory: Box::new(memory),
            front_matter: String::new(),
        });
        services
            .store
            .commit(Checked::allowed(&set))
            .expect("it is kept");
    }
    let called = |reference: &str, within: Option<&[Scope]>| {
        let called = services
            .store
            .find_matches(reference, within)
            .expect("it is looked up");
        let mut ids: Vec<MemoryId> = called.into_iter().map(|NameMatch { id, .. }| id).collect();
        ids.sort_unstable();
        ids
    };
    for reference in ["abcd", "abcd0000-0000", &ids[0].to_string()[..30]] {
        assert_eq!(called(reference, None), ids, "{reference}");
        assert_eq!(
            called(reference, Some(&scopes[1..2])),
            ids[1..2],
            "{reference}"
        );
        assert_eq!(
            called(reference, Some(&scopes[..2])),
            ids[..2],
            "{reference}"
        );
        assert_eq!(called(reference, Some(&[])), [], "{reference}");
    }
    let whole = ids[2].to_string();
    assert_eq!(
        (
            called(&whole, Some(&scopes[..2])),
            called(&whole, Some(&scopes))
        ),
        (vec![], vec![ids[2]])
    );
    assert!(
        matches!(services.store.find("abcd"), Err(StoreError::Ambiguous { candidates, .. }) if candidates.len() == 3)
    );
    let unknown = services.ids.memory_id();
    let told = services
        .store
        .scopes(&[ids[1], unknown, ids[0]])
        .expect("they are looked up");
    assert_eq!(told, [Some(scopes[1].clone()), None, Some(Scope::Global)]);
}

pub(super) fn what_lies_elsewhere_is_no_reminder_and_nobody_speaks_there(services: &Services) {
    let scopes = [
        Scope::Global,
        Scope::Agent("anna".into()),
        Scope::Agent("bob".into()),
    ];
    let now = services.clock.now();
    for hours in 0..6 {
        let scope = scopes[usize::try_from(hours % 3).unwrap_or_default()].clone();
        let reminder = Some(Reminder::new(now + TimeDelta::hours(hours)));
        put(
            services,
            Draft {
                scope,
                reminder,
                ..draft(&format!("number {hours}"))
            },
        );
    }
    services.store.refresh().expect("it is looked at");
    let due = |within: Option<&[Scope]>, limit: Option<usize>| {
        let page = services
            .store
            .reminders(ReminderQuery::Open, within, limit)
            .expect("they are looked up");
        (
            page.memories
                .into_iter()
                .map(|stored| stored.memory.content)
                .collect::<Vec<_>>(),
            page.total,
        )
    };
    assert_eq!((due(None, None).1, due(Some(&[]), None)), (6, (vec![], 0)));
    assert_eq!(
        due(Some(&scopes[1..2]), Some(1)),
        (vec!["number 1".into()], 2)
    );
    let names = ["anna", "bob"].map(str::to_owned);
    let speakers = |within: Option<&[Scope]>| {
        services
            .store
            .speakers(&names, within)
            .expect("it is looked up")
    };
    assert_eq!(
        (speakers(None), speakers(Some(&scopes[..2]))),
        (names.to_vec(), vec!["anna".to_owned()])
    );
}
