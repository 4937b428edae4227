//! Filing a memory.

use crate::update::change;
use crate::{Category, MemoryStoreExt, Patch, Phase, Secrets, Services, StoreError, Stored, Verb};

/// Where a memory is filed when neither the person nor the memory says.
const DEFAULT: Category = Category::Knowledge;

/// Moves the memory that a person means by `reference` from the inbox to the folder of its category: the one given, else
/// the one suggested in it, else `knowledge`.
///
/// # Errors
/// [`StoreError::Invalid`] for the category inbox, [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn upgrade(services: &Services, reference: &str, category: Option<Category>) -> Result<Stored, StoreError> {
    if category == Some(Category::Inbox) {
        return Err(StoreError::Invalid { why: "the inbox is no category to file a memory in".into() });
    }
    let stored = services.store.get_by(reference)?;
    let suggested = Some(stored.memory.category).filter(|category| *category != Category::Inbox);
    if stored.memory.phase == Phase::Organized && category.is_none() {
        return Ok(stored);
    }
    let patch = Patch { category: Some(category.or(suggested).unwrap_or(DEFAULT)), ..Patch::default() };
    change(services, Verb::Upgrade, &stored.memory.id.to_string(), &patch, None, Secrets::Keep)
}
