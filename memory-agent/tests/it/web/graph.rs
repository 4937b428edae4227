//! The graph and the charts.

use memory_core::{Category, Draft, link};

use super::activity::recall;
use super::server::WebTestServer;

#[test]
fn the_graph_shows_what_surrounds_a_memory_or_a_tag() {
    let server = WebTestServer::start();
    assert!(server.get("/graph").body.contains("No memories yet"));
    let tea = server.write(Draft::new("Tea & <cake>").tags(["drinks"]));
    let kettle = server.write(Draft::new("Kettle"));
    link(&server.services, &tea, &kettle).unwrap();
    let start = server.get("/graph").body;
    assert!(start.contains(&format!("/graph?memory={tea}")) && start.contains("/graph?tag=drinks"));
    let page = server.get(&format!("/graph?memory={tea}")).body;
    for text in [
        "<svg class=\"graph\"",
        "Tea &amp; &lt;cake&gt;",
        &format!("/graph?memory={kettle}"),
        "#drinks",
        "hue-",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    let found = server.get("/graph?q=kettle").body;
    assert!(
        found.contains("Choose the centre") && found.contains(&format!("/graph?memory={kettle}")),
        "{found}"
    );
    assert!(
        server
            .get("/graph?q=drinks")
            .body
            .contains("/graph?tag=drinks"),
        "a word also finds tags"
    );
    assert!(
        server
            .get("/graph?q=%23drinks")
            .body
            .contains("<svg class=\"graph\"")
    );
    assert!(
        server
            .get(&format!("/graph?q={tea}"))
            .body
            .contains("<svg class=\"graph\"")
    );
    assert!(
        server
            .get("/graph?tag=Drinks")
            .body
            .contains("Tea &amp; &lt;cake&gt;")
    );
    assert_eq!(server.get("/graph?tag=none").status, 404);
    assert_eq!(server.get("/graph?memory=00000000").status, 404);
}

#[test]
fn the_map_shows_groups_and_their_memories_and_a_category_has_its_own() {
    let server = WebTestServer::start();
    let tea = server.write(
        Draft::new("Tea & <cake>")
            .category(Category::Preferences)
            .tags(["drinks"]),
    );
    let anna = server.write(Draft::new("Anna").category(Category::People));
    link(&server.services, &tea, &anna).unwrap();
    let page = server.get("/graph").body;
    for text in [
        "<title>preferences: 1 memory</title>",
        "href=\"/graph?category=people\"",
        "<title>people: Anna</title>",
        "<title>preferences: Tea &amp; &lt;cake&gt;</title>",
        "2 memories and 1 links.",
        "aria-label=\"Categories\"",
        "data-zoom=\"in\"",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    let page = server.get("/graph?category=preferences").body;
    assert!(
        page.contains("href=\"/graph?tag=drinks\"") && !page.contains("Anna"),
        "{page}"
    );
    assert!(
        server
            .get("/graph?category=soul")
            .body
            .contains("No memories yet")
    );
    assert_eq!(server.get("/graph?category=x").status, 400);
}

#[test]
fn a_graph_of_many_memories_is_a_page_of_less_than_100_kilobytes() {
    let server = WebTestServer::start();
    let categories = [Category::People, Category::Knowledge, Category::Decisions];
    let mut last: Option<String> = None;
    for number in 0..600 {
        let text = format!("memory {number} about a subject that has a long name for a label");
        let tag = format!("tag{}", number % 40);
        let draft = Draft::new(&text)
            .category(categories[number % 3])
            .tags(["hub", tag.as_str()]);
        let id = server.write(draft);
        if let Some(last) = last.filter(|_| number % 7 == 0) {
            link(&server.services, &id, &last).unwrap();
        }
        last = Some(id);
    }
    let of_memory = format!("/graph?memory={}", last.expect("a memory"));
    for path in [
        "/graph",
        "/graph?category=people",
        "/graph?tag=hub",
        &of_memory,
    ] {
        let page = server.get(path);
        let size = page.body.len();
        assert!(page.status == 200 && size < 100_000, "{path}: {size}");
        assert!(
            page.body.matches("<a class=\"graph-node").count() >= 40,
            "{path}"
        );
    }
    assert!(server.get("/graph").body.contains("120 memories are shown"));
}

#[test]
fn charts_show_growth_assistants_and_what_is_received_or_expires() {
    let server = WebTestServer::start();
    let page = server.get("/charts").body;
    assert!(
        page.contains("No memories yet") && page.contains("No assistant received"),
        "{page}"
    );
    let id = server.write(Draft::new("green <tea>"));
    recall(&server, "one", &[&id, "gone"]);
    recall(&server, "two", &[&id]);
    // The change mark of the test does not depend on recalls.
    server.write(Draft::new("black tea"));
    let page = server.get("/charts").body;
    for text in [
        "<svg class=\"growth\"",
        "From 0 before",
        "2 calls by week",
        "84 tokens by week",
        "codex: 2 calls in the week of",
        "href=\"/sessions?agent=codex\"",
        "green &lt;tea&gt;</bdi></a></td><td class=\"number\">2</td>",
        "2 memories by week",
        "unchanged in the inbox",
        "has been recorded for 90 days",
        "Language model",
        "<td class=\"number\">30</td>",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
}
