//! The `memory shared init` command.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use clap::Args;
use memory_agent::json::add_field;
use memory_core::bank::BankStore;
use memory_core::instance::InstanceName;
use memory_core::{Filter, HomeSection, MemoryStore, PRINCIPAL_TOKEN_PREFIX, PageRequest};
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
    #[arg(long, value_name = "ADDRESS", required_unless_present = "invitation")]
    store: Option<String>,
    /// Token of the principal who uses this home; @FILE reads a file
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Address and token that `memory shared principal invite` printed; @FILE reads a file, - the standard input
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["store", "token"])]
    invitation: Option<String>,
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
        let read = |argument: &Option<String>, what: &str, app: &mut App| {
            let text = argument.as_ref().map(|text| read_text(app, text, what));
            text.transpose()
        };
        let (address, token) = if let Some(text) = read(&self.invitation, "the invitation", app)? {
            let Invitation { address, token } = Invitation::from_text(&text)?;
            (address, Some(token))
        } else {
            let address = read(&self.store, "the address", app)?;
            (
                address.unwrap_or_default(),
                read(&self.token, "the token", app)?,
            )
        };
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

/// The address of a shared database and the token of a principal, as one word.
pub(super) struct Invitation {
    pub(super) address: Zeroizing<String>,
    pub(super) token: Zeroizing<String>,
}

impl Invitation {
    /// Returns the invitation as text without characters that a shell changes.
    pub(super) fn to_text(&self) -> String {
        let text = Zeroizing::new(format!("{} {}", *self.token, *self.address));
        BASE64_URL_SAFE_NO_PAD.encode(text.as_bytes())
    }

    fn from_text(text: &str) -> Result<Self, Failure> {
        let decoded = BASE64_URL_SAFE_NO_PAD
            .decode(text.trim())
            .map(Zeroizing::new);
        let text = decoded
            .as_ref()
            .ok()
            .and_then(|bytes| str::from_utf8(bytes).ok());
        match text.and_then(|text| text.split_once(' ')) {
            Some((token, address)) if token.starts_with(PRINCIPAL_TOKEN_PREFIX) => Ok(Self {
                address: Zeroizing::new(address.to_owned()),
                token: Zeroizing::new(token.to_owned()),
            }),
            _ => Err(Failure::usage(
                "the invitation is incomplete",
                "copy the whole line that `memory shared principal invite` printed",
            )),
        }
    }
}

/// Reads an argument that is a text, a file or the standard input.
pub(super) fn read_text(
    app: &mut App,
    argument: &str,
    what: &str,
) -> Result<Zeroizing<String>, Failure> {
    let bytes = read_argument(app, argument)?;
    let text = str::from_utf8(&bytes).map_err(|_| {
        Failure::usage(
            format!("{what} is not UTF-8"),
            "see `memory help shared init`",
        )
    })?;
    Ok(Zeroizing::new(text.trim().to_owned()))
}
