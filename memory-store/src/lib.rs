//! Stores memories as Markdown files, with a search index.
//!
//! [`open()`] returns the memories of a home.
//!
//! [`FileStore`] implements [`memory_core::MemoryStore`] and [`memory_core::History`], [`bank::BankFolder`] implements
//! [`memory_core::bank::BankStore`], and [`Ledger`] implements [`memory_core::Meter`]. The files are the source of truth. The
//! `index/` folder is a cache that may be deleted at any time, the `journal/` records every operation, and the `trash/` holds a
//! complete copy of every file that was replaced or deleted.
//!
//! | module | content |
//! |---|---|
//! | [`markdown`] | the file format of a memory, and edits that leave the rest of a file untouched |
//! | `file_store` | the store that combines the other modules |
//! | [`bank`] | the file format of a bank, and edits that leave the rest of a file untouched |
//! | [`history`] | the file format of sessions, read from the end |
//! | [`kv`] | the file format of key-value instances |
//! | [`postgres`] | memories, and history and key-value instances, in a database, with each write applied exactly once |
//! | [`topic`] | the file format of topics, and their index |
//! | [`conversation`] | the file format of conversations, and the queue of work on them |
//! | [`sealed`] | encrypted credentials, and the definitions of instances |
//! | `journal` | the operation log of memories |
//! | [`disk`] | durable file access; all durable writes below a home go through it |
//! | `edit` | concurrent edits of a text file that a user maintains |
//! | `oplog` | the operation logs of all stores, and the engine that carries out operations and rolls back interrupted ones |
//! | `daemon` | the lock, the state, the log and the file watcher of the daemon |
//! | `ledger` | the cost of calls to a language model, and the enforcement of budgets |
//! | `recall_folder` | the recalls of agents: one line per recall, bounded by age and size |
//! | `notifier` | notifications to the user |
//! | [`jq`] | an evaluator for jq filters, with limits on time and memory |
//! | `shared_log` | the log of operations that several nodes share; the database contains the truth, and files are replicas |
//! | `log_connection` | the connection of a replica with the log, and the rules for reads without it |
//! | `offline_queue` | the operations of a node that are not in the shared log yet |
//! | [`system`] | calls that differ between operating systems |
//! | `index` | the search index: SQLite for documents, tantivy for words, a memory-mapped file for vectors |
//!
//! Without the default feature `postgres`, the crate has the stores in files only, and no async code.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "postgres"),
    allow(dead_code, reason = "replicas use these helpers")
)]

mod access_key;
mod allowed_paths;
pub mod bank;
mod cache_file;
mod command;
pub mod conversation;
mod daemon;
pub mod disk;
mod edit;
mod error;
mod file_store;
mod folder_format;
mod gitignore;
pub mod history;
mod index;
mod journal;
pub mod jq;
pub mod kv;
mod ledger;
mod lock;
mod log_connection;
pub mod markdown;
mod memory_file;
mod notifier;
mod offline_queue;
mod open;
mod oplog;
mod page_address;
#[cfg(feature = "postgres")]
pub mod postgres;
mod private_file;
mod projects;
mod recall_folder;
pub mod sealed;
mod shared_log;
mod store_folder;
pub mod system;
pub mod topic;
mod trust;

pub use allowed_paths::AllowedPaths;
pub use cache_file::{AlreadyShownFile, RejectedSuggestionsFile, StartPageFile};
pub use daemon::{
    ChoreResult, ChoreState, DaemonLock, DaemonProcess, DaemonState, EventLog, FileWatcher,
    LogFile, WatchedChanges,
};
pub use edit::edit_file;
pub use file_store::{
    DoctorFinding, DoctorReport, FileStore, FileStoreOptions, Freshness, HomeStatistics,
    QueueNotices, SharedStoreStatus, TrialCopy,
};
pub use folder_format::check_writable;
pub use index::{
    DocumentVector, IndexedNames, ModelVectors, NamedGroup, NamedMemory, NearestVectors,
};
pub use ledger::Ledger;
pub use lock::lock_file_within;
pub use memory_core::{RandomIds, SystemClock};
pub use notifier::{DesktopNotifier, DesktopProgram, NoopNotifier};
pub use open::{builder, open};
pub use page_address::PublishedPage;
pub use private_file::PrivateFile;
pub use projects::{ProjectEntry, Projects, RepositoryId};
pub use recall_folder::RecallFolder;
pub use shared_log::{SharedFolderId, TOPIC_FOLDERS};
pub use trust::{ForeignFolder, check_owner, is_trusted, trust_folders};
