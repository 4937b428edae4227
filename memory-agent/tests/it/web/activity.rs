//! The activity and the sessions.

use memory_core::{
    Draft, MemoryStoreExt, Patch, RecallRecord, RecalledId, SecretPolicy, Services, delete, link,
    record_recall, undo, update, write,
};

use super::server::WebTestServer;

#[test]
fn every_operation_is_listed_with_its_author_and_undone() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("green <tea>"));
    delete(&server.services, &id).unwrap();
    let page = server.get("/activity").body;
    for text in [
        "<svg class=\"heat-map\"",
        "2 operations from",
        "Deleted</a>",
        "Written</a>",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    assert!(page.contains("<bdi dir=\"auto\">test</bdi>"));
    let undo = page
        .split("name=\"operation\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let page = server
        .post_and_follow("/undo", &[("operation", undo), ("next", "/activity")])
        .body;
    assert_eq!(
        server.services.store.get_by(&id).unwrap().memory.content,
        "green <tea>"
    );
    assert!(
        page.contains("green &lt;tea&gt;") && page.contains("is-undone") && page.contains("Redo"),
        "{page}"
    );
}

#[test]
fn operations_are_selected_by_author_kind_and_day() {
    let server = WebTestServer::start();
    server.write(Draft::new("by a person"));
    write(
        &Services {
            actor: "codex".into(),
            ..server.services.clone()
        },
        Draft::new("by an agent"),
        SecretPolicy::Keep,
    )
    .unwrap();
    let day = server.services.clock.now().date_naive();
    let list = |query: &str| server.get(&format!("/activity?{query}")).body;
    assert!(list("by=codex").contains("by an agent") && !list("by=codex").contains("by a person"));
    assert!(
        list("verb=write").contains("by a person")
            && list("verb=delete").contains("No operation matches")
    );
    assert!(
        list("agents=yes").contains("by an agent")
            && list("agents=yes")
                .contains("<input type=\"checkbox\" name=\"agents\" value=\"yes\" checked>")
    );
    write(
        &Services {
            actor: "cli".into(),
            ..server.services.clone()
        },
        Draft::new("by a command"),
        SecretPolicy::Keep,
    )
    .unwrap();
    assert!(list("").contains("by a command") && !list("agents=yes").contains("by a command"));
    assert!(
        list(&format!("day={day}")).contains("by an agent")
            && list("day=1999-01-01").contains("No operation matches")
    );
    for query in ["day=x", "verb=x"] {
        assert_eq!(
            server.get(&format!("/activity?{query}")).status,
            400,
            "{query}"
        );
    }
}

#[test]
fn an_operation_has_a_page_with_its_changes() {
    let server = WebTestServer::start();
    let (one, other) = (
        server.write(Draft::new("one")),
        server.write(Draft::new("<b>other")),
    );
    link(&server.services, &one, &other).unwrap();
    let page = server.get("/activity").body;
    let operation = page
        .split("href=\"/activity/")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let page = server.get(&format!("/activity/{operation}")).body;
    assert!(
        page.contains("<h1>Linked</h1>")
            && page.contains("&lt;b&gt;other")
            && page.matches("<span>changed</span>").count() == 2,
        "{page}"
    );
    assert_eq!(server.get("/activity/ffffffffffff").status, 404);
}

#[test]
fn an_operation_is_named_by_the_text_of_its_time_and_shown_with_its_differences() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("green <tea>"));
    let change = Patch {
        content: Some("black tea".into()),
        ..Patch::default()
    };
    update(&server.services, &id, &change, None, SecretPolicy::Keep).unwrap();
    delete(&server.services, &id).unwrap();
    let page = server.get("/activity").body;
    let texts = [
        "black tea</bdi></a> <span class=\"badge\">deleted",
        "Written</a>",
        "green &lt;tea&gt;</bdi></a> <span class=\"badge\">deleted",
    ];
    for text in texts {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    assert!(
        !page.contains(".md"),
        "no file name stands for a memory: {page}"
    );
    assert_eq!(
        page.matches("type=\"submit\">Undo").count(),
        1,
        "only the deletion can be undone: {page}"
    );
    let records: Vec<_> = server
        .services
        .history
        .records()
        .map(|record| record.unwrap().operation.id)
        .collect();
    let page = server.get(&format!("/activity/{}", records[1])).body;
    assert!(
        page.contains("- <b>green</b> <b>&lt;tea&gt;</b></del>")
            && page.contains("+ <b>black</b> <b>tea</b></ins>"),
        "{page}"
    );
    assert!(
        page.contains("This operation cannot be undone. A later change builds on this one."),
        "{page}"
    );
}

#[test]
fn one_memory_of_a_bulk_deletion_is_restored_and_an_undo_is_named_by_the_reverted_text() {
    let server = WebTestServer::start();
    let ids = ["one", "two"].map(|text| server.write(Draft::new(text)));
    let fields = [
        ("id", ids[0].as_str()),
        ("id", &ids[1]),
        ("action", "delete"),
        ("next", "/memories"),
    ];
    server.post_and_follow("/memories/change", &fields);
    let deletion = server
        .services
        .history
        .records()
        .next()
        .unwrap()
        .unwrap()
        .operation
        .id;
    let path = format!("/activity/{deletion}");
    let page = server.get(&path).body;
    assert_eq!(page.matches("Restore this memory").count(), 2, "{page}");
    let trash = page
        .split(&format!("/memories/{}/restore", ids[1]))
        .nth(1)
        .unwrap();
    let trash = trash
        .split("name=\"trash\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let restore = format!("/memories/{}/restore", ids[1]);
    let page = server
        .post_and_follow(&restore, &[("trash", trash), ("next", &path)])
        .body;
    assert_eq!(page.matches("Restore this memory").count(), 1, "{page}");
    let change = Patch {
        content: Some("three".into()),
        ..Patch::default()
    };
    update(&server.services, &ids[1], &change, None, SecretPolicy::Keep).unwrap();
    undo(&server.services, None).unwrap();
    let page = server.get("/activity?verb=undo").body;
    assert!(
        page.contains("three</bdi>") && !page.contains("two</bdi>"),
        "{page}"
    );
}

pub(super) fn recall(server: &WebTestServer, session: &str, ids: &[&str]) {
    let recall = RecallRecord {
        at: server.services.clock.now(),
        agent: "codex".into(),
        session: Some(session.into()),
        project: Some("shop".into()),
        interface: "mcp".into(),
        tool: "memory_search".into(),
        query: Some("which <drink>?".into()),
        memories: ids
            .iter()
            .map(|id| RecalledId {
                id: (*id).into(),
                score: Some(0.5),
                parts: vec![("words".into(), 0.5)],
            })
            .collect(),
        tokens: 42,
    };
    record_recall(server.recalls.as_ref(), recall);
}

#[test]
fn a_session_has_what_its_agent_received_and_wrote() {
    let server = WebTestServer::start();
    assert!(server.get("/sessions").body.contains("No sessions"));
    let id = server.write(Draft::new("green tea"));
    recall(&server, "s<1>", &[&id, "gone"]);
    write(
        &Services {
            actor: "codex".into(),
            ..server.services.clone()
        },
        Draft::new("written in the session"),
        SecretPolicy::Keep,
    )
    .unwrap();
    let page = server.get("/sessions").body;
    for text in [
        "s&lt;1&gt;",
        "shop",
        "2 memories given",
        "42 tokens",
        "“<bdi dir=\"auto\">which &lt;drink&gt;?</bdi>”",
        "green tea</bdi></a>",
        "probably in this session",
        "written in the session</bdi></a>",
        "less than a minute",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    recall(&server, "s<1>", &[&id]);
    let path = page
        .split("href=\"/sessions/show?")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let page = server
        .get(&format!(
            "/sessions/show?{}",
            path.replace("&#38;", "&").replace("&amp;", "&")
        ))
        .body;
    for text in [
        "which &lt;drink&gt;?",
        "green tea</bdi></a>",
        "because of: words of the query",
        "no longer there",
        "written in the session",
        "A change counts for the last session of the agent that began before it.",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    assert_eq!(page.matches("already given earlier").count(), 1, "{page}");
    assert!(!page.contains("0.50"), "no raw score is shown: {page}");
    assert!(
        server
            .get("/sessions?agent=claude")
            .body
            .contains("No sessions")
    );
    assert_eq!(
        server
            .get("/sessions/show?agent=codex&session=unknown")
            .status,
        404
    );
    assert_eq!(server.get("/sessions/show?agent=codex&day=x").status, 400);
}

#[test]
fn a_session_shows_the_text_that_its_agent_received() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("Postgres 14"));
    recall(&server, "s1", &[&id]);
    let patch = Patch {
        content: Some("Postgres 15".into()),
        ..Patch::default()
    };
    update(&server.services, &id, &patch, None, SecretPolicy::Keep).unwrap();
    let page = server.get(&format!("/memories/{id}")).body;
    assert!(
        page.contains("Its text at that time") && page.contains("tabindex=\"0\">Postgres 14</pre>"),
        "{page}"
    );
    let page = server.get("/sessions/show?agent=codex&session=s1").body;
    assert!(
        page.contains("Postgres 14")
            && page.contains("changed since")
            && !page.contains("Postgres 15"),
        "{page}"
    );
    delete(&server.services, &id).unwrap();
    let page = server.get("/sessions/show?agent=codex&session=s1").body;
    assert!(
        page.contains("Postgres 14</bdi></a> <span class=\"badge\">deleted"),
        "{page}"
    );
}
