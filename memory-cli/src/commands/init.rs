//! The `memory init` command.

use clap::Args;
use memory_core::instance::InstanceName;
use memory_core::{Filter, MemoryStore, PageRequest};
use memory_store::FileStoreOptions;
use memory_store::sealed::Zeroizing;
use serde_json::json;

use super::config::store_setting;
use super::instance::read_argument;
use crate::app::{App, current_time};
use crate::failure::Failure;
use crate::shared_store::{check_name, open_replica, seal_address};

/// Share the memories of this home with other machines, in a Postgres database
///
/// The home must have no memories, or share them in this database already; then its address changes. It becomes a replica of the database: every command uses it as before, and writes to the
/// database. The command creates the missing tables, encrypts the address under the key of the instances, and sets
/// storage.store. Other users can see arguments, so pass an address with a password as @FILE or -.
///
/// JSON: {store, memories}; memories is the number of memories in the database
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Address of the database, such as postgres://USER@HOST/DATABASE; @FILE reads a file, - the standard input
    #[arg(long, value_name = "ADDRESS")]
    store: String,
    /// Name for the address, if this user shares memories in several databases
    #[arg(long, default_value = "memories")]
    name: String,
}

impl InitArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let name: InstanceName = self.name.parse()?;
        let bytes = read_argument(app, &self.store)?;
        let address = str::from_utf8(&bytes).map_err(|_| Failure::usage("the address is not UTF-8", "see `memory help init`"))?;
        let address = Zeroizing::new(address.trim().to_owned());
        let settings = app.settings()?;
        if let Some(other) = settings.store.value.as_ref().filter(|other| **other != name) {
            let why = format!("this home shares its memories in the database {other}");
            return Err(Failure::usage(why, "choose another home with --root"));
        }
        if settings.store.value.is_none() {
            check_name(&settings, &name, &address)?;
        }
        // The settings change only after the database and the folder were found to be usable.
        let store = open_replica(&settings, &address, FileStoreOptions::default())?;
        store.refresh()?;
        let count = PageRequest { limit: Some(0), ..PageRequest::default() };
        let memories = store.list(&Filter::all(), &count, current_time())?.total;
        seal_address(&settings, &name, &address)?;
        store_setting("storage.store", name.as_str(), app)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json!({ "store": name.as_str(), "memories": memories }))?);
        }
        app.output.fields(&[name.as_str()])?;
        Ok(app.output.note(&format!("the database contains {memories} memories"))?)
    }
}
