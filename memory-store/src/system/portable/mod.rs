//! The same functions with the standard library only, for Windows and other systems.

pub(super) mod file;
pub(super) mod folder;
pub(super) mod process;
