//! The page of one memory: reading, editing, conflicts, deletion and undo.

use memory_core::{
    Category, Draft, MemoryStoreExt, Patch, RecallRecord, RecalledId, SecretPolicy, link,
    record_recall, update,
};

use super::server::{WebTestServer, encode_form};

/// Returns the value of a hidden field of a page.
fn hidden<'a>(page: &'a str, name: &str) -> &'a str {
    let start = format!("name=\"{name}\" value=\"");
    page.split(&start)
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap_or_else(|| panic!("{name} is missing in {page}"))
}

fn fields<'a>(version: &'a str, content: &'a str) -> [(&'static str, &'a str); 6] {
    [
        ("version", version),
        ("title", ""),
        ("content", content),
        ("category", "inbox"),
        ("tags", ""),
        ("scope", "global"),
    ]
}

#[test]
fn a_memory_is_shown_with_its_links_history_and_recalls() {
    let server = WebTestServer::start();
    let (tea, kettle) = (
        server.write(Draft::new("# Tea\n\n**Green** tea.").title("Tea")),
        server.write(Draft::new("See [[Tea]]")),
    );
    link(&server.services, &tea, &kettle).unwrap();
    let recall = RecallRecord {
        at: server.services.clock.now(),
        agent: "codex".into(),
        session: None,
        project: None,
        interface: "mcp".into(),
        tool: "memory_search".into(),
        query: Some("which drink?".into()),
        memories: vec![RecalledId::unranked("other"), RecalledId::unranked(&tea)],
        tokens: 9,
    };
    record_recall(server.recalls.as_ref(), recall);
    let page = server.get(&format!("/memories/{tea}")).body;
    for text in [
        "<strong>Green</strong>",
        "Linked from",
        "See [[Tea]]",
        "codex",
        "2 of 2",
        "which drink?",
        "<strong>Linked</strong> by",
        "<strong>Written</strong> by",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    let other = server.get(&format!("/memories/{kettle}")).body;
    assert!(
        other.contains(&format!("href=\"/memories/{tea}\"")),
        "the wikilink leads to the memory"
    );
    assert_eq!(
        server
            .get("/memories/00000000-0000-0000-0000-000000000000")
            .status,
        404
    );
}

#[test]
fn an_edit_changes_only_the_edited_fields_and_can_be_undone() {
    let server = WebTestServer::start();
    let id = server.write(
        Draft::new("green tea\r\nwith milk")
            .tags(["a", "b"])
            .category(Category::Preferences),
    );
    let path = format!("/memories/{id}/edit");
    let form = server.get(&path).body;
    let version = hidden(&form, "version").to_owned();
    let sent = [
        ("version", version.as_str()),
        ("title", ""),
        ("content", "black tea\r\nwith milk"),
        ("category", "preferences"),
        ("tags", "b, c"),
        ("scope", "global"),
    ];
    let page = server.post_and_follow(&path, &sent).body;
    let memory = server.services.store.get_by(&id).unwrap().memory;
    assert_eq!(
        (memory.content.as_str(), memory.tags.as_slice()),
        (
            "black tea\r\nwith milk",
            ["b", "c"].map(str::to_owned).as_slice()
        )
    );
    assert!(
        page.contains("undo-bar") && page.contains("- <b>green</b> tea</del>"),
        "{page}"
    );
    server.post_and_follow(
        "/undo",
        &[
            ("operation", hidden(&page, "operation")),
            ("next", "/memories"),
        ],
    );
    assert_eq!(
        server.services.store.get_by(&id).unwrap().memory.content,
        "green tea\r\nwith milk"
    );
}

#[test]
fn saving_without_a_change_writes_nothing() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("tea"));
    let path = format!("/memories/{id}/edit");
    let form = server.get(&path).body;
    let page = server
        .post_and_follow(&path, &fields(hidden(&form, "version"), "tea"))
        .body;
    assert_eq!(server.services.store.get_by(&id).unwrap().memory.version, 1);
    assert!(!page.contains("undo-bar"));
}

#[test]
fn a_stale_edit_shows_both_versions_and_merges_nothing() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("green tea"));
    let path = format!("/memories/{id}/edit");
    let form = server.get(&path).body;
    let change = Patch {
        content: Some("black tea".into()),
        ..Patch::default()
    };
    update(&server.services, &id, &change, None, SecretPolicy::Keep).unwrap();
    let conflict = server.post(&path, &fields(hidden(&form, "version"), "white tea"));
    assert_eq!(conflict.status, 409);
    assert!(
        conflict
            .body
            .contains("<h1>Changed by <bdi dir=\"auto\">test</bdi>, <time"),
        "{}",
        conflict.body
    );
    assert_eq!(
        conflict.body.matches("Discard").count() + conflict.body.matches("Cancel").count(),
        1
    );
    assert!(conflict.body.contains("black tea") && conflict.body.contains("white tea"));
    assert_eq!(
        server.services.store.get_by(&id).unwrap().memory.content,
        "black tea"
    );
    server.post_and_follow(
        &path,
        &fields(hidden(&conflict.body, "version"), "white tea"),
    );
    assert_eq!(
        server.services.store.get_by(&id).unwrap().memory.content,
        "white tea",
        "the person saw the other version"
    );
}

#[test]
fn a_refused_edit_returns_the_text_to_the_person() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("tea"));
    let path = format!("/memories/{id}/edit");
    let form = server.get(&path).body;
    let secret = "the key is AKIAIOSFODNN7EXAMPLQ";
    let refused = server.post(&path, &fields(hidden(&form, "version"), secret));
    assert!(
        refused.status == 400
            && refused.body.contains("id=\"form-error\"")
            && refused.body.contains(secret),
        "{}",
        refused.body
    );
    assert_eq!(
        server.services.store.get_by(&id).unwrap().memory.content,
        "tea"
    );
}

#[test]
fn tags_category_and_pin_are_changed_by_forms() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("tea").tags(["old"]));
    let memory = || server.services.store.get_by(&id).unwrap().memory;
    server.post_and_follow(&format!("/memories/{id}/tags"), &[("add", "#new, other")]);
    server.post_and_follow(&format!("/memories/{id}/tags"), &[("remove", "old")]);
    assert_eq!(memory().tags.as_slice(), ["new", "other"]);
    server.post_and_follow(
        &format!("/memories/{id}/category"),
        &[("category", "people")],
    );
    assert_eq!(memory().category, Category::People);
    server.post_and_follow(&format!("/memories/{id}/pin"), &[("pinned", "yes")]);
    assert!(memory().pinned);
    let page = server.get(&format!("/memories/{id}")).body;
    assert!(page.contains("Unpin") && page.contains("<option selected>people"));
    assert_eq!(
        server
            .post(&format!("/memories/{id}/category"), &[("category", "x")])
            .status,
        400
    );
}

#[test]
fn a_deleted_memory_is_restored_from_its_page_or_from_the_list() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("green tea"));
    let list = server
        .post_and_follow(&format!("/memories/{id}/delete"), &[])
        .body;
    assert!(list.contains("Deleted") && list.contains("No memories yet"));
    let page = server.get(&format!("/memories/{id}")).body;
    assert!(page.contains("This memory is deleted") && page.contains("green tea"));
    let deleted = server.get("/memories/deleted").body;
    assert!(
        deleted.contains("green tea") && deleted.contains("Deleted by <bdi dir=\"auto\">web</bdi>"),
        "{deleted}"
    );
    server.post_and_follow(
        &format!("/memories/{id}/restore"),
        &[("trash", hidden(&deleted, "trash"))],
    );
    assert_eq!(
        server.services.store.get_by(&id).unwrap().memory.content,
        "green tea"
    );
    assert!(
        server
            .get("/memories/deleted")
            .body
            .contains("Nothing is deleted")
    );
    let page = server.get(&format!("/memories/{id}")).body;
    let offers =
        ["Delete this memory again", "undo its creation"].map(|text| page.matches(text).count());
    assert_eq!(offers, [1, 0], "one undo deletes the memory: {page}");
}

#[test]
fn an_older_change_offers_its_former_version_instead_of_an_undo() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("green tea"));
    for text in ["black tea", "white tea"] {
        let change = Patch {
            content: Some(text.into()),
            ..Patch::default()
        };
        update(&server.services, &id, &change, None, SecretPolicy::Keep).unwrap();
    }
    let page = server.get(&format!("/memories/{id}")).body;
    assert_eq!(
        page.matches("Undo this change</button>").count(),
        1,
        "{page}"
    );
    assert_eq!(
        page.matches("A later change builds on this one.").count(),
        2,
        "{page}"
    );
    assert!(!page.contains("undo its creation"), "{page}");
    let page = server
        .post_and_follow(
            &format!("/memories/{id}/restore"),
            &[("trash", hidden(&page, "trash"))],
        )
        .body;
    assert_eq!(
        server.services.store.get_by(&id).unwrap().memory.content,
        "green tea"
    );
    server.post_and_follow(
        "/undo",
        &[
            ("operation", hidden(&page, "operation")),
            ("next", "/memories"),
        ],
    );
    assert_eq!(
        server.services.store.get_by(&id).unwrap().memory.content,
        "white tea",
        "the restore can be undone"
    );
    let operations: Vec<_> = server
        .services
        .history
        .records()
        .map(|record| record.unwrap().operation.id)
        .collect();
    let refused = server.post(
        "/undo",
        &[
            ("operation", operations.last().unwrap().as_str()),
            ("next", "/memories"),
        ],
    );
    assert_eq!(refused.status, 409);
    assert!(
        refused.body.contains("a later change builds on it")
            && !refused.body.contains("another program"),
        "{}",
        refused.body
    );
}

#[test]
fn the_undo_of_a_creation_is_announced_as_a_deletion() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("green tea"));
    let page = server.get(&format!("/memories/{id}")).body;
    assert!(
        page.contains("Delete this memory (undo its creation)"),
        "{page}"
    );
    let activity = server.get("/activity").body;
    assert!(activity.contains("Undo (deletes it)"), "{activity}");
    let page = server
        .post_and_follow(
            "/undo",
            &[
                ("operation", hidden(&activity, "operation")),
                ("next", "/memories"),
            ],
        )
        .body;
    assert!(
        page.contains("Undone, which deleted")
            && page.contains("undo-object\"><bdi dir=\"auto\">green tea"),
        "{page}"
    );
    let page = server.get(&format!("/memories/{id}")).body;
    assert!(
        page.contains("This memory is deleted") && page.contains("Restore this memory"),
        "{page}"
    );
}

#[test]
fn an_error_page_leads_back() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("tea"));
    let referer = format!("http://{}/memories?q=tea&done=1", server.place);
    let fields = encode_form(&[("csrf", server.csrf()), ("category", "x")]);
    let headers = [("Cookie", server.cookie()), ("Referer", referer.as_str())];
    let refused = server.send(
        "POST",
        &format!("/memories/{id}/category"),
        &headers,
        &fields,
    );
    assert_eq!(refused.status, 400);
    assert!(
        refused
            .body
            .contains("href=\"/memories?q=tea\">Back to the previous page"),
        "{}",
        refused.body
    );
    let headers = [
        ("Cookie", server.cookie()),
        ("Referer", "http://elsewhere.test//evil.test/"),
    ];
    let missing = server.send(
        "GET",
        "/memories/00000000-0000-0000-0000-000000000000",
        &headers,
        "",
    );
    assert!(
        missing.status == 404 && !missing.body.contains("evil"),
        "{}",
        missing.body
    );
}

#[test]
fn attributes_are_explained() {
    let server = WebTestServer::start();
    let id = server.write(
        Draft::new("tea")
            .source("obsidian")
            .scope("agent:codex".parse().unwrap()),
    );
    let page = server.get(&format!("/memories/{id}")).body;
    for text in [
        "only the agent codex",
        "who receives it",
        "the program it came from",
        "Uses by agents and people",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
}

#[test]
fn similar_memories_and_previews_of_links_show_the_start_of_a_memory() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("The ferry <leaves> at seven\nfrom the old pier"));
    let other = server.write(Draft::new("The ferry returns at nine"));
    let page = server.get(&format!("/memories/{id}")).body;
    assert!(
        page.contains(&format!("<a href=\"/memories/{id}/similar\">")),
        "{page}"
    );
    let uses = || {
        server
            .services
            .store
            .get_by(&id)
            .unwrap()
            .memory
            .access_count
    };
    let before = uses();
    let page = server.get(&format!("/memories/{other}/similar")).body;
    assert!(
        page.contains("The ferry &lt;leaves&gt; at seven") && page.contains("similar</span>"),
        "{page}"
    );
    let page = server.get(&format!("/memories/{id}/preview")).body;
    assert!(
        page.contains("id=\"preview\"")
            && page.contains("The ferry &lt;leaves&gt; at seven")
            && page.contains("from the old pier"),
        "{page}"
    );
    assert_eq!(server.get("/memories/00000000/preview").status, 404);
    let page = server.get("/find?q=ferry").body;
    assert_eq!(
        page.matches("<li><a href=\"/memories/").count(),
        2,
        "{page}"
    );
    assert!(page.contains("&lt;leaves&gt;"));
    assert_eq!(uses(), before, "to look at a link is no use");
}
