//! The methods of a home for programs that embed this crate.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_agent::AgentBuilder;
use memory_agent::mcp::ProjectFinder;
use memory_core::{Memories, Services};
use memory_store::FileStoreOptions;

use crate::agent::{self, AgentOptions};
use crate::banks;
use crate::chat_proxy::ProxyBuilder;
use crate::config::{Environment, Settings};
use crate::daemon::DaemonBuilder;
use crate::embedding;
use crate::failure::{Failure, ProgramError};
use crate::home::{Home, KEPT};
use crate::instances;
use crate::project::HomeProjects;
use crate::reranking;
use crate::topics;

impl Home {
    /// Opens the home in the folder `root`, which is created if it is missing, with the settings in its `config.yaml`. A leading `~` is
    /// not replaced.
    ///
    /// No environment variable is read, except `TZ` for the local time zone if the settings have no `timezone`;
    /// [`Self::open_with`] reads the environment on request. The default home of a user must be opened with it, because some data
    /// of that home is in other folders of the user: the definitions and states of instances.
    ///
    /// # Errors
    /// If the settings are invalid, or the folder cannot be used.
    pub fn open(root: &Path) -> Result<Self, ProgramError> {
        Self::open_with(Some(root), &Environment::default())
    }

    /// Opens a home in an environment, like the command `memory`: in the folder `root`, else in that of the environment.
    ///
    /// # Errors
    /// If the settings are invalid, or the folder is unknown or cannot be used.
    pub fn open_with(root: Option<&Path>, environment: &Environment) -> Result<Self, ProgramError> {
        let settings = Settings::load(root, environment).map_err(Failure::from)?;
        let options = FileStoreOptions {
            kept: KEPT,
            ..FileStoreOptions::default()
        };
        Ok(Self::with_settings(Arc::new(settings), options)?)
    }

    /// Returns the folder of the home.
    pub fn root(&self) -> &Path {
        self.store.root()
    }

    /// Returns the memories, with the models of the settings. Models are opened on first use.
    ///
    /// The log names `api` as the author of changes.
    pub fn memories(&self) -> Memories {
        Services {
            embedder: embedding::open_lazily(&self.settings),
            reranking: reranking::open_lazily(&self.settings.reranking),
            actor: "api".into(),
            ..self.services.clone()
        }
        .into()
    }

    /// Returns the builder of an agent with the usual tools, and with the models, hooks, banks, topics and instances of the
    /// settings.
    ///
    /// There are topics if the environment has a current folder; see [`Environment::with_folder`].
    ///
    /// # Errors
    /// If the folder of the topics or the keys of the instances are invalid.
    pub fn agent(&self) -> Result<AgentBuilder, ProgramError> {
        let embedder = embedding::open_lazily(&self.settings);
        let instances = Some(instances::open_cached(&self.settings)?);
        Ok(agent::agent_builder(
            self,
            AgentOptions {
                embedder,
                instances,
                ..AgentOptions::default()
            },
        )?)
    }

    /// Returns the builder of a daemon, which maintains the memories and serves agents in this process.
    ///
    /// ```
    /// use memory_cli::Home;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let root = folder.path().join("home");
    /// let daemon = Home::open(&root)?.daemon().http(([127, 0, 0, 1], 0).into()).start()?;
    /// println!("socket: {:?}, HTTP: {:?}", daemon.socket(), daemon.http_address());
    /// daemon.stop()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn daemon(&self) -> DaemonBuilder {
        DaemonBuilder::new(self.clone())
    }

    /// Returns the builder of a chat proxy, which adds memories to chats of applications with a model server.
    ///
    /// ```
    /// use memory_cli::Home;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let root = folder.path().join("home");
    /// let home = Home::open(&root)?;
    /// let proxy = home.proxy().model_server("http://localhost:11434/v1").address(([127, 0, 0, 1], 0).into()).start()?;
    /// println!("applications use {} as their base URL", proxy.base_url());
    /// proxy.stop()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn proxy(&self) -> ProxyBuilder {
        let services = self.services.clone();
        ProxyBuilder::new(
            Arc::clone(&self.settings),
            Arc::new(move || Ok(Some(services.clone()))),
        )
    }

    /// Returns the folders that belong to the project around the current folder of the environment.
    pub fn project(&self) -> Project {
        Project {
            name: self
                .settings
                .environment
                .folder
                .as_deref()
                .and_then(|folder| {
                    HomeProjects::new(&self.settings)
                        .find_project(folder)
                        .name()
                }),
            topics: topics::project_folder(&self.settings),
            banks: banks::bank_folders(&self.settings),
        }
    }
}

/// The data of a project; see [`Home::project`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Project {
    /// The name; `None` outside of a repository, and in one whose project a person has not confirmed.
    pub name: Option<String>,
    /// The folder of the topics, which may not exist yet; `None` outside of a project.
    pub topics: Option<PathBuf>,
    /// The folders of the banks in order of precedence, those of the user last. They may not exist yet.
    pub banks: Vec<PathBuf>,
}
