//! Notifiers, which show messages to a person.

mod desktop;
mod noop;
pub(crate) mod process;

pub use desktop::{DesktopNotifier, DesktopProgram};
pub use noop::NoopNotifier;
