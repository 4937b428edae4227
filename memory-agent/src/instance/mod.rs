//! Types of instances, self-describing.
//!
//! A [`Backend`] says what it is, which [`Field`]s define an instance of it, and which [`Action`]s it has; each action has a schema
//! written by hand, by which parameters are checked, help is written, and every front offers it. An instance that was opened is a
//! [`Holding`]; an action is asked of one with [`Backend::run`].

mod action;
mod answer;
mod backend;
mod field;
mod help;
mod history;
mod kv;
mod open;
mod operations;
mod parameters;
mod tools;

pub use action::{Action, Asker, Holding};
pub use answer::{Answer, Piece, Pieces};
pub use backend::{Backend, backend, backends};
pub use field::{Field, Kind};
pub use help::help;
pub use open::{Instances, Listed, OpenInstances, Version};
pub use parameters::{Parameters, pairs};
