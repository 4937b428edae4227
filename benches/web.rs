//! Benchmark of the web page: `web MEMORY HOME QUESTIONS`.
//!
//! It starts `MEMORY serve` for `HOME` and signs in to its page, and prints:
//!
//! - the latency of the first page, and its size with all assets
//! - the latency of a search on the page, and of the same search as a tool call over the socket, which runs alternately with it
//! - the latency of the graph around a memory
//! - the memory of the daemon while it is idle, before the first page and after the last one

use std::env;
use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [memory, home, questions] = arguments.as_slice() else {
        return Err("usage: web MEMORY HOME QUESTIONS".into());
    };
    let questions = questions.parse::<u32>()?;
    let daemon = Daemon::start(memory, Path::new(home))?;
    let mut socket = SocketClient::connect(&Path::new(home).join("memory.sock"))?;
    socket.search(0, &corpus::query_text(0))?;
    let before = daemon.resident_megabytes()?;
    let mut page = PageClient::sign_in(&socket.call("ui/open", &json!({}))?)?;

    let first = page.get("/memories")?;
    let assets = asset_paths(&first.body).iter().try_fold(0, |sum, path| {
        page.get(path).map(|asset| sum + asset.transferred)
    })?;
    let first_times = measure_times(questions, |_| page.get("/memories").map(drop))?;

    let (mut tool, mut search) = (Vec::new(), Vec::new());
    // The first round fills the caches of both.
    for round in 0..2 {
        (tool, search) = (Vec::new(), Vec::new());
        for number in 0..questions {
            let query = corpus::query_text(number);
            let path = format!("/memories?q={}", query.replace(' ', "+"));
            // Which of them runs first alternates, because the second finds the files in the cache.
            let mut run = |is_tool: bool| -> Outcome<()> {
                let start = Instant::now();
                if is_tool {
                    socket.search(number, &query)?;
                } else {
                    page.get(&path).map(drop)?;
                }
                let times = if is_tool { &mut tool } else { &mut search };
                times.push(start.elapsed().as_secs_f64() * 1_000.0);
                Ok(())
            };
            let tool_first = (number + round) % 2 == 0;
            run(tool_first)?;
            run(!tool_first)?;
        }
    }
    tool.sort_by(f64::total_cmp);
    search.sort_by(f64::total_cmp);

    let ids = memory_ids(&first.body);
    let graph_times = measure_times(questions, |number| {
        let id = ids
            .get(number as usize % ids.len().max(1))
            .ok_or("the first page has no memory")?;
        page.get(&format!("/graph?memory={id}")).map(drop)
    })?;
    println!("| request | p50 | p99 | size |\n|---|---:|---:|---:|");
    let kilobytes = |bytes: usize| format!("{} KB", bytes.div_ceil(1_000));
    let row = |name: &str, times: &[f64], size: &str| {
        println!(
            "| {name} | {:.2} ms | {:.2} ms | {size} |",
            percentile(times, 50),
            percentile(times, 99)
        );
    };
    row(
        "first page",
        &first_times,
        &format!(
            "{}, with assets {}",
            kilobytes(first.transferred),
            kilobytes(first.transferred + assets)
        ),
    );
    row("search on the page", &search, "");
    row("search as a tool call", &tool, "");
    row("graph of a memory", &graph_times, "");
    println!(
        "\nsearch above the tool call: {:.2} ms",
        percentile(&search, 50) - percentile(&tool, 50)
    );
    println!(
        "resident memory of the daemon: {before:.1} MB before the first page, {:.1} MB at the end",
        daemon.resident_megabytes()?
    );
    Ok(())
}

/// Calls `request` with 0 to `count - 1` and returns the durations in milliseconds, in ascending order.
fn measure_times(count: u32, mut request: impl FnMut(u32) -> Outcome<()>) -> Outcome<Vec<f64>> {
    let mut times = Vec::new();
    for number in 0..count {
        let start = Instant::now();
        request(number)?;
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

/// Returns the paths of the style sheet, the script and the icon of a page.
fn asset_paths(html: &str) -> Vec<String> {
    let attributes = html
        .split(['"', '\''])
        .filter(|value| value.starts_with("/assets/"));
    let mut paths: Vec<String> = attributes.map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Returns the ids of the memories to which a page links.
fn memory_ids(html: &str) -> Vec<String> {
    let links = html
        .split("\"/memories/")
        .skip(1)
        .filter_map(|rest| rest.get(..36));
    let mut ids: Vec<String> = links
        .filter(|id| id.bytes().filter(|byte| *byte == b'-').count() == 4)
        .map(str::to_owned)
        .collect();
    ids.dedup();
    ids
}

/// A running daemon, which is killed on drop.
struct Daemon(Child);

impl Daemon {
    /// Starts a daemon and waits until it watches the files, after which its socket exists.
    fn start(memory: &str, home: &Path) -> Outcome<Self> {
        let mut command = Command::new(memory);
        command.args(["--root".as_ref(), home.as_os_str()]).args([
            "serve",
            "--interval",
            "1d",
            "--log",
            "-",
        ]);
        let mut daemon = Self(
            command
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()?,
        );
        let mut log = BufReader::new(daemon.0.stderr.take().ok_or("no pipe")?);
        let mut line = String::new();
        while !line.contains("detecting file changes by") {
            line.clear();
            if log.read_line(&mut line)? == 0 {
                return Err("the daemon ended".into());
            }
        }
        // The daemon must be able to write further lines.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Ok(daemon)
    }

    fn resident_megabytes(&self) -> Outcome<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .ok_or("the field is missing in /proc")?;
        let kilobytes: u32 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(f64::from(kilobytes) / 1024.0)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The daemon may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A client of the socket of the daemon.
struct SocketClient {
    stream: BufReader<UnixStream>,
    answer: String,
}

impl SocketClient {
    fn connect(place: &Path) -> Outcome<Self> {
        Ok(Self {
            stream: BufReader::new(UnixStream::connect(place)?),
            answer: String::new(),
        })
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Outcome<Value> {
        self.send(0, method, parameters)?;
        let mut response: Value = serde_json::from_str(&self.answer)?;
        if response["error"].is_null() {
            Ok(response["result"].take())
        } else {
            Err(response["error"].to_string().into())
        }
    }

    fn search(&mut self, number: u32, query: &str) -> Outcome<()> {
        self.send(number, "memory_search", &json!({ "query": query }))?;
        // Only the start of the response is checked; parsing all of it would add to the measured time.
        let is_answer = self.answer.starts_with(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{number},\"result\":"
        ));
        if is_answer {
            Ok(())
        } else {
            Err(format!("unexpected response {}", self.answer).into())
        }
    }

    fn send(&mut self, id: u32, method: &str, parameters: &Value) -> Outcome<()> {
        let request = json!({ "id": id, "method": method, "params": parameters });
        self.stream
            .get_mut()
            .write_all(format!("{request}\n").as_bytes())?;
        self.answer.clear();
        self.stream.read_line(&mut self.answer)?;
        Ok(())
    }
}

/// A response of the page.
struct PageResponse {
    status: u16,
    head: String,
    body: String,
    /// Number of bytes of head and body.
    transferred: usize,
}

/// A client of the page that is signed in, with one persistent connection.
struct PageClient {
    stream: BufReader<TcpStream>,
    place: String,
    cookie: String,
}

impl PageClient {
    fn sign_in(opened: &Value) -> Outcome<Self> {
        let text = |key: &str| {
            opened[key]
                .as_str()
                .ok_or_else(|| format!("no {key} in {opened}"))
        };
        let place = text("address")?
            .trim_start_matches("http://")
            .trim_end_matches('/')
            .to_owned();
        let stream = TcpStream::connect(&place)?;
        stream.set_nodelay(true)?;
        let mut client = Self {
            stream: BufReader::new(stream),
            place,
            cookie: String::new(),
        };
        let body = format!("code={}", text("code")?);
        let headers = format!(
            "Origin: http://{}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
            client.place,
            body.len()
        );
        let response = client.send("POST", "/sign-in", &headers, &body)?;
        let cookie = response
            .head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "))
            .ok_or("no cookie")?;
        cookie
            .split(';')
            .next()
            .unwrap_or_default()
            .clone_into(&mut client.cookie);
        Ok(client)
    }

    fn get(&mut self, path: &str) -> Outcome<PageResponse> {
        let response = self.send("GET", path, "", "")?;
        if response.status == 200 {
            Ok(response)
        } else {
            Err(format!("{path}: {}", response.head).into())
        }
    }

    fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> Outcome<PageResponse> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n{headers}\r\n{body}",
            self.place, self.cookie
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (mut head, mut length) = (String::new(), None);
        loop {
            let start = head.len();
            if self.stream.read_line(&mut head)? == 0 {
                return Err("the server closed the connection".into());
            }
            let line = head[start..].trim_end();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = Some(value.parse()?);
            }
        }
        let mut body = vec![0; length.ok_or("the response has no length")?];
        self.stream.read_exact(&mut body)?;
        let transferred = head.len() + body.len();
        let status = head.split(' ').nth(1).unwrap_or_default().parse()?;
        Ok(PageResponse {
            status,
            head,
            body: String::from_utf8_lossy(&body).into_owned(),
            transferred,
        })
    }
}
