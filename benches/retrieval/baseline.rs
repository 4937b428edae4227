//! Public baselines for the ranking.
//!
//! They are BM25, `SQLite`'s full-text index, the cosine similarity of a model, and the reciprocal rank fusion of BM25 and the cosine.

use std::collections::{HashMap, HashSet};

use memory_core::query_parser::{QueryWord, WordRole, parse};
use memory_core::text::{TokenKind, tokenize};
use memory_core::{Embedder, Filter};
use rusqlite::Connection;
use serde_json::Value;

use crate::Outcome;
use crate::data_set::{DataSet, text_field};

/// Parameters of BM25, as recommended by Robertson and Zaragoza (2009).
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009).
const FUSION_CONSTANT: f64 = 60.0;

/// A baseline ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Baseline {
    /// BM25 over stems, or over bigrams in scripts without blanks.
    ///
    /// The statistics are those of the conversation.
    Bm25,
    /// `SQLite` FTS5 with the Porter stemmer; a turn matches if it contains any content word.
    Fts5,
    /// Cosine similarity of the vectors of a model.
    Cosine,
    /// Reciprocal rank fusion of BM25 and cosine similarity.
    Fusion,
}

/// The indexed turns of one conversation.
struct IndexedConversation {
    turns: Vec<usize>,
    terms: Vec<HashMap<String, u32>>,
    lengths: Vec<f64>,
    documents: HashMap<String, f64>,
    database: Connection,
}

/// The indexed conversations of a data set.
pub(crate) struct Baselines<'d> {
    data: &'d DataSet,
    conversations: HashMap<&'d str, IndexedConversation>,
}

impl<'d> Baselines<'d> {
    pub(crate) fn new(data: &'d DataSet) -> Outcome<Self> {
        let mut conversations = HashMap::new();
        for name in data.conversations() {
            conversations.insert(name, IndexedConversation::new(data, name)?);
        }
        Ok(Self {
            data,
            conversations,
        })
    }

    /// Returns the turns that are visible to a query, best first.
    ///
    /// Without a model, `Cosine` and `Fusion` rank like `Bm25`.
    pub(crate) fn rank(
        &self,
        baseline: Baseline,
        question: &Value,
        model: Option<&dyn Embedder>,
    ) -> Outcome<Vec<usize>> {
        let conversation = &self.conversations[text_field(question, "conversation")];
        let hidden = self.data.hidden_turns(question);
        let asked = text_field(question, "text");
        let mut ranked = match (baseline, model) {
            (Baseline::Bm25, _) | (_, None) if baseline != Baseline::Fts5 => {
                conversation.bm25(asked)
            }
            (Baseline::Fts5, _) => conversation.fts5(asked)?,
            (Baseline::Cosine, Some(model)) => self.cosine(conversation, asked, model)?,
            (_, Some(model)) => {
                let visible = |ranked: Vec<usize>| {
                    ranked
                        .into_iter()
                        .filter(|turn| !hidden.contains(turn))
                        .collect::<Vec<_>>()
                };
                fuse_rankings(&[
                    visible(conversation.bm25(asked)),
                    visible(self.cosine(conversation, asked, model)?),
                ])
            }
            _ => Vec::new(),
        };
        ranked.retain(|turn| !hidden.contains(turn));
        Ok(ranked)
    }

    fn cosine(
        &self,
        conversation: &IndexedConversation,
        asked: &str,
        model: &dyn Embedder,
    ) -> Outcome<Vec<usize>> {
        let texts: Vec<&str> = conversation
            .turns
            .iter()
            .map(|turn| text_field(&self.data.turns[*turn], "text"))
            .collect();
        let (vectors, question) = (model.embed(&texts)?, model.embed(&[asked])?.remove(0));
        let dot = |vector: &[f32]| {
            f64::from(
                vector
                    .iter()
                    .zip(&question)
                    .map(|(one, other)| one * other)
                    .sum::<f32>(),
            )
        };
        Ok(sort_by_score(
            conversation
                .turns
                .iter()
                .zip(&vectors)
                .map(|(turn, vector)| (dot(vector), *turn))
                .collect(),
        ))
    }
}

impl IndexedConversation {
    fn new(data: &DataSet, name: &str) -> Outcome<Self> {
        let database = Connection::open_in_memory()?;
        database.execute_batch(
            "CREATE VIRTUAL TABLE turns USING fts5(text, tokenize = 'porter unicode61')",
        )?;
        let numbers = 0..data.turns.len();
        let turns: Vec<usize> = numbers
            .filter(|turn| text_field(&data.turns[*turn], "conversation") == name)
            .collect();
        let (mut terms, mut lengths, mut documents) =
            (Vec::new(), Vec::new(), HashMap::<String, f64>::new());
        for (row, turn) in (0_i64..).zip(&turns) {
            let content = text_field(&data.turns[*turn], "text");
            database.execute(
                "INSERT INTO turns (rowid, text) VALUES (?, ?)",
                (row, content),
            )?;
            let own = term_frequencies(content);
            for term in own.keys() {
                *documents.entry(term.clone()).or_default() += 1.0;
            }
            lengths.push(own.values().map(|frequency| f64::from(*frequency)).sum());
            terms.push(own);
        }
        Ok(Self {
            turns,
            terms,
            lengths,
            documents,
            database,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "there are thousands of turns")]
    fn bm25(&self, asked: &str) -> Vec<usize> {
        let count = self.turns.len() as f64;
        let average = self.lengths.iter().sum::<f64>() / count.max(1.0);
        let question: Vec<String> = content_words(asked)
            .into_iter()
            .map(|word| word.term.text)
            .collect();
        let score = |number: usize| {
            let weigh = |term: &String| {
                let frequency = f64::from(*self.terms[number].get(term)?);
                let with_term = self.documents.get(term)?;
                let idf = (1.0 + (count - with_term + 0.5) / (with_term + 0.5)).ln();
                let norm = K1 * (1.0 - B + B * self.lengths[number] / average);
                Some(idf * frequency * (K1 + 1.0) / (frequency + norm))
            };
            question.iter().filter_map(weigh).sum::<f64>()
        };
        let scored = self
            .turns
            .iter()
            .enumerate()
            .map(|(number, turn)| (score(number), *turn));
        sort_by_score(scored.filter(|(score, _)| 0.0 < *score).collect())
    }

    fn fts5(&self, asked: &str) -> Outcome<Vec<usize>> {
        let words = content_words(asked)
            .into_iter()
            .filter(|word| word.spelled.chars().any(char::is_alphanumeric));
        let words: HashSet<String> = words
            .map(|word| format!("\"{}\"", word.spelled.replace('"', "")))
            .collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let query = words.into_iter().collect::<Vec<_>>().join(" OR ");
        let mut select = self.database.prepare_cached(
            "SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY bm25(turns), rowid",
        )?;
        let rows = select.query_map([query], |row| row.get::<_, i64>(0))?;
        rows.map(|row| Ok(self.turns[usize::try_from(row?)?]))
            .collect()
    }
}

/// Returns the content words and dates of a query.
///
/// All baselines perform better without stop words.
fn content_words(asked: &str) -> Vec<QueryWord> {
    let words = parse(asked, &Filter::default()).question.words;
    words
        .into_iter()
        .filter(|word| matches!(word.role, WordRole::Content | WordRole::Date))
        .collect()
}

/// Returns the frequency of each stem or bigram in a text.
fn term_frequencies(content: &str) -> HashMap<String, u32> {
    let mut terms = HashMap::new();
    tokenize(content, &mut |token| {
        if token.kind != TokenKind::Character {
            *terms.entry(token.text.to_owned()).or_default() += 1;
        }
    });
    terms
}

fn sort_by_score(mut scored: Vec<(f64, usize)>) -> Vec<usize> {
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    scored.into_iter().map(|(_, turn)| turn).collect()
}

#[expect(clippy::cast_precision_loss, reason = "there are thousands of turns")]
fn fuse_rankings(rankings: &[Vec<usize>]) -> Vec<usize> {
    let mut scores = HashMap::<usize, f64>::new();
    for ranking in rankings {
        for (rank, turn) in ranking.iter().enumerate() {
            *scores.entry(*turn).or_default() += 1.0 / (FUSION_CONSTANT + (rank + 1) as f64);
        }
    }
    sort_by_score(
        scores
            .into_iter()
            .map(|(turn, score)| (score, turn))
            .collect(),
    )
}
