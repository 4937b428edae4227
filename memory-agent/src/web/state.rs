//! The configuration of the page, and the state that all handlers share.

use std::fmt::Debug;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::http::uri::Authority;
use chrono::{DateTime, NaiveDate, Utc};
use memory_core::bank::Banks;
use memory_core::conversation::{ConversationLocation, ConversationStore};
use memory_core::instance::NamedInstance;
use memory_core::{
    Category, Code, LocalTime, MemoryMap, Progress, RecallLedger, RefinementPlanner, Services,
    ToolError, Usage,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::assistant_host::AssistantHost;
use super::cached_views::{InboxCounts, PlannedWork, SlowViews};
use super::certificate::PageCertificate;
use super::conflict::MemoryConflict;
use super::devices;
use super::export_download::{ExportDownload, ExportRequest};
use super::import_job::{ImportJobs, ImportOutcome, ImportRequest, ImportStop};
use super::pages::ChartNumbers;
use super::sessions::{SignInCodes, WebSession, WebSessions};
use super::setting_fields::{SavedSetting, SettingsOverview};
use crate::http::{AccessRules, AuthState, BodyBudget, HttpLimits, SecureSite};
use crate::instance::OpenInstances;

/// The configuration of the page.
pub struct WebServerConfig {
    /// The services, unrestricted: the user sees all memories. Their actor is that of all changes, usually `web`.
    pub services: Services,
    /// The banks, with the same actor.
    pub banks: Banks,
    /// The instances.
    pub instances: Arc<OpenInstances>,
    /// The folders of conversations.
    pub conversations: Vec<ConversationLocation>,
    /// The ledger of recalls.
    pub recalls: Arc<dyn RecallLedger>,
    /// The conversion of times to local time.
    pub local_time: LocalTime,
    /// The home folder, for display.
    pub home: String,
    /// The codes for signing in.
    pub codes: Arc<SignInCodes>,
    /// The functions of the program that are not use cases.
    pub host: Arc<dyn WebHost>,
}

impl Debug for WebServerConfig {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("WebServerConfig")
            .field("home", &self.home)
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}

/// How other devices reach the page. It is then served to them alone, at one address.
#[derive(Debug, Clone)]
pub struct RemoteAccess {
    /// The host, with the port unless it is 443.
    authority: String,
    /// The certificate on the local network. Without one, a tunnel on this machine has one and forwards requests.
    certificate: Option<PageCertificate>,
}

impl RemoteAccess {
    /// Returns the access on the local network, at this address of the machine.
    pub fn network(address: SocketAddr, certificate: PageCertificate) -> Self {
        Self {
            authority: without_usual_port(&address.to_string()),
            certificate: Some(certificate),
        }
    }

    /// Returns the access through a tunnel at this URL, such as `https://memory.example.org`.
    ///
    /// # Errors
    /// If the text is not the URL of an HTTPS server without a path.
    pub fn tunnel(url: &str) -> Result<Self, ToolError> {
        let authority = url
            .strip_prefix("https://")
            .map(|rest| rest.strip_suffix('/').unwrap_or(rest))
            .and_then(|rest| rest.parse::<Authority>().ok())
            .filter(|found| !found.as_str().contains('@') && !found.host().is_empty());
        let authority = authority.ok_or_else(|| {
            ToolError::new(
                Code::InvalidInput,
                format!("{url:?} is not the address of a tunnel"),
                Some("write https:// and its host name, such as https://memory.example.org".into()),
            )
        })?;
        Ok(Self {
            authority: without_usual_port(&authority.as_str().to_lowercase()),
            certificate: None,
        })
    }

    /// Returns the host, with the port unless it is 443.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns the certificate on the local network.
    pub fn certificate(&self) -> Option<&PageCertificate> {
        self.certificate.as_ref()
    }

    fn site(&self) -> SecureSite {
        let tls = self.certificate().map(|own| Arc::clone(&own.tls));
        SecureSite::new(self.authority.clone(), tls)
    }
}

fn without_usual_port(authority: &str) -> String {
    authority
        .strip_suffix(":443")
        .unwrap_or(authority)
        .to_owned()
}

/// The functions of the program that the page needs and that are not use cases.
pub trait WebHost: Debug + Send + Sync {
    /// Returns a text that differs after an operation of any process. It is called every second.
    fn change_mark(&self) -> String;

    /// Returns a text that differs after an operation on memories. It may differ more often.
    fn memory_mark(&self) -> String {
        self.change_mark()
    }

    /// Returns the time for which a page waits for a view that takes long to make in a large home.
    fn view_timeout(&self) -> Duration {
        Duration::from_millis(15)
    }

    /// Updates what the program derives from the memories. It is called after each change by the page.
    fn after_change(&self);

    /// Returns the instances with a log of operations.
    ///
    /// # Errors
    /// If their definitions cannot be read.
    fn instance_logs(&self) -> Result<Vec<NamedInstance>, ToolError>;

    /// Returns the names of the principals whose requests the server of this home carries out; an empty list for a home of one
    /// principal, and without a shared database.
    fn other_principals(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the usage of language models; `None` if none is configured and none was used.
    ///
    /// # Errors
    /// If the usage cannot be read.
    fn usage(&self) -> Result<Option<Usage>, ToolError>;

    /// Returns the folders of conversations.
    ///
    /// # Errors
    /// If they cannot be found.
    fn conversations(&self) -> Result<Vec<Arc<dyn ConversationStore>>, ToolError>;

    /// Returns the planner of refinements that uses `services`.
    fn planner(&self, services: Services) -> Box<dyn RefinementPlanner>;

    /// Returns the keys of the suggestions that the person rejected, the last one at the end.
    fn rejected_suggestions(&self) -> Vec<String>;

    /// Replaces the keys of the rejected suggestions.
    ///
    /// # Errors
    /// If they cannot be stored.
    fn store_rejected_suggestions(&self, keys: &[String]) -> Result<(), ToolError>;

    /// Returns the state of the start page as it was last stored; empty if it is unknown.
    fn start_page_state(&self) -> String;

    /// Replaces the state of the start page.
    ///
    /// # Errors
    /// If it cannot be stored.
    fn store_start_page_state(&self, state: &str) -> Result<(), ToolError>;

    /// Returns the findings of `memory doctor`, as JSON.
    ///
    /// # Errors
    /// If the home cannot be read.
    fn doctor(&self) -> Result<Value, ToolError>;

    /// Returns the output of `memory status`, as JSON.
    ///
    /// # Errors
    /// If the home cannot be read.
    fn status(&self) -> Result<Value, ToolError>;

    /// Creates an empty folder for files of an upload, to which only this user has access.
    ///
    /// # Errors
    /// If the folder cannot be created.
    fn upload_folder(&self) -> Result<TempDir, ToolError>;

    /// Returns the absolute path of what a person types; a leading `~` is the home folder of the user.
    fn absolute_path(&self, path: &str) -> PathBuf;

    /// Returns the name and the title of each format of files that can be imported.
    fn import_formats(&self) -> Vec<(String, String)>;

    /// Imports files with `services`, as `memory import` does. After `stop`, nothing more is read.
    ///
    /// # Errors
    /// If the format is unknown, or the files cannot be read, or the memories cannot be written.
    fn import(
        &self,
        services: &Services,
        request: &ImportRequest,
        stop: &Arc<ImportStop>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<ImportOutcome, ToolError>;

    /// Returns the name and the title of each format of exports.
    fn export_formats(&self) -> Vec<(String, String)>;

    /// Exports memories, as `memory export` does.
    ///
    /// # Errors
    /// If the format is unknown, or the memories cannot be read.
    fn export(&self, request: &ExportRequest) -> Result<ExportDownload, ToolError>;

    /// Returns the settings as they are now.
    ///
    /// # Errors
    /// If the settings cannot be read.
    fn settings(&self) -> Result<SettingsOverview, ToolError>;

    /// Changes a setting in its file; an empty value restores the default.
    ///
    /// # Errors
    /// If the value is invalid, or the file cannot be changed.
    fn change_setting(&self, key: &str, value: &str) -> Result<(), ToolError>;

    /// Returns the assistants and projects of the home.
    fn assistant_host(&self) -> &dyn AssistantHost;
    /// Returns the text of the file of paired devices; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    fn devices(&self) -> Result<Option<String>, ToolError>;

    /// Replaces the text of the file of paired devices by what `change` makes of it, while no other process changes it.
    ///
    /// # Errors
    /// That of `change`, or if the file cannot be written.
    fn change_devices(
        &self,
        change: &mut dyn FnMut(Option<&str>) -> Result<String, ToolError>,
    ) -> Result<(), ToolError>;
}

/// The shared state of all handlers.
#[derive(Debug)]
pub(crate) struct WebState {
    pub(crate) config: WebServerConfig,
    pub(super) sessions: WebSessions,
    /// How other devices reach the page; `None` if it is for the browsers of this machine.
    pub(crate) remote: Option<RemoteAccess>,
    pub(super) plans: SlowViews<(), PlannedWork>,
    /// The contradictions between memories.
    pub(super) conflicts: SlowViews<(), Vec<MemoryConflict>>,
    /// The maps of the graph, by category.
    pub(super) maps: SlowViews<Option<Category>, MemoryMap>,
    /// The numbers of the charts, by day.
    pub(super) charts: SlowViews<NaiveDate, ChartNumbers>,
    /// The number of slow views that were made.
    pub(super) made_views: AtomicU64,
    /// The numbers of items in the inbox at a change mark.
    pub(super) inbox_counts: Mutex<Option<(String, InboxCounts)>>,
    /// The settings that were changed last, with the values that their file had before.
    pub(super) former_settings: Mutex<Vec<SavedSetting>>,
    pub(super) imports: ImportJobs,
    /// Held by the one upload that may be received at a time.
    pub(super) upload: Arc<Semaphore>,
    pub(super) gate: Arc<AuthState>,
    pub(super) bodies: BodyBudget,
    /// Cancelled when the server stops; ends the event streams.
    pub(super) end: CancellationToken,
    pub(super) workers: Arc<Semaphore>,
}

/// Maximum number of open connections of one user. A browser opens six.
const MAX_CONNECTIONS: usize = 64;

/// Maximum number of requests that are processed at the same time.
const MAX_WORKERS: usize = 8;

/// Maximum size of a form, in bytes. The escapes of a form triple the size of some texts.
pub(super) const MAX_FORM: usize = 8 << 20;

/// Maximum total size of all forms in memory, in bytes.
const MAX_FORMS: usize = 32 << 20;

/// Time that running requests get after the server was stopped.
const DRAIN_TIME: Duration = Duration::from_secs(5);

pub(super) fn limits() -> HttpLimits {
    HttpLimits {
        connections: MAX_CONNECTIONS,
        workers: MAX_WORKERS,
        body: MAX_FORM,
        bodies: MAX_FORMS,
        drain: DRAIN_TIME,
        ..HttpLimits::default()
    }
}

impl WebState {
    pub(super) fn new(config: WebServerConfig, remote: Option<RemoteAccess>) -> Self {
        let rules = AccessRules {
            site: remote.as_ref().map(RemoteAccess::site),
            how_to_admit: "open the page with `memory ui` on this machine".into(),
            ..AccessRules::default()
        };
        Self {
            config,
            sessions: WebSessions::default(),
            remote,
            plans: SlowViews::default(),
            conflicts: SlowViews::default(),
            maps: SlowViews::default(),
            charts: SlowViews::default(),
            made_views: AtomicU64::default(),
            inbox_counts: Mutex::default(),
            former_settings: Mutex::default(),
            imports: ImportJobs::default(),
            upload: Arc::new(Semaphore::new(1)),
            gate: Arc::new(AuthState::new(rules)),
            bodies: BodyBudget::new(limits()),
            end: CancellationToken::new(),
            workers: Arc::new(Semaphore::new(MAX_WORKERS)),
        }
    }
}

impl WebState {
    /// Returns the session with one of these tokens. It reads a file if devices are paired.
    pub(super) fn find_session(
        &self,
        tokens: &[String],
    ) -> Result<Option<Arc<WebSession>>, ToolError> {
        if self.remote.is_none() {
            let now = Instant::now();
            return Ok(tokens
                .iter()
                .find_map(|token| self.sessions.find(token, now)));
        }
        for token in tokens {
            let found = devices::find(self.config.host.as_ref(), token, self.now())?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Returns whether a session has not ended. Unlike a request, this does not extend it.
    pub(super) fn is_active(&self, session: &WebSession) -> bool {
        match session.device() {
            Some(id) => devices::is_paired(self.config.host.as_ref(), id, self.now()),
            None => self.sessions.is_active(session, Instant::now()),
        }
    }

    /// Ends a session.
    pub(super) fn end_session(&self, session: &WebSession) -> Result<(), ToolError> {
        if let Some(id) = session.device() {
            return devices::revoke(self.config.host.as_ref(), id).map(drop);
        }
        self.sessions.end(session);
        Ok(())
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.config.services.clock.now()
    }
}
