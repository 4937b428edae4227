//! Banks, topics, conversations, instances and health.

use memory_core::bank::{self, BankScope, BankWriteCondition, BankWriteRequest, ScopeChoice};
use memory_core::conversation::{
    ConversationEntry, ConversationId, ConversationStore, EntryChange, EntryRole, show,
};
use memory_core::secret::Checked;
use memory_core::topic::{self, TopicKind, TopicWriteRequest};
use memory_core::{Draft, SecretPolicy};

use super::server::WebTestServer;

fn hidden<'a>(page: &'a str, name: &str) -> &'a str {
    let start = format!("name=\"{name}\" value=\"");
    page.split(&start)
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap_or_else(|| panic!("{name} is missing in {page}"))
}

fn write_value(server: &WebTestServer, key: &str, value: &str) {
    let request = BankWriteRequest {
        bank: "settings".parse().expect("a name"),
        key: key.parse().expect("a key"),
        value: value.parse().expect("JSON"),
        ttl: None,
        condition: BankWriteCondition::Any,
        scope: ScopeChoice::Only(BankScope::User),
        secrets: SecretPolicy::Refuse,
    };
    bank::write(
        server
            .services
            .banks
            .as_ref()
            .expect("the fakes have banks"),
        &request,
    )
    .expect("it is written");
}

fn read_value(server: &WebTestServer, key: &str) -> String {
    let banks = server
        .services
        .banks
        .as_ref()
        .expect("the fakes have banks");
    let (name, key) = (
        "settings".parse().expect("a name"),
        key.parse().expect("a key"),
    );
    bank::read(banks, &name, &key, ScopeChoice::Detected)
        .expect("it is there")
        .entry
        .value
        .as_str()
        .to_owned()
}

#[test]
fn a_bank_is_browsed_and_searched() {
    let server = WebTestServer::start();
    assert!(server.get("/banks").body.contains("No banks"));
    write_value(&server, "theme", "\"<dark>\"");
    write_value(&server, "size", "12");
    let page = server.get("/banks").body;
    assert!(
        page.contains("href=\"/banks/user/settings\"") && page.contains(">2</td>"),
        "{page}"
    );
    let page = server.get("/banks/user/settings").body;
    assert!(
        page.contains("&lt;dark&gt;")
            && page.contains("href=\"/banks/user/settings/entry?key=size\""),
        "{page}"
    );
    let found = server.get("/banks/user/settings?search=dark").body;
    assert!(found.contains("key=theme") && !found.contains("key=size"));
    assert!(server.get("/banks?search=DARK").body.contains("key=theme"));
    let found = server.get("/banks?search=d.rk%28");
    assert!(found.status == 200 && !found.body.contains("key=theme"));
    for path in ["/banks/user/none", "/banks/user/settings/entry?key=none"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    assert_eq!(server.get("/banks/elsewhere/settings").status, 400);
}

#[test]
fn a_value_is_edited_with_validation_and_a_conflict_shows_both() {
    let server = WebTestServer::start();
    write_value(&server, "theme", "{\"name\":\"dark\"}");
    let form = server.get("/banks/user/settings/entry?key=theme").body;
    let edit = |version: &str, value: &str| {
        let fields = [
            ("form-page", "/banks/user/settings/entry?key=theme"),
            ("key", "theme"),
            ("version", version),
            ("value", value),
            ("ttl", ""),
        ];
        server.post("/banks/user/settings/entry", &fields)
    };
    let invalid = edit(hidden(&form, "version"), "{\"name\": <b>}");
    assert!(
        invalid.status == 400
            && invalid.body.contains("is not JSON")
            && invalid
                .body
                .contains("\n{&quot;name&quot;: &lt;b&gt;}</textarea>"),
        "{}",
        invalid.body
    );
    assert_eq!(
        edit(hidden(&form, "version"), "{\"name\": \"light\"}").status,
        303
    );
    assert!(read_value(&server, "theme").contains("light"));
    let conflict = edit(hidden(&form, "version"), "{\"name\": \"blue\"}");
    assert_eq!(conflict.status, 409);
    assert!(conflict.body.contains("What is stored now"));
    assert!(conflict.body.contains("light") && conflict.body.contains("blue"));
    assert!(
        read_value(&server, "theme").contains("light"),
        "nothing is merged"
    );
    assert_eq!(
        edit(hidden(&conflict.body, "version"), "{\"name\": \"blue\"}").status,
        303
    );
    let page = server
        .post_and_follow("/banks/user/settings/entry/delete", &[("key", "theme")])
        .body;
    assert!(
        page.contains("undo-bar") && page.contains("The bank is empty"),
        "{page}"
    );
    server.post_and_follow(
        "/undo",
        &[
            ("operation", hidden(&page, "operation")),
            ("next", "/banks"),
        ],
    );
    assert!(read_value(&server, "theme").contains("blue"));
}

#[test]
fn entries_and_banks_are_added_and_deleted() {
    let server = WebTestServer::start();
    write_value(&server, "theme", "1");
    let add = |key: &str, value: &str, ttl: &str| {
        server
            .post(
                "/banks/user/settings",
                &[("key", key), ("value", value), ("ttl", ttl)],
            )
            .status
    };
    assert_eq!(add("size", "12", "60"), 303);
    assert_eq!(add("size", "13", ""), 409, "it exists already");
    assert_eq!(
        (add("x", "{", ""), add("x", "1", "soon"), add("", "1", "")),
        (400, 400, 400)
    );
    let page = server
        .post_and_follow("/banks/user/settings/delete", &[])
        .body;
    assert!(page.contains("No banks") && page.contains("undo-bar"));
}

#[test]
fn a_long_bank_has_pages_and_orders() {
    let server = WebTestServer::start();
    for number in 0..101 {
        write_value(&server, &format!("key{number:03}"), "1");
    }
    let page = server.get("/banks/user/settings").body;
    assert!(page.contains(">key000<") && !page.contains(">key100<"));
    assert!(page.contains("1–100 of 101") && page.contains("?page=2"));
    let last = server.get("/banks/user/settings?page=2").body;
    assert!(last.contains(">key100<") && !last.contains(">key000<"));
    let page = server
        .get("/banks/user/settings?sort=changed&search=key")
        .body;
    assert!(page.contains("<option value=\"changed\" selected>"));
    assert!(page.contains("name=\"search\" value=\"key\""), "{page}");
    assert!(server.get("/banks").body.contains("1 bank<"));
}

#[test]
fn a_text_that_cannot_be_saved_stays_in_its_form() {
    let server = WebTestServer::start();
    write_topic(&server, "editor.md", "Use vim");
    let form = server.get("/topics/editor.md/edit").body;
    let secret = "the key is AKIAIOSFODNN7EXAMPLQ";
    let fields = [("version", hidden(&form, "version")), ("text", secret)];
    let page = server.post("/topics/editor.md/edit", &fields);
    assert!(page.status == 400 || page.status == 422, "{}", page.status);
    assert!(
        page.body.contains(secret) && page.body.contains("role=\"alert\""),
        "{}",
        page.body
    );
    assert_eq!(
        hidden(&page.body, "version"),
        hidden(&form, "version"),
        "the next attempt replaces the same version"
    );
}

fn write_topic(server: &WebTestServer, name: &str, text: &str) {
    let request = TopicWriteRequest {
        name: name.parse().expect("a name"),
        title: Some("Editor".into()),
        description: Some("how to set up the editor".into()),
        kind: Some(TopicKind::User),
        content: Some(text.into()),
        secrets: SecretPolicy::Refuse,
    };
    topic::write(
        server
            .services
            .topics
            .as_ref()
            .expect("the fakes have topics"),
        &request,
    )
    .expect("it is written");
}

#[test]
fn topics_are_browsed_searched_edited_and_deleted() {
    let server = WebTestServer::start();
    assert!(server.get("/topics").body.contains("No topics"));
    write_topic(&server, "editor.md", "# Setup\n\nUse **vim** <script>");
    let page = server.get("/topics").body;
    assert!(
        page.contains("href=\"/topics/editor.md\"") && page.contains("how to set up the editor"),
        "{page}"
    );
    assert!(
        server
            .get("/topics?search=vim")
            .body
            .contains("<mark>vim</mark>")
    );
    let page = server.get("/topics/editor.md").body;
    assert!(
        page.contains("<strong>vim</strong>")
            && page.contains("&lt;script&gt;")
            && !page.contains("<script>\n"),
        "{page}"
    );
    let form = server.get("/topics/editor.md/edit").body;
    let version = hidden(&form, "version").to_owned();
    let text = topic::read(server.services.topics.as_ref().unwrap(), "editor.md")
        .unwrap()
        .text;
    let edited = text.replace("vim", "emacs");
    let edit = |version: &str, text: &str| {
        server.post(
            "/topics/editor.md/edit",
            &[
                ("form-page", "/topics/editor.md/edit"),
                ("version", version),
                ("text", text),
            ],
        )
    };
    assert_eq!(edit(&version, &edited).status, 303);
    let conflict = edit(&version, &text.replace("vim", "nano"));
    assert_eq!(conflict.status, 409);
    assert!(conflict.body.contains("emacs") && conflict.body.contains("nano"));
    let page = server.post_and_follow("/topics/editor.md/delete", &[]).body;
    assert!(page.contains("No topics") && page.contains("undo-bar"));
    let new = [
        ("name", "tea"),
        ("kind", "project"),
        ("description", "about tea"),
        ("content", "green"),
    ];
    assert!(
        server
            .post_and_follow("/topics", &new)
            .body
            .contains("about tea")
    );
    assert_eq!(
        server.post("/topics", &new).status,
        409,
        "it exists already"
    );
    assert_eq!(server.get("/topics/none.md").status, 404);
}

#[test]
fn a_conversation_shows_facts_and_turns_and_a_fact_is_deleted() {
    let server = WebTestServer::start();
    assert!(
        server
            .get("/conversations")
            .body
            .contains("No conversations")
    );
    let id: ConversationId = "work".parse().unwrap();
    let entry = |name: &str, role, text: &str| {
        EntryChange::Add(ConversationEntry::new(
            name.parse().unwrap(),
            &id,
            role,
            text,
            server.services.clock.now(),
        ))
    };
    let changes = [
        entry("f1", EntryRole::Memory, "likes <tea>"),
        entry("t1", EntryRole::User, "I like **tea**"),
    ];
    server
        .conversations
        .commit(&id, Checked::allowed(&changes))
        .unwrap();
    assert!(
        server
            .get("/conversations")
            .body
            .contains("href=\"/conversations/work\"")
    );
    assert!(
        server
            .get("/conversations?search=play")
            .body
            .contains("Nothing matches")
    );
    let page = server.get("/conversations/work").body;
    assert!(
        page.contains("likes &lt;tea&gt;") && page.contains("<strong>tea</strong>"),
        "{page}"
    );
    server.post_and_follow("/conversations/work/delete", &[("entry", "t1")]);
    assert!(
        show(server.conversations.as_ref(), &id)
            .unwrap()
            .turns
            .is_empty()
    );
    assert_eq!(
        server
            .post("/conversations/work/delete", &[("entry", "t1")])
            .status,
        404,
        "it is deleted already"
    );
    assert_eq!(server.get("/conversations/play").status, 404);
}

#[test]
fn values_of_an_instance_are_edited() {
    let server = WebTestServer::start();
    assert!(
        server
            .get("/instances")
            .body
            .contains("href=\"/instances/kv/default\"")
    );
    let path = "/instances/kv/default";
    assert!(server.get(path).body.contains("The instance is empty"));
    let page = server
        .post_and_follow(
            path,
            &[("key", "theme"), ("value", "{\"name\":\"<dark>\"}")],
        )
        .body;
    assert!(page.contains("value?key=theme"), "{page}");
    assert_eq!(
        server
            .post(path, &[("key", "theme"), ("value", "1")])
            .status,
        409,
        "it exists already"
    );
    let form = server.get(&format!("{path}/value?key=theme")).body;
    assert!(form.contains("dark") && !form.contains("<dark>"));
    let edit = |version: &str, value: &str| {
        server.post(
            &format!("{path}/value"),
            &[
                ("form-page", "/instances/kv/default/value?key=theme"),
                ("key", "theme"),
                ("version", version),
                ("json", "yes"),
                ("value", value),
            ],
        )
    };
    let version = hidden(&form, "version");
    assert_eq!(edit(version, "{broken").status, 400);
    assert_eq!(edit(version, "{\"name\":\"light\"}").status, 303);
    let conflict = edit(version, "{\"name\":\"blue\"}");
    assert!(
        conflict.status == 409 && conflict.body.contains("light") && conflict.body.contains("blue")
    );
    assert!(
        server
            .get(&format!("{path}?search=th"))
            .body
            .contains("key=theme")
    );
    assert!(
        server
            .get(&format!("{path}?search=x"))
            .body
            .contains("Nothing matches")
    );
    server.post_and_follow(&format!("{path}/value/delete"), &[("key", "theme")]);
    assert_eq!(server.get(&format!("{path}/value?key=theme")).status, 404);
    assert!(
        server
            .get("/instances/history/default")
            .body
            .contains("The instance is empty")
    );
    assert!(
        server
            .get("/instances/history/default/session?session=none")
            .body
            .contains("The session has no records")
    );
    assert!(
        server
            .get("/instances/bank/default")
            .body
            .contains("href=\"/banks\"")
    );
    assert_eq!(server.get("/instances/kv/none").status, 404);
}

#[test]
fn health_shows_status_and_on_request_the_check() {
    let server = WebTestServer::start();
    let page = server.get("/health").body;
    assert!(
        page.contains("Check now") && page.contains("Running"),
        "{page}"
    );
    assert!(
        server
            .get("/health/doctor")
            .body
            .contains("No defects were found")
    );
}

#[test]
fn no_page_changes_anything_without_the_token_of_the_session() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("a note"));
    for path in [
        "/inbox/decide",
        "/memories/merge",
        "/inbox/edit",
        "/inbox/plan",
        "/reminders",
        "/reminders/done",
        "/reminders/snooze",
        "/banks/user/settings",
        "/banks/user/settings/delete",
        "/banks/user/settings/entry",
        "/banks/user/settings/entry/delete",
        "/topics",
        "/topics/x.md/edit",
        "/topics/x.md/delete",
        "/conversations/x/delete",
        "/instances/kv/default",
        "/instances/kv/default/value",
        "/instances/kv/default/value/delete",
        "/instances/history/default/session/delete",
        "/import",
        "/import/files",
        "/import/x",
        "/settings",
        "/settings/back",
    ] {
        let refused = server.send(
            "POST",
            path,
            &[("Cookie", server.cookie())],
            &format!("id={id}&csrf=x"),
        );
        assert_eq!(refused.status, 403, "{path}");
    }
    for path in [
        "/inbox",
        "/inbox/plan",
        "/reminders",
        "/graph",
        "/activity",
        "/sessions",
        "/topics",
        "/banks",
        "/conversations",
        "/instances",
        "/import",
        "/export",
        "/settings",
        "/health",
    ] {
        assert_eq!(server.send("GET", path, &[], "").status, 303, "{path}");
        let page = server.get(path);
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        assert!(
            page.body.contains("aria-current=\"page\"") && !page.body.contains("style=\""),
            "{path}"
        );
    }
}
