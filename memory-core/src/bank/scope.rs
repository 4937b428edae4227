//! Whose a bank is.

use std::fmt;
use std::str::FromStr;

use crate::ParseError;

/// Whose a bank is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BankScope {
    /// Of the project at hand.
    Project,
    /// Of the user, whatever they work on.
    User,
}

impl BankScope {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

impl fmt::Display for BankScope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

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

/// In which scopes to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScopeChoice {
    /// Wherever it is: first the project's, then the user's.
    #[default]
    Detected,
    /// In this one alone.
    Only(BankScope),
}

impl From<Option<BankScope>> for ScopeChoice {
    fn from(scope: Option<BankScope>) -> Self {
        scope.map_or(Self::Detected, Self::Only)
    }
}
