//! Benchmark of reading an export of ChatGPT: `import FOLDER [MESSAGES] [--zip-only]`.
//!
//! It writes an export with 100,000 or `MESSAGES` messages to `FOLDER/export.zip`. A child process reads its conversations, and prints
//! their number, the time, and its peak memory. `jq -c '.[]'` reads the same conversations from an unpacked file, if jq is installed;
//! `--zip-only` neither writes this file nor starts jq.

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, iter};

use corpus::note_text;
use memory_core::SourceSessionItem;
use memory_ingest::{SourceName, SourceOptions};
use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Number of messages of a conversation.
const MESSAGES_PER_CONVERSATION: u32 = 20;

/// Number of rounds, of which the fastest counts.
const ROUNDS: u32 = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let usage = "usage: import FOLDER [MESSAGES] [--zip-only]";
    if let [flag, path] = arguments.as_slice()
        && flag == "--read"
    {
        return read(Path::new(path));
    }
    let is_zip_only = arguments.iter().any(|argument| argument == "--zip-only");
    let mut positional = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--"));
    let folder = Path::new(positional.next().ok_or(usage)?);
    let messages: u32 = positional
        .next()
        .map_or(Ok(100_000), |number| number.parse())?;
    fs::create_dir_all(folder)?;
    let archive = folder.join("export.zip");
    let mut zip = ZipWriter::new(BufWriter::new(File::create(&archive)?));
    zip.start_file(
        "conversations.json",
        SimpleFileOptions::default()
            .large_file(true)
            .compression_level(Some(1)),
    )?;
    let bytes = write_export(&mut zip, messages)?;
    zip.finish()?.flush()?;
    println!(
        "{messages} messages, {} MB, {} MB as ZIP\n",
        bytes >> 20,
        fs::metadata(&archive)?.len() >> 20
    );
    println!("| program | time | messages per second | peak memory |\n|---|---:|---:|---:|");
    let program = env::current_exe()?.display().to_string();
    measure(
        "sessions() of the ZIP",
        &[&program, "--read", &archive.display().to_string()],
        messages,
    )?;
    let has_jq = Command::new("jq")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok();
    if !is_zip_only && has_jq {
        let unpacked = folder.join("conversations.json");
        let mut file = BufWriter::new(File::create(&unpacked)?);
        write_export(&mut file, messages)?;
        file.flush()?;
        let path = unpacked.display().to_string();
        measure(
            "sessions() of the file",
            &[&program, "--read", &path],
            messages,
        )?;
        measure(
            "jq -c '.[]' of the file",
            &["jq", "-c", ".[]", &path],
            messages,
        )?;
    }
    Ok(())
}

/// Writes the conversations; returns their size in bytes.
fn write_export(writer: &mut dyn Write, messages: u32) -> io::Result<u64> {
    let mut bytes = 0;
    let mut put = |writer: &mut dyn Write, text: &str| {
        bytes += text.len() as u64;
        writer.write_all(text.as_bytes())
    };
    let mut first = 0;
    while first < messages {
        put(writer, if first == 0 { "[" } else { "," })?;
        let last = messages.min(first + MESSAGES_PER_CONVERSATION);
        put(writer, &conversation(first, last).to_string())?;
        first = last;
    }
    put(writer, if messages == 0 { "[]" } else { "]" })?;
    Ok(bytes)
}

/// Returns the conversation with the messages `first` to `last`.
fn conversation(first: u32, last: u32) -> serde_json::Value {
    let id = |number: u32| format!("{number:08x}-0000-4000-8000-{number:012x}");
    let root = json!({ "id": "client-created-root", "message": null, "parent": null, "children": [id(first)] });
    let node = |number: u32| {
        let role = if (number - first).is_multiple_of(2) {
            "user"
        } else {
            "assistant"
        };
        let parent = if number == first {
            "client-created-root".to_owned()
        } else {
            id(number - 1)
        };
        let children: Vec<_> = (number + 1 < last)
            .then(|| id(number + 1))
            .into_iter()
            .collect();
        let message = json!({
            "id": id(number), "author": { "role": role, "name": null, "metadata": {} }, "create_time": 1_700_000_000.5 + f64::from(number),
            "update_time": null, "content": { "content_type": "text", "parts": [note_text(number)] }, "status": "finished_successfully",
            "end_turn": true, "weight": 1.0, "metadata": { "model_slug": "gpt-4o", "request_id": id(number), "message_type": "next" },
            "recipient": "all", "channel": null,
        });
        (
            id(number),
            json!({ "id": id(number), "message": message, "parent": parent, "children": children }),
        )
    };
    let nodes = iter::once(("client-created-root".to_owned(), root)).chain((first..last).map(node));
    json!({
        "title": format!("Conversation {first}"), "create_time": 1_700_000_000.5, "update_time": null, "mapping": nodes.collect::<serde_json::Map<_, _>>(),
        "moderation_results": [], "current_node": id(last - 1), "plugin_ids": null, "conversation_id": id(first), "is_archived": false,
        "default_model_slug": "gpt-4o", "is_do_not_remember": false, "id": id(first),
    })
}

/// Reads an export, and prints the number of its messages.
fn read(path: &Path) -> Result<(), Box<dyn Error>> {
    let source = memory_ingest::open(SourceName::ChatGpt, path, &SourceOptions::default())?;
    let mut messages = 0;
    for item in source.sessions() {
        match item {
            SourceSessionItem::Session(session) => messages += session.records.len(),
            SourceSessionItem::Skipped { path, reason } => {
                return Err(format!("{path} {reason}").into());
            }
        }
    }
    println!("{messages}");
    Ok(())
}

/// Runs a command several times, and prints its best time and its peak memory.
fn measure(name: &str, words: &[&str], messages: u32) -> Result<(), Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let status = Command::new(words[0])
            .args(&words[1..])
            .stdout(Stdio::null())
            .status()?;
        best = best.min(start.elapsed().as_secs_f64());
        if !status.success() {
            return Err(format!("{words:?} failed with {status}").into());
        }
    }
    let memory = peak_megabytes(words)?.map_or_else(
        || "unknown".to_owned(),
        |megabytes| format!("{megabytes} MB"),
    );
    println!(
        "| {name} | {best:.2} s | {:.0} | {memory} |",
        f64::from(messages) / best
    );
    Ok(())
}

/// Returns the peak memory of a command, if `/usr/bin/time` exists.
fn peak_megabytes(words: &[&str]) -> Result<Option<u64>, Box<dyn Error>> {
    if !Path::new("/usr/bin/time").exists() {
        return Ok(None);
    }
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%M"])
        .args(words)
        .stdout(Stdio::null())
        .output()?;
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(Some(
        printed
            .lines()
            .last()
            .unwrap_or_default()
            .trim()
            .parse::<u64>()?
            >> 10,
    ))
}
