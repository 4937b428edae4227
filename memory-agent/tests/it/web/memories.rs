//! The list of memories, and saved searches.

use memory_core::{Category, Draft, Memory, MemoryStoreExt, Scope};

use super::server::WebTestServer;

#[test]
fn memories_are_listed_newest_first_and_found_by_words_and_filters() {
    let server = WebTestServer::start();
    assert!(server.get("/memories").body.contains("No memories yet"));
    server.write(
        Draft::new("The user prefers green tea")
            .category(Category::Preferences)
            .tags(["drinks"]),
    );
    server.write(
        Draft::new("Deploy on Fridays never")
            .category(Category::Decisions)
            .scope(Scope::Project("shop".into())),
    );
    let page = server.get("/memories").body;
    let place = |text: &str| {
        page.find(text)
            .unwrap_or_else(|| panic!("{text} is missing"))
    };
    assert!(
        place("2 memories") < place("Deploy on Fridays")
            && place("Deploy on Fridays") < place("prefers green tea")
    );
    let found = server.get("/memories?q=tea").body;
    assert!(
        found.contains("1 match")
            && found.contains("<mark>tea</mark>")
            && found.contains("Why this was found")
    );
    assert!(
        !found.contains("<li>length") && !found.contains("Less likely"),
        "{found}"
    );
    assert!(!found.contains("Fridays"));
    for (query, is_tea) in [
        ("tag=drinks", true),
        ("category=decisions", false),
        ("scope=project%3Ashop", false),
        ("q=category%3Apreferences", true),
        ("q=-fridays", true),
    ] {
        let page = server.get(&format!("/memories?{query}")).body;
        assert_eq!(page.contains("green tea"), is_tea, "{query}");
    }
    assert!(
        server
            .get("/memories?q=nothing")
            .body
            .contains("No memory matches")
    );
    assert!(
        server
            .get("/memories?category=unknown")
            .body
            .contains("category is ignored")
    );
}

#[test]
fn facets_count_memories_and_lead_to_them() {
    let server = WebTestServer::start();
    for number in 0..3 {
        server.write(
            Draft::new(&format!("note {number}"))
                .category(Category::Lessons)
                .tags(["a&b"]),
        );
    }
    let page = server.get("/memories").body;
    assert!(
        page.contains("href=\"/memories?category=lessons\""),
        "{page}"
    );
    assert!(page.contains("href=\"/memories?tag=a%26b\""));
    let filtered = server.get("/memories?tag=a%26b&category=lessons").body;
    assert!(
        filtered.contains("3 memories") && filtered.contains("href=\"/memories?category=lessons\""),
        "a chip removes the tag"
    );
}

#[test]
fn a_tag_of_a_memory_narrows_the_list() {
    let server = WebTestServer::start();
    server.write(
        Draft::new("tea")
            .category(Category::Lessons)
            .tags(["hot", "drinks"])
            .scope(Scope::Agent("codex".into())),
    );
    let page = server.get("/memories?category=lessons&tag=hot&page=1").body;
    assert!(
        page.contains("href=\"/memories?category=lessons&#38;tag=hot&#38;tag=drinks\""),
        "{page}"
    );
    assert!(
        page.contains("only the agent codex</bdi> <span class=\"number\">1</span>"),
        "{page}"
    );
}

#[test]
fn memories_with_fewer_words_are_folded_and_the_facets_count_the_others() {
    let server = WebTestServer::start();
    for (text, category) in [
        ("The user drinks green tea", Category::Preferences),
        ("Green tea is in the kitchen", Category::Project),
        ("The green bicycle has a bell", Category::Project),
        ("Coffee is out of stock", Category::Project),
    ] {
        server.write(Draft::new(text).category(category));
    }
    let page = server.get("/memories?q=green+tea").body;
    assert!(
        page.contains("2 matches, best first") && page.contains("Less likely (1)"),
        "{page}"
    );
    let (listed, folded) = page
        .split_once("<details class=\"less-likely\" open>")
        .expect("a fold");
    assert!(
        listed.contains("in the kitchen")
            && !listed.contains("bicycle")
            && folded.contains("bicycle")
    );
    assert!(!page.contains("Coffee"));
    assert!(
        page.contains("project</bdi> <span class=\"number\">1</span>"),
        "the folded one is not counted: {page}"
    );
}

#[test]
fn selected_memories_change_in_one_operation_which_one_undo_reverts() {
    let server = WebTestServer::start();
    let ids: Vec<String> = ["one", "two", "three"]
        .map(|text| server.write(Draft::new(text)))
        .to_vec();
    let list = server.get("/memories").body;
    assert!(
        list.contains(&format!("name=\"id\" value=\"{}\"", ids[0]))
            && list.contains("Select memories to tag")
    );
    let undo = |page: &str| {
        let operation = page
            .split("name=\"operation\" value=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        let operation = operation.unwrap_or_else(|| panic!("no undo in {page}"));
        server.post_and_follow("/undo", &[("operation", operation), ("next", "/memories")]);
    };
    let memory = |id: &str| server.services.store.get_by(id).unwrap().memory;
    let selected = [
        ("id", ids[0].as_str()),
        ("id", ids[1].as_str()),
        ("next", "/memories"),
    ];
    let is_pinned: fn(&Memory) -> bool = |memory| memory.pinned;
    let is_tagged: fn(&Memory) -> bool = |memory| memory.tags.as_slice() == ["drinks", "hot"];
    let is_moved: fn(&Memory) -> bool = |memory| memory.category == Category::Lessons;
    for (fields, is_done) in [
        (vec![("action", "pin")], is_pinned),
        (vec![("action", "tag"), ("tag", "#drinks, hot")], is_tagged),
        (vec![("action", "move"), ("category", "lessons")], is_moved),
    ] {
        let page = server
            .post_and_follow("/memories/change", &[&selected[..], &fields].concat())
            .body;
        assert_eq!(
            ids.iter()
                .map(|id| is_done(&memory(id)))
                .collect::<Vec<_>>(),
            [true, true, false],
            "{fields:?}"
        );
        undo(&page);
        assert!(ids.iter().all(|id| !is_done(&memory(id))), "{fields:?}");
    }
    let page = server
        .post_and_follow(
            "/memories/change",
            &[&selected[..], &[("action", "delete")]].concat(),
        )
        .body;
    assert!(page.contains("1 memory") && !page.contains(&format!("value=\"{}\"", ids[0])));
    let again = [&selected[..], &[("id", ids[2].as_str()), ("action", "pin")]].concat();
    let partly = server.post_and_follow("/memories/change", &again).body;
    assert!(
        partly.contains("2 selected memories were not changed"),
        "{partly}"
    );
    undo(&page);
    assert!(
        ids.iter()
            .all(|id| server.services.store.get_by(id).is_ok())
    );
    let none = server.post(
        "/memories/change",
        &[("action", "delete"), ("next", "/memories")],
    );
    assert!(
        none.status == 400 && none.body.contains("No memory is selected"),
        "{}",
        none.body
    );
    let one = server.post(
        "/memories/change",
        &[("id", ids[0].as_str()), ("action", "merge")],
    );
    assert!(
        one.status == 400 && one.body.contains("exactly two memories"),
        "{}",
        one.body
    );
    let preview = server
        .post_and_follow(
            "/memories/change",
            &[&selected[..], &[("action", "merge")]].concat(),
        )
        .body;
    assert!(
        preview.contains("Resulting text") && preview.contains("Merge in the other direction"),
        "{preview}"
    );
    let value = |name: &str| {
        preview
            .split(&format!("name=\"{name}\" value=\""))
            .nth(1)
            .and_then(|rest| rest.split('"').next())
    };
    let fields = ["item", "into", "next"].map(|name| (name, value(name).unwrap()));
    let page = server.post_and_follow("/memories/merge", &fields).body;
    assert_eq!(memory(&ids[0]).content, "one\n\ntwo");
    assert!(
        page.contains("Merged into")
            && server
                .get("/memories/deleted")
                .body
                .contains("Removed by a decision in the inbox by"),
        "{page}"
    );
    assert!(
        server
            .get(&format!("/memories/{}", ids[1]))
            .body
            .contains("Its text was merged into this memory:")
    );
    undo(&page);
    let undone = server
        .services
        .history
        .records()
        .next()
        .unwrap()
        .unwrap()
        .operation
        .id;
    let redone = server
        .post_and_follow(
            "/undo",
            &[("operation", undone.as_str()), ("next", "/memories")],
        )
        .body;
    assert!(
        redone.contains("Redone") && redone.contains("type=\"submit\">Undo</button>"),
        "{redone}"
    );
    undo(&redone);
    assert_eq!(memory(&ids[1]).content, "two");
    assert_eq!(
        server
            .post(
                "/memories/change",
                &[&selected[..], &[("action", "tag")]].concat()
            )
            .status,
        400
    );
}

#[test]
fn a_search_names_the_words_that_no_memory_contains() {
    let server = WebTestServer::start();
    server.write(Draft::new("The billing runs on Fridays"));
    let page = server.get("/memories?q=billing+zzqx").body;
    assert!(
        page.contains("none of these memories contains “zzqx”"),
        "{page}"
    );
    assert!(
        !server
            .get("/memories?q=billing")
            .body
            .contains("none of these memories")
    );
}

#[test]
fn a_search_misses_no_word_that_a_listed_memory_shows() {
    let server = WebTestServer::start();
    server.write(Draft::new("PostgreSQL 16 runs there").tags(["invoices"]));
    for query in ["sql", "sql+invoices", "invoices+zzqx+sql"] {
        let page = server.get(&format!("/memories?q={query}")).body;
        let claims = ["none of these memories", "No memory contains"];
        assert!(!claims.iter().any(|claim| page.contains(claim)), "{page}");
    }
}

#[test]
fn a_misspelled_word_finds_what_is_meant_and_the_page_says_so() {
    let server = WebTestServer::start();
    server.write(Draft::new("Postgres stores the billing"));
    server.write(Draft::new("The bowling club meets on Fridays"));
    let page = server.get("/memories?q=postgress+biling").body;
    assert!(page.contains("searched for postgres billing"), "{page}");
    let found = server.get("/find?q=postgress+biling").body;
    assert!(found.contains("Postgres stores the billing"), "{found}");
    assert!(!found.contains("bowling"), "{found}");
}

#[test]
fn the_preview_of_a_merge_states_that_other_agents_will_read_the_text() {
    let server = WebTestServer::start();
    let own = server.write(
        Draft::new("one")
            .category(Category::Lessons)
            .scope(Scope::Agent("codex".into())),
    );
    let other = server.write(Draft::new("two").category(Category::Lessons));
    let fields = [
        ("id", own.as_str()),
        ("id", &other),
        ("action", "merge"),
        ("next", "/memories"),
    ];
    let page = server.post_and_follow("/memories/change", &fields).body;
    assert!(
        page.contains("The readers of the text change") && page.contains("only the agent codex"),
        "{page}"
    );
}

#[test]
fn a_long_list_has_pages() {
    let server = WebTestServer::start();
    for number in 0..30 {
        server.write(Draft::new(&format!("note number {number}")));
    }
    let first = server.get("/memories").body;
    assert!(
        first.contains("1–25 of 30")
            && first.contains("href=\"/memories?page=2\"")
            && !first.contains("note number 0<")
    );
    let second = server.get("/memories?page=2").body;
    assert!(second.contains("note number 0<") && !second.contains("note number 29"));
    assert!(
        server
            .get("/memories?q=note&page=2")
            .body
            .contains("26–30 of 30")
    );
}

#[test]
fn a_list_has_orders_that_its_links_keep() {
    let server = WebTestServer::start();
    for number in 0..30 {
        server.write(Draft::new(&format!("note number {number}")).tags(["n"]));
    }
    let page = server.get("/memories?sort=oldest").body;
    assert!(page.contains("note number 0<") && !page.contains("note number 29<"));
    assert!(
        page.contains("<option value=\"oldest\" selected>")
            && page.contains("sort=oldest&#38;page=2")
            && page.contains("sort=oldest&#38;tag=n"),
        "{page}"
    );
    assert!(!page.contains("Remove filters"), "an order is no filter");
    for order in ["changed", "used", "title", "unknown"] {
        let page = server.get(&format!("/memories?sort={order}"));
        assert!(page.body.contains("30 memories"), "{order}");
    }
    assert!(
        !server
            .get("/memories?q=note")
            .body
            .contains("name=\"sort\"")
    );
}

#[test]
fn the_text_of_a_memory_is_data() {
    let server = WebTestServer::start();
    let trap = "<script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}drowssap\u{200b}";
    let id = server.write(
        Draft::new(trap)
            .title(trap)
            .tags(["<b>tag</b>"])
            .source("\"><script>"),
    );
    for path in [
        "/memories".to_owned(),
        format!("/memories/{id}"),
        format!("/memories/{id}/edit"),
        "/memories?q=alert".to_owned(),
    ] {
        let page = server.get(&path);
        assert_eq!(page.status, 200, "{path}");
        assert!(
            !page.body.contains("<script>")
                && !page.body.contains("<img src=x")
                && !page.body.contains("<b>tag"),
            "{path}"
        );
    }
    let page = server.get("/memories").body;
    assert!(page.contains("&lt;script&gt;") && page.contains("U+202E") && page.contains("U+200B"));
    let query = server
        .get("/memories?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
        .body;
    assert!(!query.contains("<script>alert"));
}

#[test]
fn markup_that_is_nested_too_deep_is_shown_as_text_on_every_page() {
    let server = WebTestServer::start();
    for text in [
        ">".repeat(200_000),
        "- ".repeat(100_000),
        "1. ".repeat(50_000),
    ] {
        let id = server.write(Draft::new(&text));
        let page = server.get(&format!("/memories/{id}"));
        let shown = format!("<pre tabindex=\"0\">{}</pre>", text.replace('>', "&gt;"));
        assert!(page.status == 200 && page.body.contains(&shown));
    }
    let page = server.get("/inbox");
    let notices = page.body.matches("The markup of this text").count();
    assert_eq!((page.status, notices), (200, 3));
}

#[test]
fn a_search_is_saved_deleted_and_restored_by_undo() {
    let server = WebTestServer::start();
    server.write(Draft::new("The user prefers tea"));
    let page = server.post_and_follow(
        "/memories/searches",
        &[("name", "Drinks"), ("query", "q=tea&page=2")],
    );
    assert!(
        page.body.contains("<bdi dir=\"auto\">Drinks</bdi>")
            && page.body.contains("href=\"/memories?q=tea\"")
    );
    let page = server.post_and_follow(
        "/memories/searches/delete",
        &[("name", "Drinks"), ("next", "/memories")],
    );
    assert!(!page.body.contains("<bdi dir=\"auto\">Drinks</bdi>"));
    let undo = page
        .body
        .split("name=\"operation\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let page = server.post_and_follow("/undo", &[("operation", undo), ("next", "/memories")]);
    assert!(page.body.contains("<bdi dir=\"auto\">Drinks</bdi>"));
    assert_eq!(
        server
            .post("/memories/searches", &[("name", " "), ("query", "q=x")])
            .status,
        400
    );
}
