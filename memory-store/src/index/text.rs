//! The full text: tantivy's side of the index.

use std::collections::HashSet;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tantivy::directory::{INDEX_WRITER_LOCK, META_LOCK, MmapDirectory};
use tantivy::index::SegmentId;
use tantivy::indexer::UserOperation;
use tantivy::merge_policy::LogMergePolicy;
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};

use super::trouble::Trouble;
use super::vocabulary::{Vocabulary, keep_vocabularies};
use super::words::{Terms, Words};
use crate::derived::make_folder;

/// The folder, below the index, that holds one folder for each epoch.
pub(super) const FOLDER: &str = "text";

/// How much the writer gathers before it makes a segment, in bytes; the least that tantivy takes.
const BUDGET: usize = 15_000_000;

/// How many documents are handed to the writer's thread at once.
const PORTION: usize = 32;

/// Larger segments are not merged while somebody waits.
const MERGED: usize = 20_000;

/// What tells which files there are.
const META: &str = "meta.json";

/// So long does it take at most from when such a file is made until all of it is written.
const REPLACED: Duration = Duration::from_secs(1);

/// The fields of a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    /// The document's key in the tables.
    pub(super) key: Field,
    /// Words and pairs of characters.
    pub(super) text: Field,
    /// Single characters.
    pub(super) characters: Field,
    /// Words as they are spelled, and symbols.
    pub(super) spelled: Field,
    /// The bits of what it can be filtered by.
    pub(super) filters: Field,
    /// When it was created.
    pub(super) created_at: Field,
    /// Until when it holds.
    pub(super) holds_until: Field,
    /// The two halves of its id.
    pub(super) id: [Field; 2],
    /// What kind of text it is.
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
pub(super) struct Entry<'a> {
    pub(super) key: i64,
    pub(super) id: u128,
    pub(super) words: &'a Words,
    pub(super) filters: &'a [i64],
    pub(super) facts: u64,
    pub(super) created_at: i64,
    pub(super) holds_until: i64,
}

/// The full text of one epoch.
pub(super) struct Text {
    index: Index,
    /// Where its files are.
    folder: PathBuf,
    /// What is read, and the generation it is of.
    reader: Mutex<Option<(u64, IndexReader)>>,
    pub(super) fields: Fields,
}

impl std::fmt::Debug for Text {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Text").finish_non_exhaustive()
    }
}

impl Text {
    /// Opens the full text of `epoch`, in the index at `place`.
    pub(super) fn open(place: &Path, epoch: i64) -> Result<Self, Trouble> {
        let folder = folder(place, epoch);
        let directory = MmapDirectory::open(&folder).map_err(tantivy::TantivyError::from)?;
        let text = Self::over(Index::open(directory)?, folder)?;
        text.check(&text.folder)?;
        Ok(text)
    }

    /// Makes sure that no file was changed after the last commit, which none is by our hands: what is damaged has wrong answers, or none,
    /// and to look at all sums takes as long as to read all. What tells which files there are is only ever replaced.
    fn check(&self, folder: &Path) -> Result<(), Trouble> {
        let modified = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
        for name in [META, ".managed.json"] {
            let found = folder.join(name).metadata()?;
            let age = found.modified()?.duration_since(found.created().unwrap_or(SystemTime::UNIX_EPOCH)).unwrap_or_default();
            if found.created().is_ok() && REPLACED < age {
                return Err(Trouble::Mismatch);
            }
        }
        let segments: HashSet<String> = self.index.searchable_segment_ids()?.iter().map(SegmentId::uuid_string).collect();
        // The next commit may have come in the meantime, and has written before it what is deleted of these.
        let committed = modified(&folder.join(META));
        let is_committed =
            |name: &str| name.split_once('.').is_some_and(|(segment, kind)| segments.contains(segment) && !kind.ends_with("del"));
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(is_committed) && committed < modified(&entry.path()) {
                return Err(Trouble::Mismatch);
            }
        }
        Ok(())
    }

    /// Makes an empty one.
    pub(super) fn create(place: &Path, epoch: i64) -> Result<Self, Trouble> {
        let folder = folder(place, epoch);
        make_folder(&place.join(FOLDER))?;
        make_folder(&folder)?;
        for lock in [&META_LOCK, &INDEX_WRITER_LOCK] {
            // Whoever reads locks as well, and leaves it there.
            File::options().create(true).truncate(false).write(true).mode(0o600).open(folder.join(&lock.filepath))?;
        }
        let directory = MmapDirectory::open(&folder).map_err(tantivy::TantivyError::from)?;
        Self::over(Index::create(directory, schema().0, tantivy::IndexSettings::default())?, folder)
    }

    fn over(index: Index, folder: PathBuf) -> Result<Self, Trouble> {
        let (schema, fields) = schema();
        if index.schema() != schema {
            return Err(Trouble::Mismatch);
        }
        index.tokenizers().register(TOKENIZER, TextAnalyzer::from(ByList));
        Ok(Self { index, folder, reader: Mutex::new(None), fields })
    }

    /// Returns the generation that the last commit carries.
    pub(super) fn generation(&self) -> Result<u64, Trouble> {
        let payload = self.index.load_metas()?.payload;
        payload.and_then(|payload| payload.parse().ok()).ok_or(Trouble::Mismatch)
    }

    /// Returns the state of `wanted`, the generation that the rows know of, or a newer one; and which it is.
    pub(super) fn searcher(&self, wanted: u64) -> Result<(Searcher, u64), Trouble> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        // What was flushed since the rows were read is pending in them.
        if let Some((own, reader)) = reader.as_ref().filter(|(own, _)| *own == wanted) {
            return Ok((reader.searcher(), *own));
        }
        loop {
            let generation = self.generation()?;
            match &*reader {
                // What a merge makes of the segments says the same as they do.
                Some((own, reader)) if *own == generation => return Ok((reader.searcher(), generation)),
                Some((_, stale)) => {
                    stale.reload()?;
                    // Taken before the state was: another commit in between is seen by the next turn.
                    *reader = Some((generation, stale.clone()));
                }
                None => {
                    let fresh = self.index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
                    *reader = Some((generation, fresh));
                }
            }
        }
    }

    /// Returns the words of a segment, if they were written down beside it.
    pub(super) fn vocabulary(&self, segment: SegmentId) -> Option<Vocabulary> {
        Vocabulary::open(&self.folder, segment)
    }

    /// Starts to write.
    pub(super) fn writer(&self) -> Result<Writer, Trouble> {
        let writer = self.index.writer_with_num_threads(1, BUDGET)?;
        let mut policy = LogMergePolicy::default();
        policy.set_max_docs_before_merge(MERGED);
        policy.set_min_layer_size(1_000);
        policy.set_del_docs_ratio_before_merge(0.3);
        writer.set_merge_policy(Box::new(policy));
        let folder = self.folder.clone();
        Ok(Writer { inner: writer, folder, fields: self.fields, gathered: Vec::with_capacity(PORTION) })
    }

    /// Returns how many documents there are.
    pub(super) fn count(&self) -> Result<u64, Trouble> {
        Ok(self.searcher(self.generation()?)?.0.num_docs())
    }
}

/// Writes the full text.
pub(super) struct Writer {
    inner: IndexWriter,
    folder: PathBuf,
    fields: Fields,
    /// What is not handed over yet: a thread that is woken for each document does little else.
    gathered: Vec<UserOperation>,
}

impl Writer {
    /// Adds a document.
    pub(super) fn add(&mut self, entry: &Entry<'_>) -> Result<(), Trouble> {
        let Fields { key, text, characters, spelled, filters, created_at, holds_until, id, facts } = self.fields;
        let mut document = TantivyDocument::new();
        document.add_u64(key, entry.key.cast_unsigned());
        document.add_text(text, &entry.words.text.0);
        document.add_text(characters, &entry.words.characters.0);
        document.add_text(spelled, &entry.words.spelled.0);
        entry.filters.iter().for_each(|bits| document.add_u64(filters, bits.cast_unsigned()));
        document.add_i64(created_at, entry.created_at);
        document.add_i64(holds_until, entry.holds_until);
        document.add_u64(facts, entry.facts);
        for (field, half) in id.into_iter().zip(halves(entry.id)) {
            document.add_u64(field, half);
        }
        self.gathered.push(UserOperation::Add(document));
        if PORTION <= self.gathered.len() { self.hand_over() } else { Ok(()) }
    }

    /// Removes a document, if it is there.
    pub(super) fn remove(&mut self, key: i64) {
        self.gathered.push(UserOperation::Delete(Term::from_field_u64(self.fields.key, key.cast_unsigned())));
    }

    fn hand_over(&mut self) -> Result<(), Trouble> {
        self.inner.run(self.gathered.drain(..))?;
        Ok(())
    }

    /// Makes everything visible and durable, as `generation`, and waits for the merges.
    pub(super) fn commit(mut self, generation: u64) -> Result<(), Trouble> {
        self.publish(generation)?;
        let index = self.inner.index().clone();
        self.inner.wait_merging_threads()?;
        keep_vocabularies(&index, &self.folder, self.fields.spelled);
        make_private(&self.folder);
        Ok(())
    }

    /// Makes everything visible and durable, as one segment.
    pub(super) fn commit_as_one(mut self, generation: u64) -> Result<(), Trouble> {
        self.inner.set_merge_policy(Box::new(tantivy::merge_policy::NoMergePolicy));
        self.publish(generation)?;
        let segments = self.inner.index().searchable_segment_ids()?;
        if 1 < segments.len() {
            self.inner.merge(&segments).wait()?;
        }
        self.inner.garbage_collect_files().wait()?;
        let index = self.inner.index().clone();
        self.inner.wait_merging_threads()?;
        keep_vocabularies(&index, &self.folder, self.fields.spelled);
        make_private(&self.folder);
        Ok(())
    }

    fn publish(&mut self, generation: u64) -> Result<(), Trouble> {
        self.hand_over()?;
        let mut prepared = self.inner.prepare_commit()?;
        prepared.set_payload(&generation.to_string());
        prepared.commit()?;
        Ok(())
    }
}

/// Keeps others from what is in a folder, which is for its owner alone already. Where a system has no such rights, that is all there is.
fn make_private(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let mode = entry.metadata().map_or(0, |found| found.permissions().mode());
        if mode & 0o077 != 0 {
            let _ = fs::set_permissions(entry.path(), Permissions::from_mode(mode & 0o700));
        }
    }
}

/// Returns the two halves of an id.
pub(super) fn halves(id: u128) -> [u64; 2] {
    let [high, low] = [id >> 64, id & u128::from(u64::MAX)];
    [high, low].map(|half| u64::try_from(half).expect("64 bits are left"))
}

/// Returns where the full text of `epoch` is.
pub(super) fn folder(place: &Path, epoch: i64) -> PathBuf {
    place.join(FOLDER).join(epoch.to_string())
}

const TOKENIZER: &str = "list";

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let terms = TextFieldIndexing::default().set_tokenizer(TOKENIZER).set_index_option(IndexRecordOption::WithFreqs);
    let terms = TextOptions::default().set_indexing_options(terms);
    let spelled = TextFieldIndexing::default().set_tokenizer(TOKENIZER).set_index_option(IndexRecordOption::Basic);
    let spelled = TextOptions::default().set_indexing_options(spelled.set_fieldnorms(false));
    let fast = NumericOptions::default() | FAST;
    let fields = Fields {
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

/// The tokenizer that reads [`super::words::Encoded`] terms: the cutting has been done already.
#[derive(Debug, Clone)]
struct ByList;

impl Tokenizer for ByList {
    type TokenStream<'a> = ListStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> ListStream<'a> {
        ListStream { terms: Terms(text), left: 0, token: Token { position: 0, ..Token::default() } }
    }
}

struct ListStream<'a> {
    terms: Terms<'a>,
    left: u32,
    token: Token,
}

impl TokenStream for ListStream<'_> {
    fn advance(&mut self) -> bool {
        if 0 < self.left {
            self.left -= 1;
            return true;
        }
        let Some((term, frequency)) = self.terms.next() else { return false };
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
