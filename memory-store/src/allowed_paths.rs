//! The list of folders that may contain instances.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use memory_core::instance::InstanceError;

/// The folders that may contain paths of instances, with all symlinks resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedPaths(Vec<PathBuf>);

impl AllowedPaths {
    /// Parses a list of folders separated by `:`, like `PATH`.
    ///
    /// `whole` makes each folder absolute.
    pub fn parse(text: &OsStr, whole: impl Fn(&Path) -> PathBuf) -> Self {
        let folders = std::env::split_paths(text).filter(|path| !path.as_os_str().is_empty());
        // A folder that cannot be resolved permits nothing.
        Self(
            folders
                .filter_map(|path| resolve_symlinks(&whole(&path)).ok())
                .collect(),
        )
    }

    /// Resolves the symlinks of `path` and returns the result.
    ///
    /// # Errors
    /// [`InstanceError::PathRefused`] if the path cannot be resolved or is not below an allowed folder.
    pub fn check(&self, path: &Path) -> Result<PathBuf, InstanceError> {
        let shown = || path.display().to_string();
        let place = resolve_symlinks(path).map_err(|error| InstanceError::PathRefused {
            path: shown(),
            why: format!("cannot be resolved: {error}"),
        })?;
        if self.0.iter().any(|allowed| place.starts_with(allowed)) {
            return Ok(place);
        }
        Err(InstanceError::PathRefused {
            path: shown(),
            why: "is not below a folder that MEMO_ALLOWED_PATHS lists".into(),
        })
    }
}

/// Resolves the symlinks of an absolute path; the last components need not exist yet.
fn resolve_symlinks(path: &Path) -> io::Result<PathBuf> {
    let refused = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why);
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(refused("it contains .."));
    }
    let mut missing = Vec::new();
    let mut there = path;
    loop {
        match there.canonicalize() {
            Ok(place) => {
                return Ok(missing
                    .iter()
                    .rev()
                    .fold(place, |place, part| place.join(part)));
            }
            // Creating the missing components would follow a dangling symlink.
            Err(_) if there.is_symlink() => return Err(refused("it contains a dangling symlink")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                missing.push(there.file_name().ok_or(error)?);
                there = there
                    .parent()
                    .ok_or_else(|| refused("it is not absolute"))?;
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_must_lie_below_an_allowed_folder_wherever_symlinks_lead() {
        let base = tempfile::tempdir().unwrap();
        let place = base.path().canonicalize().unwrap();
        let path = |name: &str| place.join(name);
        for folder in ["in/deep", "out", "inner"] {
            std::fs::create_dir_all(path(folder)).unwrap();
        }
        symlink(path("out"), path("in/away")).unwrap();
        symlink(path("in/deep"), path("out/back")).unwrap();
        symlink(path("out/nothing"), path("in/nowhere")).unwrap();
        let allowed = std::env::join_paths([path("in"), path("none/yet")]).unwrap();
        let allowed = AllowedPaths::parse(&allowed, Path::to_owned);
        for (name, leads_to) in [
            ("in", "in"),
            ("in/new/er", "in/new/er"),
            ("out/back/x", "in/deep/x"),
            ("none/yet/a", "none/yet/a"),
        ] {
            assert_eq!(allowed.check(&path(name)).unwrap(), path(leads_to));
        }
        for name in [
            "out",
            "inner",
            "in/away",
            "in/away/new",
            "in/nowhere",
            "in/nowhere/x",
            "in/../out",
            "in/new/../../out",
            "none",
        ] {
            assert_eq!(
                allowed.check(&path(name)).unwrap_err().code(),
                memory_core::Code::PathRefused,
                "{name}"
            );
        }
        let nothing = AllowedPaths::parse(OsStr::new(":"), Path::to_owned);
        assert!(nothing.check(&path("in")).is_err());
    }
}
