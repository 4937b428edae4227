//! Discovery of the project around a folder.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use memory_agent::mcp::{FoundProject, ProjectFinder};
use memory_core::text::format_error_chain;
use memory_core::{ContentHash, Filter, Memory, ParseError, Scope, StoreError};
use memory_store::conversation::GitVersionsError;
use memory_store::{FileStoreOptions, ForeignFolder, Projects, RepositoryId, check_owner};

use crate::config::Settings;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::Output;
use crate::topics;

/// The project of a folder in a home.
enum FolderProject {
    /// The folder is in no repository.
    None,
    /// The repository belongs to the project with this name.
    Bound(String),
    /// There is no project with the name of the repository's folder.
    New(ProjectFolder),
    /// There is one, and the repository does not belong to it.
    Unbound(ProjectFolder),
}

/// A repository, or another folder of a project.
#[derive(Debug)]
pub(crate) struct ProjectFolder {
    root: PathBuf,
    /// What identifies it; `None` if it has neither a remote nor a marker.
    id: Option<RepositoryId>,
    /// The name of its folder.
    pub(crate) name: String,
    /// The other repositories that belong to the project with this name, or are a candidate.
    pub(crate) others: Vec<RepositoryId>,
}

impl ProjectFolder {
    /// Returns what identifies the repository: a new marker, if there is nothing else.
    fn id_or_marker(&self) -> Result<RepositoryId, StoreError> {
        match &self.id {
            Some(id) => Ok(id.clone()),
            None => RepositoryId::create_marker(&self.root),
        }
    }
}

/// Finds the projects of folders in a home.
#[derive(Debug, Clone)]
pub(crate) struct HomeProjects {
    settings: Arc<Settings>,
    patience: Duration,
}

/// Maximum time for the identification of a repository.
const PATIENCE: Duration = Duration::from_secs(5);

impl ProjectFinder for HomeProjects {
    fn find_project(&self, folder: &Path) -> FoundProject {
        self.find_for_agent(folder).unwrap_or_else(|error| {
            FoundProject::Withheld(format!(
                "the project cannot be determined: {}",
                format_error_chain(&error)
            ))
        })
    }
}

impl HomeProjects {
    /// Returns the projects of the home that the settings specify.
    pub(crate) fn new(settings: &Arc<Settings>) -> Self {
        Self {
            settings: Arc::clone(settings),
            patience: PATIENCE,
        }
    }

    /// Sets the maximum time for the identification of a repository.
    pub(crate) fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Returns the name of the project of `folder` for memories in the files `files` of the program `source`, with this root, which names it
    /// by the name of the folder.
    ///
    /// A name that belongs to another repository, or to an unknown folder, is made unique.
    pub(crate) fn name_for_import(
        &self,
        name: &str,
        folder: Option<&Path>,
        (source, root, files): (&str, Option<&str>, &Path),
    ) -> String {
        let is_plain = |folder: &&Path| {
            folder.is_absolute() && !folder.components().any(|part| part == Component::ParentDir)
        };
        let folder = folder.filter(is_plain);
        if let Some(Ok(FolderProject::Bound(own))) = folder.map(|folder| self.find(folder)) {
            return own;
        }
        let is_free = |projects: Projects| {
            let is_other = |memory: &Memory| {
                let own = memory.origin.as_ref();
                own.is_none_or(|own| own.source != source || Some(own.root.as_str()) != root)
            };
            !projects.is_bound(name) && !self.has_some(name, &is_other).unwrap_or(true)
        };
        if self.load().is_ok_and(is_free) {
            return name.to_owned();
        }
        let place = folder.unwrap_or(files).display().to_string();
        format!("{name}-{}", &ContentHash::of(&place).to_string()[..8])
    }

    /// Returns what identifies the repository at `root`, the strongest evidence first.
    fn ids(&self, root: &Path) -> impl Iterator<Item = Result<RepositoryId, Failure>> {
        RepositoryId::find(root, self.patience).map(|found| found.map_err(unidentified))
    }

    /// Returns the project to which the repository of a folder belongs, if that is known. Nothing is recorded.
    pub(crate) fn bound_project(&self, folder: &Path) -> Option<String> {
        match self.find(folder).ok()? {
            FolderProject::Bound(name) => Some(name),
            _ => None,
        }
    }

    fn find_for_agent(&self, folder: &Path) -> Result<FoundProject, Failure> {
        match self.find(folder)? {
            FolderProject::None => Ok(FoundProject::None),
            FolderProject::Bound(name) => Ok(FoundProject::Named(name)),
            FolderProject::New(repository) if self.root().is_dir() => {
                let id = repository.id_or_marker()?;
                let mut is_first = false;
                Projects::edit(self.root(), |projects| {
                    // Another process may have bound a repository in a folder with the same name.
                    is_first = !projects.is_bound(&repository.name);
                    if is_first {
                        projects.bind(&repository.name, &id);
                    }
                })?;
                if is_first {
                    Ok(FoundProject::Named(repository.name))
                } else {
                    self.withhold(&repository)
                }
            }
            FolderProject::New(repository) => Ok(FoundProject::Named(repository.name)),
            FolderProject::Unbound(repository) => self.withhold(&repository),
        }
    }

    fn withhold(&self, repository: &ProjectFolder) -> Result<FoundProject, Failure> {
        self.add_candidate(repository)?;
        Ok(FoundProject::Withheld(format!(
            "this repository is not confirmed as the project {}, so the memories of that project are withheld; the user can \
             confirm it with `memory project bind` in {}",
            repository.name,
            repository.root.display(),
        )))
    }

    /// Returns the repository of a folder whose project a person must confirm.
    pub(crate) fn find_unconfirmed(&self, folder: &Path) -> Result<Option<ProjectFolder>, Failure> {
        match self.find(folder)? {
            FolderProject::Unbound(repository) => Ok(Some(repository)),
            _ => Ok(None),
        }
    }

    /// Returns the repository of a folder, else the folder itself; `None` if its name is none for a project.
    pub(crate) fn find_repository(&self, folder: &Path) -> Result<Option<ProjectFolder>, Failure> {
        let root = find_project_folder(folder).unwrap_or(folder);
        let Some(name) = folder_name(root) else {
            return Ok(None);
        };
        Ok(Some(ProjectFolder {
            root: root.to_owned(),
            id: self.ids(root).next().transpose()?,
            others: self.load()?.others(&name),
            name,
        }))
    }

    /// Reads the projects.
    pub(crate) fn load(&self) -> Result<Projects, StoreError> {
        Projects::load(self.root())
    }

    /// Adds a repository to a project.
    pub(crate) fn bind(
        &self,
        repository: &ProjectFolder,
        project: &str,
    ) -> Result<RepositoryId, StoreError> {
        let id = repository.id_or_marker()?;
        Projects::edit(self.root(), |projects| projects.bind(project, &id))?;
        Ok(id)
    }

    fn add_candidate(&self, repository: &ProjectFolder) -> Result<(), StoreError> {
        let Some(id) = &repository.id else {
            return Ok(());
        };
        let projects = self.load()?;
        let entry = projects.get(&repository.name);
        if entry.is_some_and(|entry| entry.candidates.contains(id)) {
            return Ok(());
        }
        Projects::edit(self.root(), |projects| {
            projects.add_candidate(&repository.name, id);
        })
    }

    /// Returns a name for another project in a folder with this name.
    fn free_name(&self, name: &str) -> Result<String, Failure> {
        let projects = self.load()?;
        let mut number = 2_u32;
        loop {
            let free = format!("{name}-{number}");
            if !projects.is_bound(&free) && !self.has_data(&free)? {
                return Ok(free);
            }
            number += 1;
        }
    }

    fn root(&self) -> &Path {
        &self.settings.root.value
    }

    fn find(&self, folder: &Path) -> Result<FolderProject, Failure> {
        let Some(root) = find_project_folder(folder) else {
            return Ok(FolderProject::None);
        };
        let Some(name) = folder_name(root) else {
            return Ok(FolderProject::None);
        };
        let projects = self.load()?;
        let mut id = None;
        for found in self.ids(root) {
            let found = found?;
            let Some(name) = projects.find(&found) else {
                id.get_or_insert(found);
                continue;
            };
            if id.is_none() {
                return Ok(FolderProject::Bound(name.to_owned()));
            }
            // A copy of the repository may have a remote of somebody else.
            return Ok(FolderProject::Unbound(ProjectFolder {
                root: root.to_owned(),
                id,
                name: name.to_owned(),
                others: projects.others(name),
            }));
        }
        let mut others = projects.others(&name);
        others.retain(|other| id.as_ref() != Some(other));
        // A repository that is no clone was created on this machine, so memories that were imported before it are its own.
        let is_only = || -> Result<bool, Failure> {
            Ok(id.is_none()
                && others.is_empty()
                && RepositoryId::is_original(root, self.patience).map_err(unidentified)?)
        };
        let is_new = !projects.is_bound(&name) && (!self.has_data(&name)? || is_only()?);
        let repository = ProjectFolder {
            root: root.to_owned(),
            id,
            name,
            others,
        };
        Ok(if is_new {
            FolderProject::New(repository)
        } else {
            FolderProject::Unbound(repository)
        })
    }

    /// Returns whether the home has memories or topics of a project.
    fn has_data(&self, project: &str) -> Result<bool, Failure> {
        self.has_some(project, &|_| true)
    }

    /// Returns whether a project has topics, or a memory for which `is_counted` returns true.
    fn has_some(
        &self,
        project: &str,
        is_counted: &dyn Fn(&Memory) -> bool,
    ) -> Result<bool, Failure> {
        if !self.root().is_dir() && self.settings.store.value.is_none() {
            return Ok(false);
        }
        if topics::has_topics_in_home(&self.settings, project)? {
            return Ok(true);
        }
        let home = Home::with_settings(Arc::clone(&self.settings), FileStoreOptions::default())?;
        let of_project = Filter {
            scope: Some(Scope::Project(project.to_owned())),
            ..Filter::all()
        };
        for stored in home
            .services
            .store
            .memories(&of_project, home.services.clock.now())
        {
            match stored {
                Ok(stored) if is_counted(&stored.memory) => return Ok(true),
                Ok(_) | Err(StoreError::Damaged(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }
}

fn unidentified(error: GitVersionsError) -> Failure {
    Failure::File {
        action: "identify the repository".into(),
        source: match error {
            GitVersionsError::NoGit => io::Error::other("git is not installed"),
            error => io::Error::other(error),
        },
    }
}

/// Asks which project the repository around `folder` belongs to, if that is not known.
pub(crate) fn confirm_project(
    projects: &HomeProjects,
    folder: &Path,
    output: &mut Output,
) -> Result<(), Failure> {
    let Some(repository) = projects.find_unconfirmed(folder)? else {
        return Ok(());
    };
    let name = &repository.name;
    let others: Vec<String> = repository.others.iter().map(ToString::to_string).collect();
    let as_in = if others.is_empty() {
        String::new()
    } else {
        format!(", as in {}", others.join(" and "))
    };
    let remote = repository.id.as_ref();
    let remote = remote.map_or(String::new(), |id| format!(" ({id})"));
    if output.confirm(&format!(
        "Shall agents in {}{remote} receive the memories of the project {name}{as_in}?",
        repository.root.display(),
    ))? {
        let id = projects.bind(&repository, name)?;
        return output.note(&format!(
            "{id} belongs to the project {name}; agents in it receive its memories"
        ));
    }
    let own = projects.free_name(name)?;
    let id = projects.bind(&repository, &own)?;
    output.note(&format!(
        "{id} belongs to the new project {own}; `memory project bind NAME` chooses another one"
    ))
}

/// Returns the name of a folder as that of a project.
fn folder_name(folder: &Path) -> Option<String> {
    parse_project(folder.file_name()?.to_str()?).ok()
}

/// Returns the folder of the project around `folder`: its repository, else the nearest folder with a marker.
fn find_project_folder(folder: &Path) -> Option<&Path> {
    match nearest_repository(folder) {
        Some(_) => find_repository(folder),
        None => folder.ancestors().find(|folder| {
            let marker = folder.join(".memory");
            marker.join(".project").exists() && check_marked(&marker).is_ok()
        }),
    }
}

/// Parses the name of a project.
pub(crate) fn parse_project(text: &str) -> Result<String, ParseError> {
    let name = text.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(ParseError::new(text, "a project name"));
    }
    Ok(name.to_owned())
}

/// Returns whether the path is a folder and not a symlink.
///
/// Content of a repository must not lead outside of it.
pub(crate) fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Files and folders that only a home of memories has.
const HOME_MARKS: [&str; 3] = ["categories", "config.yaml", "replica.json"];

/// Returns whether a folder is a home of memories, which is not the folder of a project.
pub(crate) fn is_home(folder: &Path) -> bool {
    HOME_MARKS.iter().any(|mark| folder.join(mark).exists())
}

/// Returns the root of the repository that contains `folder`; `None` if other users can change it.
pub(crate) fn find_repository(folder: &Path) -> Option<&Path> {
    nearest_repository(folder).filter(|root| check_repository(root).is_ok())
}

fn nearest_repository(folder: &Path) -> Option<&Path> {
    folder
        .ancestors()
        .find(|folder| folder.join(".git").exists())
}

fn check_repository(root: &Path) -> Result<(), ForeignFolder> {
    check_owner(root)?;
    check_owner(&root.join(".git"))
}

/// Checks that only this user can change a folder of a project and its marker, such as `.memory`.
pub(crate) fn check_marked(marker: &Path) -> Result<(), ForeignFolder> {
    marker.parent().map_or(Ok(()), check_owner)?;
    check_owner(marker)
}

/// Returns why the project around `folder` is not used although it exists, if so.
pub(crate) fn find_foreign_project(folder: &Path) -> Option<ForeignFolder> {
    match nearest_repository(folder) {
        Some(root) => check_repository(root).err(),
        None => [".memory", ".slop-mcp"]
            .map(|marker| folder.join(marker))
            .into_iter()
            .filter(|marker| marker.exists() && !is_home(marker))
            .find_map(|marker| check_marked(&marker).err()),
    }
}

/// Returns `folder` and its ancestors up to the repository's root; only `folder` without a repository.
pub(crate) fn ancestors_in_repository(folder: &Path) -> impl Iterator<Item = &Path> {
    let end = find_repository(folder).unwrap_or(folder);
    folder
        .ancestors()
        .take_while(move |folder| folder.starts_with(end))
}
