//! The principals of a shared database: users and agents with tokens.

use std::fmt::Debug;
use std::str::FromStr;

use strum::{IntoStaticStr, VariantArray};

use crate::{ParseError, Scope, StoreError};

/// Maximum length of a name in characters.
const LONGEST: usize = 64;

/// The beginning of every token of a principal.
pub const PRINCIPAL_TOKEN_PREFIX: &str = "mem_";

/// The name of a principal or of a team, in lower case.
///
/// ```
/// use memory_core::PrincipalName;
///
/// let name: PrincipalName = " Ada ".parse()?;
/// assert_eq!(name.as_str(), "ada");
/// assert!("ada lovelace".parse::<PrincipalName>().is_err());
/// # Ok::<(), memory_core::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PrincipalName(String);

impl PrincipalName {
    /// Returns the scope of the memories that only this principal reads.
    pub fn scope(&self) -> Scope {
        Scope::Private(self.0.clone())
    }
}

impl_text_type!(PrincipalName);

impl FromStr for PrincipalName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let name = text.trim().to_ascii_lowercase();
        let is_plain = |letter: char| {
            letter.is_ascii_lowercase()
                || letter.is_ascii_digit()
                || matches!(letter, '-' | '_' | '.')
        };
        let begins_well = name.starts_with(|first: char| first.is_ascii_alphanumeric());
        if begins_well && name.len() <= LONGEST && name.chars().all(is_plain) {
            return Ok(Self(name));
        }
        Err(ParseError::new(
            text,
            "a name (up to 64 letters a-z, digits, -, _ and ., beginning with a letter or a digit)",
        ))
    }
}

/// The kind of a principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrincipalKind {
    /// A person, and the agents of that person.
    #[default]
    User,
    /// An agent that acts for no single person.
    Agent,
}

impl PrincipalKind {
    /// Returns the kind as text: `user` or `agent`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
        }
    }
}

impl FromStr for PrincipalKind {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "user" => Ok(Self::User),
            "agent" => Ok(Self::Agent),
            _ => Err(ParseError::new(text, "a kind of principal (user or agent)")),
        }
    }
}

/// The access of a principal, or of the members of a team, to a granted scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum AccessLevel {
    /// Reads the memories.
    Reader,
    /// Reads and writes them.
    #[default]
    Writer,
    /// Also grants the scope to others, and withdraws it from them.
    Admin,
}

impl AccessLevel {
    /// Returns the level as text: `reader`, `writer` or `admin`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl FromStr for AccessLevel {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::VARIANTS
            .iter()
            .find(|level| level.as_str() == text.trim())
            .copied()
            .ok_or_else(|| ParseError::new(text, "a level of access (reader, writer or admin)"))
    }
}

/// The principal who uses a store, and its scopes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrincipalAccess {
    /// The name of the principal.
    pub name: String,
    /// The scopes that the principal reads.
    pub scopes: Vec<Scope>,
    /// Those of them that it does not write.
    pub read_only: Vec<Scope>,
}

impl PrincipalAccess {
    /// Returns the scope of the memories that only this principal reads.
    pub fn private_scope(&self) -> Scope {
        Scope::Private(self.name.clone())
    }

    /// Iterates over the scopes that all agents of the principal see: its own and those of its teams.
    pub fn agent_scopes(&self) -> impl Iterator<Item = Scope> {
        let teams = self
            .scopes
            .iter()
            .filter(|scope| matches!(scope, Scope::Team(_)))
            .cloned();
        std::iter::once(self.private_scope()).chain(teams)
    }
}

/// The principal of a node, whose scopes may change while the node runs.
pub trait PrincipalSource: Debug + Send + Sync {
    /// Returns the principal with its current scopes.
    fn principal(&self) -> PrincipalAccess;
}

impl PrincipalSource for PrincipalAccess {
    fn principal(&self) -> PrincipalAccess {
        self.clone()
    }
}

/// The valid tokens of the principals of a shared database.
pub trait PrincipalTokens: Debug + Send + Sync {
    /// Returns the principal of a token, according to the database at the time of the call; `None` if the token is unknown or revoked.
    ///
    /// # Errors
    /// If the database cannot be reached.
    fn find_principal(&self, token: &str) -> Result<Option<PrincipalAccess>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_and_has_no_upper_case() {
        let name = |text: &str| text.parse::<PrincipalName>().ok().map(|name| name.0);
        assert_eq!(name("Ada.L_1").as_deref(), Some("ada.l_1"));
        for refused in [
            "",
            " ",
            "a b",
            "a:b",
            "a/b",
            "a@b",
            "-a",
            ".a",
            "ä",
            &"x".repeat(65),
        ] {
            assert_eq!(name(refused), None, "{refused:?}");
        }
    }
}
