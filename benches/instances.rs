//! Benchmark of sessions and values in files, within one process: `instances FOLDER`.
//!
//! It prints:
//!
//! - the number of records appended per second by 1, 8 and 64 threads, to a shared session and to one session per thread, compared with a
//!   bare loop of write and fsync in the same folder, which runs alternately with it
//! - the latency of reading the last 20 and all records of a session with a million records, and of reading the value of a key

use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use memory_core::SecretPolicy;
use memory_core::instance::history::{
    Messages, RecordDraft, RecordFilter, Window, WindowEnd, append, read, records,
};
use memory_core::instance::kv::{KeyValues, get, set};
use memory_store::history::HistoryFolder;
use memory_store::kv::ValueFolder;
use memory_store::{RandomIds, SystemClock};

/// Number of rounds; in each, the bare loop and the appends run for the duration of `ROUND_TIME` each.
const ROUNDS: usize = 9;
const ROUND_TIME: Duration = Duration::from_millis(500);

/// Number of records of the long session.
const LONG_SESSION: u32 = 1_000_000;

const MESSAGE: &str = "Remind me to water the plants on Thursday, please.";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let folder = env::args().nth(1).ok_or("usage: instances FOLDER")?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder.join("history"))?;
    let messages = Messages {
        store: Arc::new(HistoryFolder::new(folder.join("history"))),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
    };
    compare_appends(&messages, folder)?;
    measure_long_session(&messages, folder)?;
    measure_value(folder)
}

/// Measures appends by different numbers of threads, alternately with the bare loop.
fn compare_appends(messages: &Messages, folder: &Path) -> Outcome<()> {
    println!(
        "| threads | sessions | appends | bare write and fsync | ratio |\n|---:|---:|---:|---:|---:|"
    );
    for (threads, sessions) in [(1, 1), (8, 1), (64, 1), (8, 8), (64, 64)] {
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            bare.push(bare_append_rate(folder)?);
            ours.push(append_rate(messages, threads, sessions)?);
        }
        ours.sort_by(f64::total_cmp);
        bare.sort_by(f64::total_cmp);
        let (ours, bare) = (ours[ROUNDS / 2], bare[ROUNDS / 2]);
        println!(
            "| {threads} | {sessions} | {ours:.0}/s | {bare:.0}/s | {:.2} |",
            ours / bare
        );
    }
    Ok(())
}

fn append_rate(messages: &Messages, threads: usize, sessions: usize) -> Outcome<f64> {
    let begin = Barrier::new(threads);
    let draft = RecordDraft::from_text("user".parse()?, MESSAGE);
    let counts: Vec<Result<u32, String>> = thread::scope(|scope| {
        let appending: Vec<_> = (0..threads)
            .map(|number| {
                let (begin, draft) = (&begin, &draft);
                scope.spawn(move || {
                    let session = format!("s{}", number % sessions)
                        .parse()
                        .map_err(|error| format!("{error}"))?;
                    begin.wait();
                    let (start, mut count) = (Instant::now(), 0);
                    while start.elapsed() < ROUND_TIME {
                        append(messages, &session, draft, SecretPolicy::Refuse)
                            .map_err(|error| error.to_string())?;
                        count += 1;
                    }
                    Ok(count)
                })
            })
            .collect();
        appending
            .into_iter()
            .map(|one| one.join().map_err(|_| "a thread panicked".to_owned())?)
            .collect()
    });
    let total: u32 = counts.into_iter().sum::<Result<u32, String>>()?;
    Ok(f64::from(total) / ROUND_TIME.as_secs_f64())
}

fn bare_append_rate(folder: &Path) -> Outcome<f64> {
    let line = format!(
        "{{\"ts\":\"2026-11-22T07:00:52.909Z\",\"role\":\"user\",\"content\":\"{MESSAGE}\"}}\n"
    );
    let mut file = File::options()
        .create(true)
        .append(true)
        .open(folder.join("bare.jsonl"))?;
    let (start, mut count) = (Instant::now(), 0_u32);
    while start.elapsed() < ROUND_TIME {
        file.write_all(line.as_bytes())?;
        file.sync_all()?;
        count += 1;
    }
    Ok(f64::from(count) / ROUND_TIME.as_secs_f64())
}

fn measure_long_session(messages: &Messages, folder: &Path) -> Outcome<()> {
    let mut file = BufWriter::new(File::create(folder.join("history/long.jsonl"))?);
    for number in 0..LONG_SESSION {
        writeln!(
            file,
            "{{\"ts\":\"2026-11-22T07:00:52.909Z\",\"role\":\"user\",\"content\":\"{number}: {MESSAGE}\"}}"
        )?;
    }
    file.into_inner()?.sync_all()?;
    let session = "long".parse()?;
    let last = Window {
        offset: 0,
        limit: Some(20),
        end: WindowEnd::Last,
    };
    let last = measure_times(1_000, || {
        read(messages, &session, &RecordFilter::default(), last).map(drop)
    })?;
    println!("\n| request | p50 | p99 |\n|---|---:|---:|");
    println!(
        "| last 20 of {LONG_SESSION} records | {:.3} ms | {:.3} ms |",
        percentile(&last, 50),
        percentile(&last, 99)
    );
    let all = measure_times(3, || {
        records(
            messages,
            &session,
            &RecordFilter::default(),
            Window::default(),
        )?
        .try_for_each(|record| record.map(drop))
    })?;
    println!(
        "| all of {LONG_SESSION} records | {:.0} ms | {:.0} ms |",
        percentile(&all, 50),
        percentile(&all, 99)
    );
    Ok(())
}

fn measure_value(folder: &Path) -> Outcome<()> {
    let store = Arc::new(ValueFolder::new(folder.join("kv"), folder.join("state")));
    let values = KeyValues {
        store,
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
    };
    for number in 0..1_000 {
        set(
            &values,
            &format!("chat-{}/draft-{number}", number % 10).parse()?,
            MESSAGE,
            SecretPolicy::Refuse,
        )?;
    }
    let key = "chat-7/draft-7".parse()?;
    let got = measure_times(10_000, || get(&values, &key).map(drop))?;
    println!(
        "| value of a key, of 1,000 | {:.3} ms | {:.3} ms |",
        percentile(&got, 50),
        percentile(&got, 99)
    );
    Ok(())
}

/// Calls `work` `count` times and returns the durations in milliseconds, in ascending order.
fn measure_times<E: Error + 'static>(
    count: usize,
    mut work: impl FnMut() -> Result<(), E>,
) -> Outcome<Vec<f64>> {
    let mut times = Vec::new();
    for _ in 0..count {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64() * 1_000.0);
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

fn percentile(times: &[f64], percent: usize) -> f64 {
    times[(times.len() - 1) * percent / 100]
}
