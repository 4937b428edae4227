//! Ways to a person's attention.

mod desktop;
mod file;
mod run;

pub use desktop::{Desktop, DesktopNotifier};
pub use file::FileNotifier;
