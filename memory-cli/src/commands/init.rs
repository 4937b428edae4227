//! The `memory shared init` command.

use clap::Args;
use memory_agent::json::add_field;
use memory_core::bank::BankStore;
use memory_core::instance::InstanceName;
use memory_core::{Filter, HomeSection, MemoryStore, PageRequest};
use memory_store::sealed::Zeroizing;
use memory_store::{FileStoreOptions, Freshness};
use serde_json::json;

use super::config::store_setting;
use super::instance::read_argument;
use crate::app::App;
use crate::banks::open_shared;
use crate::failure::Failure;
use crate::shared_store::{
    StoreAccess, check_name, open_database, open_replica, read_token, seal_access,
};

/// Share the memories of this home with other machines, in a Postgres database
///
/// The home must have no memories, or share them in this database already; then its address changes. It becomes a replica of the database: every command uses it as before, and writes to the
/// database. The command creates the missing tables, encrypts the address under the key of the instances, and sets
/// storage.store. Other users can see arguments, so pass an address with a password as @FILE or -.
///
/// With --token, the home is that of a principal (`memory shared principal add`): it contains only memories that the principal may read, and new
/// memories have the scope private:NAME. A later `init` without --token retains the token.
///
/// JSON: {store, memories, principal?}; memories is the number of memories in the database that this home may read
#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Address of the database, such as postgres://USER@HOST/DATABASE; @FILE reads a file, - the standard input
    #[arg(long, value_name = "ADDRESS")]
    store: String,
    /// Token of the principal who uses this home; @FILE reads a file
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Fetch all memories again, also if the database lacks some that this home has, as after the restore of a backup; those move to
    /// unsynced/ in the home
    #[arg(long)]
    replace_replica: bool,
    /// Name for the address, if this user shares memories in several databases
    #[arg(long, default_value = "memories")]
    name: String,
}

impl InitArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let name: InstanceName = self.name.parse()?;
        let bytes = read_argument(app, &self.store)?;
        let address = str::from_utf8(&bytes)
            .map_err(|_| Failure::usage("the address is not UTF-8", "see `memory help init`"))?;
        let address = Zeroizing::new(address.trim().to_owned());
        let token = self
            .token
            .as_ref()
            .map(|token| read_argument(app, token))
            .transpose()?;
        let token = token
            .map(|bytes| {
                str::from_utf8(&bytes).map(|token| Zeroizing::new(token.trim().to_owned()))
            })
            .transpose();
        let token = token
            .map_err(|_| Failure::usage("the token is not UTF-8", "see `memory help init`"))?;
        let settings = app.settings()?;
        if let Some(other) = settings
            .store
            .value
            .as_ref()
            .filter(|other| **other != name)
        {
            let why = format!("this home shares its memories in the database {other}");
            return Err(Failure::usage(why, "choose another home with --root"));
        }
        if settings.store.value.is_none() {
            check_name(
                &settings,
                &name,
                &StoreAccess {
                    address: address.clone(),
                    token: token.clone(),
                },
            )?;
        }
        let former = if settings.store.value.is_some() {
            read_token(&settings, &name)?
        } else {
            None
        };
        let access = StoreAccess {
            address,
            token: token.or(former),
        };
        // The settings change after the database and the folder were found to be usable, and before the first memory arrives. After an
        // interruption the next command fetches the rest.
        let options = FileStoreOptions {
            freshness: Freshness::Fresh,
            ..FileStoreOptions::default()
        };
        let store = open_replica(&settings, &access, options)?;
        store.check_joinable()?;
        if self.replace_replica {
            store.replace_replica()?;
        }
        seal_access(&settings, &name, &access)?;
        store_setting("storage.store", name.as_str(), app)?;
        // This also fetches the conversations.
        store.refresh()?;
        open_shared(&settings, open_database(&access)?).banks()?;
        let count = PageRequest {
            limit: Some(0),
            ..PageRequest::default()
        };
        let notes = Filter {
            place: Some(HomeSection::Notes),
            ..Filter::all()
        };
        let memories = store.list(&notes, &count, app.now())?.total;
        let principal = store.principal()?.map(|principal| principal.name);
        if app.output.is_json() {
            let mut fields = json!({ "store": name.as_str(), "memories": memories });
            add_field(&mut fields, "principal", principal);
            return app.output.json(&fields);
        }
        app.output.fields(&[name.as_str()])?;
        match principal {
            Some(principal) => app.output.note(&format!(
                "{principal} may read {memories} memories in the database"
            )),
            None => app
                .output
                .note(&format!("the database contains {memories} memories")),
        }
    }
}
