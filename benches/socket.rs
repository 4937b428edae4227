//! Benchmark of `memory_search` over the socket of a running daemon: `socket HOME QUESTIONS`.
//!
//! It prints the latency over one connection for new queries and for repeated queries, and the number of requests per second over 16
//! concurrent connections. Each connection sends the next request after the response to the previous one.

use std::env;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

/// Number of concurrent connections.
const CONNECTIONS: u32 = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [home, questions] = arguments.as_slice() else {
        return Err("usage: socket HOME QUESTIONS".into());
    };
    let (place, questions) = (
        Path::new(home).join("memory.sock"),
        questions.parse::<u32>()?,
    );
    let mut client = Client::connect(&place)?;
    let first = measure_times(&mut client, questions)?;
    let times = measure_times(&mut client, questions)?;
    let last = times
        .len()
        .checked_sub(1)
        .ok_or("QUESTIONS must be at least 1")?;
    let at = |share: usize| times[(times.len() * share / 100).min(last)];
    let start = Instant::now();
    let asking: Vec<_> = (0..CONNECTIONS)
        .map(|first| (place.clone(), first))
        .collect();
    let asking: Vec<_> = asking
        .into_iter()
        .map(|(place, first)| thread::spawn(move || send_all(&place, first, questions)))
        .collect();
    for asked in asking {
        asked.join().map_err(|_| "a client thread panicked")??;
    }
    let rate = f64::from(CONNECTIONS * questions) / start.elapsed().as_secs_f64();
    println!(
        "| questions | first p50 | p50 | p99 | slowest | {CONNECTIONS} connections |\n|---:|---:|---:|---:|---:|---:|"
    );
    println!(
        "| {questions} | {:.2} ms | {:.2} ms | {:.2} ms | {:.2} ms | {rate:.0}/s |",
        first[last / 2],
        at(50),
        at(99),
        at(100)
    );
    Ok(())
}

/// Sends all queries and returns their durations in milliseconds, in ascending order.
fn measure_times(client: &mut Client, questions: u32) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut times = Vec::new();
    for number in 0..questions {
        let start = Instant::now();
        client.search(number)?;
        times.push(start.elapsed().as_secs_f64() * 1_000.0);
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Sends all queries, starting at a different query for each connection.
fn send_all(place: &Path, first: u32, questions: u32) -> Result<(), String> {
    let asked = || -> Result<(), Box<dyn Error>> {
        let mut client = Client::connect(place)?;
        let begin = questions / CONNECTIONS * first;
        (0..questions).try_for_each(|number| client.search((begin + number) % questions))
    };
    asked().map_err(|error| error.to_string())
}

struct Client {
    stream: BufReader<UnixStream>,
    answer: String,
}

impl Client {
    fn connect(place: &Path) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            stream: BufReader::new(UnixStream::connect(place)?),
            answer: String::new(),
        })
    }

    fn search(&mut self, number: u32) -> Result<(), Box<dyn Error>> {
        let request = json!({ "id": number, "method": "memory_search", "params": { "query": corpus::query_text(number) } });
        self.stream
            .get_mut()
            .write_all(format!("{request}\n").as_bytes())?;
        self.answer.clear();
        self.stream.read_line(&mut self.answer)?;
        // Only the start of the response is checked; parsing all of it would add to the measured time.
        let is_answer = self.answer.starts_with(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{number},\"result\":"
        ));
        if is_answer {
            Ok(())
        } else {
            Err(format!(
                "query {:?}: unexpected response {}",
                Value::from(number),
                self.answer
            )
            .into())
        }
    }
}
