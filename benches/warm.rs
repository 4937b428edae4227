//! Benchmark of searches in a long-lived process: `warm HOME QUESTIONS [--queries MIX] [--words N] [--model FOLDER]`.
//!
//! Every query runs once before the measurement. The program prints percentiles of the latency, and the five slowest queries to standard
//! error. `MIX` is `mixed` (the default), `rare` or `misspelled`. With `--words`, each query has at least that number of words. With `--model`, the search also uses vectors; the sentence
//! transformer in that folder embeds each query before the measurement.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;
use std::{collections::HashMap, env, error::Error};

use corpus::QueryMix;
use memory_agent::model::LocalEmbedder;
use memory_core::{EmbedError, Embedder, Embedding, Filter, Query, Ranking, Services, search};
use memory_store::{FileStore, FileStoreOptions};

const USAGE: &str = "usage: warm HOME QUESTIONS [--queries MIX] [--words N] [--model FOLDER]";

/// Number of characters of a query that are printed.
const MAX_SHOWN: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [home, questions, options @ ..] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    let (mut mix, mut words, mut model) = (QueryMix::default(), 1, None);
    for option in options.chunks(2) {
        match option {
            [flag, name] if flag == "--queries" => mix = name.parse()?,
            [flag, count] if flag == "--words" => words = count.parse()?,
            [flag, folder] if flag == "--model" => model = Some(folder),
            _ => return Err(USAGE.into()),
        }
    }
    let questions: u32 = questions.parse()?;
    let model = model
        .map(|folder| LocalEmbedder::open(Path::new(folder), None))
        .transpose()?;
    let model = model.map(|model| {
        Arc::new(CachingEmbedder {
            model,
            known: RwLock::default(),
        })
    });
    let store = Arc::new(FileStore::open(
        Path::new(home),
        FileStoreOptions::default(),
    )?);
    let services = Services {
        embedder: model.clone().map(|model| model as Arc<dyn Embedder>),
        actor: "bench".into(),
        ..Services::new(store)
    };
    let mut times = Vec::new();
    for (number, counts) in (0..questions)
        .map(|number| (number, false))
        .chain((0..questions).map(|number| (number, true)))
    {
        let (filter, ranking) = (Filter::default(), Ranking::default());
        let query = Query {
            text: query_of_words(mix, number, words),
            filter,
            limit: 10,
            ranking,
        };
        let start = Instant::now();
        let found = search(&services, &query)?;
        let time = start.elapsed().as_secs_f64() * 1_000.0;
        if let Some(why) = found.degraded {
            return Err(why.into());
        }
        if counts {
            times.push((time, number, found.total));
        }
    }
    times.sort_by(|left, right| left.0.total_cmp(&right.0));
    let last = times
        .len()
        .checked_sub(1)
        .ok_or("QUESTIONS must be at least 1")?;
    let at = |share: usize| times[(times.len() * share / 100).min(last)].0;
    println!("| questions | p50 | p90 | p99 | slowest |\n|---:|---:|---:|---:|---:|");
    println!(
        "| {questions} | {:.2} ms | {:.2} ms | {:.2} ms | {:.2} ms |",
        at(50),
        at(90),
        at(99),
        at(100)
    );
    for (time, number, total) in times.iter().rev().take(5) {
        let shown: String = query_of_words(mix, *number, words)
            .chars()
            .take(MAX_SHOWN)
            .collect();
        eprintln!("{time:.2} ms, {total} matches: {shown}");
    }
    Ok(())
}

/// Returns the query of a number with the words of the following queries, until it has `words` words.
fn query_of_words(mix: QueryMix, number: u32, words: usize) -> String {
    let mut text = mix.query(number);
    let mut next = number;
    while text.split_whitespace().count() < words {
        next += 1;
        text = format!("{text} {}", mix.query(next));
    }
    text
}

/// An embedder with a cache, so that the time of the model is not measured.
#[derive(Debug)]
struct CachingEmbedder {
    model: LocalEmbedder,
    known: RwLock<HashMap<String, Embedding>>,
}

impl Embedder for CachingEmbedder {
    fn identity(&self) -> &str {
        self.model.identity()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            let known = self
                .known
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .get(*text)
                .cloned();
            if let Some(known) = known {
                vectors.push(known);
                continue;
            }
            for vector in self.model.embed(&[*text])? {
                self.known
                    .write()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert((*text).to_owned(), vector.clone());
                vectors.push(vector);
            }
        }
        Ok(vectors)
    }
}
