//! Assigns an id that several files name to one of them.

use memory_core::MemoryId;
use rusqlite::{Connection, Transaction, params};
use uuid::Uuid;

use super::error::IndexError;
use super::lookup_key::LookupKey;
use super::row::stem;
use super::schema::id_bytes;

/// Assigns the id `claimed` to one of the files that name it.
///
/// The file with a name that ends in the short form of the id gets it, otherwise the first by path. The other files get an id derived from
/// their path.
pub(super) fn assign_claimed_id(transaction: &Transaction<'_>, claimed: &MemoryId) -> Result<(), IndexError> {
    let mut claimants = claimants(transaction, claimed)?;
    let ending = format!("-{}", claimed.short());
    claimants.sort_by_cached_key(|(_, path)| (!stem(path).ends_with(&ending), path.clone()));
    for (key, _) in claimants.iter().skip(1) {
        set_id(transaction, *key, None)?;
    }
    for (rank, (key, path)) in claimants.iter().enumerate() {
        let id = if rank == 0 { *claimed } else { MemoryId::for_path(path) };
        let spare = MemoryId::for_path(&format!("{path}#{claimed}"));
        if !set_id(transaction, *key, Some(&id))? && !set_id(transaction, *key, Some(&spare))? {
            return Err(IndexError::Mismatch);
        }
    }
    Ok(())
}

/// Returns the keys and paths of the documents with files that name this id.
pub(super) fn claimants(connection: &Connection, claimed: &MemoryId) -> Result<Vec<(i64, String)>, IndexError> {
    let sql = "SELECT key, path FROM handles JOIN documents ON key = document WHERE bits = ? AND claimed = ?";
    let mut select = connection.prepare_cached(sql)?;
    let values = params![LookupKey::Claim(claimed).bits(), Uuid::from(*claimed).into_bytes()];
    Ok(select.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
}

/// Sets or clears the id of a document, and returns whether the id was free.
fn set_id(transaction: &Transaction<'_>, key: i64, id: Option<&MemoryId>) -> Result<bool, IndexError> {
    let mut update = transaction.prepare_cached("UPDATE OR IGNORE documents SET id = ? WHERE key = ?")?;
    Ok(update.execute(params![id.map(id_bytes), key])? == 1)
}
