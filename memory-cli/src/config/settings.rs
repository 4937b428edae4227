//! All settings, and where each comes from.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::TimeDelta;
use memory_core::{InboxTtl, ParseError};
use memory_ingest::SourceName;
use serde_json::Value;

use super::document::{Document, parsed};
use super::{BankSettings, ConfigError, Environment, Hooks, HttpSettings, Llm, ProxySettings, Reranking};
use crate::moments;
use crate::zone::{self, NamedZone};

/// All settings, and where each comes from.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The file.
    pub file: PathBuf,
    /// Whether there is such a file.
    pub file_exists: bool,
    /// Keys of the file that mean nothing.
    pub unknown: Vec<String>,
    /// Where the memories are.
    pub root: Setting<PathBuf>,
    /// How long a memory stays in the inbox.
    pub short_term_ttl: Setting<Duration>,
    /// How long the trash keeps what is in it, unless for ever.
    pub trash_retention: Setting<Option<Duration>>,
    /// Whether git keeps every state of the home.
    pub git: Setting<bool>,
    /// How often the daemon looks after the memories.
    pub interval: Setting<Duration>,
    /// How old an organized memory may become that nobody reads.
    pub decay_threshold: Setting<Duration>,
    /// How often a memory of the inbox is read until it is filed.
    pub upgrade_access_threshold: Setting<u64>,
    /// Whether reminders are shown.
    pub notifications: Setting<bool>,
    /// How reminders are shown.
    pub notification_method: Setting<NotificationMethod>,
    /// The time zone in which reminders are meant.
    pub timezone: Setting<Option<NamedZone>>,
    /// The embedding model.
    pub embedding: Embedding,
    /// The reranking model.
    pub reranking: Reranking,
    /// The language model.
    pub llm: Llm,
    /// How the language model that remembers is served.
    pub proxy: ProxySettings,
    /// Who may call the servers over HTTP.
    pub http: HttpSettings,
    /// How banks are kept, and what filters may cost.
    pub banks: BankSettings,
    /// Commands that are asked when agents call tools.
    pub hooks: Hooks,
    /// Where notes are taken in from.
    pub places: Vec<Place>,
}

/// Which model turns texts into vectors, if any.
#[derive(Debug, Clone)]
pub(crate) struct Embedding {
    /// The folder with the model.
    pub model: Setting<Option<PathBuf>>,
    /// The address of a server with a model; the folder wins over it.
    pub base_url: Setting<Option<String>>,
    /// What the model is called there.
    pub name: Setting<Option<String>>,
    /// The variable that holds the key.
    pub api_key_env: Setting<Option<String>>,
}

/// Where one source's notes are.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The source.
    pub source: SourceName,
    /// Its folder.
    pub path: Setting<PathBuf>,
    /// Whether `--source all` takes it in.
    pub enabled: Setting<bool>,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    /// Its value.
    pub value: T,
    /// Who says so.
    pub from: Layer,
}

/// Who says what a setting is; the later wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// Nobody.
    Default,
    /// The file.
    File,
    /// A variable of the environment.
    Environment,
    /// A flag.
    Flag,
}

/// How reminders are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotificationMethod {
    /// By whatever is there.
    Auto,
    /// By the desktop of macOS.
    Osascript,
    /// By whatever shows messages over D-Bus.
    NotifySend,
    /// In `pending.md` only.
    File,
}

/// What a way to notify is, for whoever names another.
const WAYS: &str = "a way to notify (auto, osascript, notify-send or file)";

const HOUR: u64 = 60 * 60;

const RETENTION: Duration = Duration::from_hours(90 * 24);

impl Settings {
    /// Returns how long a memory may stay in the inbox.
    pub(crate) fn inbox_ttl(&self) -> InboxTtl {
        TimeDelta::from_std(self.short_term_ttl.value).map_or(InboxTtl::UNLIMITED, InboxTtl)
    }

    /// Returns the file with the settings: the one that `MEMORY_CONFIG` names, else `config.yaml` in the memories' home.
    ///
    /// # Errors
    /// [`ConfigError::NoHome`].
    pub(crate) fn file(root: Option<&Path>, environment: &Environment) -> Result<PathBuf, ConfigError> {
        if let Some(file) = &environment.config {
            return Ok(environment.whole(file));
        }
        let named = root.or(environment.root.as_deref()).map(|root| environment.whole(root));
        Ok(named.map_or_else(|| default_root(environment), Ok)?.join("config.yaml"))
    }

    /// Reads the settings; `root` is what the flag says.
    ///
    /// # Errors
    /// When the file cannot be read, or a value in it is not what its key wants.
    pub(crate) fn load(root: Option<&Path>, environment: &Environment) -> Result<Self, ConfigError> {
        let file = Self::file(root, environment)?;
        let document = Document::read(&file)?;
        Self::of(document, file, root, environment)
    }

    /// Reads the settings as they would be if the file held `text`.
    ///
    /// # Errors
    /// When the text is no YAML, or a value in it is not what its key wants.
    pub(crate) fn with_text(text: &str, root: Option<&Path>, environment: &Environment) -> Result<Self, ConfigError> {
        let file = Self::file(root, environment)?;
        let document = Document::parse(&file, Some(text))?;
        Self::of(document, file, root, environment)
    }

    fn of(mut document: Document, file: PathBuf, root: Option<&Path>, environment: &Environment) -> Result<Self, ConfigError> {
        let path = |text: &str| Ok(environment.whole(Path::new(text.trim())));
        let places = SourceName::ALL.into_iter().map(|source| place(source, &mut document, environment));
        let places = places.collect::<Result<_, _>>()?;
        let mut settings = Self {
            file_exists: document.exists(),
            unknown: Vec::new(),
            root: or(document.take("storage.root", path)?, || default_root(environment))?,
            short_term_ttl: or_plain(document.take("storage.short_term_ttl", moments::span)?, Duration::from_secs(168 * HOUR)),
            trash_retention: or_plain(document.take("storage.trash_retention", retention)?, Some(RETENTION)),
            git: or_plain(document.take("git.enabled", parsed("true or false"))?, false),
            interval: or_plain(document.take("daemon.interval", moments::span)?, Duration::from_mins(1)),
            decay_threshold: or_plain(document.take("daemon.decay_threshold", moments::span)?, Duration::from_secs(720 * HOUR)),
            upgrade_access_threshold: or_plain(document.take("daemon.upgrade_access_threshold", parsed("a whole number"))?, 3),
            notifications: or_plain(document.take("notification.enabled", parsed("true or false"))?, true),
            notification_method: or_plain(document.take("notification.method", parsed(WAYS))?, NotificationMethod::Osascript),
            timezone: or_plain(document.take("timezone", |text| zone::named(text).map(Some))?, None),
            embedding: embedding(&mut document, environment)?,
            reranking: Reranking::take(&mut document, environment)?,
            llm: Llm::take(&mut document, environment)?,
            proxy: ProxySettings::take(&mut document, environment)?,
            http: HttpSettings::take(&mut document)?,
            banks: BankSettings::take(&mut document)?,
            hooks: Hooks::take(&mut document)?,
            places,
            file,
        };
        settings.unknown = document.unknown();
        settings.root.overrule(environment.root.as_deref(), Layer::Environment, environment);
        settings.root.overrule(root, Layer::Flag, environment);
        Ok(settings)
    }

    /// Returns every key with its value and where that comes from, in the order of the file.
    pub(crate) fn all(&self) -> Vec<(String, Value, Layer)> {
        let span = |setting: &Setting<Duration>| setting.show(|span| moments::span_text(*span).into());
        let path = |setting: &Setting<PathBuf>| setting.show(|path| path.display().to_string().into());
        let mut all = vec![
            ("storage.root".to_owned(), path(&self.root)),
            ("storage.short_term_ttl".to_owned(), span(&self.short_term_ttl)),
            (
                "storage.trash_retention".to_owned(),
                self.trash_retention.show(|span| span.map_or("never".into(), moments::span_text).into()),
            ),
            ("git.enabled".to_owned(), self.git.show(|yes| (*yes).into())),
            ("daemon.interval".to_owned(), span(&self.interval)),
            ("daemon.decay_threshold".to_owned(), span(&self.decay_threshold)),
            ("daemon.upgrade_access_threshold".to_owned(), self.upgrade_access_threshold.show(|count| (*count).into())),
            ("notification.enabled".to_owned(), self.notifications.show(|yes| (*yes).into())),
            ("notification.method".to_owned(), self.notification_method.show(|method| method.as_str().into())),
            ("timezone".to_owned(), self.timezone.show(|zone| zone.map(NamedZone::name).into())),
        ];
        let text = |setting: &Setting<Option<String>>| setting.show(|text| text.clone().into());
        let Embedding { model, base_url, name, api_key_env } = &self.embedding;
        let folder = model.show(|path| path.as_ref().map(|path| path.display().to_string()).into());
        all.push(("embedding.model".to_owned(), folder));
        all.push(("embedding.base_url".to_owned(), text(base_url)));
        all.push(("embedding.name".to_owned(), text(name)));
        all.push(("embedding.api_key_env".to_owned(), text(api_key_env)));
        all.extend(self.reranking.all().map(|(key, shown)| (key.to_owned(), shown)));
        all.extend(self.llm.all().map(|(key, shown)| (key.to_owned(), shown)));
        all.extend(self.proxy.all().map(|(key, shown)| (key.to_owned(), shown)));
        all.extend(self.http.all().map(|(key, shown)| (key.to_owned(), shown)));
        all.extend(self.banks.all().map(|(key, shown)| (key.to_owned(), shown)));
        all.extend(self.hooks.all());
        for place in &self.places {
            all.push((format!("ingestion.{}.path", place.source), path(&place.path)));
            all.push((format!("ingestion.{}.enabled", place.source), place.enabled.show(|yes| (*yes).into())));
        }
        all.into_iter().map(|(key, (value, from))| (key, value, from)).collect()
    }
}

/// Reads how long something is kept.
fn retention(text: &str) -> Result<Option<Duration>, ParseError> {
    if text.trim() == "never" {
        return Ok(None);
    }
    moments::span(text).map(Some).map_err(|_| ParseError::new(text, "a span of time such as 90d, or never"))
}

fn default_root(environment: &Environment) -> Result<PathBuf, ConfigError> {
    usual_root(environment).ok_or(ConfigError::NoHome)
}

/// Returns where a person's memories are if nobody says where, if the person has a home folder.
pub(crate) fn usual_root(environment: &Environment) -> Option<PathBuf> {
    environment.home.as_ref().map(|home| home.join(".memory"))
}

fn embedding(document: &mut Document, environment: &Environment) -> Result<Embedding, ConfigError> {
    let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let path = |text: &str| Ok(given(text).map(|text| environment.whole(Path::new(&text))));
    let mut model = or_plain(document.take("embedding.model", path)?, None);
    if let Some(folder) = &environment.embedding_model {
        model = Setting { value: Some(environment.whole(folder)), from: Layer::Environment };
    }
    let mut text = |key: &str| -> Result<_, ConfigError> { Ok(or_plain(document.take(key, |text| Ok(given(text)))?, None)) };
    let (base_url, name) = (text("embedding.base_url")?, text("embedding.name")?);
    Ok(Embedding { model, base_url, name, api_key_env: text("embedding.api_key_env")? })
}

fn place(source: SourceName, document: &mut Document, environment: &Environment) -> Result<Place, ConfigError> {
    let expand = |text: &str| Ok(environment.whole(Path::new(text.trim())));
    let path = document.take(&format!("ingestion.{source}.path"), expand)?;
    let mut path = or_plain(path, source.default_path(environment.home.as_deref().unwrap_or(Path::new("~"))));
    if source == SourceName::Claude {
        path.overrule(environment.claude.as_deref(), Layer::Environment, environment);
    }
    let enabled = document.take(&format!("ingestion.{source}.enabled"), parsed("true or false"))?;
    Ok(Place { source, path, enabled: or_plain(enabled, true) })
}

fn or<T>(value: Option<T>, default: impl FnOnce() -> Result<T, ConfigError>) -> Result<Setting<T>, ConfigError> {
    match value {
        Some(value) => Ok(Setting { value, from: Layer::File }),
        None => Ok(Setting { value: default()?, from: Layer::Default }),
    }
}

pub(super) fn or_plain<T>(value: Option<T>, default: T) -> Setting<T> {
    match value {
        Some(value) => Setting { value, from: Layer::File },
        None => Setting { value: default, from: Layer::Default },
    }
}

impl<T> Setting<T> {
    pub(super) fn show(&self, shown: impl Fn(&T) -> Value) -> (Value, Layer) {
        (shown(&self.value), self.from)
    }
}

impl Setting<PathBuf> {
    fn overrule(&mut self, path: Option<&Path>, from: Layer, environment: &Environment) {
        if let Some(path) = path {
            *self = Self { value: environment.whole(path), from };
        }
    }
}

impl NotificationMethod {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Osascript => "osascript",
            Self::NotifySend => "notify-send",
            Self::File => "file",
        }
    }
}

impl std::str::FromStr for NotificationMethod {
    type Err = memory_core::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Auto, Self::Osascript, Self::NotifySend, Self::File]
            .into_iter()
            .find(|method| method.as_str() == text)
            .ok_or_else(|| memory_core::ParseError::new(text, WAYS))
    }
}

impl Layer {
    /// Returns the word for it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
            Self::Flag => "flag",
        }
    }
}

#[cfg(test)]
mod tests;
