//! Memories, sessions and values in a Postgres database.
//!
//! [`FileStore::open_replica`](crate::FileStore::open_replica) opens a store of memories.
//! [`PostgresMessages`] implements [`memory_core::instance::history::MessageStore`], and [`PostgresValues`] implements
//! [`memory_core::instance::kv::KeyValueStore`]. Both share the connections of a [`Database`].
//!
//! A change is one transaction, in one round trip except for an undo. Its operation id is part of a key of the rows
//! that it writes, so a call that lost its connection can be repeated on another one and takes effect once. No state
//! outlives a transaction on a connection: no prepared statements, no settings and no locks. Therefore a pooler may
//! share connections between transactions. Text is stored unchanged. Deleted rows move to separate tables, under the
//! operation that deleted them.
//!
//! | module | responsibility |
//! |---|---|
//! | `address` | parses addresses |
//! | `tls` | verifies the server |
//! | `connections` | creates connections |
//! | `runtime` | runs futures for blocking callers |
//! | `database` | retries and timeouts |
//! | `error` | errors |
//! | `migration` | creates the tables |
//! | `messages`, `record_pages`, `conditions` | sessions |
//! | `values` | values |
//! | `operations`, `message_operations`, `value_operations` | undo |
//! | `document_log`, `document_append` | memories |
//! | `access`, `principals` | access to memories |
//! | `document_files`, `folder_replicas` | banks, topics and conversations as files |
//! | `listener` | notifications of new operations |
//!
//! An append is one statement: it moves the row with the next position of the session, holds that row until the
//! end of the transaction, and inserts the records. So the order of records is that of the appends. For one
//! record it is a function of the server (`migrations/append.sql`), planned once per connection; without that
//! function, the same statement is sent in full. The first statement of every other change holds that row, or the
//! row of the first part of a key, so that the next one sees all earlier changes.
//!
//! Memories, and files of folders, are read and written only through functions of the database
//! (`migrations/functions.sql`), which check the scopes of the caller. The role of the nodes of principals has no other
//! privilege. The owner creates the tables and manages principals with plain statements.
//!
//! There are no advisory locks and no sequences, and keys begin with the session or the key. A change that the
//! database rejects because of concurrent changes is repeated. A deleted row keeps its position, and a position
//! is never assigned twice, so an undo restores the row to its place. The client is asynchronous and runs on a
//! thread of its own; callers wait on their own threads, which may belong to another runtime.

mod access;
mod address;
mod conditions;
mod connections;
mod database;
mod document_append;
mod document_files;
mod document_log;
mod error;
mod folder_replicas;
mod listener;
mod message_operations;
mod messages;
mod migration;
mod operations;
mod principals;
mod record_pages;
mod tls;
mod value_operations;
mod values;

pub use database::{Database, DatabaseLimits};
pub use document_files::list_shared_folders;
pub use messages::PostgresMessages;
pub use principals::{
    AuditRecord, GrantedScope, NewPrincipal, PrincipalRecord, PrincipalTable, TeamRecord,
};
pub use values::PostgresValues;
