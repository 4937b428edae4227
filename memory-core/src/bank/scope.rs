//! The scopes of banks.

use std::str::FromStr;

use crate::ParseError;

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
