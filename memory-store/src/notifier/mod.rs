//! Notifiers, which show messages to a person.

mod desktop;
pub(crate) mod process;

pub use desktop::{DesktopNotifier, DesktopProgram, NoopNotifier};
