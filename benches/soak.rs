//! Soak test of a daemon with concurrent clients: `soak MEMORY FOLDER SECONDS`.
//!
//! It starts `MEMORY serve --http` with its home in `FOLDER`. For `SECONDS`, two clients at the socket and one over MCP increment a counter
//! in one memory, two command lines increment a counter in one bank, one client appends to a session over HTTP, and an editor overwrites
//! its own files. The clients at the socket and the command lines also search.
//!
//! It prints the daemon's memory, file descriptors and threads ten times at equal intervals, and at the end the numbers of
//! acknowledged and of lost writes.

use std::env;
use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Number of measurements of the daemon's resources.
const MEASUREMENTS: u32 = 10;

/// Number of files that the editor overwrites in turn.
const EDITED_FILES: u64 = 20;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [memory, folder, seconds] = arguments.as_slice() else {
        return Err("usage: soak MEMORY FOLDER SECONDS".into());
    };
    let time = Duration::from_secs(seconds.parse()?);
    let home = SoakHome {
        memory: memory.clone(),
        root: Path::new(folder).join("home"),
    };
    let id = home.run(&["write", "The count is 0.", "--json"])?["id"]
        .as_str()
        .ok_or("no id")?
        .to_owned();
    home.run(&["bank", "write", "counters", "all", "0", "--json"])?;
    let daemon = Daemon::start(&home)?;
    let over = AtomicBool::new(false);
    let (home, id, over, daemon) = (&home, id.as_str(), &over, &daemon);
    let done: Vec<(&str, Outcome<u64>)> = thread::scope(|scope| {
        let workers = [
            (
                "socket",
                scope.spawn(move || run_socket_client(home, id, over)),
            ),
            (
                "socket",
                scope.spawn(move || run_socket_client(home, id, over)),
            ),
            ("MCP", scope.spawn(move || run_mcp_client(home, id, over))),
            (
                "command line",
                scope.spawn(move || run_commands(home, over)),
            ),
            (
                "command line",
                scope.spawn(move || run_commands(home, over)),
            ),
            (
                "HTTP",
                scope.spawn(move || run_http_client(&daemon.http, over)),
            ),
            ("editor", scope.spawn(move || run_editor(home, over))),
        ];
        print_resources(daemon, time);
        over.store(true, Ordering::Relaxed);
        let panicked = || Err("the thread panicked".into());
        workers
            .map(|(who, worker)| (who, worker.join().unwrap_or_else(|_| panicked())))
            .into_iter()
            .collect()
    });
    println!("\n| client | acknowledged |\n|---|---:|");
    let mut sums = [0_u64; 5];
    for (who, count) in done {
        let count = count.map_err(|error| format!("{who}: {error}"))?;
        println!("| {who} | {count} |");
        let place = ["socket", "MCP", "command line", "HTTP", "editor"]
            .iter()
            .position(|own| *own == who)
            .unwrap_or_default();
        sums[place] += count;
    }
    let [socket, mcp, command_line, http, edits] = sums;
    let text = home.run(&["read", id, "--json"])?["content"]
        .as_str()
        .ok_or("no content")?
        .to_owned();
    let counter = home.run(&["bank", "query", "counters", "all", "."])?;
    let session = home.run(&[
        "instance",
        "run",
        "history",
        "read",
        "-p",
        "session=soak",
        "--json",
    ])?;
    let kept = [
        ("memory", socket + mcp, parse_count(&text)?),
        ("bank", command_line, counter.as_u64().ok_or("no number")?),
        (
            "session",
            http,
            session.as_array().ok_or("no records")?.len() as u64,
        ),
        (
            "files",
            edits.min(EDITED_FILES),
            count_intact_files(home, edits)?,
        ),
    ];
    println!("\n| store | acknowledged | stored | lost |\n|---|---:|---:|---:|");
    let mut all_lost = 0;
    for (what, acknowledged, there) in kept {
        let lost = acknowledged.abs_diff(there);
        println!("| {what} | {acknowledged} | {there} | {lost} |");
        all_lost += lost;
    }
    if all_lost == 0 {
        Ok(())
    } else {
        Err(format!("{all_lost} acknowledged changes are lost").into())
    }
}

/// The home of the daemon and the path of the program.
struct SoakHome {
    memory: String,
    root: PathBuf,
}

impl SoakHome {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.memory);
        command
            .arg("--root")
            .arg(&self.root)
            .args(arguments)
            .env("MEMORY_TOKEN", "");
        command
    }

    fn run(&self, arguments: &[&str]) -> Outcome<Value> {
        let output = self.command(arguments).output()?;
        if !output.status.success() {
            return Err(
                format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into(),
            );
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

/// A running daemon, which is killed on drop.
struct Daemon {
    process: Child,
    http: String,
}

impl Daemon {
    fn start(home: &SoakHome) -> Outcome<Self> {
        let mut command = home.command(&["serve", "--http", "127.0.0.1:0", "--json"]);
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no pipe")?).read_line(&mut line)?;
        let begun: Value = serde_json::from_str(&line)?;
        let http = begun["http"]
            .as_str()
            .and_then(|url| url.strip_prefix("http://"))
            .ok_or("no address")?
            .to_owned();
        Ok(Self { process, http })
    }

    /// Returns the resource usage of the daemon.
    ///
    /// The values are resident anonymous memory in MB, number of file descriptors and number of threads.
    fn resource_usage(&self) -> Outcome<(f64, usize, u64)> {
        let own = PathBuf::from(format!("/proc/{}", self.process.id()));
        let status = fs::read_to_string(own.join("status"))?;
        let figure = |name: &str| -> Outcome<u32> {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .ok_or("the field is missing in /proc")?;
            Ok(line.trim().trim_end_matches(" kB").parse()?)
        };
        let resident = f64::from(figure("RssAnon:")?) / 1024.0;
        Ok((
            resident,
            fs::read_dir(own.join("fd"))?.count(),
            figure("Threads:")?.into(),
        ))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The daemon may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "time passes")]
fn print_resources(daemon: &Daemon, time: Duration) {
    println!("| after | own memory | descriptors | threads |\n|---:|---:|---:|---:|");
    let begun = Instant::now();
    for look in 1..=MEASUREMENTS {
        thread::sleep((time / MEASUREMENTS * look).saturating_sub(begun.elapsed()));
        match daemon.resource_usage() {
            Ok((memory, descriptors, threads)) => {
                println!(
                    "| {} s | {memory:.1} MB | {descriptors} | {threads} |",
                    begun.elapsed().as_secs()
                );
            }
            Err(error) => println!("| {} s | {error} | | |", begun.elapsed().as_secs()),
        }
    }
}

fn parse_count(text: &str) -> Outcome<u64> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    Ok(digits.parse()?)
}

/// Increments the counter in a memory with the tools behind `call`.
///
/// If another client has changed the counter since `known`, reads the new value and retries. `call` returns `None` if the tool reports an
/// error.
fn count(
    id: &str,
    known: &mut u64,
    call: &mut dyn FnMut(&str, Value) -> Outcome<Option<Value>>,
) -> Outcome<()> {
    loop {
        let (old, new) = (format!("is {known}."), format!("is {}.", *known + 1));
        if call("memory_update", json!({ "id": id, "old": old, "new": new }))?.is_some() {
            *known += 1;
            return Ok(());
        }
        let read = call("memory_read", json!({ "id": id }))?.ok_or("the memory cannot be read")?;
        // Over MCP, the content is in the field of brief answers.
        let text = read["content"].as_str().or(read["text"].as_str());
        *known = parse_count(text.ok_or("no content")?)?;
    }
}

fn run_socket_client(home: &SoakHome, id: &str, over: &AtomicBool) -> Outcome<u64> {
    let (mut counted, mut known) = (0, 0);
    while !over.load(Ordering::Relaxed) {
        let mut stream = BufReader::new(UnixStream::connect(home.root.join("memory.sock"))?);
        let mut call = |name: &str, parameters: Value| -> Outcome<Option<Value>> {
            let request = json!({ "id": 1, "method": name, "params": parameters });
            stream
                .get_mut()
                .write_all(format!("{request}\n").as_bytes())?;
            let mut line = String::new();
            stream.read_line(&mut line)?;
            let mut answer: Value = serde_json::from_str(&line)?;
            Ok(Some(answer["result"].take()).filter(|result| !result.is_null()))
        };
        for _ in 0..20 {
            count(id, &mut known, &mut call)?;
            counted += 1;
            call("memory_search", json!({ "query": "count" }))?.ok_or("the search failed")?;
        }
    }
    Ok(counted)
}

fn run_mcp_client(home: &SoakHome, id: &str, over: &AtomicBool) -> Outcome<u64> {
    let (mut counted, mut known) = (0, 0);
    while !over.load(Ordering::Relaxed) {
        let mut server = home
            .command(&["mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut input = server.stdin.take().ok_or("no pipe")?;
        let mut answers = BufReader::new(server.stdout.take().ok_or("no pipe")?).lines();
        let client = json!({ "name": "soak", "version": "1" });
        let parameters =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        writeln!(
            input,
            "{}",
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters })
        )?;
        answers.next().ok_or("the server closed its output")??;
        writeln!(
            input,
            "{}",
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
        )?;
        let mut call = |name: &str, parameters: Value| -> Outcome<Option<Value>> {
            let parameters = json!({ "name": name, "arguments": parameters });
            writeln!(
                input,
                "{}",
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters })
            )?;
            loop {
                let mut answer: Value =
                    serde_json::from_str(&answers.next().ok_or("the server closed its output")??)?;
                if answer["id"].is_null() {
                    // A message without an id is a notification.
                    continue;
                }
                let failed =
                    answer["result"]["isError"] == json!(true) || answer["result"].is_null();
                return Ok(Some(answer["result"]["structuredContent"].take()).filter(|_| !failed));
            }
        };
        for _ in 0..50 {
            count(id, &mut known, &mut call)?;
            counted += 1;
        }
        drop(input);
        server.wait()?;
    }
    Ok(counted)
}

fn run_commands(home: &SoakHome, over: &AtomicBool) -> Outcome<u64> {
    let mut counted = 0;
    while !over.load(Ordering::Relaxed) {
        home.run(&["bank", "update", "counters", "all", ". + 1", "--json"])?;
        counted += 1;
        home.run(&["search", "count", "--json"])?;
    }
    Ok(counted)
}

fn run_http_client(place: &str, over: &AtomicBool) -> Outcome<u64> {
    let mut counted = 0;
    while !over.load(Ordering::Relaxed) {
        let mut stream = TcpStream::connect(place)?;
        let body = json!({ "session": "soak", "role": "user", "content": format!("{counted}") })
            .to_string();
        let head = format!(
            "POST /v1/run/history/default/append HTTP/1.1\r\nHost: {place}\r\nConnection: close"
        );
        write!(
            stream,
            "{head}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        if !answer.starts_with("HTTP/1.1 200") {
            return Err(answer.into());
        }
        counted += 1;
    }
    Ok(counted)
}

fn edited_path(home: &SoakHome, number: u64) -> PathBuf {
    home.root.join(format!(
        "categories/inbox/edited-{}.md",
        number % EDITED_FILES
    ))
}

#[expect(clippy::disallowed_methods, reason = "nobody types so fast")]
fn run_editor(home: &SoakHome, over: &AtomicBool) -> Outcome<u64> {
    let mut written = 0;
    while !over.load(Ordering::Relaxed) {
        fs::write(
            edited_path(home, written),
            format!("edited for the {written}th time\n"),
        )?;
        written += 1;
        thread::sleep(Duration::from_millis(50));
    }
    Ok(written)
}

/// Returns the number of files that contain the last text of the editor.
fn count_intact_files(home: &SoakHome, written: u64) -> Outcome<u64> {
    let mut kept = 0;
    for last in written.saturating_sub(EDITED_FILES)..written {
        let text = fs::read_to_string(edited_path(home, last))?;
        kept += u64::from(text == format!("edited for the {last}th time\n"));
    }
    Ok(kept)
}
