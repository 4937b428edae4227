//! Files a memory in a category.

use memory_core::{Category, MemoryStoreExt, Phase, Services, StoreError, StoredMemory};

use crate::classify::choose_category;
use crate::plan::DEFAULT_CATEGORY;

/// Files the memory that `reference` names.
///
/// The category is `category` if given, else the suggestion in the memory's file, else the choice of [`choose_category`], else
/// [`DEFAULT_CATEGORY`].
///
/// # Errors
/// [`StoreError::Invalid`] for the category inbox, [`StoreError::NotFound`], [`StoreError::Ambiguous`], or another error of the store.
pub fn upgrade(
    services: &Services,
    reference: &str,
    category: Option<Category>,
) -> Result<StoredMemory, StoreError> {
    let chosen = || -> Result<Option<Category>, StoreError> {
        let memory = services.store.get_by(reference)?.memory;
        let is_open = memory.phase == Phase::Inbox && memory.category == Category::Inbox;
        Ok(is_open.then(|| {
            choose_category(&memory)
                .suggestion
                .unwrap_or(DEFAULT_CATEGORY)
        }))
    };
    let category = category.map_or_else(chosen, |category| Ok(Some(category)))?;
    memory_core::upgrade(services, reference, category)
}
