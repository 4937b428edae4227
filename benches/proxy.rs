//! Benchmark of a chat through `memory proxy`: `proxy MEMORY FOLDER FACTS STREAMS SECONDS`.
//!
//! It runs a stub of a language model that responds immediately, and measures the latency that `MEMORY proxy` adds to a direct connection.
//! Requests through the proxy and direct requests alternate. With the proxy's default setup (git versioning and fact extraction on), it
//! prints the latency of the whole response for a client with a persistent connection, for a client with a new connection per turn, and for
//! a model that writes head and body separately with Nagle's algorithm on.
//!
//! Then it adds `FACTS` facts to one conversation below `FOLDER`. Without git versioning and fact extraction, it prints the start time of
//! the proxy, the latency of the first token and of the whole response, and the gaps between the tokens of `STREAMS` concurrent streams of
//! 50 tokens per second for `SECONDS`, through the proxy and directly. In between, it measures turns whose extraction yields no facts.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Number of measured requests to each side, after `WARM_UP_REQUESTS` requests that are not measured.
const MEASURED_REQUESTS: usize = 1_000;
const WARM_UP_REQUESTS: usize = 50;

/// Number of turns of the chat whose fact extraction yields no facts.
const FAILING_TURNS: usize = 200;

/// Number of measured starts of the proxy.
const MEASURED_STARTS: usize = 20;

/// Interval between two tokens of a paced stream.
const TOKEN_INTERVAL: Duration = Duration::from_millis(20);

/// Number of tokens of a response that is streamed without delay.
const TOKENS: usize = 20;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [memory, folder, facts, streams, seconds] = arguments.as_slice() else {
        return Err("usage: proxy MEMORY FOLDER FACTS STREAMS SECONDS".into());
    };
    let (folder, facts) = (Path::new(folder), facts.parse::<usize>()?);
    let (streams, seconds) = (streams.parse::<usize>()?, seconds.parse::<u64>()?);
    let (model, nagling) = (start_model(seconds, true)?, start_model(seconds, false)?);
    println!("| default setup | of | p50 | p99 |\n|---|---|---:|---:|");
    compare_turns(
        "persistent connection",
        memory,
        folder,
        &model,
        [false, false],
    )?;
    compare_turns("new connection", memory, folder, &model, [true, true])?;
    // On a persistent connection to this model, the client would measure its own delayed acknowledgements.
    compare_turns("model with Nagle", memory, folder, &nagling, [false, true])?;
    println!();
    let place = folder.join("conversations");
    seed_facts(memory, &place, folder, facts)?;
    let mut starts = Vec::new();
    for _ in 0..MEASURED_STARTS {
        let begun = Instant::now();
        let proxy = Proxy::start(memory, &place, folder, &model, &BARE_FLAGS)?;
        starts.push(elapsed_milliseconds(begun));
        drop(proxy);
    }
    starts.sort_by(f64::total_cmp);
    println!("| start | p50 | longest |\n|---|---:|---:|");
    println!(
        "| until ready | {:.1} ms | {:.1} ms |\n",
        percentile(&starts, 50),
        percentile(&starts, 100)
    );
    let proxy = Proxy::start(memory, &place, folder, &model, &BARE_FLAGS)?;
    compare_latency(&proxy.place, &model)?;
    measure_failing_extraction(memory, folder, &model)?;
    println!(
        "\n| {streams} streams | tokens | p50 between two | p99 | longest | broken |\n|---|---:|---:|---:|---:|---:|"
    );
    for (name, place) in [("model", &model), ("proxy", &proxy.place)] {
        measure_streams(name, place, streams)?;
    }
    println!("\npeak memory of the proxy: {}", proxy.peak_memory()?);
    Ok(())
}

/// Number of measured turns in the default setup.
const MEASURED_TURNS: usize = 250;

/// Flags that turn off background work and the limit on stored facts.
const BARE_FLAGS: [&str; 4] = [
    "--no-summarization",
    "--no-git-versioning",
    "--max-entries",
    "1000000",
];

/// Runs one conversation through a new proxy in its default setup and one directly, turn by turn.
///
/// `reconnects` contains whether each turn opens a new connection, first for the proxy, then for the model.
fn compare_turns(
    name: &str,
    memory: &str,
    folder: &Path,
    model: &str,
    reconnects: [bool; 2],
) -> Outcome<()> {
    let place = folder.join(format!("default {name}"));
    if place.is_dir() {
        fs::remove_dir_all(&place)?;
    }
    let proxy = Proxy::start(memory, &place, folder, model, &[])?;
    let places = [proxy.place.as_str(), model];
    let mut clients = [Client::connect(places[0])?, Client::connect(places[1])?];
    let mut times = [const { Vec::new() }; 2];
    for number in 0..MEASURED_TURNS + WARM_UP_REQUESTS {
        let question = format!(
            "Where does my colleague number {number} live? I live in town {} and like tea.",
            number % 97
        );
        for (side, reconnects) in reconnects.into_iter().enumerate() {
            let begun = Instant::now();
            if reconnects {
                clients[side] = Client::connect(places[side])?;
            }
            clients[side].send_chat("whole", &question, &mut |_| ())?;
            if WARM_UP_REQUESTS <= number {
                times[side].push(elapsed_milliseconds(begun));
            }
        }
    }
    for times in &mut times {
        times.sort_by(f64::total_cmp);
    }
    let [through, bare] = &times;
    for (of, times) in [("proxy", through), ("model", bare)] {
        println!(
            "| {name} | {of} | {:.2} ms | {:.2} ms |",
            percentile(times, 50),
            percentile(times, 99)
        );
    }
    println!(
        "| {name} | added | {:.2} ms | {:.2} ms |",
        percentile(through, 50) - percentile(bare, 50),
        percentile(through, 99) - percentile(bare, 99)
    );
    Ok(())
}

/// Adds facts to the conversation at `place`, unless it exists.
fn seed_facts(memory: &str, place: &Path, folder: &Path, facts: usize) -> Outcome<()> {
    if place.is_dir() {
        return Ok(());
    }
    let likes = [
        "green tea",
        "long walks",
        "old maps",
        "chess",
        "rye bread",
        "jazz",
        "cold water",
        "sailing",
        "ferns",
        "crosswords",
    ];
    let mut text = String::new();
    for number in 0..facts {
        let like = likes[number % likes.len()];
        writeln!(
            text,
            "The user's colleague number {number} lives in town {} and likes {like}.",
            number * 7 % 1009
        )?;
    }
    let file = folder.join("facts.txt");
    fs::write(&file, text)?;
    let mut command = Command::new(memory);
    command
        .args(["add", "--no-git-versioning", "--memory-path"])
        .arg(place)
        .arg("-f")
        .arg(&file);
    let status = command
        .env("MEMORY_ROOT", folder.join("home"))
        .stdout(Stdio::null())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err("cannot add the facts".into())
    }
}

/// Measures streamed responses of the proxy and the model, alternately.
fn compare_latency(proxy: &str, model: &str) -> Outcome<()> {
    let [mut through, mut bare] = [Client::connect(proxy)?, Client::connect(model)?];
    let mut times = [const { Vec::new() }; 4];
    for number in 0..MEASURED_REQUESTS + WARM_UP_REQUESTS {
        let question = format!(
            "Where does my colleague number {} live, and what do they like?",
            number * 13 % 10_007
        );
        for (side, client) in [&mut through, &mut bare].into_iter().enumerate() {
            let (first, whole) = client.send_chat("fast", &question, &mut |_| ())?;
            if WARM_UP_REQUESTS <= number {
                times[2 * side].push(first);
                times[2 * side + 1].push(whole);
            }
        }
    }
    for times in &mut times {
        times.sort_by(f64::total_cmp);
    }
    println!("| until | of | p50 | p99 |\n|---|---|---:|---:|");
    for (row, what) in ["first token", "whole response"].into_iter().enumerate() {
        let (proxy, model) = (&times[row], &times[2 + row]);
        for (name, times) in [("proxy", proxy), ("model", model)] {
            println!(
                "| {what} | {name} | {:.2} ms | {:.2} ms |",
                percentile(times, 50),
                percentile(times, 99)
            );
        }
        println!(
            "| {what} | added | {:.2} ms | {:.2} ms |",
            percentile(proxy, 50) - percentile(model, 50),
            percentile(proxy, 99) - percentile(model, 99)
        );
    }
    Ok(())
}

/// Measures `FAILING_TURNS` turns without extracted facts.
///
/// It prints the median time of the first tenth and of the last tenth.
fn measure_failing_extraction(memory: &str, folder: &Path, model: &str) -> Outcome<()> {
    let place = folder.join("failing");
    let flags = ["--no-git-versioning", "--max-entries", "1000000"];
    let proxy = Proxy::start(memory, &place, folder, model, &flags)?;
    let mut client = Client::connect(&proxy.place)?;
    let mut times = Vec::new();
    for number in 0..FAILING_TURNS {
        let question = format!(
            "My cousin number {number} lives in town {}.",
            number * 7 % 1009
        );
        times.push(client.send_chat("fast", &question, &mut |_| ())?.1);
    }
    println!("\n| {FAILING_TURNS} turns, extraction fails | p50 |\n|---|---:|");
    let part = FAILING_TURNS / 10;
    for (name, times) in [
        ("the first tenth", &mut times[..part].to_vec()),
        (
            "the last tenth",
            &mut times[FAILING_TURNS - part..].to_vec(),
        ),
    ] {
        times.sort_by(f64::total_cmp);
        println!("| {name} | {:.2} ms |", percentile(times, 50));
    }
    Ok(())
}

/// Measures the gaps between tokens of concurrent streams.
fn measure_streams(name: &str, place: &str, streams: usize) -> Outcome<()> {
    let begin = Barrier::new(streams);
    let mut gaps = Vec::new();
    let mut broken = 0;
    thread::scope(|scope| -> Outcome<()> {
        let mut reading = Vec::new();
        for number in 0..streams {
            let begin = &begin;
            let read = move || -> Result<Vec<f64>, String> {
                let client = Client::connect(place).map_err(|error| error.to_string());
                begin.wait();
                let (mut gaps, mut last) = (Vec::new(), None);
                let mut each = |_: &[u8]| {
                    let now = Instant::now();
                    gaps.extend(last.replace(now).map(elapsed_milliseconds));
                };
                let question = format!("Where does my colleague number {number} live?");
                client?
                    .send_chat("paced", &question, &mut each)
                    .map_err(|error| error.to_string())?;
                Ok(gaps)
            };
            reading.push(
                thread::Builder::new()
                    .stack_size(256 * 1024)
                    .spawn_scoped(scope, read)?,
            );
        }
        for read in reading {
            match read.join().map_err(|_| "a client thread panicked")? {
                Ok(own) => gaps.extend(own),
                Err(_) => broken += 1,
            }
        }
        Ok(())
    })?;
    gaps.sort_by(f64::total_cmp);
    let (p50, p99, longest) = (
        percentile(&gaps, 50),
        percentile(&gaps, 99),
        percentile(&gaps, 100),
    );
    println!(
        "| {name} | {} | {p50:.1} ms | {p99:.1} ms | {longest:.1} ms | {broken} |",
        gaps.len()
    );
    Ok(())
}

/// Starts a language model stub and returns its address.
///
/// The request's model name selects the response: `fast` streams without delay, `paced` streams 50 tokens per second for `seconds`, and
/// `whole` responds without streaming. Without `nodelay`, the body of a response is delayed until the client acknowledges its head.
fn start_model(seconds: u64, nodelay: bool) -> Outcome<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let place = listener.local_addr()?.to_string();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // An error means that the client has disconnected.
            let answer = move || drop(serve_model(stream, seconds, nodelay));
            if thread::Builder::new()
                .stack_size(256 * 1024)
                .spawn(answer)
                .is_err()
            {
                return;
            }
        }
    });
    Ok(place)
}

#[expect(clippy::disallowed_methods, reason = "so fast do tokens come")]
fn serve_model(stream: TcpStream, seconds: u64, nodelay: bool) -> Outcome<()> {
    stream.set_nodelay(nodelay)?;
    let mut reader = BufReader::new(stream);
    loop {
        let Some(body) = read_request(&mut reader)? else {
            return Ok(());
        };
        let body: Value = serde_json::from_slice(&body)?;
        if body["stream"] != true {
            // A request with a system message is the proxy's request for facts; this response contains no facts.
            let content = if body["messages"][0]["role"] == "system" {
                "[]"
            } else {
                "That is all I know about it."
            };
            let whole =
                serde_json::json!({ "choices": [{ "message": { "role": "assistant", "content": content } }] }).to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                whole.len()
            );
            reader.get_mut().write_all(head.as_bytes())?;
            reader.get_mut().write_all(whole.as_bytes())?;
            continue;
        }
        let is_paced = body["model"] == "paced";
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        reader.get_mut().write_all(head.as_bytes())?;
        let count = if is_paced {
            usize::try_from(seconds)? * 50
        } else {
            TOKENS
        };
        let begun = Instant::now();
        for number in 0..count {
            if is_paced {
                let due = begun + TOKEN_INTERVAL * u32::try_from(number)?;
                thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            let event = format!(
                "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"word{number} \"}}}}]}}\n\n"
            );
            reader
                .get_mut()
                .write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())?;
        }
        reader
            .get_mut()
            .write_all(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")?;
    }
}

/// Reads the body of the next request; returns `None` at the end of the connection.
fn read_request(reader: &mut BufReader<TcpStream>) -> Outcome<Option<Vec<u8>>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if let Some(said) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = said.trim().parse()?;
        }
        if line.trim_end().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(body))
}

/// A client with one persistent connection.
struct Client {
    reader: BufReader<TcpStream>,
    place: String,
}

impl Client {
    fn connect(place: &str) -> Outcome<Self> {
        let stream = TcpStream::connect(place)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            reader: BufReader::new(stream),
            place: place.to_owned(),
        })
    }

    /// Sends a request and calls `each` with every chunk of the response.
    ///
    /// Returns the milliseconds until the first chunk and until the end of the response.
    fn send_chat(
        &mut self,
        model: &str,
        question: &str,
        each: &mut dyn FnMut(&[u8]),
    ) -> Outcome<(f64, f64)> {
        let messages = serde_json::json!([{ "role": "user", "content": question }]);
        let body =
            serde_json::json!({ "model": model, "stream": model != "whole", "memory_id": "default", "messages": messages })
                .to_string();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
            self.place,
            body.len()
        );
        let begun = Instant::now();
        self.reader
            .get_mut()
            .write_all(format!("{head}{body}").as_bytes())?;
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        if !line.contains(" 200 ") {
            return Err(format!("unexpected status: {}", line.trim_end()).into());
        }
        let mut length = None;
        while !line.trim_end().is_empty() {
            line.clear();
            self.reader.read_line(&mut line)?;
            if let Some(said) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = Some(said.trim().parse()?);
            }
        }
        if let Some(length) = length {
            let mut whole = vec![0; length];
            self.reader.read_exact(&mut whole)?;
            each(&whole);
            return Ok((elapsed_milliseconds(begun), elapsed_milliseconds(begun)));
        }
        let mut first = None;
        loop {
            line.clear();
            self.reader.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16)?;
            let mut piece = vec![0; size + 2];
            self.reader.read_exact(&mut piece)?;
            if size == 0 {
                return Ok((
                    first.ok_or("the response contains no token")?,
                    elapsed_milliseconds(begun),
                ));
            }
            first.get_or_insert_with(|| elapsed_milliseconds(begun));
            each(&piece[..size]);
        }
    }
}

/// A running proxy, which is killed on drop.
struct Proxy {
    process: Child,
    place: String,
}

impl Proxy {
    fn start(
        memory: &str,
        place: &Path,
        folder: &Path,
        model: &str,
        flags: &[&str],
    ) -> Outcome<Self> {
        let mut command = Command::new(memory);
        command
            .args(["proxy", "--json", "--port", "0"])
            .args(flags)
            .stderr(Stdio::null());
        command
            .args([
                "--openai-base-url",
                &format!("http://{model}/v1"),
                "--memory-path",
            ])
            .arg(place);
        let mut process = command
            .env("MEMORY_ROOT", folder.join("home"))
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no pipe")?).read_line(&mut line)?;
        let begun: Value = serde_json::from_str(&line)?;
        let url = begun["http"].as_str().ok_or("no address")?;
        let place = url
            .trim_start_matches("http://")
            .trim_end_matches("/v1")
            .to_owned();
        Ok(Self { process, place })
    }

    fn peak_memory(&self) -> Outcome<String> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .ok_or("no peak memory in /proc")?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // The proxy may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn elapsed_milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// Returns a percentile of `sorted`; 100 is the maximum.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted
        .get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}
