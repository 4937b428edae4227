//! The environment variables and folders of the process.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use memory_agent::http::AccessToken;
use memory_agent::model::{ApiKey, ApiKeyError};
use memory_store::sealed::MasterKey;

use super::proxy::{self, PROXY_KEYS};

/// The environment variables and folders of the process. An empty variable counts as unset.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The current folder at the start.
    pub folder: Option<PathBuf>,
    /// `MEMORY_ROOT`: the folder of the memories.
    pub root: Option<PathBuf>,
    /// `MEMORY_CONFIG`: the settings file, if not `config.yaml` in the memories' home.
    pub config: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`: the folder of Claude Code, if not `~/.claude`.
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`: the folder of Codex, if not `~/.codex`.
    pub codex: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`: the parent of the folder of Gemini CLI, if not the home folder.
    pub gemini: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`: the folder for settings of programs, if not `~/.config`.
    pub config_folder: Option<PathBuf>,
    /// `MEMORY_EMBEDDING_MODEL`: the folder of the embedding model.
    pub embedding_model: Option<PathBuf>,
    /// `MEMORY_RERANKING_MODEL`: the folder of the reranking model.
    pub reranking_model: Option<PathBuf>,
    /// `MEMORY_LLM_BASE_URL`: the address of the language model.
    pub llm_base_url: Option<String>,
    /// `MEMORY_LLM_MODEL`: the name of the language model on its server.
    pub llm_model: Option<String>,
    /// `MEMORY_LLM_API_KEY`: the API key of the language model.
    pub llm_api_key: Option<Result<ApiKey, ApiKeyError>>,
    /// `OPENAI_API_KEY`: the API key of the server behind a proxy, for clients that send no key.
    pub openai_api_key: Option<Result<ApiKey, ApiKeyError>>,
    /// `MEMORY_PROXY_…`: the settings of `proxy`, by their keys.
    pub proxy: BTreeMap<&'static str, String>,
    /// `MEMO_STORE_DIR`: the folder of the instance definitions, if not `~/.config/memo/instances`.
    pub memo_store_dir: Option<PathBuf>,
    /// `MEMO_STATE_DIR`: the folder of the instances' state, if not `~/.local/state/memo/state`.
    pub memo_state_dir: Option<PathBuf>,
    /// `MEMO_KEY_DIR`: the folder of `master.key`, if not `~/.config/memo`.
    pub memo_key_dir: Option<PathBuf>,
    /// `MEMO_MASTER_KEY`: the key that encrypts secrets, in place of `master.key`; an error if invalid.
    pub memo_master_key: Option<Result<MasterKey, ()>>,
    /// `MEMO_NEW_MASTER_KEY`: the key for `rekey`, if `MEMO_MASTER_KEY` is set; an error if invalid.
    pub memo_new_master_key: Option<Result<MasterKey, ()>>,
    /// `MEMO_ALLOWED_PATHS`: the folders that may contain instances.
    pub memo_allowed_paths: Option<OsString>,
    /// `MEMO_AUTH_TOKEN`: the token for HTTP requests; an error if it is invalid in a header.
    pub memo_auth_token: Option<Result<AccessToken, ()>>,
    /// `VISUAL`, else `EDITOR`.
    pub editor: Option<String>,
    /// `PATH`: the folders of programs.
    pub path: Option<OsString>,
    /// Whether `DBUS_SESSION_BUS_ADDRESS` or `DISPLAY` is set, which indicates a desktop session.
    pub has_desktop: bool,
    /// `XDG_RUNTIME_DIR`, else its default for the owner of the home folder; it contains the D-Bus socket.
    pub runtime: Option<PathBuf>,
    /// The path of this program.
    pub program: Option<PathBuf>,
    /// Whether terminals may be colored: `NO_COLOR` is unset and `TERM` is not `dumb`.
    pub colors: bool,
}

impl Environment {
    /// Reads the environment of this process.
    pub(crate) fn from_process() -> Self {
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
            embedding_model: variable("MEMORY_EMBEDDING_MODEL").map(PathBuf::from),
            reranking_model: variable("MEMORY_RERANKING_MODEL").map(PathBuf::from),
            llm_base_url: text("MEMORY_LLM_BASE_URL"),
            llm_model: text("MEMORY_LLM_MODEL"),
            llm_api_key: variable("MEMORY_LLM_API_KEY").map(|key| key.to_str().unwrap_or_default().parse()),
            openai_api_key: variable("OPENAI_API_KEY").map(|key| key.to_str().unwrap_or_default().parse()),
            proxy: PROXY_KEYS.iter().filter_map(|key| Some((*key, text(&proxy::variable_name(key))?))).collect(),
            memo_store_dir: variable("MEMO_STORE_DIR").map(PathBuf::from),
            memo_state_dir: variable("MEMO_STATE_DIR").map(PathBuf::from),
            memo_key_dir: variable("MEMO_KEY_DIR").map(PathBuf::from),
            memo_master_key: master_key("MEMO_MASTER_KEY"),
            memo_new_master_key: master_key("MEMO_NEW_MASTER_KEY"),
            memo_allowed_paths: variable("MEMO_ALLOWED_PATHS"),
            memo_auth_token: variable("MEMO_AUTH_TOKEN").map(|text| token(text.into_string().unwrap_or_default())),
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            path: variable("PATH"),
            has_desktop: ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY"].into_iter().any(|name| variable(name).is_some()),
            runtime: variable("XDG_RUNTIME_DIR").map(PathBuf::from).or_else(usual_runtime),
            program: env::current_exe().ok(),
            colors: variable("NO_COLOR").is_none() && variable("TERM").is_none_or(|term| term != "dumb"),
        }
    }

    /// Returns `path` as an absolute path; a leading `~` is replaced by the home folder.
    pub(crate) fn absolute_path(&self, path: &Path) -> PathBuf {
        match (&self.home, path.strip_prefix("~")) {
            (Some(home), Ok(rest)) => home.join(rest),
            _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        }
    }
}

/// Returns `SSL_CERT_FILE`: the file of trusted certificate authorities in place of the built-in ones.
pub(crate) fn certificates_file() -> Option<PathBuf> {
    variable("SSL_CERT_FILE").map(PathBuf::from)
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

#[cfg(unix)]
fn usual_runtime() -> Option<PathBuf> {
    use std::os::unix::fs::MetadataExt;

    let owner = etcetera::home_dir().ok()?.metadata().ok()?.uid();
    Some(PathBuf::from(format!("/run/user/{owner}")))
}

#[cfg(not(unix))]
fn usual_runtime() -> Option<PathBuf> {
    None
}
