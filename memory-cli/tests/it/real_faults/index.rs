//! Tests of queries while the index is damaged at many places, one after the other.
//!
//! The results are still those of the files.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

use memory_core::testing::extent;
use serde_json::Value;

use super::shapes::query_item;
use crate::sandbox::Sandbox;

const THREADS: usize = 4;

const QUESTIONS: [&[&str]; 4] = [
    &["search", "dark mode", "--json"],
    &["search", "简短", "--json"],
    &["list", "--json"],
    &["search", "mode tag:drink", "--json"],
];

#[test]
fn whatever_becomes_of_the_index_the_answers_are_those_of_the_files() {
    let damages = extent(100, 1_000);
    let tried: usize = std::thread::scope(|scope| {
        let all: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(move || damage_repeatedly(damages / THREADS)))
            .collect();
        all.into_iter()
            .map(|one| one.join().expect("it ends"))
            .sum()
    });
    assert_eq!(tried, damages);
}

fn damage_repeatedly(times: usize) -> usize {
    let home = Sandbox::new();
    for text in [
        "The user prefers dark mode",
        "用户喜欢简短的回答",
        "Dark roast, not dark mode",
        "See [[Dark roast]]",
    ] {
        home.write(text, &["--tags", "drink"]);
    }
    let answers: Vec<String> = QUESTIONS
        .iter()
        .map(|question| query_memories(&home, question))
        .collect();
    for number in 0..times {
        let what = damage_file(&home.path(".memory/index"), number);
        let (question, before) = (number % QUESTIONS.len(), &answers[number % QUESTIONS.len()]);
        assert_eq!(
            &query_memories(&home, QUESTIONS[question]),
            before,
            "after {what}"
        );
    }
    times
}

/// Returns the memories in the result of a query, in order.
fn query_memories(home: &Sandbox, question: &[&str]) -> String {
    let answer: Value = serde_json::from_str(&query_item(home, question)).expect("JSON");
    let memory = |one: &Value| one.get("memory").unwrap_or(one)["content"].to_string();
    let all = answer["hits"]
        .as_array()
        .or(answer["memories"].as_array())
        .expect("a list");
    format!(
        "{:?} of {}",
        all.iter().map(memory).collect::<Vec<_>>(),
        answer["total"]
    )
}

/// Damages one file of the index; returns a description of the damage.
fn damage_file(folder: &Path, number: usize) -> String {
    let mut files: Vec<PathBuf> = Vec::new();
    collect(folder, &mut files);
    if files.is_empty() {
        return "nothing".into();
    }
    if 2 < number % 20 {
        // The tables have no checksums: a flipped bit within a word is undetectable.
        files.retain(|file| {
            !file
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("documents.db"))
        });
    }
    let Some(file) = files.get(random() % files.len().max(1)) else {
        return "nothing".into();
    };
    let mut bytes = fs::read(file).expect("a file");
    let what = match number % 20 {
        0 => {
            fs::remove_dir_all(folder).expect("a folder");
            return "the index was deleted".into();
        }
        1 => {
            fs::remove_file(file).expect("a file");
            return format!("{} was deleted", file.display());
        }
        2 => {
            bytes.truncate(random() % (bytes.len() + 1));
            "truncated".to_owned()
        }
        _ if bytes.is_empty() => "left as it was".to_owned(),
        _ => {
            let (place, bit) = (random() % bytes.len(), random() % 8);
            bytes[place] ^= 1 << bit;
            format!("flipped at bit {bit} of byte {place}")
        }
    };
    fs::write(file, bytes).expect("a file");
    // Real damage does not happen at the moment of the write, so the file gets a later modification time.
    let written = file.metadata().and_then(|found| found.modified());
    let later = written.expect("a file") + Duration::from_secs(5);
    fs::File::options()
        .write(true)
        .open(file)
        .and_then(|file| file.set_modified(later))
        .expect("a file");
    format!("{} was {what}", file.display())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

fn random() -> usize {
    usize::try_from(RandomState::new().build_hasher().finish() >> 1).expect("a number")
}
