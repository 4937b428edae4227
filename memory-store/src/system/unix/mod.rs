//! The calls of Linux, macOS and other Unix systems.

pub(super) mod file;
pub(super) mod folder;
pub(super) mod process;
