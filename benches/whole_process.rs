//! Benchmark of whole commands in comparison: `whole-process ROUNDS [--queries MIX] 'COMMAND' 'COMMAND'…`.
//!
//! Each round runs every command once, one after the other, so that temporary load affects all commands alike. `{}` in a command is
//! replaced by a query, which is the same for all commands of a round; `MIX` is `mixed` (the default), `rare` or `misspelled`. The program prints the median time of each command, its ratio to the
//! median of the last command, and its peak memory, if `/usr/bin/time` exists.

use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, error::Error, path::Path};

use corpus::QueryMix;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let usage = "usage: whole-process ROUNDS [--queries MIX] COMMAND…";
    let rounds: u32 = arguments.next().ok_or(usage)?.parse()?;
    let mut arguments = arguments.peekable();
    let mut mix = QueryMix::default();
    if arguments
        .next_if(|argument| argument == "--queries")
        .is_some()
    {
        mix = arguments.next().ok_or(usage)?.parse()?;
    }
    let commands: Vec<_> = arguments.collect();
    let mut times = vec![Vec::new(); commands.len()];
    let mut memory = vec![0; commands.len()];
    // The benchmark measures a cold process, not a cold disk: all rounds run once before the measurement.
    for (round, counts) in (0..rounds)
        .map(|round| (round, false))
        .chain((0..rounds).map(|round| (round, true)))
    {
        let question = mix.query(round);
        for (index, command) in commands.iter().enumerate() {
            let words: Vec<_> = command
                .split_whitespace()
                .flat_map(|word| {
                    if word == "{}" {
                        question.split(' ').collect()
                    } else {
                        vec![word]
                    }
                })
                .collect();
            let start = Instant::now();
            run(&words)?;
            if counts {
                times[index].push(start.elapsed().as_secs_f64() * 1_000.0);
            }
            if counts && round < 3 {
                memory[index] = memory[index].max(peak_kilobytes(&words)?);
            }
        }
    }
    for times in &mut times {
        times.sort_by(f64::total_cmp);
    }
    let last = times.last().map_or(1.0, |times| times[times.len() / 2]);
    println!(
        "| command | median | fastest | slowest | of the last | peak memory |\n|---|---:|---:|---:|---:|---:|"
    );
    for ((command, times), kilobytes) in commands.iter().zip(&times).zip(&memory) {
        let median = times[times.len() / 2];
        let (fastest, slowest) = (times[0], times[times.len() - 1]);
        let share = median / last;
        println!(
            "| {command} | {median:.1} ms | {fastest:.1} ms | {slowest:.1} ms | {share:.2} | {} MB |",
            kilobytes / 1_024
        );
    }
    Ok(())
}

fn run(words: &[&str]) -> Result<(), Box<dyn Error>> {
    let (program, arguments) = words.split_first().ok_or("a command is empty")?;
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{words:?} failed with {status}").into())
    }
}

fn peak_kilobytes(words: &[&str]) -> Result<u64, Box<dyn Error>> {
    if !Path::new("/usr/bin/time").exists() {
        return Ok(0);
    }
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%M"])
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(said.lines().last().unwrap_or_default().trim().parse()?)
}
