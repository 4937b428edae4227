//! The page of one memory: reading, editing, conflicts, deletion and undo.

use memory_core::{Category, Draft, MemoryStoreExt, Patch, RecallRecord, RecalledId, SecretPolicy, link, record_recall, update};

use super::server::WebTestServer;

/// Returns the value of a hidden field of a page.
fn hidden<'a>(page: &'a str, name: &str) -> &'a str {
    let start = format!("name=\"{name}\" value=\"");
    page.split(&start).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_else(|| panic!("{name} is missing in {page}"))
}

fn fields<'a>(version: &'a str, content: &'a str) -> [(&'static str, &'a str); 6] {
    [("version", version), ("title", ""), ("content", content), ("category", "inbox"), ("tags", ""), ("scope", "global")]
}

#[test]
fn a_memory_is_shown_with_its_links_history_and_recalls() {
    let server = WebTestServer::start();
    let (tea, kettle) =
        (server.write(Draft::new("# Tea\n\n**Green** tea.").title("Tea")), server.write(Draft::new("See [[Tea]]")));
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
    assert!(other.contains(&format!("href=\"/memories/{tea}\"")), "the wikilink leads to the memory");
    assert_eq!(server.get("/memories/00000000-0000-0000-0000-000000000000").status, 404);
}

#[test]
fn an_edit_changes_only_the_edited_fields_and_can_be_undone() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("green tea\r\nwith milk").tags(["a", "b"]).category(Category::Preferences));
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
        ("black tea\r\nwith milk", ["b", "c"].map(str::to_owned).as_slice())
    );
    assert!(page.contains("undo-bar") && page.contains("<del") && page.contains("green tea"), "{page}");
    server.post_and_follow("/undo", &[("operation", hidden(&page, "operation")), ("next", "/memories")]);
    assert_eq!(server.services.store.get_by(&id).unwrap().memory.content, "green tea\r\nwith milk");
}

#[test]
fn saving_without_a_change_writes_nothing() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("tea"));
    let path = format!("/memories/{id}/edit");
    let form = server.get(&path).body;
    let page = server.post_and_follow(&path, &fields(hidden(&form, "version"), "tea")).body;
    assert_eq!(server.services.store.get_by(&id).unwrap().memory.version, 1);
    assert!(!page.contains("undo-bar"));
}

#[test]
fn a_stale_edit_shows_both_versions_and_merges_nothing() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("green tea"));
    let path = format!("/memories/{id}/edit");
    let form = server.get(&path).body;
    let change = Patch { content: Some("black tea".into()), ..Patch::default() };
    update(&server.services, &id, &change, None, SecretPolicy::Keep).unwrap();
    let conflict = server.post(&path, &fields(hidden(&form, "version"), "white tea"));
    assert_eq!(conflict.status, 409);
    assert!(conflict.body.contains("Changed by another program"));
    assert!(conflict.body.contains("black tea") && conflict.body.contains("white tea"));
    assert_eq!(server.services.store.get_by(&id).unwrap().memory.content, "black tea");
    server.post_and_follow(&path, &fields(hidden(&conflict.body, "version"), "white tea"));
    assert_eq!(server.services.store.get_by(&id).unwrap().memory.content, "white tea", "the person saw the other version");
}

#[test]
fn a_refused_edit_returns_the_text_to_the_person() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("tea"));
    let path = format!("/memories/{id}/edit");
    let form = server.get(&path).body;
    let secret = "the key is AKIAIOSFODNN7EXAMPLQ";
    let refused = server.post(&path, &fields(hidden(&form, "version"), secret));
    assert!(refused.status == 400 && refused.body.contains("Not saved") && refused.body.contains(secret), "{}", refused.body);
    assert_eq!(server.services.store.get_by(&id).unwrap().memory.content, "tea");
}

#[test]
fn tags_category_and_pin_are_changed_by_forms() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("tea").tags(["old"]));
    let memory = || server.services.store.get_by(&id).unwrap().memory;
    server.post_and_follow(&format!("/memories/{id}/tags"), &[("add", "#new, other")]);
    server.post_and_follow(&format!("/memories/{id}/tags"), &[("remove", "old")]);
    assert_eq!(memory().tags.as_slice(), ["new", "other"]);
    server.post_and_follow(&format!("/memories/{id}/category"), &[("category", "people")]);
    assert_eq!(memory().category, Category::People);
    server.post_and_follow(&format!("/memories/{id}/pin"), &[("pinned", "yes")]);
    assert!(memory().pinned);
    let page = server.get(&format!("/memories/{id}")).body;
    assert!(page.contains("Unpin") && page.contains("<option selected>people"));
    assert_eq!(server.post(&format!("/memories/{id}/category"), &[("category", "x")]).status, 400);
}

#[test]
fn a_deleted_memory_is_restored_from_its_page_or_from_the_list() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("green tea"));
    let list = server.post_and_follow(&format!("/memories/{id}/delete"), &[]).body;
    assert!(list.contains("Deleted") && list.contains("No memories yet"));
    let page = server.get(&format!("/memories/{id}")).body;
    assert!(page.contains("This memory is deleted") && page.contains("green tea"));
    let deleted = server.get("/memories/deleted").body;
    assert!(deleted.contains("green tea"));
    server.post_and_follow(&format!("/memories/{id}/restore"), &[("trash", hidden(&deleted, "trash"))]);
    assert_eq!(server.services.store.get_by(&id).unwrap().memory.content, "green tea");
    assert!(server.get("/memories/deleted").body.contains("Nothing is deleted"));
}
