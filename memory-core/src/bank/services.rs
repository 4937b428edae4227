//! The dependencies and limits of the bank operations, and the scopes of banks.

use std::str::FromStr;
use std::sync::Arc;

use super::{BankError, BankErrorKind, BankName, BankStore, JsonFilter, SchemaValidator};
use crate::{Clock, IdSource, Operation, ParseError, Verb};

/// The dependencies of the bank operations, behind traits.
#[derive(Debug, Clone)]
pub struct Banks {
    /// The banks of the user.
    pub user: Arc<dyn BankStore>,
    /// The banks of the current project, if there is one.
    pub project: Option<Arc<dyn BankStore>>,
    /// Further folders of banks, each with its scope.
    ///
    /// They are searched in order after the first folder of their scope.
    pub further: Vec<(BankScope, Arc<dyn BankStore>)>,
    /// The store that creates the banks of a project without banks.
    ///
    /// It is used when a caller names the project scope.
    pub new_project: Option<Arc<dyn BankStore>>,
    /// The jq interpreter.
    pub filter: Arc<dyn JsonFilter>,
    /// The JSON Schema validator.
    pub schemas: Arc<dyn SchemaValidator>,
    /// The size limits of banks.
    pub limits: BankLimits,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of operation ids.
    pub ids: Arc<dyn IdSource>,
    /// The actor of the operations: `cli`, or the name of an agent.
    pub actor: String,
}

impl Banks {
    /// Returns a new operation of this actor at the current time.
    pub fn operation(&self, verb: Verb) -> Operation {
        Operation::new(verb, &self.actor, self.clock.as_ref(), self.ids.as_ref())
    }

    /// Returns the folders to search, in order.
    pub(super) fn stores(&self, choice: ScopeChoice) -> Vec<(BankScope, &Arc<dyn BankStore>)> {
        let further = |scope| {
            self.further
                .iter()
                .filter(move |(own, _)| *own == scope)
                .map(|(scope, store)| (*scope, store))
        };
        let project = self
            .project
            .as_ref()
            .map(|store| (BankScope::Project, store))
            .into_iter();
        let project = project.chain(further(BankScope::Project));
        let user = [(BankScope::User, &self.user)]
            .into_iter()
            .chain(further(BankScope::User));
        match choice {
            ScopeChoice::Detected => project.chain(user).collect(),
            ScopeChoice::Only(BankScope::Project) => project.collect(),
            ScopeChoice::Only(BankScope::User) => user.collect(),
        }
    }

    /// Returns the folders other than `used` that contain a bank, each with its scope.
    pub(super) fn other_folders(
        &self,
        bank: &BankName,
        used: &Arc<dyn BankStore>,
    ) -> Vec<(BankScope, String)> {
        // A folder that cannot be read does not invalidate a result from another folder.
        let has_it = |store: &Arc<dyn BankStore>| {
            !Arc::ptr_eq(store, used) && matches!(store.has(bank), Ok(true))
        };
        let others = self
            .stores(ScopeChoice::Detected)
            .into_iter()
            .filter(|(_, store)| has_it(store));
        others
            .map(|(scope, store)| (scope, store.folder()))
            .collect()
    }

    /// Returns the folder to write a bank to: the one of the scope that contains it, otherwise the first.
    pub(super) fn store_to_write(
        &self,
        bank: &BankName,
        choice: ScopeChoice,
    ) -> Result<(BankScope, &Arc<dyn BankStore>), BankError> {
        let first = self.default_store(choice)?;
        for (scope, store) in self.stores(ScopeChoice::Only(first.0)) {
            if store
                .has(bank)
                .map_err(|error| error.with_bank(bank.as_str(), Some(scope)))?
            {
                return Ok((scope, store));
            }
        }
        Ok(first)
    }

    /// Returns the folder in which new banks are created.
    fn default_store(
        &self,
        choice: ScopeChoice,
    ) -> Result<(BankScope, &Arc<dyn BankStore>), BankError> {
        let user = (BankScope::User, &self.user);
        match choice {
            ScopeChoice::Only(BankScope::User) => Ok(user),
            ScopeChoice::Detected => Ok(self
                .project
                .as_ref()
                .map_or(user, |store| (BankScope::Project, store))),
            ScopeChoice::Only(BankScope::Project) => {
                let store = self.project.as_ref().or(self.new_project.as_ref());
                store
                    .map(|store| (BankScope::Project, store))
                    .ok_or_else(|| BankError::new(BankErrorKind::NoProject))
            }
        }
    }

    /// Returns the first folder that contains the bank, and the bank.
    pub(super) fn find_bank(
        &self,
        name: &BankName,
        choice: ScopeChoice,
    ) -> Result<(BankScope, &Arc<dyn BankStore>, super::Bank), BankError> {
        for (scope, store) in self.stores(choice) {
            if let Some(bank) = store
                .bank(name)
                .map_err(|error| error.with_bank(name.as_str(), Some(scope)))?
            {
                return Ok((scope, store, bank));
            }
        }
        Err(BankError::bank_not_found(
            name.as_str(),
            Some(self.effective_scope(choice)),
        ))
    }

    /// Returns the requested scope; without one, the scope that is searched first.
    pub fn effective_scope(&self, choice: ScopeChoice) -> BankScope {
        match choice {
            ScopeChoice::Only(scope) => scope,
            ScopeChoice::Detected if self.project.is_some() => BankScope::Project,
            ScopeChoice::Detected => BankScope::User,
        }
    }
}

/// The size limits of banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BankLimits {
    /// The maximum size of a value, in bytes of JSON without whitespace.
    pub value_bytes: usize,
    /// The maximum size of a bank file, in bytes before compression.
    pub bank_bytes: usize,
    /// The maximum number of keys in a bank.
    pub keys: usize,
}

impl Default for BankLimits {
    fn default() -> Self {
        Self {
            value_bytes: 1024 * 1024,
            bank_bytes: 10 * 1024 * 1024,
            keys: 10_000,
        }
    }
}

/// The scope of a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BankScope {
    /// The current project.
    Project,
    /// The user, in all projects.
    User,
}

impl BankScope {
    /// Returns the name of the scope.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

impl_display!(BankScope);

impl FromStr for BankScope {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "project" => Ok(Self::Project),
            "user" => Ok(Self::User),
            _ => Err(ParseError::new(text, "a scope of banks (user or project)")),
        }
    }
}

/// The scopes in which an operation looks for a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScopeChoice {
    /// Every scope: first the project, then the user.
    #[default]
    Detected,
    /// Only this scope.
    Only(BankScope),
}

impl From<Option<BankScope>> for ScopeChoice {
    fn from(scope: Option<BankScope>) -> Self {
        scope.map_or(Self::Detected, Self::Only)
    }
}
