//! Ways to a person's attention.

mod desktop;
mod file;
pub(crate) mod run;

pub use desktop::{Desktop, DesktopNotifier};
pub use file::FileNotifier;
