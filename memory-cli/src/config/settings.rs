//! All settings and their origins.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use memory_agent::hook::HookPoint;
use memory_agent::http::AllowedOrigins;
use memory_agent::model::ServerAddress;
use memory_core::instance::InstanceName;
use memory_core::secret::without_secrets;
use memory_core::{Budget, Clock, InboxTtl, ParseError, ReviewPolicy, Scope};
use memory_dream::DreamRules;
use memory_ingest::SourceName;
use memory_store::{check_owner, trust_folders};
use serde_json::{Value, json};

use super::access::{take_hooks, take_origins, take_review};
use super::document::{SettingsDocument, parse_bool, parser_for};
use super::recalls::{RETENTION, parse_retention, show_retention};
use super::setting::{
    Setting, SettingsLayer, ShownSetting, show, show_optional, show_path, show_span,
};
use super::{
    AgentSettings, BankSettings, ConfigError, Environment, LlmSettings, ProxySettings,
    RecallSettings, RerankingSettings,
};
use crate::datetime;
use crate::zone::{self, ClockInZone, NamedZone, UserTimeZone};

/// All settings and their origins.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The environment that the settings were loaded with.
    pub environment: Environment,
    /// The settings file.
    pub file: PathBuf,
    /// Whether the file exists.
    pub file_exists: bool,
    /// Unknown keys in the file.
    pub unknown: Vec<String>,
    /// The folder of the memories.
    pub root: Setting<PathBuf>,
    /// The database that the memories are shared in: the name of its sealed address; `None` means files alone.
    pub store: Setting<Option<InstanceName>>,
    /// The scope of new memories without a scope in a shared home; `None` means that of the user.
    pub default_scope: Setting<Option<Scope>>,
    /// Maximum age of a memory in the inbox.
    pub short_term_ttl: Setting<Duration>,
    /// Retention time of the trash; `None` means unlimited.
    pub trash_retention: Setting<Option<Duration>>,
    /// The recall ledger.
    pub recalls: RecallSettings,
    /// Whether the home is versioned with git.
    pub git: Setting<bool>,
    /// Interval of the daemon's maintenance.
    pub interval: Setting<Duration>,
    /// Time without a read after which an organized memory decays.
    pub decay_threshold: Setting<Duration>,
    /// Number of reads after which a memory is filed from the inbox.
    pub upgrade_access_threshold: Setting<u64>,
    /// Whether reminders are shown.
    pub notifications: Setting<bool>,
    /// The notification method.
    pub notification_method: Setting<NotificationMethod>,
    /// The time zone of the dates that are read and shown.
    pub timezone: Setting<Option<NamedZone>>,
    /// The embedding model.
    pub embedding: EmbeddingSettings,
    /// The reranking model.
    pub reranking: RerankingSettings,
    /// The language model.
    pub llm: LlmSettings,
    /// The chat proxy.
    pub proxy: ProxySettings,
    /// The origins of web pages that may send requests to the HTTP servers.
    pub allowed_origins: AllowedOrigins,
    /// Banks and filters.
    pub banks: BankSettings,
    /// The memories that agents write.
    pub agents: AgentSettings,
    /// The review of changes by agents.
    pub review: ReviewPolicy,
    /// The commands that run as hooks of tool calls, in the order of execution.
    pub hooks: Vec<(HookPoint, String)>,
    /// Folders that are used although other users can change them.
    pub trusted_folders: Setting<Vec<PathBuf>>,
    /// The sources of notes to import.
    pub places: Vec<SourceLocation>,
    /// Every key with its value for display and its layer, in file order.
    shown: Vec<ShownSetting>,
}

/// The settings of the embedding model.
#[derive(Debug, Clone)]
pub(crate) struct EmbeddingSettings {
    /// The model; by default the built-in one, unless `base_url` is set.
    pub model: Setting<Option<EmbeddingChoice>>,
    /// The address of a model server; `model` has precedence.
    pub base_url: Setting<Option<ServerAddress>>,
    /// Name of the model on the server.
    pub name: Setting<Option<String>>,
    /// The environment variable with the API key.
    pub api_key_env: Setting<Option<String>>,
}

/// An embedding model on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EmbeddingChoice {
    /// The model that is part of the program.
    BuiltIn,
    /// No model: searches use words only.
    None,
    /// A folder with a model.
    Folder(PathBuf),
}

impl EmbeddingChoice {
    /// Returns the model that a value of the setting names.
    pub(crate) fn from_text(text: &str, environment: &Environment) -> Self {
        match text {
            "built-in" => Self::BuiltIn,
            "none" => Self::None,
            folder => Self::Folder(environment.absolute_path(Path::new(folder))),
        }
    }
}

impl Display for EmbeddingChoice {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => formatter.write_str("built-in"),
            Self::None => formatter.write_str("none"),
            Self::Folder(folder) => write!(formatter, "{}", folder.display()),
        }
    }
}

impl EmbeddingSettings {
    /// Returns whether a model is configured.
    pub(crate) fn has_model(&self) -> bool {
        match self.model.value {
            Some(EmbeddingChoice::None) => false,
            Some(_) => true,
            None => self.base_url.value.is_some(),
        }
    }

    /// Returns the folder of the model, if it is in one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match &self.model.value {
            Some(EmbeddingChoice::Folder(folder)) => Some(folder),
            _ => None,
        }
    }
}

/// The location of a source of notes.
#[derive(Debug, Clone)]
pub(crate) struct SourceLocation {
    /// The source.
    pub source: SourceName,
    /// Its folder.
    pub path: Setting<PathBuf>,
    /// Whether `--source all` includes it.
    pub enabled: Setting<bool>,
    /// Whether the daemon ingests its changes.
    pub watch: Setting<bool>,
}

/// The notification method for reminders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotificationMethod {
    /// The best available method.
    Auto,
    /// Notifications of macOS.
    Osascript,
    /// Notifications over D-Bus.
    NotifySend,
    /// Only the file `pending.md`.
    File,
}

/// Description of a notification method in errors.
const EXPECTED_METHOD: &str = "a notification method (auto, osascript, notify-send or file)";

pub(crate) const TRUSTED_KEY: &str = "trusted_folders";

impl Settings {
    /// Returns the daily budget of the configured language model, otherwise of that behind the proxy.
    pub(crate) fn llm_budget(&self) -> Budget {
        let proxy = self.proxy.openai_base_url.value.as_ref();
        let server = self.llm.base_url.value.as_ref();
        self.llm.budget_of(server.or(proxy))
    }

    /// Returns the clock of the memories, in the time zone of the settings.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(ClockInZone {
            clock: self.environment.clock(),
            zone: UserTimeZone::of(self.timezone.value),
        })
    }

    /// Returns the maximum age of a memory in the inbox.
    pub(crate) fn inbox_ttl(&self) -> InboxTtl {
        TimeDelta::from_std(self.short_term_ttl.value).map_or(InboxTtl::UNLIMITED, InboxTtl)
    }

    /// Returns these settings without a current folder, for tools of agents: each agent has a project of its own.
    pub(crate) fn without_project(&self) -> Self {
        let environment = Environment {
            folder: None,
            ..self.environment.clone()
        };
        Self {
            environment,
            ..self.clone()
        }
    }

    /// Returns the rules of refinement.
    pub(crate) fn refinement_rules(&self) -> DreamRules {
        let span = |span| TimeDelta::from_std(span).unwrap_or(TimeDelta::MAX);
        DreamRules {
            inbox_ttl: self.inbox_ttl(),
            decay_after: span(self.decay_threshold.value),
            filing_accesses: self.upgrade_access_threshold.value,
            ..DreamRules::default()
        }
    }

    /// Returns the settings file: that of `MEMORY_CONFIG`, else `config.yaml` in the memories' home.
    ///
    /// # Errors
    /// [`ConfigError::NoHome`].
    pub(crate) fn file(
        root: Option<&Path>,
        environment: &Environment,
    ) -> Result<PathBuf, ConfigError> {
        if let Some(file) = &environment.config {
            return Ok(environment.absolute_path(file));
        }
        let named = root
            .or(environment.root.as_deref())
            .map(|root| environment.absolute_path(root));
        let root = named
            .or_else(|| default_root_folder(environment))
            .ok_or(ConfigError::NoHome)?;
        Ok(root.join("config.yaml"))
    }

    /// Loads the settings; `root` is the value of the flag.
    ///
    /// # Errors
    /// If the file cannot be read, or a value is invalid.
    pub(crate) fn load(
        root: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let file = Self::file(root, environment)?;
        trust_folders(environment.trusted_folders.iter().cloned());
        // The settings of another user may name programs to run.
        if let Some(home) = file.parent().filter(|_| environment.config.is_none()) {
            check_owner(home)?;
        }
        check_owner(&file)?;
        let document = SettingsDocument::load(&file)?;
        let settings = Self::of(document, file, root, environment)?;
        if Self::may_trust(&settings.file, environment) {
            trust_folders(settings.trusted_folders.value.iter().cloned());
        }
        Ok(settings)
    }

    /// Returns whether `trusted_folders` in a settings file has an effect: the user names the file, or it is in the default home.
    ///
    /// A folder that somebody else has made must not contain the settings that trust it.
    pub(crate) fn may_trust(file: &Path, environment: &Environment) -> bool {
        let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let is_default = || {
            let home = default_root_folder(environment)?;
            Some(whole(file.parent()?) == whole(&home))
        };
        environment.config.is_some() || is_default().unwrap_or(false)
    }

    /// Parses the settings with `text` as the content of the file.
    ///
    /// # Errors
    /// If the text is not valid YAML, or a value is invalid.
    pub(crate) fn with_text(
        text: &str,
        root: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let file = Self::file(root, environment)?;
        let document = SettingsDocument::parse(&file, Some(text))?;
        Self::of(document, file, root, environment)
    }

    fn of(
        mut document: SettingsDocument,
        file: PathBuf,
        root: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let path = |text: &str| Ok(environment.absolute_path(Path::new(text.trim())));
        let mut settings = Self {
            file_exists: document.exists(),
            unknown: Vec::new(),
            root: take_root(&mut document, root, environment)?,
            store: document.read("storage.store", parse_store, None, |name| {
                name.as_ref().map(InstanceName::as_str).into()
            })?,
            default_scope: document.read(
                "storage.default_scope",
                parse_default_scope,
                None,
                show_optional,
            )?,
            short_term_ttl: document.read(
                "storage.short_term_ttl",
                datetime::parse_duration,
                Duration::from_hours(168),
                show_span,
            )?,
            trash_retention: document.read(
                "storage.trash_retention",
                parse_retention,
                Some(RETENTION),
                show_retention,
            )?,
            recalls: RecallSettings::take(&mut document)?,
            git: document.read("git.enabled", parse_bool, false, show)?,
            interval: document.read(
                "daemon.interval",
                datetime::parse_interval,
                Duration::from_mins(1),
                show_span,
            )?,
            decay_threshold: document.read(
                "daemon.decay_threshold",
                datetime::parse_duration,
                Duration::from_hours(720),
                show_span,
            )?,
            upgrade_access_threshold: document.read(
                "daemon.upgrade_access_threshold",
                parser_for("a whole number"),
                3,
                show,
            )?,
            notifications: document.read("notification.enabled", parse_bool, true, show)?,
            notification_method: document.read(
                "notification.method",
                parser_for(EXPECTED_METHOD),
                NotificationMethod::Osascript,
                |method| method.as_str().into(),
            )?,
            timezone: document.read(
                "timezone",
                |text| zone::parse_zone(text).map(Some),
                None,
                |zone| zone.map(NamedZone::name).into(),
            )?,
            trusted_folders: document.read_list(
                TRUSTED_KEY,
                "a folder",
                |text| Ok(vec![path(text)?]),
                |folders| match folders.as_slice() {
                    [] => Value::Null,
                    several => several.iter().map(show_path).collect(),
                },
            )?,
            embedding: take_embedding(&mut document, environment)?,
            reranking: RerankingSettings::take(&mut document, environment)?,
            llm: LlmSettings::take(&mut document, environment)?,
            proxy: ProxySettings::take(&mut document, environment)?,
            allowed_origins: take_origins(&mut document)?,
            banks: BankSettings::take(&mut document)?,
            agents: AgentSettings::take(&mut document)?,
            review: take_review(&mut document)?,
            hooks: take_hooks(&mut document)?,
            places: take_sources(&mut document, environment)?,
            shown: Vec::new(),
            file,
            environment: environment.clone(),
        };
        settings.unknown = document.unknown();
        settings.shown = document.into_shown();
        Ok(settings)
    }

    /// Returns the JSON of `memory config show`: `{path, exists, settings: [{key, value, from}], unknown}`.
    pub(crate) fn to_json(&self) -> Value {
        let shape = |(key, value, from): (String, Value, SettingsLayer)| json!({ "key": key, "value": value, "from": from.as_str() });
        let all: Vec<Value> = self.all().into_iter().map(shape).collect();
        json!({ "path": self.file, "exists": self.file_exists, "settings": all, "unknown": self.unknown })
    }

    /// Returns every key with its value for display and its layer, in file order. Credentials are redacted.
    pub(crate) fn all(&self) -> Vec<ShownSetting> {
        let mut all = self.shown.clone();
        for (_, value, _) in &mut all {
            if let Value::String(text) = value {
                *value = without_secrets(text).into();
            }
        }
        all
    }
}

/// Parses the name of a database; an empty text means none.
/// Parses a scope that several agents of a person can read.
fn parse_default_scope(text: &str) -> Result<Option<Scope>, ParseError> {
    let wrong = || ParseError::new(text, "global, team:NAME, project:NAME or private:NAME");
    match text.trim() {
        "" => Ok(None),
        text => match text.parse().map_err(|_| wrong())? {
            Scope::Agent(_) | Scope::Conversation(_) => Err(wrong()),
            scope => Ok(Some(scope)),
        },
    }
}

fn parse_store(text: &str) -> Result<Option<InstanceName>, ParseError> {
    let wrong = |_| {
        ParseError::new(
            text,
            "the name of a database, as `memory shared init --store` sets it",
        )
    };
    Some(text.trim())
        .filter(|text| !text.is_empty())
        .map(|text| text.parse().map_err(wrong))
        .transpose()
}

/// Returns the default folder of the memories, if the user has a home folder.
pub(crate) fn default_root_folder(environment: &Environment) -> Option<PathBuf> {
    environment.home.as_ref().map(|home| home.join(".memory"))
}

/// Returns the folder of the memories: that of the flag, of the variable or of the file, else the default.
fn take_root(
    document: &mut SettingsDocument,
    root: Option<&Path>,
    environment: &Environment,
) -> Result<Setting<PathBuf>, ConfigError> {
    const KEY: &str = "storage.root";
    let file = document.take(KEY, |text| Ok(PathBuf::from(text.trim())))?;
    let named = [
        (root, SettingsLayer::Flag),
        (environment.root.as_deref(), SettingsLayer::Environment),
        (file.as_deref(), SettingsLayer::File),
    ];
    let named = named
        .into_iter()
        .find_map(|(path, from)| Some((environment.absolute_path(path?), from)));
    let default = || Some((default_root_folder(environment)?, SettingsLayer::Default));
    let (value, from) = named.or_else(default).ok_or(ConfigError::NoHome)?;
    document.record(KEY, show_path(&value), from);
    Ok(Setting { value, from })
}

fn take_embedding(
    document: &mut SettingsDocument,
    environment: &Environment,
) -> Result<EmbeddingSettings, ConfigError> {
    let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let choice = |text: &str| EmbeddingChoice::from_text(text, environment);
    let address = document.take("embedding.base_url", |text| Ok(given(text)))?;
    let address = address.map(|text| text.map(ServerAddress::from));
    let has_server = address.as_ref().is_some_and(Option::is_some);
    let model = document.take("embedding.model", |text| {
        Ok(given(text).map(|text| choice(&text)))
    })?;
    let variable = environment.embedding_model.as_deref();
    let mut model = Setting::layered(variable.map(|text| Some(choice(text))), model, None);
    if cfg!(feature = "meaning") && !has_server {
        model.value.get_or_insert(EmbeddingChoice::BuiltIn);
    }
    document.record("embedding.model", show_optional(&model.value), model.from);
    let base_url = Setting::layered(None, address, None);
    document.record(
        "embedding.base_url",
        show_optional(&base_url.value),
        base_url.from,
    );
    let mut text = |key: &str| document.read(key, |text| Ok(given(text)), None, show_optional);
    Ok(EmbeddingSettings {
        model,
        base_url,
        name: text("embedding.name")?,
        api_key_env: text("embedding.api_key_env")?,
    })
}

/// Returns the locations of the sources that have a default path.
fn take_sources(
    document: &mut SettingsDocument,
    environment: &Environment,
) -> Result<Vec<SourceLocation>, ConfigError> {
    let home = environment.home.as_deref().unwrap_or(Path::new("~"));
    let mut places = Vec::new();
    for source in SourceName::ALL.iter().copied() {
        let Some(default) = source.default_path(home) else {
            continue;
        };
        let is_claude = matches!(source, SourceName::Claude | SourceName::ClaudeSessions);
        let variable = environment.claude.as_deref().filter(|_| is_claude);
        let is_enabled = source != SourceName::ClaudeSessions;
        let key = |name: &str| format!("ingestion.{source}.{name}");
        places.push(SourceLocation {
            source,
            path: document.read_below(
                variable.map(|path| environment.absolute_path(path)),
                &key("path"),
                |text| Ok(environment.absolute_path(Path::new(text.trim()))),
                default,
                show_path,
            )?,
            enabled: document.read(&key("enabled"), parse_bool, is_enabled, show)?,
            watch: document.read(&key("watch"), parse_bool, false, show)?,
        });
    }
    Ok(places)
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
            .ok_or_else(|| memory_core::ParseError::new(text, EXPECTED_METHOD))
    }
}

#[cfg(test)]
mod tests;
