//! The calls of Linux, macOS and other Unix systems.

pub(super) mod input;
#[cfg(feature = "server")]
pub(crate) mod local_socket;
pub(super) mod process_group;
