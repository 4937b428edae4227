//! Instances that are open.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memory_core::instance::{InstanceError, InstanceName};

use super::{Backend, Holding};

/// Where instances are defined. It may be asked from any thread.
pub trait Instances: Debug + Send + Sync {
    /// Returns what there is, sorted by type and name. What cannot be read as a definition says so in its place.
    ///
    /// # Errors
    /// When the definitions cannot be listed.
    fn list(&self) -> Result<Vec<Listed>, InstanceError>;

    /// Returns what defines an instance now, so that a change of it is seen.
    ///
    /// # Errors
    /// [`InstanceError::InstanceNotFound`]; when the definition cannot be read.
    fn version(&self, backend: &Backend, name: &InstanceName) -> Result<Version, InstanceError>;

    /// Opens an instance.
    ///
    /// # Errors
    /// [`InstanceError::InstanceNotFound`]; when it cannot be read, opened or reached.
    fn open(&self, backend: &'static Backend, name: &InstanceName) -> Result<Holding, InstanceError>;
}

/// What defines an instance: two are equal only if it is defined as before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Version(pub Vec<(String, String)>);

/// An instance, as a list tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its type.
    pub backend: String,
    /// Its name.
    pub name: String,
    /// Its fields; of a secret only that it is sealed. Or why they cannot be read.
    pub fields: Result<serde_json::Map<String, serde_json::Value>, String>,
    /// Whether it is there without being defined.
    pub is_built_in: bool,
}

/// Instances that stay open from one request to the next, each as it is defined now.
#[derive(Debug)]
pub struct OpenInstances {
    instances: Arc<dyn Instances>,
    open: Mutex<Open>,
}

/// By type and name, as it was defined when it was opened.
type Open = HashMap<(&'static str, InstanceName), (Version, Holding)>;

impl OpenInstances {
    /// Returns the instances of which none is open yet.
    pub fn new(instances: Arc<dyn Instances>) -> Self {
        Self { instances, open: Mutex::default() }
    }

    /// Returns where they are defined.
    pub fn defined(&self) -> &dyn Instances {
        self.instances.as_ref()
    }

    /// Returns what an instance holds, and keeps it open.
    ///
    /// # Errors
    /// As [`Instances::open`].
    pub fn hold(&self, backend: &'static Backend, name: &InstanceName) -> Result<Holding, InstanceError> {
        let key = (backend.name, name.clone());
        let version = self.instances.version(backend, name).inspect_err(|_| drop(self.lock().remove(&key)))?;
        if let Some((known, holding)) = self.lock().get(&key)
            && *known == version
        {
            return Ok(holding.clone());
        }
        // Whoever opens it at the same time opens it twice; the first one is kept, since it may be in use already.
        let opened = self.instances.open(backend, name)?;
        let mut open = self.lock();
        match open.get(&key) {
            Some((known, holding)) if *known == version => Ok(holding.clone()),
            _ => {
                open.insert(key, (version, opened.clone()));
                Ok(opened)
            }
        }
    }

    /// Gives what an instance holds that is open already, as long as it is defined as it is now.
    ///
    /// # Errors
    /// When the definition cannot be read.
    pub fn keep(&self, backend: &'static Backend, name: &InstanceName, holding: Holding) -> Result<(), InstanceError> {
        let version = self.instances.version(backend, name)?;
        self.lock().insert((backend.name, name.clone()), (version, holding));
        Ok(())
    }

    /// Returns how many are open.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// Closes all; those in use end when nobody uses them any more.
    pub fn close(&self) {
        let open = std::mem::take(&mut *self.lock());
        drop(open);
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
