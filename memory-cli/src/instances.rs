//! Locations and definitions of instances, and construction of their services.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_agent::instance::{
    self, Backend, DefinitionVersion, FieldKind, InstanceHandle, InstanceListing, OpenInstances,
    backends,
};
use memory_agent::{Agent, ToolSelection};
use memory_core::instance::history::Messages;
use memory_core::instance::kv::KeyValues;
use memory_core::instance::{InstanceError, InstanceName, InstanceOperations, NamedInstance};
use memory_store::history::HistoryFolder;
use memory_store::kv::ValueFolder;
use memory_store::postgres::{Database, DatabaseLimits, PostgresMessages, PostgresValues};
use memory_store::sealed::{
    FieldValue, InstanceDefinition, InstanceFolder, MasterKey, NewFieldValue,
};
use memory_store::{AllowedPaths, FileStoreOptions, RandomIds, SystemClock};
use serde_json::{Map, Value, json};

use crate::agent::{self, AgentOptions};
use crate::banks;
use crate::config::{Setting, Settings, default_root_folder};
use crate::definitions::{open_definitions, parse_key_variable, user_folder};
use crate::embedding;
use crate::failure::Failure;
use crate::home::{Home, KEPT};
use crate::shared_store::STORE;
use crate::topics;
use memory_core::{Operation, SecretPolicy, Verb};

/// Name of the instance that exists without a definition.
pub(crate) const DEFAULT: &str = "default";

/// The registry of this user's instances.
#[derive(Debug)]
pub(crate) struct InstanceRegistry {
    /// The defined instances.
    pub instances: InstanceFolder,
    settings: Arc<Settings>,
    state: PathBuf,
    allowed: Option<AllowedPaths>,
}

/// Returns whether the default history has a definition or a folder. Most homes have neither, and an instance takes time to open.
pub(crate) fn has_default_history(settings: &Settings) -> Result<bool, Failure> {
    let (kind, name) = ("history".parse()?, DEFAULT.parse()?);
    Ok(settings.root.value.join("history").is_dir()
        || open_definitions(settings)?.read(&kind, &name)?.is_some())
}

/// Returns the registry with a cache of open instances.
pub(crate) fn open_cached(settings: &Arc<Settings>) -> Result<Arc<OpenInstances>, Failure> {
    let agent_secrets = SecretPolicy::allowing(settings.agents.allow_secret.value);
    let registry = Arc::new(InstanceRegistry::open(settings)?);
    Ok(Arc::new(OpenInstances::new(registry, agent_secrets)))
}

impl InstanceRegistry {
    /// Opens the registry with the folders and keys of the environment.
    pub(crate) fn open(settings: &Arc<Settings>) -> Result<Self, Failure> {
        let environment = &settings.environment;
        let allowed = environment.memo_allowed_paths.as_deref();
        Ok(Self {
            instances: open_definitions(settings)?,
            state: user_folder(
                settings,
                environment.memo_state_dir.as_deref(),
                ".local/state/memo/state",
            ),
            allowed: allowed
                .map(|text| AllowedPaths::parse(text, |path| environment.absolute_path(path))),
            settings: Arc::clone(settings),
        })
    }

    /// Resolves a path of an instance, and checks that the path is allowed.
    pub(crate) fn allowed_path(&self, path: &Path) -> Result<PathBuf, InstanceError> {
        let whole = self.settings.environment.absolute_path(path);
        self.allowed
            .as_ref()
            .map_or(Ok(whole.clone()), |allowed| allowed.check(&whole))
    }

    /// Returns the definition of an instance; the default instance has one even if it is not defined.
    pub(crate) fn definition(
        &self,
        backend: &Backend,
        name: &InstanceName,
    ) -> Result<InstanceDefinition, InstanceError> {
        let kind: InstanceName = backend.name.parse()?;
        match self.instances.read(&kind, name)? {
            Some(definition) => Ok(definition),
            None if name.as_str() == DEFAULT => Ok(InstanceDefinition {
                backend: kind,
                name: name.clone(),
                fields: Vec::new(),
            }),
            None => Err(InstanceError::InstanceNotFound {
                instance: format!("{kind}/{name}"),
            }),
        }
    }

    /// Returns the fields of a definition except secrets, with default values.
    pub(crate) fn fields(
        &self,
        backend: &Backend,
        definition: &InstanceDefinition,
    ) -> Result<Vec<(&'static str, String)>, InstanceError> {
        let mut given = Vec::new();
        for (name, value) in &definition.fields {
            match value {
                FieldValue::Plain(text) => given.push((name.as_str(), text.as_str())),
                // The caller that uses the secret reports a failed decryption.
                FieldValue::Sealed(_) => given.push((name.as_str(), "sealed")),
            }
        }
        let damaged = |error: InstanceError| InstanceError::Damaged {
            place: format!("{}/{}.yaml", definition.backend, definition.name),
            what: error.to_string(),
        };
        let mut fields: Vec<_> = backend.check_fields(&given).map_err(damaged)?;
        fields.retain(|(field, _)| !field.secret);
        let mut fields: Vec<_> = fields
            .into_iter()
            .map(|(field, value)| (field.name, value.to_owned()))
            .collect();
        let is_elsewhere = fields
            .iter()
            .any(|(name, value)| *name == "driver" && value != "file");
        // The default instance of a tool backend uses the default folders, which may be several.
        let has_place = !backend.has_drivers() && definition.name.as_str() == DEFAULT;
        if !is_elsewhere && !has_place && !fields.iter().any(|(name, _)| *name == "dir") {
            fields.push((
                "dir",
                self.default_folder(&definition.backend, &definition.name)
                    .display()
                    .to_string(),
            ));
        }
        Ok(fields)
    }

    /// Returns the fields of a definition for display; the values of secrets are hidden.
    fn display_fields(
        &self,
        backend: &Backend,
        definition: &InstanceDefinition,
    ) -> Result<Map<String, Value>, InstanceError> {
        let plain = self
            .fields(backend, definition)?
            .into_iter()
            .map(|(name, value)| (name.to_owned(), Value::from(value)));
        let sealed = definition
            .fields
            .iter()
            .filter(|(_, value)| matches!(value, FieldValue::Sealed(_)));
        Ok(plain
            .chain(sealed.map(|(name, _)| (name.clone(), json!({ "sealed": true }))))
            .collect())
    }

    /// Returns the default folder of an instance, or `None` if it has no folder of its own.
    pub(crate) fn default_folder_of(
        &self,
        backend: &Backend,
        name: &InstanceName,
    ) -> Result<Option<PathBuf>, InstanceError> {
        let has_place = !backend.has_drivers() && name.as_str() == DEFAULT;
        Ok(if has_place {
            None
        } else {
            Some(self.default_folder(&backend.name.parse()?, name))
        })
    }

    fn default_folder(&self, backend: &InstanceName, name: &InstanceName) -> PathBuf {
        match name.as_str() {
            DEFAULT => self.settings.root.value.join(backend.as_str()),
            // A folder within that of the default instance would be mistaken for its data.
            other => self
                .settings
                .root
                .value
                .join("instances")
                .join(backend.as_str())
                .join(other),
        }
    }

    /// Opens the store of an instance.
    pub(crate) fn open_instance(
        &self,
        backend: &Backend,
        name: &InstanceName,
    ) -> Result<InstanceHandle, InstanceError> {
        let definition = self.definition(backend, name)?;
        let fields = self.fields(backend, &definition)?;
        let field = |wanted: &str| {
            fields
                .iter()
                .find(|(name, _)| *name == wanted)
                .map(|(_, value)| value.as_str())
        };
        if field("driver") == Some("postgres") {
            let database = Arc::new(self.database(&definition)?);
            let (clock, ids) = (self.settings.clock(), Arc::new(RandomIds));
            return Ok(match backend.name {
                "kv" => InstanceHandle::Kv(KeyValues {
                    store: Arc::new(PostgresValues::new(database)),
                    clock,
                    ids,
                }),
                _ => InstanceHandle::History(Messages {
                    store: Arc::new(PostgresMessages::new(database)),
                    clock,
                    ids,
                }),
            });
        }
        // Every path is checked before anything is read or written.
        for described in backend
            .fields
            .iter()
            .filter(|described| described.kind == FieldKind::Path)
        {
            field(described.name)
                .map_or(Ok(()), |path| self.allowed_path(Path::new(path)).map(drop))?;
        }
        if field("dir").is_none() {
            self.default_folders(backend.name)?;
        }
        let folder = || self.allowed_path(Path::new(field("dir").unwrap_or_default()));
        let (clock, ids) = (self.settings.clock(), Arc::new(RandomIds));
        Ok(match backend.name {
            "kv" => {
                let folder = folder()?;
                let state = self
                    .state_folder(&folder)
                    .join(backend.name)
                    .join(name.as_str());
                InstanceHandle::Kv(KeyValues {
                    store: Arc::new(ValueFolder::new(folder, state)),
                    clock,
                    ids,
                })
            }
            "history" => {
                let mut store = HistoryFolder::new(folder()?);
                // `memory search` searches the sessions of the default instance.
                if name.as_str() == DEFAULT {
                    store = store.with_index(&self.settings.root.value);
                }
                InstanceHandle::History(Messages {
                    store: Arc::new(store),
                    clock,
                    ids,
                })
            }
            tools => InstanceHandle::Tools(self.tools(
                tools,
                field("dir").map(|_| folder()).transpose()?.as_deref(),
            )?),
        })
    }

    /// Returns the state folder of an instance with its files in `folder`.
    ///
    /// Files in a non-default home have their state in that home, because each home may have an instance of the same
    /// name.
    fn state_folder(&self, folder: &Path) -> PathBuf {
        let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let is_usual = default_root_folder(&self.settings.environment)
            .is_some_and(|usual| whole(&usual) == whole(&self.settings.root.value));
        let is_said = self.settings.environment.memo_state_dir.is_some();
        if is_said || is_usual || !folder.starts_with(&self.settings.root.value) {
            self.state.clone()
        } else {
            self.settings.root.value.join("state")
        }
    }

    /// Opens the operation log of an instance, if it has one.
    fn operation_log(
        &self,
        backend: &str,
        name: &str,
    ) -> Result<Option<Arc<dyn InstanceOperations>>, InstanceError> {
        Ok(
            match self.open_instance(instance::backend(backend)?, &name.parse()?)? {
                InstanceHandle::History(messages) => Some(messages.store),
                InstanceHandle::Kv(values) => Some(values.store),
                InstanceHandle::Tools(_) => None,
            },
        )
    }

    fn database(&self, definition: &InstanceDefinition) -> Result<Database, InstanceError> {
        let address = match definition.field("dsn") {
            Some(FieldValue::Sealed(sealed)) => self.instances.open(definition, "dsn", sealed)?,
            Some(FieldValue::Plain(plain)) => plain.clone().into(),
            None => {
                return Err(InstanceError::Invalid {
                    why: "the field dsn is missing".into(),
                    hint: None,
                });
            }
        };
        Database::new(&address, DatabaseLimits::default())
    }

    /// Opens the tools for `folder`, or for the default folders if it is `None`.
    fn tools(&self, backend: &str, folder: Option<&Path>) -> Result<Arc<Agent>, InstanceError> {
        let mut settings = Arc::clone(&self.settings);
        if let (Some(folder), "notes") = (folder, backend) {
            let own = Arc::make_mut(&mut settings);
            own.root = Setting::flag(folder.to_owned());
            // The database is that of the home, and the folder is another one.
            own.store = Setting::flag(None);
        }
        let invalid = |failure: Failure| InstanceError::Invalid {
            why: failure.to_string(),
            hint: failure.hint(),
        };
        let options = FileStoreOptions {
            kept: KEPT,
            ..FileStoreOptions::default()
        };
        let home = Home::with_settings(settings, options).map_err(invalid)?;
        let settings = &home.settings;
        let own = |name: &str| folder.filter(|_| backend == name).map(Path::to_owned);
        let (bank_folder, topic_folder) = (own("bank"), own("topic"));
        if backend == "topic" && folder.is_none() && topics::project_folder(settings).is_none() {
            return Err(topics::no_instance_error(settings));
        }
        let embedder = embedding::open_via_daemon(settings);
        let parts = AgentOptions {
            selection: ToolSelection::all(),
            embedder,
            bank_folder,
            topic_folder,
            instances: None,
        };
        agent::build_agent(&home, parts).map_err(invalid)
    }

    /// Returns the folders that an instance without a folder of its own uses, if all of them are allowed.
    ///
    /// The result depends on the folders that exist.
    fn default_folders(&self, backend: &str) -> Result<Vec<PathBuf>, InstanceError> {
        let places = match backend {
            "notes" => vec![self.settings.root.value.clone()],
            "bank" => banks::bank_folders(&self.settings),
            "topic" => topics::project_folder(&self.settings).into_iter().collect(),
            _ => Vec::new(),
        };
        places
            .into_iter()
            .map(|place| self.allowed_path(&place))
            .collect()
    }

    /// Returns the new key for `rekey` from the environment; `None` means that a key is generated.
    pub(crate) fn new_master_key(&self) -> Result<Option<MasterKey>, Failure> {
        let next = parse_key_variable(
            "MEMO_NEW_MASTER_KEY",
            self.settings.environment.memo_new_master_key.as_ref(),
        )?;
        if next.is_none() && self.settings.environment.memo_master_key.is_some() {
            let hint = "set MEMO_NEW_MASTER_KEY to the new key, and afterwards MEMO_MASTER_KEY";
            return Err(Failure::usage(
                "MEMO_MASTER_KEY is set, but MEMO_NEW_MASTER_KEY is not",
                hint,
            ));
        }
        if next.is_some() && self.settings.environment.memo_master_key.is_none() {
            let hint = "unset MEMO_NEW_MASTER_KEY to generate a new master.key";
            return Err(Failure::usage(
                "MEMO_NEW_MASTER_KEY is set, but MEMO_MASTER_KEY is not",
                hint,
            ));
        }
        Ok(next)
    }
}

impl instance::InstanceDefinitions for InstanceRegistry {
    fn list(&self) -> Result<Vec<InstanceListing>, InstanceError> {
        let mut listed = Vec::new();
        let mut defined = self.instances.list()?;
        defined.retain(|one| !one.as_ref().is_ok_and(|one| one.backend.as_str() == STORE));
        for backend in backends() {
            let is_defined = |one: &Result<InstanceDefinition, InstanceError>| {
                one.as_ref().is_ok_and(|one| {
                    one.backend.as_str() == backend.name && one.name.as_str() == DEFAULT
                })
            };
            if !defined.iter().any(is_defined) {
                let definition = self.definition(backend, &DEFAULT.parse()?)?;
                let fields = Ok(self.display_fields(backend, &definition)?);
                listed.push(InstanceListing {
                    backend: backend.name.into(),
                    name: DEFAULT.into(),
                    fields,
                    is_built_in: true,
                });
            }
        }
        for definition in defined {
            let one = match definition {
                // The name of an invalid definition is only in the error message.
                Err(error) => InstanceListing {
                    backend: String::new(),
                    name: String::new(),
                    fields: Err(error.to_string()),
                    is_built_in: false,
                },
                Ok(definition) => {
                    let told = instance::backend(definition.backend.as_str())
                        .and_then(|backend| self.display_fields(backend, &definition))
                        .map_err(|error| error.to_string());
                    InstanceListing {
                        backend: definition.backend.to_string(),
                        name: definition.name.to_string(),
                        fields: told,
                        is_built_in: false,
                    }
                }
            };
            listed.push(one);
        }
        listed.sort_by(|one, other| (&one.backend, &one.name).cmp(&(&other.backend, &other.name)));
        Ok(listed)
    }

    fn version(
        &self,
        backend: &Backend,
        name: &InstanceName,
    ) -> Result<DefinitionVersion, InstanceError> {
        let definition = self.definition(backend, name)?;
        let field = |(name, value): (String, FieldValue)| {
            let (FieldValue::Plain(text) | FieldValue::Sealed(text)) = value;
            (name, text)
        };
        // Symlinks may have changed since the instance was opened, so the path is resolved and checked again.
        let places = self
            .fields(backend, &definition)?
            .into_iter()
            .filter(|(name, _)| is_path(backend, name));
        let places = places.map(|(name, path)| {
            Ok((
                name.to_owned(),
                self.allowed_path(Path::new(&path))?.display().to_string(),
            ))
        });
        let mut places = places.collect::<Result<Vec<_>, InstanceError>>()?;
        if !places.iter().any(|(name, _)| name == "dir") {
            let usual = self.default_folders(backend.name)?.into_iter();
            places.extend(usual.map(|place| ("usual".to_owned(), place.display().to_string())));
        }
        Ok(DefinitionVersion(
            definition
                .fields
                .into_iter()
                .map(field)
                .chain(places)
                .collect(),
        ))
    }

    fn open(
        &self,
        backend: &'static Backend,
        name: &InstanceName,
    ) -> Result<InstanceHandle, InstanceError> {
        self.open_instance(backend, name)
    }
}

/// Returns the operation logs of all instances with files, and warnings about unreachable instances.
///
/// # Errors
/// If the definitions cannot be listed.
pub(crate) fn file_operation_logs(
    settings: &Arc<Settings>,
) -> Result<(Vec<NamedInstance>, Vec<String>), Failure> {
    let (mut kept, mut warnings) = (Vec::new(), Vec::new());
    let unreachable = |name: &str, why: &dyn std::fmt::Display| format!("skipped {name}: {why}");
    let book = match InstanceRegistry::open(settings) {
        Ok(book) => book,
        Err(failure) => return Ok((kept, vec![unreachable("all instances", &failure)])),
    };
    for one in instance::InstanceDefinitions::list(&book)? {
        let name = if one.backend.is_empty() {
            "an unreadable instance".to_owned()
        } else {
            format!("{}/{}", one.backend, one.name)
        };
        let opened = match one.fields {
            Ok(fields) if fields.get("driver").is_some_and(|driver| driver == "file") => {
                book.operation_log(&one.backend, &one.name)
            }
            Ok(_) => continue,
            Err(why) => Err(InstanceError::Invalid { why, hint: None }),
        };
        match opened {
            Ok(store) => kept.extend(store.map(|store| NamedInstance { name, store })),
            Err(error) => warnings.push(unreachable(&name, &error)),
        }
    }
    Ok((kept, warnings))
}

/// Creates the tables of a database for an instance with these fields.
pub(crate) fn prepare_database(fields: &[(String, NewFieldValue)]) -> Result<(), InstanceError> {
    for (name, value) in fields {
        if let ("dsn", NewFieldValue::Secret(address)) = (name.as_str(), value) {
            Database::new(address, DatabaseLimits::default())?.prepare()?;
        }
    }
    Ok(())
}

fn is_path(backend: &Backend, field: &str) -> bool {
    backend
        .fields
        .iter()
        .any(|own| own.name == field && own.kind == FieldKind::Path)
}

/// Creates an operation of the command line at the current time.
pub(crate) fn new_operation(verb: Verb) -> Operation {
    Operation::new(verb, "cli", &SystemClock, &RandomIds)
}
