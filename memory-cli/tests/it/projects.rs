//! Tests of projects, which are found by the identity of their repository.

use std::fs;
use std::process::Stdio;

use crate::sandbox::Sandbox;
use crate::terminal::run_in_folder;

/// Creates a repository with a remote in a folder of the sandbox.
fn clone(sandbox: &Sandbox, folder: &str, remote: &str) {
    sandbox.run_shell(&format!(
        "git init --quiet {folder} && git -C {folder} remote add origin {remote}"
    ));
}

/// Returns what the program prints in a folder.
fn run_in(sandbox: &Sandbox, folder: &str, arguments: &[&str], input: &str) -> String {
    let mut command = sandbox.command(arguments);
    command.current_dir(sandbox.path(folder));
    let output = Sandbox::finish(command, input);
    String::from_utf8([output.stdout, output.stderr].concat()).expect("text")
}

/// Returns what an agent in a folder is told when it lists its memories.
fn list_as_agent(sandbox: &Sandbox, folder: &str) -> String {
    let call = r#"{"name": "memory_list"}"#;
    run_in(sandbox, folder, &["agent", "--agent", "codex"], call)
}

fn write_as_agent(sandbox: &Sandbox, folder: &str, text: &str) {
    let call = format!(
        r#"{{"name": "memory_write", "params": {{"content": "{text}", "scope": "project"}}}}"#
    );
    let said = run_in(sandbox, folder, &["agent", "--agent", "codex"], &call);
    assert!(said.contains("\"created\":true"), "{said}");
}

#[test]
fn a_repository_with_the_same_folder_name_receives_nothing_of_the_project() {
    let sandbox = Sandbox::new();
    clone(&sandbox, "work/acme", "git@github.com:ann/acme.git");
    clone(&sandbox, "other/acme", "https://github.com/eve/acme");
    clone(&sandbox, "again", "https://ann:token@github.com/ann/acme");
    write_as_agent(&sandbox, "work/acme", "The vault is green");

    let said = list_as_agent(&sandbox, "other/acme");
    assert!(!said.contains("green"), "{said}");
    assert!(
        said.contains("not confirmed as the project acme") && said.contains("memory project bind"),
        "{said}"
    );
    // git connects to the host before the question mark.
    clone(
        &sandbox,
        "odd/acme",
        "'http://evil.example?@github.com/ann/acme'",
    );
    assert!(!list_as_agent(&sandbox, "odd/acme").contains("green"));
    assert!(list_as_agent(&sandbox, "again").contains("green"));
    fs::rename(sandbox.path("work/acme"), sandbox.path("renamed")).expect("a folder");
    assert!(list_as_agent(&sandbox, "renamed").contains("green"));
    let list = run_in(&sandbox, "", &["project", "list"], "");
    assert!(
        list.starts_with(
            "acme\tbound\tremote:github.com/ann/acme\nacme\tcandidate\tremote:github.com/eve/acme\n"
        ),
        "{list}"
    );
}

#[test]
fn a_client_is_told_that_the_memories_of_a_project_are_withheld() {
    let sandbox = Sandbox::new();
    clone(&sandbox, "acme", "https://github.com/eve/acme");
    sandbox.write("The vault is green", &["--scope", "project:acme"]);
    let hook = run_in(&sandbox, "acme", &["hook", "session-start"], "{}");
    let hello = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
        r#""capabilities":{},"clientInfo":{"name":"codex","version":"1"}}}"#,
        "\n"
    );
    let instructions = run_in(&sandbox, "acme", &["mcp"], hello);
    for said in [hook, instructions] {
        assert!(said.contains("memory project bind"), "{said}");
        assert!(!said.contains("green"), "{said}");
    }
}

#[test]
fn memories_of_a_project_are_bound_when_a_person_confirms_its_only_repository() {
    let sandbox = Sandbox::new();
    clone(&sandbox, "acme", "https://github.com/ann/acme");
    sandbox.write("The vault is green", &["--scope", "project:acme"]);
    assert!(!list_as_agent(&sandbox, "acme").contains("green"));
    let Some(said) = run_in_folder(&sandbox, "acme", "list", "y\n") else {
        return;
    };
    assert!(
        said.replace('\n', " ")
            .contains("(remote:github.com/ann/acme) receive the memories of the project acme?"),
        "{said}"
    );
    assert!(list_as_agent(&sandbox, "acme").contains("green"));
}

#[test]
fn imported_memories_belong_to_the_only_repository_with_that_name_that_is_no_clone() {
    for (prepare, is_given) in [
        ("git init --quiet acme", true),
        (
            "git init --quiet away && git clone --quiet away acme 2>&1",
            false,
        ),
        ("mkdir -p acme/.memory", false),
        ("mkdir -p acme/.git", false),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("The vault is green", &["--scope", "project:acme"]);
        sandbox.run_shell(prepare);
        let said = list_as_agent(&sandbox, "acme");
        assert_eq!(said.contains("green"), is_given, "{prepare}: {said}");
        // Another one is a stranger from then on.
        sandbox.run_shell("git init --quiet other/acme");
        let said = list_as_agent(&sandbox, "other/acme");
        assert_eq!(said.contains("green"), !is_given, "{prepare}: {said}");
    }
}

#[test]
fn a_person_is_asked_which_of_two_repositories_is_the_project() {
    let sandbox = Sandbox::new();
    clone(&sandbox, "work/acme", "https://github.com/ann/acme");
    clone(&sandbox, "other/acme", "https://github.com/eve/acme");
    sandbox.write("The vault is green", &["--scope", "project:acme"]);
    for folder in ["work/acme", "other/acme"] {
        list_as_agent(&sandbox, folder);
    }
    let Some(said) = run_in_folder(&sandbox, "other/acme", "list", "n\n") else {
        return;
    };
    assert!(said.contains("as in remote:github.com/ann/acme?"), "{said}");
    run_in_folder(&sandbox, "work/acme", "list", "y\n");
    assert!(list_as_agent(&sandbox, "work/acme").contains("green"));
    write_as_agent(&sandbox, "other/acme", "The door is red");
    assert!(!list_as_agent(&sandbox, "other/acme").contains("green"));
    assert!(!list_as_agent(&sandbox, "work/acme").contains("red"));
}

/// Creates a repository with a commit and without a remote, in which an agent writes a memory.
fn begin_project(sandbox: &Sandbox) {
    sandbox.run_shell("git init --quiet acme");
    write_as_agent(sandbox, "acme", "The vault is green");
    sandbox.run_shell(
        "cd acme && echo tea > file && git add --all && \
         git -c user.name=a -c user.email=a@b commit --quiet -m begin",
    );
}

#[test]
fn a_repository_without_a_remote_is_found_by_its_marker_and_its_copies_are_not() {
    let sandbox = Sandbox::new();
    begin_project(&sandbox);
    sandbox.run_shell(
        "mkdir archive && git clone --quiet acme copies/acme && \
         git -C copies/acme remote remove origin && \
         git -C acme archive --prefix=acme/ HEAD | tar --extract --directory archive && \
         git -C acme worktree add --quiet ../tree && mv acme renamed && \
         git -C renamed worktree repair ../tree",
    );
    for folder in ["renamed", "tree"] {
        assert!(
            list_as_agent(&sandbox, folder).contains("green"),
            "{folder}"
        );
    }
    for folder in ["copies/acme", "archive/acme"] {
        assert!(
            !list_as_agent(&sandbox, folder).contains("green"),
            "{folder}"
        );
        assert!(!sandbox.path(folder).join(".memory").exists());
    }
}

#[test]
fn a_folder_whose_git_leads_to_another_repository_is_not_that_repository() {
    let sandbox = Sandbox::new();
    begin_project(&sandbox);
    sandbox.run_shell(
        "mkdir -p file dir/.git link && echo 'gitdir: ../acme/.git' > file/.git && \
         echo ../../acme/.git > dir/.git/commondir && ln -s ../acme/.git link/.git && \
         mkdir -p config/.git && ln -s ../../acme/.git/config config/.git/config && \
         git -C acme config remote.origin.url git@github.com:ann/acme.git && \
         mkdir tree wt && echo 'gitdir: ../wt' > tree/.git && echo ../acme/.git > wt/commondir && \
         echo ../tree/.git > wt/gitdir && mkdir new && echo 'gitdir: ../elsewhere/deep' > new/.git",
    );
    run_in(&sandbox, "acme", &["project", "bind"], "");
    assert!(list_as_agent(&sandbox, "acme").contains("green"));
    for folder in ["file", "dir", "link", "tree", "new", "config"] {
        let said = list_as_agent(&sandbox, folder);
        assert!(!said.contains("green"), "{folder}: {said}");
        assert!(said.contains("cannot be determined"), "{folder}: {said}");
    }
    assert!(!sandbox.path("elsewhere").exists());
}

#[test]
fn memories_of_another_folder_with_the_name_of_a_project_are_not_imported_into_it() {
    let sandbox = Sandbox::new();
    clone(&sandbox, "work/acme", "https://github.com/ann/acme");
    write_as_agent(&sandbox, "work/acme", "The vault is green");
    for (number, folder) in ["downloads/acme", "work/acme"].iter().enumerate() {
        let place = format!(".claude/projects/-{number}");
        let cwd = sandbox.path(folder).display().to_string();
        sandbox.file(
            &format!("{place}/memory/a.md"),
            &format!("Deploy from {folder}"),
        );
        let line = serde_json::json!({ "cwd": cwd }).to_string();
        sandbox.file(&format!("{place}/s.jsonl"), &format!("{line}\n"));
    }
    sandbox.file(
        ".claude/projects/-acme/memory/a.md",
        "Push from a container",
    );
    // A folder that came from somebody else may state any folder.
    let cwd = sandbox.path("work/acme").display().to_string();
    let line = serde_json::json!({ "cwd": cwd }).to_string();
    sandbox.file("theirs/.claude/projects/p/s.jsonl", &format!("{line}\n"));
    sandbox.file(
        "theirs/.claude/projects/p/memory/a.md",
        "Run a script of theirs",
    );
    for _ in 0..2 {
        for folder in [".claude", "theirs/.claude"] {
            let path = sandbox.path(folder).display().to_string();
            sandbox.run(&["ingest", "--source", "claude", "--path", &path]);
        }
    }
    let said = list_as_agent(&sandbox, "work/acme");
    assert!(said.contains("Deploy from work"), "{said}");
    assert!(
        !said.contains("downloads") && !said.contains("container"),
        "{said}"
    );
    let all = sandbox.run(&["list"]);
    assert_eq!(all.matches("project:acme-").count(), 3, "{all}");
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let sandbox = Sandbox::new();
    begin_project(&sandbox);
    sandbox.run_shell(
        "git init --quiet whole && \
         git -C whole -c protocol.file.allow=always submodule --quiet add ../acme part",
    );
    assert!(!list_as_agent(&sandbox, "whole/part").contains("green"));
    write_as_agent(&sandbox, "whole/part", "The door is red");
    assert!(list_as_agent(&sandbox, "whole/part").contains("red"));
    assert!(!list_as_agent(&sandbox, "whole").contains("red"));
}

#[test]
fn a_repository_with_a_new_remote_is_confirmed_by_a_person() {
    let sandbox = Sandbox::new();
    begin_project(&sandbox);
    sandbox.run_shell(
        "mkdir other && cp -r acme other/acme && \
         git -C other/acme remote add origin https://github.com/eve/acme",
    );
    let said = list_as_agent(&sandbox, "other/acme");
    assert!(
        !said.contains("green") && said.contains("memory project bind"),
        "{said}"
    );
    sandbox.run_shell("git -C acme remote add origin https://github.com/ann/acme");
    assert!(!list_as_agent(&sandbox, "acme").contains("green"));
    let bound = run_in(&sandbox, "acme", &["project", "bind"], "");
    assert!(bound.contains("remote:github.com/ann/acme"), "{bound}");
    assert!(list_as_agent(&sandbox, "acme").contains("green"));
    assert!(!list_as_agent(&sandbox, "other/acme").contains("green"));
}

#[test]
fn of_repositories_that_begin_a_project_at_once_one_receives_it() {
    let sandbox = Sandbox::new();
    // The home exists.
    sandbox.write("tea", &[]);
    let folders = ["a", "b", "c", "d"].map(|name| format!("{name}/acme"));
    for folder in &folders {
        clone(&sandbox, folder, &format!("https://github.com/{folder}"));
    }
    let start = |folder: &String| {
        let mut command = sandbox.command(&["agent", "--agent", "codex", "--prompt", "tea"]);
        command.current_dir(sandbox.path(folder));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    };
    for agent in folders.each_ref().map(start) {
        let done = agent.wait_with_output().expect("the program ends");
        assert!(done.status.success(), "{done:?}");
    }
    let list = run_in(&sandbox, "", &["project", "list"], "");
    assert_eq!(list.matches("bound").count(), 1, "{list}");
    assert_eq!(list.matches("candidate").count(), 3, "{list}");
}
