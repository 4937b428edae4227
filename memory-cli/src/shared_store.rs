//! The database in which several machines share the memories of a home.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use memory_core::instance::{InstanceError, InstanceName};
use memory_core::{Operation, PrincipalAccess, Verb};
use memory_store::postgres::{Database, DatabaseLimits, PrincipalTable};
use memory_store::sealed::{
    FieldValue, InstanceDefinition, InstanceFolder, NewFieldValue, Zeroizing,
};
use memory_store::{FileStore, FileStoreOptions, Freshness, RandomIds, SystemClock};

use crate::config::Settings;
use crate::definitions::open_definitions;
use crate::failure::Failure;

/// Type of the definitions with the addresses of shared databases.
pub(crate) const STORE: &str = "store";

/// The field with the address.
const ADDRESS: &str = "dsn";

/// The field with the token of a principal.
const TOKEN: &str = "token";

/// The field with the address for the machines of principals, in a home of the owner.
const NODE_ADDRESS: &str = "node_dsn";

/// The address of a shared database, and the token of the principal who uses it, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoreAccess {
    pub address: Zeroizing<String>,
    pub token: Option<Zeroizing<String>>,
}

/// Minimum time between two reads that fetch the operations of other machines.
pub(crate) const PULL_INTERVAL: Duration = Duration::from_millis(100);

/// Opens the store of the memories that the settings specify: files, or a replica of a database.
pub(crate) fn open_store(
    settings: &Settings,
    options: FileStoreOptions,
) -> Result<FileStore, Failure> {
    match find_database(settings)? {
        Some(database) => {
            if options.freshness != Freshness::Usual {
                database.ignore_other_outages();
            }
            Ok(FileStore::open_replica(
                &settings.root.value,
                options,
                database,
                PULL_INTERVAL,
            )?)
        }
        None => Ok(FileStore::open(&settings.root.value, options)?),
    }
}

/// The file in which the processes of a home share that the database does not respond.
const OUTAGE: &str = "index/database-outage";

/// The databases that this process has opened for a home.
static OPENED: Mutex<Vec<(PathBuf, StoreAccess, Weak<Database>)>> = Mutex::new(Vec::new());

/// Opens the database of a shared home; `None` for a home that is not shared. The database is not used before the first call.
///
/// All stores of a home in this process share the connections, and none fetches what another one has written after its notification.
pub(crate) fn find_database(settings: &Settings) -> Result<Option<Arc<Database>>, Failure> {
    find_database_within(settings, None)
}

/// Opens the database as [`find_database`] does, for a process that waits for it at most for `brief`, if it is given.
pub(crate) fn find_database_within(
    settings: &Settings,
    brief: Option<Duration>,
) -> Result<Option<Arc<Database>>, Failure> {
    let Some(name) = &settings.store.value else {
        return Ok(None);
    };
    let (root, access) = (&settings.root.value, read_access(settings, name)?);
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    opened.retain(|(.., database)| 0 < database.strong_count());
    let known = opened
        .iter()
        .find(|(own, with, _)| own == root && *with == access)
        .and_then(|(.., database)| database.upgrade());
    if known.is_some() {
        return Ok(known);
    }
    let (own, other) = (settings.clone(), name.clone());
    let mut limits = DatabaseLimits::default();
    limits.connect = brief.unwrap_or(limits.connect);
    let database = Database::new(&access.address, limits)?
        .of_home()
        .sharing_outages(root.join(OUTAGE), brief.is_some())
        .following(move || Some(read_access(&own, &other).ok()?.address));
    let (own, name) = (settings.clone(), name.clone());
    let database =
        with_token(database, &access).following_token(move || read_access(&own, &name).ok()?.token);
    let database = Arc::new(database);
    opened.push((root.clone(), access, Arc::downgrade(&database)));
    Ok(Some(database))
}

/// Folder of a home with the replicas of the banks and conversations of principals who call its server.
pub(crate) const PRINCIPALS: &str = "principals";

/// Returns the folder with the replicas of a principal.
pub(crate) fn principal_folder(settings: &Settings, principal: &PrincipalAccess) -> PathBuf {
    settings.root.value.join(PRINCIPALS).join(&principal.name)
}

/// Opens the home as a replica of a database.
pub(crate) fn open_replica(
    settings: &Settings,
    access: &StoreAccess,
    options: FileStoreOptions,
) -> Result<FileStore, Failure> {
    Ok(FileStore::open_replica(
        &settings.root.value,
        options,
        open_database(access)?,
        PULL_INTERVAL,
    )?)
}

/// Opens the principals of the database that the settings specify.
pub(crate) fn open_principals(settings: &Settings) -> Result<PrincipalTable, Failure> {
    store_name(settings)?;
    let database = find_database(settings)?.expect("a home with a name of a database has one");
    Ok(PrincipalTable::new(database))
}

/// Returns the name of the address of the shared database.
fn store_name(settings: &Settings) -> Result<&InstanceName, Failure> {
    settings.store.value.as_ref().ok_or_else(|| {
        let hint = "`memory shared init --store ADDRESS` shares the memories in a database";
        Failure::usage("this home shares its memories in no database", hint)
    })
}

/// Records an export in the audit log of a shared database, and returns a warning if that failed.
pub(crate) fn record_export(settings: &Settings, what: &str) -> Option<String> {
    settings.store.value.as_ref()?;
    let recorded =
        open_principals(settings).and_then(|principals| Ok(principals.record_export(what)?));
    let error = recorded.err()?;
    Some(format!(
        "the audit log of the database does not have this export: {error}"
    ))
}

/// Returns the names of the principals whose requests the server of this home carries out; an empty list for a home with a token, and
/// without the database.
pub(crate) fn other_principals(settings: &Settings) -> Vec<String> {
    let principals = open_principals(settings).ok();
    let listed = principals.and_then(|principals| principals.list().ok());
    let listed = listed.unwrap_or_default();
    listed.into_iter().map(|principal| principal.name).collect()
}

/// Opens a database, which is not used before the first call.
pub(crate) fn open_database(access: &StoreAccess) -> Result<Arc<Database>, InstanceError> {
    let database = Database::new(&access.address, DatabaseLimits::default())?.of_home();
    Ok(Arc::new(with_token(database, access)))
}

fn with_token(database: Database, access: &StoreAccess) -> Database {
    match &access.token {
        Some(token) => database.with_token(token),
        None => database,
    }
}

/// Reads the address and the token of a shared database.
fn read_access(settings: &Settings, name: &InstanceName) -> Result<StoreAccess, Failure> {
    let definitions = open_definitions(settings)?;
    let missing = || {
        let hint = "`memory shared init --store ADDRESS` sets the address of the database";
        InstanceError::invalid(
            format!("the address of the database {name} is not known"),
            hint,
        )
    };
    let definition = definitions
        .read(&STORE.parse()?, name)?
        .ok_or_else(missing)?;
    let address = read_field(&definitions, &definition, ADDRESS)?.ok_or_else(missing)?;
    Ok(StoreAccess {
        address,
        token: read_field(&definitions, &definition, TOKEN)?,
    })
}

/// Returns the token of the database with a name, if there is one.
pub(crate) fn read_token(
    settings: &Settings,
    name: &InstanceName,
) -> Result<Option<Zeroizing<String>>, Failure> {
    let definitions = open_definitions(settings)?;
    let definition = definitions.read(&STORE.parse()?, name)?;
    Ok(definition.map_or(Ok(None), |definition| {
        read_field(&definitions, &definition, TOKEN)
    })?)
}

/// The notice about a write without the database.
pub(crate) const QUEUED: &str = "stored on this machine; it will be sent to the shared database";

/// Returns the notice about offline changes that became proposals.
pub(crate) fn proposed_notice(count: u64) -> String {
    let changes = if count == 1 {
        "1 offline change became a proposal".to_owned()
    } else {
        format!("{count} offline changes became proposals")
    };
    format!("{changes}, because of changes on other machines; review with `memory inbox`")
}

/// Returns the notice about the last write if it is not in the shared database yet.
pub(crate) fn queued_notice(store: &FileStore) -> Option<String> {
    let status = store.shared_store_status().ok()??;
    (0 < status.queued).then(|| QUEUED.to_owned())
}

/// Checks that no other address has the name, because another home may use it.
pub(crate) fn check_name(
    settings: &Settings,
    name: &InstanceName,
    access: &StoreAccess,
) -> Result<(), Failure> {
    let definitions = open_definitions(settings)?;
    let Some(definition) = definitions.read(&STORE.parse()?, name)? else {
        return Ok(());
    };
    let has_address = read_field(&definitions, &definition, ADDRESS)?
        .is_some_and(|former| former == access.address);
    if has_address && read_field(&definitions, &definition, TOKEN)? == access.token {
        return Ok(());
    }
    Err(InstanceError::invalid(
        format!("another database is called {name}"),
        "choose another name with --name",
    )
    .into())
}

/// Seals the address of a shared database, and the token. Former ones with this name move to the trash of the definitions.
pub(crate) fn seal_access(
    settings: &Settings,
    name: &InstanceName,
    access: &StoreAccess,
) -> Result<(), Failure> {
    let definitions = open_definitions(settings)?;
    let former = definitions.read(&STORE.parse()?, name)?;
    let node_address = match &former {
        Some(former) => read_field(&definitions, former, NODE_ADDRESS)?,
        None => None,
    };
    seal(settings, name, access, node_address.as_ref())
}

/// Seals the address of the database for the machines of principals.
pub(crate) fn seal_node_address(
    settings: &Settings,
    address: &Zeroizing<String>,
) -> Result<(), Failure> {
    Database::new(address, DatabaseLimits::default())?;
    let name = store_name(settings)?;
    let access = read_access(settings, name)?;
    seal(settings, name, &access, Some(address))
}

/// Returns the address of the database for the machines of principals.
pub(crate) fn node_address(settings: &Settings) -> Result<Zeroizing<String>, Failure> {
    let definitions = open_definitions(settings)?;
    let definition = definitions.read(&STORE.parse()?, store_name(settings)?)?;
    let address = match &definition {
        Some(definition) => read_field(&definitions, definition, NODE_ADDRESS)?,
        None => None,
    };
    address.ok_or_else(|| {
        Failure::usage(
            "the address of the database for the machines of principals is not known",
            "pass it once with --store @FILE: the address with the role memory_node instead of the owner",
        )
    })
}

fn seal(
    settings: &Settings,
    name: &InstanceName,
    access: &StoreAccess,
    node_address: Option<&Zeroizing<String>>,
) -> Result<(), Failure> {
    let (definitions, kind) = (open_definitions(settings)?, STORE.parse()?);
    let mut fields = vec![(ADDRESS.to_owned(), NewFieldValue::secret(&access.address))];
    for (field, value) in [(TOKEN, access.token.as_ref()), (NODE_ADDRESS, node_address)] {
        fields.extend(value.map(|value| (field.to_owned(), NewFieldValue::secret(value))));
    }
    let operation = Operation::new(Verb::Set, "cli", &SystemClock, &RandomIds);
    Ok(definitions
        .write(&kind, name, &fields, &operation)
        .map(drop)?)
}

fn read_field(
    definitions: &InstanceFolder,
    definition: &InstanceDefinition,
    field: &str,
) -> Result<Option<Zeroizing<String>>, InstanceError> {
    match definition.field(field) {
        Some(FieldValue::Sealed(sealed)) => definitions.open(definition, field, sealed).map(Some),
        Some(FieldValue::Plain(plain)) => Ok(Some(plain.clone().into())),
        None => Ok(None),
    }
}
