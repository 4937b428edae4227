//! A headless browser, driven over the `DevTools` protocol.
//!
//! The browser reads commands from file descriptor 3 and writes responses and events to 4, as JSON that ends with a NUL character
//! (`--remote-debugging-pipe`). It ends when the pipe is closed, so it never outlives the tests.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memory_core::testing::is_exhaustive;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::daemon::DEADLINE;

/// The browser, a package of Debian.
const PROGRAM: &str = "chromium-headless-shell";

/// The flags of the browser. Every host name except `attacker.test` is unknown, so no request leaves the machine.
const FLAGS: [&str; 9] = [
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP attacker.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/// The interval at which a condition of a page is evaluated again if the page sends no event.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// The maximum height of a saved picture, in pixels.
const MAX_PICTURE_HEIGHT: u64 = 3_000;

/// A running browser.
pub(crate) struct Browser {
    connection: Connection,
    process: Mutex<Child>,
    _profile: TempDir,
}

/// The browser of all tests that run at the same time; the last of them ends it.
static SHARED: Mutex<Weak<Browser>> = Mutex::new(Weak::new());

impl Browser {
    /// Returns the running browser, or starts one.
    pub(crate) fn find() -> Option<Arc<Self>> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(browser) = shared.upgrade() {
            return Some(browser);
        }
        let Some(program) = find_program(PROGRAM) else {
            memory_core::testing::leave_out(&format!("{PROGRAM} is not installed"));
            return None;
        };
        let browser = Arc::new(Self::start(&program));
        *shared = Arc::downgrade(&browser);
        Some(browser)
    }

    fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("sh");
        // The pipes of the child are moved to the descriptors of the protocol.
        command
            .args([
                "-c",
                r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#,
            ])
            .arg(program)
            .args(FLAGS);
        command
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .env("HOME", profile.path())
            .env("TZ", "UTC");
        // The browser has its own process group, which is killed as a whole.
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0);
        let mut process = command.spawn().expect("it starts");
        let connection = Connection::new(
            process.stdin.take().expect("a pipe"),
            process.stdout.take().expect("a pipe"),
        );
        Self {
            connection,
            process: Mutex::new(process),
            _profile: profile,
        }
    }

    /// Opens a page with its own cookies and storage.
    pub(crate) fn open_page(self: &Arc<Self>, options: PageOptions) -> Page {
        let context = self.connection.call(
            "",
            "Target.createBrowserContext",
            &json!({ "disposeOnDetach": true }),
        );
        let context = context["browserContextId"]
            .as_str()
            .expect("an id")
            .to_owned();
        let target = json!({ "url": "about:blank", "browserContextId": context });
        let target = self.connection.call("", "Target.createTarget", &target)["targetId"].clone();
        let attached = self.connection.call(
            "",
            "Target.attachToTarget",
            &json!({ "targetId": target, "flatten": true }),
        );
        let session = attached["sessionId"].as_str().expect("an id").to_owned();
        let page = Page {
            browser: Arc::clone(self),
            session,
            context,
            can_run_scripts: options.can_run_scripts,
            journey: Journey::new(),
        };
        for domain in ["Page", "Network", "Log", "Runtime"] {
            page.call(&format!("{domain}.enable"), &json!({}));
        }
        page.call(
            "Emulation.setScriptExecutionDisabled",
            &json!({ "value": !options.can_run_scripts }),
        );
        page.resize(options.width, 800);
        page.set_dark(options.is_dark);
        page
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        // The browser may have ended already.
        let _ = Command::new("kill")
            .args(["-KILL", "--", &format!("-{}", process.id())])
            .stderr(Stdio::null())
            .status();
        let _ = process.wait();
    }
}

/// The settings of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageOptions {
    pub(crate) can_run_scripts: bool,
    pub(crate) is_dark: bool,
    /// The width of the window in CSS pixels.
    pub(crate) width: u32,
}

/// A page of the browser. It closes when this is dropped.
pub(crate) struct Page {
    browser: Arc<Browser>,
    session: String,
    context: String,
    pub(crate) can_run_scripts: bool,
    journey: Mutex<Journey>,
}

/// What a person did since the sign-in, for a comparison of journeys.
struct Journey {
    start: Instant,
    clicks: u32,
    keys: u32,
    fields: u32,
}

impl Journey {
    fn new() -> Mutex<Self> {
        let start = Instant::now();
        Mutex::new(Self {
            start,
            clicks: 0,
            keys: 0,
            fields: 0,
        })
    }
}

impl Page {
    fn journey(&self) -> MutexGuard<'_, Journey> {
        self.journey.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the steps and the time of the person from now on. They are in the output of the test (`--nocapture`).
    pub(crate) fn begin_journey(&mut self) {
        self.journey = Journey::new();
    }

    /// Changes the size of the window.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Accepts every certificate from now on, as a person does who was warned.
    pub(crate) fn trust_all_certificates(&self) {
        self.call(
            "Security.setIgnoreCertificateErrors",
            &json!({ "ignore": true }),
        );
    }

    /// Sets the colour scheme that the user prefers.
    pub(crate) fn set_dark(&self, is_dark: bool) {
        let scheme = if is_dark { "dark" } else { "light" };
        // An animation would make the screenshots depend on the time.
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({ "features": features }),
        );
    }

    /// Opens an address, and waits until it is loaded.
    pub(crate) fn goto(&self, url: &str) {
        let error = self.load(|| {
            self.call("Page.navigate", &json!({ "url": url }))["errorText"]
                .as_str()
                .map(str::to_owned)
        });
        assert_eq!(error, None, "{url}");
    }

    /// Calls `act`, which leaves the page, and waits until the next page is loaded.
    pub(crate) fn load<T>(&self, act: impl FnOnce() -> T) -> T {
        let loaded = |events: &[Value]| {
            events
                .iter()
                .filter(|event| event["method"] == "Page.loadEventFired")
                .count()
        };
        let before = self.with_events(loaded);
        let result = act();
        self.wait_until("the next page", || before < self.with_events(loaded));
        result
    }

    /// Clicks an element with the mouse.
    pub(crate) fn click(&self, selector: &str) {
        self.journey().clicks += 1;
        self.wait_for(selector);
        let place = self.evaluate(&format!(
            "(() => {{ const e = {}; e.scrollIntoView({{ block: 'center', behavior: 'instant' }});
            const boxes = [...e.getClientRects()].filter(r => 0 < r.width && 0 < r.height);
            if (boxes.length === 0) return null;
            return [boxes[0].x + boxes[0].width / 2, boxes[0].y + boxes[0].height / 2]; }})()",
            element(selector)
        ));
        assert!(
            place.is_array(),
            "{selector} is not visible in {}",
            self.address()
        );
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({ "type": kind, "x": place[0], "y": place[1], "button": button, "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Clicks a link or a button, and waits until the next page is loaded.
    pub(crate) fn follow(&self, selector: &str) {
        self.load(|| self.click(selector));
    }

    /// Moves the mouse over an element.
    pub(crate) fn hover(&self, selector: &str) {
        let place = self.evaluate(&format!(
            "(() => {{ const r = {}.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()",
            element(selector)
        ));
        self.call(
            "Input.dispatchMouseEvent",
            &json!({ "type": "mouseMoved", "x": place[0], "y": place[1] }),
        );
    }

    /// Replaces the text of a field by typing.
    pub(crate) fn fill(&self, selector: &str, text: &str) {
        self.journey().fields += 1;
        self.wait_for(selector);
        self.evaluate(&format!(
            "(() => {{ const e = {}; e.focus(); e.select(); }})()",
            element(selector)
        ));
        if text.is_empty() {
            self.press("Backspace");
        } else {
            self.call("Input.insertText", &json!({ "text": text }));
        }
    }

    /// Selects an option of a list by its value.
    pub(crate) fn select(&self, selector: &str, value: &str) {
        self.journey().fields += 1;
        self.wait_for(selector);
        let selected = self.evaluate(&format!(
            "(() => {{ const e = {}; e.value = {};
            e.dispatchEvent(new Event('change', {{ bubbles: true }})); return e.value; }})()",
            element(selector),
            json!(value)
        ));
        assert_eq!(selected, json!(value), "{selector} has no such option");
    }

    /// Presses a key: a character, or a name such as `Enter`, `Tab`, `Escape`.
    pub(crate) fn press(&self, key: &str) {
        self.journey().keys += 1;
        let (code, text) = match key {
            "Enter" => (13, "\r".to_owned()),
            "Tab" => (9, String::new()),
            "Escape" => (27, String::new()),
            "Backspace" => (8, String::new()),
            "ArrowDown" => (40, String::new()),
            "ArrowUp" => (38, String::new()),
            "ArrowRight" => (39, String::new()),
            _ => (
                u32::from(key.bytes().next().expect("a key").to_ascii_uppercase()),
                key.to_owned(),
            ),
        };
        let kind = if text.is_empty() {
            "rawKeyDown"
        } else {
            "keyDown"
        };
        self.call(
            "Input.dispatchKeyEvent",
            &json!({ "type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code }),
        );
        self.call(
            "Input.dispatchKeyEvent",
            &json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code }),
        );
    }

    /// Returns the visible text of the first element that matches, or of the whole page with `body`.
    pub(crate) fn text(&self, selector: &str) -> String {
        self.wait_for(selector);
        let text = self.evaluate(&format!("{}?.innerText", element(selector)));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Returns an attribute or a property of the first element that matches.
    pub(crate) fn property(&self, selector: &str, name: &str) -> String {
        self.wait_for(selector);
        let name = json!(name);
        let value = self.evaluate(&format!(
            "(() => {{ const e = {}; return String(e[{name}] ?? e.getAttribute({name}) ?? ''); }})()",
            element(selector)
        ));
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Returns the number of elements that match.
    pub(crate) fn count(&self, selector: &str) -> u64 {
        self.evaluate(&format!("{}.length", elements(selector)))
            .as_u64()
            .unwrap_or_default()
    }

    /// Returns the path and query of the page.
    pub(crate) fn address(&self) -> String {
        self.evaluate("location.pathname + location.search")
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Waits until an element matches.
    pub(crate) fn wait_for(&self, selector: &str) {
        self.wait_until(selector, || 0 < self.count(selector));
    }

    /// Waits until the visible text of an element contains `part`.
    pub(crate) fn wait_for_text(&self, selector: &str, part: &str) {
        let contains = format!(
            "{}.some(e => e.innerText.includes({}))",
            elements(selector),
            json!(part)
        );
        self.wait_until(&format!("{part:?} in {selector}"), || {
            self.evaluate(&contains) == json!(true)
        });
    }

    /// Waits until an expression is true in the page.
    pub(crate) fn wait_for_true(&self, expression: &str) {
        self.wait_until(expression, || self.evaluate(expression) == json!(true));
    }

    /// Waits until `condition` is true. The test fails after the deadline, with the text of the page.
    fn wait_until(&self, what: &str, condition: impl Fn() -> bool) {
        let until = Instant::now() + DEADLINE;
        while !condition() {
            assert!(
                Instant::now() < until,
                "{what}: not in {}\n{}",
                self.address(),
                self.evaluate("document.body?.innerText")
            );
            self.browser.connection.wait_for_message(POLL_INTERVAL);
        }
    }

    /// Evaluates an expression in the page, also if scripts of the page are disabled.
    pub(crate) fn evaluate(&self, expression: &str) -> Value {
        let parameters =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": false });
        // Between two documents no expression can be evaluated.
        let answer = self
            .try_call("Runtime.evaluate", &parameters)
            .unwrap_or_default();
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].clone()
    }

    /// Returns a small picture of the window, as WebP.
    pub(crate) fn picture(&self) -> Vec<u8> {
        let view = self.evaluate("[scrollX, scrollY, innerWidth, innerHeight]");
        let scale = if view[2].as_u64() < Some(600) {
            1.0
        } else {
            0.8
        };
        let clip = json!({ "x": view[0], "y": view[1], "width": view[2], "height": view[3], "scale": scale });
        self.take_picture(&json!({ "format": "webp", "quality": 45, "clip": clip }))
    }

    fn take_picture(&self, options: &Value) -> Vec<u8> {
        let picture = self.call("Page.captureScreenshot", options);
        STANDARD
            .decode(picture["data"].as_str().expect("a picture"))
            .expect("base64")
    }

    /// In an exhaustive run, saves a picture of the page, with at most [`MAX_PICTURE_HEIGHT`], in `tmp/screenshots` of the target
    /// folder.
    pub(crate) fn save_screenshot(&self, name: &str) {
        if !is_exhaustive() {
            return;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
        std::fs::create_dir_all(&folder).expect("a folder");
        let size = self.evaluate("[innerWidth, document.documentElement.scrollHeight]");
        let height = size[1].as_u64().unwrap_or_default().min(MAX_PICTURE_HEIGHT);
        let clip = json!({ "x": 0, "y": 0, "width": size[0], "height": height, "scale": 1 });
        let options = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        std::fs::write(
            folder.join(format!("{name}.png")),
            self.take_picture(&options),
        )
        .expect("a file");
    }

    /// Returns the rules of axe that the page breaks, as lines of impact, rule, element and reason.
    ///
    /// `axe` is the script. `rules` are the names of the rules; all, if there are none.
    pub(crate) fn find_accessibility_violations(&self, axe: &str, rules: &[&str]) -> Vec<String> {
        if self.evaluate("typeof axe") != json!("object") {
            self.evaluate(&format!("{axe}\n;0"));
        }
        let mut options = json!({ "resultTypes": ["violations"] });
        if !rules.is_empty() {
            options["runOnly"] = json!(rules);
        }
        self.evaluate(&format!(
            "window.axeResults = null; axe.run(document, {options}).then(
                results => {{ window.axeResults = results.violations; }}, error => {{ window.axeResults = String(error); }}); 0"
        ));
        self.wait_until("the results of axe", || {
            self.evaluate("window.axeResults !== null") == json!(true)
        });
        let rows = self.evaluate(
            "typeof axeResults === 'string' ? [axeResults] : axeResults.flatMap(v => v.nodes.map(n =>
                `${v.impact} ${v.id}: ${n.html.slice(0, 200)} (${n.failureSummary.replace(/\\s+/g, ' ')})`))",
        );
        let rows = rows.as_array().expect("a list").iter();
        rows.map(|row| row.as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Returns the parameters of the events of this name since the page was opened.
    pub(crate) fn events(&self, method: &str) -> Vec<Value> {
        self.with_events(|events| {
            events
                .iter()
                .filter(|event| event["method"] == method)
                .map(|event| event["params"].clone())
                .collect()
        })
    }

    /// Returns the address of every request since the page was opened.
    pub(crate) fn requests(&self) -> Vec<String> {
        let requests = self.events("Network.requestWillBeSent");
        requests
            .iter()
            .map(|event| {
                event["request"]["url"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect()
    }

    /// Returns the number of bytes, with headers, that the page has received over the network.
    pub(crate) fn received_bytes(&self) -> f64 {
        self.events("Network.loadingFinished")
            .iter()
            .filter_map(|event| event["encodedDataLength"].as_f64())
            .sum()
    }

    /// Returns the errors in the console: exceptions, failed requests, and violations of the content security policy.
    pub(crate) fn console_errors(&self) -> Vec<String> {
        let entries = self
            .events("Log.entryAdded")
            .into_iter()
            .filter(|event| event["entry"]["level"] == "error");
        let entries =
            entries.map(|event| format!("{} {}", event["entry"]["text"], event["entry"]["url"]));
        let exceptions = self.events("Runtime.exceptionThrown").into_iter();
        entries
            .chain(exceptions.map(|event| event["exceptionDetails"].to_string()))
            .collect()
    }

    /// Returns the cookies of the page, with their attributes.
    pub(crate) fn cookies(&self) -> Vec<Value> {
        self.call("Network.getCookies", &json!({}))["cookies"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    /// Sets a cookie as another page received it.
    pub(crate) fn set_cookie(&self, cookie: &Value) {
        let set = json!({
            "name": cookie["name"], "value": cookie["value"], "domain": cookie["domain"], "path": cookie["path"],
            "httpOnly": cookie["httpOnly"], "sameSite": cookie["sameSite"],
        });
        assert_eq!(
            self.call("Network.setCookie", &set)["success"],
            true,
            "{cookie}"
        );
    }

    /// Calls a method of the protocol, which must succeed.
    pub(crate) fn call(&self, method: &str, parameters: &Value) -> Value {
        self.browser
            .connection
            .call(&self.session, method, parameters)
    }

    fn try_call(&self, method: &str, parameters: &Value) -> Result<Value, Value> {
        self.browser
            .connection
            .try_call(&self.session, method, parameters)
    }

    fn with_events<T>(&self, read: impl FnOnce(&[Value]) -> T) -> T {
        read(
            self.browser
                .connection
                .lock()
                .events
                .get(&self.session)
                .map(Vec::as_slice)
                .unwrap_or_default(),
        )
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let (thread, journey) = (std::thread::current(), self.journey());
        println!(
            "journey {} (scripts: {}): {} clicks, {} keys, {} fields, {:.1} s",
            thread.name().unwrap_or_default(),
            self.can_run_scripts,
            journey.clicks,
            journey.keys,
            journey.fields,
            journey.start.elapsed().as_secs_f64()
        );
        drop(journey);
        // The browser may have ended already.
        let _ = self.browser.connection.try_call(
            "",
            "Target.disposeBrowserContext",
            &json!({ "browserContextId": self.context }),
        );
        self.browser.connection.lock().events.remove(&self.session);
    }
}

/// The connection with the browser, which several threads may use.
struct Connection {
    input: Mutex<ChildStdin>,
    shared: Arc<(Mutex<Received>, Condvar)>,
}

/// The messages of the browser.
#[derive(Debug, Default)]
struct Received {
    last_id: u64,
    /// The responses that nobody has read, by the id of the call.
    responses: HashMap<u64, Value>,
    /// The events of each session, in the order of their arrival.
    events: HashMap<String, Vec<Value>>,
    /// The number of messages.
    count: u64,
    is_closed: bool,
}

impl Connection {
    fn new(input: ChildStdin, output: ChildStdout) -> Self {
        let shared = Arc::<(Mutex<Received>, Condvar)>::default();
        let received = Arc::clone(&shared);
        std::thread::spawn(move || receive(BufReader::new(output), &received));
        Self {
            input: Mutex::new(input),
            shared,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Received> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call(&self, session: &str, method: &str, parameters: &Value) -> Value {
        self.try_call(session, method, parameters)
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_call(&self, session: &str, method: &str, parameters: &Value) -> Result<Value, Value> {
        let id = {
            let mut received = self.lock();
            received.last_id += 1;
            received.last_id
        };
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        let message = format!("{message}\0");
        let written = self
            .input
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write_all(message.as_bytes());
        written.map_err(|error| json!(error.to_string()))?;
        let is_waiting =
            |received: &mut Received| !received.responses.contains_key(&id) && !received.is_closed;
        let (mut received, _) = self
            .shared
            .1
            .wait_timeout_while(self.lock(), DEADLINE, is_waiting)
            .unwrap_or_else(PoisonError::into_inner);
        let mut response = received
            .responses
            .remove(&id)
            .ok_or_else(|| json!("the browser does not respond"))?;
        if response["error"].is_null() {
            Ok(response["result"].take())
        } else {
            Err(response["error"].take())
        }
    }

    /// Waits for the next message, at most for `time`.
    fn wait_for_message(&self, time: Duration) {
        let received = self.lock();
        let count = received.count;
        let is_waiting = |received: &mut Received| received.count == count;
        drop(
            self.shared
                .1
                .wait_timeout_while(received, time, is_waiting)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }
}

/// Stores the messages of the browser until it closes the pipe.
fn receive(mut output: BufReader<ChildStdout>, (received, changed): &(Mutex<Received>, Condvar)) {
    loop {
        let mut message = Vec::new();
        let read = output.read_until(0, &mut message);
        let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
        received.count += 1;
        let Ok(1..) = read else {
            received.is_closed = true;
            changed.notify_all();
            return;
        };
        message.pop();
        let message: Value = serde_json::from_slice(&message).expect("a message is JSON");
        if let Some(id) = message["id"].as_u64() {
            received.responses.insert(id, message);
        } else if let Some(session) = message["sessionId"].as_str() {
            received
                .events
                .entry(session.to_owned())
                .or_default()
                .push(message);
        }
        changed.notify_all();
    }
}

/// Returns a JavaScript expression for the list of elements that `selector` matches.
///
/// A selector is CSS, or CSS and the start of the visible text or of the accessible name, as in `button >> Delete`. With a text,
/// only visible elements match.
fn elements(selector: &str) -> String {
    let Some((css, text)) = selector.split_once(" >> ") else {
        return format!("[...document.querySelectorAll({})]", json!(selector));
    };
    format!(
        "[...document.querySelectorAll({})].filter(e => e.checkVisibility()
            && [e.innerText, e.textContent, e.ariaLabel, e.value].some(own => String(own ?? '').trim().startsWith({})))",
        json!(css),
        json!(text)
    )
}

/// Returns a JavaScript expression for the first element that `selector` matches.
fn element(selector: &str) -> String {
    format!("{}[0]", elements(selector))
}

fn find_program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}
