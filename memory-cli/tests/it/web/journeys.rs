//! What a person does with memories on the web page, each with and without scripts.

use serde_json::{Value, json};

use super::browser::{Browser, Page, PageOptions};
use super::home::{DESKTOP, EDITOR, FERRY, HARBOUR, WebHome};

/// Runs a journey in a new home, once with scripts and once without.
pub(super) fn travel(journey: impl Fn(&WebHome, &Page)) {
    let Some(browser) = Browser::find() else {
        return;
    };
    for can_run_scripts in [true, false] {
        let home = WebHome::start();
        let page = home.sign_in(
            &browser,
            PageOptions {
                can_run_scripts,
                ..DESKTOP
            },
        );
        journey(&home, &page);
        assert_eq!(
            page.events("Page.javascriptDialogOpening"),
            [] as [Value; 0]
        );
        let errors: Vec<String> = page
            .console_errors()
            .into_iter()
            .filter(|error| !is_expected(error))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

/// Returns whether an entry of the console only reports the status of a refused form.
fn is_expected(error: &str) -> bool {
    [
        "403 (Forbidden)",
        "409 (Conflict)",
        "400 (Bad Request)",
        "422 (Unprocessable",
    ]
    .iter()
    .any(|status| error.contains(status))
}

/// Returns the selector of the link to a memory.
pub(super) fn link(id: &str) -> String {
    format!("main h2 a[href=\"/memories/{id}\"]")
}

#[test]
fn a_memory_is_found_by_words_and_facets_with_the_reason() {
    travel(|home, page| {
        home.open(page, "/memories");
        page.fill("#search", "ferry island");
        if page.can_run_scripts {
            page.wait_for(&link(FERRY));
            page.wait_for_text("#count", "match");
        }
        page.load(|| page.press("Enter"));
        assert!(
            page.address().starts_with("/memories?q=ferry"),
            "{}",
            page.address()
        );
        assert_eq!(
            (page.count(&link(FERRY)), page.count(&link(EDITOR))),
            (1, 0)
        );
        page.click("summary >> Why this was found");
        page.wait_for_text("main details[open]", "words");
        page.fill("input[name=name]", "my ferries");
        page.follow("button >> Save");
        page.follow("aside a >> my ferries");
        assert_eq!(page.count(&link(FERRY)), 1);
        home.open(page, "/memories");
        page.click("aside summary >> More");
        page.follow("aside a >> preferences");
        assert_eq!(
            (page.count(&link(EDITOR)), page.count(&link(FERRY))),
            (1, 0)
        );
        page.follow("a >> Remove filters");
        page.follow("a[rel=next]");
        page.follow("a[rel=prev]");
    });
}

#[test]
fn a_memory_is_read_with_its_links_history_and_recalls() {
    travel(|home, page| {
        home.open(page, "/memories?q=ferry");
        page.follow(&link(FERRY));
        assert_eq!(page.text("h1"), "The ferry");
        assert!(
            page.text("article").contains("leaves at seven"),
            "{}",
            page.text("article")
        );
        page.follow(&format!("article a[href=\"/memories/{HARBOUR}\"]"));
        page.wait_for_text("main", "Linked from");
        assert!(
            0 < page.count(&link(FERRY)),
            "the page of the target has a preview of the source"
        );
        home.open(page, &format!("/memories/{EDITOR}"));
        page.wait_for_text("main", "which mode does the user prefer in the editor?");
        page.wait_for_text("main", "claude-code");
        for digit in ['5', '6', '7', 'e'] {
            home.open(
                page,
                &format!("/memories/00000000-0000-4000-8000-00000000000{digit}"),
            );
            page.wait_for("article");
            assert_eq!(page.evaluate("window.attacked === undefined"), true);
            assert_eq!(
                page.count(
                    "article script, article img, article iframe, article svg, article [onload]"
                ),
                0
            );
        }
    });
}

#[test]
fn a_memory_is_corrected_tagged_filed_and_pinned() {
    travel(|home, page| {
        home.open(page, &format!("/memories/{FERRY}"));
        if page.can_run_scripts {
            page.load(|| page.press("e"));
        } else {
            page.follow("a >> Edit");
        }
        page.fill(
            "#content",
            "The ferry leaves at eight.\n\nSee [[Harbour]] and 绿茶.",
        );
        page.follow("button >> Save");
        page.wait_for_text("article", "leaves at eight");
        page.wait_for_text(".undo-bar", "Changed");
        page.save_screenshot("undo-bar-1280-light");
        assert!(home.read(FERRY).starts_with("The ferry leaves at eight."));
        page.fill("#add-tag", "timetable");
        page.follow("button >> Add");
        page.wait_for_text("aside", "timetable");
        page.select("#category", "project");
        page.follow("button >> Move");
        page.follow("button >> Pin");
        page.wait_for("button >> Unpin");
        let read = home.sandbox.run_json(&["read", FERRY]);
        assert_eq!(
            (&read["category"], &read["pinned"]),
            (&json!("project"), &json!(true)),
            "{read}"
        );
        assert!(
            read["tags"]
                .as_array()
                .is_some_and(|tags| tags.contains(&json!("timetable"))),
            "{read}"
        );
        page.wait_for_text("#history ~ ol", "web");
    });
}

#[test]
fn an_outdated_edit_shows_both_versions_and_changes_nothing() {
    travel(|home, page| {
        home.open(page, &format!("/memories/{FERRY}/edit"));
        // A form without input would show the other change.
        page.fill("#content", "The ferry leaves at ten.");
        home.sandbox
            .run(&["edit", FERRY, "--content", "The ferry leaves at nine."]);
        page.follow("button >> Save");
        page.wait_for_text("h1", "Changed by cli");
        page.save_screenshot("conflict-1280-light");
        assert_eq!(page.text("pre.source").trim(), "The ferry leaves at nine.");
        if page.can_run_scripts {
            // The address of the refused form shows the current version, which a live update would bring.
            page.hover(".site-header");
            home.sandbox
                .run(&["write", "--category", "inbox", "The gate is painted."]);
            page.wait_for_text(".navigation-groups a[href^='/inbox']", "5");
        }
        assert_eq!(
            page.property("#content", "value"),
            "The ferry leaves at ten."
        );
        assert_eq!(home.read(FERRY), "The ferry leaves at nine.");
        page.follow("button >> Replace the current version");
        page.wait_for_text("article", "leaves at ten");
        assert_eq!(home.read(FERRY), "The ferry leaves at ten.");
    });
}

#[test]
fn every_change_is_undone_in_the_bar_in_the_history_and_in_the_list_of_deleted_memories() {
    travel(|home, page| {
        let total = || home.sandbox.run_json(&["list"])["total"].clone();
        let before = total();
        home.open(page, &format!("/memories/{FERRY}"));
        page.follow("button >> Delete");
        assert_ne!(total(), before);
        if page.can_run_scripts {
            page.load(|| page.press("u"));
        } else {
            page.follow(".undo-bar button >> Undo");
        }
        assert_eq!(total(), before);
        for id in [FERRY, HARBOUR, EDITOR] {
            home.open(page, &format!("/memories/{id}"));
            page.follow("button >> Delete");
        }
        home.open(page, "/memories/deleted");
        page.follow("button >> Restore");
        assert_eq!(
            home.read(EDITOR),
            "The user prefers dark mode in every editor."
        );
        home.open(page, "/activity");
        page.wait_for_text("main", "web");
        home.open(page, &format!("/memories/{EDITOR}"));
        page.follow("a >> Edit");
        page.fill("#content", "The user prefers light mode.");
        page.follow("button >> Save");
        home.open(page, &format!("/memories/{EDITOR}"));
        page.follow("#history ~ ol button >> Undo this change");
        page.wait_for_text("article", "dark mode");
    });
}

#[test]
fn the_first_memory_of_an_empty_home_is_written_from_the_start_page() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start_empty();
    let page = home.sign_in(&browser, DESKTOP);
    page.follow("main a >> Write a memory");
    page.fill("#content", "The user prefers dark mode");
    page.follow("main button >> Save");
    page.wait_for_text("article", "dark mode");
    home.open(&page, "/today");
    page.wait_for_text("main", "1 memory");
}

#[test]
fn a_deletion_of_several_memories_is_undone_at_once() {
    travel(|home, page| {
        home.open(page, "/memories");
        for id in [FERRY, HARBOUR, EDITOR] {
            page.click(&format!("input[name=id][value=\"{id}\"]"));
        }
        page.follow("#bulk button >> Delete");
        assert_eq!(page.count(&link(FERRY)), 0);
        page.follow(".undo-bar button >> Undo");
        for id in [FERRY, HARBOUR, EDITOR] {
            assert_eq!(page.count(&link(id)), 1);
        }
    });
}

#[test]
fn a_person_signs_in_with_a_new_code_and_signs_out() {
    let Some(browser) = Browser::find() else {
        return;
    };
    for can_run_scripts in [true, false] {
        let home = WebHome::start();
        let page = browser.open_page(PageOptions {
            can_run_scripts,
            ..DESKTOP
        });
        home.open(&page, &format!("/memories/{FERRY}"));
        assert_eq!(page.text("h1"), "Sign in to your memory");
        // The browser focuses the field after it has drawn the page.
        page.wait_for_true("document.activeElement.id === 'code'");
        page.fill("#code", "AAAA-AAAA");
        page.load(|| page.press("Enter"));
        page.wait_for_text("[role=alert]", "wrong");
        page.fill("#code", &home.code().to_lowercase());
        page.load(|| page.press("Enter"));
        assert_eq!(
            page.text("h1"),
            "The ferry",
            "the person arrives at the requested page"
        );
        assert_eq!(
            page.evaluate("document.cookie"),
            "",
            "scripts cannot read the cookie"
        );
        assert!(
            page.requests().iter().all(|url| !url.contains(home.code())),
            "{:?}",
            page.requests()
        );
        page.follow("button >> Sign out");
        home.open(&page, "/memories");
        assert_eq!(page.text("h1"), "Sign in to your memory");
    }
}

#[test]
fn the_write_of_an_agent_appears_without_a_reload_and_moves_nothing_under_the_pointer() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start();
    let page = home.sign_in(&browser, DESKTOP);
    let write = |text: &str| {
        home.call_tools(
            "claude",
            &[json!({ "name": "memory_write", "params": { "content": text } })],
        );
    };
    home.open(&page, "/memories");
    page.hover(".site-header");
    write("The lighthouse is white");
    page.wait_for_text("#results", "The lighthouse is white");
    page.hover("#results .card");
    let before = page.text("#results");
    write("The lighthouse is red");
    page.wait_for_text("#live", "new");
    assert_eq!(page.text("#results"), before);
    page.click("#live button >> Show");
    page.wait_for_text("#results", "The lighthouse is red");
    assert_eq!(
        page.events("Page.loadEventFired").len(),
        3,
        "nothing was reloaded"
    );
}

#[test]
fn the_start_page_is_decided_with_one_key_each() {
    travel(|home, page| {
        assert_eq!(
            (page.text("h1"), page.address().as_str()),
            ("Today".to_owned(), "/today")
        );
        let waiting = page.text("#proposals");
        if page.can_run_scripts {
            while page.count(".is-selected button >> Accept") == 0 {
                page.press("j");
            }
            page.evaluate("window.isSamePage = true");
            page.press("a");
            page.wait_for(".undo-bar button >> Undo");
            page.wait_for_true(&format!(
                "document.querySelector('#proposals').innerText !== {waiting:?}"
            ));
            page.click(".undo-bar button");
            page.wait_for_text("#proposals", &waiting);
            assert_eq!(
                page.evaluate("window.isSamePage"),
                true,
                "nothing was reloaded"
            );
        } else {
            page.follow("main button >> Accept");
            assert_ne!(page.text("main"), waiting);
            assert_eq!(page.address().split('?').next(), Some("/today"));
            page.follow(".undo-bar button");
        }
        assert_eq!(page.text("#proposals"), waiting);
        home.open(page, "/today");
    });
}

#[test]
fn the_palette_the_keys_and_the_previews_need_no_mouse() {
    travel(|home, page| {
        if !page.can_run_scripts {
            return;
        }
        home.open(page, "/today");
        let open = || {
            page.evaluate(
                "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))",
            );
            page.wait_for("dialog.palette input");
        };
        open();
        page.fill("dialog.palette input", "ferry");
        page.wait_for_text("#palette-list", "The ferry");
        page.wait_for_text("#palette-list", "Write “ferry”");
        page.press("Escape");
        assert_eq!(page.count("dialog"), 0);
        open();
        page.fill("dialog.palette input", "remin");
        page.load(|| page.press("Enter"));
        assert_eq!(page.address(), "/reminders");
        page.press("?");
        page.wait_for_text("dialog.keys", "Command palette");
        page.wait_for_text("dialog.keys", "g t");
        page.press("Escape");
        page.press("g");
        page.load(|| page.press("m"));
        assert_eq!(page.address(), "/memories");
        home.open(page, &format!("/memories/{FERRY}"));
        page.hover(&format!("article a[href=\"/memories/{HARBOUR}\"]"));
        page.wait_for("#preview");
        page.press("Escape");
        assert_eq!(page.count("#preview"), 0);
        page.wait_for("[data-part] :not(a[href$=similar])");
    });
}
