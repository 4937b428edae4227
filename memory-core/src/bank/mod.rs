//! Banks: named JSON documents, each a set of keys with values.
//!
//! | task | items |
//! |---|---|
//! | the data model | [`Bank`], [`BankEntry`], [`BankName`], [`Key`], [`BankScope`] |
//! | write to a bank | [`write()`], [`update()`], [`import()`], [`set_schema()`] |
//! | read from a bank | [`read()`], [`list()`], [`keys()`], [`query()`], [`search()`], [`export()`] |
//! | delete entries and banks | [`delete()`], [`delete_bank()`], [`gc()`] |
//! | undo an operation | [`undo()`], [`history()`] |
//! | repair damaged files | [`repair()`] |
//! | implement another store | [`BankStore`], and its suite in `testing` |
//!
//! A bank is a JSON text and remains one. A value is a validated text (`JsonText`), so digits and the order of
//! keys are those that were written. This module decides the changes; a store applies them.
//!
//! A jq filter runs outside all locks. Its output is written if the value still equals the input. After three
//! attempts the filter runs under the lock of the bank, for one second at most in total, and then fails with
//! `CONFLICT`. So no update is lost, and no filter delays other writers for longer.

mod delete;
mod entry;
mod error;
mod export;
mod filter;
mod list;
mod name;
mod query;
mod read;
mod repair;
mod schema;
mod search;
mod services;
mod store;
mod undo;
mod update;
mod write;

pub use delete::{GcEntry, GcReason, delete, delete_bank, gc};
pub use entry::{Bank, BankEntry, BankMeta};
pub use error::{BankError, BankErrorKind};
pub use export::{BankImportReport, export, import, render_document};
pub use filter::{JsonFilter, JsonFilterError, SchemaValidator};
pub use list::{BankKeyListing, BankListing, keys, keys_by_folder, list};
pub use name::{BankName, Key};
pub use query::{BankQueryResult, BankQueryTarget, query};
pub use read::{BankFolders, BankReadResult, find_folders, read, read_bank};
pub use repair::{ScopedBankDamage, repair};
pub use schema::{MissingBank, schema, set_schema};
pub use search::{BankMatch, BankMatches, BankSearchFields, search};
pub use services::{BankLimits, BankScope, Banks, ScopeChoice};
pub use store::{
    BankChange, BankChangeResult, BankDamage, BankEntryChange, BankLookup, BankRecord,
    BankRepairMode, BankStore, BankSubject, BankSummary,
};
pub use undo::{BankUndoReport, history, last, purge, undo};
pub use update::{MissingKey, update};
pub use write::{BankWriteCondition, BankWriteRequest, BankWriteResult, write};
