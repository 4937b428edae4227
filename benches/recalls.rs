//! Benchmark of the recall ledger: `recalls HOME QUESTIONS`.
//!
//! Two sessions of one process call `memory_search` alternately with the same queries: one of an agent with a ledger in `HOME`,
//! and one of an agent without. Every query runs once before the measurement. The program prints the median of both, and of their
//! ratio and difference.

use std::env;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use corpus::QueryMix;
use memory_agent::{Agent, Session};
use memory_core::{Memories, RecallLedger, Services, View};
use memory_store::RecallFolder;
use serde_json::json;

const USAGE: &str = "usage: recalls HOME QUESTIONS";

/// The default of `recalls.max_size`.
const MAX_SIZE: u64 = 64 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [home, questions] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    let questions: u32 = questions.parse()?;
    let memories: Memories = memory_store::open(home)?;
    let ledger: Arc<dyn RecallLedger> = Arc::new(RecallFolder::new(Path::new(home), MAX_SIZE));
    let begin = |ledger: Option<Arc<dyn RecallLedger>>| -> Result<Session, Box<dyn Error>> {
        let agent = Agent::builder(Services::from(memories.clone()))
            .recall_ledger(ledger)
            .build()?;
        Ok(Session::begin(
            &agent,
            &View {
                agent: "bench".parse().ok(),
                project: None,
                ..View::default()
            },
        ))
    };
    let sessions = [begin(Some(ledger))?, begin(None)?];
    let ask = |session: &Session, number: u32| -> Result<f64, Box<dyn Error>> {
        let parameters = json!({ "query": QueryMix::default().query(number) });
        let start = Instant::now();
        session.call("memory_search", parameters)?;
        Ok(start.elapsed().as_secs_f64() * 1e6)
    };
    for number in 0..questions {
        ask(&sessions[1], number)?;
    }
    let (mut recorded, mut unrecorded, mut ratios, mut differences) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for number in 0..questions {
        // Each of the two is first in every second round.
        let order = if number % 2 == 0 { [0, 1] } else { [1, 0] };
        let mut times = [0.0; 2];
        for which in order {
            times[which] = ask(&sessions[which], number)?;
        }
        recorded.push(times[0]);
        unrecorded.push(times[1]);
        ratios.push(times[0] / times[1]);
        differences.push(times[0] - times[1]);
    }
    println!(
        "| questions | recorded | not recorded | difference | ratio |\n|---:|---:|---:|---:|---:|"
    );
    let [recorded, unrecorded, difference, ratio] =
        [recorded, unrecorded, differences, ratios].map(median);
    println!(
        "| {questions} | {recorded:.0} µs | {unrecorded:.0} µs | {difference:.0} µs | {ratio:.3} |"
    );
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
