//! A temporary home for each test, in which the program runs as in a shell.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use regex::{Captures, Regex};
use serde_json::Value;
use tempfile::TempDir;

/// A temporary home folder, with normalised output.
///
/// Ids become `[id1]`, `[id2]`, … in the order in which they first appear, and operations likewise. Times become `[time]`,
/// the folder becomes `~`, and the program becomes `/bin/memory`.
pub(crate) struct Sandbox {
    folder: TempDir,
    ids: RefCell<Vec<String>>,
    operations: RefCell<Vec<String>>,
}

impl Sandbox {
    /// Creates an empty home.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self {
            folder,
            ids: RefCell::default(),
            operations: RefCell::default(),
        }
    }

    /// Returns the folder, which then lives as long as the returned value.
    pub(crate) fn into_folder(self) -> TempDir {
        self.folder
    }

    /// Returns a path in the home.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and its folders into the home; returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    }

    /// Returns the normalised text of a file in the home.
    pub(crate) fn read_file(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.path(name)).expect("a file");
        self.normalise(&text)
    }

    /// Returns the files of the memories and sessions in `.memory`, by their paths.
    pub(crate) fn home_content(&self) -> BTreeMap<String, Vec<u8>> {
        fn walk(folder: &Path, root: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.expect("an entry").path();
                let name = path
                    .strip_prefix(root)
                    .expect("it is below")
                    .display()
                    .to_string();
                let is_log = ["journal", "index", "trash"]
                    .iter()
                    .any(|part| name.starts_with(part))
                    || name.contains(".trash")
                    || name.contains(".locks");
                if path.is_dir() {
                    walk(&path, root, found);
                } else if !is_log && path.extension().is_none_or(|extension| extension != "lock") {
                    found.insert(name, std::fs::read(&path).expect("it can be read"));
                }
            }
        }
        let (root, mut found) = (self.path(".memory"), BTreeMap::new());
        walk(&root, &root, &mut found);
        found
    }

    /// Runs the program with an empty standard input.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        self.run_with_input("", arguments)
    }

    /// Runs the program with `input` as standard input; returns its output and exit code.
    pub(crate) fn run_with_input(&self, input: &str, arguments: &[&str]) -> String {
        self.transcript(&Self::finish(self.command(arguments), input))
    }

    /// Runs the program with an environment variable.
    pub(crate) fn run_with(&self, name: &str, value: &str, arguments: &[&str]) -> String {
        self.run_with_all(&[(name, value)], arguments)
    }

    /// Runs the program with several environment variables.
    pub(crate) fn run_with_all(&self, variables: &[(&str, &str)], arguments: &[&str]) -> String {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        self.transcript(&Self::finish(command, ""))
    }

    /// Runs the program; returns its standard output without normalisation.
    pub(crate) fn run_raw(&self, arguments: &[&str]) -> String {
        let output = Self::finish(self.command(arguments), "");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs the program with `--json`; returns its output without normalisation.
    pub(crate) fn run_json(&self, arguments: &[&str]) -> Value {
        let output = Self::finish(self.command(&[arguments, &["--json"]].concat()), "");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// Writes a memory with further flags; returns its id.
    pub(crate) fn write(&self, content: &str, flags: &[&str]) -> String {
        let answer = self.run_json(&[&["write", content], flags].concat());
        let id = answer["id"].as_str().expect("an id").to_owned();
        self.normalise(&id);
        id
    }

    /// Returns the program with these arguments, in an environment that contains only the home.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_memory"), arguments)
    }

    /// Runs `memory-cli`, the short form of `memory bank`, with `input` as standard input.
    pub(crate) fn run_bank(&self, input: &str, arguments: &[&str]) -> String {
        let mut command = self.command(arguments);
        command.arg0("memory-cli");
        self.transcript(&Self::finish(command, input))
    }

    /// Runs a shell script with `memory` and its short forms on the `PATH`; `jq` is `memory bank filter`.
    pub(crate) fn run_shell(&self, script: &str) -> String {
        let folder = PathBuf::from(env!("CARGO_BIN_EXE_memory"))
            .parent()
            .expect("a folder")
            .to_owned();
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&others)))
            .expect("a path");
        let script = format!("jq() {{ memory bank filter \"$@\"; }}\n{script}");
        let mut command = self.program("sh", &["-c", &script]);
        command.env("PATH", path);
        self.transcript(&Self::finish(command, ""))
    }

    fn program(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            // Not the one of the user who runs the tests.
            .env("XDG_RUNTIME_DIR", self.folder.path().join("no-runtime"))
            .env("TZ", "UTC");
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command
    }

    /// Runs a command until it exits.
    pub(crate) fn finish(mut command: Command, input: &str) -> Output {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        // A program may ignore its input.
        let _ = child
            .stdin
            .take()
            .expect("a pipe")
            .write_all(input.as_bytes());
        child.wait_with_output().expect("the program ends")
    }

    fn transcript(&self, output: &Output) -> String {
        let mut text = String::from_utf8(output.stdout.clone()).expect("text");
        if !output.stderr.is_empty() {
            text.push_str("--- stderr\n");
            text.push_str(std::str::from_utf8(&output.stderr).expect("text"));
        }
        let code = output.status.code().expect("the program ends by itself");
        if code != 0 {
            text = format!("{text}--- exit {code}\n");
        }
        self.normalise(&text)
    }

    /// Replaces the parts of a text that vary between runs.
    pub(crate) fn normalise(&self, text: &str) -> String {
        let folder = self.folder.path().display().to_string();
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_memory"))
            .canonicalize()
            .expect("the program");
        let mut text = text
            .replace(&folder, "~")
            .replace(&program.display().to_string(), "/bin/memory");
        text = replace(&text, r"\b[0-9a-f]{64}\b", |_| "[hash]".into());
        text = replace(
            &text,
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
            |found| format!("[id{}]", stable_number(&self.ids, found)),
        );
        for (index, id) in self.ids.borrow().iter().enumerate() {
            text = text.replace(&id[..8], &format!("[id{}]", index + 1));
        }
        text = replace(&text, r"\b[0-9a-f]{12}\b", |found| {
            format!("[op{}]", stable_number(&self.operations, found))
        });
        text = replace(&text, r"\btrash/\d{4}-\d\d/", |_| "trash/[month]/".into());
        // The times in the tests themselves are before 2025.
        text = replace(
            &text,
            r"\b20(2[5-9]|[3-9]\d)-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?",
            |_| "[time]".into(),
        );
        text = replace(&text, r"\b20(2[5-9]|[3-9]\d)-\d\d\b(-\d\d)?", |_| {
            "[day]".into()
        });
        text = replace(&text, r"\b\d+\.\d{3,}\b", |_| "[n]".into());
        replace(
            &text,
            r#""(score|idf|average_length|length|size|pending|[a-z_]*bytes)":[0-9.]+"#,
            |found| {
                let key = found.split(':').next().unwrap_or_default();
                format!("{key}:[n]")
            },
        )
    }
}

fn replace(text: &str, pattern: &str, with: impl Fn(&str) -> String) -> String {
    let pattern = Regex::new(pattern).expect("a pattern");
    pattern
        .replace_all(text, |found: &Captures| with(&found[0]))
        .into_owned()
}

fn stable_number(known: &RefCell<Vec<String>>, found: &str) -> usize {
    let mut known = known.borrow_mut();
    let index = known
        .iter()
        .position(|own| own == found)
        .unwrap_or_else(|| {
            known.push(found.to_owned());
            known.len() - 1
        });
    index + 1
}
