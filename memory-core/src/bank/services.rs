//! What the use cases of banks work with.

use std::sync::Arc;

use super::{
    BankError, BankName, BankOperation, BankScope, BankStore, BankVerb, JsonFilter, Limits, SchemaCheck, ScopeChoice, Trouble,
};
use crate::{Clock, IdSource};

/// What the use cases of banks work with: the machine, behind traits.
#[derive(Debug, Clone)]
pub struct Banks {
    /// The banks of the user.
    pub user: Arc<dyn BankStore>,
    /// The banks of the project at hand, if there is one.
    pub project: Option<Arc<dyn BankStore>>,
    /// Further folders of banks, each of a scope: what is not in the first folder of its scope is looked for in these, in order.
    pub further: Vec<(BankScope, Arc<dyn BankStore>)>,
    /// Makes the banks of the project where there are none yet, when somebody wants them there.
    pub new_project: Option<Arc<dyn BankStore>>,
    /// jq.
    pub filter: Arc<dyn JsonFilter>,
    /// JSON Schema.
    pub schemas: Arc<dyn SchemaCheck>,
    /// How much banks hold.
    pub limits: Limits,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New names.
    pub ids: Arc<dyn IdSource>,
    /// Who is asking: `cli`, or an agent's name.
    pub actor: String,
}

impl Banks {
    /// Returns an operation of this actor, now.
    pub fn operation(&self, verb: BankVerb) -> BankOperation {
        BankOperation { id: self.ids.operation_id(), verb, by: self.actor.clone(), at: self.clock.now() }
    }

    /// Returns where to look, in order.
    pub(super) fn places(&self, choice: ScopeChoice) -> Vec<(BankScope, &Arc<dyn BankStore>)> {
        let further = |scope| self.further.iter().filter(move |(own, _)| *own == scope).map(|(scope, store)| (*scope, store));
        let project = self.project.as_ref().map(|store| (BankScope::Project, store)).into_iter();
        let project = project.chain(further(BankScope::Project));
        let user = [(BankScope::User, &self.user)].into_iter().chain(further(BankScope::User));
        match choice {
            ScopeChoice::Detected => project.chain(user).collect(),
            ScopeChoice::Only(BankScope::Project) => project.collect(),
            ScopeChoice::Only(BankScope::User) => user.collect(),
        }
    }

    /// Returns the folders that have a bank beside `used`, each with its scope.
    pub(super) fn others_with(&self, bank: &BankName, used: &Arc<dyn BankStore>) -> Vec<(BankScope, String)> {
        // What was read is no less true because another folder cannot be.
        let has_it = |store: &Arc<dyn BankStore>| !Arc::ptr_eq(store, used) && matches!(store.has(bank), Ok(true));
        let others = self.places(ScopeChoice::Detected).into_iter().filter(|(_, store)| has_it(store));
        others.map(|(scope, store)| (scope, store.folder())).collect()
    }

    /// Returns where a bank is written: in the folder of the scope that has it, or else in the first.
    pub(super) fn place_to_write(
        &self,
        bank: &BankName,
        choice: ScopeChoice,
    ) -> Result<(BankScope, &Arc<dyn BankStore>), BankError> {
        let first = self.first_place(choice)?;
        for (scope, store) in self.places(ScopeChoice::Only(first.0)) {
            if store.has(bank).map_err(|error| error.about(bank.as_str(), Some(scope)))? {
                return Ok((scope, store));
            }
        }
        Ok(first)
    }

    /// Returns where new banks are kept.
    fn first_place(&self, choice: ScopeChoice) -> Result<(BankScope, &Arc<dyn BankStore>), BankError> {
        let user = (BankScope::User, &self.user);
        match choice {
            ScopeChoice::Only(BankScope::User) => Ok(user),
            ScopeChoice::Detected => Ok(self.project.as_ref().map_or(user, |store| (BankScope::Project, store))),
            ScopeChoice::Only(BankScope::Project) => {
                let store = self.project.as_ref().or(self.new_project.as_ref());
                store.map(|store| (BankScope::Project, store)).ok_or_else(|| BankError::new(Trouble::NoProject))
            }
        }
    }

    /// Returns the first place that has the bank.
    pub(super) fn place_of(
        &self,
        name: &BankName,
        choice: ScopeChoice,
    ) -> Result<(BankScope, &Arc<dyn BankStore>, super::Bank), BankError> {
        for (scope, store) in self.places(choice) {
            if let Some(bank) = store.bank(name).map_err(|error| error.about(name.as_str(), Some(scope)))? {
                return Ok((scope, store, bank));
            }
        }
        Err(BankError::no_bank(name, Some(self.scope_of(choice))))
    }

    /// Returns the scope that was asked for; if none was, the one in which one looks first.
    pub fn scope_of(&self, choice: ScopeChoice) -> BankScope {
        match choice {
            ScopeChoice::Only(scope) => scope,
            ScopeChoice::Detected if self.project.is_some() => BankScope::Project,
            ScopeChoice::Detected => BankScope::User,
        }
    }
}
