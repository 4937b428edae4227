//! Writing a new memory, its preview, and the completion of links.

use memory_core::{
    Category, Draft, Filter, MemoryStoreExt, PageRequest, Scope, StoredMemory, list,
};

use super::server::WebTestServer;

fn memories(server: &WebTestServer) -> Vec<StoredMemory> {
    list(
        &server.services,
        &Filter::default(),
        &PageRequest::default(),
    )
    .expect("they are listed")
    .memories
}

#[test]
fn a_memory_is_written_with_all_its_fields_and_the_writing_can_be_undone() {
    let server = WebTestServer::start();
    assert!(
        server
            .get("/memories")
            .body
            .contains("href=\"/write\" data-key=\"n\""),
        "it is reached from every page"
    );
    let sent = [
        ("title", " Tea "),
        ("content", "green tea\r\nwith <b>milk</b>"),
        ("category", "knowledge"),
        ("scope", "global"),
        ("project", "kitchen"),
        ("tags", "#drinks, hot"),
        ("last-day", "9998-05-31"),
        ("pinned", "yes"),
    ];
    let page = server.post_and_follow("/write", &sent).body;
    assert!(
        page.contains("undo-bar") && page.contains("<bdi dir=\"auto\">Tea</bdi></h1>"),
        "{page}"
    );
    let stored = memories(&server).remove(0);
    let memory = &stored.memory;
    assert_eq!(
        (memory.title.as_deref(), memory.content.as_str()),
        (Some("Tea"), "green tea\nwith <b>milk</b>")
    );
    assert_eq!(
        (
            memory.category,
            memory.pinned,
            memory.tags.as_slice().join(" ")
        ),
        (Category::Knowledge, true, "drinks hot".to_owned())
    );
    assert_eq!(memory.scope, Scope::Project("kitchen".into()));
    assert_eq!(
        memory.expires_at.unwrap().to_rfc3339(),
        "9998-06-01T00:00:00+00:00",
        "the last day is included"
    );
    let edit = server.get(&format!("/memories/{}/edit", memory.id)).body;
    assert!(
        edit.contains("value=\"9998-05-31\"") && edit.contains("value=\"yes\" checked"),
        "{edit}"
    );
    assert!(
        edit.contains(
            "<option value=\"project:kitchen\" selected>only in the project kitchen</option>"
        ),
        "{edit}"
    );
    let operation = page
        .split("name=\"operation\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    server.post_and_follow("/undo", &[("operation", operation), ("next", "/write")]);
    assert!(memories(&server).is_empty());
}

#[test]
fn the_text_decides_on_the_category_and_a_text_is_stored_once() {
    let server = WebTestServer::start();
    for (text, category) in [
        ("The user prefers tea", Category::Preferences),
        ("something", Category::Inbox),
    ] {
        server.post_and_follow(
            "/write",
            &[("content", text), ("category", ""), ("scope", "global")],
        );
        let stored = memories(&server)
            .into_iter()
            .find(|stored| stored.memory.content == text)
            .unwrap();
        assert_eq!(stored.memory.category, category);
    }
    let again = server
        .post_and_follow("/write", &[("content", "something"), ("scope", "global")])
        .body;
    assert!(
        again.contains("has the same text already") && !again.contains("undo-bar"),
        "{again}"
    );
    assert_eq!(memories(&server).len(), 2);
}

#[test]
fn other_pages_and_programs_fill_the_fields_in() {
    let server = WebTestServer::start();
    let page = server
        .get("/write?title=A%22b&text=%3Cx%3E&url=https%3A%2F%2Fexample.org")
        .body;
    assert!(page.contains("name=\"title\" value=\"A&#34;b\""), "{page}");
    assert!(
        page.contains("\n&#60;x&#62;\n\nhttps://example.org</textarea>"),
        "{page}"
    );
    assert!(memories(&server).is_empty(), "an address changes nothing");
}

#[test]
fn the_preview_shows_the_text_with_its_links_and_saves_nothing() {
    let server = WebTestServer::start();
    let tea = server.write(Draft::new("green").title("Tea"));
    let text = [
        ("content", "**See** [[Tea]] <script>"),
        ("scope", "global"),
        ("preview", "yes"),
        ("version", "1"),
    ];
    for path in ["/write".to_owned(), format!("/memories/{tea}/edit")] {
        let page = server.post(&path, &text);
        assert_eq!(page.status, 200);
        assert!(
            page.body.contains("<strong>See</strong>")
                && page.body.contains(&format!("href=\"/memories/{tea}\"")),
            "{}",
            page.body
        );
        assert!(
            !page.body.contains("<script>")
                && page.body.contains("[[Tea]] &#60;script&#62;</textarea>"),
            "{}",
            page.body
        );
    }
    assert_eq!(memories(&server).len(), 1);
    assert_eq!(
        server.services.store.get_by(&tea).unwrap().memory.content,
        "green"
    );
}

#[test]
fn titles_are_offered_for_links() {
    let server = WebTestServer::start();
    let untitled = server.write(Draft::new("The teapot is green"));
    server.write(Draft::new("one").title("Tea ceremony"));
    server.write(Draft::new("two").title("A [tea] house"));
    let offered = |text: &str| server.get(&format!("/write/titles?q={text}")).body;
    let found: serde_json::Value = serde_json::from_str(&offered("tea")).unwrap();
    assert_eq!(
        found[0],
        serde_json::json!({ "title": "Tea ceremony", "link": "Tea ceremony" }),
        "{found}"
    );
    let links: Vec<&str> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["link"].as_str().unwrap())
        .collect();
    assert!(
        links.contains(&format!("{untitled}|The teapot is green").as_str()),
        "{found}"
    );
    assert!(
        links.iter().any(|link| link.ends_with("|A tea house")),
        "{found}"
    );
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&offered(""))
            .unwrap()
            .as_array()
            .unwrap()
            .len(),
        3
    );
    assert_eq!(offered("zzz"), "[]");
}

#[test]
fn an_edit_in_a_list_returns_to_the_list() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("tea").tags(["a"]));
    let path = format!("/memories/{id}/edit");
    assert!(
        server
            .get("/memories")
            .body
            .contains(&format!("href=\"{path}\" data-key=\"e\" data-inline"))
    );
    let page = server.get(&path).body;
    let version = page
        .split("name=\"version\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let sent = [
        ("version", version),
        ("content", "coffee"),
        ("category", "inbox"),
        ("tags", "a"),
        ("scope", "global"),
        ("next", "/memories?q=e"),
    ];
    let answer = server.post(&path, &sent);
    assert!(
        answer.headers["location"].starts_with("/memories?q=e&done="),
        "{:?}",
        answer.headers
    );
}
