//! The start page: what happened since the last visit, and the decisions on it.

use memory_core::chrono::TimeDelta;
use memory_core::testing::wait_until;
use memory_core::{
    Category, Draft, MemoryStoreExt, ReviewPolicy, SecretPolicy, Services, View, WritePolicy,
    remind, write,
};

use super::activity::recall;
use super::server::WebTestServer;

/// Returns the services of the agent `codex`.
fn codex(server: &WebTestServer, policy: WritePolicy) -> Services {
    let review = ReviewPolicy {
        default: policy,
        rules: Vec::new(),
    };
    let view = View {
        agent: Some("codex".parse().expect("a name")),
        ..View::default()
    };
    Services {
        review,
        actor: "codex".into(),
        ..server.services.clone()
    }
    .restrict_to(&view)
}

fn write_as(services: &Services, draft: Draft) -> String {
    write(services, draft, SecretPolicy::Refuse)
        .expect("it is written")
        .id
        .to_string()
}

/// Returns the start page as soon as it contains a text. The review is made in the background.
fn page_with(server: &WebTestServer, text: &str) -> String {
    let mut page = String::new();
    wait_until(text, || {
        page = server.get("/today").body;
        page.contains(text)
    });
    page
}

/// Returns the value of the first hidden field `name` after `start`.
fn field<'a>(page: &'a str, start: &str, name: &str) -> &'a str {
    let rest = page.split_once(start).expect("the section").1;
    let rest = rest
        .split_once(&format!("name=\"{name}\" value=\""))
        .expect("the field")
        .1;
    rest.split('"').next().expect("a quotation mark")
}

#[test]
fn the_start_page_of_an_empty_home_leads_to_the_first_memory() {
    let server = WebTestServer::start();
    assert_eq!(server.get("/").headers["location"], "/today");
    let page = server.get("/today").body;
    for path in ["/write", "/import", "/assistants"] {
        assert!(page.contains(&format!("href=\"{path}\"")), "{page}");
    }
    assert!(!page.contains("<h2 id="), "no section is empty: {page}");
    server.write(Draft::new("The user drinks tea").category(Category::Preferences));
    let page = page_with(&server, "Nothing waits for you");
    assert!(page.contains("id=\"since\"") && !page.contains("Nothing is remembered yet"));
}

#[test]
fn the_page_shows_what_agents_asked_learned_and_changed_since_the_last_visit() {
    let server = WebTestServer::start();
    let agent = codex(&server, WritePolicy::Direct);
    let id = write_as(&agent, Draft::new("learned <before>"));
    recall(&server, "s1", &[&id]);
    let page = server.get("/today").body;
    for text in [
        "In the last 7 days",
        "<bdi dir=\"auto\">codex</bdi></a></h3>",
        "1 question<",
        "1 memory received",
        "verb=write\">1 written</a>",
        "which &lt;drink&gt;?",
        "learned &lt;before&gt;",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    server.clock.advance(TimeDelta::minutes(29));
    assert!(
        server.get("/today").body.contains("learned &lt;before&gt;"),
        "the same visit"
    );
    server.clock.advance(TimeDelta::hours(20));
    write_as(&agent, Draft::new("learned after"));
    let page = server.get("/today").body;
    assert!(page.contains("Since your last visit, <time"), "{page}");
    let summary = page.split("</section>").next().expect("a section");
    assert!(summary.contains("learned after") && !summary.contains("&lt;before&gt;"));
}

#[test]
fn a_proposal_is_accepted_or_rejected_and_the_decision_is_undone() {
    let server = WebTestServer::start();
    let agent = codex(&server, WritePolicy::Propose);
    write_as(&agent, Draft::new("The user prefers <tea>"));
    let page = server.get("/today").body;
    for text in [
        "1 proposal waits for your decision",
        "The user prefers &lt;tea&gt;",
        "<bdi dir=\"auto\">codex</bdi> proposes to add this under preferences",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    let item = field(&page, "id=\"proposals\"", "item");
    let form = [
        ("item", item),
        ("category", "preferences"),
        ("next", "/today"),
        ("action", "accept"),
    ];
    let page = server.post_and_follow("/inbox/decide", &form);
    assert!(!page.body.contains("id=\"proposals\""), "{}", page.body);
    let undo = field(&page.body, "class=\"undo-bar\"", "operation");
    let page = server.post_and_follow("/undo", &[("operation", undo), ("next", "/today")]);
    assert!(
        page.body.contains("1 proposal waits"),
        "it waits again: {}",
        page.body
    );
}

#[test]
fn one_of_two_contradicting_memories_supersedes_the_other_one() {
    let server = WebTestServer::start();
    let draft = |text: &str| Draft::new(text).category(Category::Knowledge);
    let older = server.write(draft("The office opens at nine"));
    let newer = server.write(draft("On the contrary, the office opens at ten"));
    let page = page_with(&server, "1 pair of memories may contradict each other");
    let key = field(&page, "id=\"conflicts\"", "key").to_owned();
    assert_eq!(field(&page, "id=\"conflicts\"", "newer"), newer);
    let decide = |action: &str| {
        let form = [
            ("key", key.as_str()),
            ("newer", &newer),
            ("older", &older),
            ("action", action),
        ];
        server.post("/today/conflict", &form)
    };
    let response = decide("newer");
    assert_eq!(response.status, 303, "{}", response.body);
    let superseded = |id: &str| {
        let stored = server.services.store.get_by(id).expect("it exists");
        stored.memory.superseded_by.map(|id| id.to_string())
    };
    assert_eq!(superseded(&older), Some(newer.clone()));
    // A second key on the same item, or another tab: both would be superseded, and agents would receive neither.
    assert_eq!(decide("older").status, 409);
    assert_eq!(superseded(&newer), None);
    let page = server.get(&response.headers["location"]).body;
    assert!(!page.contains("id=\"conflicts\""), "{page}");
    let undo = field(&page, "class=\"undo-bar\"", "operation").to_owned();
    server.post("/undo", &[("operation", &undo), ("next", "/today")]);
    assert_eq!(superseded(&older), None);
    assert_eq!(decide("older").status, 303);
    assert_eq!(superseded(&newer), Some(older.clone()));
    server.post("/undo", &[("operation", ""), ("next", "/today")]);
    let other = [
        ("key", "unknown"),
        ("newer", newer.as_str()),
        ("older", older.as_str()),
        ("action", "newer"),
    ];
    assert_eq!(server.post("/today/conflict", &other).status, 409);
}

#[test]
fn two_memories_that_both_hold_are_not_shown_again() {
    let server = WebTestServer::start();
    let draft = |text: &str| Draft::new(text).category(Category::Knowledge);
    let older = server.write(draft("The office opens at nine"));
    let newer = server.write(draft("On the contrary, the office opens at ten"));
    let page = page_with(&server, "id=\"conflicts\"");
    let form = [
        ("key", field(&page, "id=\"conflicts\"", "key")),
        ("newer", newer.as_str()),
        ("older", older.as_str()),
        ("action", "both"),
    ];
    let page = server.post_and_follow("/today/conflict", &form).body;
    assert!(!page.contains("id=\"conflicts\""), "{page}");
}

#[test]
fn duplicates_are_suggested_and_a_rejected_suggestion_stays_hidden() {
    let server = WebTestServer::start();
    server.write(Draft::new("a twin <one>").category(Category::Knowledge));
    server.write(Draft::new("a twin <two>").category(Category::Knowledge));
    let page = page_with(&server, "1 memory has possible duplicates");
    assert!(page.contains("Nearly the same words: <a href=\"/memories/"));
    let key = field(&page, "id=\"duplicates\"", "key");
    let form = [("key", key), ("next", "/today"), ("action", "reject")];
    let page = server.post_and_follow("/inbox/plan", &form).body;
    assert!(
        page.contains("<h1>Today</h1>") && !page.contains("id=\"duplicates\""),
        "{page}"
    );
}

#[test]
fn due_reminders_and_expiring_memories_are_decided_on_the_page() {
    let server = WebTestServer::start();
    let due = server.services.clock.now() + TimeDelta::minutes(1);
    remind(
        &server.services,
        Draft::new("call <Anna>"),
        Some(due.into()),
        &memory_core::chrono::Utc,
        SecretPolicy::Refuse,
    )
    .expect("it is written");
    let id = server.write(Draft::new("a note without a category"));
    server.clock.advance(TimeDelta::minutes(2));
    let page = page_with(&server, "1 memory goes to the trash within 7 days");
    assert!(page.contains("1 reminder is due") && page.contains("call &lt;Anna&gt;"));
    let reminder = field(&page, "id=\"due\"", "id");
    let page = server
        .post_and_follow("/reminders/done", &[("id", reminder), ("next", "/today")])
        .body;
    assert!(!page.contains("id=\"due\""), "{page}");
    let form = [("pinned", "yes"), ("next", "/today")];
    let page = server
        .post_and_follow(&format!("/memories/{id}/pin"), &form)
        .body;
    assert!(page.contains("<h1>Today</h1>") && !page.contains("id=\"expiring\""));
}

#[test]
fn one_old_memory_a_day_is_confirmed_or_deleted() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("The user drinks <milk>").category(Category::Preferences));
    assert!(!server.get("/today").body.contains("id=\"old\""));
    server.clock.advance(TimeDelta::days(100));
    let page = server.get("/today").body;
    assert!(
        page.contains("Is this still true?") && page.contains("never used by you or an agent"),
        "{page}"
    );
    let decide = |action: &str| {
        server
            .post_and_follow("/today/old", &[("id", &id), ("action", action)])
            .body
    };
    assert!(
        !decide("keep").contains("id=\"old\""),
        "one a day is enough"
    );
    server.clock.advance(TimeDelta::days(1));
    assert!(server.get("/today").body.contains("used once"));
    let page = decide("delete");
    assert!(page.contains("undo-bar"), "{page}");
    assert!(server.services.store.get_by(&id).is_err());
    let response = server.post("/today/old", &[("id", &id), ("action", "other")]);
    assert_eq!(response.status, 400);
}
