//! Embeds the lines of standard input and prints the elapsed time: `embed FOLDER [THREADS]`.

use std::error::Error;
use std::io::{self, BufRead};
use std::path::Path;
use std::time::Instant;

use memory_agent::model::LocalEmbedder;
use memory_core::Embedder;

fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("which folder holds the model?")?;
    let threads = arguments.next().map(|count| count.parse()).transpose()?;
    let embedder = LocalEmbedder::open(Path::new(&folder), threads)?;
    let opened = start.elapsed();
    embedder.embed(&["the first text"])?;
    println!(
        "{} opened after {opened:.1?}, first vector after {:.1?}",
        embedder.identity(),
        start.elapsed()
    );

    let lines = io::stdin().lock().lines().collect::<Result<Vec<_>, _>>()?;
    let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
    let start = Instant::now();
    let vectors = embedder.embed(&texts)?;
    println!(
        "{} vectors of {} numbers in {:.1?}",
        vectors.len(),
        embedder.dimensions(),
        start.elapsed()
    );
    Ok(())
}
