//! Tests the transcripts in the README: each command in a `console` block runs in a terminal, in order.
//!
//! All commands share one home. `MEMORY_README_UPDATE=1` writes their output into the README.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use regex::Regex;

use crate::sandbox::Sandbox;

/// Matches the parts that vary between runs: ids, operations, times and sizes in bytes.
///
/// Sizes vary since the number of digits of a time varies.
const VARIES: &str = r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{12}\b|\b[0-9a-f]{8}\b|\b20\d\d-\d\d(?:-\d\d(?:T[0-9:.]+Z| \d\d:\d\d(?::\d\d)?)?)?\b|\b\d+ bytes\b";

#[test]
fn the_transcripts_of_the_readme_are_true() {
    if Command::new("script").arg("--version").stdout(Stdio::null()).status().is_err() {
        let required = std::env::var_os("MEMORY_TEST_REQUIRE_ALL").is_some();
        assert!(!required, "`script` gives the transcripts their terminal, and is missing");
        eprintln!("left out: the transcripts of the README, because `script` is missing");
        return;
    }
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(&place).expect("the README");
    let mut player = Player::new();
    let mut found = String::new();
    let mut rest = readme.as_str();
    while let Some(start) = rest.find("```console\n") {
        let (before, block) = rest.split_at(start + "```console\n".len());
        let end = block.find("```").expect("a block is closed");
        found.push_str(before);
        found.push_str(&player.play(&block[..end]));
        rest = &block[end..];
    }
    found.push_str(rest);
    if std::env::var_os("MEMORY_README_UPDATE").is_some() {
        std::fs::write(&place, &found).expect("the README is written");
    }
    assert!(player.commands > 10, "available tools: transcripts");
    similar(&readme, &found);
}

/// Compares two texts line by line, except for the parts that vary between runs.
fn similar(wanted: &str, found: &str) {
    let varies = Regex::new(VARIES).expect("a pattern");
    let lines = |text: &str| text.lines().map(|line| varies.replace_all(line, "~").into_owned()).collect::<Vec<_>>();
    let (wanted, found) = (lines(wanted), lines(found));
    for (number, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
        assert_eq!(found, wanted, "line {} of the README", number + 1);
    }
    assert_eq!(wanted.len(), found.len());
}

/// Runs the commands of a transcript, and maps the ids in the transcript to those of this run.
struct Player {
    sandbox: Sandbox,
    folder: PathBuf,
    meanings: HashMap<String, String>,
    commands: usize,
}

impl Player {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let folder = Path::new(env!("CARGO_BIN_EXE_memory")).parent().expect("a folder").to_owned();
        Self { sandbox, folder, meanings: HashMap::new(), commands: 0 }
    }

    /// Runs the commands of a block; returns the block with their actual output.
    fn play(&mut self, block: &str) -> String {
        let mut played = String::new();
        let mut lines = block.lines().peekable();
        while let Some(line) = lines.next() {
            let command = line.strip_prefix("$ ").unwrap_or_else(|| panic!("{line:?} is printed by no command"));
            let mut wanted = String::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                wanted.push_str(line);
                wanted.push('\n');
            }
            let meant = self.meant(command);
            let printed = self.run(&meant);
            self.learn(&wanted, &printed);
            played.extend(["$ ", &meant, "\n", &printed]);
        }
        played
    }

    /// Replaces the ids of the transcript in a command with those of this run.
    fn meant(&self, command: &str) -> String {
        self.meanings.iter().fold(command.to_owned(), |meant, (written, actual)| meant.replace(written, actual))
    }

    fn run(&mut self, command: &str) -> String {
        self.commands += 1;
        let path = format!("{}:{}", self.folder.display(), std::env::var("PATH").unwrap_or_default());
        let home = self.sandbox.path("");
        let on_terminal = format!("stty cols 100; {command}");
        let output = Command::new("script")
            .args(["-qec", &on_terminal, "/dev/null"])
            .current_dir(&home)
            .env_clear()
            .envs([("PATH", path.as_str()), ("TZ", "UTC"), ("NO_COLOR", "1"), ("LANG", "C.UTF-8"), ("SHELL", "/bin/sh")])
            .env("HOME", &home)
            .stdin(Stdio::null())
            .output()
            .expect("`script` runs");
        let printed = String::from_utf8(output.stdout).expect("text").replace("\r\n", "\n");
        let printed: String = printed.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
        let folder = home.display().to_string();
        // The path of the program varies too.
        let program = self.folder.canonicalize().expect("a folder").display().to_string();
        printed.replace(folder.trim_end_matches('/'), "~").replace(&program, "/usr/local/bin")
    }

    /// Maps the ids of the transcript to those of this run, by their order.
    fn learn(&mut self, wanted: &str, printed: &str) {
        let varies = Regex::new(VARIES).expect("a pattern");
        for (written, actual) in varies.find_iter(wanted).zip(varies.find_iter(printed)) {
            self.meanings.insert(written.as_str().to_owned(), actual.as_str().to_owned());
        }
    }
}
