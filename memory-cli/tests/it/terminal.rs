//! What people see at a terminal.

use std::process::Command;

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// Runs the program at a terminal of 60 columns; nothing if there is no `script` to make one with.
fn at_a_terminal(sandbox: &Sandbox, arguments: &str) -> Option<String> {
    typed_at_a_terminal(sandbox, arguments, "")
}

/// As [`at_a_terminal`], where somebody types.
fn typed_at_a_terminal(sandbox: &Sandbox, arguments: &str, typed: &str) -> Option<String> {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("left out: what people see at a terminal, for want of `script` (util-linux)");
        assert!(std::env::var_os("MEMORY_TEST_REQUIRE_ALL").is_none_or(|value| value != "1"), "nothing may be left out");
        return None;
    }
    let mut command = sandbox.command(&[]);
    let memory = command.get_program().to_string_lossy().into_owned();
    let line = format!("stty rows 40 cols 60 && exec '{memory}' {arguments}");
    let environment: Vec<_> = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    command = Command::new("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(sandbox.path(""))
        .env_clear()
        .envs(environment)
        .env("SHELL", "/bin/sh");
    let output = Sandbox::finish(command, typed);
    Some(String::from_utf8(output.stdout).expect("text").replace("\r\n", "\n"))
}

#[test]
fn what_was_found_stays_below_its_heading() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "The cache keeps timetables for five minutes, and 早上六点半起床，先泡茶，七点半以前不看消息。",
        &["--title", "Tea"],
    );
    let Some(shown) = at_a_terminal(&sandbox, "search tea --color never") else { return };
    let below = shown.lines().skip(1).map(|line| line.strip_prefix("          ").unwrap_or("not below"));
    assert_snapshot!(below.collect::<Vec<_>>().join("\n"), @"
    The cache keeps timetables for five minutes, and
    早上六点半起床，先泡茶，七点半以前不看消息。
    ");
}

#[test]
fn counts_stand_below_each_other() {
    let sandbox = Sandbox::new();
    sandbox.write("[[nowhere]]", &[]);
    let Some(shown) = at_a_terminal(&sandbox, "resolve-links --color never") else { return };
    assert_snapshot!(shown, @"
    WHAT        COUNT
    resolved        0
    unresolved      1
    updated         0
    ");
}

#[test]
fn what_is_remembered_is_shown_and_never_obeyed() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("\x1b[2Jwiped\x07", &["--title", "\x1b]0;t", "--tags", "\x1b[1mbold", "--source", "\x1b[5m"]);
    for command in ["list", "search wiped --explain", "stats", &format!("read {id}"), &format!("tag {id} --add x"), "log"] {
        let Some(shown) = at_a_terminal(&sandbox, &format!("{command} --color never")) else { return };
        assert!(!shown.chars().any(|own| own.is_control() && own != '\n'), "{command}: {shown:?}");
    }
}

#[test]
fn the_fields_of_an_instance_are_asked_for() {
    let sandbox = Sandbox::new();
    let Some(shown) = typed_at_a_terminal(&sandbox, "instance connect history box", "\r~/box\r") else { return };
    assert!(shown.contains("driver") && shown.contains("dir"), "{shown}");
    assert_eq!(
        sandbox.shell("memo instances | jq -c '.[] | select(.name == \"box\").fields'").trim_end(),
        r#"{"driver":"file","dir":"~/box"}"#
    );
}
