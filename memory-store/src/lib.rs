//! Memories as Markdown files, with an index beside them.
//!
//! [`FileStore`] is the driver behind [`memory_core::MemoryStore`] and [`memory_core::History`], [`bank::BankFolder`] the one behind
//! [`memory_core::bank::BankStore`], and [`Ledger`] the one behind [`memory_core::Meter`]. The files are the truth: the `index/` folder is a cache that may be deleted at any time,
//! the `journal/` says what happened, and the `trash/` holds every file that was replaced or deleted, whole.
//!
//! | room | what is decided there |
//! |---|---|
//! | [`markdown`] | what a memory looks like as a file, and how to change one without touching the rest of it |
//! | `file_store` | how the parts make up the driver |
//! | [`bank`] | what a bank looks like as a file, and how to change a part of one without touching the rest |
//! | [`history`] | what sessions look like as files, and how their ends are found |
//! | [`kv`] | what values look like as files |
//! | [`postgres`] | what both look like in a database, and that nothing is done twice or lost on the way there |
//! | [`topic`] | what topics look like as files, and the index of them |
//! | [`conversation`] | what conversations look like as files, and what is still to be made of them |
//! | [`sealed`] | how credentials are kept that others must not read, and where instances are defined |
//! | `commit` | in which order things are done, so that an operation is whole or not at all |
//! | [`disk`] | how bytes reach the disk and stay there; the only place that writes |
//! | `edit` | how the text of a person is edited by several of us |
//! | `journal` | what is written down before anything is done, and how an interrupted operation is taken back |
//! | `daemon` | that there is one daemon, what it has done, what it tells, and how it hears of changed files |
//! | `ledger` | what asking a language model costs, and that no budget is overdrawn |
//! | `notifier` | how a person is told of something |
//! | [`jq`] | what a filter makes of JSON, and that it takes neither too long nor too much |
//! | `index` | how memories are found: SQLite for the documents, tantivy for their words, a mapped file for their vectors |

#![forbid(unsafe_code)]

mod allowed;
pub mod bank;
mod commit;
pub mod conversation;
mod core_dump;
mod daemon;
mod derived;
pub mod disk;
mod edit;
mod error;
mod file;
mod file_store;
mod gitignore;
mod given;
pub mod history;
mod index;
mod journal;
pub mod jq;
pub mod kv;
mod ledger;
mod lock;
pub mod markdown;
mod months;
mod notifier;
pub mod postgres;
pub mod sealed;
mod system;
pub mod topic;

pub use allowed::AllowedPaths;
pub use core_dump::leave_no_core;
pub use daemon::{ChoreState, DaemonLock, DaemonProcess, DaemonState, Ending, Log, LogFile, News, Watch};
pub use edit::edit_file;
pub use file_store::{FileStore, Finding, Freshness, Options, Rehearsal, Report, Statistics};
pub use given::GivenFile;
pub use index::{Embedded, Nearest, Vectors};
pub use ledger::Ledger;
pub use notifier::{Desktop, DesktopNotifier, FileNotifier};
pub use system::{RandomIds, SystemClock};
