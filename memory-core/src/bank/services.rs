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
        let project = self.project.as_ref().map(|store| (BankScope::Project, store));
        let user = (BankScope::User, &self.user);
        match choice {
            ScopeChoice::Detected => project.into_iter().chain([user]).collect(),
            ScopeChoice::Only(BankScope::Project) => project.into_iter().collect(),
            ScopeChoice::Only(BankScope::User) => vec![user],
        }
    }

    /// Returns where something new is kept.
    pub(super) fn place_to_write(&self, choice: ScopeChoice) -> Result<(BankScope, &Arc<dyn BankStore>), BankError> {
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
        Err(BankError::no_bank(name, named(choice)))
    }
}

/// Returns the scope that was asked for, if one was.
pub(super) fn named(choice: ScopeChoice) -> Option<BankScope> {
    match choice {
        ScopeChoice::Detected => None,
        ScopeChoice::Only(scope) => Some(scope),
    }
}
