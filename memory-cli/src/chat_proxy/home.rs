//! The home whose standing instructions and preferences every chat receives.

use std::sync::{Arc, OnceLock};

use memory_agent::http::OpenHome;
use memory_store::FileStoreOptions;

use crate::config::Settings;
use crate::home::{Home, KEPT};

/// The folder of a home that exists once it contains memories.
const MEMORIES: &str = "categories";

/// Returns a function that opens the home of the settings once it contains memories.
///
/// It does not depend on the folder of the conversations.
pub(crate) fn open_home_later(settings: &Arc<Settings>) -> OpenHome {
    let (settings, opened) = (Arc::clone(settings), OnceLock::new());
    Arc::new(move || {
        if let Some(services) = opened.get().cloned() {
            return Ok(Some(services));
        }
        // Opening any other folder would create an index in it.
        if !settings.root.value.join(MEMORIES).is_dir() {
            return Ok(None);
        }
        let home = Home::with_settings(Arc::clone(&settings), FileStoreOptions { kept: KEPT, ..FileStoreOptions::default() })?;
        Ok(Some(opened.get_or_init(|| home.services).clone()))
    })
}
