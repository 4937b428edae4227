//! The conformance suite of [`crate::MemoryStore`].

mod facets;
mod proposals;
mod scopes;

use std::collections::HashSet;

use chrono::TimeDelta;

use crate::secret::Checked;
use crate::standing::{StandingFilter, StandingKind};
use crate::{
    Category, Change, ChangeOutcome, Code, Draft, Duplicates, Filter, Lifetime, ListOrder, Memory,
    MemoryStoreExt, PageRequest, Patch, Phase, Query, Ranking, Refinement, RefinementUnit,
    Reminder, ReminderQuery, Scope, SecretPolicy, Services, SpeakerRole, StoreError, Tags, Verb,
    backlinks, delete, link, list, read, resolve_links, resolve_wikilink, search, tag, unlink,
    update, upgrade, write,
};

/// Checks the contract of [`crate::MemoryStore`]. `make` returns services over a new, empty store.
///
/// # Panics
/// If the contract is violated.
pub fn store_suite(make: &dyn Fn() -> Services) {
    check_rules!(
        make;
        what_is_written_is_read,
        the_same_text_is_kept_once_in_a_scope,
        an_operation_is_done_whole_or_not_at_all,
        a_stale_change_is_refused,
        changes_count_versions,
        references_find_one_memory,
        lists_are_filtered_ordered_and_cut,
        searches_find_words_of_every_script,
        misspelled_words_are_replaced_by_words_of_visible_memories,
        filters_apply_before_the_cut,
        scopes::what_lies_elsewhere_is_not_there,
        scopes::what_lies_elsewhere_is_not_called_so,
        scopes::what_lies_elsewhere_is_no_reminder_and_nobody_speaks_there,
        standing_memories_are_listed_and_searched,
        what_is_over_is_left_out,
        whoever_speaks_is_known,
        links_go_both_ways,
        the_id_of_what_is_gone_leads_to_what_took_its_place,
        accesses_are_counted_and_folded,
        origins_and_texts_are_found,
        a_memory_has_the_names_of_all_its_files,
        a_link_leads_to_the_name_in_its_case_before_others,
        reminders_are_found_by_when_they_are_due,
        facets::counts_by_attribute_follow_every_change,
        facets::best_matches_and_the_rest_are_all_matches,
        facets::what_has_ended_is_not_counted,
        facets::memories_with_a_tag_are_found_newest_first,
        proposals::a_proposal_is_not_recalled,
        proposals::an_accepted_proposal_is_a_memory,
        proposals::a_proposed_change_waits_for_its_acceptance,
        proposals::a_proposed_deletion_leaves_the_reminders_of_the_memory,
        proposals::a_stale_proposal_is_refused,
        proposals::rejected_content_is_not_proposed_again,
        proposals::a_proposal_belongs_to_its_agent,
        proposals::a_decision_applies_to_the_version_that_the_person_saw,
        proposals::an_edited_stale_proposal_keeps_the_other_fields_of_the_memory,
        proposals::the_text_before_an_edit_is_rejected_as_well,
        proposals::a_link_across_policies_waits_as_a_whole,
        proposals::an_acceptance_without_effect_is_refused_or_reported,
    );
}

fn misspelled_words_are_replaced_by_words_of_visible_memories(services: &Services) {
    let billing = put(services, draft("Postgres stores the billing"));
    let agent = Scope::Agent("claude".into());
    let boiling = put(services, draft("boiling water").scope(agent.clone()));
    let corrected = |services: &Services, query: Query| {
        let found = search(services, &query).expect("it is searched");
        found.corrected.map(|own| (own.text, own.is_searched))
    };
    let meant = |text: &str| Some((text.to_owned(), true));
    let everywhere = Query::new("postgress biling");
    let answer = corrected(services, everywhere.clone());
    assert_eq!(answer, meant("postgres billing"));
    assert_eq!(
        corrected(services, Query::new("biling").scope(agent)),
        meant("boiling")
    );
    delete(services, &boiling).expect("it is deleted");
    let ranked = search(services, &everywhere).expect("it is searched").hits;
    assert_eq!(ranked[0].memory.id.to_string(), billing);
}

fn draft(content: &str) -> Draft {
    Draft::new(content)
}

fn put(services: &Services, draft: Draft) -> String {
    write(services, draft, SecretPolicy::Refuse)
        .expect("a draft is written")
        .id
        .to_string()
}

fn all() -> PageRequest {
    PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: None,
    }
}

fn query(text: &str, limit: usize) -> Query {
    Query {
        text: text.to_owned(),
        filter: Filter::default(),
        limit,
        ranking: Ranking::default(),
    }
}

fn found(services: &Services, text: &str) -> Vec<String> {
    let found = search(services, &query(text, 10)).expect("a search is answered");
    found
        .hits
        .into_iter()
        .map(|hit| hit.stored.memory.content)
        .collect()
}

fn what_is_written_is_read(services: &Services) {
    let wanted = Draft {
        title: Some("深色 mode".into()),
        aliases: vec!["dark".into()],
        category: Some(Category::Preferences),
        scope: Scope::Agent("claude".into()),
        tags: ["ui", "偏好"].into_iter().collect(),
        source: "claude".into(),
        ..draft("user prefers dark mode\n\n---\nnot front matter: at all\n")
    };
    let id = put(services, wanted.clone());
    let kept = read(services, &id).expect("it is there");
    assert_eq!(kept.problem, None);
    let Memory {
        id: kept_id,
        created_at,
        updated_at,
        ..
    } = kept.memory;
    assert_eq!(
        kept.memory,
        Memory {
            updated_at,
            ..wanted.into_memory(kept_id, created_at)
        }
    );
    assert_eq!(
        (kept.memory.phase, kept.memory.version),
        (Phase::Organized, 1)
    );
    assert_eq!(
        services
            .store
            .get_by("00000000")
            .expect_err("there is none")
            .code(),
        Code::MemoryNotFound
    );
    for refused in [" \n", "a\0b"] {
        let refused =
            write(services, draft(refused), SecretPolicy::Refuse).expect_err("nothing to remember");
        assert_eq!(refused.code(), Code::InvalidInput);
    }
    let emptied = Patch {
        content: Some(String::new()),
        ..Patch::default()
    };
    let refused = update(services, &id, &emptied, None, SecretPolicy::Refuse)
        .expect_err("nothing left to remember");
    assert_eq!(refused.code(), Code::InvalidInput);
}

fn the_same_text_is_kept_once_in_a_scope(services: &Services) {
    let first = write(services, draft("once"), SecretPolicy::Refuse).expect("written");
    let second = write(services, draft("once"), SecretPolicy::Refuse).expect("recognised");
    assert!(first.created && !second.created);
    assert_eq!((first.id, &first.path), (second.id, &second.path));
    let elsewhere = Draft {
        scope: Scope::Agent("claude".into()),
        ..draft("once")
    };
    assert!(
        write(services, elsewhere, SecretPolicy::Refuse)
            .expect("another scope")
            .created
    );
    delete(services, &first.id.to_string()).expect("deleted");
    assert!(
        write(services, draft("once"), SecretPolicy::Refuse)
            .expect("free again")
            .created
    );
}

fn an_operation_is_done_whole_or_not_at_all(services: &Services) {
    let id = put(services, draft("kept"));
    let stored = services.store.get_by(&id).expect("it is there");
    let mut set = services.change_set(Verb::Import);
    set.duplicates = Duplicates::Keep;
    let new = draft("new").into_memory(services.ids.memory_id(), set.operation.at);
    set.changes.push(Change::Create {
        memory: Box::new(new.clone()),
        front_matter: String::new(),
    });
    set.changes.push(Change::Create {
        memory: Box::new(stored.memory.clone()),
        front_matter: String::new(),
    });
    let refused = services
        .store
        .commit(Checked::allowed(&set))
        .expect_err("the id is taken");
    assert_eq!(refused.code(), Code::Conflict);
    assert!(
        matches!(
            services.store.get(&new.id),
            Err(StoreError::NotFound { .. })
        ),
        "nothing of it was done"
    );
    set.changes.pop();
    let outcomes = services
        .store
        .commit(Checked::allowed(&set))
        .expect("now it is done");
    assert!(matches!(outcomes.as_slice(), [ChangeOutcome::Kept { id, .. }] if *id == new.id));
}

fn a_stale_change_is_refused(services: &Services) {
    let id = put(services, draft("first"));
    let stale = services.store.get_by(&id).expect("it is there").stamp;
    let patch = |text: &str| Patch {
        content: Some(text.to_owned()),
        ..Patch::default()
    };
    update(
        services,
        &id,
        &patch("second"),
        Some(stale),
        SecretPolicy::Refuse,
    )
    .expect("not stale yet");
    let refused = update(
        services,
        &id,
        &patch("third"),
        Some(stale),
        SecretPolicy::Refuse,
    )
    .expect_err("stale now");
    assert_eq!(refused.code(), Code::Conflict);
    assert_eq!(
        services
            .store
            .get_by(&id)
            .expect("it is there")
            .memory
            .content,
        "second"
    );
}

fn changes_count_versions(services: &Services) {
    let id = put(services, draft("a fact"));
    let tags = |tags: &[&str]| tags.iter().collect::<Tags>();
    let tagged = tag(services, &id, tags(&["a", "b"]), Tags::default())
        .expect("tagged")
        .memory;
    assert_eq!(
        (tagged.tags.as_slice(), tagged.version),
        (&["a".to_owned(), "b".to_owned()][..], 2)
    );
    let same = tag(services, &id, tags(&["A"]), tags(&["c"]))
        .expect("nothing to do")
        .memory;
    assert_eq!(same, tagged, "a change that changes nothing is none");
    let fewer = tag(services, &id, Tags::default(), tags(&["a"]))
        .expect("tagged")
        .memory;
    assert_eq!(
        (fewer.tags.as_slice(), fewer.version),
        (&["b".to_owned()][..], 3)
    );
    let filed = upgrade(services, &id, Some(Category::Lessons)).expect("filed");
    assert_eq!(
        (
            filed.memory.phase,
            filed.memory.category,
            filed.memory.version
        ),
        (Phase::Organized, Category::Lessons, 4)
    );
    assert!(
        filed.path.starts_with("categories/lessons/"),
        "{}",
        filed.path
    );
    assert_eq!(
        upgrade(services, &id, None)
            .expect("filed already")
            .memory
            .version,
        4
    );
}

fn references_find_one_memory(services: &Services) {
    let (first, second) = (put(services, draft("one")), put(services, draft("two")));
    let found = services
        .store
        .find(&first[..8])
        .expect("eight digits are enough");
    assert_eq!(found.to_string(), first);
    assert_eq!(
        services
            .store
            .find(&second)
            .expect("the whole id")
            .to_string(),
        second
    );
    assert_eq!(
        services.store.find(" ").expect_err("no name at all").code(),
        Code::InvalidInput
    );
    assert_eq!(
        services.store.find("zzzz").expect_err("no such id").code(),
        Code::MemoryNotFound
    );
}

fn lists_are_filtered_ordered_and_cut(services: &Services) {
    for number in 0..5 {
        let category = Some(if number % 2 == 0 {
            Category::Habits
        } else {
            Category::Skills
        });
        put(
            services,
            Draft {
                category,
                tags: [format!("n/{number}")].iter().collect(),
                ..draft(&format!("number {number}"))
            },
        );
    }
    let contents = |filter: &Filter, slice: &PageRequest| {
        let page = list(services, filter, slice).expect("listed");
        (
            page.memories
                .into_iter()
                .map(|stored| stored.memory.content)
                .collect::<Vec<_>>(),
            page.total,
        )
    };
    let (newest_first, total) = contents(
        &Filter::default(),
        &PageRequest {
            offset: 1,
            limit: Some(2),
            ..all()
        },
    );
    assert_eq!(
        (newest_first, total),
        (vec!["number 3".to_owned(), "number 2".to_owned()], 5)
    );
    let habits = Filter {
        category: Some(Category::Habits),
        ..Filter::default()
    };
    assert_eq!(contents(&habits, &all()).1, 3);
    let tagged = |tag: &str| Filter {
        tags: [tag].iter().collect(),
        ..Filter::default()
    };
    assert_eq!(
        (
            contents(&tagged("N"), &all()).1,
            contents(&tagged("n/3"), &all()).1
        ),
        (5, 1)
    );
    let (by_title, _) = contents(
        &Filter::default(),
        &PageRequest {
            order: ListOrder::Title,
            limit: Some(1),
            ..all()
        },
    );
    assert_eq!(by_title, ["number 0"]);
    let (mut newest, total) = contents(&Filter::default(), &all());
    let (oldest, _) = contents(
        &Filter::default(),
        &PageRequest {
            order: ListOrder::Oldest,
            limit: Some(usize::try_from(total).expect("few")),
            ..all()
        },
    );
    newest.reverse();
    assert_eq!(oldest, newest);
    let oldest_first: Vec<_> = services
        .store
        .memories(&habits, services.clock.now())
        .map(|stored| stored.expect("read").memory.content)
        .collect();
    assert_eq!(oldest_first, ["number 0", "number 2", "number 4"]);
}

fn searches_find_words_of_every_script(services: &Services) {
    for text in [
        "The user prefers dark mode",
        "用户喜欢深色模式",
        "ユーザーは暗い画面が好き",
        "사용자는 어두운 화면을 좋아한다",
        "用Rust写的工具",
    ] {
        put(services, draft(text));
    }
    for (asked, answer) in [
        ("preferred modes", "The user prefers dark mode"),
        ("深色", "用户喜欢深色模式"),
        ("式", "用户喜欢深色模式"),
        ("画面", "ユーザーは暗い画面が好き"),
        ("화면", "사용자는 어두운 화면을 좋아한다"),
        ("rust", "用Rust写的工具"),
        ("写", "用Rust写的工具"),
    ] {
        assert_eq!(
            found(services, asked).first().map(String::as_str),
            Some(answer),
            "{asked}"
        );
    }
    assert_eq!(found(services, "nowhere"), Vec::<String>::new());
    let refused =
        search(services, &query("?", 10)).expect_err("nothing to search for is no empty answer");
    assert_eq!(refused.code(), Code::InvalidInput);
}

fn filters_apply_before_the_cut(services: &Services) {
    for number in 0..30 {
        put(services, draft(&format!("tea tea tea {number}")));
    }
    put(
        services,
        Draft {
            category: Some(Category::Habits),
            ..draft("some tea with a long explanation of why it is drunk at all")
        },
    );
    let filter = Filter {
        category: Some(Category::Habits),
        ..Filter::default()
    };
    let found = search(
        services,
        &Query {
            filter,
            ..query("tea", 3)
        },
    )
    .expect("answered");
    assert_eq!((found.hits.len(), found.total), (1, 1));
}

fn standing_memories_are_listed_and_searched(services: &Services) {
    put(services, draft("we use metric units in the garden"));
    put(
        services,
        Draft {
            role: Some(SpeakerRole::Assistant),
            ..draft("Always answer in metric units, I say")
        },
    );
    let instruction = put(services, draft("Always answer in metric units."));
    let preference = put(services, draft("I prefer short units of work"));
    let filter = Filter {
        standing: Some(StandingFilter::Any),
        ..Filter::default()
    };
    let ids: HashSet<String> = list(services, &filter, &all())
        .expect("listed")
        .memories
        .into_iter()
        .map(|stored| stored.memory.id.to_string())
        .collect();
    assert_eq!(
        ids,
        HashSet::from([instruction.clone(), preference.clone()])
    );
    for (kind, id) in [
        (StandingKind::Instruction, &instruction),
        (StandingKind::Preference, &preference),
    ] {
        let filter = Filter {
            standing: Some(StandingFilter::Only(kind)),
            ..Filter::default()
        };
        let listed = list(services, &filter, &all()).expect("listed").memories;
        let ids: Vec<String> = listed
            .iter()
            .map(|stored| stored.memory.id.to_string())
            .collect();
        assert_eq!(&ids, std::slice::from_ref(id), "{kind}");
    }
    let found = search(
        services,
        &Query {
            filter,
            ..query("metric", 10)
        },
    )
    .expect("answered");
    assert_eq!(
        found
            .hits
            .iter()
            .map(|hit| hit.stored.memory.id.to_string())
            .collect::<Vec<_>>(),
        [instruction]
    );
}

fn what_is_over_is_left_out(services: &Services) {
    let past = services.clock.now() - TimeDelta::days(1);
    let expired = Draft {
        expires_at: Some(past),
        ..draft("parking ticket")
    };
    put(services, expired);
    let old = put(services, draft("parking spot 12"));
    let new = put(services, draft("parking spot 14"));
    let superseded_by = Some(Some(new.parse().expect("an id")));
    update(
        services,
        &old,
        &Patch {
            superseded_by,
            ..Patch::default()
        },
        None,
        SecretPolicy::Refuse,
    )
    .expect("superseded");
    assert_eq!(found(services, "parking"), ["parking spot 14"]);
    let filter = Filter {
        lifetime: Lifetime::All,
        ..Filter::default()
    };
    assert_eq!(
        search(
            services,
            &Query {
                filter,
                ..query("parking", 10)
            }
        )
        .expect("answered")
        .total,
        3
    );
    assert_eq!(
        list(services, &Filter::default(), &all())
            .expect("listed")
            .total,
        1
    );
}

fn whoever_speaks_is_known(services: &Services) {
    let said = |source: &str, scope: Scope| {
        put(
            services,
            Draft {
                source: source.into(),
                scope,
                ..draft(&format!("{source} likes to paint"))
            },
        );
    };
    said("Anna Berg", Scope::Conversation("holidays".into()));
    said("import", Scope::Agent("Claude".into()));
    said("bob", Scope::Global);
    services.store.refresh().expect("it is looked at");
    let names = ["paint", "anna", "bob", "berg", "claude"].map(str::to_owned);
    assert_eq!(
        services
            .store
            .speakers(&names, None)
            .expect("it is looked up"),
        ["anna", "berg", "claude"]
    );
}

fn links_go_both_ways(services: &Services) {
    let first = put(
        services,
        Draft {
            title: Some("Harbour".into()),
            ..draft("a ferry timetable")
        },
    );
    let second = put(
        services,
        draft("deployed with [[harbour]], see [[nothing]]"),
    );
    assert_eq!(
        backlinks(services, &first).expect("answered").len(),
        1,
        "a wikilink leads to it"
    );
    let report = resolve_links(services).expect("resolved");
    assert_eq!(
        (report.resolved, report.unresolved, report.updated),
        (1, 1, 2)
    );
    let links = |id: &str| {
        services
            .store
            .get_by(id)
            .expect("it is there")
            .memory
            .links
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (links(&first), links(&second)),
        (vec![second.clone()], vec![first.clone()])
    );
    assert_eq!(resolve_links(services).expect("again").updated, 0);
    unlink(services, &first, &second).expect("parted");
    assert_eq!((links(&first), links(&second)), (vec![], vec![]));
    link(services, &second, &first).expect("linked");
    assert_eq!(
        (links(&first), links(&second)),
        (vec![second.clone()], vec![first.clone()])
    );
    let heading = put(services, draft("\n# Night ferry\n\nleaves at ten"));
    let titled = put(
        services,
        Draft {
            title: Some("Day ferry".into()),
            ..draft("# Timetable\n\nsee [[night ferry]] and [[timetable]]")
        },
    );
    assert_eq!(resolve_links(services).expect("resolved").unresolved, 2);
    assert_eq!(
        (links(&heading), links(&titled)),
        (vec![titled.clone()], vec![heading.clone()]),
        "a heading is the name of a memory without a title"
    );
    assert_eq!(
        link(services, &first, &first)
            .expect_err("to itself")
            .code(),
        Code::InvalidInput
    );
}

fn the_id_of_what_is_gone_leads_to_what_took_its_place(services: &Services) {
    let old = put(services, draft("the ferry leaves at seven"));
    let from = put(services, draft(&format!("see [[{old}]] for the ferry")));
    let new = put(services, draft("the ferry leaves at eight"));
    let stored = services.store.get_by(&new).expect("it is there");
    let supersedes = vec![old.parse().expect("an id")];
    let kept = stored.memory.id;
    let memory = Memory {
        supersedes,
        version: stored.memory.version + 1,
        ..stored.memory
    };
    let mut refinement = Refinement::new(services, Verb::Dream);
    let changes = vec![Change::Replace {
        expected: stored.stamp,
        memory: Box::new(memory),
    }];
    refinement
        .commit(vec![RefinementUnit {
            changes,
            ..RefinementUnit::default()
        }])
        .expect("it takes its place");
    let leading = |to: &str| {
        backlinks(services, to)
            .expect("answered")
            .into_iter()
            .map(|stored| stored.memory.id.to_string())
    };
    assert_eq!(
        (leading(&old).collect::<Vec<_>>(), leading(&new).count()),
        (vec![from.clone()], 0),
        "it is still there"
    );
    delete(services, &old).expect("deleted");
    assert_eq!(
        leading(&new).collect::<Vec<_>>(),
        std::slice::from_ref(&from)
    );
    assert_eq!(resolve_links(services).expect("resolved").unresolved, 0);
    assert_eq!(
        services
            .store
            .get_by(&from)
            .expect("it is there")
            .memory
            .links,
        [kept]
    );
}

fn accesses_are_counted_and_folded(services: &Services) {
    let id = put(services, draft("often read"));
    for _ in 0..3 {
        read(services, &id).expect("read");
    }
    assert_eq!(
        services
            .store
            .get_by(&id)
            .expect("it is there")
            .memory
            .access_count,
        3
    );
    tag(services, &id, ["x"].iter().collect(), Tags::default()).expect("tagged");
    assert_eq!(
        services
            .store
            .get_by(&id)
            .expect("it is there")
            .memory
            .access_count,
        3
    );
}

fn origins_and_texts_are_found(services: &Services) {
    let origin = crate::Origin {
        source: "obsidian".into(),
        root: "/vault".into(),
        path: "a/b.md".into(),
        hash: None,
    };
    let id = put(
        services,
        Draft {
            origin: Some(origin.clone()),
            ..draft("from a vault")
        },
    );
    let by_origin = services
        .store
        .by_origin(&origin, &Scope::Global)
        .expect("answered")
        .expect("found");
    assert_eq!(by_origin.memory.id.to_string(), id);
    let elsewhere = crate::Origin {
        path: "a/c.md".into(),
        ..origin
    };
    assert_eq!(
        services
            .store
            .by_origin(&elsewhere, &Scope::Global)
            .expect("answered"),
        None
    );
    let by_content = services
        .store
        .by_content(&by_origin.memory.content_hash(), &Scope::Global)
        .expect("answered");
    assert_eq!(by_content, [by_origin.memory.id]);
}

fn a_memory_has_the_names_of_all_its_files(services: &Services) {
    let origin = |path: &str| crate::Origin {
        source: "obsidian".into(),
        root: "/vault".into(),
        path: path.into(),
        hash: None,
    };
    let new = |content: &str, path: &str| {
        let draft = Draft {
            origin: Some(origin(path)),
            ..draft(content)
        };
        draft.into_memory(services.ids.memory_id(), services.clock.now())
    };
    let same = Memory {
        other_origins: vec![origin("sub/Same A.md")],
        ..new("a text in two files", "Same A.md")
    };
    let linking = new("see [[sub/Same A]] and [[Same A]]", "Other.md");
    let mut set = services.change_set(Verb::Ingest);
    set.changes = [&same, &linking]
        .map(|memory| Change::Create {
            memory: Box::new(memory.clone()),
            front_matter: String::new(),
        })
        .to_vec();
    crate::commit::commit(services, &set, SecretPolicy::Refuse).expect("committed");
    assert_eq!(backlinks(services, "[[Same A]]").expect("found").len(), 1);
    let from = services.store.get(&linking.id).expect("it is there");
    for target in ["sub/Same A", "Same A", "/sub/Same A.md"] {
        let found = resolve_wikilink(services.store.as_ref(), target, &from).expect(target);
        assert_eq!(found, Some(same.id), "{target}");
    }
    let elsewhere = resolve_wikilink(services.store.as_ref(), "else/Same A", &from);
    assert_eq!(elsewhere.expect("answered"), None);
    assert_eq!(resolve_links(services).expect("resolved").unresolved, 0);
}

fn a_link_leads_to_the_name_in_its_case_before_others(services: &Services) {
    let titled = |title: &str, content: &str| {
        let title = Some(title.to_owned());
        put(
            services,
            Draft {
                title,
                ..draft(content)
            },
        )
    };
    let names = ["OpenClaw", "openclaw", "\u{c4}RGER", "\u{c4}rger"];
    let texts = ["a tool", "an animal", "a feeling", "another one"];
    let ids: Vec<_> = (0..4).map(|at| titled(names[at], texts[at])).collect();
    let from = put(services, draft("see [[OpenClaw]] and [[\u{c4}rger]]"));
    let from = services
        .store
        .get(&from.parse().expect("an id"))
        .expect("it is there");
    let resolved = |target: &str| {
        resolve_wikilink(services.store.as_ref(), target, &from)
            .expect(target)
            .map(|id| id.to_string())
    };
    for (name, id) in names.iter().zip(&ids) {
        assert_eq!(resolved(name).as_ref(), Some(id), "{name}");
        backlinks(services, name).expect(name);
    }
    assert_eq!(resolved("A\u{308}rger").as_ref(), Some(&ids[3]));
    assert!(resolved("OPENCLAW").is_some());
    let count = |name: &str| backlinks(services, name).expect(name).len();
    assert_eq!(names.map(count), [1, 0, 0, 1]);
    assert!(matches!(
        backlinks(services, "OPENCLAW"),
        Err(StoreError::Ambiguous { .. })
    ));
}

fn reminders_are_found_by_when_they_are_due(services: &Services) {
    let source = put(services, draft("the ferry leaves at seven"))
        .parse()
        .expect("an id");
    let now = services.clock.now();
    let at = |hours: i64| Reminder::new(now + TimeDelta::hours(hours));
    let shown = |reminder: Reminder| Reminder {
        notified_at: Some(now),
        ..reminder
    };
    for (text, reminder) in [
        ("later", at(1)),
        ("shown", shown(at(-2))),
        (
            "done",
            Reminder {
                done_at: Some(now),
                ..shown(at(-4))
            },
        ),
        (
            "of the ferry",
            Reminder {
                of: Some(source),
                ..at(-3)
            },
        ),
        ("now", at(0)),
    ] {
        put(
            services,
            Draft {
                category: Some(Category::Reminders),
                reminder: Some(reminder),
                ..draft(text)
            },
        );
    }
    let found = |wanted: ReminderQuery, limit: Option<usize>| {
        let page = services
            .store
            .reminders(wanted, None, limit)
            .expect("they are looked up");
        (
            page.memories
                .into_iter()
                .map(|stored| stored.memory.content)
                .collect::<Vec<_>>(),
            page.total,
        )
    };
    assert_eq!(
        found(ReminderQuery::All, None).0,
        ["done", "of the ferry", "shown", "now", "later"]
    );
    assert_eq!(
        found(ReminderQuery::Open, Some(2)),
        (vec!["of the ferry".into(), "shown".into()], 4)
    );
    assert_eq!(
        found(ReminderQuery::Due(now), None).0,
        ["of the ferry", "shown", "now"]
    );
    assert_eq!(
        found(ReminderQuery::ToBeShown(now), None).0,
        ["of the ferry", "now"]
    );
    assert_eq!(found(ReminderQuery::Of(source), None).0, ["of the ferry"]);
    let memory = services
        .store
        .reminders(ReminderQuery::Of(source), None, None)
        .expect("found")
        .memories
        .remove(0)
        .memory;
    let reminder = memory.reminder.clone().map(|reminder| Reminder {
        done_at: Some(now),
        ..reminder
    });
    update(
        services,
        &memory.id.to_string(),
        &Patch {
            reminder,
            ..Patch::default()
        },
        None,
        SecretPolicy::Refuse,
    )
    .expect("done");
    assert_eq!(
        found(ReminderQuery::Open, None).0,
        ["shown", "now", "later"]
    );
    delete(services, &memory.id.to_string()).expect("deleted");
    assert_eq!(
        found(ReminderQuery::Of(source), None).0,
        Vec::<String>::new()
    );
}
