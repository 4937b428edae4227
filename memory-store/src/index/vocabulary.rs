//! The words of a segment as one text.
//!
//! The search of parts of words is faster in it than in tantivy's dictionary.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use memchr::arch::all::packedpair::HeuristicFrequencyRank;
use memchr::memmem::{self, FinderBuilder};
use memchr::{memchr, memrchr};
use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};
use tantivy::index::SegmentId;
use tantivy::schema::Field;
use tantivy::{Index, SegmentReader};

use super::error::IndexError;

/// Name prefix of the file; the id of the segment follows. tantivy ignores files with such names.
const PREFIX: &str = "words-";

/// Kind and version at the start of the file. The checksum of the rest follows.
const MAGIC: &[u8; 8] = b"memwrd01";

/// Position of the words in the file.
const HEAD: usize = MAGIC.len() + size_of::<u32>();

/// Separator before, between and after the words; no word contains it.
const BORDER: u8 = b'\n';

/// Number of bytes from which the frequencies of bytes are estimated.
const SAMPLE_BYTES: usize = 4096;

/// The words of a segment, the most frequent first.
#[derive(Debug, Clone)]
pub(super) struct SegmentVocabulary {
    bytes: OwnedBytes,
    ranks: ByteRanks,
}

impl SegmentVocabulary {
    /// Opens the words of `segment` in the folder of the full text.
    ///
    /// Returns `None` if the file is missing or damaged.
    pub(super) fn open(folder: &Path, segment: SegmentId) -> Option<Self> {
        let directory = MmapDirectory::open(folder).ok()?;
        let bytes = directory
            .open_read(Path::new(&file_name(segment)))
            .ok()?
            .read_bytes()
            .ok()?;
        let (head, words) = bytes.split_at_checked(HEAD)?;
        let sum = head.strip_prefix(MAGIC)?;
        let ranks = ByteRanks::from_sample(&words[..words.len().min(SAMPLE_BYTES)]);
        (sum == crc32fast::hash(words).to_le_bytes()).then_some(Self { bytes, ranks })
    }

    /// Calls `each` with every word that begins with `start`, most frequent first.
    pub(super) fn each_word_from(&self, start: &str, each: &mut dyn FnMut(&str)) {
        let words = &self.bytes[HEAD..];
        let start = [&[BORDER], start.as_bytes()].concat();
        for border in memmem::find_iter(words, &start) {
            let word = &words[border + 1..];
            let end = memchr(BORDER, word).unwrap_or(word.len());
            if let Ok(word) = str::from_utf8(&word[..end]) {
                each(word);
            }
        }
    }

    /// Calls `each` with every word that contains `part`, most frequent first, until it returns `false`.
    pub(super) fn each_word_with(&self, part: &str, each: &mut dyn FnMut(&str) -> bool) {
        let words = &self.bytes[HEAD..];
        // The search compares the two rarest bytes of the part first. Its own ranks are those of English and program text.
        let finder = FinderBuilder::new().build_forward_with_ranker(self.ranks, part.as_bytes());
        let mut at = 0;
        while let Some(found) = finder.find(&words[at..]) {
            let place = at + found;
            let start = memrchr(BORDER, &words[..place]).map_or(0, |border| border + 1);
            let end = memchr(BORDER, &words[place..]).map_or(words.len(), |border| place + border);
            at = end;
            if str::from_utf8(&words[start..end]).is_ok_and(|word| !each(word)) {
                return;
            }
        }
    }
}

/// The ranks of bytes by their frequency in a text; the most frequent byte has the highest rank.
#[derive(Debug, Clone, Copy)]
struct ByteRanks([u8; 256]);

impl ByteRanks {
    fn from_sample(text: &[u8]) -> Self {
        let mut counts = [0_usize; 256];
        for byte in text {
            counts[usize::from(*byte)] += 1;
        }
        let most = counts.iter().copied().max().unwrap_or_default().max(1);
        Self(
            counts
                .map(|count| u8::try_from(count * usize::from(u8::MAX) / most).unwrap_or(u8::MAX)),
        )
    }
}

impl HeuristicFrequencyRank for ByteRanks {
    fn rank(&self, byte: u8) -> u8 {
        self.0[usize::from(byte)]
    }
}

/// Writes the missing vocabularies of segments, and removes those of deleted segments.
///
/// Errors are ignored: they only make searches slower.
pub(super) fn update_vocabularies(index: &Index, folder: &Path, field: Field) {
    let _ = try_update(index, folder, field);
}

fn try_update(index: &Index, folder: &Path, field: Field) -> Result<(), IndexError> {
    let reader = index.reader()?;
    let searcher = reader.searcher();
    let mut wanted = HashSet::new();
    for segment in searcher.segment_readers() {
        let name = file_name(segment.segment_id());
        if !folder.join(&name).exists() {
            write_words(&folder.join(&name), &encode_words(segment, field)?)?;
        }
        wanted.insert(name);
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX) && !wanted.contains(name))
        {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn file_name(segment: SegmentId) -> String {
    format!("{PREFIX}{}", segment.uuid_string())
}

/// Returns the words of a segment in the format of the file.
fn encode_words(segment: &SegmentReader, field: Field) -> Result<Vec<u8>, IndexError> {
    let inverted = segment.inverted_index(field)?;
    let mut words = Vec::new();
    let mut stream = inverted.terms().stream()?;
    while let Some((word, info)) = stream.next() {
        words.push((Reverse(info.doc_freq), word.to_owned()));
    }
    words.sort_unstable();
    let mut text = vec![BORDER];
    for (_, word) in words {
        text.extend(word);
        text.push(BORDER);
    }
    Ok(text)
}

/// Writes a file atomically.
fn write_words(path: &PathBuf, words: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut file = tempfile::Builder::new()
        .prefix(PREFIX)
        .suffix(".new")
        .tempfile_in(folder)?;
    file.write_all(MAGIC)?;
    file.write_all(&crc32fast::hash(words).to_le_bytes())?;
    file.write_all(words)?;
    file.persist(path).map_err(|refused| refused.error)?;
    Ok(())
}
