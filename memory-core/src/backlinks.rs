//! Finding the memories that link to a memory.

use crate::link::{find_named, resolve_wikilink};
use crate::{Services, StoreError, StoredMemory, wikilink};

/// Returns the memories that link to the one that `reference` names, sorted by path.
///
/// `reference` is an id, a file, a title or an alias. Both recorded links and wikilinks count.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn backlinks(services: &Services, reference: &str) -> Result<Vec<StoredMemory>, StoreError> {
    services.store.refresh()?;
    let stored = services.store.get(&find_named(services, reference)?)?;
    let id = stored.memory.id;
    let mut referring = Vec::new();
    let mut keys = wikilink::memory_keys(&stored.memory, &stored.path);
    keys.extend(wikilink::id_prefixes(&id));
    keys.extend(stored.memory.supersedes.iter().flat_map(wikilink::id_prefixes));
    for candidate in services.store.referring(&id, &keys)? {
        if candidate.memory.id != id && (candidate.memory.links.contains(&id) || links_to(services, &candidate, &stored)?) {
            referring.push(candidate);
        }
    }
    referring.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(referring)
}

fn links_to(services: &Services, from: &StoredMemory, to: &StoredMemory) -> Result<bool, StoreError> {
    for found in wikilink::parse(&from.memory.content) {
        if resolve_wikilink(services.store.as_ref(), &found.target, from)? == Some(to.memory.id) {
            return Ok(true);
        }
    }
    Ok(false)
}
