//! Tests of error messages, as text and as JSON.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn what_is_not_there_is_named_with_a_hint() {
    assert_snapshot!(Sandbox::new().run(&["read", "550e8400"]), @"
    --- stderr
    error[memory_not_found]: no memory matches 550e8400
    hint: `memory list` lists the memories; an id may be shortened to 4 digits
    --- exit 3
    ");
}

#[test]
fn programs_get_errors_as_json_on_the_standard_output() {
    assert_snapshot!(Sandbox::new().run(&["read", "550e8400", "--json"]), @r#"
    {"error":{"code":"MEMORY_NOT_FOUND","message":"no memory matches 550e8400","hint":"`memory list` lists the memories; an id may be shortened to 4 digits"}}
    --- exit 3
    "#);
}

#[test]
fn what_cannot_be_typed_is_a_usage_error() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["list", "--limt", "3"]), @"
    --- stderr
    error[usage]: unexpected argument '--limt' found

      tip: a similar argument exists: '--limit'

    Usage: memory list --limit <N>

    For more information, try '--help'.
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["list", "--limt", "3", "--json"]), @r#"
    {"error":{"code":"USAGE","message":"unexpected argument '--limt' found","hint":"a similar argument exists: '--limit'; Usage: memory list --limit <N>"}}
    --- exit 2
    "#);
    assert_snapshot!(sandbox.run(&["write", "x", "--category", "weather", "--json"]), @r#"
    {"error":{"code":"USAGE","message":"invalid value 'weather' for '--category <CATEGORY>' [possible values: soul, character, people, project, date, knowledge, feedback, preferences, decisions, lessons, habits, skills, inbox, reminders]"}}
    --- exit 2
    "#);
    assert_snapshot!(sandbox.run(&["search", "x", "--from", "soonish"]), @r#"
    --- stderr
    error[usage]: --from: "soonish" is not a day (YYYY-MM-DD), a time (RFC 3339) or words such as "last monday"
    hint: `memory when TEXT` shows how words for a time are read
    --- exit 2
    "#);
    assert_snapshot!(sandbox.run(&["--json"]), @r#"
    {"error":{"code":"USAGE","message":"no command specified","hint":"use --help to list the commands"}}
    --- exit 2
    "#);
}

#[test]
fn a_short_reference_to_two_memories_is_ambiguous() {
    let sandbox = Sandbox::new();
    let line = |(id, content)| format!("{{\"id\":\"{id}\",\"content\":\"{content}\"}}\n");
    let memories = [
        ("aaaa0001-0000-4000-8000-000000000000", "tea"),
        ("aaaa0002-0000-4000-8000-000000000000", "milk"),
    ];
    sandbox.run_with_input(&memories.map(line).concat(), &["import"]);
    assert_snapshot!(sandbox.run(&["read", "aaaa"]), @"
    --- stderr
    error[memory_ambiguous]: aaaa matches at least 2 memories: [id1] (categories/inbox/milk-[id1].md), [id2] (categories/inbox/tea-[id2].md)
    hint: use more digits of the id
    --- exit 2
    ");
}

#[test]
fn a_credential_is_refused_unless_it_is_wanted() {
    let sandbox = Sandbox::new();
    // The token is split, so that secret scanners do not report this repository.
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    assert_snapshot!(sandbox.run(&["write", &token]), @"
    --- stderr
    error[secret_found]: the text seems to contain a credential (GitHub token)
    hint: remove it, or store it anyway with --allow-secret
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["list"]), @"
    --- stderr
    no matching memories
    ");
    assert_snapshot!(sandbox.run(&["write", &token, "--title", "token", "--allow-secret"]), @"[id1]	categories/inbox/token-[id1].md");
}

#[test]
fn a_home_that_is_a_file_is_an_error_and_no_empty_answer() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("occupied", "");
    let shown = sandbox.run(&["list", "--root", &file]);
    assert!(
        shown.contains("error[") && !shown.contains("no matching memories"),
        "{shown}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_told_on_the_other_stream() {
    let sandbox = Sandbox::new();
    sandbox.write("tea", &[]);
    for arguments in [
        &["list"][..],
        &["list", "--limit", "1", "--json"],
        &["export"],
        &["man"],
        &["--help"],
    ] {
        let mut command = sandbox.command(arguments);
        command.stdout(
            std::fs::OpenOptions::new()
                .write(true)
                .open("/dev/full")
                .expect("a full disk"),
        );
        let output = command.output().expect("the program ends");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            told.starts_with("error[disk_full]: cannot write to the standard output\n"),
            "{arguments:?}: {told}"
        );
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    }
}

#[test]
fn own_names_are_written_in_hints_and_never_in_data() {
    let sandbox = Sandbox::new();
    sandbox.run_bank("", &["write", "b", "k", "1"]);
    let key = "a`memory bank x`";
    assert_snapshot!(sandbox.run_bank("", &["read", "b", key]), @r#"
    {"error":{"code":"KEY_NOT_FOUND","message":"Key 'a`memory bank x`' does not exist in memory bank 'b'","bank":"b","key":"a`memory bank x`","scope":"user","hint":"`memory-cli list BANK` lists the keys"}}
    --- exit 3
    "#);
    assert_snapshot!(sandbox.run_bank("", &["read", "b", "k", key]), @r#"
    {"error":{"code":"USAGE","message":"unexpected argument 'a`memory bank x`' found","hint":"Usage: memory-cli read [OPTIONS] <BANK> [KEY]"}}
    --- exit 2
    "#);
    assert_snapshot!(sandbox.run_shell("memo run '`memory instance x`/y' read"), @"
    --- stderr
    error[backend_not_found]: there is no backend `memory instance x`
    hint: `memo backends` lists the backends
    --- exit 3
    ");
}
