//! Tests that memories outside an agent's view are treated as missing.

use std::sync::Arc;

use memory_core::secret::Checked;
use memory_core::testing::{services, view_suite};
use memory_core::{
    Change, Code, Draft, Filter, ListOrder, MemStore, MemoryId, MemoryStoreExt, PageRequest, Patch,
    Query, Ranking, Reminder, ReviewPolicy, Scope, SecretPolicy, Services, StoreError, Tags, Verb,
    View, WritePolicy, backlinks, delete, link, list, read, search, tag, undo, update, write,
};

#[test]
fn what_an_agent_does_not_see_is_not_there() {
    view_suite(&|| services(Arc::new(MemStore::default())), 500);
}

#[test]
fn what_an_agent_proposes_depends_on_nothing_that_it_does_not_see() {
    let review = ReviewPolicy {
        default: WritePolicy::Propose,
        rules: Vec::new(),
    };
    view_suite(
        &|| Services {
            review: review.clone(),
            ..services(Arc::new(MemStore::default()))
        },
        200,
    );
}

fn home() -> Services {
    services(Arc::new(MemStore::default()))
}

fn agent(home: &Services, name: &str, project: Option<&str>) -> Services {
    home.restrict_to(&View {
        agent: Some(name.parse().expect("a name")),
        project: project.map(str::to_owned),
        ..View::default()
    })
}

fn write_memory(services: &Services, content: &str, scope: Scope) -> String {
    write(
        services,
        Draft {
            scope,
            ..Draft::new(content)
        },
        SecretPolicy::Refuse,
    )
    .expect("it is kept")
    .id
    .to_string()
}

fn agent_scope(name: &str) -> Scope {
    Scope::Agent(name.into())
}

#[test]
fn agents_share_what_is_for_everybody_and_nothing_else() {
    let home = home();
    let (claude, codex) = (
        agent(&home, "Claude", Some("x")),
        agent(&home, "codex", Some("x")),
    );
    let (ours, global) = (
        write_memory(&claude, "of the project", Scope::Project("x".into())),
        write_memory(&codex, "for all", Scope::Global),
    );
    let secret = write_memory(&claude, "of claude", agent_scope("claude"));
    for id in [&ours, &global] {
        assert!(read(&claude, id).is_ok() && read(&codex, id).is_ok());
    }
    assert_eq!(read(&claude, &secret).unwrap().memory.content, "of claude");
    let everything = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: None,
    };
    let total = |services: &Services| list(services, &Filter::all(), &everything).unwrap().total;
    assert_eq!(
        (
            total(&claude),
            total(&codex),
            total(&home),
            total(&home.restrict_to(&View::default()))
        ),
        (3, 2, 3, 1)
    );
}

#[test]
fn a_refusal_says_no_more_than_of_what_was_never_there() {
    let home = home();
    let codex = agent(&home, "codex", None);
    let (secret, seen) = (
        write_memory(&home, "of claude", agent_scope("claude")),
        write_memory(&home, "for all", Scope::Global),
    );
    let never = "12345678-0000-4000-8000-000000000000";
    let told = |error: StoreError| format!("{error:?} {error} {:?}", error.hint());
    let refusals = |id: &str| {
        let stamp = read(&home, &seen).unwrap().stamp;
        let forged = read(&home, &secret).unwrap().memory;
        let forged = memory_core::Memory {
            id: id.parse().unwrap(),
            scope: Scope::Global,
            ..forged
        };
        let mut replaced = codex.change_set(Verb::Update);
        replaced.changes.push(Change::Replace {
            expected: stamp,
            memory: Box::new(forged),
        });
        let refused = [
            told(read(&codex, id).unwrap_err()),
            told(codex.store.get(&id.parse().unwrap()).unwrap_err()),
            told(delete(&codex, id).unwrap_err()),
            told(link(&codex, &seen, id).unwrap_err()),
            told(
                update(
                    &codex,
                    id,
                    &Patch {
                        scope: Some(Scope::Global),
                        ..Patch::default()
                    },
                    None,
                    SecretPolicy::Keep,
                )
                .unwrap_err(),
            ),
            told(codex.store.commit(Checked::allowed(&replaced)).unwrap_err()),
        ];
        refused.map(|refused| refused.replace(id, "ID"))
    };
    assert_eq!(refusals(&secret), refusals(never));
    assert_eq!(read(&home, &secret).unwrap().memory.content, "of claude");
}

#[test]
fn nothing_goes_where_an_agent_does_not_see_it() {
    let home = home();
    let codex = agent(&home, "codex", None);
    let id = write_memory(&codex, "for all", Scope::Global);
    for scope in [
        agent_scope("claude"),
        Scope::Project("x".into()),
        Scope::Conversation("y".into()),
    ] {
        let draft = Draft {
            scope: scope.clone(),
            ..Draft::new("planted")
        };
        assert_eq!(
            write(&codex, draft, SecretPolicy::Refuse)
                .unwrap_err()
                .code(),
            Code::ScopeRefused
        );
        let moved = Patch {
            scope: Some(scope),
            ..Patch::default()
        };
        assert_eq!(
            update(&codex, &id, &moved, None, SecretPolicy::Refuse)
                .unwrap_err()
                .code(),
            Code::ScopeRefused
        );
    }
    // An agent cannot overwrite a memory that it does not see either.
    let secret = write_memory(&home, "of claude", agent_scope("claude"));
    let mut set = codex.change_set(Verb::Import);
    let memory = Draft::new("in its place").into_memory(secret.parse().unwrap(), set.operation.at);
    set.changes.push(Change::Create {
        memory: Box::new(memory),
        front_matter: String::new(),
    });
    let refused = codex.store.commit(Checked::allowed(&set)).unwrap_err();
    assert!(matches!(refused, StoreError::Conflict { what } if what == secret));
}

#[test]
fn nothing_leads_where_an_agent_does_not_see_it() {
    let home = home();
    let codex = agent(&home, "codex", None);
    let (secret, seen) = (
        write_memory(&home, "of claude", agent_scope("claude")),
        write_memory(&home, "for all", Scope::Global),
    );
    let never = "12345678-0000-4000-8000-000000000000";
    for id in [secret.as_str(), never] {
        let id = id.parse().unwrap();
        for patch in [
            Patch {
                superseded_by: Some(Some(id)),
                ..Patch::default()
            },
            Patch {
                add_links: vec![id],
                ..Patch::default()
            },
            Patch {
                reminder: Some(Reminder {
                    of: Some(id),
                    ..Reminder::new(home.clock.now())
                }),
                ..Patch::default()
            },
        ] {
            let refused = update(&codex, &seen, &patch, None, SecretPolicy::Refuse).unwrap_err();
            assert!(
                matches!(refused, StoreError::NotFound { reference } if reference == id.to_string())
            );
        }
    }
    // Links that a person added remain, and are not shown to the agent.
    let other = write_memory(&home, "also for all", Scope::Global);
    for target in [&secret, &other] {
        link(&home, &seen, target).unwrap();
    }
    let (hidden, shown): (MemoryId, MemoryId) = (secret.parse().unwrap(), other.parse().unwrap());
    let tagged = tag(&codex, &seen, ["x"].iter().collect(), Tags::default()).unwrap();
    assert_eq!(tagged.memory.links, [shown]);
    let links = |services: &Services| {
        let found = services.store.get(&seen.parse().unwrap());
        found.unwrap().memory.links
    };
    assert_eq!(
        (links(&codex), links(&home)),
        (vec![shown], vec![hidden, shown])
    );
    let found = backlinks(&codex, &seen).unwrap();
    let ids: Vec<MemoryId> = found.iter().map(|stored| stored.memory.id).collect();
    assert_eq!(ids, [shown]);
}

#[test]
fn a_filter_reaches_no_further_than_the_view() {
    let home = home();
    let codex = agent(&home, "codex", None);
    write_memory(&home, "of claude", agent_scope("claude"));
    write_memory(&home, "for all", Scope::Global);
    for (within, seen) in [
        (vec![agent_scope("claude")], 0),
        (vec![agent_scope("claude"), Scope::Global], 1),
        (vec![], 0),
    ] {
        let filter = Filter {
            within: Some(within),
            ..Filter::all()
        };
        let slice = PageRequest {
            order: ListOrder::Created,
            offset: 0,
            limit: None,
        };
        assert_eq!(list(&codex, &filter, &slice).unwrap().total, seen);
        let query = Query {
            text: "for claude".into(),
            filter,
            limit: 9,
            ranking: Ranking::default(),
        };
        assert_eq!(search(&codex, &query).unwrap().total, seen);
    }
}

#[test]
fn an_agent_takes_back_what_it_did_itself_and_where_it_sees_it() {
    let home = home();
    let (here, there) = (
        agent(&home, "codex", Some("here")),
        agent(&home, "codex", Some("there")),
    );
    let mine = write_memory(&here, "of here", Scope::Project("here".into()));
    let theirs = write_memory(&home, "of a person", Scope::Global);
    assert_eq!(
        undo(&there, None).unwrap_err().code(),
        Code::OperationNotFound
    );
    let written = here
        .history
        .records()
        .next()
        .unwrap()
        .unwrap()
        .operation
        .id
        .to_string();
    assert_eq!(
        undo(&there, Some(&written)).unwrap_err().code(),
        Code::OperationNotFound
    );
    assert_eq!(undo(&here, None).unwrap().record.operation.by, "codex");
    assert!(home.store.get_by(&mine).is_err() && home.store.get_by(&theirs).is_ok());
    assert_eq!(
        undo(&here, None).unwrap_err().code(),
        Code::OperationNotFound
    );
    assert!(here.history.purge(home.clock.now()).is_err());
}

#[test]
fn a_chat_sees_the_notes_of_its_own_conversation_and_those_for_everybody() {
    let home = home();
    let conversation = |name: &str| Scope::Conversation(name.into());
    let scopes = [
        Scope::Global,
        conversation("work"),
        conversation("global"),
        conversation("other"),
        agent_scope("claude"),
        Scope::Project("ours".into()),
    ];
    let ids = scopes.map(|scope| write_memory(&home, &format!("for {scope}"), scope));
    let chat = home.restrict_to_chat(&"work".parse().expect("an id"));
    assert_eq!(
        ids.map(|id| read(&chat, &id).is_ok()),
        [true, true, true, false, false, false]
    );
    let everything = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: None,
    };
    assert_eq!(list(&chat, &Filter::all(), &everything).unwrap().total, 3);
}
