//! The page of settings.

use super::server::WebTestServer;

/// Returns the values that the file of settings has.
fn values(server: &WebTestServer) -> Vec<(String, String)> {
    let values = server.settings.lock().expect("no panic");
    values
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn pair(key: &str, value: &str) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

/// The fields of the form as the page sends them if nothing is changed, with these changes.
fn form<'a>(changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut fields = vec![
        ("review.policy", "direct"),
        ("daemon.interval", "60s"),
        ("llm.api_key", ""),
        ("hooks.on_event", ""),
    ];
    fields.retain(|(key, _)| !changes.iter().any(|(own, _)| own == key));
    fields.extend(changes);
    let keys = [
        "git.enabled",
        "review.policy",
        "daemon.interval",
        "llm.api_key",
        "hooks.on_event",
    ];
    fields.extend(keys.map(|key| ("key", key)));
    fields
}

#[test]
fn each_setting_has_a_labelled_field_of_its_kind_with_its_meaning() {
    let server = WebTestServer::start();
    let page = server.get("/settings").body;
    for part in [
        "<label for=\"git.enabled\">Enabled</label>",
        "type=\"checkbox\" role=\"switch\" name=\"git.enabled\"",
        "<select id=\"review.policy\"",
        "What <code>daemon.interval</code> means",
        "type=\"password\" autocomplete=\"off\" placeholder=\"none\"",
        "Only in the file.",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("name=\"hooks.on_event\""), "{page}");
}

#[test]
fn a_form_saves_what_was_changed_and_can_be_changed_back() {
    let server = WebTestServer::start();
    assert_eq!(server.post("/settings", &form(&[])).status, 303);
    assert_eq!(values(&server), []);
    let changes = [("git.enabled", "true"), ("daemon.interval", "5m")];
    let page = server.post_and_follow("/settings", &form(&changes)).body;
    assert_eq!(
        values(&server),
        [pair("daemon.interval", "5m"), pair("git.enabled", "true")]
    );
    assert!(
        page.contains("Change back") && page.contains("value=\"5m\""),
        "{page}"
    );
    let off = server.post("/settings", &form(&[("daemon.interval", "5m")]));
    assert_eq!(off.status, 303);
    assert_eq!(
        values(&server)[1],
        pair("git.enabled", "false"),
        "a switch that is off is not sent"
    );
    server.post_and_follow("/settings/back", &[]);
    assert_eq!(values(&server)[1], pair("git.enabled", "true"));
    server.post_and_follow("/settings", &[("reset", "git.enabled")]);
    assert_eq!(values(&server), [pair("daemon.interval", "5m")]);
}

#[test]
fn a_page_that_is_older_than_a_setting_does_not_replace_it() {
    let server = WebTestServer::start();
    let save = |was: &str, value: &str| {
        let fields = [
            ("key", "daemon.interval"),
            ("was:daemon.interval", was),
            ("daemon.interval", value),
        ];
        server.post("/settings", &fields)
    };
    server.post("/settings", &form(&[("daemon.interval", "5m")]));
    let current = values(&server);
    let untouched = save("10m", "10m");
    assert_eq!(untouched.status, 303, "it was not touched on that page");
    let refused = save("10m", "7m");
    assert_eq!(refused.status, 422, "both changed it");
    let page = refused.body;
    assert!(
        page.contains("value=\"7m\"") && page.contains("tabindex=\"0\">5m</pre>"),
        "{page}"
    );
    assert_eq!(values(&server), current);
    assert_eq!(save("5m", "7m").status, 303);
    assert_ne!(values(&server), current);
}

#[test]
fn a_value_that_is_not_accepted_is_shown_with_the_reason_and_the_others_are_saved() {
    let server = WebTestServer::start();
    let changes = [("review.policy", "propose"), ("daemon.interval", "wrong")];
    let refused = server.post("/settings", &form(&changes));
    assert_eq!(refused.status, 422);
    assert_eq!(values(&server), [pair("review.policy", "propose")]);
    let page = refused.body;
    assert!(
        page.contains("value=\"wrong\"") && page.contains("is not a duration"),
        "{page}"
    );
}

#[test]
fn a_secret_is_set_and_never_shown_and_a_fixed_setting_is_not_changed() {
    let server = WebTestServer::start();
    let changes = [("llm.api_key", "sk-secret"), ("hooks.on_event", "rm -r /")];
    let page = server.post_and_follow("/settings", &form(&changes)).body;
    assert_eq!(values(&server), [pair("llm.api_key", "sk-secret")]);
    assert!(
        page.contains("set, and never shown") && !page.contains("sk-secret"),
        "{page}"
    );
    server.post_and_follow("/settings", &[("reset", "hooks.on_event")]);
    server.post_and_follow("/settings", &form(&[]));
    assert_eq!(
        values(&server),
        [pair("llm.api_key", "sk-secret")],
        "an empty field keeps it"
    );
}

#[test]
fn a_list_has_a_value_on_each_line_and_is_saved_and_changed_back() {
    let server = WebTestServer::start();
    let save = |was: &str, value: &str| {
        let fields = [
            ("key", "review.rules"),
            ("was:review.rules", was),
            ("review.rules", value),
        ];
        server.post("/settings", &fields).status
    };
    assert_eq!(save("", "codex * propose\r\n* global direct\r\n"), 303);
    let both = "codex * propose\n* global direct";
    assert_eq!(values(&server), [pair("review.rules", both)]);
    let page = server.get("/settings").body;
    assert!(page.contains(&format!("\n{both}</textarea>")), "{page}");
    assert_eq!(save(&both.replace('\n', "\r\n"), "codex * direct"), 303);
    server.post_and_follow("/settings/back", &[]);
    assert_eq!(values(&server), [pair("review.rules", both)]);
}
