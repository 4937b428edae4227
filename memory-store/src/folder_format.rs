//! The version of the format of a folder: of a home, or of the banks, topics, sessions or conversations in another folder.
//!
//! All formats until now are version 1, which has no file. A later version that this one would damage by writing stores its number in
//! `format.json`. Such a folder is read as far as possible, and neither it nor a folder below it is changed.

use std::fs;
use std::io;
use std::path::Path;

use memory_core::{StoreError, SystemClock};
use serde::Deserialize;
use serde_json::Value;

use crate::error::io_error;

/// The file with the version.
pub(crate) const FILE: &str = "format.json";

/// The highest version that this program can change.
const SUPPORTED: u64 = 1;

/// The number of folders above that of a store that may be its home, as for `instances/kv/team`.
const HOME_DEPTH: usize = 3;

/// The start of [`FolderFormat::program`] in a home.
const PROGRAM: &str = "memory ";

/// The content of [`FILE`].
#[derive(Debug, Deserialize)]
struct FolderFormat {
    version: Value,
    /// The name and version of the program that wrote it.
    #[serde(default)]
    program: String,
}

/// Checks that this version of the program may change the files in the folder `root`, at the time of this machine.
///
/// # Errors
/// [`StoreError::WrongClock`] if the clock is before 1970 or after 9999.
/// [`StoreError::NewerFormat`] if a newer version has written it, or the home that contains it. If the version may not be read.
pub fn check_writable(root: &Path) -> Result<(), StoreError> {
    // Maintenance under a wrong clock would take every memory for expired.
    if SystemClock::is_wrong() {
        return Err(StoreError::WrongClock {
            why: SystemClock::WRONG.to_owned(),
            folder: root.display().to_string(),
        });
    }
    check_folder(root, |_| true)?;
    // The folders above may belong to other programs, whose files may have this name.
    let is_own = |program: &str| program.starts_with(PROGRAM);
    root.ancestors()
        .skip(1)
        .take(HOME_DEPTH)
        .try_for_each(|folder| check_folder(folder, is_own))
}

fn check_folder(folder: &Path, is_own: impl Fn(&str) -> bool) -> Result<(), StoreError> {
    let file = folder.join(FILE);
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        // A file that this user may not read may contain any version.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(io_error(format!("read {}", file.display()), error));
        }
        // Without a text, the folder has a version that this program supports.
        Err(_) => return Ok(()),
    };
    match serde_json::from_str(&text) {
        // A later version may not number its formats.
        Ok(FolderFormat { version, program })
            if version.as_u64().is_none_or(|own| SUPPORTED < own) && is_own(&program) =>
        {
            let (folder, version) = (folder.display().to_string(), version.to_string());
            let program = if program.is_empty() {
                "a newer version".to_owned()
            } else {
                program
            };
            Err(StoreError::NewerFormat {
                folder,
                version,
                program,
            })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_newer_version_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let check = |text: &str| {
            fs::write(folder.path().join(FILE), text).unwrap();
            check_writable(folder.path())
        };
        assert!(check_writable(folder.path()).is_ok());
        assert!(check(r#"{"version": 1, "program": "memory 0.2.0"}"#).is_ok());
        assert!(check("damaged").is_ok());
        assert!(check(r#"{"version": "2.1", "program": "memory 9.0.0"}"#).is_err());
        let refusal = check(r#"{"version": 2}"#).unwrap_err().to_string();
        assert!(
            refusal.ends_with("has format 2 of a newer version, which this version cannot change"),
            "{refusal}"
        );
        let refusal = check(r#"{"version": 2, "program": "memory 3.1.0", "more": 1}"#)
            .unwrap_err()
            .to_string();
        assert!(
            refusal.ends_with("has format 2 of memory 3.1.0, which this version cannot change"),
            "{refusal}"
        );
    }

    #[test]
    fn a_folder_in_a_newer_home_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let check = |text: &str| {
            fs::write(home.path().join(FILE), text).unwrap();
            ["banks", "instances/kv/team"]
                .map(|folder| check_writable(&home.path().join(folder)).is_err())
        };
        assert_eq!(
            check(r#"{"version": 2, "program": "memory 3.1.0"}"#),
            [true, true]
        );
        assert_eq!(
            check(r#"{"version": 1, "program": "memory 0.2.0"}"#),
            [false, false]
        );
        // A file of another program.
        assert_eq!(check(r#"{"version": 2}"#), [false, false]);
        assert_eq!(
            check(r#"{"version": 2, "program": "prettier"}"#),
            [false, false]
        );
    }
}
