//! Banks: named JSON documents, each a set of keys with values.
//!
//! | task | items |
//! |---|---|
//! | the data model | [`Bank`], [`Entry`], [`BankName`], [`Key`], [`BankScope`] |
//! | write to a bank | [`write()`], [`update()`], [`import()`], [`set_schema()`] |
//! | read from a bank | [`read()`], [`list()`], [`keys()`], [`query()`], [`search()`], [`export()`] |
//! | delete entries and banks | [`delete()`], [`delete_bank()`], [`gc()`] |
//! | undo an operation | [`undo()`], [`history()`] |
//! | repair damaged files | [`repair()`] |
//! | implement another store | [`BankStore`], and its suite in `testing` |

mod delete;
mod entry;
mod error;
mod export;
mod filter;
mod gc;
mod import;
mod limits;
mod list;
mod name;
mod query;
mod read;
mod repair;
mod schema;
mod scope;
mod search;
mod services;
mod store;
mod undo;
mod update;
mod write;

pub use delete::{delete, delete_bank};
pub use entry::{Bank, BankMeta, Entry};
pub use error::{BankError, Trouble};
pub use export::{document, export};
pub use filter::{FilterTrouble, JsonFilter, SchemaCheck};
pub use gc::{Collected, Gone, gc};
pub use import::{ImportReport, import};
pub use limits::Limits;
pub use list::{KeyListing, Listing, keys, keys_in_all, list};
pub use name::{BankName, Key};
pub use query::{Queried, Subject, query};
pub use read::{Holders, Reading, holders, read, read_bank};
pub use repair::{Checked, repair};
pub use schema::{Absent, schema, set_schema};
pub use scope::{BankScope, ScopeChoice};
pub use search::{Match, Matches, Searched, search};
pub use services::Banks;
pub use store::{
    BankChange, BankOperation, BankRecord, BankStore, BankSummary, BankVerb, Changed, Damage, EntryChange, Found, Repairs,
    mark_undone,
};
pub use undo::{BankUndone, history, last, purge, undo};
pub use update::{Missing, update};
pub use write::{Condition, Done, WriteRequest, write};
