//! Tests the transcripts in the README and the book: each command in a `console` block runs in a terminal, in order.
//!
//! The commands of a document share one home. `MEMORY_README_UPDATE=1` writes their output into the documents, and draws the
//! picture of the README anew.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use regex::Regex;

use crate::sandbox::Sandbox;

/// Matches the parts that vary between runs: ids, operations, times and sizes in bytes.
///
/// Sizes vary since the number of digits of a time varies.
const VARYING_PARTS: &str = r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{12}\b|\b[0-9a-f]{8}\b|\b20\d\d-\d\d(?:-\d\d(?:T[0-9:.]+Z| \d\d:\d\d(?::\d\d)?)?)?\b|\b\d+ bytes\b";

/// The picture of the README, and the page with the transcript that it shows.
const PICTURE: (&str, &str) = ("web/review.svg", "guide-review.md");

/// Returns the folder of the book.
fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src")
}

/// Returns the README and the pages of the book.
fn documents() -> Vec<PathBuf> {
    let pages = std::fs::read_dir(book())
        .expect("the book")
        .map(|page| page.expect("a page").path());
    let mut documents: Vec<PathBuf> = pages
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    documents.sort();
    documents.insert(0, book().join("../../README.md"));
    documents
}

#[test]
fn the_transcripts_of_the_documents_are_true() {
    if Command::new("script")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        memory_core::testing::leave_out("`script` is missing");
        return;
    }
    let (mut commands, mut differences) = (0, Vec::new());
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a document");
        let mut player = TranscriptPlayer::new();
        let actual = player.play_document(&text);
        commands += player.commands;
        if std::env::var_os("MEMORY_README_UPDATE").is_some() {
            std::fs::write(&path, &actual).expect("the document is written");
        }
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        differences.extend(
            first_difference(&text, &actual).map(|difference| format!("{name}: {difference}")),
        );
    }
    if std::env::var_os("MEMORY_README_UPDATE").is_some() {
        std::fs::write(book().join(PICTURE.0), drawn_picture()).expect("the picture is written");
    }
    assert!(50 < commands, "the transcripts were found");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Draws the transcript that follows the picture in its page.
fn drawn_picture() -> String {
    let page = std::fs::read_to_string(book().join(PICTURE.1)).expect("a page");
    let (_, rest) = page
        .split_once(&format!("({})", PICTURE.0))
        .expect("the picture");
    let (_, block) = rest.split_once("```console\n").expect("a transcript");
    draw_transcript(block.split_once("```").expect("a block is closed").0)
}

#[test]
fn the_picture_of_the_readme_shows_a_tested_transcript() {
    // The update of the transcripts draws the picture too.
    if std::env::var_os("MEMORY_README_UPDATE").is_some() {
        return;
    }
    let written = std::fs::read_to_string(book().join(PICTURE.0)).expect("a picture");
    let difference = first_difference(&written, &drawn_picture());
    assert!(
        difference.is_none(),
        "{}: {}",
        PICTURE.0,
        difference.unwrap_or_default()
    );
}

#[test]
fn help_prints_each_guide_of_the_book() {
    let sandbox = Sandbox::new();
    let mut guides = 0;
    for path in documents() {
        let name = path.file_stem().expect("a name").to_string_lossy();
        let Some(guide) = name.strip_prefix("guide-") else {
            continue;
        };
        let page = std::fs::read_to_string(&path).expect("a page");
        let title = page.lines().next().map(|line| line.replace("# ", ""));
        let printed = Sandbox::finish(sandbox.command(&["help", guide]), "");
        let printed = String::from_utf8(printed.stdout).expect("text");
        assert_eq!(printed.lines().next(), title.as_deref(), "{guide}");
        guides += 1;
    }
    assert_eq!(guides, 5);
}

#[test]
fn the_pictures_of_the_readme_are_small() {
    let readme = std::fs::read_to_string(book().join("../../README.md")).expect("the README");
    let picture = Regex::new(r"!\[[^\]]+\]\(([^)]+)\)").expect("a pattern");
    let sizes: Vec<u64> = picture
        .captures_iter(&readme)
        .map(|found| book().join("../..").join(&found[1]))
        .map(|path| path.metadata().expect("a picture").len())
        .collect();
    assert!(
        1 < sizes.len() && sizes.iter().sum::<u64>() < 400_000,
        "{sizes:?}"
    );
}

/// Draws a transcript as an SVG picture in which each command is typed and its output appears.
///
/// A program that does not animate, and a reader who prefers no motion, sees the whole transcript.
fn draw_transcript(transcript: &str) -> String {
    const COLUMNS: usize = 94;
    const LINE: usize = 20;
    let (mut body, mut at, mut time) = (String::new(), 46, 600);
    for line in transcript.lines() {
        let (class, text) = match line
            .strip_prefix("$ ")
            .map(|command| command.strip_prefix("# "))
        {
            Some(Some(caption)) => ("caption", caption),
            Some(None) => ("command", line),
            None => ("output", line),
        };
        let characters: Vec<char> = text.chars().collect();
        if class == "caption" {
            at += LINE / 2;
            time += 1600;
        }
        for (part, piece) in characters.chunks(COLUMNS).enumerate() {
            let piece: String = piece.iter().collect();
            let escaped = piece
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            let typing = 20 * piece.chars().count();
            let duration = if class == "command" { typing } else { 200 };
            writeln!(
                body,
                "<text class=\"{class}\" x=\"20\" y=\"{at}\" style=\"--n:{};animation-delay:{time}ms;animation-duration:{duration}ms\">{escaped}</text>",
                piece.chars().count(),
            )
            .expect("text");
            at += LINE;
            time += match class {
                "command" => typing + 500,
                "caption" => 800,
                _ if part == 0 => 150,
                _ => 50,
            };
        }
    }
    let height = at + 4;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 820 {height}\" width=\"820\" height=\"{height}\" role=\"img\">
<style>
text{{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;animation:show .2s both}}
.command{{fill:#e6edf3;animation-name:type;animation-timing-function:steps(var(--n))}}
.caption{{fill:#7ee787;font-weight:bold}}
.output{{fill:#9fb0c3}}
@keyframes show{{from{{opacity:0}}}}
@keyframes type{{from{{clip-path:inset(0 100% 0 0)}}to{{clip-path:inset(0)}}}}
@media (prefers-reduced-motion:reduce){{text{{animation:none}}}}
</style>
<rect width=\"820\" height=\"{height}\" rx=\"8\" fill=\"#0d1117\"/>
<g fill=\"#30363d\"><circle cx=\"20\" cy=\"16\" r=\"5\"/><circle cx=\"38\" cy=\"16\" r=\"5\"/><circle cx=\"56\" cy=\"16\" r=\"5\"/></g>
{body}</svg>
"
    )
}

/// Returns the first line that differs, except for the parts that vary between runs.
fn first_difference(written: &str, actual: &str) -> Option<String> {
    let varies = Regex::new(VARYING_PARTS).expect("a pattern");
    let lines = |text: &str| {
        text.lines()
            .map(|line| varies.replace_all(line, "~").into_owned())
            .collect::<Vec<_>>()
    };
    let (written, actual) = (lines(written), lines(actual));
    let at = (0..written.len().max(actual.len())).find(|&at| written.get(at) != actual.get(at))?;
    let line = |lines: &[String]| lines.get(at).cloned().unwrap_or_default();
    Some(format!(
        "line {}\n  written: {}\n  actual:  {}",
        at + 1,
        line(&written),
        line(&actual)
    ))
}

/// Runs the commands of a transcript, and maps the ids in the transcript to those of this run.
struct TranscriptPlayer {
    sandbox: Sandbox,
    folder: PathBuf,
    meanings: HashMap<String, String>,
    commands: usize,
}

impl TranscriptPlayer {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let folder = Path::new(env!("CARGO_BIN_EXE_memory"))
            .parent()
            .expect("a folder")
            .to_owned();
        Self {
            sandbox,
            folder,
            meanings: HashMap::new(),
            commands: 0,
        }
    }

    /// Runs the commands of all blocks; returns the document with their actual output.
    fn play_document(&mut self, document: &str) -> String {
        let mut played = String::new();
        let mut rest = document;
        while let Some(start) = rest.find("```console\n") {
            let (before, block) = rest.split_at(start + "```console\n".len());
            let end = block.find("```").expect("a block is closed");
            played.push_str(before);
            played.push_str(&self.play(&block[..end]));
            rest = &block[end..];
        }
        played.push_str(rest);
        played
    }

    /// Runs the commands of a block; returns the block with their actual output.
    fn play(&mut self, block: &str) -> String {
        let mut played = String::new();
        let mut lines = block.lines().peekable();
        while let Some(line) = lines.next() {
            let command = line
                .strip_prefix("$ ")
                .unwrap_or_else(|| panic!("{line:?} is printed by no command"));
            let mut wanted = String::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                wanted.push_str(line);
                wanted.push('\n');
            }
            let meant = self.with_actual_ids(command);
            let printed = self.run(&meant);
            self.map_ids(&wanted, &printed);
            played.extend(["$ ", &meant, "\n", &printed]);
        }
        played
    }

    /// Replaces the ids of the transcript in a command with those of this run.
    fn with_actual_ids(&self, command: &str) -> String {
        self.meanings
            .iter()
            .fold(command.to_owned(), |meant, (written, actual)| {
                meant.replace(written, actual)
            })
    }

    fn run(&mut self, command: &str) -> String {
        self.commands += 1;
        let path = format!(
            "{}:{}",
            self.folder.display(),
            std::env::var("PATH").unwrap_or_default()
        );
        let home = self.sandbox.path("");
        let on_terminal = format!("stty cols 100; {command}");
        let output = Command::new("script")
            .args(["-qec", &on_terminal, "/dev/null"])
            .current_dir(&home)
            .env_clear()
            .envs([
                ("PATH", path.as_str()),
                ("TZ", "UTC"),
                ("NO_COLOR", "1"),
                ("LANG", "C.UTF-8"),
                ("SHELL", "/bin/sh"),
            ])
            .env("HOME", &home)
            .stdin(Stdio::null())
            .output()
            .expect("`script` runs");
        let printed = String::from_utf8(output.stdout)
            .expect("text")
            .replace("\r\n", "\n");
        // On a busy machine, a command shows a progress bar, which it erases at the end.
        let printed: String = printed
            .lines()
            .map(|line| line.rsplit("\u{1b}[2K").next().unwrap_or(line))
            .flat_map(|line| [line.trim_end(), "\n"])
            .collect();
        let folder = home.display().to_string();
        // The path of the program varies too.
        let program = self
            .folder
            .canonicalize()
            .expect("a folder")
            .display()
            .to_string();
        printed
            .replace(folder.trim_end_matches('/'), "~")
            .replace(&program, "/usr/local/bin")
    }

    /// Maps the ids of the transcript to those of this run, by their order.
    fn map_ids(&mut self, wanted: &str, printed: &str) {
        let varies = Regex::new(VARYING_PARTS).expect("a pattern");
        for (written, actual) in varies.find_iter(wanted).zip(varies.find_iter(printed)) {
            self.meanings
                .insert(written.as_str().to_owned(), actual.as_str().to_owned());
        }
    }
}
