//! Values stored as files.
//!
//! [`ValueFolder`] implements [`memory_core::instance::kv::KeyValueStore`]. The folder mirrors the keys: the file `a/b`
//! contains the value of `a/b` byte for byte, and the folder contains nothing else. Therefore previous values are
//! stored in the state folder of the instance, and writers lock the folder itself.
//!
//! A previous value is a line in the log of the state folder. Starting from the current value and going back, the
//! lines show which of them were applied.

mod folder;
mod trash;

pub use folder::ValueFolder;
