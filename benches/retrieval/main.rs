//! How well search finds answers: `retrieval FOLDER [--model FOLDER] [--ablate | --blocks | --fit]`.
//!
//! FOLDER holds sets as `NAME.corpus.jsonl` and `NAME.questions.jsonl`: turns `{id, conversation, session, timestamp, speaker, text}`
//! and questions `{id, conversation, text, category, gold, gold_sessions, before}`, such as those made of `LoCoMo`
//! (<https://github.com/snap-research/locomo>; its licence does not let us keep it here). Each turn becomes a memory of its
//! conversation, each question is asked of its own; adversarial ones have no answer and are left out. A question does not see the turn
//! `before` and what follows it.
//!
//! Prints any@k, all@k, frac@k and MRR@10 of turns and of sessions for every set, beside BM25, FTS5 and, with a model, its cosine and
//! reciprocal rank fusion. With `--model`, the sentence transformer in that folder, or the model `built-in`, reads the turns first, and
//! vectors count too.
//!
//! With `--ablate`, prints for each part of the ranking what each set loses without it.
//!
//! With `--blocks`, prints how often the context that an agent gets in 1,500 and in 4,000 tokens holds the evidence.
//!
//! With `--fit`, fits the weights of each shape: first with one set or one conversation left out, which gives the honest figures, and then
//! on all. The loss is a listwise softmax over the best candidates of a question, partly over turns and partly over sessions, with L2 on
//! weights in standard deviations. Sets of plain shape weigh the same, and so do questions about conversations with an assistant.

mod baseline;
mod context_share;
mod conversation_home;
mod data_set;
mod descent;
mod fit;
mod metrics;
mod model;
mod sample;

use std::env;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use memory_core::Embedder;
use memory_core::rank::{PARTS, Ranker};

use crate::baseline::{Baseline, Baselines};
use crate::context_share::print_context_share;
use crate::conversation_home::ConversationHome;
use crate::data_set::DataSet;
use crate::fit::fit_weights;
use crate::metrics::{NAMES, print_header, print_row};
use crate::model::CachedModel;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The columns of the ablation: the first ten turns, and the first five sessions.
const ABLATED: [usize; 2] = [1, 7];

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let folder = arguments
        .first()
        .ok_or("usage: retrieval FOLDER [--model FOLDER] [--ablate | --blocks | --fit]")?;
    let sets = DataSet::read_all(Path::new(folder))?;
    let model = arguments
        .iter()
        .position(|argument| argument == "--model")
        .map(|place| arguments.get(place + 1));
    let model = match model {
        Some(folder) => Some(Arc::new(CachedModel::open(
            Path::new(folder.ok_or("--model needs a folder")?),
            &sets,
        )?) as Arc<dyn Embedder>),
        None => None,
    };
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--fit") {
        fit_weights(&sets, model.as_ref())
    } else if has("--ablate") {
        print_ablation(&sets, model.as_ref())
    } else if has("--blocks") {
        print_context_share(&sets, model.as_ref())
    } else {
        compare_baselines(&sets, model.as_ref())
    }
}

/// Prints the figures of every set beside those of the baselines.
fn compare_baselines(sets: &[DataSet], model: Option<&Arc<dyn Embedder>>) -> Outcome<()> {
    print_header("set and ranking");
    for data in sets {
        let home = ConversationHome::of(data, model)?;
        print_row(
            &format!("{}, memory", data.name),
            &home.mean_metrics(data, None)?,
        );
        let baselines = Baselines::new(data)?;
        let all = [
            (Baseline::Bm25, "BM25"),
            (Baseline::Fts5, "FTS5"),
            (Baseline::Cosine, "cosine"),
            (Baseline::Fusion, "RRF"),
        ];
        for (baseline, name) in all.into_iter().take(if model.is_some() { 4 } else { 2 }) {
            let mut sums = vec![0.0; NAMES.len()];
            for question in &data.questions {
                let ranked = baselines.rank(baseline, question, model.map(AsRef::as_ref))?;
                sums.iter_mut()
                    .zip(home.question_metrics(question, &ranked))
                    .for_each(|(sum, figure)| *sum += figure);
            }
            print_row(&format!("{}, {name}", data.name), &data.mean(sums));
        }
    }
    Ok(())
}

/// Prints, for each part of the ranking, what each set loses without it.
fn print_ablation(sets: &[DataSet], model: Option<&Arc<dyn Embedder>>) -> Outcome<()> {
    let names: Vec<String> = sets
        .iter()
        .map(|data| format!("{} | session any@5", data.name))
        .collect();
    println!("| without | {} | mean |", names.join(" | "));
    println!("|---|{}", "---:|".repeat(2 * sets.len() + 1));
    let homes: Vec<ConversationHome> = sets
        .iter()
        .map(|data| ConversationHome::of(data, model))
        .collect::<Outcome<_>>()?;
    let usual: Vec<Ranker> = sets
        .iter()
        .map(|data| *Ranker::fitted(data.shape(), model.is_some()))
        .collect();
    let measure = |home: &ConversationHome, data: &DataSet, ranker: &Ranker| -> Outcome<[f64; 2]> {
        let figures = home.mean_metrics(data, Some(&ranker.weights))?;
        Ok(ABLATED.map(|column| 100.0 * figures[column]))
    };
    let whole: Vec<[f64; 2]> = homes
        .iter()
        .zip(sets)
        .zip(&usual)
        .map(|((home, data), ranker)| measure(home, data, ranker))
        .collect::<Outcome<_>>()?;
    let row = |name: &str, figures: &[[f64; 2]]| {
        let all: Vec<f64> = figures.iter().flatten().copied().collect();
        #[expect(clippy::cast_precision_loss, reason = "there are a few sets")]
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let cells: Vec<String> = all.iter().map(|figure| format!("{figure:.1}")).collect();
        println!("| {name} | {} | {mean:.2} |", cells.join(" | "));
    };
    row("nothing", &whole);
    for part in PARTS {
        let mut losses = Vec::new();
        for (((home, data), ranker), whole) in homes.iter().zip(sets).zip(&usual).zip(&whole) {
            let mut without = *ranker;
            without.weights.0[part as usize] = 0.0;
            let figures = if without == *ranker {
                *whole
            } else {
                measure(home, data, &without)?
            };
            losses.push([figures[0] - whole[0], figures[1] - whole[1]]);
        }
        row(part.as_str(), &losses);
    }
    Ok(())
}
