//! The same functions with the standard library only, for Windows and other systems.

pub(super) mod file_lock;
pub(super) mod file_open;
pub(super) mod file_stat;
pub(super) mod folder_access;
pub(super) mod folder_scan;
pub(super) mod lock_holder;
pub(super) mod permissions;
pub(super) mod positioned_io;
pub(super) mod process;
pub(super) mod sync;
