//! Writes a memory to a home and finds it again: `cargo run --bin hello [HOME]`.

use std::env;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let home = env::args().nth(1).unwrap_or_else(|| "~/.memory".to_owned());
    let memories = memory_store::open(home)?;
    memories.write("The user prefers dark mode")?;
    for hit in memories.search("dark mode")?.hits {
        println!("{}", hit.memory.content);
    }
    Ok(())
}
