//! A minimal full-text search with `SQLite` FTS5, as a baseline.
//!
//! `bare-fts5 DATABASE WORD…` prints the ten best documents; `bare-fts5 --build DATABASE NOTES` creates the database from generated notes.

use std::{env, error::Error, fs};

use rusqlite::Connection;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    match arguments.as_slice() {
        [flag, database, notes] if flag == "--build" => build_database(database, notes.parse()?),
        [database, words @ ..] if !words.is_empty() => print_matches(database, &words.join(" ")),
        _ => Err("usage: bare-fts5 [--build] DATABASE (WORD… | NOTES)".into()),
    }
}

fn build_database(database: &str, notes: u32) -> Result<(), Box<dyn Error>> {
    let _ = fs::remove_file(database);
    let mut connection = Connection::open(database)?;
    connection.execute_batch(
        "CREATE VIRTUAL TABLE notes USING fts5(text, tokenize = 'porter unicode61')",
    )?;
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare("INSERT INTO notes (text) VALUES (?)")?;
        for number in 0..notes {
            insert.execute([corpus::note_text(number)])?;
        }
    }
    transaction.commit()?;
    connection.execute_batch("INSERT INTO notes (notes) VALUES ('optimize')")?;
    Ok(())
}

fn print_matches(database: &str, words: &str) -> Result<(), Box<dyn Error>> {
    let connection = Connection::open(database)?;
    let query: Vec<_> = words
        .split_whitespace()
        .map(|word| format!("\"{}\"", word.replace('"', "")))
        .collect();
    let mut select = connection.prepare(
        "SELECT rowid, bm25(notes) FROM notes WHERE notes MATCH ? ORDER BY bm25(notes) LIMIT 10",
    )?;
    let mut rows = select.query([query.join(" OR ")])?;
    while let Some(row) = rows.next()? {
        println!("{}\t{}", row.get::<_, f64>(1)?, row.get::<_, i64>(0)?);
    }
    Ok(())
}
