//! All settings and their origins.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use memory_agent::model::ServerAddress;
use memory_core::instance::InstanceName;
use memory_core::{Budget, Clock, InboxTtl, ParseError};
use memory_dream::DreamRules;
use memory_ingest::SourceName;
use memory_store::{check_owner, trust_folders};
use serde_json::{Value, json};

use super::document::{SettingsDocument, parser_for};
use super::setting::{Setting, SettingsLayer, or_default};
use super::{
    AgentSettings, BankSettings, ConfigError, Environment, HookSettings, HttpSettings, LlmSettings,
    ProxySettings, RecallSettings, RerankingSettings, ReviewSettings,
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
    /// Access to the HTTP servers.
    pub http: HttpSettings,
    /// Banks and filters.
    pub banks: BankSettings,
    /// The memories that agents write.
    pub agents: AgentSettings,
    /// The review of changes by agents.
    pub review: ReviewSettings,
    /// Hooks of tool calls.
    pub hooks: HookSettings,
    /// Folders that are used although other users can change them.
    pub trusted_folders: Setting<Vec<PathBuf>>,
    /// The sources of notes to import.
    pub places: Vec<SourceLocation>,
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

const HOUR: u64 = 60 * 60;

const RETENTION: Duration = Duration::from_hours(90 * 24);

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
        let document = SettingsDocument::read(&file)?;
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
        let places = SourceName::ALL
            .iter()
            .filter_map(|source| take_source(*source, &mut document, environment).transpose());
        let places = places.collect::<Result<_, _>>()?;
        // A home that the flag or the environment names has precedence, so that no default is needed.
        let named = || root.or(environment.root.as_deref()).map(Path::to_owned);
        let default_root = || {
            default_root_folder(environment)
                .or_else(named)
                .ok_or(ConfigError::NoHome)
        };
        let trusted = document
            .take_list(TRUSTED_KEY, "a folder")?
            .map(|folders| {
                folders
                    .iter()
                    .map(|text| path(text))
                    .collect::<Result<_, ParseError>>()
            })
            .transpose()
            .map_err(|error| document.value_error(TRUSTED_KEY, error))?;
        let mut settings = Self {
            file_exists: document.exists(),
            unknown: Vec::new(),
            root: or_else_default(document.take("storage.root", path)?, default_root)?,
            store: or_default(document.take("storage.store", parse_store)?, None),
            short_term_ttl: or_default(
                document.take("storage.short_term_ttl", datetime::parse_duration)?,
                Duration::from_secs(168 * HOUR),
            ),
            trash_retention: or_default(
                document.take("storage.trash_retention", parse_retention)?,
                Some(RETENTION),
            ),
            recalls: RecallSettings::take(&mut document)?,
            git: or_default(
                document.take("git.enabled", parser_for("true or false"))?,
                false,
            ),
            interval: or_default(
                document.take("daemon.interval", datetime::parse_interval)?,
                Duration::from_mins(1),
            ),
            decay_threshold: or_default(
                document.take("daemon.decay_threshold", datetime::parse_duration)?,
                Duration::from_secs(720 * HOUR),
            ),
            upgrade_access_threshold: or_default(
                document.take(
                    "daemon.upgrade_access_threshold",
                    parser_for("a whole number"),
                )?,
                3,
            ),
            notifications: or_default(
                document.take("notification.enabled", parser_for("true or false"))?,
                true,
            ),
            notification_method: or_default(
                document.take("notification.method", parser_for(EXPECTED_METHOD))?,
                NotificationMethod::Osascript,
            ),
            timezone: or_default(
                document.take("timezone", |text| zone::parse_zone(text).map(Some))?,
                None,
            ),
            embedding: take_embedding(&mut document, environment)?,
            reranking: RerankingSettings::take(&mut document, environment)?,
            llm: LlmSettings::take(&mut document, environment)?,
            proxy: ProxySettings::take(&mut document, environment)?,
            http: HttpSettings::take(&mut document)?,
            banks: BankSettings::take(&mut document)?,
            agents: AgentSettings::take(&mut document)?,
            review: ReviewSettings::take(&mut document)?,
            hooks: HookSettings::take(&mut document)?,
            trusted_folders: or_default(trusted, Vec::new()),
            places,
            file,
            environment: environment.clone(),
        };
        settings.unknown = document.unknown();
        settings.root.override_path(
            environment.root.as_deref(),
            SettingsLayer::Environment,
            environment,
        );
        settings
            .root
            .override_path(root, SettingsLayer::Flag, environment);
        Ok(settings)
    }

    /// Returns the JSON of `memory config show`: `{path, exists, settings: [{key, value, from}], unknown}`.
    pub(crate) fn to_json(&self) -> Value {
        let shape = |(key, value, from): (String, Value, SettingsLayer)| json!({ "key": key, "value": value, "from": from.as_str() });
        let all: Vec<Value> = self.all().into_iter().map(shape).collect();
        json!({ "path": self.file, "exists": self.file_exists, "settings": all, "unknown": self.unknown })
    }

    /// Returns every key with its value and layer, in file order.
    pub(crate) fn all(&self) -> Vec<(String, Value, SettingsLayer)> {
        let span = |setting: &Setting<Duration>| {
            setting.display(|span| datetime::format_duration(*span).into())
        };
        let path =
            |setting: &Setting<PathBuf>| setting.display(|path| path.display().to_string().into());
        let mut all = vec![
            ("storage.root".to_owned(), path(&self.root)),
            (
                "storage.store".to_owned(),
                self.store
                    .display(|name| name.as_ref().map(InstanceName::as_str).into()),
            ),
            (
                "storage.short_term_ttl".to_owned(),
                span(&self.short_term_ttl),
            ),
            (
                "storage.trash_retention".to_owned(),
                self.trash_retention
                    .display(|span| retention_text(*span).into()),
            ),
            (
                "git.enabled".to_owned(),
                self.git.display(|yes| (*yes).into()),
            ),
            ("daemon.interval".to_owned(), span(&self.interval)),
            (
                "daemon.decay_threshold".to_owned(),
                span(&self.decay_threshold),
            ),
            (
                "daemon.upgrade_access_threshold".to_owned(),
                self.upgrade_access_threshold
                    .display(|count| (*count).into()),
            ),
            (
                "notification.enabled".to_owned(),
                self.notifications.display(|yes| (*yes).into()),
            ),
            (
                "notification.method".to_owned(),
                self.notification_method
                    .display(|method| method.as_str().into()),
            ),
            (
                "timezone".to_owned(),
                self.timezone
                    .display(|zone| zone.map(NamedZone::name).into()),
            ),
            (
                TRUSTED_KEY.to_owned(),
                self.trusted_folders
                    .display(|folders| match folders.as_slice() {
                        [] => Value::Null,
                        several => several
                            .iter()
                            .map(|folder| folder.display().to_string())
                            .collect(),
                    }),
            ),
        ];
        // After the keys of `storage`, as in the file.
        let recalls = self
            .recalls
            .all()
            .map(|(key, shown)| (key.to_owned(), shown));
        all.splice(RECALLS_AT..RECALLS_AT, recalls);
        let text = |setting: &Setting<Option<String>>| setting.display(|text| text.clone().into());
        let EmbeddingSettings {
            model,
            base_url,
            name,
            api_key_env,
        } = &self.embedding;
        let model = model.display(|model| model.as_ref().map(ToString::to_string).into());
        all.push(("embedding.model".to_owned(), model));
        let address = base_url.display(|address| address.as_ref().map(ToString::to_string).into());
        all.push(("embedding.base_url".to_owned(), address));
        all.push(("embedding.name".to_owned(), text(name)));
        all.push(("embedding.api_key_env".to_owned(), text(api_key_env)));
        all.extend(
            self.reranking
                .all()
                .map(|(key, shown)| (key.to_owned(), shown)),
        );
        all.extend(self.llm.all().map(|(key, shown)| (key.to_owned(), shown)));
        all.extend(self.proxy.all().map(|(key, shown)| (key.to_owned(), shown)));
        all.extend(self.http.all().map(|(key, shown)| (key.to_owned(), shown)));
        all.extend(self.banks.all().map(|(key, shown)| (key.to_owned(), shown)));
        all.extend(
            self.agents
                .all()
                .map(|(key, shown)| (key.to_owned(), shown)),
        );
        all.extend(
            self.review
                .all()
                .map(|(key, shown)| (key.to_owned(), shown)),
        );
        all.extend(self.hooks.all());
        for place in &self.places {
            all.push((
                format!("ingestion.{}.path", place.source),
                path(&place.path),
            ));
            all.push((
                format!("ingestion.{}.enabled", place.source),
                place.enabled.display(|yes| (*yes).into()),
            ));
            all.push((
                format!("ingestion.{}.watch", place.source),
                place.watch.display(|yes| (*yes).into()),
            ));
        }
        all.into_iter()
            .map(|(key, (value, from))| (key, value, from))
            .collect()
    }
}

/// Number of keys before those of the recall ledger.
const RECALLS_AT: usize = 4;

/// Formats a retention time.
pub(super) fn retention_text(span: Option<Duration>) -> String {
    const DAY: u64 = 24 * 3600;
    match span {
        None => "never".to_owned(),
        Some(span) if span.as_secs() != 0 && span.as_secs() % DAY == 0 => {
            format!("{}d", span.as_secs() / DAY)
        }
        Some(span) => datetime::format_duration(span),
    }
}

/// Parses the name of a database; an empty text means none.
fn parse_store(text: &str) -> Result<Option<InstanceName>, ParseError> {
    let wrong = |_| {
        ParseError::new(
            text,
            "the name of a database, as `memory init --store` sets it",
        )
    };
    Some(text.trim())
        .filter(|text| !text.is_empty())
        .map(|text| text.parse().map_err(wrong))
        .transpose()
}

/// Parses a retention time.
pub(super) fn parse_retention(text: &str) -> Result<Option<Duration>, ParseError> {
    if text.trim() == "never" {
        return Ok(None);
    }
    datetime::parse_duration(text)
        .map(Some)
        .map_err(|_| ParseError::new(text, "a duration such as 90d, or never"))
}

/// Returns the default folder of the memories, if the user has a home folder.
pub(crate) fn default_root_folder(environment: &Environment) -> Option<PathBuf> {
    environment.home.as_ref().map(|home| home.join(".memory"))
}

fn take_embedding(
    document: &mut SettingsDocument,
    environment: &Environment,
) -> Result<EmbeddingSettings, ConfigError> {
    let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let named =
        |text: &str| Ok(given(text).map(|text| EmbeddingChoice::from_text(&text, environment)));
    let mut model = or_default(document.take("embedding.model", named)?, None);
    if let Some(text) = &environment.embedding_model {
        model = Setting {
            value: Some(EmbeddingChoice::from_text(text, environment)),
            from: SettingsLayer::Environment,
        };
    }
    let mut text = |key: &str| -> Result<_, ConfigError> {
        Ok(or_default(
            document.take(key, |text| Ok(given(text)))?,
            None,
        ))
    };
    let (base_url, name) = (text("embedding.base_url")?, text("embedding.name")?);
    if cfg!(feature = "meaning") && base_url.value.is_none() {
        model.value.get_or_insert(EmbeddingChoice::BuiltIn);
    }
    Ok(EmbeddingSettings {
        model,
        base_url: base_url.map_value(ServerAddress::from),
        name,
        api_key_env: text("embedding.api_key_env")?,
    })
}

/// Returns the location of a source that has a default path.
fn take_source(
    source: SourceName,
    document: &mut SettingsDocument,
    environment: &Environment,
) -> Result<Option<SourceLocation>, ConfigError> {
    let home = environment.home.as_deref().unwrap_or(Path::new("~"));
    let Some(default) = source.default_path(home) else {
        return Ok(None);
    };
    let expand = |text: &str| Ok(environment.absolute_path(Path::new(text.trim())));
    let path = document.take(&format!("ingestion.{source}.path"), expand)?;
    let mut path = or_default(path, default);
    if matches!(source, SourceName::Claude | SourceName::ClaudeSessions) {
        path.override_path(
            environment.claude.as_deref(),
            SettingsLayer::Environment,
            environment,
        );
    }
    let enabled = document.take(
        &format!("ingestion.{source}.enabled"),
        parser_for("true or false"),
    )?;
    let watch = document.take(
        &format!("ingestion.{source}.watch"),
        parser_for("true or false"),
    )?;
    Ok(Some(SourceLocation {
        source,
        path,
        enabled: or_default(enabled, source != SourceName::ClaudeSessions),
        watch: or_default(watch, false),
    }))
}

fn or_else_default<T>(
    value: Option<T>,
    default: impl FnOnce() -> Result<T, ConfigError>,
) -> Result<Setting<T>, ConfigError> {
    match value {
        Some(value) => Ok(Setting {
            value,
            from: SettingsLayer::File,
        }),
        None => Ok(Setting {
            value: default()?,
            from: SettingsLayer::Default,
        }),
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
            .ok_or_else(|| memory_core::ParseError::new(text, EXPECTED_METHOD))
    }
}

#[cfg(test)]
mod tests;
