//! The projects of a home, and the repositories that belong to them.
//!
//! A repository is identified by the address of its remote, else by a marker in its folder `.git`, and never by its path or name. Its
//! first commit identifies nothing: forks and the copies of a template have it too. The name of a project is a label, by which the scope
//! `project:NAME` is shown.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::iter::once_with;
use std::path::Path;
use std::time::Duration;

use memory_core::uuid::Uuid;
use memory_core::{ContentHash, IdSource, RandomIds, StoreError};
use serde::{Deserialize, Serialize};

use crate::conversation::{GitVersionsError, remote_address, repository_folder};
use crate::disk::LazyDisk;
use crate::edit::edit_file;
use crate::error::{read_error, write_error};

/// The file with the projects, in the home.
const FILE: &str = "projects.json";

/// The file with the marker, in the folder `.git` of a repository. A clone or an archive of the files does not contain it.
const MARKER: &str = "memory.project";

/// The file with the marker, in the folder `.memory` of a project without a repository.
///
/// It is hidden, because the other files there are topics.
const FOLDER_MARKER: &str = ".project";

/// Maximum length of an address in the file of projects, in bytes. A longer one is hashed.
const MAX_ADDRESS: usize = 1024;

/// Maximum number of candidates of a project.
const MAX_CANDIDATES: usize = 16;

/// What identifies a repository: `remote:HOST/PATH` or `marker:ID`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepositoryId(String);

impl fmt::Display for RepositoryId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl RepositoryId {
    /// Returns the ids of the repository at `root`, the one that identifies it first. The later one is found only if it is asked for.
    ///
    /// # Errors
    /// An id is an error if it cannot be determined within `patience`: the repository may be another one than the later id says.
    pub fn find(
        root: &Path,
        patience: Duration,
    ) -> impl Iterator<Item = Result<Self, GitVersionsError>> {
        once_with(move || Self::of_remote(root, patience))
            .chain(once_with(move || {
                Self::of_marker(root).map_err(|error| GitVersionsError::Refused {
                    action: "read the marker of the project".into(),
                    why: error.to_string(),
                })
            }))
            .filter_map(Result::transpose)
    }

    /// Returns the id by the remote of the repository at `root`; `None` if it has none on another machine.
    fn of_remote(root: &Path, patience: Duration) -> Result<Option<Self>, GitVersionsError> {
        if !root.join(".git").exists() {
            return Ok(None);
        }
        let address = remote_address(root, patience)?;
        let of_other_machine = address.filter(|address| !is_local_address(address));
        Ok(of_other_machine.map(|address| {
            let path = remote_path(&address).filter(|path| path.len() <= MAX_ADDRESS);
            // An address of another form is equal to itself alone. It may contain a password.
            let path = path.unwrap_or_else(|| format!("sha256-{}", ContentHash::of(&address)));
            Self(format!("remote:{path}"))
        }))
    }

    /// Returns whether there is a repository at `root` that has no remote, so that it is no clone.
    ///
    /// # Errors
    /// If git does not answer within `patience`.
    pub fn is_original(root: &Path, patience: Duration) -> Result<bool, GitVersionsError> {
        Ok(root.join(".git/HEAD").is_file() && remote_address(root, patience)?.is_none())
    }

    /// Returns the id by the marker of the repository or folder at `root`. A marker that cannot be read is an error: a new one would
    /// replace it.
    fn of_marker(root: &Path) -> io::Result<Option<Self>> {
        let (folder, name) = marker_place(root)?;
        let read = folder.get()?.map_or(Ok(None), |disk| disk.read(name))?;
        let text = read.and_then(|(bytes, _)| String::from_utf8(bytes).ok());
        let marker = text.and_then(|text| text.trim().parse::<Uuid>().ok());
        Ok(marker.map(|marker| Self(format!("marker:{}", marker.simple()))))
    }

    /// Writes a new marker into the repository or folder at `root`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create_marker(root: &Path) -> Result<Self, StoreError> {
        let marker = Uuid::from(RandomIds.memory_id()).simple();
        let write = || {
            let (folder, name) = marker_place(root)?;
            let disk = folder.get_or_create()?;
            disk.write(name, format!("{marker}\n").as_bytes())?;
            disk.sync_file(name)?;
            disk.sync_folder("")
        };
        write().map_err(write_error("the marker of the project"))?;
        Ok(Self(format!("marker:{marker}")))
    }
}

/// Returns the folder and the name of the marker of the repository or folder at `root`.
fn marker_place(root: &Path) -> io::Result<(LazyDisk, &'static str)> {
    if root.join(".git").exists() {
        Ok((LazyDisk::new(repository_folder(root)?), MARKER))
    } else {
        Ok((LazyDisk::in_project(root.join(".memory"), 1), FOLDER_MARKER))
    }
}

/// Returns whether the address of a remote is a folder of this machine, which may move.
fn is_local_address(address: &str) -> bool {
    let is_drive =
        address.as_bytes().get(1) == Some(&b':') && address.as_bytes()[0].is_ascii_alphabetic();
    let before_colon = address.split(':').next().unwrap_or_default();
    address.starts_with("file://")
        || is_drive
        || before_colon.contains('/')
        || !address.contains(':')
}

/// Returns the host and the path of the address of a remote, which are the same for each protocol that authenticates the host.
///
/// `None` if git could connect to another host than the one that is read here: the form of the address is strict.
fn remote_path(address: &str) -> Option<String> {
    let (scheme, authority, path) = if let Some((scheme, rest)) = address.split_once("://") {
        let (authority, path) = rest.split_once('/')?;
        (scheme, authority, path)
    } else {
        // USER@HOST:PATH
        let (authority, path) = address.split_once(':')?;
        ("ssh", authority, path)
    };
    let port = match scheme.to_ascii_lowercase().as_str() {
        "https" => ":443",
        "http" => ":80",
        "ssh" | "git+ssh" | "ssh+git" => ":22",
        "git" => ":9418",
        _ => return None,
    };
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_plain = |text: &str, others: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || others.as_bytes().contains(&byte))
    };
    let is_path = path
        .chars()
        .all(|letter| letter.is_alphanumeric() || "/-._~+%".contains(letter));
    // git decodes addresses of other protocols before it looks for the host.
    let in_user = if scheme.starts_with("http") {
        "-._~+%:"
    } else {
        "-._~+"
    };
    if !is_plain(user, in_user) || !is_plain(host, "-._:[]") || !is_path {
        return None;
    }
    let host = host.strip_suffix(port).unwrap_or(host).to_lowercase();
    // A path that the server looks for in the home of the user depends on the user.
    let is_in_home = path.starts_with('~')
        || !address.contains("://") && !path.starts_with('/') && !["", "git"].contains(&user);
    let name = user.split(':').next().unwrap_or_default();
    let user = if is_in_home {
        format!("{name}@")
    } else {
        String::new()
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let is_named =
        !host.is_empty() && !path.is_empty() && !path.split('/').any(|part| part == "..");
    // Anyone between, or another user of the machine, can serve the others.
    let protocol = match port {
        ":80" => "http://",
        ":9418" => "git://",
        _ => "",
    };
    is_named.then(|| format!("{protocol}{user}{host}/{path}"))
}

/// The projects of a home by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Projects(BTreeMap<String, ProjectEntry>);

/// The repositories of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProjectEntry {
    /// The repositories that receive the memories of the project.
    #[serde(default)]
    pub repositories: Vec<RepositoryId>,
    /// Repositories in a folder with the name of the project, in which agents asked for its memories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<RepositoryId>,
}

impl Projects {
    /// Reads the projects of the home at `root`.
    ///
    /// # Errors
    /// If the file cannot be read, or is not one of this program.
    pub fn load(root: &Path) -> Result<Self, StoreError> {
        let disk = LazyDisk::new(root.to_owned());
        let read = || disk.get()?.map_or(Ok(None), |disk| disk.read(FILE));
        let bytes = read().map_err(read_error(FILE))?;
        bytes.map_or(Ok(Self::default()), |(bytes, _)| parse(&bytes))
    }

    /// Changes the projects of the home at `root`.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn edit(root: &Path, change: impl FnOnce(&mut Self)) -> Result<(), StoreError> {
        edit_file(&root.join(FILE), |text| {
            let mut projects = if text.is_empty() {
                Self::default()
            } else {
                parse(text.as_bytes())?
            };
            change(&mut projects);
            let text = serde_json::to_string_pretty(&projects);
            text.map(|text| text + "\n")
                .map_err(|error| write_error(FILE)(error.into()))
        })
    }

    /// Returns the project of the repository with an id.
    pub fn find(&self, id: &RepositoryId) -> Option<&str> {
        self.iter()
            .find(|(_, entry)| entry.repositories.contains(id))
            .map(|(name, _)| name)
    }

    /// Returns the projects by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ProjectEntry)> {
        self.0.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    /// Returns a project.
    pub fn get(&self, name: &str) -> Option<&ProjectEntry> {
        self.0.get(name)
    }

    /// Returns whether a repository belongs to a project with this name.
    pub fn is_bound(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|entry| !entry.repositories.is_empty())
    }

    /// Returns the repositories of a project and its candidates.
    pub fn others(&self, name: &str) -> Vec<RepositoryId> {
        let entry = self.get(name).cloned().unwrap_or_default();
        [entry.repositories, entry.candidates].concat()
    }

    /// Adds the repository with an id to a project, and removes it from the others.
    pub fn bind(&mut self, name: &str, id: &RepositoryId) {
        for entry in self.0.values_mut() {
            entry.repositories.retain(|own| own != id);
            entry.candidates.retain(|own| own != id);
        }
        let entry = self.0.entry(name.to_owned()).or_default();
        entry.repositories.push(id.clone());
    }

    /// Records that an agent in the repository asked for the memories of a project.
    pub fn add_candidate(&mut self, name: &str, id: &RepositoryId) {
        let entry = self.0.entry(name.to_owned()).or_default();
        if !entry.candidates.contains(id) && entry.candidates.len() < MAX_CANDIDATES {
            entry.candidates.push(id.clone());
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Projects, StoreError> {
    serde_json::from_slice(bytes).map_err(|error| read_error(FILE)(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_of_a_remote_has_one_path() {
        for address in [
            "https://github.com/ann/acme.git",
            "https://ann:token@GitHub.com:443/ann/acme",
            "https://github.com/ann/acme/",
            "ssh://git@github.com:22/ann/acme.git",
            "git@github.com:ann/acme.git",
            "github.com:/ann/acme",
        ] {
            assert_eq!(
                remote_path(address).as_deref(),
                Some("github.com/ann/acme"),
                "{address}"
            );
        }
        assert_eq!(
            remote_path("http://localhost:3000/ann/acme").as_deref(),
            Some("http://localhost:3000/ann/acme")
        );
        assert_eq!(
            remote_path("git://github.com:9418/ann/acme").as_deref(),
            Some("git://github.com/ann/acme")
        );
        for local in [
            "/srv/acme.git",
            "../acme",
            "./a:b",
            "file:///srv/acme",
            "C:\\acme",
            "acme",
        ] {
            assert!(is_local_address(local), "{local}");
        }
        assert_eq!(
            remote_path("ann@server:acme").as_deref(),
            Some("ann@server/acme")
        );
        // git connects to another host than a reader may think.
        for odd in [
            "http://evil?@github.com/ann/acme",
            "http://evil#@github.com/ann/acme",
            "http://evil\\@github.com/ann/acme",
            "http::http://evil/acme",
            "ext::sh -c true",
            "https://github.com/ann/acme?x",
            "https://github.com/ann/../eve/acme",
            "https://git hub.com/ann/acme",
            "https://github.com\u{a}/ann/acme",
            "ftp://github.com/ann/acme",
            "git://evil%2Fx@github.com/ann/acme",
            "ssh://evil:22@github.com/ann/acme",
            "ssh://evil.com%2Fx@github.com/ann/acme",
            "https://github.com",
            "https:///acme",
        ] {
            assert!(!is_local_address(odd), "{odd}");
            assert_eq!(remote_path(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_repository_belongs_to_one_project() {
        let home = tempfile::tempdir().expect("a folder");
        let own = RepositoryId("remote:a/acme".to_owned());
        assert_eq!(
            Projects::load(home.path()).expect("nothing"),
            Projects::default()
        );
        for name in ["acme", "other"] {
            Projects::edit(home.path(), |projects| {
                projects.add_candidate("acme", &own);
                projects.bind(name, &own);
            })
            .expect("an edit");
        }
        let projects = Projects::load(home.path()).expect("the projects");
        assert_eq!(projects.find(&own), Some("other"));
        assert_eq!(projects.get("acme"), Some(&ProjectEntry::default()));
    }

    #[test]
    fn a_marker_is_read_through_no_symlink() {
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let [own, other] = folders.each_ref().map(tempfile::TempDir::path);
        let marker = RepositoryId::create_marker(own).expect("a marker");
        assert_eq!(
            RepositoryId::of_marker(own).expect("a marker"),
            Some(marker)
        );
        std::os::unix::fs::symlink(own.join(".memory"), other.join(".memory")).expect("a symlink");
        RepositoryId::of_marker(other).expect_err("a symlink");
        assert!(RepositoryId::create_marker(other).is_err());
    }
}
