//! A cache of opened instances.
//!
//! An instance stays open as long as its definition is unchanged; the definition is read for every request.

use std::collections::HashMap;
use std::fmt::Debug;
#[cfg(not(test))]
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memory_core::instance::{InstanceError, InstanceName};
use memory_core::{SecretPolicy, View};
// Under test, shuttle's locks are used, so that each lock is a scheduling point.
#[cfg(test)]
use shuttle::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{ActionCaller, Backend, InstanceHandle};

/// The definitions of instances. It may be called from any thread.
pub trait InstanceDefinitions: Debug + Send + Sync {
    /// Returns all definitions, sorted by type and name; an unreadable one contains its error.
    ///
    /// # Errors
    /// If the definitions cannot be listed.
    fn list(&self) -> Result<Vec<InstanceListing>, InstanceError>;

    /// Returns the current version of a definition, to detect changes.
    ///
    /// # Errors
    /// [`InstanceError::InstanceNotFound`]; or if the definition cannot be read.
    fn version(
        &self,
        backend: &Backend,
        name: &InstanceName,
    ) -> Result<DefinitionVersion, InstanceError>;

    /// Opens an instance.
    ///
    /// # Errors
    /// [`InstanceError::InstanceNotFound`]; or if it cannot be read, opened or reached.
    fn open(
        &self,
        backend: &'static Backend,
        name: &InstanceName,
    ) -> Result<InstanceHandle, InstanceError>;
}

/// The content of a definition; equal versions mean an unchanged definition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DefinitionVersion(pub Vec<(String, String)>);

/// An instance in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceListing {
    /// The type.
    pub backend: String,
    /// The name.
    pub name: String,
    /// The fields, with secrets marked as sealed; or the error if they cannot be read.
    pub fields: Result<serde_json::Map<String, serde_json::Value>, String>,
    /// Whether the instance exists without a definition.
    pub is_built_in: bool,
}

/// A cache of opened instances, which are reopened when their definition changes.
#[derive(Debug)]
pub struct OpenInstances {
    instances: Arc<dyn InstanceDefinitions>,
    agent_secrets: SecretPolicy,
    open: Mutex<OpenMap>,
}

/// The opened instances by type and name, each with the version of its definition.
type OpenMap = HashMap<(&'static str, InstanceName), (DefinitionVersion, InstanceHandle)>;

impl OpenInstances {
    /// Creates an empty cache; with [`SecretPolicy::Keep`], agents may store credentials.
    pub fn new(instances: Arc<dyn InstanceDefinitions>, agent_secrets: SecretPolicy) -> Self {
        Self {
            instances,
            agent_secrets,
            open: Mutex::default(),
        }
    }

    /// Returns the definitions.
    pub fn definitions(&self) -> &dyn InstanceDefinitions {
        self.instances.as_ref()
    }

    /// Returns the agent with this view as the caller of an action.
    pub fn agent_caller(&self, view: View) -> ActionCaller {
        ActionCaller::Agent {
            view,
            secrets: self.agent_secrets,
        }
    }

    /// Returns an opened instance from the cache, or opens it.
    ///
    /// # Errors
    /// Those of [`InstanceDefinitions::open`].
    pub fn get_or_open(
        &self,
        backend: &'static Backend,
        name: &InstanceName,
    ) -> Result<InstanceHandle, InstanceError> {
        let key = (backend.name, name.clone());
        let version = self
            .instances
            .version(backend, name)
            .inspect_err(|_| drop(self.lock().remove(&key)))?;
        if let Some((known, holding)) = self.lock().get(&key)
            && *known == version
        {
            return Ok(holding.clone());
        }
        // Concurrent callers may open it twice; the first one is cached, since it may be in use already.
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

    /// Adds an opened instance to the cache, valid while its definition does not change.
    ///
    /// # Errors
    /// If the definition cannot be read.
    pub fn insert(
        &self,
        backend: &'static Backend,
        name: &InstanceName,
        holding: InstanceHandle,
    ) -> Result<(), InstanceError> {
        let version = self.instances.version(backend, name)?;
        self.lock()
            .insert((backend.name, name.clone()), (version, holding));
        Ok(())
    }

    /// Returns the number of opened instances.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// Removes all instances from the cache; each closes when its last user drops it.
    pub fn close(&self) {
        let open = std::mem::take(&mut *self.lock());
        drop(open);
    }

    fn lock(&self) -> MutexGuard<'_, OpenMap> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use memory_core::Code;
    use memory_core::instance::kv::{get, set};
    use memory_core::testing::{FakeValues, in_any_order, values};
    use shuttle::sync::atomic::{AtomicU64, Ordering};
    use shuttle::thread;

    use super::*;
    use crate::instance::backend;

    /// An instance that is redefined with increasing numbers, which it stores; 0 means undefined.
    #[derive(Debug)]
    struct CountingDefinitions(AtomicU64);

    impl CountingDefinitions {
        fn number(&self, name: &InstanceName) -> Result<u64, InstanceError> {
            // A read of a file takes time, during which other threads run.
            thread::yield_now();
            let number = self.0.load(Ordering::SeqCst);
            if number == 0 {
                Err(InstanceError::InstanceNotFound {
                    instance: name.to_string(),
                })
            } else {
                Ok(number)
            }
        }
    }

    impl InstanceDefinitions for CountingDefinitions {
        fn list(&self) -> Result<Vec<InstanceListing>, InstanceError> {
            Ok(Vec::new())
        }

        fn version(
            &self,
            _: &Backend,
            name: &InstanceName,
        ) -> Result<DefinitionVersion, InstanceError> {
            Ok(DefinitionVersion(vec![(
                "number".into(),
                self.number(name)?.to_string(),
            )]))
        }

        fn open(
            &self,
            _: &'static Backend,
            name: &InstanceName,
        ) -> Result<InstanceHandle, InstanceError> {
            let number = self.number(name)?;
            let values = values(Arc::new(FakeValues::default()));
            set(
                &values,
                &"number".parse().unwrap(),
                &number.to_string(),
                SecretPolicy::Refuse,
            )?;
            Ok(InstanceHandle::Kv(values))
        }
    }

    fn open_number(open: &OpenInstances) -> Result<(u64, InstanceHandle), InstanceError> {
        let holding = open.get_or_open(backend("kv").unwrap(), &"default".parse().unwrap())?;
        let number = get(holding.kv(), &"number".parse().unwrap())?;
        Ok((number.text.parse().unwrap(), holding))
    }

    #[test]
    fn nobody_is_given_what_was_defined_before_and_all_share_what_is_open() {
        in_any_order(|| {
            let defined = Arc::new(CountingDefinitions(AtomicU64::new(1)));
            let open = Arc::new(OpenInstances::new(
                Arc::clone(&defined) as _,
                SecretPolicy::Refuse,
            ));
            let asks = |_: u64| {
                let (open, defined) = (Arc::clone(&open), Arc::clone(&defined));
                thread::spawn(move || {
                    for _ in 0..2 {
                        let before = defined.0.load(Ordering::SeqCst);
                        assert!(open_number(&open).unwrap().0 >= before);
                    }
                })
            };
            let asking: Vec<_> = (0..2).map(asks).collect();
            for number in 2..4 {
                defined.0.store(number, Ordering::SeqCst);
                thread::yield_now();
            }
            for thread in asking {
                thread.join().unwrap();
            }
            let [(first, one), (second, other)] =
                [open_number(&open).unwrap(), open_number(&open).unwrap()];
            assert_eq!((first, second, open.count()), (3, 3, 1));
            assert!(
                Arc::ptr_eq(&one.kv().store, &other.kv().store),
                "what is open is opened no second time"
            );
        });
    }

    #[test]
    fn what_is_defined_no_longer_is_not_kept_open_by_who_asked_before() {
        in_any_order(|| {
            let defined = Arc::new(CountingDefinitions(AtomicU64::new(1)));
            let open = Arc::new(OpenInstances::new(
                Arc::clone(&defined) as _,
                SecretPolicy::Refuse,
            ));
            let (own, theirs) = (Arc::clone(&defined), Arc::clone(&open));
            let asks = thread::spawn(move || open_number(&theirs).map(|(number, _)| number));
            own.0.store(0, Ordering::SeqCst);
            assert!(asks.join().unwrap().is_ok_and(|number| number == 1) || open.count() == 0);
            assert_eq!(
                open_number(&open).unwrap_err().code(),
                Code::InstanceNotFound
            );
            assert_eq!(open.count(), 0);
        });
    }
}
