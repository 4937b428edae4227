//! Sessions and values in a Postgres database.
//!
//! [`PostgresMessages`] is the driver behind [`memory_core::instance::history::MessageStore`], [`PostgresValues`] the one behind
//! [`memory_core::instance::kv::KeyValueStore`]; both share the connections of a [`Database`]. A change is one round trip and one
//! transaction, whose operation is a key of what it writes: so a call whose connection is lost is repeated on another one, and is still
//! done once. Nothing outlives a transaction on a connection, neither prepared statements nor settings nor locks, so that
//! connections may be shared by a pooler between transactions. Text is kept as it was written; what is taken away is kept in a table
//! of its own, under the operation that took it.
//!
//! | room | what is decided there |
//! |---|---|
//! | `address` | what an address says |
//! | `tls` | whom a connection trusts |
//! | `connections` | how connections are made and kept |
//! | `engine` | how somebody who waits has them work |
//! | `database` | when something is tried again, and when it is given up |
//! | `trouble` | what went wrong, in our words |
//! | `migrate` | which tables there are |
//! | `messages`, `pages`, `conditions` | sessions |
//! | `values` | values |
//! | `operations`, and those of messages and values | the way back |

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
