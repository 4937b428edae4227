//! What an assistant would receive.

use memory_core::{
    Category, ClientMoment, Draft, MemoryStoreExt, RecallFilter, RecallLedger, Scope,
    ShownMemories, View, build_client_context,
};

use super::server::WebTestServer;

fn fill(server: &WebTestServer) -> [String; 4] {
    [
        server.write(Draft::new("Always answer in <German>.").category(Category::Preferences)),
        server.write(Draft::new("The boats to the island leave at noon.").title("Boats")),
        server.write(
            Draft::new("Cursor knows the boats of the harbour.")
                .scope(Scope::Agent("cursor".into())),
        ),
        server.write(
            Draft::new("The boats of the project are red.").scope(Scope::Project("web".into())),
        ),
    ]
}

#[test]
fn the_page_shows_the_exact_text_that_the_client_would_give() {
    let server = WebTestServer::start();
    fill(&server);
    let view = View {
        agent: Some("codex".parse().unwrap()),
        ..View::default()
    };
    let (given, now) = (ShownMemories::default(), server.services.clock.now());
    let prompt = "when do the boats to the island leave?";
    let text = |moment| {
        let context = build_client_context(&server.services, &view, moment, &given, &now);
        context.unwrap().text
    };
    let (start, with_prompt) = (
        text(ClientMoment::SessionStart),
        text(ClientMoment::Prompt(prompt)),
    );
    let page = server
        .get("/ask?agent=codex&prompt=when%20do%20the%20boats%20to%20the%20island%20leave%3F");
    let escaped = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
    };
    assert!(start.contains("German"), "{start}");
    for text in [start, with_prompt] {
        let shown = page.body.replace("&#34;", "&quot;").replace("&#39;", "'");
        assert!(shown.contains(&escaped(&text)), "{text}\n{}", page.body);
    }
}

#[test]
fn nothing_outside_the_view_of_the_agent_is_shown() {
    let server = WebTestServer::start();
    fill(&server);
    let ask = |fields: &str| {
        let page = server.get(&format!(
            "/ask?{fields}&prompt=which%20boats%20are%20there%3F"
        ));
        page.body
    };
    for way in ["", "&way=tool"] {
        let page = ask(&format!("agent=codex{way}"));
        assert!(page.contains("leave at noon"), "{page}");
        assert!(
            !page.contains("harbour") && !page.contains("are red"),
            "{page}"
        );
        let page = ask(&format!("agent=cursor&project=web{way}"));
        assert!(
            page.contains("harbour") && page.contains("are red"),
            "{page}"
        );
    }
}

#[test]
fn a_match_that_is_not_given_is_listed_with_the_reason() {
    let server = WebTestServer::start();
    let [_, boats, ..] = fill(&server);
    let page = server
        .get("/ask?agent=codex&prompt=when%20do%20boats%20leave")
        .body;
    let omitted = page.split("Found, but not given").nth(1).expect("a list");
    let omitted = omitted.split("</section>").next().expect("a section");
    assert!(
        omitted.contains("given at the start")
            && omitted.contains(&format!("/memories/{boats}/edit")),
        "{omitted}"
    );
}

#[test]
fn a_question_of_the_person_is_no_recall_and_no_access() {
    let server = WebTestServer::start();
    let [_, boats, ..] = fill(&server);
    let operations = server.services.history.records().count();
    for way in ["", "&way=tool"] {
        let page = server.get(&format!(
            "/ask?agent=codex&prompt=when%20do%20boats%20leave{way}"
        ));
        assert!(page.body.contains("leave at noon"));
    }
    let all = RecallFilter::default();
    assert_eq!(server.recalls.recalls(&all).count(), 0);
    let stored = server.services.store.get_by(&boats).unwrap();
    assert_eq!(stored.memory.access_count, 0);
    assert_eq!(server.services.history.records().count(), operations);
}

#[test]
fn a_memory_is_pinned_and_ended_from_the_list_and_the_person_returns_to_it() {
    let server = WebTestServer::start();
    let [_, boats, ..] = fill(&server);
    let here = "/ask?agent=codex&prompt=when%20do%20boats%20leave";
    for (action, fields) in [
        ("pin", vec![("pinned", "yes"), ("next", here)]),
        ("expire", vec![("next", here)]),
    ] {
        let response = server.post(&format!("/memories/{boats}/{action}"), &fields);
        let target = &response.headers["location"];
        assert!(
            target.starts_with("/ask?agent=codex&prompt=when"),
            "{target}"
        );
        assert!(server.get(target).body.contains("Undo"));
    }
    let edit = format!("/memories/{boats}/edit?next=%2Fask%3Fagent%3Dcodex");
    let page = server.get(&edit).body;
    assert!(
        page.contains("name=\"next\" value=\"/ask?agent=codex\""),
        "{page}"
    );
    let memory = server.services.store.get_by(&boats).unwrap().memory;
    assert!(memory.pinned && memory.has_ended(server.services.clock.now()));
    assert!(!server.get(here).body.contains("leave at noon"));
}

#[test]
fn a_name_that_no_agent_can_have_is_explained_beside_the_form() {
    let server = WebTestServer::start();
    let page = server.get("/ask?agent=a%20b&prompt=keep%20me");
    assert_eq!(page.status, 200);
    assert!(
        page.body.contains("role=\"alert\"") && page.body.contains("keep me"),
        "{}",
        page.body
    );
}
