//! Filing a memory by its text.

use memory_core::{Category, MemoryStoreExt, Phase, Services, StoreError, Stored};

use crate::classify::choose_category;
use crate::plan::DEFAULT_CATEGORY;

/// Files the memory that a person means by `reference`: under `category` if one is given, else under the one that its file
/// suggests, else under the one that [`choose_category`] chooses, else under [`DEFAULT_CATEGORY`].
///
/// # Errors
/// [`StoreError::Invalid`] for the category inbox, [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn upgrade(services: &Services, reference: &str, category: Option<Category>) -> Result<Stored, StoreError> {
    let chosen = || -> Result<Option<Category>, StoreError> {
        let memory = services.store.get_by(reference)?.memory;
        let is_open = memory.phase == Phase::Inbox && memory.category == Category::Inbox;
        Ok(is_open.then(|| choose_category(&memory).category.unwrap_or(DEFAULT_CATEGORY)))
    };
    let category = category.map_or_else(chosen, |category| Ok(Some(category)))?;
    memory_core::upgrade(services, reference, category)
}
