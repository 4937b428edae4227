//! The home whose standing instructions and preferences every chat receives.

use std::sync::{Arc, OnceLock};

use memory_agent::http::OpenHome;
use memory_store::FileStoreOptions;

use crate::app::{Home, KEPT};
use crate::config::Settings;

/// The folder of a home that exists once it contains memories.
const MEMORIES: &str = "categories";

/// Returns a function that opens the home of the settings once it contains memories.
///
/// It does not depend on the folder of the conversations.
pub(crate) fn open_home_later(settings: &Settings) -> OpenHome {
    let (settings, opened) = (settings.clone(), OnceLock::new());
    Arc::new(move || {
        if let Some(services) = opened.get().cloned() {
            return Ok(Some(services));
        }
        // Opening any other folder would create an index in it.
        if !settings.root.value.join(MEMORIES).is_dir() {
            return Ok(None);
        }
        let home = Home::open(&settings, FileStoreOptions { kept: KEPT, ..FileStoreOptions::default() })?;
        Ok(Some(opened.get_or_init(|| home.services).clone()))
    })
}
