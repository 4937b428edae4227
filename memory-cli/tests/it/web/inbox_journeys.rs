//! What a person does with proposals, notes and suggestions, each with and without scripts.

use std::time::Instant;

use serde_json::{Value, json};

use super::browser::{Browser, Page};
use super::home::{DESKTOP, FERRY, WebHome};
use super::journeys::travel;

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
