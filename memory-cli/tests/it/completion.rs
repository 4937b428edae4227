//! Tests of shell completion, in real shells at a terminal.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use memory_core::testing::leave_out;

use crate::sandbox::Sandbox;

/// Each shell with the words that start it, its startup file, and that file: the function `memory` prints what the program would receive.
const SHELLS: [(&str, &[&str], &str, &str); 3] = [
    (
        "bash",
        &["bash", "--noprofile", "--rcfile", "startup/.bashrc", "-i"],
        "startup/.bashrc",
        "PS1='rea''dy> '; eval \"$(command memory completions bash)\"; memory() { printf 'got:'; printf '<%s>' \"$@\"; echo :end; }\n",
    ),
    (
        "zsh",
        &["zsh", "-d", "-i"],
        "startup/.zshrc",
        "PS1='rea''dy> '; autoload -U compinit; compinit -u -D; eval \"$(command memory completions zsh)\"; memory() { printf 'got:'; printf '<%s>' \"$@\"; echo :end; }\n",
    ),
    (
        "fish",
        &["fish", "--no-config", "-C", "source startup/config.fish"],
        "startup/config.fish",
        "function fish_prompt; echo 'ready> '; end\ncommand memory completions fish | source\nfunction memory; printf 'got:'; printf '<%s>' $argv; echo :end; end\n",
    ),
];

/// Types keys in a shell, and returns all that its terminal shows until `end`; `None` if the shell or Python is missing.
fn type_keys(sandbox: &Sandbox, shell: &str, keys: &str, end: &str) -> Option<String> {
    let (name, words, file, startup) = SHELLS.into_iter().find(|(name, ..)| *name == shell)?;
    for program in [name, "python3"] {
        if Command::new(program).arg("--version").output().is_err() {
            leave_out(&format!("`{program}` is missing"));
            return None;
        }
    }
    sandbox.file(file, startup);
    let mut command = sandbox.command(&[]);
    let folder = Path::new(command.get_program()).parent().map(PathBuf::from);
    let mut environment: BTreeMap<_, _> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(folder.into_iter().chain(std::env::split_paths(&others)));
    environment.insert("PATH".into(), path.expect("a path"));
    environment.insert("ZDOTDIR".into(), sandbox.path("startup").into());
    environment.insert("TERM".into(), "vt100".into());
    environment.insert("LC_ALL".into(), "C.UTF-8".into());
    command = Command::new("python3");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/completion/type.py");
    command.arg(script).args(["ready> ", keys, end]).args(words);
    command
        .current_dir(sandbox.path(""))
        .env_clear()
        .envs(environment);
    let output = Sandbox::finish(command, "");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Types a line that ends with a tab in a shell; returns the arguments with which the shell then calls the program.
fn completed(sandbox: &Sandbox, shell: &str, line: &str) -> Option<String> {
    let shown = type_keys(sandbox, shell, &format!("{line}\t\r"), ":end\r\n")?;
    let (_, got) = shown
        .rsplit_once("got:")
        .unwrap_or_else(|| panic!("{shell}: {line}: {shown}"));
    Some(got.split(":end").next().unwrap_or_default().to_owned())
}

/// Returns the candidates that a script of a shell reads.
fn candidates(sandbox: &Sandbox, shell: &str, line: &str) -> String {
    sandbox.run(&["complete", shell, "60", line])
}

fn home_with_notes() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    let id = sandbox.write(
        "Deploys of Harbour go out on Tuesday",
        &["--title", "Deploy day", "--tags", "harbour"],
    );
    sandbox.write("tea", &["--category", "habits", "--scope", "project:web"]);
    sandbox.file(".memory/categories/skills/My \"Note.md", "How to sail.\n");
    sandbox.run(&["list"]);
    (sandbox, id)
}

#[test]
fn every_shell_completes_what_the_program_then_receives() {
    let (sandbox, id) = home_with_notes();
    let (short, start) = (&id[..8], &id[..5]);
    let by_id = format!("memory read {start}");
    let cases = [
        (by_id.as_str(), format!("<read><{short}>")),
        (
            "memory read deploy-d",
            format!("<read><deploy-day-{short}>"),
        ),
        (r"memory read My\ ", r#"<read><My "Note>"#.to_owned()),
        ("memory read 'My ", r#"<read><My "Note>"#.to_owned()),
        (
            "memory list --tags har",
            "<list><--tags><harbour>".to_owned(),
        ),
        (
            "memory list --tags=x,har",
            "<list><--tags=x,harbour>".to_owned(),
        ),
        (
            "memory list --scope project:w",
            "<list><--scope><project:web>".to_owned(),
        ),
        (
            "memory agent --project w",
            "<agent><--project><web>".to_owned(),
        ),
        (
            "memory list --category=pref",
            "<list><--category=preferences>".to_owned(),
        ),
        (
            "memory config get storage.r",
            "<config><get><storage.root>".to_owned(),
        ),
        (
            "memory --root .memory read deploy-d",
            format!("<--root><.memory><read><deploy-day-{short}>"),
        ),
        ("memory list --fres", "<list><--fresh>".to_owned()),
    ];
    for (shell, ..) in SHELLS {
        for (line, expected) in &cases {
            let Some(got) = completed(&sandbox, shell, line) else {
                break;
            };
            assert_eq!(got, *expected, "{shell}: {line}");
        }
    }
}

#[test]
fn the_start_of_a_title_becomes_the_name_of_its_file() {
    let (sandbox, id) = home_with_notes();
    for shell in ["bash", "zsh"] {
        for line in ["memory read \"Deploy d", r"memory read Deploy\ d"] {
            let Some(got) = completed(&sandbox, shell, line) else {
                break;
            };
            assert_eq!(
                got,
                format!("<read><deploy-day-{}>", &id[..8]),
                "{shell}: {line}"
            );
        }
    }
}

#[test]
fn a_list_of_ids_has_titles() {
    let (sandbox, _) = home_with_notes();
    for (shell, ..) in SHELLS {
        let Some(shown) = type_keys(&sandbox, shell, "memory read \t\t", "deploy day") else {
            continue;
        };
        assert!(shown.contains("deploy day"), "{shell}: {shown}");
    }
}

#[test]
fn candidates_fit_the_place_of_the_cursor() {
    let (sandbox, id) = home_with_notes();
    let lines = |line: &str| -> Vec<String> {
        let shown = String::from_utf8(
            Sandbox::finish(sandbox.command(&["complete", "zsh", "60", line]), "").stdout,
        );
        let shown = shown.expect("text");
        shown.lines().map(str::to_owned).collect()
    };
    let own = format!("{}\tdeploy day", &id[..8]);
    assert_eq!(lines("sudo memory read ").len(), 3);
    assert_eq!(lines("memory link tea "), lines("memory read "));
    assert_eq!(lines("memory inbox accept "), [own]);
    assert_eq!(lines("memory tag x --add "), ["harbour"]);
    assert_eq!(lines("memory --root "), ["\tfiles"]);
    assert!(lines("memory help und")[0].starts_with("undo\t"));
    assert!(lines("memory write -- --ta").is_empty());
    assert!(lines("memory search tea").is_empty());
}

#[test]
fn of_many_notes_the_first_and_the_last_are_shown() {
    let sandbox = Sandbox::new();
    for number in 100..300 {
        let note = format!(".memory/categories/skills/Sail {number}.md");
        sandbox.file(&note, &format!("Step {number}\n"));
        sandbox.file(&format!(".memory/categories/Sails/{number}.md"), "Canvas\n");
    }
    sandbox.run(&["list"]);
    let shown = candidates(&sandbox, "fish", "memory read sail");
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines.len(), 100, "{shown}");
    assert!(lines[0].starts_with("Sail 100\t") && lines[99].starts_with("Sail 299\t"));
}

#[test]
fn a_completion_changes_no_file_and_never_fails() {
    let (sandbox, _) = home_with_notes();
    let files = || files_below(&sandbox.path(".memory"));
    let before = files();
    assert!(candidates(&sandbox, "fish", "memory read ").contains("deploy day"));
    assert_eq!(files(), before);
    fs::remove_dir_all(sandbox.path(".memory/index")).expect("a folder");
    let before = files();
    assert_eq!(candidates(&sandbox, "fish", "memory read "), "");
    sandbox.file(".memory/index/documents.db", "no database");
    assert_eq!(candidates(&sandbox, "fish", "memory read "), "");
    sandbox.file(".memory/config.yaml", "storage: [");
    assert_eq!(candidates(&sandbox, "fish", "memory read "), "");
    fs::remove_dir_all(sandbox.path(".memory/index")).expect("a folder");
    fs::remove_file(sandbox.path(".memory/config.yaml")).expect("a file");
    assert_eq!(files(), before);
    assert_eq!(
        candidates(&sandbox, "fish", "memory --root missing read "),
        ""
    );
    assert!(!sandbox.path("missing").exists());
}

/// Returns the files below a folder with their bytes, except those by which the readers of a database exclude its writers.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else if !path.to_string_lossy().ends_with("-shm") {
            found.insert(path.clone(), fs::read(path).expect("a file"));
        }
    }
    found
}
