//! The settings, in layers: defaults, the file, the environment, the flags.
//!
//! Apart from API keys in variables that the settings name, only this module reads the file and the environment.

mod access;
mod banks;
mod description;
mod document;
mod edit;
mod environment;
mod error;
mod llm;
mod proxy;
mod recalls;
mod reranking;
mod setting;
mod settings;

pub(crate) use access::AgentSettings;
pub(crate) use banks::BankSettings;
pub(crate) use description::{DEFAULT_FILE, described_keys};
pub(crate) use document::parse_share;
pub(crate) use edit::{check_value, is_list, list_items, set_list, set_value};
pub use environment::Environment;
pub(crate) use error::ConfigError;
pub(crate) use llm::{HIDDEN, LlmSettings};
pub(crate) use proxy::{LogLevel, ProxySettings, parse_max_entries};
pub(crate) use recalls::RecallSettings;
pub(crate) use reranking::RerankingSettings;
pub(crate) use setting::{Setting, SettingsLayer};
pub(crate) use settings::{
    EmbeddingChoice, EmbeddingSettings, NotificationMethod, Settings, SourceLocation, TRUSTED_KEY,
    default_root_folder,
};
