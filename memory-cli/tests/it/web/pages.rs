//! Tests of every page: accessibility, requests, errors in the console, executed text, size and appearance.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_core::testing::leave_out;
use regex::Regex;

use super::browser::Browser;
use super::home::{DESKTOP, EDITOR, FERRY, RELEASE, WebHome};
use super::http_client::PlainSession;

/// The pages, each with the name of its pictures.
fn pages() -> Vec<(&'static str, String)> {
    let id = |digit: char| format!("00000000-0000-4000-8000-00000000000{digit}");
    vec![
        ("today", "/today".into()),
        ("memories", "/memories".into()),
        ("memories-search", "/memories?q=ferry".into()),
        (
            "memories-no-result",
            "/memories?q=nothing-has-this-word".into(),
        ),
        ("memory", format!("/memories/{RELEASE}")),
        ("memory-with-recalls", format!("/memories/{EDITOR}")),
        ("memory-markup", format!("/memories/{}", id('5'))),
        ("memory-links", format!("/memories/{}", id('6'))),
        ("memory-hidden-characters", format!("/memories/{}", id('7'))),
        ("memory-long-word", format!("/memories/{}", id('8'))),
        ("memory-chinese", format!("/memories/{}", id('9'))),
        ("memory-hebrew", format!("/memories/{}", id('a'))),
        ("memory-empty-title", format!("/memories/{}", id('d'))),
        ("memory-long", format!("/memories/{}", id('f'))),
        ("memory-similar", format!("/memories/{FERRY}/similar")),
        ("memory-edit", format!("/memories/{RELEASE}/edit")),
        ("inbox", "/inbox".into()),
        ("reminders", "/reminders".into()),
        ("reminders-calendar", "/reminders?view=calendar".into()),
        ("graph", "/graph".into()),
        ("graph-of-memory", format!("/graph?memory={FERRY}")),
        ("graph-of-tag", "/graph?tag=garden".into()),
        ("graph-of-category", "/graph?category=knowledge".into()),
        ("charts", "/charts".into()),
        ("ask", "/ask".into()),
        (
            "ask-answer",
            "/ask?agent=codex&project=garden&prompt=when%20does%20the%20ferry%20leave%3F".into(),
        ),
        ("assistants", "/assistants".into()),
        ("assistant-connection", "/assistants/codex/connect".into()),
        ("projects", "/projects".into()),
        ("project", "/projects/show?project=garden".into()),
        ("activity", "/activity".into()),
        ("sessions", "/sessions".into()),
        ("banks", "/banks".into()),
        ("topics", "/topics".into()),
        ("conversations", "/conversations".into()),
        ("instances", "/instances".into()),
        ("import", "/import".into()),
        ("export", "/export".into()),
        ("devices", "/devices".into()),
        ("settings", "/settings".into()),
        ("health", "/health".into()),
        (
            "not-found",
            format!("/memories/{}", "ffffffff-ffff-4fff-8fff-ffffffffffff"),
        ),
    ]
}

/// The number of links of one kind that are followed.
const LINKS_PER_KIND: usize = 3;

/// Follows the links of all pages; returns the path and the text of each.
fn crawl(session: &PlainSession) -> BTreeMap<String, String> {
    let link = Regex::new(r#"(?:href|src)="([^"]*)""#).expect("a pattern");
    let variable =
        Regex::new(r"[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{12}\b|\d+").expect("a pattern");
    // The kind of a link: its path without ids and numbers, and the names of its parameters.
    let kind_of = |target: &str| {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let name = |parameter: &str| parameter.split('=').next().unwrap_or_default().to_owned();
        let names: BTreeSet<String> = query.split('&').map(name).collect();
        (variable.replace_all(path, "*").into_owned(), names)
    };
    let (mut seen, mut waiting, mut kinds) = (
        BTreeMap::new(),
        vec!["/memories".to_owned()],
        BTreeMap::<_, usize>::new(),
    );
    let mut queued: BTreeSet<String> = BTreeSet::new();
    while let Some(path) = waiting.pop() {
        let response = session.get(&path);
        assert_eq!(
            response.status, 200,
            "{path}: {}\n{}",
            response.head, response.body
        );
        for found in link.captures_iter(&response.body) {
            let target = found[1].replace("&amp;", "&").replace("&#38;", "&");
            let target = target.split('#').next().unwrap_or_default().to_owned();
            let target = if target.starts_with('?') {
                format!("{}{target}", path.split('?').next().unwrap_or_default())
            } else {
                target
            };
            if !target.starts_with('/')
                || target.starts_with("//")
                || !queued.insert(target.clone())
            {
                continue;
            }
            let count = kinds.entry(kind_of(&target)).or_default();
            *count += 1;
            if *count <= LINKS_PER_KIND {
                waiting.push(target);
            }
        }
        seen.insert(path, response.body);
    }
    seen
}

#[test]
fn the_sessions_that_match_follow_the_memories_and_lead_to_their_messages() {
    let home = WebHome::start();
    let session = PlainSession::sign_in(&home);
    let found = session.get("/memories?q=ferry").body;
    let path = "/instances/history/default/session?session=trip%20%26%20%E6%97%85%E8%A1%8C";
    assert!(
        found.contains(&format!("href=\"{path}\"")) && found.contains("Which <mark>ferry</mark>?"),
        "{found}"
    );
    assert!(session.get(path).body.contains("Which ferry?"));
    for query in ["q=nothing-has-this-word", "q=ferry&category=knowledge"] {
        let page = session.get(&format!("/memories?{query}")).body;
        assert!(!page.contains("In sessions of the history"), "{query}");
    }
}

#[test]
fn no_link_of_a_page_leads_to_an_error_and_no_page_loads_anything_of_another_host() {
    let home = WebHome::start();
    let session = PlainSession::sign_in(&home);
    let crawled = crawl(&session);
    for (_, path) in pages()
        .iter()
        .filter(|(name, _)| !["not-found", "memories-no-result"].contains(name))
    {
        assert_eq!(session.get(path).status, 200, "{path}");
    }
    assert!(60 < crawled.len(), "{:?}", crawled.keys());
    let foreign = Regex::new(
        r#"(?:src|srcset|poster|data|action|formaction)="(?:[a-z]+:|//)|<(?:link|base|object|embed|iframe)[^>]*(?:href|src)="(?:[a-z]+:|//)"#,
    );
    let foreign = foreign.expect("a pattern");
    // A person edits the text itself, with all its characters.
    let fields = Regex::new(r#"(?s)<textarea.*?</textarea>|value="[^"]*""#).expect("a pattern");
    for (path, html) in crawled
        .iter()
        .filter(|(path, _)| !path.starts_with("/assets/"))
    {
        let found: Vec<&str> = foreign
            .find_iter(html)
            .map(|found| found.as_str())
            .collect();
        assert!(
            found.iter().all(|found| found.starts_with("src=\"data:")),
            "{path}: {found:?}"
        );
        let shown = fields.replace_all(html, "");
        assert!(!shown.contains('\u{202e}'), "{path} has a hidden character");
        let html = html.to_lowercase();
        for attack in [
            "<script>window",
            "onerror=\"",
            "onload=\"",
            "href=\"javascript:",
            "href=\"data:",
            "style=\"",
        ] {
            assert!(!html.contains(attack), "{path} has {attack}");
        }
    }
}

#[test]
fn every_page_is_accessible_runs_no_text_and_makes_no_foreign_request() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let axe = std::env::var_os("MEMORY_TEST_WEB")
        .map(|folder| Path::new(&folder).join("node_modules/axe-core/axe.min.js"));
    let Some(axe) = axe.and_then(|path| std::fs::read_to_string(path).ok()) else {
        return leave_out("MEMORY_TEST_WEB names no folder with axe-core");
    };
    let home = WebHome::start();
    let page = browser.open_page(DESKTOP);
    page.goto(&home.address);
    let mut violations = page.find_accessibility_violations(&axe, &[]);
    let page = home.sign_in(&browser, DESKTOP);
    let own = format!("{}/", home.address);
    for (name, path) in pages() {
        home.open(&page, &path);
        assert_eq!(
            page.evaluate("window.attacked === undefined"),
            true,
            "{path} executed the text of a memory"
        );
        // The dark theme differs in its colours only.
        for (is_dark, rules) in [(false, [].as_slice()), (true, &["color-contrast"])] {
            page.set_dark(is_dark);
            let found = page.find_accessibility_violations(&axe, rules);
            let found = found
                .into_iter()
                .filter(|found| found.starts_with("serious") || found.starts_with("critical"));
            violations.extend(found.map(|found| format!("{name} (dark: {is_dark}): {found}")));
        }
    }
    assert_eq!(
        page.events("Page.javascriptDialogOpening"),
        [] as [serde_json::Value; 0]
    );
    let requests = page.requests();
    let foreign: Vec<_> = requests
        .iter()
        .filter(|url| !url.starts_with(&own) && !url.starts_with("data:"))
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    let errors: Vec<_> = page
        .console_errors()
        .into_iter()
        .filter(|error| !error.contains("404 (Not Found)"))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    violations.sort();
    violations.dedup();
    assert!(violations.is_empty(), "{violations:#?}");
}

#[test]
fn the_first_page_with_its_assets_has_less_than_100_kilobytes() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start();
    let first = home.sign_in(&browser, DESKTOP);
    // Another page of the browser has an empty cache.
    let page = browser.open_page(DESKTOP);
    page.set_cookie(&first.cookies()[0]);
    home.open(&page, "/today");
    page.wait_for("main");
    let size = page.received_bytes();
    assert!(
        10_000.0 < size && size < 100_000.0,
        "{size} bytes: {:?}",
        page.requests()
    );
}

#[test]
fn every_page_fits_into_a_narrow_window() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start();
    let first = home.sign_in(&browser, DESKTOP);
    let signed_out = browser.open_page(DESKTOP);
    let mut all = vec![("sign-in", "/sign-in".to_owned())];
    all.extend(pages());
    let mut too_wide = Vec::new();
    for width in [1920, 1280, 390] {
        first.resize(width, 800);
        signed_out.resize(width, 800);
        for (name, path) in &all {
            let page = if *name == "sign-in" {
                &signed_out
            } else {
                &first
            };
            home.open(page, path);
            let excess = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth",
            );
            // The space reserved for a scrollbar counts as negative.
            if excess.as_f64().is_none_or(|excess| 0.0 < excess) {
                too_wide.push(format!("{path} at {width} pixels: {excess}"));
            }
            for (theme, is_dark) in [("light", false), ("dark", true)] {
                page.set_dark(is_dark);
                page.save_screenshot(&format!("{name}-{width}-{theme}"));
            }
        }
    }
    assert!(too_wide.is_empty(), "{too_wide:#?}");
}

/// The pictures of the book: name and path. `HARBOUR` and `OFFICE` are ids of memories, and a name with `phone` means a narrow window.
const PICTURES: [(&str, &str); 41] = [
    ("today", "/today"),
    ("today-phone", "/today"),
    (
        "write",
        "/write?title=Beans&text=They+grow+at+the+**south+wall**.",
    ),
    ("memories", "/memories"),
    ("find", "/memories?q=boat"),
    ("memory", "/memories/HARBOUR"),
    ("edit", "/memories/HARBOUR/edit"),
    ("history", "/memories/HARBOUR#history"),
    ("similar", "/memories/OFFICE/similar"),
    ("deleted", "/memories/deleted"),
    ("inbox", "/inbox"),
    ("inbox-phone", "/inbox"),
    ("suggestions", "/inbox/plan"),
    ("reminders", "/reminders"),
    ("ask", "/ask?agent=codex&prompt=when+do+the+boats+leave%3F"),
    ("assistants", "/assistants"),
    ("connect", "/assistants/codex/connect"),
    ("projects", "/projects"),
    ("project", "/projects/show?project=harbour"),
    ("sessions", "/sessions"),
    ("activity", "/activity"),
    ("charts", "/charts"),
    ("graph", "/graph"),
    ("graph-tag", "/graph?tag=time"),
    ("topics", "/topics"),
    ("topic", "/topics/building.md"),
    ("banks", "/banks"),
    ("bank", "/banks/user/preferences"),
    ("conversations", "/conversations"),
    ("conversation", "/conversations/garden"),
    ("instances", "/instances"),
    ("instance", "/instances/history/default"),
    ("import", "/import"),
    ("export", "/export"),
    ("devices", "/devices"),
    ("settings", "/settings"),
    ("health", "/health"),
    ("sign-in", "/sign-in"),
    ("keys", "/memories"),
    ("palette", "/memories"),
    ("dark", "/inbox"),
];

/// The maximum size of all pictures together, in bytes.
const MAX_PICTURES: u64 = 900_000;

/// `MEMORY_README_UPDATE=1` takes new pictures.
#[test]
fn the_book_has_a_small_picture_of_every_page() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src");
    let file = |name: &str| book.join(format!("web/{name}.webp"));
    if std::env::var_os("MEMORY_README_UPDATE").is_some()
        && let Some(browser) = Browser::find()
    {
        take_pictures(&browser, &file);
    }
    let text = std::fs::read_to_string(book.join("web.md")).expect("a page");
    let mut size = 0;
    for (name, _) in PICTURES {
        let link = format!("(web/{name}.webp)");
        assert_eq!(text.matches(&link).count(), 1, "{link} in web.md");
        size += file(name).metadata().expect(&link).len();
    }
    assert!(size < MAX_PICTURES, "{size} bytes");
    let home = WebHome::start();
    let page = PlainSession::sign_in(&home).get("/today").body;
    let navigation = page.split_once("id=\"sections\"").expect("the sections").1;
    let link = Regex::new("href=\"(/[^\"]*)\"").expect("a pattern");
    let sections = navigation.split_once("</nav>").expect("an end").0;
    let missing: Vec<&str> = link
        .captures_iter(sections)
        .map(|found| found.get(1).expect("a path").as_str())
        .filter(|section| {
            PICTURES
                .iter()
                .all(|(_, path)| path != section && !path.starts_with(&format!("{section}?")))
        })
        .collect();
    assert!(missing.is_empty(), "no picture of {missing:?}");
}

fn take_pictures(browser: &Arc<Browser>, file: &impl Fn(&str) -> PathBuf) {
    let home = WebHome::start_tour();
    let signed_out = browser.open_page(DESKTOP);
    let phones = WebHome::start_for_phones();
    let phone = browser.open_page(DESKTOP);
    phone.trust_all_certificates();
    phone.goto(&format!("{}/sign-in#{}", phones.address, phones.code()));
    phone.wait_for_true("document.getElementById('code').value.length === 9");
    phone.follow("main button[type=submit]");
    let signed_in = home.sign_in(browser, DESKTOP);
    home.open(&signed_in, "/today");
    // The first review is made while the page is open.
    signed_in.wait_for_true("!document.body.innerText.includes('being looked for')");
    // The paths of the test, as a person would see theirs.
    let paths = serde_json::json!([
        [home.sandbox.path("tour"), "~"],
        [env!("CARGO_BIN_EXE_memory"), "/usr/bin/memory"],
    ]);
    let find = |query: &str, title: &str| {
        home.open(&signed_in, &format!("/memories?q={query}"));
        let id = signed_in.evaluate(&format!(
            "[...document.querySelectorAll('h2 a')].find(link => link.textContent.trim() === '{title}').pathname.split('/').pop()"
        ));
        id.as_str().expect("an id").to_owned()
    };
    let harbour = find("quays+operators", "Harbour");
    let office = find("office+nine", "The ticket office opens at nine.");
    for (name, path) in PICTURES {
        let (home, page) = match name {
            "sign-in" => (&home, &signed_out),
            "devices" => (&phones, &phone),
            _ => (&home, &signed_in),
        };
        if name.contains("phone") {
            page.resize(390, 720);
        } else {
            page.resize(1200, 720);
        }
        page.set_dark(["dark", "graph-tag"].contains(&name));
        home.open(
            page,
            &path.replace("HARBOUR", &harbour).replace("OFFICE", &office),
        );
        page.wait_for_true("!document.body.innerText.includes('the result appears here')");
        match name {
            "keys" => page.press("?"),
            "palette" => {
                page.evaluate(
                    "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))",
                );
                page.fill("dialog.palette input", "boat");
                page.wait_for_text("#palette-list", "Write “boat”");
            }
            _ => {}
        }
        page.evaluate(&format!(
            "(() => {{ const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (texts.nextNode()) for (const [path, shown] of {paths}) texts.currentNode.data = texts.currentNode.data.replaceAll(path, shown);
            }})()"
        ));
        std::fs::write(file(name), page.picture()).expect("a file");
    }
}
