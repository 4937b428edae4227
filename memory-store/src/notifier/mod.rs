//! Notifiers, which show messages to a person.

mod desktop;
mod file;
pub(crate) mod run;

pub use desktop::{Desktop, DesktopNotifier};
pub use file::FileNotifier;
