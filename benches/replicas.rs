//! Benchmark of memories in a Postgres database: `replicas ADDRESS FOLDER NOTES`.
//!
//! `ADDRESS` is that of an empty database. The program uses `FOLDER` for the replicas of three nodes, and prints:
//!
//! - the time of a write on a node, compared with a transaction of the same statements on one connection, which runs alternately
//! - the time of a search on a node, compared with the file driver with the same notes, which must find the same with the same scores
//! - the time until another node reports a write, at 200 writes per second
//! - the time until a new node has indexed `NOTES` notes

use std::collections::VecDeque;
use std::env;
use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use corpus::{note_text, query_text};
use memory_core::secret::Checked;
use memory_core::{
    Change, ChangeSet, Clock, Draft, IdSource, LocalZone, Memories, MemoryId, Query, Verb,
};
use memory_store::postgres::{Database, DatabaseLimits};
use memory_store::{FileStore, FileStoreOptions, RandomIds};
use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls};

/// Number of writes of each kind.
const WRITES: u32 = 400;

/// Number of notes and of queries for the comparison of searches.
const SEARCHED: u32 = 10_000;
const QUERIES: u32 = 300;

/// The writes per second while the lag is measured, and for how many seconds.
const RATE: u32 = 200;
const SECONDS: u32 = 20;

/// Notes in one operation.
const BATCH: u32 = 500;

/// Time between two reads of the node whose lag is measured, as in the program.
const PULL_INTERVAL: Duration = Duration::from_millis(100);

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address, folder, notes] = arguments.as_slice() else {
        return Err("usage: replicas ADDRESS FOLDER NOTES".into());
    };
    let (folder, notes) = (Path::new(folder), notes.parse()?);
    let node = open_node(address, &folder.join("first"), Duration::ZERO)?;
    let number = fill(&node, 0, SEARCHED)?;
    let files = Memories::builder(FileStore::open(
        &folder.join("files"),
        FileStoreOptions::default(),
    )?)
    .clock(fixed_clock())
    .build();
    fill(&files, 0, SEARCHED)?;
    compare_searches(&node, &files)?;
    compare_writes(&node, address)?;
    measure_lag(&node, address, folder)?;
    fill(&node, number, notes)?;
    let begun = Instant::now();
    let new = open_node(address, &folder.join("new"), Duration::ZERO)?;
    let found = new.search(Query::new(&query_text(1)))?.total;
    println!("\n| a new node with {notes} notes | time |\n|---|---:|");
    println!(
        "| until its first result, of {found} | {:.1} s |",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

/// A clock that always returns the same time, so that both stores compute the same scores.
#[derive(Debug)]
struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + chrono::TimeDelta::days(20_000)
    }

    fn zone(&self) -> LocalZone {
        LocalZone::utc()
    }
}

fn fixed_clock() -> Arc<FixedClock> {
    Arc::new(FixedClock)
}

fn open_node(address: &str, folder: &Path, interval: Duration) -> Outcome<Memories> {
    let database = Arc::new(Database::new(address, DatabaseLimits::default())?);
    let store = FileStore::open_replica(folder, FileStoreOptions::default(), database, interval)?;
    Ok(Memories::builder(store).clock(fixed_clock()).build())
}

/// Writes the notes with the numbers from `start` up to `end`, with the same ids each time.
fn fill(memories: &Memories, start: u32, end: u32) -> Outcome<u32> {
    let services = memories.services();
    for first in (start..end).step_by(BATCH as usize) {
        let mut set = ChangeSet::new(services.operation(Verb::Import));
        for number in first..end.min(first + BATCH) {
            let id = MemoryId::for_path(&format!("note {number}"));
            let memory =
                Box::new(Draft::new(&note_text(number)).into_memory(id, services.clock.now()));
            set.changes.push(Change::Create {
                memory,
                front_matter: String::new(),
            });
        }
        services.store.commit(Checked::allowed(&set))?;
    }
    Ok(end.max(start))
}

fn compare_searches(node: &Memories, files: &Memories) -> Outcome<()> {
    let (mut on_node, mut on_files) = (Vec::new(), Vec::new());
    for number in 0..QUERIES {
        let query = query_text(number);
        let (found, expected) = (
            timed(&mut on_node, || node.search(&*query))?,
            timed(&mut on_files, || files.search(&*query))?,
        );
        let hits = |found: memory_core::SearchResults| {
            let hits = found.hits.into_iter();
            hits.map(|hit| {
                (
                    hit.stored.memory.id,
                    hit.score.to_bits(),
                    format!("{:?}", hit.explanation),
                )
            })
            .collect::<Vec<_>>()
        };
        if hits(found) != hits(expected) {
            return Err(format!("the results of {query} differ").into());
        }
    }
    let (node, files) = (median(&mut on_node), median(&mut on_files));
    println!("| {SEARCHED} notes | node p50 | file driver p50 | ratio |\n|---|---:|---:|---:|");
    println!(
        "| search | {node:.2} ms | {files:.2} ms | {:.2} |",
        node / files
    );
    Ok(())
}

/// Tables with the same columns and indexes as those of the log, and without its rows.
const BARE_TABLES: &str = "
    DROP SCHEMA IF EXISTS bare CASCADE;
    CREATE SCHEMA bare;
    CREATE TABLE bare.memory_document_heads (LIKE public.memory_document_heads INCLUDING ALL);
    CREATE TABLE bare.memory_document_operations (LIKE public.memory_document_operations INCLUDING ALL);
    CREATE TABLE bare.memory_document_changes (LIKE public.memory_document_changes INCLUDING ALL);
    CREATE TABLE bare.memory_documents (LIKE public.memory_documents INCLUDING ALL);";

fn compare_writes(node: &Memories, address: &str) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let client = connect(&runtime, address)?;
    runtime.block_on(client.batch_execute(BARE_TABLES))?;
    let (mut on_node, mut bare) = (Vec::new(), Vec::new());
    for number in 0..WRITES {
        let text = note_text(10_000_000 + number);
        timed(&mut bare, || {
            runtime.block_on(write_bare(&client, i64::from(number), &text))
        })?;
        timed(&mut on_node, || node.write(&*text))?;
    }
    let (node, bare) = (median(&mut on_node), median(&mut bare));
    println!(
        "\n| one connection | node p50 | bare transaction p50 | ratio |\n|---|---:|---:|---:|"
    );
    println!(
        "| write | {node:.2} ms | {bare:.2} ms | {:.2} |",
        node / bare
    );
    Ok(())
}

fn connect(runtime: &Runtime, address: &str) -> Outcome<Client> {
    let (client, connection) = runtime.block_on(tokio_postgres::connect(address, NoTls))?;
    runtime.spawn(connection);
    Ok(client)
}

/// Writes a row into each table that a write of a memory changes, in one transaction.
async fn write_bare(client: &Client, number: i64, text: &str) -> Result<(), tokio_postgres::Error> {
    let id = RandomIds.memory_id().to_string();
    let path = format!("categories/inbox/note-{id}.md");
    client.batch_execute("BEGIN").await?;
    let lock = "INSERT INTO bare.memory_document_heads AS own (scope, position, token) VALUES ('global', 0, 0) \
        ON CONFLICT (scope) DO UPDATE SET position = own.position RETURNING position";
    client.query_typed(lock, &[]).await?;
    let advance =
        "UPDATE bare.memory_document_heads SET position = $1, token = $1 WHERE scope = 'global'";
    client
        .execute_typed(advance, &[(&number, Type::INT8)])
        .await?;
    let operation = "INSERT INTO bare.memory_document_operations (scope, position, operation, token, verb, actor, at, at_nanos) \
        VALUES ('global', $1, $2, $1, 'write', 'bench', now(), 0)";
    client
        .execute_typed(operation, &[(&number, Type::INT8), (&id, Type::TEXT)])
        .await?;
    let document = "INSERT INTO bare.memory_documents (scope, id, path, hash, category, phase, tags, source, content) \
        VALUES ('global', $1, $2, sha256($3), 'inbox', 'inbox', '{}', 'bench', $3)";
    let bytes = text.as_bytes();
    client
        .execute_typed(
            document,
            &[
                (&id, Type::TEXT),
                (&path, Type::TEXT),
                (&bytes, Type::BYTEA),
            ],
        )
        .await?;
    let change = "INSERT INTO bare.memory_document_changes (scope, position, nth, operation, token, id, path, hash, content) \
        VALUES ('global', $1, 0, $2, $1, $2, $3, sha256($4), $4)";
    let values: [(&(dyn ToSql + Sync), Type); 4] = [
        (&number, Type::INT8),
        (&id, Type::TEXT),
        (&path, Type::TEXT),
        (&bytes, Type::BYTEA),
    ];
    client.execute_typed(change, &values).await?;
    client.batch_execute("COMMIT").await
}

/// Measures how long after its acknowledgement another node reports a write.
fn measure_lag(node: &Memories, address: &str, folder: &Path) -> Outcome<()> {
    let other = open_node(address, &folder.join("second"), PULL_INTERVAL)?;
    other.services().store.refresh()?;
    let (written, is_over) = (Mutex::new(VecDeque::new()), AtomicBool::new(false));
    let mut lags = Vec::new();
    let begun = Instant::now();
    let rate = thread::scope(|scope| -> Outcome<f64> {
        let (written, is_over) = (&written, &is_over);
        let writer = scope.spawn(move || -> Outcome<f64> {
            let done = (0..RATE * SECONDS).try_for_each(|number| -> Outcome<()> {
                let due = begun + Duration::from_secs(1) * number / RATE;
                thread::park_timeout(due.saturating_duration_since(Instant::now()));
                let id = node.write(&*note_text(20_000_000 + number))?.id;
                written
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push_back((id, Instant::now()));
                Ok(())
            });
            is_over.store(true, Ordering::Relaxed);
            done.map(|()| f64::from(RATE * SECONDS) / begun.elapsed().as_secs_f64())
        });
        loop {
            let next = written
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .front()
                .copied();
            match next {
                Some((id, at)) if other.services().store.get(&id).is_ok() => {
                    lags.push(at.elapsed());
                    written
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .pop_front();
                }
                None if is_over.load(Ordering::Relaxed) => break,
                Some(_) | None => thread::park_timeout(Duration::from_millis(5)),
            }
        }
        writer.join().map_err(|_| "the writer panicked")?
    })?;
    lags.sort();
    let [p50, p99] = [50, 99]
        .map(|share| lags[(lags.len() * share / 100).min(lags.len() - 1)].as_secs_f64() * 1_000.0);
    println!("\n| writes on another node | lag p50 | lag p99 |\n|---|---:|---:|");
    println!("| {rate:.0}/s | {p50:.0} ms | {p99:.0} ms |");
    Ok(())
}

fn timed<T, E>(times: &mut Vec<Duration>, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let start = Instant::now();
    work().inspect(|_| times.push(start.elapsed()))
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1_000.0
}
