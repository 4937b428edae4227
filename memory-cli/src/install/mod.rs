//! Configuration of the clients that use the memories.
//!
//! The configuration files belong to the user. `plan.rs` computes the new text of a file from the old one: it inserts or
//! removes only the entries of this program, and leaves all other bytes unchanged. `setup.rs` reads the files, plans all
//! changes, and then, unless this is a dry run, writes the changed files. `file.rs` replaces a file safely.
//!
//! Parsers only locate positions; the change is made in the text, at the entry and at the comma next to it. Each
//! client is data: its files, and the entries in each. An entry of this program is recognized by its command, so
//! nothing about it is stored elsewhere. A backup shows whether a file is still as this program left it:
//! inserting the entries into the backup must give exactly the current file.
//!
//! `plugin.rs` builds the plugins of clients from the same entries.

mod bundle;
mod clients;
mod command;
mod edit;
mod file;
mod hooks;
mod installed_plugin;
mod jsonc;
mod plan;
mod plugin;
mod server;
mod setup;
mod topics_setting;

pub(crate) use clients::ClientFolders;
pub use clients::{Client, InstallLevel};
pub(crate) use command::DEFAULT_HOOK_AGENT;
pub(crate) use installed_plugin::{OutdatedPlugin, outdated_plugins};
pub use plugin::{
    BundleUrl, PlannedPluginFile, PluginTarget, RegistryEntry, RegistryNamespace, plan_plugins,
    write_plugins,
};
pub use setup::{ClientFileChange, ClientSetup, EntryOptions, PlannedChange, ServerName};
