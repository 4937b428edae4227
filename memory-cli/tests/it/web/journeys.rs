//! What a person does on the web page, each with and without scripts.

use std::time::Instant;

use serde_json::{Value, json};

use super::browser::{Browser, Page, PageOptions};
use super::home::{DESKTOP, EDITOR, FERRY, HARBOUR, WebHome};

/// Runs a journey in a new home, once with scripts and once without.
fn travel(journey: impl Fn(&WebHome, &Page)) {
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
fn link(id: &str) -> String {
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
fn suggestions_are_decided_without_a_reload() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start();
    let office = "The office is on the second floor of the red house at the quay.";
    for text in [office, &format!("{office} It opens at nine.")] {
        home.sandbox
            .run(&["write", text, "--category", "knowledge"]);
    }
    let page = home.sign_in(&browser, DESKTOP);
    home.open(&page, "/inbox/plan");
    page.evaluate("window.isSamePage = true");
    let key = page.property("main [data-select]", "value");
    let shown = format!("document.querySelector('[value=\"{key}\"]') !== null");
    page.click("main [data-item] button >> Accept");
    page.wait_for(".undo-bar button >> Undo");
    assert_eq!(page.evaluate(&shown), false);
    assert_eq!(page.evaluate("window.isSamePage"), true);
    page.click(".undo-bar button");
    page.wait_for_true(&shown);
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

/// Returns the texts of the proposals that wait in the inbox.
fn waiting(home: &WebHome) -> Vec<String> {
    let inbox = home.sandbox.run_json(&["inbox"]);
    let proposals = inbox["proposals"].as_array().expect("a list").iter();
    proposals
        .map(|own| {
            own["memory"]["content"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

#[test]
fn the_inbox_is_sorted_with_the_keyboard_alone() {
    travel(|home, page| {
        home.open(page, "/inbox");
        assert_eq!(waiting(home).len(), 3);
        if page.can_run_scripts {
            page.press("j");
            page.press("j");
            page.press("k");
            page.press("a");
            // The next item is selected, and no answer is awaited.
            page.press("r");
            page.wait_for_text("[data-count=proposals]", "1");
            page.press("e");
            page.wait_for("[data-item] details[open] textarea:focus");
            // The keys belong to the text.
            page.press("a");
            page.press("Escape");
            page.press("m");
            page.wait_for("[data-item] details[open] input[name=into]:focus");
        } else {
            let press_tab_until = |name: &str| {
                let is_focused = format!(
                    "document.activeElement.innerText?.trim().startsWith({})",
                    json!(name)
                );
                let mut count = 0;
                while page.evaluate(&is_focused) != json!(true) {
                    count += 1;
                    assert!(count < 80, "no control {name} has the focus");
                    page.press("Tab");
                }
            };
            press_tab_until("Skip to the content");
            page.press("Enter");
            // The buttons for all selected items are before those of the first one.
            press_tab_until("Accept selected");
            press_tab_until("Accept all 3");
            page.press("Tab");
            press_tab_until("Accept");
            page.load(|| page.press("Enter"));
            press_tab_until("Reject or delete selected");
            page.press("Tab");
            press_tab_until("Reject");
            page.load(|| page.press("Enter"));
        }
        assert_eq!(waiting(home).len(), 1, "{:?}", waiting(home));
        assert_eq!(
            home.sandbox.run_json(&["search", "ferry island eight"])["hits"][0]["memory"]["category"],
            "knowledge"
        );
    });
}

/// Clicks a button that decides on items, and waits until so many proposals wait.
fn decide(page: &Page, button: &str, left: usize) {
    if page.can_run_scripts {
        page.click(button);
    } else {
        page.follow(button);
    }
    page.wait_for_text("[data-count=proposals]", &left.to_string());
}

/// Writes proposals of an agent.
fn propose(home: &WebHome, texts: impl Iterator<Item = String>) {
    let calls: Vec<Value> = texts
        .map(|text| json!({ "name": "memory_write", "params": { "content": text, "category": "knowledge" } }))
        .collect();
    home.call_tools("codex", &calls);
}

/// Returns the number of items in the list.
fn listed(page: &Page) -> u64 {
    page.count("[data-decisions] > [data-item]")
}

#[test]
fn fifty_proposals_are_decided_on_with_keys_alone_and_each_is_undone_alone() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start();
    propose(
        &home,
        (0..47).map(|number| format!("The warehouse {number} stores {} crates", number * 7)),
    );
    assert_eq!(waiting(&home).len(), 50);
    let page = home.sign_in(&browser, DESKTOP);
    home.open(&page, "/inbox?list=proposals");
    let loads = page.events("Page.loadEventFired").len();
    let begin = Instant::now();
    page.press("j");
    for number in 0..50 {
        page.wait_for_true("document.querySelector('[data-decisions] > .is-selected') !== null");
        page.press(if number % 5 == 4 { "r" } else { "a" });
    }
    page.wait_for_text("main", "No proposals wait");
    eprintln!("50 proposals were decided on in {:?}", begin.elapsed());
    assert_eq!(waiting(&home), [] as [String; 0]);
    for left in 1..=3 {
        page.press("u");
        page.wait_for_text("[data-count=proposals]", &left.to_string());
        assert_eq!(waiting(&home).len(), left);
    }
    assert_eq!(
        page.events("Page.loadEventFired").len(),
        loads,
        "nothing was reloaded"
    );
    assert_eq!(page.console_errors(), [] as [String; 0]);
}

#[test]
fn a_refused_decision_returns_to_its_place_with_the_reason() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start();
    let page = home.sign_in(&browser, DESKTOP);
    home.open(&page, "/inbox");
    let id = page.property("[data-decisions] [data-select]", "value");
    let id = id.split(':').next().expect("an id").to_owned();
    // The page does not know yet that another program has decided.
    page.evaluate("onChange = () => {}");
    home.sandbox.run(&["inbox", "reject", &id]);
    page.press("j");
    page.press("a");
    page.press("a");
    page.wait_for_text("[data-decisions] .refusal", "Not changed");
    page.wait_for_text("[data-count=proposals]", "1");
    assert_eq!(listed(&page), 2, "the refused item is back");
    assert_eq!(page.count("[data-decisions] > :first-child .refusal"), 1);
}

#[test]
fn items_are_selected_one_by_one_in_ranges_and_all_at_once() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start();
    propose(&home, (0..5).map(|number| format!("Pier {number} is long")));
    let page = home.sign_in(&browser, DESKTOP);
    home.open(&page, "/inbox");
    let count = || page.count("[data-select]:checked");
    for key in ["x", " "] {
        page.press("j");
        page.press(key);
        page.press("j");
        page.press("j");
        page.press("X");
        assert_eq!(count(), 3, "{key:?}");
        home.open(&page, "/inbox");
    }
    page.click("[data-select-all]");
    assert_eq!(count(), 8);
    page.click("[data-select-all]");
    assert_eq!(count(), 0);
    page.press("j");
    page.press("x");
    page.press("j");
    page.press("x");
    page.press("r");
    page.wait_for_text("[data-count=proposals]", "6");
    assert_eq!(listed(&page), 6);
}

#[test]
fn proposals_are_accepted_rejected_edited_and_merged() {
    travel(|home, page| {
        home.open(page, "/inbox");
        assert_eq!(page.count("main script, main .prose img"), 0);
        page.click("li:nth-of-type(1) > .inbox-head input");
        page.click("li:nth-of-type(2) > .inbox-head input");
        decide(page, "button >> Accept selected", 1);
        assert_eq!(waiting(home), ["The harbour has two piers."]);
        decide(page, ".undo-bar button >> Undo", 3);
        assert_eq!(waiting(home).len(), 3);
        page.click("summary >> Edit");
        page.fill(
            "details[open] textarea",
            "The ferry to the island leaves at half past eight.",
        );
        page.follow("details[open] button >> Save without accepting");
        page.click("summary >> Merge");
        page.fill("details[open] input[name=into]", FERRY);
        page.follow("details[open] button >> Show the merge");
        assert!(
            !home.read(FERRY).contains("half past eight"),
            "the preview changes nothing"
        );
        page.follow("main form button >> Merge");
        assert!(
            home.read(FERRY).contains("half past eight"),
            "{}",
            home.read(FERRY)
        );
        decide(page, "li:nth-of-type(1) button >> Reject", 1);
        assert_eq!(waiting(home), ["The harbour has two piers."]);
        let again = json!({ "name": "memory_write", "params": { "content": "The user likes **strong** tea <script>window.attacked = 1</script>" } });
        let refused = home
            .sandbox
            .run_with_input(&json!([again]).to_string(), &["agent", "--agent", "codex"]);
        assert!(refused.contains("PROPOSAL_REJECTED"), "{refused}");
    });
}

#[test]
fn a_reminder_is_snoozed_done_and_added() {
    travel(|home, page| {
        let due = |text: &str| {
            let reminders = home.sandbox.run_json(&["reminders", "--all"]);
            let all = reminders["memories"]
                .as_array()
                .unwrap_or_else(|| panic!("{reminders}"))
                .clone();
            all.into_iter()
                .find(|own| own.to_string().contains(text))
                .unwrap_or_else(|| panic!("{reminders}"))
        };
        let before = due("Call the dentist");
        home.open(page, "/reminders");
        page.click("summary >> Snooze: Call the dentist");
        page.follow("details[open] button >> Tomorrow");
        let after = due("Call the dentist");
        assert_ne!(
            (&before["due"], &before["reminder"]),
            (&after["due"], &after["reminder"])
        );
        page.follow(".undo-bar button >> Undo");
        assert_eq!(due("Call the dentist"), before);
        page.follow("button >> Done: Call the dentist");
        assert!(!home.sandbox.run(&["reminders"]).contains("dentist"));
        page.fill("#text", "Buy bread tomorrow at 3pm");
        page.follow("main button >> Add");
        assert!(home.sandbox.run(&["reminders"]).contains("Buy bread"));
        page.wait_for_text("main svg, main .calendar, main table", "");
    });
}

#[test]
fn the_graph_of_a_memory_is_centred_on_a_neighbour() {
    travel(|home, page| {
        home.open(page, &format!("/memories/{FERRY}"));
        page.follow("main a >> Graph");
        assert_eq!(page.text("h1"), "Graph: The ferry");
        page.follow(&format!("svg a[href=\"/graph?memory={HARBOUR}\"]"));
        assert_eq!(page.text("h1"), "Graph: Harbour");
        assert_eq!(
            page.count(&format!("svg a[href=\"/graph?memory={FERRY}\"]")),
            1
        );
        let smallest = page.evaluate(
            "Math.min(...[...document.querySelectorAll('svg.graph text')].map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a))",
        );
        assert!(
            smallest.as_f64().is_some_and(|size| 11.0 <= size),
            "labels are readable: {smallest}"
        );
        home.open(page, "/graph?tag=garden");
        assert!(page.count("svg.graph a") <= 150);
        page.wait_for_text("h1", "garden");
    });
}

#[test]
fn a_graph_fits_the_window_and_is_enlarged_and_moved() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start();
    let page = home.sign_in(&browser, DESKTOP);
    for width in [390, 1280] {
        page.resize(width, 800);
        home.open(&page, "/graph");
        page.wait_for(".graph");
        let view = "(({ x, y, width }) => [x, y, width])(document.querySelector('.graph').viewBox.baseVal)";
        let part = || -> Vec<f64> {
            let part = page.evaluate(view);
            let numbers = part.as_array().expect("numbers").iter();
            numbers
                .map(|number| number.as_f64().expect("a number"))
                .collect()
        };
        let shown = || page.count(".graph text.is-shown");
        assert_eq!(
            page.evaluate("(b => 0 <= b.left && b.right <= innerWidth && b.height <= innerHeight)(document.querySelector('.graph').getBoundingClientRect())"),
            true
        );
        let (whole, labels) = (part(), shown());
        page.press("+");
        page.press("+");
        let enlarged = part();
        assert!(
            enlarged[2] < whole[2] * 0.5 && labels <= shown(),
            "{enlarged:?} of {whole:?}"
        );
        page.evaluate("document.querySelector('.graph-area').focus()");
        page.press("ArrowRight");
        assert!(enlarged[0] < part()[0], "it moves to the right");
        page.click(".graph-tools button >> Fit");
        assert_eq!(part(), whole);
        let wheel =
            json!({ "type": "mouseWheel", "x": width / 2, "y": 400, "deltaX": 0, "deltaY": -240 });
        page.call("Input.dispatchMouseEvent", &wheel);
        page.wait_for_true(&format!("({view})[2] < {}", whole[2]));
        let overlaps = "(boxes => boxes.some((a, at) => boxes.slice(0, at).some(b => a.left + 1 < b.right && b.left + 1 < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom)))\
                        ([...document.querySelectorAll('.graph text.is-shown')].map(text => text.getBoundingClientRect()))";
        assert_eq!(page.evaluate(overlaps), false, "no labels overlap");
    }
}

#[test]
fn a_session_shows_what_an_agent_received_and_wrote() {
    travel(|home, page| {
        home.open(page, "/sessions");
        page.follow("main a >> claude-code");
        page.wait_for_text("main", "which mode does the user prefer in the editor?");
        page.follow(&format!("main a[href=\"/memories/{EDITOR}\"]"));
        assert!(page.text("h1").contains("dark mode"));
        home.open(page, "/sessions");
        page.follow("main a >> codex");
        page.wait_for_text("main", "Proposed");
        page.wait_for_text("main", "tokens");
    });
}

#[test]
fn a_value_of_a_bank_is_edited_with_validation() {
    travel(|home, page| {
        home.open(page, "/banks");
        page.follow("main a >> preferences");
        page.follow("main a >> theme");
        page.fill("#value", "{\"name\": ");
        page.follow("button >> Save");
        page.wait_for_text("[role=alert]", "JSON");
        assert_eq!(
            page.property("#value", "value").trim(),
            "{\"name\":",
            "the text of the person remains"
        );
        page.fill("#value", "{\"name\": \"light\", \"contrast\": 9}");
        page.follow("button >> Save");
        let value = || {
            home.sandbox
                .run_json(&["bank", "read", "preferences", "theme"])["value"]
                .clone()
        };
        assert_eq!(value(), json!({ "name": "light", "contrast": 9 }));
        page.follow(".undo-bar button >> Undo");
        assert_eq!(value()["name"], "dark");
        home.open(page, "/banks?search=onerror");
        assert_eq!(page.count("main img"), 0);
        page.wait_for_text("main", "onerror");
    });
}

#[test]
fn an_assistant_is_connected_and_disconnected_after_a_look_at_the_changes() {
    travel(|home, page| {
        let file = home.sandbox.path(".codex/config.toml");
        let before = "# mine\nmodel = \"x\"\n";
        home.sandbox.file(".codex/config.toml", before);
        let read = || std::fs::read_to_string(&file).expect("a file");
        home.open(page, "/assistants");
        page.follow("a[href=\"/assistants/codex/connect\"]");
        assert!(page.text("main").contains("[mcp_servers.memory]"));
        assert_eq!(read(), before, "a look changes nothing");
        page.follow("main button.primary");
        assert_eq!(page.address().split('?').next(), Some("/assistants"));
        assert!(read().starts_with(before) && read().contains("mcp_servers.memory"));
        page.follow("a[href=\"/assistants/codex/disconnect\"]");
        page.follow("main button.danger");
        assert_eq!(read(), before);
    });
}

#[test]
fn what_an_assistant_would_be_told_is_found_and_ended() {
    travel(|home, page| {
        home.open(page, "/ask");
        page.fill("#agent", "claude-code");
        page.fill("#prompt", "when does the ferry to the island leave?");
        page.follow("main button >> Show what it would receive");
        let ferry = format!("main a[href=\"/memories/{FERRY}\"]");
        assert!(0 < page.count(&ferry), "{}", page.text("main"));
        let recalls = home.sandbox.run_json(&["recalls"]);
        page.follow(&format!("form[action=\"/memories/{FERRY}/expire\"] button"));
        assert!(page.address().starts_with("/ask?"), "{}", page.address());
        assert_eq!(page.count(&ferry), 0);
        page.follow("button >> Undo");
        assert!(0 < page.count(&ferry), "the undo returns to the question");
        let after = home.sandbox.run_json(&["recalls"]);
        assert_eq!(after, recalls, "a look is no recall");
    });
}
