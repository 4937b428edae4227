//! Construction of a chat proxy from the settings.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};

use memory_agent::http::{
    ChatProxy, LastModel, OpenHome, ProxyObserver, ProxyRules, Upstream, UpstreamError,
};
use memory_agent::model::{ApiKey, ApiKeyError};
use memory_core::StoreError;
use memory_core::conversation::{Conversations, JobQueue};
use memory_core::text::format_error_chain;
use memory_dream::conversation::{ConversationPrompts, ProcessRules};
use memory_store::conversation::{ConversationFolder, GitVersions, GitVersionsError, JobFile};
use memory_store::postgres::Database;
use memory_store::{EventLog, FileWatcher, RandomIds, WatchedChanges};

use super::models::{ProxyEmbedder, extraction_model, normalize_base_url};
use super::principals::PrincipalChatsOpener;
use super::worker::{WorkerConfig, WorkerStatus, Workers};
use crate::config::Settings;
use crate::conversations;
use crate::failure::Failure;
use crate::home;
use crate::reranking;
use crate::wake_signal::WakeSignal;

/// A proxy with its background threads.
pub(crate) struct OpenedProxy {
    /// The proxy.
    pub(crate) proxy: Arc<ChatProxy>,
    /// The threads that extract facts.
    pub(crate) workers: Workers,
    /// The thread that watches files for changes, if enabled.
    pub(crate) watcher: Option<Watcher>,
    /// Number of queued turns that wait for the first chat, because the settings name no model.
    pub(crate) waiting: usize,
    /// Messages to the user at the start.
    pub(crate) notices: Vec<String>,
}

/// Returns a message about queued turns, if there are any.
fn waiting_notice(waiting: usize) -> Option<String> {
    let turns = match waiting {
        0 => return None,
        1 => "1 turn is".to_owned(),
        count => format!("{count} turns are"),
    };
    Some(format!(
        "{turns} queued for fact extraction until a chat uses a model; set `llm` in config.yaml to extract now"
    ))
}

/// The variable with the API key that `OpenAI` clients use.
const DEFAULT_KEY_VARIABLE: &str = "OPENAI_API_KEY";

/// Divisor of the memory timeout: each model request may take this fraction of it.
const TIMEOUT_DIVISOR: u32 = 2;

/// Creates the proxy that the settings describe, with the own address `here`. Later errors go to `log`.
///
/// Every chat receives the standing instructions and preferences of the home that `open_home` returns. With the database `shared`,
/// principals are served too.
pub(crate) fn open(
    settings: &Settings,
    here: SocketAddr,
    has_token: bool,
    log: Arc<EventLog>,
    open_home: OpenHome,
    shared: Option<Arc<Database>>,
) -> Result<OpenedProxy, Failure> {
    let proxy = &settings.proxy;
    let base_url = proxy.openai_base_url.value.as_ref().ok_or_else(|| {
        let hint = "set --openai-base-url http://localhost:11434/v1, or proxy.openai_base_url in config.yaml";
        Failure::usage("no model server is configured", hint)
    })?;
    let base_url = normalize_base_url(base_url.expose_secret());
    let mut notices: Vec<String> = base_url.notice.into_iter().collect();
    let base_url = base_url.text.as_str();
    if let Some(address) = proxy
        .embedding_model
        .value
        .as_ref()
        .and(proxy.embedding_base_url.value.as_ref())
    {
        notices.extend(normalize_base_url(address.expose_secret()).notice);
    }
    let api_key = api_key(settings)?;
    if let Some((_, origin)) = &api_key {
        notices.push(format!(
            "requests without an API key use the key from {origin}"
        ));
    }
    let key = api_key.map(|(key, _)| key);
    let refused = |error: UpstreamError| Failure::usage(error.to_string(), error.hint());
    let secret = key.as_ref().map(ApiKey::expose_secret);
    let upstream = Upstream::new(
        base_url,
        secret,
        settings.environment.certificates.as_deref(),
    )
    .map_err(refused)?;
    if upstream.is_at(here) {
        let hint = "specify the address of the model server, or listen on another --port";
        return Err(Failure::usage(
            format!("{} is the address of this proxy", upstream.base_url()),
            hint,
        ));
    }
    let place = proxy
        .memory_path
        .value
        .clone()
        .unwrap_or_else(|| settings.root.value.clone());
    let (clock, ids) = (settings.clock(), Arc::new(RandomIds));
    let last_asked = LastModel::default();
    let patience = proxy.memory_timeout.value;
    let store = Arc::new(conversations::open(settings, &place)?);
    let watcher = if proxy.start_watcher.value {
        // Without the watcher, changes are still detected, but not always immediately.
        watch(&store)
            .inspect_err(|error| log.warning(clock.now(), &format_error_chain(error)))
            .ok()
    } else {
        None
    };
    let chat = extraction_model(settings, base_url, &place, &last_asked, key.clone(), &clock);
    let embedder = ProxyEmbedder::open(
        settings,
        base_url,
        key.as_ref(),
        Some(patience / TIMEOUT_DIVISOR),
    )?;
    let conversations = Conversations {
        store: store.clone(),
        clock,
        ids,
        embedder: embedder.with_own_key(),
        reranker: reranking::open_with_timeout(&settings.reranking, patience / TIMEOUT_DIVISOR),
        chat: None,
    };
    let told = Arc::new(WorkerStatus::new(Arc::clone(&log)));
    if proxy.enable_git_versioning.value {
        let versions = open_versions(&place, place == settings.root.value, &told);
        *told.versions.lock().unwrap_or_else(PoisonError::into_inner) = Some(versions);
    }
    let queue: Arc<dyn JobQueue> = Arc::new(JobFile::new(&place));
    let is_asked_later = proxy.enable_summarization.value && !settings.llm.is_named();
    let waiting = if is_asked_later {
        count_pending(queue.as_ref(), &told)
    } else {
        0
    };
    let background = ProxyEmbedder::open(settings, base_url, key.as_ref(), None)?;
    let (workers, own_key_embedder) = (Workers::default(), background.with_own_key());
    let work = WorkerConfig {
        conversations: Conversations {
            embedder: background.into_background(&last_asked),
            chat: Some(chat),
            ..conversations.clone()
        },
        queue: Arc::clone(&queue),
        rules: ProcessRules {
            max_entries: proxy.max_entries.value,
            summarise: proxy.enable_summarization.value,
            prompts: ConversationPrompts::default(),
        },
        prompts: vec![place.join("prompts"), settings.root.value.join("prompts")],
        last_asked: (!settings.llm.is_named()).then(|| last_asked.clone()),
        told: Arc::clone(&told),
    };
    let of_principals = shared.map(|database| PrincipalChatsOpener {
        settings: settings.clone(),
        database,
        base_url: base_url.to_owned(),
        api_key: key,
        conversations: conversations.clone(),
        background_embedder: own_key_embedder,
        rules: work.rules.clone(),
        log,
        workers: workers.clone(),
    });
    let rules = ProxyRules {
        recall: proxy.recall_rules(),
        patience,
        has_token,
    };
    let mut proxy = ChatProxy::new(conversations, queue, upstream, rules, last_asked, told)
        .with_home(open_home);
    if let Some(ledger) = home::recall_ledger(settings) {
        proxy = proxy.with_recall_ledger(ledger);
    }
    if let Some(of_clients) = embedder.for_clients() {
        proxy = proxy.with_client_embedder(of_clients);
    }
    if let Some(opener) = of_principals {
        proxy = proxy.with_principals(Box::new(move |principal| opener.open(principal)));
    }
    notices.extend(waiting_notice(waiting));
    workers.spawn(work);
    Ok(OpenedProxy {
        proxy: Arc::new(proxy),
        workers,
        watcher,
        waiting,
        notices,
    })
}

/// Returns the git repository of the conversations in a folder, which may be the home. Its errors go to `told`.
fn open_versions(place: &Path, is_home: bool, told: &Arc<WorkerStatus>) -> GitVersions {
    let tell = Arc::downgrade(told);
    let report = Box::new(move |error: &GitVersionsError| {
        if let Some(told) = tell.upgrade() {
            told.report_failure(&error.to_string());
        }
    });
    let versions = if is_home {
        GitVersions::for_home_conversations(place, report)
    } else {
        GitVersions::new(place, report)
    };
    // Commits changes that an earlier process left uncommitted.
    versions.schedule_commit("Commit changes made before the start");
    versions
}

/// Returns the number of turns queued before the start.
fn count_pending(queue: &dyn JobQueue, told: &WorkerStatus) -> usize {
    let pending = queue
        .pending()
        .inspect_err(|error| told.report_failure(&format_error_chain(error)));
    pending.map_or(0, |pending| pending.len())
}

/// Returns the key for clients that send none, and its origin.
///
/// Of the key and the variable name, the one from the higher layer of settings is used; `OPENAI_API_KEY` is the last
/// resort.
fn api_key(settings: &Settings) -> Result<Option<(ApiKey, String)>, Failure> {
    let proxy = &settings.proxy;
    let (key, name) = (&proxy.openai_api_key, &proxy.openai_api_key_env);
    if let Some(own) = key
        .value
        .as_ref()
        .filter(|_| name.value.is_none() || name.from <= key.from)
    {
        return Ok(Some((own.clone(), "the settings".to_owned())));
    }
    let no_key = |variable: &str, error: ApiKeyError| {
        Failure::usage(
            format!("environment variable {variable} contains no valid API key: {error}"),
            format!("correct or unset {variable}"),
        )
    };
    if let Some(name) = &name.value {
        let missing = || {
            Failure::usage(
                format!("environment variable {name} is not set; it must contain the API key"),
                format!("set {name}"),
            )
        };
        let text = settings
            .environment
            .variable(name)
            .filter(|key| !key.is_empty())
            .ok_or_else(missing)?;
        return Ok(Some((
            text.parse().map_err(|error| no_key(name, error))?,
            name.clone(),
        )));
    }
    let usual = proxy
        .usual_api_key
        .clone()
        .transpose()
        .map_err(|error| no_key(DEFAULT_KEY_VARIABLE, error))?;
    Ok(usual.map(|key| (key, DEFAULT_KEY_VARIABLE.to_owned())))
}

/// A thread that reports changed files to the store before its next read; it stops when dropped.
pub(crate) struct Watcher {
    bell: Arc<WakeSignal>,
    has_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Starts a watcher.
pub(super) fn watch(store: &Arc<ConversationFolder>) -> Result<Watcher, StoreError> {
    let (bell, has_ended) = (
        Arc::new(WakeSignal::default()),
        Arc::new(AtomicBool::default()),
    );
    let own = Arc::clone(&bell);
    let watch = FileWatcher::watch_conversations(store.root(), move || own.notify())?;
    let (own, end, store) = (Arc::clone(&bell), Arc::clone(&has_ended), Arc::clone(store));
    let thread = thread::spawn(move || {
        while !end.load(Ordering::SeqCst) {
            own.wait(None);
            // Added and removed files also change the modification time of their folder.
            let WatchedChanges {
                files,
                folders,
                more,
                lost,
            } = watch.take_changes();
            store.mark_changed((!more && !folders && lost.is_none()).then_some(&files));
            if lost.is_some() {
                return;
            }
        }
    });
    Ok(Watcher {
        bell,
        has_ended,
        thread: Some(thread),
    })
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::SeqCst);
        self.bell.notify();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported.
            let _ = thread.join();
        }
    }
}
