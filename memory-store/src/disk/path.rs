//! Relative paths, with `/` between their components.

use std::io;

/// Checks the text of a relative path: no `..`, no root, no empty component, no NUL.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`].
pub fn check_path(path: &str) -> io::Result<()> {
    let is_fine = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    if path.split('/').all(is_fine) {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{path:?} is not a path below the home"),
        ))
    }
}

/// Returns the folder of a path.
pub(crate) fn parent_folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the last component of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::check_path;

    #[test]
    fn paths_that_stay_are_accepted() {
        for path in [
            "a",
            "categories/inbox/深色-1.md",
            ".lock",
            "a/b..c/d",
            "Rust: tips.md",
            "a\\b.md",
            "a\nb",
        ] {
            check_path(path).unwrap();
        }
    }

    #[test]
    fn paths_that_leave_are_refused() {
        for path in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "a/../b",
            "a//b",
            "./a",
            "a/",
            "a\0b",
        ] {
            check_path(path).unwrap_err();
        }
    }
}
