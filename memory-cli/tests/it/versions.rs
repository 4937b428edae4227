//! Tests of `memory config set` and of versions in git.

use insta::assert_snapshot;
use memory_core::testing::wait_until;

use crate::daemon::{Daemon, connect, send_request};
use crate::sandbox::Sandbox;

/// Runs git in the home.
fn run_git(sandbox: &Sandbox, arguments: &str) -> String {
    sandbox.run_shell(&format!("cd .memory && git {arguments}"))
}

/// Commits the home, as the program does shortly after each write.
fn commit_home(sandbox: &Sandbox) {
    let home = sandbox.path(".memory").display().to_string();
    assert_eq!(sandbox.run(&["keep-versions-of", &home, "end"]), "");
}

#[test]
fn a_value_is_set_in_the_file_and_all_else_stays() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["config", "set", "daemon.interval", "30s"]), @"daemon.interval	30s");
    sandbox.file(
        ".memory/config.yaml",
        "# mine\ndaemon:\n  interval: 30s # often\nllm:\n  model: m\n",
    );
    assert_snapshot!(sandbox.run(&["config", "set", "git.enabled", "false", "--json"]), @r#"{"path":"~/.memory/config.yaml","key":"git.enabled","value":"false"}"#);
    assert_snapshot!(sandbox.read_file(".memory/config.yaml"), @"
    # mine
    daemon:
      interval: 30s # often
    llm:
      model: m
    git:
      enabled: false
    ");
    let wrong = sandbox.run(&["config", "set", "daemon.interval", "soon"]);
    assert!(
        wrong.contains("error[config_invalid]")
            && sandbox
                .read_file(".memory/config.yaml")
                .contains("30s # often"),
        "{wrong}"
    );
    assert!(
        sandbox
            .run(&["config", "set", "daemon.intervall", "30s"])
            .contains("unknown setting daemon.intervall")
    );
    assert!(
        wrong.contains("cannot set daemon.interval\n  because: \"soon\" is not"),
        "{wrong}"
    );
    let leftover = std::fs::read_dir(sandbox.path(".memory"))
        .expect("a folder")
        .flatten();
    assert!(
        leftover
            .map(|entry| entry.file_name())
            .all(|name| !name.to_string_lossy().starts_with(".config"))
    );
}

#[test]
fn settings_that_are_a_symlink_are_not_replaced() {
    let sandbox = Sandbox::new();
    sandbox.file("own.yaml", "# mine\n");
    sandbox.file(".memory/banks/.keep", "");
    std::os::unix::fs::symlink(
        sandbox.path("own.yaml"),
        sandbox.path(".memory/config.yaml"),
    )
    .expect("a new name");
    assert_snapshot!(sandbox.run(&["config", "set", "daemon.interval", "30s"]), @"
    --- stderr
    error[usage]: ~/.memory/config.yaml is a symlink, which is not written through
    hint: edit its target, or set MEMORY_CONFIG to the target
    --- exit 2
    ");
    assert_eq!(sandbox.read_file("own.yaml"), "# mine\n");
    assert!(sandbox.path(".memory/config.yaml").is_symlink());
}

#[test]
fn the_changes_of_a_memory_are_shown_without_git() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("Tea at nine.\nWith milk.", &[]);
    sandbox.run(&[
        "edit",
        &id,
        "--content",
        "Tea at ten.\nWith milk.",
        "--title",
        "Tea",
    ]);
    sandbox.run(&["tag", &id, "--add", "drink"]);
    assert_snapshot!(sandbox.run(&["diff", &id]), @"
    operation [op1] [time] tag by cli
    tags: none -> #drink

    operation [op2] [time] update by cli
    title: none -> Tea
    @@ -1,2 +1,2 @@
    -Tea at nine.
    +Tea at ten.
     With milk.

    operation [op3] [time] write by cli
    @@ -0,0 +1,2 @@
    +Tea at nine.
    +With milk.
    ");
    assert_eq!(
        sandbox.run_json(&["diff", &id, "--limit", "1"])["changes"]
            .as_str()
            .map(|text| text.matches("operation").count()),
        Some(1)
    );
    sandbox.run(&["delete", &id]);
    let deleted = sandbox.run(&["diff", &id, "--limit", "1"]);
    assert!(deleted.contains("-Tea at ten.\n-With milk."), "{deleted}");
    assert!(
        sandbox
            .run(&["diff", "00000000"])
            .contains("memory_not_found")
    );
}

#[test]
fn git_keeps_every_state_of_the_home_in_a_repository_of_its_own() {
    let sandbox = Sandbox::new();
    sandbox.run_shell("git init --quiet .");
    let id = sandbox.write("Tea at nine.", &[]);
    sandbox.run(&["config", "set", "git.enabled", "true"]);
    assert_snapshot!(run_git(&sandbox, "log --format=%s"), @"Start versioning");
    sandbox.run(&["edit", &id, "--content", "Tea at ten."]);
    let said = sandbox.run(&["diff", &id, "--limit", "1"]);
    assert!(
        said.contains("-Tea at nine.") && said.contains("+Tea at ten."),
        "{said}"
    );
    let versions = sandbox.run_json(&["log", "--versions"])["versions"].clone();
    assert_eq!(
        versions
            .as_array()
            .and_then(|all| all.last())
            .map(|first| &first["message"]),
        Some(&"Start versioning".into())
    );
    // `memory log` lists the versions without a flag.
    let log = sandbox.run_json(&["log"]);
    assert_eq!(log["operations"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        log["versions"].as_array().and_then(|all| all.last()),
        versions.as_array().and_then(|all| all.last())
    );
    let kept = run_git(&sandbox, "ls-files");
    assert!(
        kept.contains("categories/inbox/") && kept.contains(".gitignore"),
        "{kept}"
    );
    assert!(
        !["index/", "config.yaml", "trash/", ".lock"]
            .iter()
            .any(|left_out| kept.contains(left_out)),
        "{kept}"
    );
    assert_eq!(
        sandbox.run_shell(
            "git status --short --untracked-files=no; git log 2>&1 | head -1 | cut -c1-5"
        ),
        "fatal\n",
        "the outer one is untouched"
    );
}

#[test]
fn a_repository_that_is_locked_is_told_of_once_and_later_kept() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("Tea at nine.", &[]);
    sandbox.run(&["config", "set", "git.enabled", "true"]);
    sandbox.file(".memory/.git/index.lock", "");
    sandbox.file(".memory/categories/inbox/new.md", "Tea at ten.\n");
    commit_home(&sandbox);
    let told = sandbox.run(&["list"]);
    assert!(told.contains("locked by another program"), "{told}");
    assert!(!sandbox.run(&["list"]).contains("another program"));
    std::fs::remove_file(sandbox.path(".memory/.git/index.lock")).expect("it was there");
    sandbox.run(&["diff", &id]);
    assert!(run_git(&sandbox, "ls-files").contains("new.md"));
}

#[test]
fn what_git_did_not_keep_is_told_once_and_kept_by_whoever_comes_next() {
    let sandbox = Sandbox::new();
    sandbox.write("Tea at nine.", &[]);
    sandbox.run(&["config", "set", "git.enabled", "true"]);
    let nowhere = |arguments: &[&str]| {
        let output = sandbox
            .command(arguments)
            .env("PATH", "/nonexistent")
            .output()
            .expect("it runs");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(nowhere(&["conversations", "add", "likes tea"]).contains("git is not installed"));
    assert!(
        !nowhere(&["conversations", "add", "likes biscuits"]).contains("git is not installed"),
        "it was told"
    );
    let home = sandbox.path(".memory").display().to_string();
    nowhere(&["keep-versions-of", &home, "end"]);
    assert_eq!(
        sandbox
            .run(&["conversations", "add", "likes coffee"])
            .matches("warning")
            .count(),
        0,
        "there is one again"
    );
    assert!(
        nowhere(&["conversations", "add", "likes water"]).contains("git is not installed"),
        "and now there is none"
    );
    sandbox.run(&["conversations", "add", "likes juice"]);
    nowhere(&["keep-versions-of", &home, "end"]);
    assert!(
        !sandbox.run(&["list"]).contains("git is not installed"),
        "what is over is not told"
    );

    sandbox.file(".memory/.git/index.lock", "");
    sandbox.file(".memory/categories/inbox/locked.md", "Tea at ten.\n");
    assert!(
        sandbox
            .run(&["conversations", "add", "likes milk"])
            .contains("locked by another program")
    );
    assert!(
        !sandbox
            .run(&["conversations", "add", "likes soup"])
            .contains("locked by another program")
    );
    std::fs::remove_file(sandbox.path(".memory/.git/index.lock")).expect("it was there");
    assert!(
        !sandbox
            .run(&["conversations", "add", "likes rice"])
            .contains("locked by another program")
    );
    assert_eq!(
        run_git(&sandbox, "status --porcelain"),
        "",
        "the note as well"
    );
}

#[test]
fn each_write_is_kept_a_moment_later_under_a_daemon_which_leaves_no_process_behind() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".memory/config.yaml",
        "daemon:\n  interval: 24h\ngit:\n  enabled: true\nnotification:\n  method: file\n",
    );
    let daemon = Daemon::start(&sandbox);
    for text in ["Tea at nine.", "Biscuits at ten."] {
        send_request(
            &mut connect(&sandbox),
            &format!(r#"{{"id":1,"method":"memory_write","params":{{"content":"{text}"}}}}"#),
        );
        let find = format!("cd .memory && git grep -c '{text}' HEAD 2>&1 || true");
        wait_until("the memory is in a commit", || {
            sandbox.run_shell(&find).contains("HEAD:categories/")
        });
    }
    let children = format!("ps -o stat= --ppid {} || true", daemon.child.id());
    wait_until("no ended process remains", || {
        !sandbox.run_shell(&children).contains('Z')
    });
}

/// Writes a repository with a commit; its settings, attributes and hooks run a program that creates the file `ran`.
///
/// The memory and the conversation in the folder exist before.
fn make_hostile(sandbox: &Sandbox, folder: &str) {
    sandbox.file("evil", "#!/bin/sh\ntouch \"$HOME/ran\"\nexec cat\n");
    let script = format!(
        r#"set -e
        chmod +x evil
        cd {folder}
        [ -d .git ] || git init --quiet .
        for key in core.fsmonitor core.pager core.sshCommand core.editor gpg.program diff.external diff.evil.textconv \
            diff.evil.command filter.evil.clean filter.evil.smudge pager.log gc.recentObjectsHook; do
            git config --file .git/config "$key" "$HOME/evil"
        done
        git config --file .git/config log.showSignature true
        printf '* filter=evil diff=evil\n' | tee .gitattributes > .git/info/attributes
        for hook in pre-commit post-commit post-index-change reference-transaction pre-auto-gc; do
            cp "$HOME/evil" ".git/hooks/$hook"
        done"#
    );
    assert_eq!(sandbox.run_shell(&script), "");
}

#[test]
fn no_command_runs_what_a_repository_names() {
    for trusts in [false, true] {
        let sandbox = Sandbox::new();
        let id = sandbox.write("Tea at nine.", &[]);
        sandbox.run(&[
            "add",
            "likes tea",
            "--memory-path",
            "chats",
            "--no-git-versioning",
        ]);
        let fact = sandbox.run_json(&[
            "conversations",
            "show",
            "default",
            "--memory-path",
            "chats",
        ])["facts"][0]["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        make_hostile(&sandbox, ".memory");
        make_hostile(&sandbox, "chats");
        let home = sandbox.path(".memory").display().to_string();
        let file = sandbox.run_shell("ls chats/entries/default/facts | head -1");
        let chats = ["--memory-path", "chats"];
        let commands: Vec<Vec<&str>> = vec![
            vec!["config", "set", "git.enabled", "true"],
            vec!["write", "Cake at ten."],
            vec!["keep-versions-of", &home, "end"],
            vec!["conversations", "add", "likes cake"],
            [["conversations", "add", "likes coffee"].as_slice(), &chats].concat(),
            [["delete", &fact].as_slice(), &chats].concat(),
            [["undo"].as_slice(), &chats].concat(),
            [["restore", file.trim()].as_slice(), &chats].concat(),
            [["log"].as_slice(), &chats].concat(),
            vec!["log", "--versions"],
            vec!["diff", &id],
            vec!["doctor", "--system"],
            vec!["status"],
            vec!["serve", "--once"],
        ];
        let mut used = 0;
        for command in commands {
            let mut program = sandbox.command(&command);
            if trusts {
                program.env("MEMORY_TRUSTED_FOLDERS", sandbox.path(""));
            }
            let output = Sandbox::finish(program, "");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            used += usize::from(said.contains("is not used: this program did not create it"));
            assert!(!sandbox.path("ran").exists(), "{command:?}: {said}");
        }
        assert_eq!(used == 0, trusts, "{used} refusals");
        let has_commits = |folder: &str| {
            !sandbox
                .run_shell(&format!(
                    "cat {folder}/.git/refs/heads/* 2>/dev/null || true"
                ))
                .is_empty()
        };
        assert_eq!([".memory", "chats"].map(has_commits), [trusts; 2]);
    }
}

#[test]
fn variables_of_git_change_no_commit() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("Tea at nine.", &[]);
    sandbox.run(&["config", "set", "git.enabled", "true"]);
    sandbox.file("evil", "#!/bin/sh\ntouch \"$HOME/ran\"\nexec cat\n");
    sandbox.run_shell("chmod +x evil; git init --quiet other");
    let evil = sandbox.path("evil").display().to_string();
    let other = sandbox.path("other/.git").display().to_string();
    let quoted = format!("'core.fsmonitor={evil}'");
    let trace = sandbox.path("trace").display().to_string();
    let said = sandbox.run_with_all(
        &[
            ("GIT_DIR", &other),
            ("GIT_INDEX_FILE", &other),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
            ("GIT_CONFIG_VALUE_0", &evil),
            ("GIT_CONFIG_PARAMETERS", &quoted),
            ("GIT_EXTERNAL_DIFF", &evil),
            ("GIT_PAGER", &evil),
            ("GIT_TRACE", &trace),
            ("GIT_AUTHOR_NAME", "Anna"),
        ],
        &["diff", &id],
    );
    assert!(said.contains("+Tea at nine."), "{said}");
    let written = sandbox.run_with_all(
        &[("GIT_AUTHOR_NAME", "Anna"), ("GIT_DIR", &other)],
        &["conversations", "add", "likes tea"],
    );
    assert!(!written.contains("warning"), "{written}");
    assert_eq!(run_git(&sandbox, "log -1 --format=%an"), "Anna\n");
    assert!(!sandbox.path("ran").exists() && !sandbox.path("trace").exists());
}

#[test]
fn a_repository_of_the_user_is_used_once_the_user_trusts_it() {
    let sandbox = Sandbox::new();
    sandbox.write("Tea at nine.", &[]);
    sandbox.run_shell("cd .memory && git init --quiet . && git -c user.name=a -c user.email=b commit --quiet --allow-empty -m theirs");
    assert_snapshot!(sandbox.run(&["config", "set", "git.enabled", "true"]), @"
    git.enabled	true
    --- stderr
    warning: the git repository of ~/.memory is not used: this program did not create it; if you trust it, add the folder to the setting trusted_folders
    ");
    assert_snapshot!(sandbox.run(&["log", "--versions"]), @"
    --- stderr
    error[usage]: the git repository of ~/.memory is not used: this program did not create it; if you trust it, add the folder to the setting trusted_folders
    hint: MEMORY_TRUSTED_FOLDERS=FOLDER trusts it for one command
    --- exit 2
    ");
    assert!(
        sandbox
            .run(&["doctor", "--system"])
            .contains("this program did not create it")
    );
    let home = sandbox.path(".memory").display().to_string();
    assert_snapshot!(sandbox.run(&["config", "set", "trusted_folders", &home]), @"trusted_folders	~/.memory");
    sandbox.run(&["conversations", "add", "likes tea"]);
    assert_snapshot!(run_git(&sandbox, "log --format=%s"), @"
    Add 1 memories directly
    theirs
    ");
    // The process in the background is told that the user trusts the folder.
    sandbox.write("Biscuits at ten.", &[]);
    wait_until("the memory is in a commit", || {
        run_git(&sandbox, "grep -c Biscuits HEAD 2>&1 || true").contains("HEAD:categories/")
    });

    // Settings in a home that the user names do not trust that home.
    sandbox.run_shell("cp -r .memory other");
    let other = sandbox.path("other").display().to_string();
    sandbox.file(
        "other/config.yaml",
        &format!("git:\n  enabled: true\ntrusted_folders:\n- {other}\n- /\n"),
    );
    let said = sandbox.run(&["--root", "other", "log", "--versions"]);
    assert!(said.contains("this program did not create it"), "{said}");
    assert_snapshot!(sandbox.run(&["--root", "other", "config", "set", "trusted_folders", &other]), @"
    --- stderr
    error[usage]: trusted_folders has no effect in ~/other/config.yaml: a home must not trust itself
    hint: set MEMORY_TRUSTED_FOLDERS, or set it in the default home
    --- exit 2
    ");
    let said = sandbox.run_with(
        "MEMORY_TRUSTED_FOLDERS",
        &other,
        &["--root", "other", "log", "--versions"],
    );
    assert!(said.contains("theirs"), "{said}");
    let said = sandbox.run_with(
        "MEMORY_CONFIG",
        &sandbox.path("other/config.yaml").display().to_string(),
        &["--root", "other", "log", "--versions"],
    );
    assert!(said.contains("theirs"), "{said}");
}
