//! Tests of the output at a terminal.

use std::process::Command;

use insta::assert_snapshot;
use regex::Regex;
use unicode_width::UnicodeWidthStr;

use crate::sandbox::Sandbox;

/// Runs the program at a terminal of 60 columns; returns `None` if `script` is not installed.
fn run_at_terminal(sandbox: &Sandbox, arguments: &str) -> Option<String> {
    run_with_typed_input(sandbox, arguments, "")
}

/// Runs the program like [`run_at_terminal`], with `typed` as keyboard input.
pub(crate) fn run_with_typed_input(
    sandbox: &Sandbox,
    arguments: &str,
    typed: &str,
) -> Option<String> {
    run_in_folder(sandbox, "", arguments, typed)
}

/// The size of the terminal in tests, as arguments of `stty`.
const SIZE: &str = "rows 40 cols 60";

/// Runs the program like [`run_with_typed_input`], in a folder of the sandbox.
pub(crate) fn run_in_folder(
    sandbox: &Sandbox,
    folder: &str,
    arguments: &str,
    typed: &str,
) -> Option<String> {
    run_with_size(sandbox, SIZE, folder, arguments, typed)
}

fn run_with_size(
    sandbox: &Sandbox,
    size: &str,
    folder: &str,
    arguments: &str,
    typed: &str,
) -> Option<String> {
    if Command::new("script").arg("--version").output().is_err() {
        memory_core::testing::leave_out("`script` is missing");
        return None;
    }
    let mut command = sandbox.command(&[]);
    let memory = command.get_program().to_string_lossy().into_owned();
    let line = format!("stty {size} && exec '{memory}' {arguments}");
    let environment: Vec<_> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    command = Command::new("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(sandbox.path(folder))
        .env_clear()
        .envs(environment)
        .env("SHELL", "/bin/sh");
    let output = Sandbox::finish(command, typed);
    Some(
        String::from_utf8(output.stdout)
            .expect("text")
            .replace("\r\n", "\n"),
    )
}

#[test]
fn what_was_found_stays_below_its_heading() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "The cache keeps timetables for five minutes, and 早上六点半起床，先泡茶，七点半以前不看消息。",
        &["--title", "Tea"],
    );
    let Some(shown) = run_at_terminal(&sandbox, "search tea --color never") else {
        return;
    };
    let below = shown
        .lines()
        .skip(1)
        .map(|line| line.strip_prefix("          ").unwrap_or("not below"));
    assert_snapshot!(below.collect::<Vec<_>>().join("\n"), @"
    The cache keeps timetables for five minutes, and
    早上六点半起床，先泡茶，七点半以前不看消息。
    ");
}

#[test]
fn people_see_when_a_note_of_the_inbox_expires() {
    let sandbox = Sandbox::new();
    let Some(written) = run_at_terminal(&sandbox, "write tea --color never") else {
        return;
    };
    let (id, _) = written.split_once(' ').expect("an id");
    let end = sandbox.run_json(&["read", id])["expires_at"]
        .as_str()
        .expect("a moment")
        .to_owned();
    let (day, minute) = (&end[..10], end[..16].replace('T', " "));
    assert!(
        written.contains(&format!(
            ".md\n  expires {day}\nit is in the inbox until then"
        )),
        "{written}"
    );
    let read = run_at_terminal(&sandbox, &format!("read {id} --color never")).expect("a terminal");
    assert!(
        read.contains(&format!("\nexpires     {minute}\n")),
        "{read}"
    );
    let list = || run_at_terminal(&sandbox, "list --color never").expect("a terminal");
    let second = run_at_terminal(&sandbox, "write coffee --color never").expect("a terminal");
    assert!(!second.contains("until then"), "{second}");
    let (second, _) = second.split_once(' ').expect("an id");
    sandbox.run(&["delete", second]);
    sandbox.write("milk", &["--category", "habits"]);
    assert!(
        list().contains("EXPIRES") && list().contains(day),
        "{}",
        list()
    );
    sandbox.run(&["delete", id]);
    assert!(
        !list().contains("EXPIRES"),
        "nothing in the list expires: {}",
        list()
    );
}

#[test]
fn counts_stand_below_each_other() {
    let sandbox = Sandbox::new();
    sandbox.write("[[nowhere]]", &[]);
    let Some(shown) = run_at_terminal(&sandbox, "resolve-links --color never") else {
        return;
    };
    let (counts, links) = shown.split_at(shown.find("ID ").expect("a second table"));
    assert_snapshot!(counts, @"
    WHAT        COUNT
    resolved        0
    unresolved      1
    updated         0
    ");
    assert!(
        links.starts_with("ID        UNRESOLVED\n") && links.contains("  [[nowhere]]"),
        "{links}"
    );
}

#[test]
fn identifiers_are_whole_in_every_table() {
    let sandbox = Sandbox::new();
    let key = "a-key-of-some-fifty-letters-which-is-no-text-at-all";
    let text = "a value of several words that is longer than the rest of the line";
    sandbox.run(&[
        "bank",
        "write",
        "bank-with-a-long-name",
        key,
        &format!("\"{text}\""),
    ]);
    let conversation = "the-conversation-about-tea-and-milk-of-last-november";
    let front = format!(
        "---\nid: u-03\nconversation_id: {conversation}\nrole: user\ncreated_at: '2024-05-03T10:00:00Z'\n---\n"
    );
    let turn = format!(".memory/entries/{conversation}/turns/user/03__u-03.md");
    sandbox.file(&turn, &format!("{front}{text}\n"));
    let id = sandbox.write(
        text,
        &["--title", "A title that is long enough to be wrapped"],
    );
    sandbox.run(&["delete", &id]);
    let trashed = "a-title-that-is-long-enough-to-be-wrapped-";
    for (command, whole) in [
        ("bank read bank-with-a-long-name --format table", key),
        ("bank list bank-with-a-long-name", key),
        ("bank search key", key),
        ("conversations", conversation),
        ("trash list", trashed),
    ] {
        let Some(shown) = run_at_terminal(&sandbox, &format!("{command} --color never")) else {
            return;
        };
        assert!(shown.contains(whole), "{command}: {shown}");
    }
}

#[test]
fn what_is_remembered_is_shown_and_never_obeyed() {
    let sandbox = Sandbox::new();
    let id = sandbox.write(
        "\x1b[2Jwiped\x07",
        &[
            "--title",
            "\x1b]0;t",
            "--tags",
            "\x1b[1mbold",
            "--source",
            "\x1b[5m",
        ],
    );
    for command in [
        "list",
        "search wiped --explain",
        "stats",
        &format!("read {id}"),
        &format!("tag {id} --add x"),
        "log",
    ] {
        let Some(shown) = run_at_terminal(&sandbox, &format!("{command} --color never")) else {
            return;
        };
        assert!(
            !shown.chars().any(|own| own.is_control() && own != '\n'),
            "{command}: {shown:?}"
        );
    }
}

#[test]
fn the_fields_of_an_instance_are_asked_for() {
    let sandbox = Sandbox::new();
    let Some(shown) = run_with_typed_input(&sandbox, "instance connect history box", "\r~/box\r")
    else {
        return;
    };
    assert!(shown.contains("driver") && shown.contains("dir"), "{shown}");
    assert_eq!(
        sandbox
            .run_shell("memo instances | jq -c '.[] | select(.name == \"box\").fields'")
            .trim_end(),
        r#"{"driver":"file","dir":"~/box"}"#
    );
}

#[test]
fn the_wizard_shows_defaults_and_asks_again_after_a_wrong_value() {
    let sandbox = Sandbox::new();
    sandbox.file("notes.txt", "no folder");
    let Some(shown) = run_with_typed_input(
        &sandbox,
        "instance connect history box",
        "\r~/notes.txt\r~/box\r",
    ) else {
        return;
    };
    assert!(
        shown.contains("[file]") && shown.contains("[~/.memory/instances/history/box]"),
        "{shown}"
    );
    assert!(
        shown.contains("invalid value for dir") && shown.contains("notes.txt is not a folder"),
        "{shown}"
    );
    let fields = |name: &str| {
        sandbox.run_shell(&format!(
            "memo instances | jq -c '.[] | select(.name == \"{name}\").fields.dir'"
        ))
    };
    assert_eq!(fields("box").trim_end(), r#""~/box""#);
    run_with_typed_input(&sandbox, "instance connect history usual", "\r\r");
    let definition = sandbox.read_file(".config/memo/instances/history/usual.yaml");
    assert!(
        !definition.contains("dir"),
        "the usual folder follows the home: {definition}"
    );
}

#[test]
fn a_warning_about_a_damaged_session_follows_the_records() {
    let sandbox = Sandbox::new();
    let long = format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(100_000));
    let whole = r#"{"role":"user","content":"hi"}"#;
    sandbox.file(
        ".memory/history/s.jsonl",
        &format!("{long}\n{{broken\n{whole}\n{long}\n"),
    );
    let Some(shown) = run_at_terminal(
        &sandbox,
        "instance run history read -p session=s --color never",
    ) else {
        return;
    };
    let end = shown.find("\n]\n").expect("the end of the array");
    let warning = shown.find("warning: ").expect("a warning");
    assert!(end < warning, "{}", &shown[warning.saturating_sub(40)..]);
}

/// Returns the lines that stay on the screen, without colours and without steps that were shown meanwhile.
fn screen_lines(shown: &str) -> Vec<String> {
    let code = Regex::new(r"\x1b\[[0-9;?]*[A-Za-z]").expect("a pattern");
    let last = |line: &str| {
        let line = code.replace_all(line, "\r");
        let line = line.trim_end_matches('\r').rsplit('\r').next();
        line.unwrap_or_default().to_owned()
    };
    shown.lines().map(last).collect()
}

/// Returns the number of columns of a line, with tab stops.
fn column_count(line: &str) -> usize {
    line.split_inclusive('\t').fold(0, |column, part| {
        let end = column + part.trim_end_matches('\t').width();
        if part.ends_with('\t') {
            (end / 8 + 1) * 8
        } else {
            end
        }
    })
}

#[test]
fn no_text_looks_like_another_line_of_a_diff() {
    let sandbox = Sandbox::new();
    let text = "the staging service listens on port 8080 for all of us -port 80 is closed";
    let id = sandbox.write(text, &[]);
    let Some(shown) = run_at_terminal(&sandbox, &format!("log {id} --color never")) else {
        return;
    };
    let start = shown.find("+the").expect("an added line");
    assert_snapshot!(&shown[start..], @"
    +the staging service listens on port 8080 for all of us
    … -port 80 is closed
    ");
}

#[test]
fn everyday_commands_wrap_between_words_in_a_terminal_of_60_columns() {
    let sandbox = Sandbox::new();
    let title = "How long the timetable cache of the harbour project keeps its pages";
    let text = "The timetable cache keeps the pages of the harbour for five minutes, and then it asks the server for the \
                departures of the ferries once more, see https://harbour.example.org/handbook/of/the/timetable/cache.html";
    let id = sandbox.write(
        text,
        &[
            "--title",
            title,
            "--tags",
            "harbour,timetables,cache-design",
        ],
    );
    // A tab, emoji of several code points and letters with separate marks.
    let signs = format!(
        "name\tvalue\tcomment\tanother\tcolumn of {} ❤\u{fe0f} 1\u{fe0f}\u{20e3} {} cafe\u{301}x",
        "👨\u{200d}👩\u{200d}👧\u{200d}👦".repeat(30),
        "か\u{3099}".repeat(40)
    );
    let signs_id = sandbox.write(&signs, &[]);
    sandbox.write(
        "Mei reviews every change to the timetable cache before it is released to the quays",
        &["--category", "people"],
    );
    sandbox.run(&[
        "remind",
        "ask Mei for the review of the timetable cache and of its tests tomorrow at 3pm",
    ]);
    let prompt = r#"{"session_id": "a-session-of-claude", "prompt": "how long does the timetable cache of Harbour keep its pages?"}"#;
    sandbox.run_with_input(prompt, &["hook", "prompt", "--agent", "claude-code"]);
    sandbox.file(".claude/CLAUDE.md", "");
    sandbox.file("vault/.obsidian/app.json", "{}");
    sandbox.file("vault/A note about the timetables of the winter.md", text);
    let commands = [
        String::new(),
        "write 'The ferries to the islands leave every thirty minutes from the second quay'".into(),
        "search 'timetable cache'".into(),
        "search 'timetable cache' --explain".into(),
        "list".into(),
        "list --expiring 30d".into(),
        format!("read {id}"),
        format!("edit {id} --tags harbour,timetables,cache"),
        "log".into(),
        format!("log {id}"),
        format!("log {signs_id}"),
        format!("read {signs_id}"),
        "inbox".into(),
        "remind list".into(),
        "remind list the guests of the party".into(),
        "remind 'a text without a time that is long enough for two lines of a terminal'".into(),
        "why".into(),
        format!("why {id}"),
        "import --source obsidian --path vault --dry-run".into(),
        "install --dry-run claude-code".into(),
        "install an-assistant-that-nobody-knows".into(),
        format!("delete {id}"),
        "trash list".into(),
        "undo".into(),
        "status".into(),
        "doctor".into(),
        "doctor --system".into(),
        "help".into(),
        "help --all".into(),
        "help review".into(),
        "an-unknown-command".into(),
    ];
    let everyday = [
        "ui", "write", "search", "list", "read", "edit", "delete", "undo", "inbox", "remind",
        "why", "import", "install", "status", "doctor",
    ];
    let helps = everyday.map(|name| format!("{name} --help"));
    for command in commands.iter().chain(&helps) {
        let Some(shown) = run_at_terminal(&sandbox, command) else {
            return;
        };
        for line in screen_lines(&shown) {
            let is_word = line.split_whitespace().count() < 2;
            // The terminal wraps what `read` prints, so that a copy has no further line breaks.
            let is_text = command.starts_with("read") && (line == text || line == signs);
            let fits = column_count(&line) <= 60 || is_word || is_text;
            assert!(fits, "{command}: {line}\n{shown}");
            assert!(
                !line.starts_with(['\u{3099}', '\u{200d}', '\u{fe0f}', '\u{301}']),
                "{command} divides a character: {line}\n{shown}"
            );
        }
    }
    let words = |command: &str| {
        let shown = run_at_terminal(&sandbox, command).expect("a terminal");
        screen_lines(&shown)
            .iter()
            .flat_map(|line| line.split_whitespace())
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (id, text) in [(&id, text), (&signs_id, &signs)] {
        let shown = run_at_terminal(&sandbox, &format!("read {id}")).expect("a terminal");
        assert!(
            screen_lines(&shown).iter().any(|line| line == text),
            "{shown}"
        );
    }
    assert!(words("list").contains("How long the timetable…"));
}

#[test]
fn without_arguments_a_home_shows_what_waits_and_three_next_steps() {
    let sandbox = Sandbox::new();
    sandbox.write("The user prefers tea", &[]);
    sandbox.run(&["install", "codex"]);
    let Some(shown) = run_at_terminal(&sandbox, "") else {
        return;
    };
    let lines = screen_lines(&shown);
    let from = |start: &str| lines.iter().position(|line| line.starts_with(start));
    assert!(shown.contains("1 memory in ~/.memory"), "{shown}");
    assert!(shown.contains("Nothing waits for you."), "{shown}");
    let steps = from("NEXT STEPS").expect("the steps");
    assert_snapshot!(lines[steps..steps + 4].join("\n"), @"
    NEXT STEPS                         COMMAND
    look at 1 note not yet filed       memory inbox
    see what your assistants received  memory why
    find a memory                      memory search WORDS
    ");
    assert!(lines[steps + 5].starts_with("`memory ui` opens the page"));
    let other = run_at_terminal(&sandbox, "--root other --color never").expect("a terminal");
    assert!(
        other.contains("0 memories in ~/other") && other.contains("write the first memory"),
        "{other}"
    );
    let outdated = sandbox
        .read_file(".codex/config.toml")
        .replace("/bin/memory", "/old/memory");
    sandbox.file(".codex/config.toml", &outdated);
    let shown = run_at_terminal(&sandbox, "").expect("a terminal");
    assert!(
        shown.contains("Codex uses another version") && shown.contains("memory install codex"),
        "{shown}"
    );
}

#[test]
fn a_selection_ends_at_the_end_of_the_input() {
    let sandbox = Sandbox::new();
    sandbox.file(".claude/CLAUDE.md", "");
    for typed in ["\u{4}", "q", ""] {
        let Some(shown) = run_with_typed_input(&sandbox, "install", typed) else {
            return;
        };
        assert!(
            shown.contains("[x] Claude Code") && shown.contains("nothing was changed"),
            "{typed:?}: {shown}"
        );
    }
    let shown = run_with_typed_input(&sandbox, "install", "\r").expect("a terminal");
    assert!(shown.contains("restart Claude Code"), "{shown}");
}

#[test]
fn a_selection_fits_a_small_terminal() {
    let sandbox = Sandbox::new();
    sandbox.file(".claude/CLAUDE.md", "");
    sandbox.file(".codex/config.toml", "");
    let size = "rows 3 cols 40";
    let Some(shown) = run_with_size(&sandbox, size, "", "install", "jjq") else {
        return;
    };
    let selection = shown.split("space selects");
    let drawings: Vec<_> = selection.map(|part| part.matches("[x]").count()).collect();
    assert_eq!(drawings, [1, 1, 1, 0], "{shown}");
    let keys = screen_lines(&shown);
    assert!(keys.iter().all(|line| line.width() < 40), "{shown}");
    assert!(!shown.contains("q leaves"), "the keys are cut: {shown}");
}

#[test]
fn a_person_who_types_nothing_is_offered_three_choices_on_a_key_each() {
    let sandbox = Sandbox::new();
    let after = |key: &str| {
        let shown = run_with_typed_input(&sandbox, "", key)?;
        Some(
            shown
                .split_once("> ")
                .expect("a question")
                .1
                .trim_start()
                .to_owned(),
        )
    };
    let Some(imported) = after("i") else { return };
    assert!(
        imported.contains("no data of a known program was found"),
        "{imported}"
    );
    let set_up = after("S").expect("a terminal");
    assert!(
        set_up.contains("no assistant was found on this machine"),
        "{set_up}"
    );
    let tour = after("t").expect("a terminal");
    assert!(
        tour.contains("About seventy notes are in ~/vault"),
        "{tour}"
    );
    let help = after("q").expect("a terminal");
    assert!(help.contains("Everyday:"), "{help}");
}
