//! The same functions with the standard library only, for Windows and other systems.

pub(super) mod input;
#[cfg(feature = "server")]
pub(crate) mod local_socket;
pub(super) mod process_group;
