//! The environment variables and folders of the process.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_agent::http::AccessToken;
use memory_agent::model::{ApiKey, ApiKeyError};
use memory_core::{Clock, SystemClock};
use memory_store::sealed::MasterKey;
use memory_store::system::{is_accessible_to_others, user_id_of_owner};

/// The environment variables and folders of a process. An empty variable counts as unset.
///
/// [`Environment::default`] has no variables and no folders; programs that embed this crate add the ones that they need.
#[derive(Clone, Default)]
pub struct Environment {
    /// The user's home folder.
    pub(crate) home: Option<PathBuf>,
    /// The current folder at the start.
    pub(crate) folder: Option<PathBuf>,
    /// `MEMORY_ROOT`: the folder of the memories.
    pub(crate) root: Option<PathBuf>,
    /// `MEMORY_CONFIG`: the settings file, if not `config.yaml` in the memories' home.
    pub(crate) config: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`: the folder of Claude Code, if not `~/.claude`.
    pub(crate) claude: Option<PathBuf>,
    /// `CODEX_HOME`: the folder of Codex, if not `~/.codex`.
    pub(crate) codex: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`: the parent of the folder of Gemini CLI, if not the home folder.
    pub(crate) gemini: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`: the folder for settings of programs, if not `~/.config`.
    pub(crate) config_folder: Option<PathBuf>,
    /// `MEMORY_EMBEDDING_MODEL`: the embedding model, as in the setting.
    pub(crate) embedding_model: Option<String>,
    /// `MEMORY_RERANKING_MODEL`: the folder of the reranking model.
    pub(crate) reranking_model: Option<PathBuf>,
    /// `MEMORY_LLM_BASE_URL`: the address of the language model.
    pub(crate) llm_base_url: Option<String>,
    /// `MEMORY_LLM_MODEL`: the name of the language model on its server.
    pub(crate) llm_model: Option<String>,
    /// `MEMORY_LLM_API_KEY`: the API key of the language model.
    pub(crate) llm_api_key: Option<Result<ApiKey, ApiKeyError>>,
    /// `OPENAI_API_KEY`: the API key of the server behind a proxy, for clients that send no key.
    pub(crate) openai_api_key: Option<Result<ApiKey, ApiKeyError>>,
    /// `MEMO_STORE_DIR`: the folder of the instance definitions, if not `~/.config/memo/instances`.
    pub(crate) memo_store_dir: Option<PathBuf>,
    /// `MEMO_STATE_DIR`: the folder of the instances' state, if not `~/.local/state/memo/state`.
    pub(crate) memo_state_dir: Option<PathBuf>,
    /// `MEMO_KEY_DIR`: the folder of `master.key`, if not `~/.config/memo`.
    pub(crate) memo_key_dir: Option<PathBuf>,
    /// `MEMO_MASTER_KEY`: the key that encrypts secrets, in place of `master.key`; an error if invalid.
    pub(crate) memo_master_key: Option<Result<MasterKey, ()>>,
    /// `MEMO_NEW_MASTER_KEY`: the key for `rekey`, if `MEMO_MASTER_KEY` is set; an error if invalid.
    pub(crate) memo_new_master_key: Option<Result<MasterKey, ()>>,
    /// `MEMO_ALLOWED_PATHS`: the folders that may contain instances.
    pub(crate) memo_allowed_paths: Option<OsString>,
    /// `MEMORY_TRUSTED_FOLDERS`: folders that are used although other users can change them.
    pub(crate) trusted_folders: Vec<PathBuf>,
    /// `MEMO_AUTH_TOKEN`: the token for HTTP requests; an error if it is invalid in a header.
    pub(crate) memo_auth_token: Option<Result<AccessToken, ()>>,
    /// `VISUAL`, else `EDITOR`.
    pub(crate) editor: Option<String>,
    /// `PATH`: the folders of programs.
    pub(crate) path: Option<OsString>,
    /// Whether a service manager started this process, by `NOTIFY_SOCKET`; it may have passed a listener.
    pub(crate) is_service: bool,
    /// Whether `DBUS_SESSION_BUS_ADDRESS` or `DISPLAY` is set, which indicates a desktop session.
    pub(crate) has_desktop: bool,
    /// `XDG_RUNTIME_DIR`, else its default for the owner of the home folder; it contains the D-Bus socket.
    pub(crate) runtime: Option<PathBuf>,
    /// The path of the program `memory`.
    pub(crate) program: Option<PathBuf>,
    /// Whether terminals may be colored: `NO_COLOR` is unset, and `TERM` is set on Unix and not `dumb`.
    pub(crate) colors: bool,
    /// `SSL_CERT_FILE`: the file of trusted certificate authorities in place of the built-in ones.
    pub(crate) certificates: Option<PathBuf>,
    /// The function that reads `MEMORY_PROXY_…` and the variables with API keys that the settings name; `None` if there are no
    /// variables.
    pub(crate) variables: Option<fn(&str) -> Option<String>>,
    /// The clock, if not that of the system.
    pub(crate) clock: Option<Arc<dyn Clock>>,
}

impl Environment {
    /// Reads the environment of this process: the variables of `memory`, the home folder and the current folder.
    ///
    /// Only this constructor reads the environment, apart from the variables of systemd, which the daemon reads if it is a service.
    /// Those of the proxy are read with its settings, and those with API keys when the models are opened. The path of the program is not set,
    /// because this process may be another program; see [`Self::with_program`].
    pub fn from_process() -> Self {
        let text = |name: &str| variable(name).and_then(|value| value.into_string().ok());
        Self {
            home: etcetera::home_dir().ok(),
            folder: env::current_dir().ok(),
            root: variable("MEMORY_ROOT").map(PathBuf::from),
            config: variable("MEMORY_CONFIG").map(PathBuf::from),
            claude: variable("CLAUDE_CONFIG_DIR").map(PathBuf::from),
            codex: variable("CODEX_HOME").map(PathBuf::from),
            gemini: variable("GEMINI_CLI_HOME").map(PathBuf::from),
            config_folder: variable("XDG_CONFIG_HOME").map(PathBuf::from),
            embedding_model: text("MEMORY_EMBEDDING_MODEL"),
            reranking_model: variable("MEMORY_RERANKING_MODEL").map(PathBuf::from),
            llm_base_url: text("MEMORY_LLM_BASE_URL"),
            llm_model: text("MEMORY_LLM_MODEL"),
            llm_api_key: variable("MEMORY_LLM_API_KEY")
                .map(|key| key.to_str().unwrap_or_default().parse()),
            openai_api_key: variable("OPENAI_API_KEY")
                .map(|key| key.to_str().unwrap_or_default().parse()),
            memo_store_dir: variable("MEMO_STORE_DIR").map(PathBuf::from),
            memo_state_dir: variable("MEMO_STATE_DIR").map(PathBuf::from),
            memo_key_dir: variable("MEMO_KEY_DIR").map(PathBuf::from),
            memo_master_key: master_key("MEMO_MASTER_KEY"),
            memo_new_master_key: master_key("MEMO_NEW_MASTER_KEY"),
            memo_allowed_paths: variable("MEMO_ALLOWED_PATHS"),
            trusted_folders: variable("MEMORY_TRUSTED_FOLDERS")
                .map(|folders| env::split_paths(&folders).collect())
                .unwrap_or_default(),
            memo_auth_token: variable("MEMO_AUTH_TOKEN")
                .map(|text| token(text.into_string().unwrap_or_default())),
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            path: variable("PATH"),
            is_service: variable("NOTIFY_SOCKET").is_some(),
            has_desktop: ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY"]
                .into_iter()
                .any(|name| variable(name).is_some()),
            runtime: variable("XDG_RUNTIME_DIR")
                .map(PathBuf::from)
                .or_else(usual_runtime),
            program: None,
            colors: variable("NO_COLOR").is_none()
                && variable("TERM").map_or(cfg!(windows), |term| term != "dumb"),
            certificates: variable("SSL_CERT_FILE").map(PathBuf::from),
            variables: Some(|name| env::var(name).ok()),
            clock: None,
        }
    }

    /// Sets the home folder of the user, which contains the files of clients and the default home of the memories.
    #[must_use]
    pub fn with_home(mut self, home: &Path) -> Self {
        self.home = Some(home.to_owned());
        self
    }

    /// Sets the current folder, which determines the project.
    #[must_use]
    pub fn with_folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Sets the path of the program `memory`.
    ///
    /// Clients start it, and it runs jq filters of banks and commits to git. Without it, there are neither filters nor commits.
    #[must_use]
    pub fn with_program(mut self, program: &Path) -> Self {
        self.program = Some(program.to_owned());
        self
    }

    /// Sets the clock of the memories; the times in logs remain those of the system.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Returns the clock.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone().unwrap_or_else(|| Arc::new(SystemClock))
    }

    /// Returns the value of a variable that the settings name; it may be empty.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.variables.and_then(|read| read(name))
    }

    /// Returns the folder of the runtime, if it belongs to the owner of the home folder and nobody else has access to it.
    pub(crate) fn private_runtime(&self) -> Option<&Path> {
        let (runtime, home) = (self.runtime.as_deref()?, self.home.as_deref()?);
        let is_private = runtime
            .metadata()
            .is_ok_and(|found| found.is_dir() && !is_accessible_to_others(&found));
        let has_same_owner = user_id_of_owner(runtime) == user_id_of_owner(home);
        (is_private && has_same_owner).then_some(runtime)
    }

    /// Returns `path` as an absolute path; a leading `~` is replaced by the home folder.
    pub(crate) fn absolute_path(&self, path: &Path) -> PathBuf {
        match (&self.home, path.strip_prefix("~")) {
            (Some(home), Ok(rest)) => home.join(rest),
            _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        }
    }
}

impl std::fmt::Debug for Environment {
    // The variables contain API keys.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            home,
            folder,
            root,
            program,
            ..
        } = self;
        let mut fields = formatter.debug_struct("Environment");
        fields
            .field("home", home)
            .field("folder", folder)
            .field("root", root)
            .field("program", program)
            .finish_non_exhaustive()
    }
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn master_key(name: &str) -> Option<Result<MasterKey, ()>> {
    variable(name).map(|key| key.to_str().unwrap_or_default().parse().map_err(drop))
}

fn token(text: String) -> Result<AccessToken, ()> {
    AccessToken::new(text).ok_or(())
}

fn usual_runtime() -> Option<PathBuf> {
    let owner = user_id_of_owner(&etcetera::home_dir().ok()?)?;
    Some(PathBuf::from(format!("/run/user/{owner}")))
}
