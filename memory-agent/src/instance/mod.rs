//! Self-describing types of instances.
//!
//! A [`Backend`] declares the [`Field`]s that define an instance and its [`Action`]s. Each action has a handwritten
//! schema that is used to validate parameters, to render help, and to offer the action in every frontend. An opened
//! instance is a [`Holding`]; [`Backend::run`] runs an action on it.

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
