//! Benchmark of instance actions over HTTP: `http MEMORY FOLDER CLIENTS SECONDS`.
//!
//! It starts `MEMORY instance serve` with its home in `FOLDER`, and prints:
//!
//! - the number of records appended per second over 1, 8 and 64 connections, compared with a bare loop of write and fsync in the same
//!   folder, which runs alternately with it
//! - the latency of reading the last 20 records of a session with a million records, and of reading the value of a key
//! - the throughput, latency and peak memory under the load of `CLIENTS` concurrent connections for `SECONDS`

use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Number of rounds; in each, the bare loop and the server run for the duration of `ROUND_TIME` each.
const ROUNDS: usize = 9;
const ROUND_TIME: Duration = Duration::from_millis(500);

/// Number of records of the long session.
const LONG_SESSION: u32 = 1_000_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [memory, folder, clients, seconds] = arguments.as_slice() else {
        return Err("usage: http MEMORY FOLDER CLIENTS SECONDS".into());
    };
    let (folder, clients, seconds) = (
        Path::new(folder),
        clients.parse::<usize>()?,
        seconds.parse::<u64>()?,
    );
    let home = folder.join("home");
    write_long_session(&home)?;
    let server = Server::start(memory, &home)?;
    compare_appends(&server, folder)?;
    let mut client = Client::connect(&server.place)?;
    let last = measure_times(1_000, || {
        client.run_action(
            "history/default/read",
            r#"{"session":"long","limit":20,"tail":true}"#,
        )
    })?;
    client.run_action("kv/default/set", r#"{"key":"a/b","value":"1"}"#)?;
    let value = measure_times(5_000, || {
        client.run_action("kv/default/get", r#"{"key":"a/b"}"#)
    })?;
    println!("\n| request | p50 | p99 |\n|---|---:|---:|");
    println!(
        "| last 20 of {LONG_SESSION} records | {:.2} ms | {:.2} ms |",
        percentile(&last, 50),
        percentile(&last, 99)
    );
    println!(
        "| value of a key | {:.2} ms | {:.2} ms |",
        percentile(&value, 50),
        percentile(&value, 99)
    );
    measure_load(&server, clients, Duration::from_secs(seconds))
}

/// Measures appends over different numbers of connections, alternately with the bare loop.
fn compare_appends(server: &Server, folder: &Path) -> Outcome<()> {
    println!("| connections | appends | bare write and fsync | ratio |\n|---:|---:|---:|---:|");
    for connections in [1, 8, 64] {
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            bare.push(bare_append_rate(folder)?);
            ours.push(append_rate(server, connections)?);
        }
        ours.sort_by(f64::total_cmp);
        bare.sort_by(f64::total_cmp);
        let (ours, bare) = (ours[ROUNDS / 2], bare[ROUNDS / 2]);
        println!(
            "| {connections} | {ours:.0}/s | {bare:.0}/s | {:.2} |",
            ours / bare
        );
    }
    Ok(())
}

const RECORD: &str = r#"{"session":"s","role":"user","content":"Remind me to water the plants on Thursday, please."}"#;

fn append_rate(server: &Server, connections: usize) -> Outcome<f64> {
    let begin = Barrier::new(connections + 1);
    let counts: Vec<Result<u32, String>> = thread::scope(|scope| {
        let asking: Vec<_> = (0..connections)
            .map(|_| {
                scope.spawn(|| {
                    let mut client =
                        Client::connect(&server.place).map_err(|error| error.to_string());
                    begin.wait();
                    let start = Instant::now();
                    let mut count = 0;
                    while start.elapsed() < ROUND_TIME {
                        let client = client.as_mut().map_err(|error| error.clone())?;
                        client
                            .run_action("history/default/append", RECORD)
                            .map_err(|error| error.to_string())?;
                        count += 1;
                    }
                    Ok(count)
                })
            })
            .collect();
        begin.wait();
        asking
            .into_iter()
            .map(|asked| {
                asked
                    .join()
                    .map_err(|_| "a client thread panicked".to_owned())?
            })
            .collect()
    });
    let total: u32 = counts.into_iter().sum::<Result<u32, String>>()?;
    Ok(f64::from(total) / ROUND_TIME.as_secs_f64())
}

fn bare_append_rate(folder: &Path) -> Outcome<f64> {
    let line = "{\"ts\":\"2026-11-22T07:00:52.909Z\",\"role\":\"user\",\"content\":\"Remind me to water the plants on Thursday, please.\"}\n";
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

/// Measures `clients` concurrent connections: half of them append to ten sessions, the other half read.
fn measure_load(server: &Server, clients: usize, time: Duration) -> Outcome<()> {
    let begin = Barrier::new(clients + 1);
    let (mut times, mut errors) = (Vec::new(), Vec::new());
    thread::scope(|scope| -> Outcome<()> {
        let mut asking = Vec::new();
        for number in 0..clients {
            let begin = &begin;
            let work = move || run_client(server, number, time, begin);
            // A small stack limits the memory of thousands of threads.
            asking.push(
                thread::Builder::new()
                    .stack_size(128 * 1024)
                    .spawn_scoped(scope, work)?,
            );
        }
        begin.wait();
        for asked in asking {
            let (own, error) = asked.join().map_err(|_| "a client thread panicked")?;
            times.extend(own);
            errors.extend(error);
        }
        Ok(())
    })?;
    times.sort_by(f64::total_cmp);
    let peak = server.status_megabytes("VmHWM:")?;
    println!(
        "\n| clients | requests | errors | rate | p50 | p99 | peak memory |\n|---:|---:|---:|---:|---:|---:|---:|"
    );
    #[expect(
        clippy::cast_precision_loss,
        reason = "so many are not counted exactly"
    )]
    let rate = times.len() as f64 / time.as_secs_f64();
    let (p50, p99) = (percentile(&times, 50), percentile(&times, 99));
    println!(
        "| {clients} | {} | {} | {rate:.0}/s | {p50:.1} ms | {p99:.1} ms | {peak} |",
        times.len(),
        errors.len()
    );
    errors
        .first()
        .map_or(Ok(()), |error| Err(error.clone().into()))
}

fn run_client(
    server: &Server,
    number: usize,
    time: Duration,
    begin: &Barrier,
) -> (Vec<f64>, Option<String>) {
    let client = Client::connect(&server.place).map_err(|error| error.to_string());
    begin.wait();
    let mut client = match client {
        Ok(client) => client,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let session = number % 10;
    let append =
        format!(r#"{{"session":"many-{session}","role":"user","content":"turn of {number}"}}"#);
    let read = format!(r#"{{"session":"many-{session}","limit":20,"tail":true}}"#);
    let (start, mut times) = (Instant::now(), Vec::new());
    while start.elapsed() < time {
        let asking = Instant::now();
        let asked = match number % 4 {
            0 | 1 => client.run_action("history/default/append", &append),
            2 => client.run_action("history/default/read", &read),
            _ => client.run_action("kv/default/get", r#"{"key":"a/b"}"#),
        };
        if let Err(error) = asked {
            return (times, Some(error.to_string()));
        }
        times.push(asking.elapsed().as_secs_f64() * 1_000.0);
    }
    (times, None)
}

/// Calls `ask` `count` times and returns the durations in milliseconds, in ascending order.
fn measure_times(count: usize, mut ask: impl FnMut() -> Outcome<()>) -> Outcome<Vec<f64>> {
    let mut times = Vec::new();
    for _ in 0..count {
        let start = Instant::now();
        ask()?;
        times.push(start.elapsed().as_secs_f64() * 1_000.0);
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

fn percentile(times: &[f64], share: usize) -> f64 {
    times
        .get((times.len() * share / 100).min(times.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}

fn write_long_session(home: &Path) -> Outcome<()> {
    let place = home.join("history/long.jsonl");
    if place.exists() {
        return Ok(());
    }
    fs::create_dir_all(home.join("history"))?;
    let mut file = BufWriter::new(File::create(place)?);
    for number in 0..LONG_SESSION {
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        writeln!(
            file,
            r#"{{"ts":"2026-05-17T10:30:00Z","role":"{role}","content":"turn {number} of a long talk about the garden"}}"#
        )?;
    }
    Ok(file.flush()?)
}

/// A running server, which is killed on drop.
struct Server {
    process: Child,
    place: String,
}

impl Server {
    fn start(memory: &str, home: &Path) -> Outcome<Self> {
        let mut command = Command::new(memory);
        command.args(["--root".as_ref(), home.as_os_str()]).args([
            "instance",
            "serve",
            "--addr",
            "127.0.0.1:0",
        ]);
        let mut process = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no pipe")?).read_line(&mut line)?;
        let begun: Value = serde_json::from_str(&line)?;
        let place = begun["http"]
            .as_str()
            .and_then(|url| url.strip_prefix("http://"))
            .ok_or("no address")?
            .to_owned();
        Ok(Self { process, place })
    }

    fn status_megabytes(&self, name: &str) -> Outcome<String> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .ok_or("the field is missing in /proc")?;
        let kilobytes: u32 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(format!("{:.1} MB", f64::from(kilobytes) / 1024.0))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A client with one persistent connection.
struct Client {
    stream: BufReader<TcpStream>,
    place: String,
    answer: Vec<u8>,
}

impl Client {
    fn connect(place: &str) -> Outcome<Self> {
        let stream = TcpStream::connect(place)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::with_capacity(8 * 1024, stream),
            place: place.to_owned(),
            answer: Vec::new(),
        })
    }

    fn run_action(&mut self, action: &str, body: &str) -> Outcome<()> {
        let head = format!(
            "POST /v1/run/{action} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
            self.place,
            body.len()
        );
        self.stream
            .get_mut()
            .write_all(format!("{head}{body}").as_bytes())?;
        let (mut line, mut status, mut length) = (String::new(), String::new(), 0);
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err("the server closed the connection".into());
            }
            let trimmed = line.trim_end();
            if trimmed.is_empty() {
                break;
            }
            if status.is_empty() {
                trimmed.clone_into(&mut status);
            } else if let Some(value) = trimmed.strip_prefix("content-length: ") {
                length = value.parse()?;
            }
        }
        self.answer.resize(length, 0);
        self.stream.read_exact(&mut self.answer)?;
        if status == "HTTP/1.1 200 OK" {
            Ok(())
        } else {
            Err(format!("{status}: {}", String::from_utf8_lossy(&self.answer)).into())
        }
    }
}
