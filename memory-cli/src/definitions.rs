//! The folder of the definitions with sealed credentials, and the keys in the environment.

use std::path::{Path, PathBuf};

use memory_store::sealed::{InstanceFolder, MasterKey};

use crate::config::Settings;
use crate::failure::Failure;

/// Opens the definitions of this user, with the folders and the key of the environment.
pub(crate) fn open_definitions(settings: &Settings) -> Result<InstanceFolder, Failure> {
    let environment = &settings.environment;
    let key = parse_key_variable("MEMO_MASTER_KEY", environment.memo_master_key.as_ref())?;
    let definitions = user_folder(
        settings,
        environment.memo_store_dir.as_deref(),
        ".config/memo/instances",
    );
    let keys = user_folder(
        settings,
        environment.memo_key_dir.as_deref(),
        ".config/memo",
    );
    Ok(InstanceFolder::new(definitions, keys, key))
}

/// Returns a folder of this user: `named` by the environment, else `usual` in the home folder of the user.
pub(crate) fn user_folder(settings: &Settings, named: Option<&Path>, usual: &str) -> PathBuf {
    let environment = &settings.environment;
    let person = environment.home.as_deref().unwrap_or(&settings.root.value);
    named.map_or_else(
        || person.join(usual),
        |path| environment.absolute_path(path),
    )
}

/// Returns a master key from the environment.
pub(crate) fn parse_key_variable(
    variable: &str,
    given: Option<&Result<MasterKey, ()>>,
) -> Result<Option<MasterKey>, Failure> {
    match given {
        None => Ok(None),
        Some(Ok(key)) => Ok(Some(key.clone())),
        Some(Err(())) => {
            let why = format!("{variable} is not 32 bytes in Base64");
            Err(Failure::usage(
                why,
                "generate a key with `openssl rand -base64 32`",
            ))
        }
    }
}
