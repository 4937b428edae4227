//! Tests of the folders, damage and scopes in the output of `memory bank`.

use std::fs;

use crate::sandbox::Sandbox;

/// Returns a home with a project that has two folders of banks.
fn project_with_two_folders() -> Sandbox {
    let sandbox = Sandbox::new();
    for folder in [".slop-mcp/memory", ".memory/banks"] {
        fs::create_dir_all(sandbox.path("repo").join(folder)).expect("a folder");
    }
    fs::create_dir_all(sandbox.path("repo/.git")).expect("a folder");
    sandbox
}

/// Runs a command line in the project; returns the standard output and the standard error.
fn run(sandbox: &Sandbox, line: &str) -> (String, String) {
    let mut command = sandbox.command(&line.split_whitespace().collect::<Vec<_>>());
    command.current_dir(sandbox.path("repo"));
    let output = Sandbox::finish(command, "");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let folder = format!(
        "{}/",
        sandbox
            .path("")
            .canonicalize()
            .expect("a folder")
            .display()
            .to_string()
            .trim_end_matches('/')
    );
    (
        text(output.stdout).replace(&folder, ""),
        text(output.stderr).replace(&folder, ""),
    )
}

#[test]
fn keys_and_matches_name_the_folder_where_several_have_the_bank() {
    let sandbox = project_with_two_folders();
    let bank = |keys: &str| format!(r#"{{"_meta":{{"version":1}},"entries":{{{keys}}}}}"#);
    fs::write(
        sandbox.path("repo/.slop-mcp/memory/ok.json"),
        bank(r#""k":{"value":1}"#),
    )
    .expect("a file");
    fs::write(
        sandbox.path("repo/.memory/banks/ok.json"),
        bank(r#""k":{"value":2},"k2":{"value":3}"#),
    )
    .expect("a file");
    fs::write(
        sandbox.path("repo/.memory/banks/alone.json"),
        bank(r#""k":{"value":4}"#),
    )
    .expect("a file");

    let used = r#""key":"k","scope":"project","folder":"repo/.slop-mcp/memory","used":true"#;
    let hidden = r#""key":"k","scope":"project","folder":"repo/.memory/banks","used":false"#;
    let (keys, _) = run(&sandbox, "bank list ok --scope all");
    assert!(keys.contains(used) && keys.contains(hidden), "{keys}");
    let (table, _) = run(&sandbox, "bank list ok --scope all --format table");
    assert!(
        table.contains("FOLDER") && table.contains("repo/.memory/banks (not used)"),
        "{table}"
    );
    let (_, note) = run(&sandbox, "bank list ok --format table");
    assert!(
        note.contains("ok is also in repo/.memory/banks; showing the one in repo/.slop-mcp/memory"),
        "{note}"
    );
    let (keys, _) = run(&sandbox, "bank list alone --scope all");
    assert!(!keys.contains("folder"), "{keys}");

    let (matches, _) = run(&sandbox, "bank search ^k$");
    assert!(
        matches.contains(used) && matches.contains(hidden),
        "{matches}"
    );
    assert!(
        matches.contains(r#"{"bank":"alone","key":"k","scope":"project","matched""#),
        "{matches}"
    );
    let (table, _) = run(&sandbox, "bank search ^k$ --format table");
    assert!(
        table.contains("FOLDER") && table.contains("repo/.memory/banks (not used)"),
        "{table}"
    );

    let (result, warning) = run(&sandbox, "bank query ok k2 .");
    assert_eq!(result, "3\n");
    let from = "using the bank in repo/.memory/banks; 'ok' is also in repo/.slop-mcp/memory";
    assert_eq!(warning, format!("warning: {from}\n"));
    let (result, _) = run(&sandbox, "bank query ok k2 . --format json");
    assert!(
        result.starts_with(r#"{"results":[3],"folder":"repo/.memory/banks","also_in":["#),
        "{result}"
    );
    let (_, note) = run(&sandbox, "bank query ok k .");
    assert!(
        note.contains("using the bank in repo/.slop-mcp/memory") && !note.contains("warning"),
        "{note}"
    );
    let (result, note) = run(&sandbox, "bank query alone .entries.k.value");
    assert_eq!((result.as_str(), note.as_str()), ("4\n", ""));
}

#[test]
fn a_symlink_in_place_of_a_folder_of_the_project_is_refused_as_one() {
    let sandbox = project_with_two_folders();
    fs::rename(sandbox.path("repo/.memory"), sandbox.path("repo/real")).expect("it moves");
    std::os::unix::fs::symlink("real", sandbox.path("repo/.memory")).expect("a link");
    let (refused, _) = run(&sandbox, "bank read session a");
    let text = r#""message":"repo/.memory is a symlink and may lead out of the project","#;
    assert!(
        refused.contains(r#""code":"PATH_REFUSED""#) && refused.contains(text),
        "{refused}"
    );
    assert!(
        refused.contains("or use --scope user for your own banks") && !refused.contains("home"),
        "{refused}"
    );
}

#[test]
fn damaged_entries_are_reported_by_searches_gc_and_tools() {
    let sandbox = project_with_two_folders();
    let text = r#"{"_meta":{"version":1},"entries":{"good":{"value":1},"hidden":{"value":"word","created_at":"x"}}}"#;
    fs::write(sandbox.path("repo/.memory/banks/part.json"), text).expect("a file");
    let fault = "The entry 'hidden' of memory bank 'part' has an invalid created_at";
    for line in [
        "bank search word --value",
        "bank gc",
        "bank search word --format table",
    ] {
        let (answer, warning) = run(&sandbox, line);
        assert!(warning.contains(fault), "{line}: {warning}");
        let is_told = answer.contains(r#""unreadable":[{"code":"FILE_DAMAGED""#)
            && answer.contains(r#""key":"hidden""#);
        assert!(is_told || line.contains("table"), "{line}: {answer}");
    }
    let calls = r#"[{"name":"memory_read","params":{"bank":"part"}},{"name":"memory_search","params":{"pattern":"word"}}]"#;
    let mut command = sandbox.command(&["agent", "--tools", "bank=memory_"]);
    command.current_dir(sandbox.path("repo"));
    let answers = String::from_utf8(Sandbox::finish(command, calls).stdout).expect("text");
    let warning =
        r#""warning":"the result may be incomplete: the entry 'hidden' has an invalid created_at""#;
    assert!(
        answers.contains(warning) && answers.contains(fault),
        "{answers}"
    );
    assert!(!answers.contains("memory bank repair"), "{answers}");
}

#[test]
fn an_import_of_a_damaged_document_refuses_the_document() {
    let sandbox = project_with_two_folders();
    let mut command = sandbox.command(&["bank", "import", "session"]);
    command.current_dir(sandbox.path("repo"));
    let refused =
        String::from_utf8(Sandbox::finish(command, r#"{"entries":{"bad":{"val":1}}}"#).stdout)
            .expect("text");
    let text = r#""code":"INVALID_INPUT","message":"The document is not a bank: the entry 'bad' has no value","#;
    assert!(
        refused.contains(text) && !refused.contains("repair"),
        "{refused}"
    );
}

#[test]
fn errors_of_keys_values_and_files_say_the_scope() {
    let sandbox = project_with_two_folders();
    let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA2cD4");
    for (line, code) in [
        (
            format!("bank write session {token} 1"),
            r#""code":"SECRET_FOUND""#,
        ),
        (
            format!("bank update session {token} . --create"),
            r#""code":"SECRET_FOUND""#,
        ),
        (
            "bank schema session --set @nowhere".to_owned(),
            r#""code":"PATH_NOT_FOUND""#,
        ),
        ("bank write session k".to_owned(), r#""code":"USAGE""#),
        ("bank import --all".to_owned(), r#""code":""#),
    ] {
        for (flag, scope) in [("", "project"), (" --scope user", "user")] {
            let (refused, _) = run(&sandbox, &format!("{line}{flag}"));
            assert!(
                refused.contains(code) && refused.contains(&format!(r#""scope":"{scope}""#)),
                "{line}{flag}: {refused}"
            );
            assert!(
                !code.contains("SECRET")
                    || refused.contains(r#""bank":"session""#) && !refused.contains("ghp_"),
                "{refused}"
            );
        }
    }
}

#[test]
fn a_verbose_reading_of_a_bank_names_it_and_keys_are_listed_alike_by_tools() {
    let sandbox = project_with_two_folders();
    run(&sandbox, "bank write session a [1,2]");
    run(&sandbox, "bank write session b 3");
    let (plain, _) = run(&sandbox, "bank read session");
    let (verbose, _) = run(&sandbox, "bank read session -v");
    let whole = plain.trim_end().strip_suffix('}').expect("an object");
    assert_eq!(
        verbose,
        format!("{whole},\"bank\":\"session\",\"scope\":\"project\",\"size_bytes\":6}}\n")
    );
    let (table, _) = run(&sandbox, "bank read session -v --format table");
    assert!(table.contains("BYTES"), "{table}");

    let (keys, _) = run(&sandbox, "bank list session");
    let mut command = sandbox.command(&["agent", "--tools", "bank"]);
    command.current_dir(sandbox.path("repo"));
    let call = r#"[{"name":"bank_list","params":{"bank":"session"}}]"#;
    let answers = String::from_utf8(Sandbox::finish(command, call).stdout).expect("text");
    assert!(
        answers.contains(&format!(r#""result":{}"#, keys.trim_end())),
        "{answers}"
    );
}
