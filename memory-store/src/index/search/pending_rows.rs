//! Documents that are not yet committed to the full-text index.

use chrono::{DateTime, Utc};
use memory_core::Filter;
use memory_core::rank::TextProperties;
use rusqlite::{Connection, params_from_iter};
use tantivy::fieldnorm::FieldNormReader;

use super::query_term::{QueryTerm, TermField};
use crate::index::document_terms::{DocumentTerms, EncodedTerms};
use crate::index::error::IndexError;
use crate::index::filter::{TextFilter, sql_condition};
use crate::index::schema::decode_numbers;

/// A pending document, which replaces its committed version.
#[derive(Debug)]
pub(super) struct PendingDocument {
    pub(super) key: i64,
    pub(super) id: u128,
    pub(super) words: DocumentTerms,
    /// The lengths of its text and character fields, rounded as in the full-text index.
    pub(super) lengths: [u32; 2],
    /// Whether the document passes the filter.
    pub(super) passes: bool,
    pub(super) created_at: i64,
    pub(super) filters: Vec<i64>,
    pub(super) facts: TextProperties,
}

impl PendingDocument {
    pub(super) fn frequency(&self, term: &str, part: TermField) -> u32 {
        match part {
            TermField::Text => self.words.text.frequency(term),
            TermField::Characters => self.words.characters.frequency(term),
            TermField::Spelled => self.words.spelled.frequency(term),
        }
    }

    /// Returns whether the document contains a query word.
    pub(super) fn contains(&self, wanted: &QueryTerm) -> bool {
        wanted
            .matching_terms()
            .any(|term| 0 < self.frequency(term, wanted.part))
    }

    /// Returns whether the document contains one of the query words or has one of `handles`.
    pub(super) fn matches(&self, wanted: &[QueryTerm], handles: &[i64]) -> bool {
        wanted.iter().any(|wanted| self.contains(wanted))
            || handles.iter().any(|bits| self.filters.contains(bits))
    }
}

/// Reads the pending documents within the filter's scopes, and the keys of all pending rows.
///
/// The keys include removed documents; a search must ignore the committed versions of all of them.
pub(super) fn read_pending(
    connection: &Connection,
    filter: &Filter,
    now: DateTime<Utc>,
) -> Result<(Vec<PendingDocument>, Vec<i64>), IndexError> {
    let condition = sql_condition(filter, now);
    let sql = format!(
        "SELECT document, removed, text, pending.characters, pending.length, characters_length, ({}), \
         pending.created_at, filters, facts, documents.id, scope, spelled, documents.holds_until FROM pending LEFT JOIN documents ON key = document",
        condition
            .sql
            .replace("created_at", "documents.created_at")
            .replace("holds_until", "documents.holds_until")
            .replace("id NOT NULL", "documents.id NOT NULL"),
    );
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query(params_from_iter(condition.values))?;
    let within: Option<Vec<String>> = filter
        .within
        .as_ref()
        .map(|within| within.iter().map(ToString::to_string).collect());
    let moment = TextFilter::of(filter, now).holds_after;
    let (mut pending, mut keys) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let key = row.get(0)?;
        keys.push(key);
        let holds_until: Option<i64> = row.get(13)?;
        let has_ended = moment
            .zip(holds_until)
            .is_some_and(|(moment, end)| end <= moment);
        if row.get(1)? || has_ended {
            continue;
        }
        if let Some(within) = &within {
            let scope: Option<String> = row.get(11)?;
            if scope.is_none_or(|scope| !within.contains(&scope)) {
                continue;
            }
        }
        pending.push(PendingDocument {
            key,
            id: row
                .get::<_, Option<[u8; 16]>>(10)?
                .map_or(0, u128::from_be_bytes),
            words: DocumentTerms {
                text: EncodedTerms(row.get(2)?),
                characters: EncodedTerms(row.get(3)?),
                spelled: EncodedTerms(row.get(12)?),
            },
            lengths: [quantize_length(row.get(4)?), quantize_length(row.get(5)?)],
            passes: row.get::<_, Option<bool>>(6)?.unwrap_or(false),
            created_at: row.get(7)?,
            filters: decode_numbers(&row.get::<_, Vec<u8>>(8)?),
            facts: TextProperties::from_bits(row.get::<_, i64>(9)?.cast_unsigned()),
        });
    }
    Ok((pending, keys))
}

/// Returns the keys of all pending rows, as [`read_pending()`] does.
pub(super) fn pending_keys(connection: &Connection) -> Result<Vec<i64>, IndexError> {
    let mut select = connection.prepare_cached("SELECT document FROM pending")?;
    let keys = select.query_map((), |row| row.get(0))?;
    Ok(keys.collect::<Result<_, _>>()?)
}

/// Returns a length as the full-text index stores it, rounded to one byte.
fn quantize_length(length: u32) -> u32 {
    FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(length))
}
