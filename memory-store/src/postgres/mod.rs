//! Sessions and values in a Postgres database.
//!
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

mod address;
mod conditions;
mod connections;
mod database;
mod engine;
mod message_operations;
mod messages;
mod migrate;
mod operations;
mod pages;
mod silence;
mod tls;
mod trouble;
mod value_operations;
mod values;

pub use database::{Database, Limits};
pub use messages::PostgresMessages;
pub use values::PostgresValues;
