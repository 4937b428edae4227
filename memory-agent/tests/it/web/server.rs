//! A server of the page for tests, with a signed-in client.

use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use memory_agent::instance::OpenInstances;
use memory_agent::web::{
    AssistantHost, ExportDownload, ExportRequest, ImportOutcome, ImportReport, ImportRequest,
    ImportStop, ImportedFiles, RemoteAccess, SettingField, SettingGroup, SettingKind,
    SettingsOverview, SignInCodes, WebHost, WebServerConfig, serve_web, serve_web_to_devices,
};
use memory_core::chrono::{NaiveDate, TimeDelta};
use memory_core::conversation::ConversationStore;
use memory_core::instance::NamedInstance;
use memory_core::testing::{FakeClock, FakeConversations, FakeMeter, FakeRecallLedger, services};
use memory_core::{
    AppliedRefinement, Budget, Category, Code, Draft, ExpiringMemory, Filter, LlmUsage, MemStore,
    Memory, MemoryId, Meter, Neighbour, NeighbourFinder, NeighbourRelation, PageRequest, Phase,
    PlannedAction, PlannedRefinement, Progress, Purpose, Query, RefinementPlanner, Reservation,
    SecretPolicy, Services, SkippedFile, StoreError, StoredMemory, ToolError, Usage, list, search,
    upgrade, usage, write,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::assistants::FakeAssistants;
use crate::agents::agent;
use crate::http::server::{FakeDefinitions, HttpTestResponse};

/// The functions of the program, with fixed results.
#[derive(Debug)]
struct FakeHost {
    services: Services,
    conversations: Arc<FakeConversations>,
    rejected: Mutex<Vec<String>>,
    start_page: Mutex<String>,
    /// The number of plans that were made. While a test holds the lock no plan is made, and no page waits for one.
    plans: Arc<Mutex<usize>>,
    assistants: Arc<FakeAssistants>,
    settings: ChangedSettings,
    uploads: Arc<Mutex<Vec<PathBuf>>>,
    devices: Mutex<Option<String>>,
}

/// The settings that were changed, with their values.
type ChangedSettings = Arc<Mutex<BTreeMap<String, String>>>;

/// Takes the memories with a word of another one as related to it. A text with `contrary` contradicts them.
#[derive(Debug)]
struct WordNeighbours;

impl NeighbourFinder for WordNeighbours {
    fn neighbours(
        &self,
        services: &Services,
        memory: &Memory,
        _: Option<MemoryId>,
    ) -> Result<Vec<Neighbour>, StoreError> {
        let found = search(services, &Query::new(&memory.content).limit(9))?;
        let others = found
            .hits
            .into_iter()
            .map(|hit| hit.stored.memory)
            .filter(|other| other.id != memory.id);
        let neighbour = |other: Memory| Neighbour {
            relation: if memory.content.contains("contrary") {
                NeighbourRelation::Contradicts
            } else {
                NeighbourRelation::Related
            },
            id: other.id,
            text: other.content,
        };
        Ok(others.map(neighbour).collect())
    }
}

/// The text of a note with which no plan can be made.
pub(crate) const NO_PLAN: &str = "No plan can be made";

/// Suggests to file each note of the inbox under `knowledge`, and to merge notes under `knowledge` with the word `twin`.
#[derive(Debug)]
struct FakePlanner(Services, Arc<Mutex<usize>>);

impl RefinementPlanner for FakePlanner {
    fn plan(&self) -> Result<Vec<PlannedRefinement>, StoreError> {
        *self.1.lock().expect("no test failed") += 1;
        let filter = Filter {
            phase: Some(Phase::Inbox),
            ..Filter::default()
        };
        let notes = list(&self.0, &filter, &PageRequest::default())?.memories;
        if notes.iter().any(|own| own.memory.content == NO_PLAN) {
            return Err(StoreError::NoModel);
        }
        let row = |stored: StoredMemory| PlannedRefinement {
            key: stored.memory.id.to_string(),
            memory: stored.memory.id,
            headline: stored.memory.headline().to_owned(),
            action: PlannedAction::File {
                category: Category::Knowledge,
                reason: "the test says so".into(),
            },
        };
        let twins = Filter {
            category: Some(Category::Knowledge),
            ..Filter::default()
        };
        let mut twins = list(&self.0, &twins, &PageRequest::default())?.memories;
        twins.retain(|own| own.memory.content.contains("twin"));
        let merge = twins.split_first().filter(|(_, rest)| !rest.is_empty());
        let merge = merge.map(|(kept, rest)| PlannedRefinement {
            key: format!("merge-{}", kept.memory.id),
            memory: kept.memory.id,
            headline: kept.memory.headline().to_owned(),
            action: PlannedAction::Merge {
                duplicates: rest
                    .iter()
                    .map(|own| (own.memory.id, own.memory.headline().to_owned()))
                    .collect(),
                added: Vec::new(),
                content: kept.memory.content.clone(),
            },
        });
        Ok(notes.into_iter().map(row).chain(merge).collect())
    }

    fn apply(&self, keys: &[String]) -> Result<AppliedRefinement, StoreError> {
        let planned = self.plan()?;
        let known: Vec<&String> = keys
            .iter()
            .filter(|key| planned.iter().any(|row| row.key == **key))
            .collect();
        for key in &known {
            upgrade(&self.0, key, Some(Category::Knowledge))?;
        }
        let operation = self
            .0
            .history
            .records()
            .next()
            .transpose()?
            .filter(|_| !known.is_empty());
        let operation = operation.map(|record| record.operation.id);
        Ok(AppliedRefinement {
            operation,
            applied: known.len() as u64,
            skipped: (keys.len() - known.len()) as u64,
        })
    }

    fn suggest_category(&self, memory: &Memory) -> Option<Category> {
        memory
            .content
            .contains("prefers")
            .then_some(Category::Preferences)
    }

    fn group_repeats(&self, texts: &[&str]) -> Vec<Vec<usize>> {
        let words = |text: &str| text.trim_end_matches('.').to_lowercase();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            match groups
                .iter_mut()
                .find(|group| words(texts[group[0]]) == words(text))
            {
                Some(group) => group.push(number),
                None => groups.push(vec![number]),
            }
        }
        groups.retain(|group| 1 < group.len());
        groups
    }

    fn expiring(&self, time: TimeDelta) -> Result<Vec<ExpiringMemory>, StoreError> {
        let filter = Filter {
            phase: Some(Phase::Inbox),
            ..Filter::default()
        };
        let notes = list(&self.0, &filter, &PageRequest::default())?.memories;
        let expiring = |stored: StoredMemory| ExpiringMemory {
            id: stored.memory.id,
            headline: stored.memory.headline().to_owned(),
            at: stored.memory.updated_at + time,
            why: "unchanged in the inbox",
        };
        Ok(notes.into_iter().map(expiring).collect())
    }
}

/// A text that could be taken for markup.
const TRAP: &str = "\"'><x-trap>&amp;";

/// Returns the files in a folder and its folders, or the file itself.
fn files_below(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let items = std::fs::read_dir(path).expect("a folder");
    let mut items: Vec<PathBuf> = items.map(|item| item.expect("an item").path()).collect();
    items.sort();
    items.iter().flat_map(|item| files_below(item)).collect()
}

impl WebHost for FakeHost {
    fn change_mark(&self) -> String {
        self.services.history.records().count().to_string()
    }

    fn view_timeout(&self) -> Duration {
        let is_delayed = self.plans.try_lock().is_err();
        Duration::from_secs(if is_delayed { 0 } else { 60 })
    }

    fn after_change(&self) {}

    fn instance_logs(&self) -> Result<Vec<NamedInstance>, ToolError> {
        Ok(Vec::new())
    }

    fn usage(&self) -> Result<Option<Usage>, ToolError> {
        let meter = FakeMeter::default();
        let (day, amount) = (
            NaiveDate::default(),
            LlmUsage {
                calls: 2,
                prompt_tokens: 30,
                answer_tokens: 4,
            },
        );
        let reservation = Reservation {
            day,
            purpose: Purpose::of("classify"),
            amount,
        };
        meter
            .reserve(&reservation, &Budget::default())
            .expect("there is no limit");
        Ok(Some(usage(&meter, day, Budget::default())?))
    }

    fn conversations(&self) -> Result<Vec<Arc<dyn ConversationStore>>, ToolError> {
        Ok(vec![Arc::clone(&self.conversations) as _])
    }

    fn planner(&self, services: Services) -> Box<dyn RefinementPlanner> {
        Box::new(FakePlanner(services, Arc::clone(&self.plans)))
    }

    fn rejected_suggestions(&self) -> Vec<String> {
        self.rejected.lock().expect("no panic").clone()
    }

    fn store_rejected_suggestions(&self, keys: &[String]) -> Result<(), ToolError> {
        *self.rejected.lock().expect("no panic") = keys.to_vec();
        Ok(())
    }

    fn start_page_state(&self) -> String {
        self.start_page.lock().expect("no panic").clone()
    }

    fn store_start_page_state(&self, state: &str) -> Result<(), ToolError> {
        state.clone_into(&mut self.start_page.lock().expect("no panic"));
        Ok(())
    }

    fn doctor(&self) -> Result<Value, ToolError> {
        Ok(json!({ "checked": 0, "healthy": true, "findings": [] }))
    }

    fn status(&self) -> Result<Value, ToolError> {
        Ok(json!({ "daemon": { "running": false }, "memories": 0, "chores": [] }))
    }

    fn upload_folder(&self) -> Result<TempDir, ToolError> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut uploads = self.uploads.lock().expect("no panic");
        uploads.push(folder.path().to_owned());
        Ok(folder)
    }

    fn absolute_path(&self, path: &str) -> PathBuf {
        PathBuf::from(path)
    }

    fn import_formats(&self) -> Vec<(String, String)> {
        vec![("text".into(), "Text files".into())]
    }

    /// Imports each file as a memory. Some names stand for the other outcomes.
    fn import(
        &self,
        services: &Services,
        request: &ImportRequest,
        stop: &Arc<ImportStop>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<ImportOutcome, ToolError> {
        let name = request.path.file_name().expect("a name").to_string_lossy();
        if request.format.is_none() && name == "ambiguous" {
            let formats = vec![("text".into(), "Text files".into())];
            return Ok(ImportOutcome::Ambiguous(formats));
        }
        if request.fields.is_empty() && name == "table.csv" {
            return Ok(ImportOutcome::Unmapped {
                keys: vec!["words".into(), TRAP.into()],
                suggested: vec![("content".into(), "words".into())],
            });
        }
        if name == "broken" {
            let message = format!("cannot read {}", request.path.display());
            return Err(ToolError::new(Code::Io, message, None));
        }
        let files = files_below(&request.path);
        let mut imported = 0;
        for (done, path) in (1..).zip(&files) {
            // A file of this name is read until the person stops the import.
            while path.ends_with("endless") && !request.is_dry_run && !stop.is_requested() {
                std::thread::yield_now();
            }
            if stop.leaves_out() {
                break;
            }
            imported = done;
            let text = std::fs::read_to_string(path).expect("a text");
            if !request.is_dry_run {
                write(services, Draft::new(&text), SecretPolicy::Keep).expect("it is written");
            }
            progress(Progress {
                done,
                total: Some(files.len() as u64),
            });
        }
        let shown = |path: &PathBuf| {
            let root = request.upload.as_deref().unwrap_or(Path::new(""));
            path.strip_prefix(root)
                .expect("it is below")
                .display()
                .to_string()
        };
        let skipped = SkippedFile {
            path: TRAP.into(),
            reason: TRAP.into(),
        };
        let source = ImportedFiles {
            format: "Text files".into(),
            notes: [imported, 0, 0],
            first: files.iter().map(shown).collect(),
            skipped: vec![skipped.clone()],
            ..ImportedFiles::default()
        };
        let report = ImportReport {
            sources: vec![source],
            left_out: vec![skipped],
        };
        Ok(ImportOutcome::Report(report))
    }

    fn export_formats(&self) -> Vec<(String, String)> {
        vec![("lines".into(), "Lines".into())]
    }

    fn export(&self, request: &ExportRequest) -> Result<ExportDownload, ToolError> {
        let mut file = tempfile::tempfile().expect("a file");
        let ExportRequest {
            format,
            filter,
            has_history,
        } = request;
        let text = format!(
            "{format} {:?} {:?} {has_history}",
            filter.category, filter.from
        );
        file.write_all(text.as_bytes()).expect("it is written");
        file.rewind().expect("it is a file");
        Ok(ExportDownload {
            name: "a.jsonl".into(),
            media_type: "application/jsonl",
            file,
        })
    }

    fn settings(&self) -> Result<SettingsOverview, ToolError> {
        let values = self.settings.lock().expect("no panic");
        let field = |key: &str, kind, usual: &str, fixed: Option<&str>| {
            let value = values.get(key).cloned();
            let kind = match kind {
                SettingKind::Secret(_) => SettingKind::Secret(value.is_some()),
                other => other,
            };
            let shown = value
                .clone()
                .filter(|_| !matches!(kind, SettingKind::Secret(_)));
            SettingField {
                key: key.to_owned(),
                meaning: format!("What `{key}` means, {TRAP}"),
                value: shown.unwrap_or_else(|| usual.to_owned()),
                usual: usual.to_owned(),
                is_example: false,
                kind,
                is_in_file: value.is_some(),
                fixed: fixed.map(str::to_owned),
                needs_restart: false,
            }
        };
        let words = &["direct", "propose"];
        let fields = vec![
            field("git.enabled", SettingKind::Switch, "false", None),
            field("review.policy", SettingKind::Choice(words), "direct", None),
            field("daemon.interval", SettingKind::Text, "60s", None),
            field("review.rules", SettingKind::List, "", None),
            field("llm.api_key", SettingKind::Secret(false), "", None),
            field(
                "hooks.on_event",
                SettingKind::Text,
                "",
                Some("Only in the file."),
            ),
        ];
        let group = SettingGroup {
            title: "All",
            purpose: "All of them.",
            fields,
        };
        Ok(SettingsOverview {
            file: TRAP.into(),
            unknown: vec![TRAP.into()],
            groups: vec![group],
        })
    }

    fn change_setting(&self, key: &str, value: &str) -> Result<(), ToolError> {
        if value == "wrong" {
            let message = "\"wrong\" is not a duration";
            return Err(ToolError::new(Code::InvalidInput, message, None));
        }
        let mut values = self.settings.lock().expect("no panic");
        if value.is_empty() {
            values.remove(key);
        } else {
            values.insert(key.to_owned(), value.to_owned());
        }
        Ok(())
    }

    fn assistant_host(&self) -> &dyn AssistantHost {
        self.assistants.as_ref()
    }

    fn devices(&self) -> Result<Option<String>, ToolError> {
        Ok(self.devices.lock().expect("no panic").clone())
    }

    fn change_devices(
        &self,
        change: &mut dyn FnMut(Option<&str>) -> Result<String, ToolError>,
    ) -> Result<(), ToolError> {
        let mut text = self.devices.lock().expect("no panic");
        *text = Some(change(text.as_deref())?);
        Ok(())
    }
}

/// A server of the page that is shut down when dropped.
pub(crate) struct WebTestServer {
    pub(crate) place: SocketAddr,
    /// The services, for preparing and checking the memories.
    pub(crate) services: Services,
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) recalls: Arc<FakeRecallLedger>,
    pub(crate) conversations: Arc<FakeConversations>,
    /// The number of plans that were made.
    pub(crate) plans: Arc<Mutex<usize>>,
    pub(crate) assistants: Arc<FakeAssistants>,
    /// The settings that were changed, with their values.
    pub(crate) settings: ChangedSettings,
    /// The folders that were created for uploads.
    pub(crate) uploads: Arc<Mutex<Vec<PathBuf>>>,
    codes: Arc<SignInCodes>,
    /// The cookie and the CSRF token of the session.
    session: (String, String),
    end: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<std::io::Result<()>>>,
}

impl WebTestServer {
    /// Starts a server with an empty home, and signs in.
    pub(crate) fn start() -> Self {
        let mut server = Self::serve(|_| None);
        server.session = server.sign_in();
        server
    }

    /// Starts a server with an empty home, for other devices if `remote` returns their access to an address.
    pub(crate) fn serve(remote: impl FnOnce(SocketAddr) -> Option<RemoteAccess>) -> Self {
        let clock = Arc::new(FakeClock::default());
        let services = Services {
            clock: clock.clone(),
            neighbour_finder: Some(Arc::new(WordNeighbours)),
            ..services(Arc::new(MemStore::default()))
        };
        let (codes, recalls) = (
            Arc::new(SignInCodes::default()),
            Arc::new(FakeRecallLedger::default()),
        );
        let conversations = Arc::new(FakeConversations::default());
        let plans = Arc::new(Mutex::new(0));
        let assistants = Arc::new(FakeAssistants::default());
        let (settings, uploads) = (ChangedSettings::default(), Arc::default());
        let definitions = FakeDefinitions {
            agent: agent(),
            opened: AtomicUsize::new(0),
            version: Mutex::default(),
        };
        let config = WebServerConfig {
            banks: services.banks.clone().expect("the fakes have banks"),
            services: Services {
                actor: "web".into(),
                ..services.clone()
            },
            instances: Arc::new(OpenInstances::new(
                Arc::new(definitions),
                SecretPolicy::Refuse,
            )),
            conversations: Vec::new(),
            recalls: Arc::clone(&recalls) as _,
            local_time: Arc::new(|time| time.fixed_offset()),
            home: "~/.memory".into(),
            codes: Arc::clone(&codes),
            host: Arc::new(FakeHost {
                services: services.clone(),
                conversations: Arc::clone(&conversations),
                rejected: Mutex::default(),
                start_page: Mutex::default(),
                plans: Arc::clone(&plans),
                assistants: Arc::clone(&assistants),
                settings: Arc::clone(&settings),
                uploads: Arc::clone(&uploads),
                devices: Mutex::default(),
            }),
        };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener");
        let place = listener.local_addr().expect("an address");
        let remote = remote(place);
        let (end, ending) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            let served = runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                let ending = async { drop(ending.await) };
                match remote {
                    Some(remote) => serve_web_to_devices(listener, config, remote, ending).await,
                    None => serve_web(listener, config, ending).await,
                }
            });
            runtime.shutdown_background();
            served
        });
        Self {
            place,
            services,
            clock,
            recalls,
            conversations,
            plans,
            assistants,
            settings,
            uploads,
            codes,
            session: Default::default(),
            end: Some(end),
            served: Some(thread),
        }
    }

    /// Signs in with a new code, and returns the cookie and the CSRF token.
    pub(crate) fn sign_in(&self) -> (String, String) {
        let response = self.send(
            "POST",
            "/sign-in",
            &[],
            &encode_form(&[("code", &self.code()), ("next", "/memories")]),
        );
        assert_eq!(
            (response.status, response.headers["location"].as_str()),
            (303, "/memories")
        );
        let cookie = response.headers["set-cookie"]
            .split(';')
            .next()
            .expect("a cookie")
            .to_owned();
        let page = self.send("GET", "/memories", &[("Cookie", &cookie)], "");
        let csrf = page
            .body
            .split("name=\"csrf\" value=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        (cookie, csrf.expect("a token").to_owned())
    }

    /// Returns a new sign-in code.
    pub(crate) fn code(&self) -> String {
        self.codes.issue().expect("a code")
    }

    pub(crate) fn cookie(&self) -> &str {
        &self.session.0
    }

    pub(crate) fn csrf(&self) -> &str {
        &self.session.1
    }

    /// Writes a memory, and returns its id.
    pub(crate) fn write(&self, draft: Draft) -> String {
        write(&self.services, draft, SecretPolicy::Keep)
            .expect("it is written")
            .id
            .to_string()
    }

    /// Returns a page for the signed-in client.
    pub(crate) fn get(&self, path: &str) -> HttpTestResponse {
        self.send("GET", path, &[("Cookie", self.cookie())], "")
    }

    /// Sends a form with the CSRF token of the session.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> HttpTestResponse {
        let fields: Vec<_> = [("csrf", self.csrf())]
            .into_iter()
            .chain(fields.iter().copied())
            .collect();
        self.send(
            "POST",
            path,
            &[("Cookie", self.cookie())],
            &encode_form(&fields),
        )
    }

    /// Sends a form, and returns the page to which the response redirects.
    pub(crate) fn post_and_follow(&self, path: &str, fields: &[(&str, &str)]) -> HttpTestResponse {
        let response = self.post(path, fields);
        assert_eq!(response.status, 303, "{}", response.body);
        self.get(&response.headers["location"])
    }

    /// Sends a request with a form as its body, and without a session.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpTestResponse {
        HttpTestResponse::read(self.begin(method, path, headers, body)).expect("a response")
    }

    /// Sends a request, and returns the connection from which the response can be read.
    pub(crate) fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
        let mut stream = TcpStream::connect(self.place).expect("a connection");
        let request = self.request(method, path, headers, body);
        // The server may refuse a request before it has read all of it.
        let _ = stream.write_all(request.as_bytes());
        stream
    }

    /// Returns the bytes of a request.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> String {
        let (host, length) = (self.place.to_string(), body.len().to_string());
        let usual = [
            ("Host", host.as_str()),
            ("Connection", "close"),
            ("Content-Length", length.as_str()),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ];
        let usual = usual
            .iter()
            .filter(|(name, _)| !headers.iter().any(|(own, _)| own == name));
        let lines: Vec<String> = usual
            .chain(headers)
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        format!("{method} {path} HTTP/1.1\r\n{}\r\n{body}", lines.concat())
    }
}

impl Drop for WebTestServer {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            let _ = end.send(());
        }
        if let Some(served) = self.served.take() {
            let served = served.join();
            if !thread::panicking() {
                served.expect("no panic").expect("it ends well");
            }
        }
    }
}

/// Encodes the fields of a form.
pub(crate) fn encode_form(fields: &[(&str, &str)]) -> String {
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    fields
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
        .collect::<Vec<_>>()
        .join("&")
}
