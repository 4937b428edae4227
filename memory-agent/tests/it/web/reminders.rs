//! The reminders: the list, the calendar, done and snooze.

use chrono::TimeDelta;
use memory_core::{Draft, MemoryStoreExt, SecretPolicy, remind};

use super::server::WebTestServer;

fn add(server: &WebTestServer, text: &str, days: i64) -> String {
    let at = server.services.clock.now() + TimeDelta::days(days);
    let report = remind(
        &server.services,
        Draft::new(text),
        Some(at.into()),
        &chrono::Utc,
        SecretPolicy::Refuse,
    )
    .expect("it is written");
    report.stored.memory.id.to_string()
}

#[test]
fn reminders_are_listed_and_in_the_month() {
    let server = WebTestServer::start();
    let page = server.get("/reminders").body;
    assert!(page.contains("No reminders") && page.contains("<table class=\"calendar\">"));
    let id = add(&server, "call <Anna>", 1);
    let day = server
        .services
        .store
        .get_by(&id)
        .unwrap()
        .memory
        .reminder
        .unwrap()
        .due
        .date_naive();
    let page = server
        .get(&format!("/reminders?month={}", day.format("%Y-%m")))
        .body;
    assert!(
        page.contains("1 open") && page.matches("call &lt;Anna&gt;").count() >= 2,
        "in the list and in the calendar: {page}"
    );
    assert!(
        server
            .get(&format!("/reminders?day={day}"))
            .body
            .contains("call &lt;Anna&gt;")
    );
    assert!(
        !server
            .get("/reminders?day=1999-01-01")
            .body
            .contains("class=\"card reminder")
    );
    for query in ["day=x", "month=x", "month=2026-13"] {
        assert_eq!(
            server.get(&format!("/reminders?{query}")).status,
            400,
            "{query}"
        );
    }
}

#[test]
fn a_reminder_is_added_completed_and_snoozed() {
    let server = WebTestServer::start();
    let page = server
        .post_and_follow(
            "/reminders",
            &[
                ("text", "call Anna tomorrow at 3pm"),
                ("next", "/reminders"),
            ],
        )
        .body;
    assert!(
        page.contains("1 open") && page.contains("undo-bar"),
        "{page}"
    );
    let id = page
        .split("name=\"id\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap()
        .to_owned();
    let due = |id: &str| {
        server
            .services
            .store
            .get_by(id)
            .unwrap()
            .memory
            .reminder
            .unwrap()
    };
    let first = due(&id).due;
    server.post_and_follow("/reminders/snooze", &[("id", &id), ("until", "in 1 week")]);
    assert!(first < due(&id).due);
    let later = (due(&id).due + TimeDelta::days(2))
        .format("%Y-%m-%dT%H:%M")
        .to_string();
    server.post_and_follow(
        "/reminders/snooze",
        &[("id", &id), ("until", ""), ("custom", &later)],
    );
    assert_eq!(due(&id).due.format("%Y-%m-%dT%H:%M").to_string(), later);
    server.post_and_follow(
        "/reminders/snooze",
        &[("id", &id), ("until", "every day at 9am")],
    );
    assert!(
        server
            .get("/reminders")
            .body
            .contains("every day at 9am</bdi>")
    );
    let first = due(&id).due;
    server.post_and_follow("/reminders/done", &[("id", &id)]);
    assert_eq!(
        (due(&id).is_open(), due(&id).due),
        (true, first + TimeDelta::days(1))
    );
    server.post_and_follow("/reminders/done", &[("id", &id), ("series", "end")]);
    assert!(!due(&id).is_open());
    assert!(server.get("/reminders").body.contains("No reminders"));
    assert!(server.get("/reminders?show=all").body.contains("Reopen"));
    for (path, fields) in [
        ("/reminders", [("text", ""), ("when", "")]),
        ("/reminders", [("text", "no time in here"), ("when", "")]),
        (
            "/reminders/snooze",
            [("id", id.as_str()), ("until", "soonish")],
        ),
        ("/reminders/snooze", [("id", id.as_str()), ("until", "")]),
    ] {
        assert_eq!(server.post(path, &fields).status, 400, "{path} {fields:?}");
    }
    assert_eq!(
        server.post("/reminders/done", &[("id", "00000000")]).status,
        404
    );
}
