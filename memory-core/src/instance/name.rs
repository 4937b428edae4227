//! Names of instances.

use std::str::FromStr;

use super::InstanceError;

/// The name of an instance or of a backend.
///
/// It starts with an ASCII letter or digit, which letters, digits, `_`, `-` or `.` may follow, at most 64 characters in
/// total. It is used in file names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceName(String);

impl InstanceName {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = 64;
}

impl_text_type!(InstanceName);

impl FromStr for InstanceName {
    type Err = InstanceError;

    fn from_str(text: &str) -> Result<Self, InstanceError> {
        let why = if text.is_empty() {
            "is empty"
        } else if Self::MAX_LENGTH < text.len() {
            "is longer than 64 characters"
        } else if !text.starts_with(|first: char| first.is_ascii_alphanumeric()) {
            "does not begin with a letter or a digit"
        } else if !text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        {
            "contains a character other than A to Z, a to z, 0 to 9, '.', '_' and '-'"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(InstanceError::invalid_name(
            "the name of an instance",
            text,
            why,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_part_of_a_file_name_and_nothing_else() {
        for name in ["default", "main", "team-2", "v1.2", "A_b", &"a".repeat(64)] {
            assert_eq!(name.parse::<InstanceName>().unwrap().as_str(), name);
        }
        for name in [
            "",
            ".",
            "..",
            ".a",
            "-a",
            "a/b",
            "a b",
            "a\0",
            "ä",
            &"a".repeat(65),
        ] {
            assert_eq!(
                name.parse::<InstanceName>().unwrap_err().code(),
                crate::Code::InvalidInput,
                "{name:?}"
            );
        }
    }
}
