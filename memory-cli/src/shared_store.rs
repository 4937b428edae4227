//! The database in which several machines share the memories of a home.

use std::sync::Arc;
use std::time::Duration;

use memory_core::instance::{InstanceError, InstanceName};
use memory_core::{Operation, Verb};
use memory_store::postgres::{Database, DatabaseLimits};
use memory_store::sealed::{FieldValue, InstanceDefinition, InstanceFolder, NewFieldValue, Zeroizing};
use memory_store::{FileStore, FileStoreOptions, RandomIds, SystemClock};

use crate::config::Settings;
use crate::definitions::open_definitions;
use crate::failure::Failure;

/// Type of the definitions with the addresses of shared databases.
pub(crate) const STORE: &str = "store";

/// The field with the address.
const ADDRESS: &str = "dsn";

/// Minimum time between two reads that fetch the operations of other machines.
const PULL_INTERVAL: Duration = Duration::from_millis(100);

/// Opens the store of the memories that the settings specify: files, or a replica of a database.
pub(crate) fn open_store(settings: &Settings, options: FileStoreOptions) -> Result<FileStore, Failure> {
    let Some(name) = &settings.store.value else { return Ok(FileStore::open(&settings.root.value, options)?) };
    let definitions = open_definitions(settings)?;
    let missing = || {
        let hint = "`memory init --store ADDRESS` sets the address of the database";
        InstanceError::invalid(format!("the address of the database {name} is not known"), hint)
    };
    let definition = definitions.read(&STORE.parse()?, name)?.ok_or_else(missing)?;
    let address = read_address(&definitions, &definition)?.ok_or_else(missing)?;
    open_replica(settings, &address, options)
}

/// Opens the home as a replica of the database with an address.
pub(crate) fn open_replica(settings: &Settings, address: &str, options: FileStoreOptions) -> Result<FileStore, Failure> {
    let database = Arc::new(Database::new(address, DatabaseLimits::default())?);
    Ok(FileStore::open_replica(&settings.root.value, options, database, PULL_INTERVAL)?)
}

/// Checks that no other address has the name, because another home may use it.
pub(crate) fn check_name(settings: &Settings, name: &InstanceName, address: &str) -> Result<(), Failure> {
    let definitions = open_definitions(settings)?;
    let Some(definition) = definitions.read(&STORE.parse()?, name)? else { return Ok(()) };
    if read_address(&definitions, &definition)?.is_some_and(|former| *former == address) {
        return Ok(());
    }
    Err(InstanceError::invalid(format!("another database is called {name}"), "choose another name with --name").into())
}

/// Seals the address of a shared database. A former address with this name moves to the trash of the definitions.
pub(crate) fn seal_address(settings: &Settings, name: &InstanceName, address: &str) -> Result<(), Failure> {
    let (definitions, kind) = (open_definitions(settings)?, STORE.parse()?);
    let fields = [(ADDRESS.to_owned(), NewFieldValue::secret(address))];
    let operation = Operation::new(Verb::Set, "cli", &SystemClock, &RandomIds);
    Ok(definitions.write(&kind, name, &fields, &operation).map(drop)?)
}

fn read_address(
    definitions: &InstanceFolder,
    definition: &InstanceDefinition,
) -> Result<Option<Zeroizing<String>>, InstanceError> {
    match definition.field(ADDRESS) {
        Some(FieldValue::Sealed(sealed)) => definitions.open(definition, ADDRESS, sealed).map(Some),
        Some(FieldValue::Plain(plain)) => Ok(Some(plain.clone().into())),
        None => Ok(None),
    }
}
