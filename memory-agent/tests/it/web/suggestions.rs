//! The suggestions of a refinement.

use memory_core::{Category, Draft, MemoryStoreExt, Phase};

use super::server::{NO_PLAN, WebTestServer};

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
    let both = [
        ("key", "unknown"),
        ("key", other.as_str()),
        ("action", "accept"),
        ("background", "yes"),
    ];
    let reply = server.post("/inbox/plan", &both).body;
    assert!(
        reply.contains("undo-bar") && reply.contains("Some suggestions were not applied"),
        "{reply}"
    );
}

#[test]
fn the_plan_is_made_again_only_after_a_change() {
    let server = WebTestServer::start();
    server.write(Draft::new("Tea is a plant"));
    let plans = || *server.plans.lock().unwrap();
    for _ in 0..3 {
        assert!(server.get("/inbox/plan").body.contains("Tea is a plant"));
    }
    assert_eq!(plans(), 1);
    server.write(Draft::new("Coffee is a bean"));
    assert!(server.get("/inbox/plan").body.contains("Coffee is a bean"));
    assert_eq!(plans(), 2);
}

#[test]
fn a_page_that_takes_long_is_shown_without_its_content_and_later_with_the_content_of_before() {
    let server = WebTestServer::start();
    server.write(Draft::new("Tea is a plant"));
    let plan = || server.get("/inbox/plan").body;
    let until = |text: &str| while !plan().contains(text) {};
    let delay = server.plans.lock().unwrap();
    assert!(plan().contains("are being looked for"));
    drop(delay);
    until("Tea is a plant");
    server.write(Draft::new("Coffee is a bean"));
    let delay = server.plans.lock().unwrap();
    assert!(plan().contains("Tea is a plant") && !plan().contains("Coffee is a bean"));
    drop(delay);
    until("Coffee is a bean");
}

#[test]
fn a_page_shows_why_its_content_could_not_be_made_and_then_the_content() {
    let server = WebTestServer::start();
    let plan = || server.get("/inbox/plan").body;
    let id = server.write(Draft::new(NO_PLAN));
    let delay = server.plans.lock().unwrap();
    assert!(plan().contains("are being looked for"));
    drop(delay);
    while !plan().contains("Something failed") && !plan().contains("This cannot be done") {}
    server.post_and_follow(&format!("/memories/{id}/delete"), &[]);
    server.write(Draft::new("Tea is a plant"));
    assert!(plan().contains("Tea is a plant"));
}
