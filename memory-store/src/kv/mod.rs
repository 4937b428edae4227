//! Values as files.
//!
//! [`ValueFolder`] is the driver behind [`memory_core::instance::kv::KeyValueStore`]. The folder mirrors the keys: the value of `a/b` is
//! what the file `a/b` holds, byte for byte, and nothing else lies there. So what a value was before is kept elsewhere, in the folder
//! of the instance's state, and writers lock the folder itself.

mod folder;
mod trash;

pub use folder::ValueFolder;
