//! Where instances are defined and kept, and putting their parts together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_agent::instance::{Backend, Holding, Kind};
use memory_core::instance::history::Messages;
use memory_core::instance::kv::Values;
use memory_core::instance::{InstanceError, InstanceName, InstanceOperation};
use memory_store::history::HistoryFolder;
use memory_store::kv::ValueFolder;
use memory_store::sealed::{Definition, FieldValue, Instances, MasterKey};
use memory_store::{AllowedPaths, RandomIds, SystemClock};

use crate::config::{Environment, Settings};
use crate::failure::Failure;

/// The instance that is there though nobody has made it.
pub(crate) const DEFAULT: &str = "default";

/// The instances of this person.
pub(crate) struct Book<'a> {
    /// What is defined.
    pub instances: Instances,
    environment: &'a Environment,
    home: PathBuf,
    state: PathBuf,
    allowed: Option<AllowedPaths>,
}

impl<'a> Book<'a> {
    /// Finds the instances.
    pub(crate) fn open(settings: &Settings, environment: &'a Environment) -> Result<Self, Failure> {
        let home = settings.root.value.clone();
        let beside = |named: &Option<PathBuf>, usual: &str| {
            let person = environment.home.as_deref().unwrap_or(&home);
            named.as_deref().map_or_else(|| person.join(usual), |path| environment.whole(path))
        };
        let key = given_key("MEMO_MASTER_KEY", environment.memo_master_key.as_ref())?;
        let definitions = beside(&environment.memo_store_dir, ".config/memo/instances");
        let keys = beside(&environment.memo_key_dir, ".config/memo");
        let allowed = environment.memo_allowed_paths.as_deref();
        Ok(Self {
            instances: Instances::new(definitions, keys, key),
            state: beside(&environment.memo_state_dir, ".local/state/memo/state"),
            allowed: allowed.map(|text| AllowedPaths::read(text, |path| environment.whole(path))),
            environment,
            home,
        })
    }

    /// Returns where a path of an instance leads, if it may lead there.
    pub(crate) fn place(&self, path: &Path) -> Result<PathBuf, InstanceError> {
        let whole = self.environment.whole(path);
        self.allowed.as_ref().map_or(Ok(whole.clone()), |allowed| allowed.check(&whole))
    }

    /// Returns the definition of an instance; that of the default one, if nobody has made it.
    pub(crate) fn definition(&self, backend: &Backend, name: &InstanceName) -> Result<Definition, InstanceError> {
        let kind: InstanceName = backend.name.parse()?;
        match self.instances.read(&kind, name)? {
            Some(definition) => Ok(definition),
            None if name.as_str() == DEFAULT => Ok(Definition { backend: kind, name: name.clone(), fields: Vec::new() }),
            None => Err(InstanceError::InstanceNotFound { instance: format!("{kind}/{name}") }),
        }
    }

    /// Returns the fields of a definition that are no secret, with the defaults.
    pub(crate) fn fields(
        &self,
        backend: &Backend,
        definition: &Definition,
    ) -> Result<Vec<(&'static str, String)>, InstanceError> {
        let mut given = Vec::new();
        for (name, value) in &definition.fields {
            match value {
                FieldValue::Plain(text) => given.push((name.clone(), text.clone())),
                // Whether it opens is told to whoever needs it.
                FieldValue::Sealed(_) => given.push((name.clone(), "sealed".to_owned())),
            }
        }
        let damaged = |error: InstanceError| InstanceError::Damaged {
            place: format!("{}/{}.yaml", definition.backend, definition.name),
            what: error.to_string(),
        };
        let mut fields: Vec<_> = backend.checked(&given).map_err(damaged)?;
        fields.retain(|(field, _)| !field.secret);
        let mut fields: Vec<_> = fields.into_iter().map(|(field, value)| (field.name, value)).collect();
        let is_in_files = fields.iter().any(|(name, value)| *name == "driver" && value == "file");
        if is_in_files && !fields.iter().any(|(name, _)| *name == "dir") {
            fields.push(("dir", self.usual_folder(&definition.backend, &definition.name).display().to_string()));
        }
        Ok(fields)
    }

    fn usual_folder(&self, backend: &InstanceName, name: &InstanceName) -> PathBuf {
        match name.as_str() {
            DEFAULT => self.home.join(backend.as_str()),
            // Not within the default one's, whose files they would seem to be.
            other => self.home.join("instances").join(backend.as_str()).join(other),
        }
    }

    /// Opens what an instance holds.
    pub(crate) fn hold(&self, backend: &Backend, name: &InstanceName) -> Result<Holding, InstanceError> {
        let definition = self.definition(backend, name)?;
        let fields = self.fields(backend, &definition)?;
        let field = |wanted: &str| fields.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str());
        if let Some(driver) = field("driver").filter(|driver| *driver != "file") {
            let why = format!("{}/{name} is kept by {driver}, which this program cannot reach yet", backend.name);
            return Err(InstanceError::Invalid { why, hint: None });
        }
        // Every path is checked before anything is read or written.
        for described in backend.fields.iter().filter(|described| described.kind == Kind::Path) {
            field(described.name).map_or(Ok(()), |path| self.place(Path::new(path)).map(drop))?;
        }
        let folder = self.place(Path::new(field("dir").unwrap_or_default()))?;
        let (clock, ids) = (Arc::new(SystemClock), Arc::new(RandomIds));
        Ok(if backend.name == "kv" {
            let state = self.state.join(backend.name).join(name.as_str());
            Holding::Kv(Values { store: Arc::new(ValueFolder::new(folder, state)), clock, ids })
        } else {
            Holding::History(Messages { store: Arc::new(HistoryFolder::new(folder)), clock, ids })
        })
    }

    /// Returns the key that `rekey` is to use instead of one of its own.
    pub(crate) fn next_key(&self) -> Result<Option<MasterKey>, Failure> {
        let next = given_key("MEMO_NEW_MASTER_KEY", self.environment.memo_new_master_key.as_ref())?;
        if next.is_none() && self.environment.memo_master_key.is_some() {
            let hint = "set MEMO_NEW_MASTER_KEY to the new key, and MEMO_MASTER_KEY to it afterwards";
            return Err(Failure::usage("the key is given by MEMO_MASTER_KEY, and so must be the new one", hint));
        }
        if next.is_some() && self.environment.memo_master_key.is_none() {
            let hint = "leave MEMO_NEW_MASTER_KEY out, and a new master.key is made";
            return Err(Failure::usage("MEMO_NEW_MASTER_KEY is for a key that is given by MEMO_MASTER_KEY", hint));
        }
        Ok(next)
    }
}

/// Begins a change now.
pub(crate) fn operation() -> InstanceOperation {
    InstanceOperation::new(&SystemClock, &RandomIds)
}

fn given_key(variable: &str, given: Option<&Result<MasterKey, ()>>) -> Result<Option<MasterKey>, Failure> {
    match given {
        None => Ok(None),
        Some(Ok(key)) => Ok(Some(key.clone())),
        Some(Err(())) => {
            let why = format!("{variable} is not 32 bytes in Base64");
            Err(Failure::usage(why, "`openssl rand -base64 32` makes a key"))
        }
    }
}
