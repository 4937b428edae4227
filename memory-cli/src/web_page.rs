//! The web page of a home: its services, its listener, and the functions of the program that it calls.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use memory_agent::web::{
    AssistantHost, ExportDownload, ExportRequest, ImportOutcome, ImportRequest, ImportStop,
    SettingsOverview, SignInCodes, WebHost, WebServerConfig,
};
use memory_core::conversation::{ConversationLocation, ConversationStore};
use memory_core::instance::NamedInstance;
use memory_core::{
    Code, Embedder, Progress, RecallLedger, RefinementPlanner, Services, ToolError, Usage, usage,
};
use memory_dream::{DreamTask, LastPlan, SelectiveDream};
use memory_store::conversation::ConversationFolder;
use memory_store::system::private_temp_folder;
use memory_store::{Ledger, PrivateFile, RecallFolder, RejectedSuggestionsFile, StartPageFile};
use serde_json::Value;
use tempfile::TempDir;

use crate::banks;
use crate::conversations;
use crate::doctor;
use crate::failure::Failure;
use crate::home::{Home, PendingPage};
use crate::instances;
use crate::language_model;
use crate::page_export;
use crate::page_import;
use crate::page_settings;
use crate::reranking;
use crate::shared_store;
use crate::status::StatusSnapshot;
use crate::topics;
use crate::versions;
use crate::web_assistants::PageAssistants;

/// The actor of changes on the page.
const ACTOR: &str = "web";

/// The port of the page, if it is free.
///
/// With the same port each time, the browser finds the page again under its bookmark.
const USUAL_PORT: u16 = 8719;

/// Returns the configuration of the page for `home`, with this embedding model.
pub(crate) fn configure(
    home: &Home,
    embedder: Option<Arc<dyn Embedder>>,
    codes: Arc<SignInCodes>,
) -> Result<WebServerConfig, Failure> {
    let settings = &home.settings;
    let banks = banks::open(settings, ACTOR)?;
    let services = Services {
        banks: Some(banks.clone()),
        topics: topics::open(settings, None, ACTOR)?,
        embedder,
        reranking: reranking::open_lazily(&settings.reranking),
        actor: ACTOR.into(),
        ..home.services.clone()
    };
    let zone = home.zone;
    let folders: Vec<_> = conversations::folders(settings, None)?
        .into_iter()
        .map(Arc::new)
        .collect();
    let location = |folder: &Arc<ConversationFolder>| ConversationLocation {
        place: folder.location(),
        store: Arc::clone(folder) as _,
    };
    Ok(WebServerConfig {
        services,
        banks,
        instances: instances::open_cached(settings)?,
        conversations: folders.iter().map(location).collect(),
        recalls: Arc::new(home.recalls()),
        local_time: Arc::new(move |time| time.with_timezone(&zone).fixed_offset()),
        home: home.store.root().display().to_string(),
        codes,
        host: Arc::new(PageHost::new(home, folders)),
    })
}

/// Opens a listener for the page on this machine; without `port`, on the usual or another free port.
pub(crate) fn listen(port: Option<u16>) -> io::Result<TcpListener> {
    let bind = |port: u16| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let listener = match port {
        Some(port) => bind(port)?,
        None => bind(USUAL_PORT).or_else(|_| bind(0))?,
    };
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Returns the file of the devices that are paired with the page.
pub(crate) fn devices_file(home: &Home) -> PrivateFile {
    PrivateFile::new(home.store.root(), "devices.json")
}

/// The functions of the program that the page calls.
#[derive(Debug)]
struct PageHost {
    home: Home,
    pending: PendingPage,
    devices: PrivateFile,
    recalls: RecallFolder,
    conversations: Vec<Arc<ConversationFolder>>,
    assistants: PageAssistants,
    last_plan: LastPlan,
}

impl PageHost {
    fn new(home: &Home, conversations: Vec<Arc<ConversationFolder>>) -> Self {
        Self {
            home: home.clone(),
            pending: PendingPage::of(home),
            devices: devices_file(home),
            recalls: home.recalls(),
            conversations,
            assistants: PageAssistants::new(&home.settings, ACTOR),
            last_plan: LastPlan::default(),
        }
    }

    fn rejected(&self) -> RejectedSuggestionsFile {
        RejectedSuggestionsFile::of(self.home.store.root())
    }
}

impl WebHost for PageHost {
    fn change_mark(&self) -> String {
        let root = self.home.store.root();
        // What cannot be read counts as unchanged until it can be read again.
        let journal = self.home.store.journal_end().unwrap_or_default();
        let folders =
            ["banks", "entries", ".conversations"].map(|name| modification_time(&root.join(name)));
        let recalls = self.recalls.size().unwrap_or_default();
        let others: Vec<String> = folders
            .iter()
            .chain([&u128::from(recalls)])
            .map(|number| format!("{number:x}"))
            .collect();
        format!("{journal} {}", others.join("-"))
    }

    fn other_principals(&self) -> Vec<String> {
        shared_store::other_principals(&self.home.settings)
    }

    fn memory_mark(&self) -> String {
        self.home.store.journal_end().unwrap_or_default()
    }

    fn after_change(&self) {
        // The change is complete. If a page cannot be written, the daemon or the next command writes it.
        let _ = self.pending.refresh();
        self.home.update_index_page();
        let (store, settings) = (&self.home.store, &self.home.settings);
        if let (true, Ok(end)) = (settings.git.value, store.journal_end()) {
            versions::commit_in_background(
                store.root(),
                &end,
                settings.environment.program.as_deref(),
            );
        }
    }

    fn instance_logs(&self) -> Result<Vec<NamedInstance>, ToolError> {
        // Unreachable instances have no operations to show.
        instances::file_operation_logs(&self.home.settings)
            .map(|(logs, _)| logs)
            .map_err(|error| tool_error(&error))
    }

    fn usage(&self) -> Result<Option<Usage>, ToolError> {
        let settings = &self.home.settings;
        let ledger = Ledger::open(&settings.root.value)?;
        let report = usage(
            &ledger,
            language_model::budget_day(settings),
            settings.llm_budget(),
        )?;
        Ok(Some(report).filter(|report| settings.llm.is_named() || 0 < report.lately.all.calls))
    }

    fn conversations(&self) -> Result<Vec<Arc<dyn ConversationStore>>, ToolError> {
        Ok(self
            .conversations
            .iter()
            .map(|folder| Arc::clone(folder) as _)
            .collect())
    }

    fn planner(&self, services: Services) -> Box<dyn RefinementPlanner> {
        let tasks = vec![
            DreamTask::Expire,
            DreamTask::Decay,
            DreamTask::Upgrade,
            DreamTask::Classify,
            DreamTask::Merge,
            DreamTask::MergeSimilar,
            DreamTask::Remind,
        ];
        Box::new(SelectiveDream {
            last: self.last_plan.clone(),
            ..self.home.planner(services, tasks)
        })
    }

    fn rejected_suggestions(&self) -> Vec<String> {
        self.rejected().load()
    }

    fn store_rejected_suggestions(&self, keys: &[String]) -> Result<(), ToolError> {
        Ok(self.rejected().save(keys)?)
    }

    fn start_page_state(&self) -> String {
        StartPageFile::of(self.home.store.root()).load()
    }

    fn store_start_page_state(&self, state: &str) -> Result<(), ToolError> {
        Ok(StartPageFile::of(self.home.store.root()).save(state)?)
    }

    fn doctor(&self) -> Result<Value, ToolError> {
        Ok(doctor::report_json(&doctor::check_home(&self.home, None)?))
    }

    fn status(&self) -> Result<Value, ToolError> {
        Ok(StatusSnapshot::of(&self.home)?.to_json())
    }

    fn upload_folder(&self) -> Result<TempDir, ToolError> {
        private_temp_folder(&std::env::temp_dir(), "memory-upload-")
            .map_err(Failure::file("create a folder for the files"))
            .map_err(|error| tool_error(&error))
    }

    fn absolute_path(&self, path: &str) -> PathBuf {
        let environment = &self.home.settings.environment;
        environment.absolute_path(Path::new(path))
    }

    fn import_formats(&self) -> Vec<(String, String)> {
        page_import::formats()
    }

    fn import(
        &self,
        services: &Services,
        request: &ImportRequest,
        stop: &Arc<ImportStop>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<ImportOutcome, ToolError> {
        page_import::import(&self.home, services, request, stop, progress)
            .map_err(|failure| page_error(&failure))
    }

    fn export_formats(&self) -> Vec<(String, String)> {
        page_export::formats()
    }

    fn export(&self, request: &ExportRequest) -> Result<ExportDownload, ToolError> {
        page_export::export(&self.home, request).map_err(|failure| page_error(&failure))
    }

    fn settings(&self) -> Result<SettingsOverview, ToolError> {
        let settings = page_settings::overview(&self.home.settings);
        settings.map_err(|error| page_error(&error.into()))
    }

    fn change_setting(&self, key: &str, value: &str) -> Result<(), ToolError> {
        page_settings::change(&self.home.settings, key, value)
    }

    fn assistant_host(&self) -> &dyn AssistantHost {
        &self.assistants
    }

    fn devices(&self) -> Result<Option<String>, ToolError> {
        Ok(self.devices.read()?)
    }

    fn change_devices(
        &self,
        change: &mut dyn FnMut(Option<&str>) -> Result<String, ToolError>,
    ) -> Result<(), ToolError> {
        self.devices.change(|text| change(text.as_deref()))
    }
}

/// Returns the time of the last change of a folder, in nanoseconds; 0 if it does not exist.
fn modification_time(folder: &Path) -> u128 {
    let modified = folder.metadata().and_then(|found| found.modified()).ok();
    modified
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |time| time.as_nanos())
}

/// Returns an error with its next step, unless that is a command.
fn page_error(error: &Failure) -> ToolError {
    let hint = error.hint().filter(|hint| !hint.contains('`'));
    ToolError::new(
        error.core_code(),
        memory_core::text::format_error_chain(error),
        hint,
    )
}

fn tool_error(error: &Failure) -> ToolError {
    ToolError::new(Code::Io, memory_core::text::format_error_chain(error), None)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_mark_differs_after_a_change_of_each_store() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("home");
        let home = Home::open(&root).expect("a home");
        let host = PageHost::new(&home, Vec::new());
        let mut last = host.change_mark();
        let mut check = |change: &str| {
            let mark = host.change_mark();
            assert_ne!(mark, last, "{change}");
            assert_eq!(
                mark,
                host.change_mark(),
                "it does not differ without a change"
            );
            last = mark;
        };
        home.memories()
            .write("The user prefers tea")
            .expect("it is written");
        check("a memory");
        fs::create_dir_all(root.join("banks")).expect("a folder");
        check("a bank");
        fs::create_dir_all(root.join("recalls")).expect("a folder");
        fs::write(root.join("recalls/2026-05.jsonl"), "{}\n").expect("a file");
        check("a recall");
    }
}
