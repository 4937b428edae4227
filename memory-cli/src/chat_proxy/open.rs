//! Putting a proxy together.

use std::env;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memory_agent::http::{ChatProxy, LastAsked, ProxyRules, Told, Upstream, UpstreamError};
use memory_agent::model::{ApiKey, LocalEmbedder, RemoteEmbedder, RemoteSettings};
use memory_core::conversation::{Conversations, JobQueue};
use memory_core::text::with_causes;
use memory_core::{ChatModel, Clock, EmbedError, Embedder};
use memory_dream::conversation::{ProcessRules, Prompts};
use memory_store::conversation::{ConversationFolder, JobFile, Versions};
use memory_store::{Log, RandomIds, SystemClock};

use super::model::AskedModel;
use super::watcher::{Watcher, watch};
use super::worker::{Telling, Work, Worker};
use crate::config::{ProxySettings, Settings, certificates};
use crate::daemon::Bell;
use crate::embedding;
use crate::failure::Failure;
use crate::language_model;
use crate::reranking;

/// A proxy, and who does the rest beside it.
pub(crate) struct Opened {
    /// The proxy.
    pub(crate) proxy: Arc<ChatProxy>,
    /// Draws facts from what was said.
    pub(crate) worker: Worker,
    /// Hears of files that others change, if that is wanted.
    pub(crate) watcher: Option<Watcher>,
    /// How many turns from before wait until somebody asks a model, since the settings name none.
    pub(crate) waiting: usize,
}

impl Opened {
    /// Says what waits, if something does.
    pub(crate) fn says_what_waits(&self) -> Option<String> {
        let turns = match self.waiting {
            0 => return None,
            1 => "1 turn waits".to_owned(),
            count => format!("{count} turns wait"),
        };
        Some(format!("{turns} to be worked on until a chat names a model; `llm` in config.yaml lets it be done at once"))
    }
}

/// What is asked for memories has so much of the time that they are waited for.
const SHARE: u32 = 2;

/// Opens the proxy that the settings describe, which listens at `here`. What goes wrong later is told to `log`.
pub(crate) fn open(settings: &Settings, here: SocketAddr, has_token: bool, log: Arc<Log>) -> Result<Opened, Failure> {
    let proxy = &settings.proxy;
    let base_url = proxy.openai_base_url.value.as_deref().ok_or_else(|| {
        let hint = "name it: --openai-base-url http://localhost:11434/v1, or proxy.openai_base_url in config.yaml";
        Failure::usage("there is no model to remember for", hint)
    })?;
    let api_key = api_key(proxy)?;
    let refused = |error: UpstreamError| Failure::usage(error.to_string(), error.hint());
    let upstream = Upstream::new(base_url, api_key.as_deref(), certificates().as_deref()).map_err(refused)?;
    if upstream.is_at(here) {
        let hint = "name the address of the model's own server, or listen at another --port";
        return Err(Failure::usage(format!("{} is the address of this proxy itself", upstream.place()), hint));
    }
    let place = proxy.memory_path.value.clone().unwrap_or_else(|| settings.root.value.clone());
    let (clock, ids): (Arc<dyn Clock>, _) = (Arc::new(SystemClock), Arc::new(RandomIds));
    let last_asked = LastAsked::default();
    let patience = proxy.memory_timeout.value;
    let key = api_key.as_deref().and_then(|key| key.parse::<ApiKey>().ok());
    let store = Arc::new(ConversationFolder::new(&place));
    let watcher = if proxy.start_watcher.value {
        // Without it they are seen as well, if not always at once.
        watch(&store).inspect_err(|error| log.warning(clock.now(), &with_causes(error))).ok()
    } else {
        None
    };
    let chat = chat(settings, base_url, &place, &last_asked, key.clone(), &clock);
    let conversations = Conversations {
        store: store.clone(),
        clock,
        ids,
        embedder: embedder(settings, base_url, key.clone(), Some(patience / SHARE))?,
        reranker: reranking::open_for(&settings.reranking, patience / SHARE),
        chat: None,
    };
    let telling =
        Telling { log, bell: Bell::default(), versions: Mutex::default(), until: Mutex::default(), ails: Mutex::default() };
    let told = Arc::new(telling);
    if keeps_versions(&place, proxy) {
        let tell = Arc::downgrade(&told);
        let complain = move |error: &memory_store::conversation::VersionsError| {
            if let Some(told) = tell.upgrade() {
                told.trouble(&error.to_string());
            }
        };
        let versions = Versions::new(&place, Box::new(complain));
        // What somebody who died had no time for.
        versions.note("Keep what was there before the start");
        *told.versions.lock().unwrap_or_else(PoisonError::into_inner) = Some(versions);
    }
    let queue: Arc<dyn JobQueue> = Arc::new(JobFile::new(&place));
    let is_asked_later = proxy.enable_summarization.value && !settings.llm.is_named();
    let waiting = if is_asked_later { pending(queue.as_ref(), &told) } else { 0 };
    let work = Work {
        conversations: Conversations {
            embedder: embedder(settings, base_url, key, None)?,
            chat: Some(chat),
            ..conversations.clone()
        },
        queue: Arc::clone(&queue),
        rules: ProcessRules {
            max_entries: proxy.max_entries.value,
            summarise: proxy.enable_summarization.value,
            prompts: Prompts::default(),
        },
        prompts: vec![place.join("prompts"), settings.root.value.join("prompts")],
        last_asked: (!settings.llm.is_named()).then(|| last_asked.clone()),
        told: Arc::clone(&told),
    };
    let rules = ProxyRules { recall: proxy.recall_rules(), patience, has_token };
    let proxy = Arc::new(ChatProxy::new(conversations, queue, upstream, rules, last_asked, told));
    Ok(Opened { proxy, worker: Worker::begin(work), watcher, waiting })
}

/// Returns how many turns wait from before.
fn pending(queue: &dyn JobQueue, told: &Telling) -> usize {
    let pending = queue.pending().inspect_err(|error| told.trouble(&with_causes(error)));
    pending.map_or(0, |pending| pending.len())
}

/// Tells whether git keeps every state of the conversations in a folder: as it was said, or else where the folder is one of its own, or
/// a repository.
fn keeps_versions(place: &Path, proxy: &ProxySettings) -> bool {
    let by_itself = || proxy.memory_path.value.is_some() || place.join(".git").exists();
    proxy.enable_git_versioning.value.unwrap_or_else(by_itself)
}

/// Returns the model that is asked for facts: that of the settings, or else the one that was asked.
fn chat(
    settings: &Settings,
    base_url: &str,
    place: &Path,
    last_asked: &LastAsked,
    api_key: Option<ApiKey>,
    clock: &Arc<dyn Clock>,
) -> Arc<dyn ChatModel> {
    if let Some(named) = language_model::open_later(settings, Arc::clone(clock)) {
        return named;
    }
    let model = AskedModel {
        base_url: base_url.to_owned(),
        last_asked: last_asked.clone(),
        api_key,
        timeout: settings.llm.timeout.value,
        opened: Mutex::default(),
    };
    // What was spent is written down where the queue is, unless there is a home.
    let root = if *place == settings.root.value { place.to_owned() } else { place.join(".conversations") };
    language_model::within_budget(model, root, settings, Arc::clone(clock))
}

/// Returns the embedding model: the one of the proxy, or else that of all.
fn embedder(
    settings: &Settings,
    base_url: &str,
    api_key: Option<ApiKey>,
    patience: Option<Duration>,
) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    let Some(named) = &settings.proxy.embedding_model.value else { return Ok(embedding::open_later(&settings.embedding)) };
    let folder = PathBuf::from(named);
    if folder.is_dir() {
        return Ok(Some(Arc::new(LocalEmbedder::open(&folder, None).map_err(refused)?)));
    }
    let base_url = settings.proxy.embedding_base_url.value.as_deref().unwrap_or(base_url);
    let usual = RemoteSettings { api_key, certificates: certificates(), ..RemoteSettings::new(base_url, named) };
    let remote = match patience {
        Some(patience) => RemoteSettings { timeout: patience, patience, tries: 1, ..usual },
        None => usual,
    };
    Ok(Some(Arc::new(RemoteEmbedder::new(remote).map_err(refused)?)))
}

fn refused(error: EmbedError) -> Failure {
    Failure::Store(memory_core::StoreError::Embed(error))
}

/// Returns the key for applications that bring none.
fn api_key(proxy: &ProxySettings) -> Result<Option<String>, Failure> {
    let Some(name) = &proxy.openai_api_key_env.value else { return Ok(None) };
    let key = env::var(name).ok().filter(|key| !key.is_empty());
    let missing = || Failure::usage(format!("the variable {name}, which should hold the key, is not set"), format!("set {name}"));
    key.map(Some).ok_or_else(missing)
}
