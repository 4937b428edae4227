//! The inbox: proposals, unfiled notes and suggestions.

use std::sync::atomic::Ordering;

use memory_core::{
    Category, Draft, Filter, MemoryStoreExt, Patch, Phase, ReviewPolicy, SecretPolicy, Services,
    View, WritePolicy, delete, proposals, update, write,
};

use super::server::WebTestServer;

/// Returns the services of an agent whose changes are proposals.
fn codex(server: &WebTestServer) -> Services {
    let review = ReviewPolicy {
        default: WritePolicy::Propose,
        rules: Vec::new(),
    };
    let view = View {
        agent: Some("codex".parse().expect("a name")),
        project: None,
        ..View::default()
    };
    Services {
        review,
        ..server.services.clone()
    }
    .restrict_to(&view)
}

/// Returns the values of the fields `item` of a page, in its order, each once.
fn items(page: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for value in page
        .split("name=\"item\" value=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
    {
        if !items.iter().any(|own| own == value) {
            items.push(value.to_owned());
        }
    }
    items
}

#[test]
fn proposals_and_unfiled_notes_wait_with_their_differences() {
    let server = WebTestServer::start();
    assert!(server.get("/inbox").body.contains("The inbox is empty"));
    let id = server.write(Draft::new("The user drinks green tea").category(Category::Preferences));
    let agent = codex(&server);
    let patch = Patch {
        content: Some("The user drinks black tea <b>".into()),
        ..Patch::default()
    };
    update(&agent, &id, &patch, None, SecretPolicy::Refuse).unwrap();
    write(
        &agent,
        Draft::new("Deploy on <script>Fridays").title("Deploy"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    server.write(Draft::new("A note without a category"));
    let page = server.get("/inbox").body;
    for text in [
        "2 proposals wait",
        "1 note has",
        "<bdi dir=\"auto\">codex</bdi>",
        "- The user drinks <b>green</b> tea</del>",
        "+ The user drinks <b>black</b> tea<b> &lt;b&gt;</b></ins>",
        "Deploy on &lt;script&gt;Fridays",
        "Unfiled note",
        "data-key=\"a\"",
        "data-key=\"r\"",
        "data-key=\"e\"",
        "data-key=\"m\"",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    assert_eq!(items(&page).len(), 3);
    assert!(!page.contains("<script>Fridays"));
}

#[test]
fn items_are_accepted_and_rejected_one_by_one_or_together() {
    let server = WebTestServer::start();
    let agent = codex(&server);
    for text in ["one", "two", "three"] {
        write(&agent, Draft::new(text), SecretPolicy::Refuse).unwrap();
    }
    let note = server.write(Draft::new("a note"));
    let found = items(&server.get("/inbox").body);
    let one = [
        ("item", found[0].as_str()),
        ("action", "accept"),
        ("category", "knowledge"),
        ("next", "/inbox"),
    ];
    let page = server.post_and_follow("/inbox/decide", &one).body;
    assert!(
        page.contains("2 proposals wait") && page.contains("undo-bar"),
        "{page}"
    );
    let both = [
        ("item", found[1].as_str()),
        ("item", &found[2]),
        ("action", "reject"),
        ("next", "/inbox"),
    ];
    let page = server.post_and_follow("/inbox/decide", &both).body;
    assert!(page.contains("0 proposals wait"));
    let undo = page
        .split("name=\"operation\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    server.post_and_follow("/undo", &[("operation", undo), ("next", "/inbox")]);
    assert_eq!(
        proposals(&server.services).unwrap().len(),
        2,
        "the undo restores both"
    );
    let file = [
        ("item", found[3].as_str()),
        ("action", "accept"),
        ("category", "people"),
    ];
    server.post_and_follow("/inbox/decide", &file);
    let filed = server.services.store.get_by(&note).unwrap().memory;
    assert_eq!(
        (filed.phase, filed.category),
        (Phase::Organized, Category::People)
    );
}

#[test]
fn a_decision_applies_to_the_version_that_the_person_saw() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("a note"));
    let found = items(&server.get("/inbox").body);
    let patch = Patch {
        content: Some("another text".into()),
        ..Patch::default()
    };
    update(&server.services, &id, &patch, None, SecretPolicy::Refuse).unwrap();
    for (action, status) in [("accept", 409), ("reject", 409), ("burn", 400)] {
        let sent = [
            ("item", found[0].as_str()),
            ("action", action),
            ("category", "people"),
        ];
        assert_eq!(
            server.post("/inbox/decide", &sent).status,
            status,
            "{action}"
        );
    }
    for item in ["", "x", "x:y"] {
        assert_eq!(
            server
                .post("/inbox/decide", &[("item", item), ("action", "accept")])
                .status,
            400,
            "{item}"
        );
    }
    assert_eq!(
        server.services.store.get_by(&id).unwrap().memory.content,
        "another text"
    );
}

#[test]
fn a_stale_item_among_several_leaves_the_others_decided() {
    let server = WebTestServer::start();
    let (one, other) = (
        server.write(Draft::new("one")),
        server.write(Draft::new("other")),
    );
    let found = items(&server.get("/inbox").body);
    let patch = Patch {
        content: Some("changed".into()),
        ..Patch::default()
    };
    update(&server.services, &one, &patch, None, SecretPolicy::Refuse).unwrap();
    let both = [
        ("item", found[0].as_str()),
        ("item", &found[1]),
        ("action", "accept"),
        ("category", "people"),
        ("next", "/inbox"),
    ];
    let page = server.post_and_follow("/inbox/decide", &both).body;
    assert!(page.contains("1 selected item was not changed"), "{page}");
    assert_eq!(
        server
            .services
            .store
            .get_by(&other)
            .unwrap()
            .memory
            .category,
        Category::People
    );
    assert_eq!(
        server.services.store.get_by(&one).unwrap().memory.phase,
        Phase::Inbox
    );
}

#[test]
fn accepting_a_proposal_saves_the_edited_text() {
    let server = WebTestServer::start();
    write(
        &codex(&server),
        Draft::new("Green is the colour"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let found = items(&server.get("/inbox").body);
    let accept = [
        ("item", found[0].as_str()),
        ("content", "Green tea\r\nis preferred"),
        ("action", "accept"),
        ("category", "preferences"),
        ("next", "/inbox"),
    ];
    server.post_and_follow("/inbox/decide", &accept);
    assert!(proposals(&server.services).unwrap().is_empty());
    let all = server
        .services
        .store
        .memories(&Filter::all(), server.services.clock.now());
    let texts: Vec<_> = all.map(|stored| stored.unwrap().memory.content).collect();
    assert_eq!(texts, ["Green tea\nis preferred"]);
}

/// Returns the memory and its version that a preview of a merge confirms.
fn into_version(preview: &str) -> String {
    let field = preview
        .split("name=\"into\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    field
        .unwrap_or_else(|| panic!("no version in {preview}"))
        .to_owned()
}

#[test]
fn a_proposal_is_edited_and_merged() {
    let server = WebTestServer::start();
    let target = server.write(Draft::new("The user drinks tea").category(Category::Preferences));
    let agent = codex(&server);
    write(
        &agent,
        Draft::new("Green is the colour"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let found = items(&server.get("/inbox").body);
    let edit = [
        ("item", found[0].as_str()),
        ("content", "Green tea\r\nis preferred"),
        ("next", "/inbox"),
    ];
    let page = server.post_and_follow("/inbox/edit", &edit).body;
    assert!(page.contains("Green tea"));
    assert_eq!(
        proposals(&server.services).unwrap()[0]
            .stored
            .memory
            .content,
        "Green tea\nis preferred"
    );
    let into = format!("http://127.0.0.1:1/memories/{target}");
    let found = items(&page);
    let preview = server
        .post_and_follow(
            "/memories/merge",
            &[
                ("item", found[0].as_str()),
                ("into", &into),
                ("next", "/inbox"),
            ],
        )
        .body;
    for text in [
        "Merge into <bdi dir=\"auto\">The user drinks tea",
        "+ Green tea</ins>",
        "Resulting text",
        "<p dir=\"auto\">The user drinks tea</p>",
    ] {
        assert!(preview.contains(text), "{text} is missing in {preview}");
    }
    assert_eq!(
        proposals(&server.services).unwrap().len(),
        1,
        "the preview changes nothing"
    );
    let into = into_version(&preview);
    let confirm = |into: &str| {
        server.post(
            "/memories/merge",
            &[
                ("item", found[0].as_str()),
                ("into", into),
                ("next", "/inbox"),
            ],
        )
    };
    let patch = Patch {
        add_tags: ["tea"].into_iter().collect(),
        ..Patch::default()
    };
    update(
        &server.services,
        &target,
        &patch,
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    assert_eq!(
        confirm(&into).status,
        409,
        "the memory differs from the preview"
    );
    let preview = server
        .post_and_follow(
            "/memories/merge",
            &[("item", found[0].as_str()), ("into", &target)],
        )
        .body;
    assert_eq!(confirm(&into_version(&preview)).status, 303);
    let again = server.get(&format!("/memories/merge?item={}&into={target}", found[0]));
    assert_eq!(
        (again.status, again.headers["location"].as_str()),
        (303, "/memories?notice=item-decided")
    );
    assert!(proposals(&server.services).unwrap().is_empty());
    let merged = server
        .services
        .store
        .get_by(&target)
        .unwrap()
        .memory
        .content;
    assert!(
        merged.contains("drinks tea") && merged.contains("is preferred"),
        "{merged}"
    );
}

#[test]
fn an_accepted_proposal_replaces_a_similar_memory_and_one_undo_reverts_both() {
    let server = WebTestServer::start();
    let old =
        server.write(Draft::new("The user prefers dark mode").category(Category::Preferences));
    write(
        &codex(&server),
        Draft::new("The user prefers light mode"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let page = server.get("/inbox").body;
    assert!(
        page.contains(&format!("name=\"replaces\" value=\"{old}\"")),
        "{page}"
    );
    let item = items(&page).remove(0);
    let fields = [
        ("item", item.as_str()),
        ("replaces", &old),
        ("action", "accept"),
        ("category", "preferences"),
        ("next", "/inbox"),
    ];
    let page = server.post_and_follow("/inbox/decide", &fields).body;
    assert!(
        server
            .services
            .store
            .get_by(&old)
            .unwrap()
            .memory
            .superseded_by
            .is_some()
    );
    let done = page
        .split("name=\"operation\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    server.post_and_follow("/undo", &[("operation", done), ("next", "/inbox")]);
    assert_eq!(
        server
            .services
            .store
            .get_by(&old)
            .unwrap()
            .memory
            .superseded_by,
        None
    );
    assert_eq!(proposals(&server.services).unwrap().len(), 1);
}

#[test]
fn a_stale_proposal_is_overwritten_only_by_its_own_button() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("green tea").category(Category::Preferences));
    let patch = |text: &str| Patch {
        content: Some(text.into()),
        ..Patch::default()
    };
    update(
        &codex(&server),
        &id,
        &patch("black tea"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    update(
        &server.services,
        &id,
        &patch("white tea"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    let page = server.get("/inbox").body;
    assert!(
        page.contains("was changed after the agent made this proposal")
            && page.contains("Overwrite")
    );
    let found = items(&page);
    assert_eq!(
        server
            .post(
                "/inbox/decide",
                &[("item", found[0].as_str()), ("action", "accept")]
            )
            .status,
        409
    );
    server.post_and_follow(
        "/inbox/decide",
        &[
            ("item", found[0].as_str()),
            ("action", "accept"),
            ("stale", "overwrite"),
        ],
    );
    assert_eq!(
        server.services.store.get_by(&id).unwrap().memory.content,
        "black tea"
    );
}

#[test]
fn a_proposed_deletion_shows_the_memory_and_cannot_be_edited() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("green tea").category(Category::Preferences));
    delete(&codex(&server), &id).unwrap();
    let page = server.get("/inbox").body;
    assert!(
        page.contains("Proposes to delete:")
            && page.contains("<del><bdi dir=\"auto\">green tea</bdi></del>")
            && !page.contains("data-key=\"e\"")
    );
    let found = items(&page);
    server.post_and_follow(
        "/inbox/decide",
        &[
            ("item", found[0].as_str()),
            ("action", "accept"),
            ("next", "/inbox"),
        ],
    );
    assert!(server.services.store.get_by(&id).is_err());
}

#[test]
fn a_decided_proposal_is_named_as_one_and_is_no_deleted_memory() {
    let server = WebTestServer::start();
    let agent = codex(&server);
    let harbour =
        server.write(Draft::new("The harbour opens at six").category(Category::Knowledge));
    let patch = Patch {
        content: Some("The harbour opens at seven".into()),
        ..Patch::default()
    };
    update(&agent, &harbour, &patch, None, SecretPolicy::Refuse).unwrap();
    write(
        &agent,
        Draft::new("The ferry is blue"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let found = items(&server.get("/inbox").body);
    let decide = |item: &str, action: &str| {
        server
            .post_and_follow(
                "/inbox/decide",
                &[("item", item), ("action", action), ("next", "/inbox")],
            )
            .body
    };
    let page = decide(&found[0], "accept");
    assert!(
        page.contains("Accepted the change of <span class=\"undo-object\"><bdi dir=\"auto\">The harbour opens at seven"),
        "{page}"
    );
    decide(&found[1], "reject");
    let page = server.get("/activity").body;
    for text in [
        "accepted proposal</span>",
        "rejected proposal</span>",
        "Undo (returns it to the inbox)",
        "Proposed a change of",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    assert!(
        !page.contains(">deleted</span>") && !page.contains("2 memories"),
        "{page}"
    );
    let page = server.get("/memories/deleted").body;
    assert!(
        page.contains("Nothing is deleted") && !page.contains("The harbour opens at seven"),
        "{page}"
    );
    let rejected = page.split("not accepted").nth(1).unwrap();
    assert!(
        rejected.contains("The ferry is blue") && rejected.contains("Return to the inbox"),
        "{page}"
    );
    let id = found[1].split(':').next().unwrap();
    assert!(
        server
            .get(&format!("/memories/{id}"))
            .body
            .contains("This proposal was rejected")
    );
    let trash = page
        .split("name=\"trash\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    server.post_and_follow(&format!("/memories/{id}/restore"), &[("trash", trash)]);
    assert_eq!(
        proposals(&server.services).unwrap().len(),
        1,
        "it waits again"
    );
}

#[test]
fn suggestions_are_accepted_and_declined_one_by_one() {
    let server = WebTestServer::start();
    let (one, other) = (
        server.write(Draft::new("Tea is a plant")),
        server.write(Draft::new("Coffee is <b>bold</b>")),
    );
    let page = server.get("/inbox/plan").body;
    assert!(
        page.contains("under knowledge, because the test says so")
            && page.contains("Coffee is &lt;b&gt;bold")
    );
    assert!(
        page.contains("Will go to the trash within 7 days")
            && page.contains("(unchanged in the inbox)"),
        "{page}"
    );
    let page = server
        .post_and_follow("/inbox/plan", &[("key", &one), ("action", "accept")])
        .body;
    assert!(page.contains("undo-bar") && !page.contains("Tea is a plant</bdi></a></h2>"));
    assert_eq!(
        server.services.store.get_by(&one).unwrap().memory.category,
        Category::Knowledge
    );
    let page = server
        .post_and_follow("/inbox/plan", &[("key", &other), ("action", "reject")])
        .body;
    assert!(
        page.contains("No suggestions") && page.contains("1 rejected"),
        "{page}"
    );
    assert_eq!(
        server.services.store.get_by(&other).unwrap().memory.phase,
        Phase::Inbox
    );
    assert!(
        server
            .post_and_follow("/inbox/plan", &[("action", "restore")])
            .body
            .contains("Coffee")
    );
    assert_eq!(
        server
            .post("/inbox/plan", &[("key", "unknown"), ("action", "accept")])
            .status,
        409
    );
}

#[test]
fn the_plan_is_made_again_only_after_a_change() {
    let server = WebTestServer::start();
    server.write(Draft::new("Tea is a plant"));
    let plans = || server.plans.load(Ordering::Relaxed);
    for _ in 0..3 {
        assert!(server.get("/inbox/plan").body.contains("Tea is a plant"));
    }
    assert_eq!(plans(), 1);
    server.write(Draft::new("Coffee is a bean"));
    assert!(server.get("/inbox/plan").body.contains("Coffee is a bean"));
    assert_eq!(plans(), 2);
}

#[test]
fn accepting_files_under_the_preselected_category_and_the_bar_names_it() {
    let server = WebTestServer::start();
    write(
        &codex(&server),
        Draft::new("The user prefers window seats"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let note = server.write(Draft::new("The harbour has two piers"));
    let page = server.get("/inbox").body;
    for text in [
        "<option value=\"preferences\" selected>preferences (suggested)",
        "<option value=\"knowledge\" selected>",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    assert!(!page.contains("No category"), "{page}");
    let found = items(&page);
    let one = [
        ("item", found[0].as_str()),
        ("action", "accept"),
        ("category", "preferences"),
        ("next", "/inbox"),
    ];
    let page = server.post_and_follow("/inbox/decide", &one).body;
    assert!(page.contains("Filed under preferences: <span class=\"undo-object\"><bdi dir=\"auto\">The user prefers"), "{page}");
    assert!(
        page.contains("0 proposals wait") && page.contains("1 note has"),
        "the proposal is no unfiled note: {page}"
    );
    // Several items are filed under the suggestion of each, and those without one are left.
    write(
        &codex(&server),
        Draft::new("The user prefers aisle seats"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let other = server.write(Draft::new("The user prefers tea"));
    let found = items(&server.get("/inbox").body);
    assert_eq!(found.len(), 3);
    let mut all: Vec<(&str, &str)> = found.iter().map(|item| ("item", item.as_str())).collect();
    all.extend([("action", "accept"), ("category", ""), ("next", "/inbox")]);
    let page = server.post_and_follow("/inbox/decide", &all).body;
    for text in [
        "1 item without a suggested category was left",
        "2 items filed under preferences",
        "1 note has",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    let memory = |id: &str| server.services.store.get_by(id).unwrap().memory;
    assert_eq!(
        (memory(&note).phase, memory(&other).category),
        (Phase::Inbox, Category::Preferences)
    );
}

#[test]
fn a_proposal_shows_which_fields_it_changes() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("The harbour opens at six").category(Category::Knowledge));
    let patch = Patch {
        add_tags: ["harbour"].into_iter().collect(),
        pinned: Some(true),
        ..Patch::default()
    };
    update(&codex(&server), &id, &patch, None, SecretPolicy::Refuse).unwrap();
    let page = server.get("/inbox").body;
    for text in [
        "<dt>Tags</dt><dd><del><bdi dir=\"auto\">none</bdi></del> → <ins><bdi dir=\"auto\">harbour</bdi></ins>",
        "<dt>Pinned</dt>",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    assert!(!page.contains("No line differs"), "{page}");
}

#[test]
fn a_new_memory_with_a_known_text_shows_what_it_adds() {
    let server = WebTestServer::start();
    let draft = Draft {
        tags: ["ferry"].into_iter().collect(),
        ..Draft::new("The ferry is blue")
    };
    write(&codex(&server), draft, SecretPolicy::Refuse).unwrap();
    server.write(Draft::new("The ferry is blue").category(Category::Knowledge));
    let page = server.get("/inbox").body;
    assert!(
        page.contains("A memory with the same text exists") && page.contains("<dt>Tags</dt>"),
        "{page}"
    );
}

#[test]
fn the_number_of_waiting_items_is_in_the_navigation() {
    let server = WebTestServer::start();
    assert!(!server.get("/reminders").body.contains("count-badge"));
    write(&codex(&server), Draft::new("one"), SecretPolicy::Refuse).unwrap();
    server.write(Draft::new("a note"));
    assert!(
        server
            .get("/reminders")
            .body
            .contains("<span class=\"count-badge\">2<")
    );
}

#[test]
fn a_proposal_is_decided_on_its_own_page() {
    let server = WebTestServer::start();
    write(
        &codex(&server),
        Draft::new("The user prefers window seats"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let id = proposals(&server.services).unwrap()[0].stored.memory.id;
    let page = server.get(&format!("/memories/{id}")).body;
    for text in [
        "href=\"/inbox\"",
        "value=\"accept\"",
        "value=\"reject\"",
        "Save without accepting",
        "preferences (suggested)",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    for text in [
        ">Move</button>",
        ">Tags</h2>",
        "/delete\"",
        "/graph?memory=",
    ] {
        assert!(!page.contains(text), "{text} is in {page}");
    }
    let item = items(&page);
    server.post_and_follow(
        "/inbox/decide",
        &[
            ("item", item[0].as_str()),
            ("action", "accept"),
            ("category", "preferences"),
        ],
    );
    assert!(
        server
            .get(&format!("/memories/{id}"))
            .body
            .contains(">Move</button>")
    );
}

#[test]
fn a_request_without_a_selected_item_returns_with_a_message() {
    let server = WebTestServer::start();
    server.write(Draft::new("a note"));
    for (path, next) in [
        ("/inbox/decide", "/inbox?page=1"),
        ("/inbox/plan", "/inbox/plan"),
    ] {
        let response = server.post(path, &[("action", "accept"), ("next", next)]);
        assert_eq!(response.status, 303, "{path}");
        assert!(
            response.headers["location"].starts_with(next),
            "{:?}",
            response.headers
        );
        let page = server.get(&response.headers["location"]).body;
        assert!(
            page.contains("nothing was selected") && !page.contains("undo-bar"),
            "{page}"
        );
        assert!(page.contains("data-needs-selection"), "{page}");
        assert!(
            !page.contains("notice=nothing-selected"),
            "the message does not return with the next form: {page}"
        );
    }
    assert!(
        !server
            .get("/inbox?notice=%3Cb%3E")
            .body
            .contains("role=\"alert\""),
        "only known messages are shown"
    );
}

#[test]
fn a_memory_to_merge_into_is_found_by_words() {
    let server = WebTestServer::start();
    let target = server.write(Draft::new("The harbour opens at six").category(Category::Knowledge));
    server.write(Draft::new("Green tea").category(Category::Preferences));
    write(
        &codex(&server),
        Draft::new("The harbour has two piers"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let page = server.get("/inbox").body;
    assert!(
        page.contains("Similar to</span> <a href=\"/memories/") && page.contains("Merge into it"),
        "{page}"
    );
    let item = items(&page)[0].clone();
    let merge = |into: &str| {
        server
            .post_and_follow(
                "/memories/merge",
                &[("item", &item), ("into", into), ("next", "/inbox")],
            )
            .body
    };
    let page = merge("harbour six");
    assert!(
        page.contains("The harbour has two piers")
            && page.contains(&format!("name=\"into\" value=\"{target}\"")),
        "{page}"
    );
    assert!(
        !page.contains("Green tea") && proposals(&server.services).unwrap().len() == 1,
        "nothing is merged yet"
    );
    assert!(
        merge("").contains(&target),
        "without words, the memories with words of the item are listed"
    );
    assert!(merge("nothing-like-this").contains("No memory found"));
    let preview = merge(&target);
    assert_eq!(
        proposals(&server.services).unwrap().len(),
        1,
        "nothing is merged before the confirmation"
    );
    merge(&into_version(&preview));
    let merged = server
        .services
        .store
        .get_by(&target)
        .unwrap()
        .memory
        .content;
    assert!(
        merged.contains("opens at six") && merged.contains("two piers"),
        "{merged}"
    );
}
