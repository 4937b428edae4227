//! Tests of `memory install` and `memory uninstall`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::client_files::{home_with_client_files, run_in};
use crate::sandbox::Sandbox;

#[test]
fn a_rehearsal_shows_what_would_change_and_writes_nothing() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["install", "claude-code", "--dry-run"]), @r#"
    --- /dev/null
    +++ ~/.claude.json
    @@ -0,0 +1,13 @@
    +{
    +  "mcpServers": {
    +    "memory": {
    +      "type": "stdio",
    +      "command": "/bin/memory",
    +      "args": [
    +        "mcp",
    +        "--agent",
    +        "claude-code"
    +      ]
    +    }
    +  }
    +}
    --- /dev/null
    +++ ~/.claude/settings.json
    @@ -0,0 +1,34 @@
    +{
    +  "hooks": {
    +    "SessionStart": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "/bin/memory",
    +            "args": [
    +              "hook",
    +              "session-start"
    +            ],
    +            "timeout": 5
    +          }
    +        ]
    +      }
    +    ],
    +    "UserPromptSubmit": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "/bin/memory",
    +            "args": [
    +              "hook",
    +              "prompt"
    +            ],
    +            "timeout": 5
    +          }
    +        ]
    +      }
    +    ]
    +  }
    +}
    --- stderr
    nothing was written
    "#);
    assert_eq!(
        std::fs::read_dir(sandbox.path(""))
            .expect("a folder")
            .count(),
        0
    );
}

#[test]
fn a_rehearsal_shows_our_entries_among_those_of_others() {
    let sandbox = home_with_client_files();
    let (servers, settings) = (
        sandbox.read_file(".claude.json"),
        sandbox.read_file(".claude/settings.json"),
    );
    assert_snapshot!(sandbox.run(&["install", "claude-code", "--dry-run"]), @r#"
    --- ~/.claude.json
    +++ ~/.claude.json
    @@ -1,7 +1,16 @@
     {
       "numStartups": 7,
       "mcpServers": {
    -    "files": { "command": "npx" }
    +    "files": { "command": "npx" },
    +    "memory": {
    +      "type": "stdio",
    +      "command": "/bin/memory",
    +      "args": [
    +        "mcp",
    +        "--agent",
    +        "claude-code"
    +      ]
    +    }
       },
       "theme": "dark"
     }
    --- ~/.claude/settings.json
    +++ ~/.claude/settings.json
    @@ -1,7 +1,35 @@
     {
     	"hooks": {
     		"SessionStart": [
    -			{ "hooks": [{ "type": "command", "command": "date" }] }
    +			{ "hooks": [{ "type": "command", "command": "date" }] },
    +			{
    +				"hooks": [
    +					{
    +						"type": "command",
    +						"command": "/bin/memory",
    +						"args": [
    +							"hook",
    +							"session-start"
    +						],
    +						"timeout": 5
    +					}
    +				]
    +			}
    +		],
    +		"UserPromptSubmit": [
    +			{
    +				"hooks": [
    +					{
    +						"type": "command",
    +						"command": "/bin/memory",
    +						"args": [
    +							"hook",
    +							"prompt"
    +						],
    +						"timeout": 5
    +					}
    +				]
    +			}
     		]
     	}
     }
    --- stderr
    nothing was written
    "#);
    assert_eq!(
        (
            sandbox.read_file(".claude.json"),
            sandbox.read_file(".claude/settings.json")
        ),
        (servers, settings)
    );
    assert!(!sandbox.path(".claude.json.before-memory").exists());
}

#[test]
fn claude_code_gets_a_server_and_hooks_and_gives_them_back() {
    let sandbox = home_with_client_files();
    let (servers, settings) = (
        sandbox.read_file(".claude.json"),
        sandbox.read_file(".claude/settings.json"),
    );
    assert_snapshot!(sandbox.run(&["install", "claude-code"]), @"
    changed	~/.claude.json
    changed	~/.claude/settings.json
    --- stderr
    backup: ~/.claude.json.before-memory
    backup: ~/.claude/settings.json.before-memory
    restart Claude Code, and tell it something to remember; `memory why` then shows what it received
    ");
    assert_snapshot!(sandbox.run(&["install", "claude-code"]), @"
    unchanged	~/.claude.json
    unchanged	~/.claude/settings.json
    --- stderr
    Claude Code is already configured; nothing was changed
    ");
    assert_eq!(sandbox.read_file(".claude.json.before-memory"), servers);
    assert_eq!(
        sandbox.read_file(".claude/settings.json.before-memory"),
        settings
    );
    assert_snapshot!(sandbox.read_file(".claude.json"), @r#"
    {
      "numStartups": 7,
      "mcpServers": {
        "files": { "command": "npx" },
        "memory": {
          "type": "stdio",
          "command": "/bin/memory",
          "args": [
            "mcp",
            "--agent",
            "claude-code"
          ]
        }
      },
      "theme": "dark"
    }
    "#);
    assert_snapshot!(sandbox.run(&["uninstall", "claude-code"]), @"
    restored	~/.claude.json
    restored	~/.claude/settings.json
    --- stderr
    deleted backup: ~/.claude.json.before-memory
    deleted backup: ~/.claude/settings.json.before-memory
    ");
    assert_eq!(
        (
            sandbox.read_file(".claude.json"),
            sandbox.read_file(".claude/settings.json")
        ),
        (servers, settings)
    );
    assert!(
        !sandbox.path(".claude.json.before-memory").exists(),
        "it would say what the file says"
    );
    assert_snapshot!(sandbox.run(&["uninstall", "claude-code"]), @"
    unchanged	~/.claude.json
    unchanged	~/.claude/settings.json
    --- stderr
    no entries found; nothing was changed
    ");
}

#[test]
fn clients_may_have_folders_of_their_own() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path("own").display().to_string();
    assert_snapshot!(sandbox.run_with("CODEX_HOME", &folder, &["install", "codex"]), @"
    created	~/own/config.toml
    created	~/own/hooks.json
    --- stderr
    restart Codex, and tell it something to remember; `memory why` then shows what it received
    Codex runs the hooks after you approve them with /hooks
    ");
    assert_snapshot!(sandbox.run_with("CLAUDE_CONFIG_DIR", &folder, &["install", "claude-code", "--quiet"]), @"
    created	~/own/.claude.json
    created	~/own/settings.json
    ");
    assert_snapshot!(sandbox.run_with("XDG_CONFIG_HOME", &folder, &["install", "opencode", "--quiet"]), @"created	~/own/opencode/opencode.json");
    assert_snapshot!(sandbox.run(&["install", "codex", "--project", "--json"]), @r#"{"client":"codex","level":"project","dry_run":false,"changed":true,"files":[{"path":"~/.codex/config.toml","change":"created","backup":null,"diff":null},{"path":"~/.codex/hooks.json","change":"created","backup":null,"diff":null}]}"#);
    sandbox.file(".config/opencode/opencode.jsonc", "// mine\n");
    assert_snapshot!(sandbox.run(&["install", "opencode", "--quiet"]), @"changed	~/.config/opencode/opencode.jsonc");
}

#[test]
fn another_home_is_named_and_the_usual_one_is_not() {
    let sandbox = Sandbox::new();
    let usual = sandbox.path(".memory").display().to_string();
    sandbox.run_with("MEMORY_ROOT", &usual, &["install", "cursor"]);
    assert!(!sandbox.read_file(".cursor/mcp.json").contains("--root"));
    sandbox.run(&["install", "cursor", "--root", "it's mine"]);
    assert!(
        sandbox
            .read_file(".cursor/mcp.json")
            .contains(r#""~/it's mine""#),
        "{}",
        sandbox.read_file(".cursor/mcp.json")
    );
    sandbox.run(&["install", "claude-code", "--root", "it's mine"]);
    assert_snapshot!(sandbox.read_file(".claude/settings.json"), @r#"
    {
      "hooks": {
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "/bin/memory",
                "args": [
                  "hook",
                  "session-start",
                  "--root",
                  "~/it's mine"
                ],
                "timeout": 5
              }
            ]
          }
        ],
        "UserPromptSubmit": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "/bin/memory",
                "args": [
                  "hook",
                  "prompt",
                  "--root",
                  "~/it's mine"
                ],
                "timeout": 5
              }
            ]
          }
        ]
      }
    }
    "#);
    assert_snapshot!(sandbox.run(&["install", "cursor", "--json"]), @r#"{"client":"cursor","level":"user","dry_run":false,"changed":false,"files":[{"path":"~/.cursor/mcp.json","change":"unchanged","backup":null,"diff":null},{"path":"~/.cursor/hooks.json","change":"unchanged","backup":null,"diff":null}]}"#);
}

#[test]
fn claude_code_stores_its_memory_in_the_topics_of_the_project() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["install", "claude-code", "--topics", "--quiet"]), @"
    --- stderr
    error[usage]: the current folder has no topics
    hint: change to the folder of a project
    --- exit 2
    ");
    std::fs::create_dir_all(sandbox.path("work/.git")).expect("a folder");
    let run = |arguments: &[&str]| run_in(&sandbox, "work", arguments);
    sandbox.file(
        "work/.claude/settings.local.json",
        "{\n  \"permissions\": {}\n}\n",
    );
    assert_snapshot!(run(&["install", "claude-code", "--topics", "--quiet"]), @"
    created	~/.claude.json
    created	~/.claude/settings.json
    changed	~/work/.claude/settings.local.json
    ");
    assert_snapshot!(sandbox.read_file("work/.claude/settings.local.json"), @r#"
    {
      "permissions": {},
      "autoMemoryDirectory": "~/work/.memory"
    }
    "#);
    // What the client writes is a topic, in the index, and can be undone.
    sandbox.file(
        "work/.memory/build.md",
        "---\nname: Build\ndescription: How to build\n---\n\nUse make.\n",
    );
    run(&["write", "a memory"]);
    run(&["hook", "prompt"]);
    assert!(
        sandbox
            .read_file("work/.memory/MEMORY.md")
            .contains("[Build](build.md)")
    );
    sandbox.file(
        "work/.memory/build.md",
        "---\nname: Build\ndescription: How to build\n---\n\nUse ninja.\n",
    );
    assert!(run(&["topic", "list"]).contains("Build"));
    assert!(run(&["undo", "--dir", ".memory"]).contains("undid update of build.md"));
    assert!(
        sandbox
            .read_file("work/.memory/build.md")
            .contains("Use make.")
    );
    // Neither a second installation nor the removal loses a topic that the client deleted.
    let delete = || std::fs::remove_file(sandbox.path("work/.memory/build.md")).expect("a topic");
    let restore = || {
        run(&["undo", "--dir", ".memory"]);
        assert!(
            sandbox
                .read_file("work/.memory/build.md")
                .contains("Use make.")
        );
    };
    delete();
    run(&["install", "claude-code", "--topics", "--quiet"]);
    restore();
    delete();
    assert_snapshot!(run(&["uninstall", "claude-code"]), @"
    removed	~/.claude.json
    removed	~/.claude/settings.json
    restored	~/work/.claude/settings.local.json
    deleted backup: ~/work/.claude/settings.local.json.before-memory
    ");
    restore();
    sandbox.file(
        "work/.claude/settings.local.json",
        "{ \"autoMemoryDirectory\": \"~/notes\" }\n",
    );
    assert_snapshot!(run(&["install", "claude-code", "--topics"]), @"
    error[conflict]: ~/work/.claude/settings.local.json:1: autoMemoryDirectory has another value: ~/notes
    hint: nothing was written; use --replace to replace it
    ");
    assert_snapshot!(run(&["install", "cursor", "--topics"]), @"
    error[usage]: Cursor has no setting for the folder of its memory
    hint: omit --topics
    ");
}

#[test]
fn the_setting_for_topics_and_the_watch_are_removed_together() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("work/.git")).expect("a folder");
    std::fs::create_dir_all(sandbox.path("work/src")).expect("a folder");
    sandbox.file(
        "work/.memory/build.md",
        "---\nname: Build\ndescription: How to build\n---\n\nUse make.\n",
    );
    let run = |folder: &str, arguments: &[&str]| run_in(&sandbox, folder, arguments);
    let setting = || sandbox.path("work/.claude/settings.local.json").exists();
    let watch = sandbox.path("work/.memory/.seen");
    run("work", &["install", "claude-code", "--topics"]);
    run("work", &["install", "claude-code", "--project"]);
    assert!(setting() && watch.exists());
    assert_snapshot!(run("work", &["uninstall", "claude-code", "--project"]), @"
    removed	~/work/.mcp.json
    removed	~/work/.claude/settings.json
    ");
    assert!(
        setting() && watch.exists(),
        "it belongs to the installation for the user"
    );
    sandbox.file(".memory/config.yaml", "agents: [\n");
    assert_snapshot!(run("work", &["uninstall", "claude-code"]), @"
    removed	~/.claude.json
    removed	~/.claude/settings.json
    warning: the settings are invalid, so the setting of the topics was not removed; see `memory config`
    ");
    assert!(setting() && watch.exists());
    std::fs::remove_file(sandbox.path(".memory/config.yaml")).expect("a file");
    assert_snapshot!(run("work/src", &["uninstall", "claude-code"]), @"
    unchanged	~/.claude.json
    unchanged	~/.claude/settings.json
    removed	~/work/.claude/settings.local.json
    ");
    assert!(!setting() && !watch.exists());
}

#[test]
fn files_of_a_project_contain_no_path_of_the_machine() {
    let sandbox = Sandbox::new();
    sandbox.run(&["install", "cursor"]);
    assert!(
        sandbox
            .read_file(".cursor/mcp.json")
            .contains("/bin/memory")
    );
    assert_snapshot!(sandbox.run(&["install", "cursor", "--project"]), @"
    changed	~/.cursor/mcp.json
    changed	~/.cursor/hooks.json
    --- stderr
    backup: ~/.cursor/mcp.json.before-memory
    backup: ~/.cursor/hooks.json.before-memory
    restart Cursor, and tell it something to remember; `memory why` then shows what it received
    each user of the project needs `memory` on the PATH, and uses their own home
    ");
    assert!(
        !sandbox
            .read_file(".cursor/mcp.json")
            .contains("/bin/memory")
    );
    assert_snapshot!(sandbox.run(&["install", "cursor", "--project", "--root", "private"]), @"
    --- stderr
    error[usage]: the files of a project are shared and cannot name a home
    hint: omit --root or --project
    --- exit 2
    ");
}

#[test]
fn all_assistants_on_the_machine_are_set_up_and_cleaned_at_once() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["install", "--all"]), @"
    --- stderr
    no assistant was found or selected; nothing was changed
    ");
    sandbox.file(".codex/config.toml", "model = \"x\"\n");
    sandbox.file(".claude/CLAUDE.md", "Use tabs.\n");
    assert_snapshot!(sandbox.run(&["install"]), @"
    --- stderr
    error[usage]: no assistant is specified; found on this machine: claude-code, codex
    hint: specify one of claude-code, codex, cursor, gemini, vscode, opencode, claude-desktop, windsurf, zed, cline, roo-code, goose, or --all
    --- exit 2
    ");
    let installed = sandbox.run_json(&["install", "--all"]);
    assert_eq!(installed["clients"][0]["client"], "claude-code");
    assert_eq!(installed["clients"][1]["client"], "codex");
    assert_eq!(installed["clients"].as_array().map(Vec::len), Some(2));
    assert!(
        sandbox
            .read_file(".codex/config.toml")
            .contains("[mcp_servers.memory]")
    );
    assert_snapshot!(sandbox.run(&["uninstall", "--all"]), @"
    removed	~/.claude.json
    removed	~/.claude/settings.json
    restored	~/.codex/config.toml
    removed	~/.codex/hooks.json
    --- stderr
    deleted backup: ~/.codex/config.toml.before-memory
    ");
    assert_eq!(sandbox.read_file(".codex/config.toml"), "model = \"x\"\n");
    assert!(!sandbox.path(".claude.json").exists());
    assert_snapshot!(sandbox.run(&["uninstall", "--all"]), @"
    --- stderr
    no assistant was found or selected; nothing was changed
    ");
}

#[test]
fn the_other_assistants_are_set_up_if_the_settings_of_one_are_damaged() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".codex/config.toml",
        "model = \"o\"\nmodel = \"p\"\n# memory\n",
    );
    sandbox.file(".cursor/mcp.json", "{}\n");
    assert_snapshot!(sandbox.run(&["install", "--all"]), @"
    changed	~/.cursor/mcp.json
    created	~/.cursor/hooks.json
    --- stderr
    error[file_damaged]: ~/.codex/config.toml:2: duplicate key
    hint: the file was not changed; correct it and try again
    backup: ~/.cursor/mcp.json.before-memory
    restart Cursor, and tell it something to remember; `memory why` then shows what it received
    error[file_damaged]: 1 of 2 clients failed
    hint: all others succeeded; see the reported errors
    --- exit 5
    ");
    // The damaged file may contain entries, so its assistant is not skipped.
    assert_snapshot!(sandbox.run(&["uninstall", "--all", "--json"]), @r#"
    {"clients":[{"error":{"code":"FILE_DAMAGED","message":"~/.codex/config.toml:2: duplicate key","hint":"the file was not changed; correct it and try again"},"client":"codex"},{"client":"cursor","level":"user","dry_run":false,"changed":true,"files":[{"path":"~/.cursor/mcp.json","change":"restored","backup":null,"diff":null,"deleted_backups":["~/.cursor/mcp.json.before-memory"]},{"path":"~/.cursor/hooks.json","change":"removed","backup":null,"diff":null}]}]}
    --- exit 5
    "#);
}

#[test]
fn a_removal_leaves_no_backups() {
    let sandbox = home_with_client_files();
    sandbox.run(&["install", "claude-code"]);
    sandbox.run(&["install", "claude-code", "--root", "elsewhere"]);
    // The assistant writes its settings in another layout, with a value of its own.
    let mut servers: Value =
        serde_json::from_str(&sandbox.read_file(".claude.json")).expect("JSON");
    servers["numStartups"] = 8.into();
    sandbox.file(".claude.json", &servers.to_string());
    assert_snapshot!(sandbox.run(&["uninstall", "claude-code"]), @"
    changed	~/.claude.json
    restored	~/.claude/settings.json
    --- stderr
    deleted backup: ~/.claude.json.before-memory-2
    deleted backup: ~/.claude.json.before-memory
    deleted backup: ~/.claude/settings.json.before-memory-2
    deleted backup: ~/.claude/settings.json.before-memory
    ");
    assert_eq!(
        sandbox.read_file(".claude.json"),
        r#"{"numStartups":8,"mcpServers":{"files":{"command":"npx"}},"theme":"dark"}"#
    );
    for folder in ["", ".claude"] {
        let mut names = std::fs::read_dir(sandbox.path(folder))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name());
        assert!(
            names.all(|name| !name.to_string_lossy().contains("before-memory")),
            "{folder}"
        );
    }
}

#[test]
fn values_that_the_user_added_to_an_entry_stay_in_a_backup_for_ever() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".cursor/mcp.json",
        r#"{"mcpServers":{"files":{"command":"npx"}}}"#,
    );
    sandbox.run(&["install", "cursor"]);
    let with = sandbox.read_file(".cursor/mcp.json").replace(
        r#""type":"stdio""#,
        r#""type":"stdio","env":{"KEY":"theirs"}"#,
    );
    sandbox.file(
        ".cursor/mcp.json",
        &with.replace("/bin/memory", env!("CARGO_BIN_EXE_memory")),
    );
    assert_snapshot!(sandbox.run(&["uninstall", "cursor"]), @"
    changed	~/.cursor/mcp.json
    removed	~/.cursor/hooks.json
    --- stderr
    backup: ~/.cursor/mcp.json.before-memory-2
    deleted backup: ~/.cursor/mcp.json.before-memory
    ");
    sandbox.run(&["install", "cursor"]);
    sandbox.run(&["uninstall", "cursor"]);
    assert!(
        sandbox
            .read_file(".cursor/mcp.json.before-memory-2")
            .contains("theirs")
    );
}

#[test]
fn a_removal_with_invalid_settings_or_a_failed_service_still_removes_entries() {
    let sandbox = Sandbox::new();
    sandbox.file(".cursor/mcp.json", "{}\n");
    sandbox.run(&["install", "cursor"]);
    sandbox.file(".memory/config.yaml", "agents: [\n");
    let removed = sandbox.run_json(&["uninstall", "--all"]);
    assert_eq!(removed["service"]["error"]["code"], "CONFIG_INVALID");
    assert_eq!(removed["clients"][0]["files"][0]["change"], "restored");
    assert_eq!(sandbox.read_file(".cursor/mcp.json"), "{}\n");
}

#[test]
fn a_removal_names_a_running_daemon() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path(".memory")).expect("a folder");
    let _daemon = memory_store::DaemonLock::acquire(&sandbox.path(".memory"), 41).expect("a lock");
    assert_snapshot!(sandbox.run(&["uninstall", "--all"]), @"
    --- stderr
    no assistant was found or selected; nothing was changed
    a daemon still runs for ~/.memory (process 41); stop it before you remove the program
    ");
}

#[test]
fn without_an_assistant_an_installation_fails_and_a_removal_changes_nothing() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["install"]), @"
    --- stderr
    error[usage]: no assistant was found on this machine
    hint: specify one of claude-code, codex, cursor, gemini, vscode, opencode, claude-desktop, windsurf, zed, cline, roo-code, goose
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["uninstall"]), @"
    --- stderr
    no assistant was found or selected; nothing was changed
    ");
}
