//! What a person does in the other sections of the page, each with and without scripts.

use serde_json::json;

use super::browser::Browser;
use super::home::{DESKTOP, EDITOR, FERRY, HARBOUR, WebHome};
use super::journeys::travel;

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
