//! The page on a phone, in a real browser.

use serde_json::Value;

use super::browser::{Browser, PageOptions};
use super::home::WebHome;

/// A window of a phone.
const PHONE: PageOptions = PageOptions {
    can_run_scripts: true,
    is_dark: false,
    width: 390,
};

#[test]
fn a_phone_is_paired_with_the_scanned_code_and_is_refused_once_it_is_revoked() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start_for_phones();
    let page = browser.open_page(PHONE);
    page.trust_all_certificates();
    page.goto(&format!("{}/sign-in#{}", home.address, home.code()));
    page.wait_for_true("document.getElementById('code').value.length === 9");
    assert_eq!(page.evaluate("location.hash"), "");
    page.follow("main button[type=submit]");
    home.open(&page, "/devices");
    assert!(page.text("main").contains("this device"));
    page.save_screenshot("devices-390");
    let devices = home.sandbox.run_json(&["ui", "--devices"]);
    let id = devices["devices"][0]["id"].as_str().expect("an id");
    home.sandbox.run(&["ui", "--revoke", id]);
    home.open(&page, "/memories");
    page.wait_for("#code");
    let file = home.sandbox.path(".memory/devices");
    let files = std::fs::read_dir(file).expect("a folder");
    let names: Vec<_> = files.flatten().map(|entry| entry.file_name()).collect();
    assert!(names.contains(&"127.0.0.1.pem".into()), "{names:?}");
}

#[test]
fn the_sections_are_within_reach_of_the_thumb_and_the_others_behind_one_button() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start();
    let page = home.sign_in(
        &browser,
        PageOptions {
            can_run_scripts: false,
            ..PHONE
        },
    );
    page.follow(".navigation-bar a[href='/reminders']");
    let edge =
        "innerHeight - document.querySelector('.navigation-bar').getBoundingClientRect().bottom";
    assert_eq!(page.evaluate(edge), 0);
    let heights = "[...document.querySelectorAll('.navigation-bar :is(a, button), main button')]
        .filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect().height)";
    let heights = page.evaluate(heights);
    let heights = heights.as_array().expect("a list");
    assert!(
        heights
            .iter()
            .filter_map(Value::as_f64)
            .all(|height| 44.0 <= height),
        "{heights:?}"
    );
    page.fill("#text", "call Anna tomorrow at 3pm");
    page.follow("main .primary");
    page.wait_for_text("main .reminder", "Anna");
    let is_wide = page.evaluate("innerWidth < document.documentElement.scrollWidth");
    assert_eq!(is_wide, false);
    page.click(".navigation-bar button");
    page.wait_for_true("document.querySelector('#sections').matches(':popover-open')");
    page.save_screenshot("more-390");
    page.follow("#sections a[href='/health']");
    assert_eq!(page.address(), "/health");
}

#[test]
fn a_computer_out_of_reach_is_named_and_no_memory_was_stored_on_the_phone() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start();
    let page = home.sign_in(&browser, PHONE);
    page.evaluate("navigator.serviceWorker.ready.then(() => { window.isReady = true; }); 1");
    page.wait_for_true("window.isReady === true");
    home.open(&page, "/memories?q=ferry");
    page.evaluate(
        "caches.keys().then(names => Promise.all(names.map(name => caches.open(name).then(cache => cache.keys()))))
        .then(lists => { window.stored = lists.flat().map(request => new URL(request.url).pathname); }); 1",
    );
    page.wait_for_true("window.stored !== undefined");
    let stored = page.evaluate("window.stored");
    let stored = stored.as_array().expect("a list");
    assert!(
        !stored.is_empty()
            && stored.iter().all(|path| {
                path == "/offline"
                    || path
                        .as_str()
                        .is_some_and(|path| path.starts_with("/assets/"))
            }),
        "{stored:?}"
    );
    let address = home.address.clone();
    drop(home);
    page.goto(&format!("{address}/memories?q=ferry"));
    let text = page.text("body");
    assert!(
        text.contains("cannot be reached") && !text.contains("leaves at"),
        "{text}"
    );
    page.save_screenshot("offline-390");
}

#[test]
fn a_reminder_is_added_on_a_phone() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start();
    let page = home.sign_in(&browser, PHONE);
    page.follow(".navigation-bar a[href='/reminders']");
    page.fill("#text", "call Anna tomorrow at 3pm");
    page.follow("main .primary");
    page.wait_for_text("main .reminder", "Anna");
}
