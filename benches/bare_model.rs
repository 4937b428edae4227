//! A minimal program that embeds a query, as a baseline.
//!
//! `bare-model MODEL-FOLDER WORD…` prints the first component of the vector.

use std::path::Path;
use std::{env, error::Error};

use memory_agent::model::LocalEmbedder;
use memory_core::Embedder;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let folder = arguments
        .next()
        .ok_or("usage: bare-model MODEL-FOLDER WORD…")?;
    let words = arguments.collect::<Vec<_>>().join(" ");
    let vectors = LocalEmbedder::open(Path::new(&folder), None)?.embed(&[&words])?;
    println!("{:?}", vectors.first().and_then(|vector| vector.first()));
    Ok(())
}
