//! Forms that were refused or sent after the session had ended: the text of the person is not lost, and nothing happens unseen.

use memory_core::topic::{self, TopicKind, TopicWriteRequest};
use memory_core::{Code, Draft, MemoryStoreExt, SecretPolicy};

use super::server::{WebTestServer, encode_form};
use crate::http::server::HttpTestResponse;

/// Returns the names and values of the hidden fields of a page.
fn hidden_fields(page: &str) -> Vec<(String, String)> {
    let decode = |text: &str| {
        text.replace("&#34;", "\"")
            .replace("&#60;", "<")
            .replace("&#62;", ">")
            .replace("&#39;", "'")
            .replace("&#38;", "&")
    };
    let value = |tag: &str, name: &str| {
        let rest = tag.split(&format!(" {name}=\"")).nth(1)?;
        Some(decode(rest.split('"').next()?))
    };
    page.split("<input type=\"hidden\"")
        .skip(1)
        .filter_map(|tag| value(tag, "name").zip(value(tag, "value")))
        .collect()
}

/// Sends a form as a page of the server whose session has ended.
fn send_without_session(
    server: &WebTestServer,
    path: &str,
    fields: &[(&str, &str)],
) -> HttpTestResponse {
    let origin = format!("http://{}", server.place);
    let referer = format!("{origin}{path}");
    server.send(
        "POST",
        path,
        &[("Origin", &origin), ("Referer", &referer)],
        &encode_form(fields),
    )
}

/// Sends the sign-in form of a page with a code.
fn sign_in_on(server: &WebTestServer, page: &str, code: &str) -> HttpTestResponse {
    let mut fields = hidden_fields(page);
    fields.push(("code".into(), code.into()));
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    server.send("POST", "/sign-in", &[], &encode_form(&fields))
}

#[test]
fn a_form_that_was_sent_after_the_session_ended_is_saved_after_a_sign_in_in_place() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("green tea"));
    let path = format!("/memories/{id}/edit");
    let form = server.get(&path).body;
    let version = form
        .split("name=\"version\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let text = "black \"tea\" <b>\r\nand 'milk' & honey";
    let sent = [
        ("csrf", "ended"),
        ("version", version),
        ("title", ""),
        ("content", text),
        ("category", "inbox"),
        ("tags", "a"),
        ("scope", "global"),
    ];
    let asked = send_without_session(&server, &path, &sent);
    assert_eq!(
        (asked.status, asked.headers.contains_key("location")),
        (401, false),
        "the text is in no address"
    );
    for part in [
        "Sign in again to save",
        "black &quot;tea&quot; &lt;b&gt;",
        "<h2 class=\"label\"><bdi dir=\"auto\">Content</bdi></h2>",
    ] {
        assert!(asked.body.contains(part), "{part}: {}", asked.body);
    }
    assert!(
        !asked.body.contains(">ended<") && !asked.body.contains("value=\"ended\""),
        "{}",
        asked.body
    );
    let content = || server.services.store.get_by(&id).unwrap().memory.content;
    let wrong = sign_in_on(&server, &asked.body, "AAAA-AAAA");
    assert_eq!(
        (wrong.status, content().as_str()),
        (403, "green tea"),
        "nothing is done before the code is right"
    );
    assert_eq!(hidden_fields(&wrong.body), hidden_fields(&asked.body));
    let right = sign_in_on(&server, &wrong.body, &server.code());
    assert_eq!(right.status, 303, "{}", right.body);
    assert!(
        right.headers["location"].starts_with(&format!("/memories/{id}?done=")),
        "the save can be undone"
    );
    assert!(right.headers["set-cookie"].contains("HttpOnly"));
    assert_eq!(content(), "black \"tea\" <b>\nand 'milk' & honey");
}

#[test]
fn a_form_that_is_refused_after_the_sign_in_is_shown_again() {
    let server = WebTestServer::start();
    let asked = send_without_session(
        &server,
        "/reminders",
        &[("text", "call <Anna>"), ("when", "")],
    );
    let refused = sign_in_on(&server, &asked.body, &server.code());
    assert_eq!(refused.status, 400);
    assert!(
        refused.headers.contains_key("set-cookie"),
        "the person is signed in"
    );
    assert!(
        refused.body.contains("name=\"text\"")
            && refused.body.contains("value=\"call &lt;Anna&gt;\""),
        "{}",
        refused.body
    );
    assert!(
        !refused.body.contains(server.csrf()) && refused.body.contains("name=\"csrf\" value=\""),
        "the token is that of the new session"
    );
}

#[test]
fn a_form_of_another_site_or_of_no_page_is_not_continued() {
    let server = WebTestServer::start();
    let form = encode_form(&[("text", "buy the attacker tea tomorrow")]);
    let own = format!("http://{}", server.place);
    for headers in [
        vec![("Origin", "https://evil.example")],
        vec![("Origin", "null")],
        vec![("Sec-Fetch-Site", "cross-site")],
        vec![("Sec-Fetch-Site", "same-site"), ("Origin", own.as_str())],
        vec![("Sec-Fetch-Site", "none")],
        vec![],
    ] {
        let refused = server.send("POST", "/reminders", &headers, &form);
        assert!([401, 403].contains(&refused.status), "{headers:?}");
        assert!(!refused.body.contains("attacker"), "{headers:?}");
    }
    let sign_in = [
        ("code", server.code()),
        ("unsent-path", "//evil.example/x".into()),
        ("unsent:text", "a".into()),
    ];
    let sign_in: Vec<_> = sign_in
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    for (name, value) in [
        ("Origin", "https://evil.example"),
        ("Sec-Fetch-Site", "cross-site"),
    ] {
        let refused = server.send("POST", "/sign-in", &[(name, value)], &encode_form(&sign_in));
        assert_eq!(
            (refused.status, refused.headers.contains_key("set-cookie")),
            (403, false)
        );
    }
    let answer = server.send("POST", "/sign-in", &[], &encode_form(&sign_in));
    assert!(
        !answer.body.contains("evil") && !format!("{:?}", answer.headers).contains("evil"),
        "only paths of this server are called"
    );
    assert!(server.get("/reminders").body.contains("No reminders"));
}

#[test]
fn a_form_of_a_former_session_is_saved_after_a_confirmation() {
    let server = WebTestServer::start();
    let own = format!("http://{}", server.place);
    let form = encode_form(&[("csrf", "former"), ("text", "call Anna tomorrow at 9")]);
    let asked = server.send(
        "POST",
        "/reminders",
        &[("Cookie", server.cookie()), ("Origin", &own)],
        &form,
    );
    assert_eq!(asked.status, 403);
    assert!(
        asked.body.contains("Not saved yet") && asked.body.contains("call Anna tomorrow at 9"),
        "{}",
        asked.body
    );
    assert!(
        server.get("/reminders").body.contains("No reminders"),
        "the person decides"
    );
    let fields = hidden_fields(&asked.body);
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let saved = server.send(
        "POST",
        "/reminders",
        &[("Cookie", server.cookie()), ("Origin", &own)],
        &encode_form(&fields),
    );
    assert_eq!(saved.status, 303);
    assert!(server.get("/reminders").body.contains("call Anna"));
}

/// Sends a form from the page `from`.
fn send_from(
    server: &WebTestServer,
    from: &str,
    path: &str,
    fields: &[(&str, &str)],
) -> HttpTestResponse {
    let referer = format!("http://{}{from}", server.place);
    let fields: Vec<_> = [("csrf", server.csrf())]
        .into_iter()
        .chain(fields.iter().copied())
        .collect();
    server.send(
        "POST",
        path,
        &[("Cookie", server.cookie()), ("Referer", &referer)],
        &encode_form(&fields),
    )
}

#[test]
fn a_reminder_without_a_time_asks_for_it_beside_its_field() {
    let server = WebTestServer::start();
    let asked = send_from(
        &server,
        "/reminders?show=all",
        "/reminders",
        &[("text", "call \"Anna\""), ("when", "")],
    );
    assert_eq!(asked.status, 400);
    for part in [
        "<h1>Reminders</h1>",
        "value=\"call &quot;Anna&quot;\"",
        "aria-invalid=\"true\" aria-describedby=\"form-error\" autofocus=\"\"><p id=\"form-error\"",
        "The text names no time; choose one here.",
        "name=\"form-page\" value=\"/reminders?show=all\"",
    ] {
        assert!(asked.body.contains(part), "{part}: {}", asked.body);
    }
    let when = asked.body.split("id=\"when\"").nth(1).unwrap();
    assert!(
        when.split('>').next().unwrap().contains("aria-invalid"),
        "it is the field of the time"
    );
    let again = send_from(
        &server,
        "/reminders/done",
        "/reminders",
        &[("text", "call Bob"), ("form-page", "/reminders?show=all")],
    );
    assert!(
        again.body.contains("value=\"call Bob\""),
        "the form may be refused twice: {}",
        again.body
    );
}

#[test]
fn every_refused_form_has_the_typed_text_and_the_reason() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("tea"));
    let topic = TopicWriteRequest {
        name: "tea.md".parse().expect("a name"),
        title: Some("Tea".into()),
        description: Some("About tea".into()),
        kind: Some(TopicKind::User),
        content: Some("green".into()),
        secrets: SecretPolicy::Refuse,
    };
    topic::write(server.services.topics.as_ref().expect("topics"), &topic).expect("it is written");
    let secret = "the key is AKIAIOSFODNN7EXAMPLQ";
    let edit = format!("/memories/{id}/edit");
    let page = server.get(&edit).body;
    let version = page
        .split("name=\"version\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let reminder = format!("{secret} tomorrow");
    let forms = [
        (
            edit.as_str(),
            edit.as_str(),
            vec![
                ("version", version),
                ("content", secret),
                ("category", "inbox"),
                ("scope", "global"),
            ],
        ),
        (
            "/write?text=a",
            "/write",
            vec![("content", secret), ("scope", "global")],
        ),
        (
            "/topics",
            "/topics",
            vec![
                ("name", "x/y z"),
                ("kind", "user"),
                ("description", secret),
                ("content", "b"),
            ],
        ),
        (
            "/reminders",
            "/reminders",
            vec![("text", reminder.as_str()), ("when", "")],
        ),
    ];
    for (from, path, fields) in forms {
        let refused = send_from(&server, from, path, &fields);
        assert_eq!(refused.status, 400, "{path}");
        assert!(
            refused.body.contains(secret) && refused.body.contains("id=\"form-error\""),
            "{path}: {}",
            refused.body
        );
    }
    assert_eq!(
        server.services.store.get_by(&id).unwrap().memory.content,
        "tea"
    );
}

#[test]
fn the_text_of_a_form_whose_page_is_gone_is_shown_with_the_error() {
    let server = WebTestServer::start();
    let gone = "/memories/00000000-0000-0000-0000-000000000000/edit";
    let answer = send_from(
        &server,
        gone,
        gone,
        &[("content", "a text <b> that was typed"), ("version", "1")],
    );
    assert_eq!(answer.status, 404);
    assert!(
        answer.body.contains("What you wrote is not lost")
            && answer.body.contains("a text &lt;b&gt; that was typed"),
        "{}",
        answer.body
    );
}

#[test]
fn errors_speak_of_the_page() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("tea"));
    let none = "00000000-0000-0000-0000-000000000000";
    let pages = [
        "/nothing",
        &format!("/memories/{none}"),
        "/memories/x",
        "/activity/none",
        "/reminders?day=x",
        "/banks/none/settings",
        "/instances/kv/none",
        "/conversations/none",
        "/topics/none.md",
        "/sessions/show?day=x",
    ]
    .map(|path| server.get(path));
    let forms = [
        ("/undo", vec![("operation", "none")]),
        ("/undo", vec![]),
        ("/reminders", vec![("text", "no time")]),
        ("/reminders/done", vec![("id", none)]),
        ("/reminders/snooze", vec![("id", &id), ("until", "soonish")]),
        ("/memories/searches", vec![]),
        ("/topics", vec![("name", "..")]),
        ("/banks/user/settings", vec![("key", ""), ("value", "{")]),
        ("/write", vec![("content", " ")]),
        ("/write", vec![("content", "a"), ("scope", "x:y:z")]),
        (
            "/write",
            vec![
                ("content", "a"),
                ("scope", "global"),
                ("last-day", "2020-01-01"),
            ],
        ),
        ("/inbox/decide", vec![("item", "x"), ("action", "accept")]),
    ]
    .map(|(path, fields)| server.post(path, &fields));
    for page in pages.iter().chain(&forms) {
        assert!((400..500).contains(&page.status), "{}", page.body);
        let main = page
            .body
            .split("<main")
            .nth(1)
            .and_then(|rest| rest.split("</main>").next())
            .unwrap();
        let text: Vec<&str> = main
            .split('<')
            .map(|part| part.split_once('>').map_or(part, |(_, text)| text))
            .collect();
        let text = text.join(" ");
        assert!(!main.contains("<code>memory"), "a command: {text}");
        let is_code = |word: &str| Code::ALL.iter().any(|code| code.as_str() == word);
        assert!(
            !text
                .split(|letter: char| letter != '_' && !letter.is_ascii_uppercase())
                .any(is_code),
            "a code: {text}"
        );
        assert!(
            !text.contains(" /") && !text.contains("--"),
            "a path or an option: {text}"
        );
    }
}
