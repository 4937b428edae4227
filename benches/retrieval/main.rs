//! How well search finds what is meant: `retrieval FOLDER [--model FOLDER] [--fit]`.
//!
//! FOLDER holds `*.corpus.jsonl` and `*.questions.jsonl`: turns `{id, conversation, session, timestamp, speaker, text}` and
//! questions `{id, conversation, text, category, gold, gold_sessions}`, such as those made of `LoCoMo`
//! (<https://github.com/snap-research/locomo>; its licence does not let us keep it here). Each turn becomes a memory of its
//! conversation, each question is asked of its own; adversarial ones have no answer and are left out. Prints any@k, all@k,
//! frac@k and MRR@10 of turns and of sessions, and what each part of the ranking gives: the same with that part switched off.
//!
//! With `--model`, the sentence-transformer in that folder reads the turns first, and vectors count too.
//!
//! With `--fit`, fits the weights: for each conversation on the others, which gives the honest figures, and then on all. A
//! listwise softmax over the candidates of a question, half over turns and half over sessions, L2 on weights in standard deviations, on the conversations as they are
//! and on two shuffled copies of them, so that nothing leans on neighbours that tell nothing.

mod data;
mod descent;
mod figures;
mod fit;
mod home;
mod model;
mod sample;

use std::env;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use memory_core::Embedder;
use memory_core::rank::{PARTS, Part, WITH_VECTORS, WITHOUT_VECTORS, Weights};

use crate::data::Data;
use crate::figures::{print, print_names};
use crate::fit::fit;
use crate::home::{Home, Order};
use crate::model::Model;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let folder = arguments.first().ok_or("usage: retrieval FOLDER [--model FOLDER] [--fit]")?;
    let data = Data::read(Path::new(folder))?;
    let model = arguments.iter().position(|argument| argument == "--model").map(|place| arguments.get(place + 1));
    let model = match model {
        Some(folder) => {
            Some(Arc::new(Model::read(Path::new(folder.ok_or("--model wants a folder")?), &data)?) as Arc<dyn Embedder>)
        }
        None => None,
    };
    let model = model.as_ref();
    if arguments.iter().any(|argument| argument == "--fit") { fit(&data, model) } else { ablate(&data, model) }
}

/// Prints the figures of the ranking as it is, and of each part of it switched off.
fn ablate(data: &Data, model: Option<&Arc<dyn Embedder>>) -> Outcome<()> {
    let home = Home::of(data, Order::AsIs, model)?;
    let usual = if model.is_some() { WITH_VECTORS } else { WITHOUT_VECTORS };
    print_names("ranking");
    print("all parts", &home.figures(data, &usual)?);
    let mut words = Weights([0.0; PARTS.len()]);
    words.0[Part::Words as usize] = 1.0;
    print("words alone (BM25)", &home.figures(data, &words)?);
    for part in PARTS.into_iter().filter(|part| usual.0[*part as usize] != 0.0) {
        let mut weights = usual;
        weights.0[part as usize] = 0.0;
        print(&format!("without {}", part.as_str()), &home.figures(data, &weights)?);
    }
    Ok(())
}
