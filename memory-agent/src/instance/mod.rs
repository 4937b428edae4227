//! Self-describing types of instances.
//!
//! A [`Backend`] declares the [`Field`]s that define an instance and its [`Action`]s. Each action has a handwritten
//! schema that is used to validate parameters, to render help, and to offer the action in every frontend. An opened
//! instance is a [`InstanceHandle`]; [`Backend::run`] runs an action on it.
//!
//! Frontends cannot differ, because each uses the same schema, also to parse the pairs of `-p`. A stored record
//! remains the text that was written (`JsonText`).

mod action;
mod backend;
mod backends;
mod field;
mod history;
mod kv;
mod open_instances;
mod operations;
mod parameters;
mod result;

pub use action::{Action, ActionCaller, InstanceHandle, ToolCaller};
pub use backend::{Backend, render_help};
pub use backends::{backend, backends};
pub use field::{Field, FieldKind};
pub use open_instances::{DefinitionVersion, InstanceDefinitions, InstanceListing, OpenInstances};
pub use parameters::parse_pairs;
pub use result::{ActionResult, ResultChunk, ResultChunks};
