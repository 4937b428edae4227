//! The full-text part of the index, in tantivy.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tantivy::directory::{INDEX_WRITER_LOCK, META_LOCK};
use tantivy::index::SegmentId;
use tantivy::indexer::UserOperation;
use tantivy::merge_policy::{LogMergePolicy, MergePolicy, NoMergePolicy};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};

use super::document_terms::{DocumentTerms, TermIter};
use super::error::IndexError;
use super::text_directory::TextDirectory;
use super::vocabulary::{SegmentVocabulary, update_vocabularies};
use crate::cache_file::create_folder;
use crate::system::{owner_only, remove_access_of_others};

/// The folder, below the index, that holds one folder for each epoch.
pub(super) const FOLDER: &str = "text";

/// Memory budget of the writer before it writes a segment, in bytes; the minimum that tantivy accepts.
const WRITER_BYTES: usize = 15_000_000;

/// Number of documents sent to the writer thread at once.
const DOCUMENTS_PER_SEND: usize = 32;

/// Maximum number of documents of a segment that a commit merges, because the caller waits for merges.
const MAX_MERGED_DOCUMENTS: usize = 20_000;

/// Maximum number of open vocabularies; an index has fewer segments.
const MAX_OPEN_VOCABULARIES: usize = 64;

/// The file of tantivy that lists the segments.
const META: &str = "meta.json";

/// Maximum time from the creation of such a file to its last write.
const MAX_WRITE_TIME: Duration = Duration::from_secs(1);

/// The fields of a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextFields {
    /// The key of the document in the tables.
    pub(super) key: Field,
    /// Words and pairs of characters.
    pub(super) text: Field,
    /// Single characters.
    pub(super) characters: Field,
    /// Words in their original spelling, and symbols.
    pub(super) spelled: Field,
    /// The hashes of the attributes for filters.
    pub(super) filters: Field,
    /// The time of creation.
    pub(super) created_at: Field,
    /// The time at which the document stops being current.
    pub(super) holds_until: Field,
    /// The two halves of the id.
    pub(super) id: [Field; 2],
    /// Facts about the text for the ranking.
    pub(super) facts: Field,
}

/// The names of the fields that are read by name.
pub(super) mod names {
    pub(in super::super) const KEY: &str = "key";
    pub(in super::super) const CREATED_AT: &str = "created_at";
    pub(in super::super) const HOLDS_UNTIL: &str = "holds_until";
    pub(in super::super) const FACTS: &str = "facts";
    pub(in super::super) const ID: [&str; 2] = ["id_high", "id_low"];
}

/// A document for the full text.
#[derive(Debug)]
pub(super) struct TextDocument<'a> {
    pub(super) key: i64,
    pub(super) id: u128,
    pub(super) words: &'a DocumentTerms,
    pub(super) filters: &'a [i64],
    pub(super) facts: u64,
    pub(super) created_at: i64,
    pub(super) holds_until: i64,
}

/// The full text of one epoch.
pub(super) struct FullText {
    index: Index,
    /// The folder of the files.
    folder: PathBuf,
    /// The reader and its generation.
    reader: Mutex<Option<(u64, IndexReader)>>,
    /// The vocabularies opened so far.
    vocabularies: Mutex<Vec<(SegmentId, SegmentVocabulary)>>,
    pub(super) fields: TextFields,
}

impl std::fmt::Debug for FullText {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Text").finish_non_exhaustive()
    }
}

impl FullText {
    /// Opens the full text of `epoch` in the index at `place`. Each wait for a lock ends after `lock_timeout`.
    pub(super) fn open(
        place: &Path,
        epoch: i64,
        lock_timeout: Duration,
    ) -> Result<Self, IndexError> {
        let folder = epoch_folder(place, epoch);
        let directory = TextDirectory::open(&folder, lock_timeout)?;
        let text = Self::from_index(Index::open(directory)?, folder)?;
        text.check(&text.folder)?;
        Ok(text)
    }

    /// Checks that no file was modified after the last commit.
    ///
    /// Files of tantivy are never modified after their commit, and its metadata files are only replaced. A damaged file yields wrong
    /// results or errors, and to verify all checksums takes as long as to read all files.
    fn check(&self, folder: &Path) -> Result<(), IndexError> {
        let modified = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
        for name in [META, ".managed.json"] {
            let found = folder.join(name).metadata()?;
            let age = found
                .modified()?
                .duration_since(found.created().unwrap_or(SystemTime::UNIX_EPOCH))
                .unwrap_or_default();
            if found.created().is_ok() && MAX_WRITE_TIME < age {
                return Err(IndexError::Mismatch);
            }
        }
        let segments: HashSet<String> = self
            .index
            .searchable_segment_ids()?
            .iter()
            .map(SegmentId::uuid_string)
            .collect();
        // A concurrent commit writes the deletions of these segments before its metadata, so files of deletions are exempt.
        let committed = modified(&folder.join(META));
        let is_committed = |name: &str| {
            name.split_once('.')
                .is_some_and(|(segment, kind)| segments.contains(segment) && !kind.ends_with("del"))
        };
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(is_committed)
                && committed < modified(&entry.path())
            {
                return Err(IndexError::Mismatch);
            }
        }
        Ok(())
    }

    /// Creates an empty full text.
    pub(super) fn create(
        place: &Path,
        epoch: i64,
        lock_timeout: Duration,
    ) -> Result<Self, IndexError> {
        let folder = epoch_folder(place, epoch);
        create_folder(&place.join(FOLDER))?;
        create_folder(&folder)?;
        for lock in [&META_LOCK, &INDEX_WRITER_LOCK] {
            // Readers lock as well and leave the lock files, so the files are created here with private permissions.
            owner_only(File::options().create(true).truncate(false).write(true))
                .open(folder.join(&lock.filepath))?;
        }
        let directory = TextDirectory::open(&folder, lock_timeout)?;
        Self::from_index(
            Index::create(directory, schema().0, tantivy::IndexSettings::default())?,
            folder,
        )
    }

    fn from_index(index: Index, folder: PathBuf) -> Result<Self, IndexError> {
        let (schema, fields) = schema();
        if index.schema() != schema {
            return Err(IndexError::Mismatch);
        }
        index
            .tokenizers()
            .register(TOKENIZER, TextAnalyzer::from(EncodedTokenizer));
        Ok(Self {
            index,
            folder,
            reader: Mutex::new(None),
            vocabularies: Mutex::default(),
            fields,
        })
    }

    /// Returns the generation in the last commit.
    pub(super) fn generation(&self) -> Result<u64, IndexError> {
        let payload = self.index.load_metas()?.payload;
        payload
            .and_then(|payload| payload.parse().ok())
            .ok_or(IndexError::Mismatch)
    }

    /// Returns a searcher of generation `wanted` or newer, and its generation.
    ///
    /// The rows of the caller have generation `wanted`.
    pub(super) fn searcher(&self, wanted: u64) -> Result<(Searcher, u64), IndexError> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        // Documents flushed later are still pending in the rows of the caller.
        if let Some((own, reader)) = reader.as_ref().filter(|(own, _)| *own == wanted) {
            return Ok((reader.searcher(), *own));
        }
        loop {
            let generation = self.generation()?;
            match &*reader {
                // A merge changes the segments but not their content.
                Some((own, reader)) if *own == generation => {
                    return Ok((reader.searcher(), generation));
                }
                Some((_, stale)) => {
                    stale.reload()?;
                    // The generation was read before the reload: the next iteration detects another commit in between.
                    *reader = Some((generation, stale.clone()));
                }
                None => {
                    let fresh = self
                        .index
                        .reader_builder()
                        .reload_policy(ReloadPolicy::Manual)
                        .try_into()?;
                    *reader = Some((generation, fresh));
                }
            }
        }
    }

    /// Returns the vocabulary of a segment, if its file exists and is intact.
    ///
    /// An open vocabulary is kept, because the check of its file takes as long as the search for several words.
    pub(super) fn vocabulary(&self, segment: SegmentId) -> Option<SegmentVocabulary> {
        let mut open = self
            .vocabularies
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((_, vocabulary)) = open.iter().find(|(own, _)| *own == segment) {
            return Some(vocabulary.clone());
        }
        let vocabulary = SegmentVocabulary::open(&self.folder, segment)?;
        if MAX_OPEN_VOCABULARIES <= open.len() {
            // Most of them belong to segments that were merged since.
            open.clear();
        }
        open.push((segment, vocabulary.clone()));
        Some(vocabulary)
    }

    /// Opens a writer.
    pub(super) fn writer(&self) -> Result<TextWriter, IndexError> {
        let mut policy = LogMergePolicy::default();
        policy.set_max_docs_before_merge(MAX_MERGED_DOCUMENTS);
        policy.set_min_layer_size(1_000);
        policy.set_del_docs_ratio_before_merge(0.3);
        self.writer_with(policy)
    }

    /// Opens a writer for a new index, which is committed in one segment.
    ///
    /// It merges no segments in the background: such a merge could end during that of the commit, which would then not find its segments.
    pub(super) fn bulk_writer(&self) -> Result<TextWriter, IndexError> {
        self.writer_with(NoMergePolicy)
    }

    fn writer_with(&self, policy: impl MergePolicy + 'static) -> Result<TextWriter, IndexError> {
        let writer = self.index.writer_with_num_threads(1, WRITER_BYTES)?;
        writer.set_merge_policy(Box::new(policy));
        let folder = self.folder.clone();
        Ok(TextWriter {
            inner: writer,
            folder,
            fields: self.fields,
            gathered: Vec::with_capacity(DOCUMENTS_PER_SEND),
        })
    }

    /// Returns the number of documents.
    pub(super) fn count(&self) -> Result<u64, IndexError> {
        Ok(self.searcher(self.generation()?)?.0.num_docs())
    }
}

/// A writer of the full text.
pub(super) struct TextWriter {
    inner: IndexWriter,
    folder: PathBuf,
    fields: TextFields,
    /// Operations not sent yet: a wakeup of the writer thread for each document would dominate the cost.
    gathered: Vec<UserOperation>,
}

impl TextWriter {
    /// Adds a document.
    pub(super) fn add(&mut self, entry: &TextDocument<'_>) -> Result<(), IndexError> {
        let TextFields {
            key,
            text,
            characters,
            spelled,
            filters,
            created_at,
            holds_until,
            id,
            facts,
        } = self.fields;
        let mut document = TantivyDocument::new();
        document.add_u64(key, entry.key.cast_unsigned());
        document.add_text(text, &entry.words.text.0);
        document.add_text(characters, &entry.words.characters.0);
        document.add_text(spelled, &entry.words.spelled.0);
        entry
            .filters
            .iter()
            .for_each(|bits| document.add_u64(filters, bits.cast_unsigned()));
        document.add_i64(created_at, entry.created_at);
        document.add_i64(holds_until, entry.holds_until);
        document.add_u64(facts, entry.facts);
        for (field, half) in id.into_iter().zip(halves(entry.id)) {
            document.add_u64(field, half);
        }
        self.gathered.push(UserOperation::Add(document));
        if DOCUMENTS_PER_SEND <= self.gathered.len() {
            self.send_operations()
        } else {
            Ok(())
        }
    }

    /// Removes the document with this key, if it exists.
    pub(super) fn remove(&mut self, key: i64) {
        self.gathered
            .push(UserOperation::Delete(Term::from_field_u64(
                self.fields.key,
                key.cast_unsigned(),
            )));
    }

    fn send_operations(&mut self) -> Result<(), IndexError> {
        self.inner.run(self.gathered.drain(..))?;
        Ok(())
    }

    /// Commits all changes as `generation`, visible and durable, and waits for the merges.
    pub(super) fn commit(mut self, generation: u64) -> Result<(), IndexError> {
        self.publish(generation)?;
        let index = self.inner.index().clone();
        self.inner.wait_merging_threads()?;
        update_vocabularies(&index, &self.folder, self.fields.spelled);
        make_private(&self.folder);
        Ok(())
    }

    /// Commits all changes of a bulk writer as `generation`, visible and durable, in one segment.
    pub(super) fn commit_in_one_segment(mut self, generation: u64) -> Result<(), IndexError> {
        self.publish(generation)?;
        let segments = self.inner.index().searchable_segment_ids()?;
        if 1 < segments.len() {
            self.inner.merge(&segments).wait()?;
        }
        self.inner.garbage_collect_files().wait()?;
        let index = self.inner.index().clone();
        self.inner.wait_merging_threads()?;
        update_vocabularies(&index, &self.folder, self.fields.spelled);
        make_private(&self.folder);
        Ok(())
    }

    fn publish(&mut self, generation: u64) -> Result<(), IndexError> {
        self.send_operations()?;
        let mut prepared = self.inner.prepare_commit()?;
        prepared.set_payload(&generation.to_string());
        prepared.commit()?;
        Ok(())
    }
}

/// Removes all permissions of group and others from the files in a folder.
///
/// The folder itself is private already. Errors are ignored: a file system without permissions offers no more protection.
fn make_private(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let _ = entry
            .metadata()
            .and_then(|found| remove_access_of_others(&entry.path(), &found));
    }
}

/// Returns the upper and the lower 64 bits of an id.
pub(super) fn halves(id: u128) -> [u64; 2] {
    let [high, low] = [id >> 64, id & u128::from(u64::MAX)];
    [high, low].map(|half| u64::try_from(half).expect("64 bits are left"))
}

/// Returns the folder of the full text of `epoch`.
pub(super) fn epoch_folder(place: &Path, epoch: i64) -> PathBuf {
    place.join(FOLDER).join(epoch.to_string())
}

const TOKENIZER: &str = "list";

fn schema() -> (Schema, TextFields) {
    let mut schema = Schema::builder();
    let terms = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs);
    let terms = TextOptions::default().set_indexing_options(terms);
    let spelled = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::Basic);
    let spelled = TextOptions::default().set_indexing_options(spelled.set_fieldnorms(false));
    let fast = NumericOptions::default() | FAST;
    let fields = TextFields {
        key: schema.add_u64_field(names::KEY, fast.clone() | INDEXED),
        text: schema.add_text_field("text", terms.clone()),
        characters: schema.add_text_field("characters", terms),
        spelled: schema.add_text_field("spelled", spelled),
        filters: schema.add_u64_field("filters", NumericOptions::default() | INDEXED),
        created_at: schema.add_i64_field(names::CREATED_AT, fast.clone()),
        holds_until: schema.add_i64_field(names::HOLDS_UNTIL, fast.clone()),
        id: names::ID.map(|name| schema.add_u64_field(name, fast.clone())),
        facts: schema.add_u64_field(names::FACTS, fast.clone()),
    };
    (schema.build(), fields)
}

/// A tokenizer of the terms in [`super::document_terms`], which are tokenized already.
#[derive(Debug, Clone)]
struct EncodedTokenizer;

impl Tokenizer for EncodedTokenizer {
    type TokenStream<'a> = EncodedTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> EncodedTokenStream<'a> {
        EncodedTokenStream {
            terms: TermIter(text),
            left: 0,
            token: Token {
                position: 0,
                ..Token::default()
            },
        }
    }
}

struct EncodedTokenStream<'a> {
    terms: TermIter<'a>,
    left: u32,
    token: Token,
}

impl TokenStream for EncodedTokenStream<'_> {
    fn advance(&mut self) -> bool {
        if 0 < self.left {
            self.left -= 1;
            return true;
        }
        let Some((term, frequency)) = self.terms.next() else {
            return false;
        };
        self.token.text.clear();
        self.token.text.push_str(term);
        self.left = frequency.saturating_sub(1);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
