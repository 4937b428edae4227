//! Checks that proposals wait for a review.

use chrono::TimeDelta;

use super::{all, draft, found, put, query};
use crate::{
    AcceptOptions, Acceptance, AgentName, Category, Code, Draft, Filter, ListOrder, MemoryStoreExt,
    MergeOptions, PageRequest, Patch, Phase, ProposalFilter, ProposedAction, Query, Reminder,
    ReminderQuery, ReviewPolicy, Scope, SecretPolicy, Services, StaleProposals, Tags, View,
    WritePolicy, accept, backlinks, delete, link, list, merge, proposal, proposals, read, reject,
    search, tag, undo, update, write,
};

const OPTIONS: AcceptOptions = AcceptOptions {
    category: None,
    stale: StaleProposals::Refuse,
    secrets: SecretPolicy::Refuse,
    expected: None,
};

/// Returns the services of an agent whose changes need a review.
fn agent(services: &Services, name: &str) -> Services {
    let review = ReviewPolicy {
        default: WritePolicy::Propose,
        rules: Vec::new(),
    };
    let agent = Some(name.parse::<AgentName>().expect("a name"));
    Services {
        review,
        ..services.clone()
    }
    .restrict_to(&View {
        agent,
        project: None,
        ..View::default()
    })
}

/// Writes `draft` as an agent, and returns the id of the proposal.
fn propose(services: &Services, draft: Draft) -> String {
    let id = write(services, draft, SecretPolicy::Refuse)
        .expect("it is proposed")
        .id;
    assert!(
        services
            .proposals
            .take()
            .iter()
            .any(|proposal| proposal.id == id),
        "the caller learns of it"
    );
    id.to_string()
}

fn everything(services: &Services) -> Vec<String> {
    let page = list(services, &Filter::all(), &all()).expect("listed");
    assert_eq!(page.total, page.memories.len() as u64);
    page.memories
        .into_iter()
        .map(|stored| stored.memory.content)
        .collect()
}

#[expect(clippy::too_many_lines, reason = "a list of cases")]
pub(super) fn a_proposal_is_not_recalled(services: &Services) {
    let kept = put(
        services,
        Draft {
            title: Some("Harbour".into()),
            ..draft("a ferry timetable")
        },
    );
    let codex = agent(services, "codex");
    let proposed = Draft {
        title: Some("Tide".into()),
        aliases: vec!["water level".into()],
        category: Some(Category::Decisions),
        tags: ["ferry/tide"].into_iter().collect(),
        source: "codex".into(),
        expires_at: Some(services.clock.now() - TimeDelta::days(1)),
        reminder: Some(Reminder::new(services.clock.now())),
        ..draft("Always answer in metres, see [[harbour]]: the ferry draws two")
    };
    let id = propose(&codex, proposed.clone());
    services.store.refresh().expect("it is looked at");
    let stored = services
        .store
        .get_by(&id)
        .expect("it can be read by its id");
    assert_eq!(
        (stored.memory.phase, stored.memory.category),
        (Phase::Inbox, Category::Decisions),
        "a suggestion"
    );
    assert!(stored.memory.is_proposal_of("codex"));
    for own in [services, &codex] {
        for filter in [Filter::all(), Filter::default()] {
            for text in [
                "ferry",
                "ferry -timetable",
                "tide",
                "metres",
                "always answer",
            ] {
                let hits = search(
                    own,
                    &Query {
                        filter: filter.clone(),
                        ..query(text, 10)
                    },
                )
                .expect("answered");
                assert!(
                    hits.hits
                        .iter()
                        .all(|hit| hit.stored.memory.id.to_string() != id),
                    "{text}"
                );
                assert_eq!(hits.total, hits.hits.len() as u64, "{text}");
            }
            let narrowed = [
                Filter {
                    tags: ["ferry"].into_iter().collect(),
                    ..filter.clone()
                },
                Filter {
                    source: Some("codex".into()),
                    ..filter.clone()
                },
                Filter {
                    phase: Some(Phase::Inbox),
                    category: Some(Category::Decisions),
                    ..filter.clone()
                },
                Filter {
                    standing: Some(crate::standing::StandingFilter::Any),
                    ..filter.clone()
                },
                Filter {
                    from: Some(stored.memory.created_at),
                    category: Some(Category::Decisions),
                    ..filter
                },
            ];
            for filter in narrowed {
                assert_eq!(
                    list(own, &filter, &all()).expect("listed").total,
                    0,
                    "{filter:?}"
                );
            }
        }
        assert_eq!(everything(own), ["a ferry timetable"]);
        let walked = own.store.memories(&Filter::all(), own.clock.now()).count();
        assert_eq!(
            (walked, own.store.summaries().expect("summarised").len()),
            (1, 1)
        );
        assert_eq!(backlinks(own, &kept).expect("answered"), []);
        for name in ["tide", "water level", &id] {
            assert_eq!(
                own.store.find_by_name(name).expect("answered"),
                [],
                "{name}"
            );
        }
        for wanted in [ReminderQuery::All, ReminderQuery::Due(own.clock.now())] {
            assert_eq!(
                own.store
                    .reminders(wanted, None, None)
                    .expect("answered")
                    .total,
                0
            );
        }
        let lacking = own
            .store
            .memories_without_vector("model")
            .expect("answered");
        // A store without vectors lists none.
        assert!(lacking.iter().all(|id| id.to_string() == kept));
        let hash = stored.memory.content_hash();
        assert_eq!(
            own.store
                .by_content(&hash, &stored.memory.scope)
                .expect("answered"),
            []
        );
    }
    let only = Filter {
        proposals: ProposalFilter::Only,
        ..Filter::default()
    };
    for order in [ListOrder::Created, ListOrder::Title, ListOrder::Useful] {
        let page = list(services, &only, &PageRequest { order, ..all() }).expect("listed");
        assert_eq!((page.total, page.memories.len()), (1, 1));
    }
    assert_eq!(
        search(
            services,
            &Query {
                filter: only,
                ..query("tide", 10)
            }
        )
        .expect("answered")
        .total,
        0,
        "it has no words"
    );
    // The same proposal is stored once, and the person may write the text.
    assert_eq!(
        write(&codex, proposed, SecretPolicy::Refuse)
            .expect("recognised")
            .id
            .to_string(),
        id
    );
    assert_eq!(proposals(services).expect("listed").len(), 1);
    assert!(
        write(
            services,
            draft(&stored.memory.content),
            SecretPolicy::Refuse
        )
        .expect("written")
        .created
    );
}

pub(super) fn an_accepted_proposal_is_a_memory(services: &Services) {
    let codex = agent(services, "codex");
    let category = Some(Category::Decisions);
    let id = propose(
        &codex,
        Draft {
            category,
            tags: ["tide"].into_iter().collect(),
            ..draft("the ferry leaves at seven")
        },
    );
    let result = accept(services, &id, OPTIONS).expect("accepted");
    assert_eq!(
        (result.id.to_string(), result.acceptance),
        (id.clone(), Acceptance::Written)
    );
    let stored = read(services, &id).expect("it is there");
    assert_eq!(
        (stored.memory.phase, stored.memory.category),
        (Phase::Organized, Category::Decisions)
    );
    assert_eq!(
        (
            stored.memory.proposal.as_ref(),
            stored.memory.source.as_str()
        ),
        (None, "codex")
    );
    assert_eq!(stored.path, result.path);
    assert_eq!(found(services, "ferry"), ["the ferry leaves at seven"]);
    undo(services, None).expect("one undo reverts it");
    assert!(
        services
            .store
            .get_by(&id)
            .expect("it waits again")
            .memory
            .is_proposal()
    );
    assert_eq!(found(services, "ferry"), Vec::<String>::new());
    // A memory with the same text receives the new fields.
    let same = put(services, draft("the ferry leaves at seven"));
    let result = accept(
        services,
        &id,
        AcceptOptions {
            category: Some(Category::People),
            ..OPTIONS
        },
    )
    .expect("accepted");
    assert_eq!(
        (result.id.to_string(), result.acceptance),
        (same.clone(), Acceptance::Merged)
    );
    let merged = services.store.get_by(&same).expect("it is there").memory;
    assert_eq!(
        (merged.tags.as_slice(), merged.category),
        (["tide".to_owned()].as_slice(), Category::People)
    );
    assert_eq!(everything(services), ["the ferry leaves at seven"]);
    // A proposal can be merged into another memory.
    let more = propose(
        &codex,
        draft("the ferry leaves at seven\non Sundays at nine"),
    );
    let merged = merge(
        services,
        &more,
        &same,
        MergeOptions::default(),
        SecretPolicy::Refuse,
    )
    .expect("merged")
    .memory;
    assert_eq!(
        merged.content,
        "the ferry leaves at seven\n\non Sundays at nine"
    );
    assert_eq!(proposals(services).expect("listed"), []);
    undo(services, None).expect("one undo reverts it");
    assert_eq!(proposals(services).expect("listed").len(), 1);
    // Without a category, an accepted note stays in the inbox.
    let plain = propose(&codex, draft("the harbour has two piers"));
    accept(services, &plain, OPTIONS).expect("accepted");
    assert_eq!(
        services
            .store
            .get_by(&plain)
            .expect("it is there")
            .memory
            .phase,
        Phase::Inbox
    );
    let filed = AcceptOptions {
        category: Some(Category::Project),
        ..OPTIONS
    };
    assert_eq!(
        accept(services, &plain, filed).expect("filed").acceptance,
        Acceptance::Filed
    );
    assert_eq!(
        accept(services, &plain, filed)
            .expect_err("it is filed")
            .code(),
        Code::InvalidInput
    );
}

pub(super) fn a_proposed_change_waits_for_its_acceptance(services: &Services) {
    let id = put(
        services,
        Draft {
            category: Some(Category::Decisions),
            ..draft("the ferry leaves at seven")
        },
    );
    let other = put(services, draft("the harbour has two piers"));
    let before = [&id, &other].map(|id| services.store.get_by(id).expect("it is there"));
    let codex = agent(services, "codex");
    let patch = Patch {
        content: Some("the ferry leaves at eight".into()),
        ..Patch::default()
    };
    update(&codex, &id, &patch, None, SecretPolicy::Refuse).expect("proposed");
    tag(&codex, &other, ["pier"].iter().collect(), Tags::default()).expect("proposed");
    link(&codex, &id, &other).expect("proposed");
    delete(&codex, &other).expect("proposed");
    let submitted: Vec<_> = codex.proposals.take();
    let actions: Vec<&str> = submitted
        .iter()
        .map(|proposal| proposal.action.as_str())
        .collect();
    assert_eq!(actions, ["update", "update", "update", "delete"]);
    let after = [&id, &other].map(|id| services.store.get_by(id).expect("it is there"));
    assert_eq!(after, before, "nothing has changed");
    let ids: Vec<String> = submitted
        .iter()
        .map(|proposal| proposal.id.to_string())
        .collect();
    let waiting = proposal(services, &ids[0]).expect("it waits");
    assert!(
        matches!(waiting.proposal.action, ProposedAction::Update(target) if target.id.to_string() == id)
    );
    assert_eq!(
        (
            waiting.is_stale,
            waiting.target.map(|target| target.memory.content)
        ),
        (false, Some(before[0].memory.content.clone()))
    );
    // Each acceptance is one operation.
    let result = accept(services, &ids[0], OPTIONS).expect("accepted");
    assert_eq!(
        (result.id.to_string(), result.acceptance, result.path),
        (id.clone(), Acceptance::Updated, before[0].path.clone())
    );
    let updated = services.store.get_by(&id).expect("it is there").memory;
    assert_eq!(
        (updated.content.as_str(), updated.version, updated.category),
        ("the ferry leaves at eight", 2, Category::Decisions)
    );
    undo(services, None).expect("undone");
    assert_eq!(
        services
            .store
            .get_by(&id)
            .expect("it is there")
            .memory
            .content,
        before[0].memory.content
    );
    accept(services, &ids[2], OPTIONS).expect("the link is accepted");
    let links = |id: &str| services.store.get_by(id).expect("it is there").memory.links;
    assert_eq!(
        (links(&id).len(), links(&other).len()),
        (1, 1),
        "links go both ways"
    );
    undo(services, None).expect("undone");
    assert_eq!(
        accept(services, &ids[3], OPTIONS)
            .expect("accepted")
            .acceptance,
        Acceptance::Deleted
    );
    assert_eq!(
        services
            .store
            .get_by(&other)
            .expect_err("it is deleted")
            .code(),
        Code::MemoryNotFound
    );
    assert_eq!(
        accept(services, &ids[1], OPTIONS)
            .expect_err("its memory is deleted")
            .code(),
        Code::MemoryNotFound
    );
    undo(services, None).expect("undone");
    assert_eq!(
        accept(services, &ids[1], OPTIONS)
            .expect("accepted")
            .acceptance,
        Acceptance::Updated
    );
    assert_eq!(
        services
            .store
            .get_by(&other)
            .expect("it is there")
            .memory
            .tags
            .as_slice(),
        ["pier"]
    );
}

pub(super) fn a_proposed_deletion_leaves_the_reminders_of_the_memory(services: &Services) {
    let id = put(services, draft("the ferry leaves at seven"));
    let of = Some(id.parse().expect("an id"));
    let reminder = Some(Reminder {
        of,
        ..Reminder::new(services.clock.now())
    });
    // The reminder is in a scope in which the agent writes directly.
    let own = Draft {
        reminder,
        category: Some(Category::Reminders),
        scope: Scope::Agent("codex".into()),
        ..draft("take it")
    };
    let own = put(services, own);
    let review = ReviewPolicy {
        default: WritePolicy::Direct,
        rules: vec!["codex global propose".parse().expect("a rule")],
    };
    let view = View {
        agent: Some("codex".parse().expect("a name")),
        project: None,
        ..View::default()
    };
    let codex = Services {
        review,
        ..services.clone()
    }
    .restrict_to(&view);
    delete(&codex, &id).expect("proposed");
    let proposed = codex.proposals.take();
    assert_eq!(proposed.len(), 1);
    assert!(
        services.store.get_by(&own).is_ok() && services.store.get_by(&id).is_ok(),
        "nothing is removed"
    );
    accept(services, &proposed[0].id.to_string(), OPTIONS).expect("accepted");
    assert!(services.store.get_by(&own).is_err() && services.store.get_by(&id).is_err());
}

pub(super) fn a_stale_proposal_is_refused(services: &Services) {
    let id = put(services, draft("the ferry leaves at seven"));
    let codex = agent(services, "codex");
    let patch = |text: &str| Patch {
        content: Some(text.into()),
        ..Patch::default()
    };
    update(
        &codex,
        &id,
        &patch("the ferry leaves at eight"),
        None,
        SecretPolicy::Refuse,
    )
    .expect("proposed");
    let proposed = codex.proposals.take()[0].id.to_string();
    update(
        services,
        &id,
        &patch("the ferry leaves at nine"),
        None,
        SecretPolicy::Refuse,
    )
    .expect("updated");
    assert!(proposal(services, &proposed).expect("it waits").is_stale);
    assert_eq!(
        accept(services, &proposed, OPTIONS)
            .expect_err("it is stale")
            .code(),
        Code::Conflict
    );
    let content = || {
        services
            .store
            .get_by(&id)
            .expect("it is there")
            .memory
            .content
    };
    assert_eq!(content(), "the ferry leaves at nine");
    let overwrite = AcceptOptions {
        stale: StaleProposals::Overwrite,
        ..OPTIONS
    };
    accept(services, &proposed, overwrite).expect("accepted");
    assert_eq!(content(), "the ferry leaves at eight");
    undo(services, None).expect("undone");
    crate::edit_proposal(
        services,
        &proposed,
        "the ferry leaves at ten",
        None,
        SecretPolicy::Refuse,
    )
    .expect("edited");
    accept(services, &proposed, OPTIONS)
        .expect("an edited proposal is based on the current version");
    assert_eq!(content(), "the ferry leaves at ten");
}

pub(super) fn rejected_content_is_not_proposed_again(services: &Services) {
    let (codex, gemini) = (agent(services, "codex"), agent(services, "gemini"));
    let id = propose(&codex, draft("the user likes tea"));
    assert_eq!(
        reject(services, &id, None)
            .expect("rejected")
            .memory
            .content,
        "the user likes tea"
    );
    assert_eq!(
        services
            .store
            .get_by(&id)
            .expect_err("it is in the trash")
            .code(),
        Code::MemoryNotFound
    );
    let refusal = |own: &Services, text: &str| {
        write(own, draft(text), SecretPolicy::Refuse).map_err(|error| error.code())
    };
    for own in [&codex, &gemini] {
        assert_eq!(
            refusal(own, "the user  likes tea\n").expect_err("it was rejected"),
            Code::ProposalRejected
        );
        assert_eq!(own.proposals.take(), []);
    }
    services
        .history
        .purge(services.clock.now() + TimeDelta::days(1))
        .expect("purged");
    assert_eq!(
        refusal(&codex, "the user likes tea").expect_err("it is remembered"),
        Code::ProposalRejected
    );
    let kept = put(services, draft("the user likes tea"));
    assert_eq!(
        found(services, "tea"),
        ["the user likes tea"],
        "a person may write it"
    );
    // A rejected deletion is remembered as well.
    delete(&codex, &kept).expect("proposed");
    let deletion = codex.proposals.take()[0].id.to_string();
    reject(services, &deletion, None).expect("rejected");
    assert_eq!(
        delete(&codex, &kept).expect_err("it was rejected").code(),
        Code::ProposalRejected
    );
    undo(services, None).expect("undone");
    delete(&codex, &kept).expect("the same proposal waits");
    assert!(!codex.proposals.take()[0].is_new);
}

pub(super) fn a_proposal_belongs_to_its_agent(services: &Services) {
    let (codex, gemini) = (agent(services, "codex"), agent(services, "gemini"));
    let id = propose(&codex, draft("the user likes tea"));
    for refused in [
        read(&gemini, &id).expect_err("it is not in its view"),
        delete(&gemini, &id).expect_err("it is not in its view"),
        accept(&gemini, &id, OPTIONS).expect_err("it is not in its view"),
        reject(&gemini, &id, None).expect_err("it is not in its view"),
    ] {
        assert_eq!(refused.code(), Code::MemoryNotFound);
    }
    let kept = put(services, draft("the user likes cake"));
    assert_eq!(
        link(&gemini, &kept, &id)
            .expect_err("it is not in its view")
            .code(),
        Code::MemoryNotFound
    );
    for own in [services, &codex] {
        assert_eq!(
            link(own, &kept, &id)
                .expect_err("nothing refers to a proposal")
                .code(),
            Code::InvalidInput
        );
    }
    // The person may be looking at the text, so the agent cannot change it.
    let before = services.store.get_by(&id).expect("it waits");
    let patch = Patch {
        content: Some("the user likes green tea".into()),
        category: Some(Category::People),
        ..Patch::default()
    };
    assert_eq!(
        update(&codex, &id, &patch, None, SecretPolicy::Refuse)
            .expect_err("it waits")
            .code(),
        Code::InvalidInput
    );
    assert_eq!(
        tag(&codex, &id, ["tea"].iter().collect(), Tags::default())
            .expect_err("it waits")
            .code(),
        Code::InvalidInput
    );
    assert_eq!(services.store.get_by(&id).expect("it waits"), before);
    assert_eq!(codex.proposals.take(), []);
    // The equal proposal of another agent is one of its own, which its agent alone withdraws.
    let equal = propose(&gemini, draft("the user likes tea"));
    assert_ne!(equal, id);
    delete(&gemini, &equal).expect("it deletes its proposal");
    assert_eq!(services.store.get_by(&id).expect("it waits"), before);
    assert_eq!(
        accept(&codex, &id, OPTIONS)
            .expect_err("only a person accepts")
            .code(),
        Code::InvalidInput
    );
    assert!(
        services
            .store
            .get_by(&id)
            .expect("it waits")
            .memory
            .is_proposal_of("codex")
    );
    // It may delete it, and take back what it proposed; it cannot undo what took effect.
    let other = propose(&codex, draft("the user likes coffee"));
    undo(&codex, None).expect("it takes its proposal back");
    assert_eq!(
        services
            .store
            .get_by(&other)
            .expect_err("it is gone")
            .code(),
        Code::MemoryNotFound
    );
    delete(&codex, &id).expect("it deletes its proposal");
    assert_eq!(
        services.store.get_by(&id).expect_err("it is gone").code(),
        Code::MemoryNotFound
    );
    let direct = services.restrict_to(&View {
        agent: Some("codex".parse().expect("a name")),
        project: None,
        ..View::default()
    });
    let written = put(&direct, draft("the user likes soup"));
    assert_eq!(
        undo(&codex, None).expect_err("it needs a review").code(),
        Code::InvalidInput
    );
    assert!(services.store.get_by(&written).is_ok());
}

pub(super) fn a_decision_applies_to_the_version_that_the_person_saw(services: &Services) {
    let codex = agent(services, "codex");
    let id = propose(&codex, draft("the user likes tea"));
    let kept = put(services, draft("the user likes cake"));
    let seen = Some(services.store.get_by(&id).expect("it waits").stamp);
    crate::edit_proposal(
        services,
        &id,
        "the user likes soup",
        None,
        SecretPolicy::Refuse,
    )
    .expect("edited");
    let refusals = [
        accept(
            services,
            &id,
            AcceptOptions {
                expected: seen,
                ..OPTIONS
            },
        )
        .expect_err("it is another version"),
        reject(services, &id, seen).expect_err("it is another version"),
        merge(
            services,
            &id,
            &kept,
            MergeOptions {
                item: seen,
                ..MergeOptions::default()
            },
            SecretPolicy::Refuse,
        )
        .expect_err("it is another version"),
    ];
    assert_eq!(refusals.map(|error| error.code()), [Code::Conflict; 3]);
    let expected = Some(services.store.get_by(&id).expect("it waits").stamp);
    accept(
        services,
        &id,
        AcceptOptions {
            expected,
            ..OPTIONS
        },
    )
    .expect("accepted");
    // The agent cannot restore the former text of its proposal either.
    let other = propose(&codex, draft("the user likes rice"));
    let change = Patch {
        content: Some("the user likes beans".into()),
        ..Patch::default()
    };
    let by_agent = Services {
        actor: "codex".into(),
        ..services.clone()
    };
    update(&by_agent, &other, &change, None, SecretPolicy::Refuse)
        .expect("an older version of the program allowed it");
    assert_eq!(
        undo(&codex, None).expect_err("it needs a review").code(),
        Code::InvalidInput
    );
    assert_eq!(
        services
            .store
            .get_by(&other)
            .expect("it waits")
            .memory
            .content,
        "the user likes beans"
    );
}

pub(super) fn an_edited_stale_proposal_keeps_the_other_fields_of_the_memory(services: &Services) {
    let id = put(services, draft("the ferry leaves at seven"));
    let codex = agent(services, "codex");
    let content = |text: &str| Patch {
        content: Some(text.into()),
        ..Patch::default()
    };
    update(
        &codex,
        &id,
        &content("the ferry leaves at eight"),
        None,
        SecretPolicy::Refuse,
    )
    .expect("proposed");
    let proposed = codex.proposals.take()[0].id.to_string();
    let own = Patch {
        title: Some(Some("Ferry".into())),
        pinned: Some(true),
        add_tags: ["tide"].iter().collect(),
        ..content("the ferry leaves at nine")
    };
    update(services, &id, &own, None, SecretPolicy::Refuse).expect("updated");
    crate::edit_proposal(
        services,
        &proposed,
        "the ferry leaves at ten",
        None,
        SecretPolicy::Refuse,
    )
    .expect("edited");
    accept(services, &proposed, OPTIONS).expect("accepted");
    let memory = services.store.get_by(&id).expect("it is there").memory;
    assert_eq!(
        (memory.content.as_str(), memory.title.as_deref()),
        ("the ferry leaves at ten", Some("Ferry"))
    );
    assert_eq!(
        (memory.pinned, memory.tags.as_slice()),
        (true, ["tide".to_owned()].as_slice())
    );
    // A proposal that is not stale keeps its own fields.
    tag(&codex, &id, ["pier"].iter().collect(), Tags::default()).expect("proposed");
    let proposed = codex.proposals.take()[0].id.to_string();
    crate::edit_proposal(
        services,
        &proposed,
        "the ferry leaves at noon",
        None,
        SecretPolicy::Refuse,
    )
    .expect("edited");
    accept(services, &proposed, OPTIONS).expect("accepted");
    let memory = services.store.get_by(&id).expect("it is there").memory;
    assert_eq!(
        (memory.content.as_str(), memory.tags.as_slice().len()),
        ("the ferry leaves at noon", 2)
    );
}

pub(super) fn the_text_before_an_edit_is_rejected_as_well(services: &Services) {
    let codex = agent(services, "codex");
    let id = propose(&codex, draft("the user likes tea"));
    crate::edit_proposal(
        services,
        &id,
        "the user likes green tea",
        None,
        SecretPolicy::Refuse,
    )
    .expect("edited");
    reject(services, &id, None).expect("rejected");
    for text in ["the user likes tea", "The user likes green\u{200b} tea!"] {
        let refused =
            write(&codex, draft(text), SecretPolicy::Refuse).expect_err("it was rejected");
        assert_eq!(refused.code(), Code::ProposalRejected, "{text}");
    }
}

pub(super) fn a_link_across_policies_waits_as_a_whole(services: &Services) {
    let review = ReviewPolicy {
        default: WritePolicy::Direct,
        rules: vec!["codex global propose".parse().expect("a rule")],
    };
    let view = View {
        agent: Some("codex".parse().expect("a name")),
        project: None,
        ..View::default()
    };
    let codex = Services {
        review,
        ..services.clone()
    }
    .restrict_to(&view);
    let direct = put(
        services,
        Draft {
            scope: Scope::Agent("codex".into()),
            ..draft("the ferry leaves at seven")
        },
    );
    let reviewed = put(services, draft("the harbour has two piers"));
    let links = || {
        [&direct, &reviewed].map(|id| {
            services
                .store
                .get_by(id)
                .expect("it is there")
                .memory
                .links
                .len()
        })
    };
    for (first, second) in [(&direct, &reviewed), (&reviewed, &direct)] {
        link(&codex, first, second).expect("proposed");
        let proposed = codex.proposals.take();
        assert_eq!(
            (proposed.len(), links()),
            (1, [0, 0]),
            "nothing has changed"
        );
        accept(services, &proposed[0].id.to_string(), OPTIONS).expect("accepted");
        assert_eq!(links(), [1, 1]);
        undo(services, None).expect("undone");
        reject(services, &proposed[0].id.to_string(), None).expect("rejected");
    }
}

pub(super) fn an_acceptance_without_effect_is_refused_or_reported(services: &Services) {
    let codex = agent(services, "codex");
    let past = Some(services.clock.now() - TimeDelta::days(1));
    let expired = propose(
        &codex,
        Draft {
            expires_at: past,
            ..draft("the ferry leaves at seven")
        },
    );
    assert_eq!(
        accept(services, &expired, OPTIONS)
            .expect_err("it has expired")
            .code(),
        Code::InvalidInput
    );
    let same = propose(
        &codex,
        Draft {
            title: Some("Piers".into()),
            ..draft("the harbour has two piers")
        },
    );
    let id = put(
        services,
        Draft {
            title: Some("Harbour".into()),
            ..draft("the harbour has two piers")
        },
    );
    let result = accept(services, &same, OPTIONS).expect("accepted");
    assert_eq!(
        (result.acceptance, result.ignored.as_slice()),
        (Acceptance::Merged, ["title"].as_slice())
    );
    delete(&codex, &id).expect("proposed");
    let deletion = codex.proposals.take()[0].id.to_string();
    delete(services, &id).expect("deleted");
    let error = accept(services, &deletion, OPTIONS).expect_err("its memory is deleted");
    assert!(
        error
            .to_string()
            .ends_with("that the proposal changes was deleted"),
        "{error}"
    );
    // A merge checks for credentials, as an acceptance does.
    let key = "the key is ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let (note, into) = (
        put_secret(services, key),
        put(services, draft("the user likes tea")),
    );
    let refused = merge(
        services,
        &note,
        &into,
        MergeOptions::default(),
        SecretPolicy::Refuse,
    )
    .expect_err("it is a credential");
    assert_eq!(refused.code(), Code::SecretFound);
    merge(
        services,
        &note,
        &into,
        MergeOptions::default(),
        SecretPolicy::Keep,
    )
    .expect("merged");
}

/// Stores a text with a credential, and returns its id.
fn put_secret(services: &Services, text: &str) -> String {
    write(services, draft(text), SecretPolicy::Keep)
        .expect("written")
        .id
        .to_string()
}
