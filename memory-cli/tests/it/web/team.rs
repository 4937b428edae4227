//! Tests of the page of a home that shares a database with a team.

use super::browser::Browser;
use super::home::{DESKTOP, WebHome};
use super::http_client::{PlainResponse, PlainSession};
use crate::postgres_server::{PostgresServer, report_skipped};
use crate::principal_http::PrincipalHomes;

/// Returns the texts of the memories in a home.
fn texts(home: &WebHome, root: &str) -> String {
    home.sandbox.run_shell(&format!(
        "memory --root {root} list --json | jq -r '.memories[].content' | sort"
    ))
}

/// Returns the id of the only operation on a page of the log.
fn operation(page: &PlainResponse) -> String {
    let ids: Vec<&str> = page
        .body
        .split("name=\"operation\" value=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let [id] = ids.as_slice() else {
        panic!("{ids:?} in {}", page.body)
    };
    (*id).to_owned()
}

/// Serves the page of ada, whose team has a memory of ada and one of bob.
fn serve_ada(claim: &str) -> Option<WebHome> {
    let homes = PrincipalHomes::new(claim)?;
    homes.init("ada");
    homes.init("bob");
    for (name, text) in [
        ("ada", "Anchors are red"),
        ("bob", "Buoys <b>are</b> green"),
    ] {
        let write =
            format!("memory --root {name} write '{text}' --scope team:web --category knowledge");
        let written = homes.sandbox.run_shell(&write);
        assert!(!written.contains("error"), "{written}");
    }
    // The page shows what is on its machine.
    homes.sandbox.run_shell("memory --root ada list");
    Some(WebHome::start_on(homes.sandbox, "ada"))
}

#[test]
fn an_undo_of_a_change_of_another_person_is_confirmed_on_a_page_that_names_author_and_memory() {
    let Some(home) = serve_ada("undo on the page of a team") else {
        return;
    };
    let session = PlainSession::sign_in(&home);
    let own = operation(&session.get("/activity?by=cli"));
    let other = operation(&session.get("/activity?by=bob"));
    let both = "Anchors are red\nBuoys <b>are</b> green\n";
    // Neither the button nor the script undoes it, and the confirmation of another operation does not count.
    for extra in ["", &format!("&confirmed={own}"), "&background=yes"] {
        let form = format!("operation={other}&next=%2Factivity{extra}");
        let response = session.post("/undo", &form);
        assert_eq!(response.status, 409, "{}", response.head);
        assert_eq!(texts(&home, "bob"), both, "{extra}");
    }
    let page = session.post(
        "/undo",
        &format!("operation={own}%2C{other}&next=%2F%2Fevil.example"),
    );
    assert_eq!(page.status, 409, "{}", page.head);
    for part in [
        ">bob</bdi></strong>".to_owned(),
        "Buoys &lt;b&gt;are&lt;/b&gt; green".to_owned(),
        format!("name=\"confirmed\" value=\"{other}\""),
        format!("name=\"operation\" value=\"{own},{other}\""),
        "name=\"next\" value=\"/\"".to_owned(),
    ] {
        assert!(page.body.contains(&part), "{part} in {}", page.body);
    }
    assert!(!page.body.contains("Anchors are red"), "{}", page.body);
    assert_eq!(texts(&home, "bob"), both);
    let response = session.post(
        "/undo",
        &format!("operation={other}&confirmed={other}&next=%2Factivity"),
    );
    assert_eq!(response.status, 303, "{}", response.head);
    assert_eq!(texts(&home, "bob"), "Anchors are red\n");
    let response = session.post("/undo", &format!("operation={own}&next=%2Factivity"));
    assert_eq!(response.status, 303, "{}", response.head);
    assert_eq!(texts(&home, "bob"), "");
}

#[test]
fn a_person_reads_the_author_and_confirms_the_undo_in_a_browser() {
    let (Some(browser), Some(home)) = (Browser::find(), serve_ada("a confirmed undo in a browser"))
    else {
        return;
    };
    let page = home.sign_in(&browser, DESKTOP);
    home.open(&page, "/activity?by=bob");
    page.follow("button >> Undo");
    page.wait_for_text("main", "bob: Written Buoys <b>are</b> green");
    for width in [390, 1280] {
        page.resize(width, 800);
        let excess = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert!(
            page.evaluate(excess)
                .as_f64()
                .is_some_and(|excess| excess <= 0.0)
        );
        for (theme, is_dark) in [("light", false), ("dark", true)] {
            page.set_dark(is_dark);
            page.save_screenshot(&format!("confirm-undo-{width}-{theme}"));
        }
    }
    page.follow("a >> Cancel");
    page.wait_for_text("h1", "Activity");
    assert!(texts(&home, "bob").contains("Buoys"));
    page.follow("button >> Undo");
    page.follow("main button >> Undo");
    page.wait_for(".undo-bar");
    assert_eq!(texts(&home, "bob"), "Anchors are red\n");
}

#[test]
fn an_export_of_the_page_is_in_the_audit_log_or_its_name_states_that_it_is_not() {
    let Some(server) = PostgresServer::start() else {
        report_skipped("an audited export of the page", "there is no initdb");
        return;
    };
    let homes = PrincipalHomes::on(&server);
    homes.init("ada");
    homes
        .sandbox
        .run_shell("memory --root ada write 'Anchors are red'; memory --root ada list");
    let home = WebHome::start_on(homes.sandbox, "ada");
    let session = PlainSession::sign_in(&home);
    let export = || {
        let response = session.get("/export/file?format=jsonl");
        assert_eq!(response.status, 200, "{}", response.head);
        assert!(
            response.body.contains("Anchors are red"),
            "{}",
            response.body
        );
        response
            .header("content-disposition")
            .unwrap_or_default()
            .to_owned()
    };
    let name = export();
    assert!(!name.contains("unrecorded"), "{name}");
    let exports = home
        .sandbox
        .run_shell("memory --root owner log --audit | cut -f 2-4 | grep export");
    assert_eq!(exports, "ada\texport\t1 memories\n");
    drop(server);
    let name = export();
    assert!(name.contains("-unrecorded-memories.jsonl"), "{name}");
}
