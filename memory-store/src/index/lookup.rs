//! Looks up memories by their names and references.

use memory_core::wikilink::{self, WikilinkCandidate, WikilinkNameKind, WikilinkTarget};
use memory_core::{ContentHash, MemoryId, Origin, Scope, StoreError, StoredMemory};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use super::documents::{COLUMNS, IndexedDocument};
use super::error::IndexError;
use super::filter::{ACCEPTED, narrow_scope_condition};
use super::lookup_key::LookupKey;
use super::lookup_key::SHORTEST;
use super::memory_index::MemoryIndex;
use super::schema::{id_bytes, row_id};
use crate::memory_file::load;

/// Maximum number of memories returned for an ambiguous prefix.
const MAX_AMBIGUOUS: usize = 20;

/// The location of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemoryLocation {
    /// The path of the file.
    pub(crate) path: String,
    /// Number of accesses that the file does not include yet.
    pub(crate) accesses: u64,
}

impl MemoryIndex {
    /// Returns the ids and paths of the memories that match `reference`.
    ///
    /// A reference is an id, a prefix of one (4 digits or more), or a file stem. The result is limited to the scopes `within`, if any are
    /// given.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn resolve(
        &self,
        reference: &str,
        within: Option<&[Scope]>,
    ) -> Result<Vec<(MemoryId, String)>, StoreError> {
        let reference = reference.trim();
        let found = self.query("look up a memory", |_, opened| {
            let connection = &opened.connection;
            if let Ok(id) = reference.parse::<MemoryId>()
                && let Some(document) = IndexedDocument::by_id(connection, &id)?
            {
                let mut found = vec![document];
                retain_in_scopes(connection, &mut found, within)?;
                return Ok(found);
            }
            let name = reference
                .strip_suffix(".md")
                .unwrap_or(reference)
                .to_lowercase();
            let mut found = by_prefix(connection, reference, within, "1")?;
            let mut of_stem =
                IndexedDocument::by_handle(connection, LookupKey::Stem(&name).bits())?;
            retain_in_scopes(connection, &mut of_stem, within)?;
            found.extend(of_stem);
            found.sort_by(|left, right| left.path.cmp(&right.path));
            found.dedup();
            Ok(found)
        })?;
        Ok(found
            .into_iter()
            .map(|document| (document.id, document.path))
            .collect())
    }

    /// Returns the location of the memory with this id.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn locate(&self, id: &MemoryId) -> Result<Option<MemoryLocation>, StoreError> {
        let found = self.query("look up a memory", |_, opened| {
            IndexedDocument::by_id(&opened.connection, id)
        })?;
        Ok(found.map(|IndexedDocument { path, accesses, .. }| MemoryLocation { path, accesses }))
    }

    /// Returns the accepted memory that was imported from `origin`, the oldest if there are several.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn by_origin(
        &self,
        origin: &Origin,
        is_accepted: impl Fn(&StoredMemory) -> Result<bool, StoreError>,
    ) -> Result<Option<StoredMemory>, StoreError> {
        for document in self.find_by_handle(LookupKey::Origin(origin).bits())? {
            if let Some(stored) = self.load_document(&document)?
                && stored
                    .memory
                    .origin
                    .iter()
                    .chain(&stored.memory.other_origins)
                    .any(|own| own.is_same_place(origin))
                && is_accepted(&stored)?
            {
                return Ok(Some(stored));
            }
        }
        Ok(None)
    }

    /// Returns the memories in `scope` whose content or words have this hash, the oldest first.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn by_content(
        &self,
        hash: &ContentHash,
        scope: &Scope,
    ) -> Result<Vec<MemoryId>, StoreError> {
        let mut found = Vec::new();
        for document in self.find_by_handle(LookupKey::Content(hash, scope).bits())? {
            if let Some(stored) = self.load_document(&document)?
                && [stored.memory.content_hash(), stored.memory.words_hash()].contains(hash)
                && stored.memory.scope == *scope
            {
                found.push(document.id);
            }
        }
        Ok(found)
    }

    /// Returns the memories whose `links` name `id` or whose wikilinks use one of `keys`, sorted by path.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn referring(
        &self,
        id: &MemoryId,
        keys: &[String],
    ) -> Result<Vec<StoredMemory>, StoreError> {
        let mut documents = self.find_by_handle(LookupKey::Link(id).bits())?;
        for key in keys {
            documents.extend(self.find_by_handle(LookupKey::Wikilink(key).bits())?);
        }
        documents.sort_by(|left, right| left.path.cmp(&right.path));
        documents.dedup();
        documents
            .iter()
            .filter_map(|document| self.load_document(document).transpose())
            .collect()
    }

    /// Returns the candidates that a wikilink with the key `key` can refer to.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn name_candidates(&self, key: &str) -> Result<Vec<WikilinkCandidate>, StoreError> {
        self.query("look up a name", |index, opened| {
            let connection = &opened.connection;
            let (own, by_origin) =
                IndexedDocument::by_handle(connection, LookupKey::Path(key).bits())?
                    .into_iter()
                    .partition::<Vec<_>, _>(|document| {
                        wikilink::lookup_keys(&document.path)
                            .last()
                            .is_some_and(|own| own == key)
                    });
            let mut named = by_origin
                .iter()
                .flat_map(|document| index.origin_candidates(document, key))
                .collect::<Vec<_>>();
            let mut add = |documents: Vec<IndexedDocument>, by: WikilinkNameKind| {
                named.extend(documents.into_iter().map(|document| {
                    let target = WikilinkTarget::Memory(document.id);
                    WikilinkCandidate {
                        target,
                        path: document.path,
                        by,
                    }
                }));
            };
            let by_id = by_prefix(connection, key, None, ACCEPTED)?;
            let former = if by_id.is_empty() {
                index.superseding(connection, key)?
            } else {
                Vec::new()
            };
            add(by_id, WikilinkNameKind::Id);
            add(former, WikilinkNameKind::Former);
            add(own, WikilinkNameKind::Path);
            add(
                IndexedDocument::by_handle(connection, LookupKey::Title(key).bits())?,
                WikilinkNameKind::Title,
            );
            add(
                IndexedDocument::by_handle(connection, LookupKey::Alias(key).bits())?,
                WikilinkNameKind::Alias,
            );
            Ok(named)
        })
    }

    /// Returns the documents that supersede an id that starts with `prefix`.
    fn superseding(
        &self,
        connection: &Connection,
        prefix: &str,
    ) -> Result<Vec<IndexedDocument>, IndexError> {
        let digits: String = prefix
            .chars()
            .filter(|character| *character != '-')
            .collect::<String>()
            .to_lowercase();
        if prefix_range(prefix).is_none() {
            return Ok(Vec::new());
        }
        let took = |document: &IndexedDocument| {
            let Ok(Some(loaded)) = load(self.disk.as_ref(), &document.path) else {
                return false;
            };
            let mut former = loaded
                .stored
                .memory
                .supersedes
                .iter()
                .map(|id| id.to_string().replace('-', ""));
            former.any(|id| id.starts_with(&digits))
        };
        let mut documents =
            IndexedDocument::by_handle(connection, LookupKey::Former(&digits[..SHORTEST]).bits())?;
        documents.retain(took);
        Ok(documents)
    }

    /// Returns the candidates for `key` of a document that was imported from files of that name.
    ///
    /// Includes the title and the aliases, because the index stores a name of several kinds only as the strongest kind.
    fn origin_candidates(&self, document: &IndexedDocument, key: &str) -> Vec<WikilinkCandidate> {
        let Ok(Some(loaded)) = load(self.disk.as_ref(), &document.path) else {
            return Vec::new();
        };
        let memory = loaded.stored.memory;
        let candidate = |path: String, by: WikilinkNameKind| WikilinkCandidate {
            target: WikilinkTarget::Memory(document.id),
            path,
            by,
        };
        let is_key = |name: &str| {
            wikilink::lookup_keys(name)
                .first()
                .is_some_and(|own| own == key)
        };
        let title = memory
            .title_or_heading()
            .filter(|title| is_key(title))
            .map(|_| WikilinkNameKind::Title);
        let alias = memory
            .aliases
            .iter()
            .find(|alias| is_key(alias))
            .map(|_| WikilinkNameKind::Alias);
        let by_path = memory
            .origins_named(key)
            .map(|origin| candidate(origin.path.clone(), WikilinkNameKind::Path));
        let by_name = [title, alias]
            .into_iter()
            .flatten()
            .map(|by| candidate(document.path.clone(), by));
        by_path.chain(by_name).collect()
    }

    /// Returns the memories with accesses that their files do not include.
    pub(crate) fn ids_with_new_accesses(&self) -> Result<Vec<MemoryId>, StoreError> {
        self.query("list accesses", |_, opened| {
            let sql = "SELECT id FROM documents WHERE accesses > 0 AND id NOT NULL ORDER BY key";
            let mut select = opened.connection.prepare_cached(sql)?;
            let ids = select.query_map((), |row| row_id(row, 0).map(MemoryId::from))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    /// Adds an access to each of `ids`; errors are ignored.
    pub(crate) fn count_access(&self, ids: &[MemoryId]) {
        let counted = self.modify("count accesses", |_, opened| {
            super::schema::write(&mut opened.connection, |transaction| {
                let mut update = transaction
                    .prepare_cached("UPDATE documents SET accesses = accesses + 1 WHERE id = ?")?;
                ids.iter()
                    .try_for_each(|id| Ok(update.execute([id_bytes(id)]).map(drop)?))
            })
        });
        // A query must not fail because of a counter.
        drop(counted);
    }

    /// Returns the current content of a document, or `None` if its file is deleted or cannot be read.
    pub(super) fn load_document(
        &self,
        document: &IndexedDocument,
    ) -> Result<Option<StoredMemory>, StoreError> {
        let at = |document: &IndexedDocument| match load(self.disk.as_ref(), &document.path) {
            Ok(Some(loaded)) => Some(document.complete(loaded.stored)),
            _ => None,
        };
        if let Some(stored) = at(document) {
            return Ok(Some(stored));
        }
        // The file may have moved since the last refresh.
        self.refresh(super::RefreshDepth::Usual)?;
        let moved = self.query("look up a memory", |_, opened| {
            IndexedDocument::by_id(&opened.connection, &document.id)
        })?;
        Ok(moved.as_ref().and_then(at))
    }

    fn find_by_handle(&self, bits: i64) -> Result<Vec<IndexedDocument>, StoreError> {
        self.query("look up memories", |_, opened| {
            IndexedDocument::by_handle(&opened.connection, bits)
        })
    }
}

/// Returns the documents that meet `condition` with an id that starts with `prefix`; empty if the prefix is not valid.
fn by_prefix(
    connection: &Connection,
    prefix: &str,
    within: Option<&[Scope]>,
    condition: &str,
) -> Result<Vec<IndexedDocument>, IndexError> {
    let Some((from, to)) = prefix_range(prefix) else {
        return Ok(Vec::new());
    };
    let mut values = vec![Value::from(from.to_vec()), Value::from(to.to_vec())];
    values.extend(
        within
            .into_iter()
            .flatten()
            .map(|scope| Value::from(scope.to_string())),
    );
    let mut select = connection.prepare_cached(&prefix_query(within, condition))?;
    Ok(select
        .query_map(params_from_iter(values), IndexedDocument::from_row)?
        .collect::<Result<_, _>>()?)
}

/// Returns the query of [`by_prefix`].
fn prefix_query(within: Option<&[Scope]>, condition: &str) -> String {
    let narrowed = within
        .map(|within| format!(" AND {}", narrow_scope_condition(within)))
        .unwrap_or_default();
    format!(
        "SELECT {COLUMNS} FROM documents WHERE ? <= id AND id <= ? AND {condition}{narrowed} ORDER BY id LIMIT {MAX_AMBIGUOUS}"
    )
}

/// Removes the documents outside the scopes, if any are given.
fn retain_in_scopes(
    connection: &Connection,
    documents: &mut Vec<IndexedDocument>,
    within: Option<&[Scope]>,
) -> Result<(), IndexError> {
    let Some(within) = within else { return Ok(()) };
    let within: Vec<String> = within.iter().map(ToString::to_string).collect();
    let mut kept = Vec::with_capacity(documents.len());
    let mut select = connection.prepare_cached("SELECT scope FROM documents WHERE key = ?")?;
    for document in documents.drain(..) {
        let scope: Option<String> = select
            .query_row([document.key], |row| row.get(0))
            .optional()?;
        if scope.is_some_and(|scope| within.contains(&scope)) {
            kept.push(document);
        }
    }
    *documents = kept;
    Ok(())
}

/// Returns the first and the last id with this prefix.
fn prefix_range(prefix: &str) -> Option<([u8; 16], [u8; 16])> {
    id_range(prefix, SHORTEST)
}

/// Returns the first and the last id that start with `prefix`, if it has `shortest` digits or more.
pub(super) fn id_range(prefix: &str, shortest: usize) -> Option<([u8; 16], [u8; 16])> {
    let digits: String = prefix
        .chars()
        .filter(|character| *character != '-')
        .collect();
    let is_prefix = (shortest..=32).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let bound = |filler: &str| {
        let filled = format!("{digits}{}", filler.repeat(32 - digits.len()));
        u128::from_str_radix(&filled, 16)
            .ok()
            .map(u128::to_be_bytes)
    };
    if is_prefix {
        bound("0").zip(bound("f"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use memory_core::Scope;
    use rusqlite::Connection;

    use super::{prefix_query, prefix_range};
    use crate::index::schema;

    #[test]
    fn an_id_is_looked_up_in_the_index_of_ids_whatever_scopes_are_visible() {
        let mut connection = Connection::open_in_memory().unwrap();
        let transaction = connection.transaction().unwrap();
        schema::create(&transaction, 1, 0).unwrap();
        for within in [
            None,
            Some([Scope::Global, "project:garden".parse().unwrap()].as_slice()),
        ] {
            let query = format!("EXPLAIN QUERY PLAN {}", prefix_query(within, "1"));
            let mut statement = transaction.prepare(&query).unwrap();
            let steps = statement.query_map(
                rusqlite::params_from_iter(vec!["0"; 2 + within.map_or(0, <[_]>::len)]),
                |row| row.get::<_, String>(3),
            );
            let steps: Vec<_> = steps.unwrap().map(Result::unwrap).collect();
            assert!(
                matches!(&steps[..], [only] if only.ends_with("(id>? AND id<?)")),
                "{steps:?}"
            );
        }
    }

    #[test]
    fn a_prefix_is_four_digits_or_more_with_or_without_hyphens() {
        let range =
            |prefix: &str| prefix_range(prefix).map(|(from, to)| (from[0], to[0], from[3], to[3]));
        assert_eq!(range("550e"), Some((0x55, 0x55, 0, 0xff)));
        assert_eq!(range("550E8400-e2"), Some((0x55, 0x55, 0, 0)));
        assert_eq!(
            [
                range("550"),
                range("55-0"),
                range("deploy"),
                range(""),
                range(&"0".repeat(33))
            ],
            [None; 5]
        );
    }
}
