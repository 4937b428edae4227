//! The projects of a home, and the repositories that belong to them.
//!
//! A repository is identified by the address of its remote, else by its first commit, else by a marker in its folder `.memory`, and
//! never by its path or name. The name of a project is a label, by which the scope `project:NAME` is shown.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::once_with;
use std::path::Path;
use std::time::Duration;

use memory_core::uuid::Uuid;
use memory_core::{ContentHash, IdSource, RandomIds, StoreError};
use serde::{Deserialize, Serialize};

use crate::conversation::{GitVersionsError, first_commit, remote_address};
use crate::disk::LazyDisk;
use crate::edit::edit_file;
use crate::error::{read_error, write_error};

/// The file with the projects, in the home.
const FILE: &str = "projects.json";

/// The file with the marker, in the folder `.memory` of a repository.
///
/// It is hidden, because the other files there are topics.
const MARKER: &str = ".project";

/// Maximum number of candidates of a project.
const MAX_CANDIDATES: usize = 16;

/// What identifies a repository: `remote:HOST/PATH`, `commit:HASH` or `marker:ID`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepositoryId(String);

impl fmt::Display for RepositoryId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl RepositoryId {
    /// Returns the ids of the repository at `root`, the one that identifies it first. A later one is found only if it is asked for.
    ///
    /// # Errors
    /// An id is an error if it cannot be determined within `patience`: the repository may be another one than the later ids say.
    pub fn find(
        root: &Path,
        patience: Duration,
    ) -> impl Iterator<Item = Result<Self, GitVersionsError>> {
        once_with(move || Self::of_remote(root, patience))
            .chain(once_with(move || Self::of_first_commit(root, patience)))
            .chain(once_with(move || Ok(Self::of_marker(root))))
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
            let path = remote_path(&address);
            // An address of another form is equal to itself alone. It may contain a password.
            let path = path.unwrap_or_else(|| format!("sha256-{}", ContentHash::of(&address)));
            Self(format!("remote:{path}"))
        }))
    }

    /// Returns the id by the first commit of the repository at `root`.
    fn of_first_commit(root: &Path, patience: Duration) -> Result<Option<Self>, GitVersionsError> {
        if !root.join(".git").exists() {
            return Ok(None);
        }
        let commit = first_commit(root, patience)?;
        Ok(commit.map(|commit| Self(format!("commit:{commit}"))))
    }

    /// Returns the id by the marker in the folder at `root`.
    fn of_marker(root: &Path) -> Option<Self> {
        let (bytes, _) = marker_folder(root).get().ok()??.read(MARKER).ok()??;
        let marker = str::from_utf8(&bytes).ok()?.trim().parse::<Uuid>().ok()?;
        Some(Self(format!("marker:{}", marker.simple())))
    }

    /// Writes a new marker into the folder at `root`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create_marker(root: &Path) -> Result<Self, StoreError> {
        let marker = Uuid::from(RandomIds.memory_id()).simple();
        let folder = marker_folder(root);
        let write = || {
            let disk = folder.get_or_create()?;
            disk.write(MARKER, format!("{marker}\n").as_bytes())?;
            disk.sync_file(MARKER)?;
            disk.sync_folder("")
        };
        write().map_err(write_error(".memory/.project"))?;
        Ok(Self(format!("marker:{marker}")))
    }

    /// Returns whether this is the address of a remote.
    pub fn is_remote(&self) -> bool {
        self.kind() == "remote"
    }

    /// Returns how the repository is identified: `remote`, `commit` or `marker`.
    fn kind(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }
}

fn marker_folder(root: &Path) -> LazyDisk {
    LazyDisk::in_project(root.join(".memory"), 1)
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

/// Returns the host and the path of the address of a remote, which are the same for each protocol.
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
    is_named.then(|| format!("{user}{host}/{path}"))
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
        let bytes = read().map_err(|error| read_error(FILE, error))?;
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

    /// Returns the project of a repository with these ids, of which the first identifies it.
    ///
    /// A later id counts if the project has no repository with an id of an earlier kind: a repository received its remote or its first
    /// commit after its project was bound.
    pub fn find(&self, ids: &[RepositoryId]) -> Option<&str> {
        ids.iter().enumerate().find_map(|(index, id)| {
            let is_weaker = |entry: &ProjectEntry| {
                ids[..index].iter().any(|earlier| {
                    entry
                        .repositories
                        .iter()
                        .any(|own| own.kind() == earlier.kind())
                })
            };
            self.0
                .iter()
                .find(|(_, entry)| entry.repositories.contains(id) && !is_weaker(entry))
                .map(|(name, _)| name.as_str())
        })
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

    /// Adds the repository with these ids to a project, and removes it from the others.
    pub fn bind(&mut self, name: &str, ids: &[RepositoryId]) {
        for entry in self.0.values_mut() {
            entry.repositories.retain(|id| !ids.contains(id));
            entry.candidates.retain(|id| !ids.contains(id));
        }
        let entry = self.0.entry(name.to_owned()).or_default();
        entry.repositories.extend_from_slice(ids);
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
    serde_json::from_slice(bytes).map_err(|error| read_error(FILE, error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(texts: &[&str]) -> Vec<RepositoryId> {
        texts
            .iter()
            .map(|id| RepositoryId((*id).to_owned()))
            .collect()
    }

    #[test]
    fn each_address_of_a_remote_has_one_path() {
        for address in [
            "https://github.com/ann/acme.git",
            "https://ann:token@GitHub.com:443/ann/acme",
            "http://github.com/ann/acme/",
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
            Some("localhost:3000/ann/acme")
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
    fn a_repository_keeps_its_project_when_it_receives_a_remote() {
        let mut projects = Projects::default();
        projects.bind("acme", &ids(&["commit:1"]));
        let with_remote = ids(&["remote:a/acme", "commit:1"]);
        assert_eq!(projects.find(&with_remote), Some("acme"));
        projects.bind("acme", &with_remote);
        assert_eq!(
            projects.find(&ids(&["remote:b/acme", "commit:1"])),
            None,
            "a fork"
        );
        assert_eq!(projects.find(&ids(&["remote:a/acme"])), Some("acme"));
    }

    #[test]
    fn a_repository_belongs_to_one_project() {
        let home = tempfile::tempdir().expect("a folder");
        let own = ids(&["remote:a/acme"]);
        assert_eq!(
            Projects::load(home.path()).expect("nothing"),
            Projects::default()
        );
        for name in ["acme", "other"] {
            Projects::edit(home.path(), |projects| {
                projects.add_candidate("acme", &own[0]);
                projects.bind(name, &own);
            })
            .expect("an edit");
        }
        let projects = Projects::load(home.path()).expect("the projects");
        assert_eq!(projects.find(&own), Some("other"));
        assert_eq!(projects.get("acme"), Some(&ProjectEntry::default()));
    }

    #[test]
    fn a_repository_that_cannot_be_read_in_time_is_not_taken_for_another_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let git = folder.path().join(".git");
        for path in ["refs/heads", "objects"] {
            std::fs::create_dir_all(git.join(path)).expect("a folder");
        }
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
        std::fs::write(git.join("config"), "").expect("a file");
        let marker = RepositoryId::create_marker(folder.path()).expect("a marker");
        let find = || {
            RepositoryId::find(folder.path(), Duration::from_millis(500))
                .next()
                .expect("an id or an error")
        };
        assert_eq!(find(), Ok(marker));
        let made = std::process::Command::new("mkfifo")
            .arg(git.join("packed-refs"))
            .status();
        assert!(made.expect("mkfifo").success());
        find().expect_err("git waits for the other end");
    }

    #[test]
    fn a_marker_is_read_through_no_symlink() {
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let [own, other] = folders.each_ref().map(tempfile::TempDir::path);
        let marker = RepositoryId::create_marker(own).expect("a marker");
        assert_eq!(RepositoryId::of_marker(own), Some(marker));
        std::os::unix::fs::symlink(own.join(".memory"), other.join(".memory")).expect("a symlink");
        assert_eq!(RepositoryId::of_marker(other), None);
        assert!(RepositoryId::create_marker(other).is_err());
    }
}
