//! Tests of `memory install` and `memory uninstall` with the entries of other programs.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;

use crate::client_files::home_with_client_files;
use crate::sandbox::Sandbox;

#[test]
fn what_others_do_meanwhile_stays() {
    let sandbox = home_with_client_files();
    sandbox.run(&["install", "claude-code"]);
    let later = sandbox
        .read_file(".claude.json")
        .replace("\"numStartups\": 7", "\"numStartups\": 8")
        .replace("/bin/memory", "memory");
    sandbox.file(".claude.json", &later);
    assert_snapshot!(sandbox.run(&["uninstall", "claude-code", "--dry-run"]), @r#"
    --- ~/.claude.json
    +++ ~/.claude.json
    @@ -1,16 +1,7 @@
     {
       "numStartups": 8,
       "mcpServers": {
    -    "files": { "command": "npx" },
    -    "memory": {
    -      "type": "stdio",
    -      "command": "memory",
    -      "args": [
    -        "mcp",
    -        "--agent",
    -        "claude-code"
    -      ]
    -    }
    +    "files": { "command": "npx" }
       },
       "theme": "dark"
     }
    --- ~/.claude/settings.json
    +++ ~/.claude/settings.json
    @@ -1,35 +1,7 @@
     {
     	"hooks": {
     		"SessionStart": [
    -			{ "hooks": [{ "type": "command", "command": "date" }] },
    -			{
    -				"hooks": [
    -					{
    -						"type": "command",
    -						"command": "/bin/memory",
    -						"args": [
    -							"hook",
    -							"session-start"
    -						],
    -						"timeout": 5
    -					}
    -				]
    -			}
    -		],
    -		"UserPromptSubmit": [
    -			{
    -				"hooks": [
    -					{
    -						"type": "command",
    -						"command": "/bin/memory",
    -						"args": [
    -							"hook",
    -							"prompt"
    -						],
    -						"timeout": 5
    -					}
    -				]
    -			}
    +			{ "hooks": [{ "type": "command", "command": "date" }] }
     		]
     	}
     }
    --- stderr
    would delete the backup ~/.claude.json.before-memory
    would delete the backup ~/.claude/settings.json.before-memory
    nothing was written
    "#);
    assert_snapshot!(sandbox.run(&["uninstall", "claude-code", "--json"]), @r#"{"client":"claude-code","level":"user","dry_run":false,"changed":true,"files":[{"path":"~/.claude.json","change":"changed","backup":null,"diff":null,"deleted_backups":["~/.claude.json.before-memory"]},{"path":"~/.claude/settings.json","change":"restored","backup":null,"diff":null,"deleted_backups":["~/.claude/settings.json.before-memory"]}]}"#);
    assert_snapshot!(sandbox.read_file(".claude.json"), @r#"
    {
      "numStartups": 8,
      "mcpServers": {
        "files": { "command": "npx" }
      },
      "theme": "dark"
    }
    "#);
}

#[test]
fn another_programs_entry_is_not_written_over() {
    let sandbox = Sandbox::new();
    let file = "{\n  \"mcpServers\": {\n    \"memory\": { \"command\": \"npx\", \"args\": [\"-y\", \"server-memory\"] }\n  }\n}\n";
    sandbox.file(".claude.json", file);
    assert_snapshot!(sandbox.run(&["install", "claude-code"]), @"
    --- stderr
    error[conflict]: ~/.claude.json:3: mcpServers.memory belongs to another program: npx -y server-memory
    hint: nothing was written; use --replace to replace that entry, or --name NAME to add an entry with another name
    --- exit 4
    ");
    assert_snapshot!(sandbox.run(&["install", "claude-code", "--json"]), @r#"
    {"error":{"code":"CONFLICT","message":"~/.claude.json:3: mcpServers.memory belongs to another program: npx -y server-memory","hint":"nothing was written; use --replace to replace that entry, or --name NAME to add an entry with another name"}}
    --- exit 4
    "#);
    assert_snapshot!(sandbox.run(&["uninstall", "claude-code"]), @"
    unchanged	~/.claude.json
    unchanged	~/.claude/settings.json
    --- stderr
    no entries found; nothing was changed
    ");
    assert_eq!(sandbox.read_file(".claude.json"), file);
    assert!(
        !sandbox.path(".claude").exists(),
        "the other file was not made either"
    );
}

#[test]
fn another_programs_entry_is_replaced_or_kept_on_request() {
    let sandbox = Sandbox::new();
    let file = "{\n  \"mcpServers\": {\n    \"memory\": { \"command\": \"npx\", \"args\": [\"-y\", \"server-memory\"] }\n  }\n}\n";
    sandbox.file(".cursor/mcp.json", file);
    assert_snapshot!(sandbox.run(&["install", "cursor", "--name", "notes", "--quiet"]), @"
    changed	~/.cursor/mcp.json
    created	~/.cursor/hooks.json
    ");
    assert_snapshot!(sandbox.read_file(".cursor/mcp.json"), @r#"
    {
      "mcpServers": {
        "memory": { "command": "npx", "args": ["-y", "server-memory"] },
        "notes": {
          "type": "stdio",
          "command": "/bin/memory",
          "args": [
            "mcp",
            "--agent",
            "cursor"
          ]
        }
      }
    }
    "#);
    assert_snapshot!(sandbox.run(&["uninstall", "cursor"]), @"
    restored	~/.cursor/mcp.json
    removed	~/.cursor/hooks.json
    --- stderr
    deleted backup: ~/.cursor/mcp.json.before-memory
    ");
    assert_eq!(sandbox.read_file(".cursor/mcp.json"), file);
    assert_snapshot!(sandbox.run(&["install", "cursor", "--replace", "--quiet"]), @"
    changed	~/.cursor/mcp.json
    created	~/.cursor/hooks.json
    ");
    assert_snapshot!(sandbox.read_file(".cursor/mcp.json"), @r#"
    {
      "mcpServers": {
        "memory": {
          "type": "stdio",
          "command": "/bin/memory",
          "args": [
            "mcp",
            "--agent",
            "cursor"
          ]
        }
      }
    }
    "#);
    assert_snapshot!(sandbox.run(&["uninstall", "cursor"]), @"
    restored	~/.cursor/mcp.json
    removed	~/.cursor/hooks.json
    --- stderr
    deleted backup: ~/.cursor/mcp.json.before-memory
    ");
    assert_eq!(sandbox.read_file(".cursor/mcp.json"), file);
    assert_snapshot!(sandbox.run(&["install", "cursor", "--name", "my notes"]), @r#"
    --- stderr
    error[usage]: invalid value 'my notes' for '--name <NAME>': "my notes" is not a name of up to 32 letters, digits, - and _

    For more information, try '--help'.
    --- exit 2
    "#);
}

#[test]
fn an_entry_keeps_its_name() {
    let sandbox = Sandbox::new();
    sandbox.run(&["install", "cursor"]);
    assert_snapshot!(sandbox.run(&["install", "cursor", "--name", "work"]), @"
    --- stderr
    error[usage]: ~/.cursor/mcp.json:3: this program already has the entry memory
    hint: omit --name, or remove the entry with `memory uninstall` first
    --- exit 2
    ");
    sandbox.run(&["uninstall", "cursor"]);
    sandbox.run(&["install", "cursor", "--name", "work"]);
    assert_snapshot!(sandbox.run(&["uninstall", "cursor"]), @"
    removed	~/.cursor/mcp.json
    removed	~/.cursor/hooks.json
    ");
    assert!(!sandbox.path(".cursor/mcp.json").exists());
}

#[test]
fn an_entry_that_a_user_wrote_is_not_removed_without_a_backup() {
    let sandbox = Sandbox::new();
    let by_hand = "{\n  \"mcpServers\": {\n    \"memory\": { \"command\": \"memory\", \"args\": [\"mcp\", \"--agent\", \"bob\"], \"env\": { \"A\": \"b\" } }\n  }\n}\n";
    sandbox.file(".cursor/mcp.json", by_hand);
    assert_snapshot!(sandbox.run(&["uninstall", "cursor"]), @"
    unchanged	~/.cursor/mcp.json
    unchanged	~/.cursor/hooks.json
    --- stderr
    no entries found; nothing was changed
    ");
    assert_eq!(sandbox.read_file(".cursor/mcp.json"), by_hand);
    let for_cursor = by_hand.replace("bob", "cursor");
    sandbox.file(".cursor/mcp.json", &for_cursor);
    assert_snapshot!(sandbox.run(&["uninstall", "cursor"]), @"
    removed	~/.cursor/mcp.json
    unchanged	~/.cursor/hooks.json
    --- stderr
    backup: ~/.cursor/mcp.json.before-memory
    ");
    assert_eq!(
        sandbox.read_file(".cursor/mcp.json.before-memory"),
        for_cursor
    );
}

#[test]
fn a_server_of_another_program_named_memory_is_not_ours() {
    let sandbox = Sandbox::new();
    let other = "{\"mcpServers\":{\"memory\":{\"command\":\"/opt/other/memory\",\"args\":[\"serve\",\"mcp\",\"--port\",\"1\"]}}}";
    sandbox.file(".cursor/mcp.json", other);
    assert_snapshot!(sandbox.run(&["install", "cursor"]), @"
    --- stderr
    error[conflict]: ~/.cursor/mcp.json:1: mcpServers.memory belongs to another program: /opt/other/memory serve mcp --port 1
    hint: nothing was written; use --replace to replace that entry, or --name NAME to add an entry with another name
    --- exit 4
    ");
    assert_eq!(sandbox.read_file(".cursor/mcp.json"), other);
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".claude/settings.json",
        "{\n  \"hooks\": {\n    oops\n  }\n}\n",
    );
    assert_snapshot!(sandbox.run(&["install", "claude-code"]), @"
    --- stderr
    error[file_damaged]: ~/.claude/settings.json:3: expected string for object property
    hint: the file was not changed; correct it and try again
    --- exit 5
    ");
    assert!(
        !sandbox.path(".claude.json").exists(),
        "the other file was not made either"
    );
    sandbox.file(".codex/config.toml", "model = \"o\"\nmodel = \"p\"\n");
    assert_snapshot!(sandbox.run(&["install", "codex", "--json"]), @r#"
    {"error":{"code":"FILE_DAMAGED","message":"~/.codex/config.toml:2: duplicate key","hint":"the file was not changed; correct it and try again"}}
    --- exit 5
    "#);
    std::fs::write(sandbox.path(".codex/config.toml"), b"a = 1\nb = \"\xff\"\n").expect("a file");
    assert_snapshot!(sandbox.run(&["uninstall", "codex"]), @"
    --- stderr
    error[file_damaged]: ~/.codex/config.toml:2: the file is not valid UTF-8
    hint: the file was not changed; correct it and try again
    --- exit 5
    ");
    sandbox.file(".cursor/mcp.json", "{\n  \"mcpServers\": []\n}\n");
    assert_snapshot!(sandbox.run(&["install", "cursor"]), @"
    --- stderr
    error[file_damaged]: ~/.cursor/mcp.json:2: mcpServers must be an object
    hint: the file was not changed; correct it and try again
    --- exit 5
    ");
}

#[test]
fn a_link_stays_a_link() {
    let sandbox = Sandbox::new();
    sandbox.file("dots/mcp.json", "{}\n");
    std::fs::create_dir(sandbox.path(".cursor")).expect("a folder");
    symlink("../dots/mcp.json", sandbox.path(".cursor/mcp.json")).expect("a link");
    assert_snapshot!(sandbox.run(&["install", "cursor"]), @"
    changed	~/.cursor/mcp.json
    created	~/.cursor/hooks.json
    --- stderr
    backup: ~/.cursor/mcp.json.before-memory
    restart Cursor, and tell it something to remember; `memory why` then shows what it received
    ");
    assert!(
        sandbox.path(".cursor/mcp.json").is_symlink()
            && sandbox.read_file("dots/mcp.json").contains("/bin/memory")
    );
    assert_snapshot!(sandbox.run(&["uninstall", "cursor"]), @"
    restored	~/.cursor/mcp.json
    removed	~/.cursor/hooks.json
    --- stderr
    deleted backup: ~/.cursor/mcp.json.before-memory
    ");
    assert!(sandbox.path(".cursor/mcp.json").is_symlink());
    assert_eq!(sandbox.read_file("dots/mcp.json"), "{}\n");
}

#[test]
fn a_file_that_is_read_only_stays_so() {
    let sandbox = home_with_client_files();
    let settings = sandbox.path(".claude/settings.json");
    std::fs::set_permissions(&settings, Permissions::from_mode(0o444)).expect("a mode");
    assert_snapshot!(sandbox.run(&["install", "claude-code"]), @"
    --- stderr
    error[io]: cannot write ~/.claude/settings.json
      because: the file is read-only
    hint: check the owner and the permissions of the file and of its folder
    --- exit 1
    ");
    assert!(
        !sandbox.read_file(".claude.json").contains("/bin/memory"),
        "the other file was not changed either"
    );
    assert!(!sandbox.path(".claude.json.before-memory").exists());
}

#[test]
fn credentials_beside_our_entry_are_not_shown() {
    let sandbox = Sandbox::new();
    let token = format!("{}{}", "gh", "p_1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX");
    sandbox.file(
        ".cursor/mcp.json",
        &format!("{{\n  \"mcpServers\": {{\n    \"git\": {{ \"token\": \"{token}\" }}\n  }}\n}}\n"),
    );
    assert_snapshot!(sandbox.run(&["install", "cursor", "--dry-run"]), @r#"
    --- ~/.cursor/mcp.json
    +++ ~/.cursor/mcp.json
    @@ -1,5 +1,14 @@
     {
       "mcpServers": {
    -    "git": { "token": "[redacted: GitHub token]" }
    +    "git": { "token": "[redacted: GitHub token]" },
    +    "memory": {
    +      "type": "stdio",
    +      "command": "/bin/memory",
    +      "args": [
    +        "mcp",
    +        "--agent",
    +        "cursor"
    +      ]
    +    }
       }
     }
    --- /dev/null
    +++ ~/.cursor/hooks.json
    @@ -0,0 +1,17 @@
    +{
    +  "version": 1,
    +  "hooks": {
    +    "sessionStart": [
    +      {
    +        "command": "/bin/memory hook session-start --agent cursor",
    +        "timeout": 5
    +      }
    +    ],
    +    "beforeSubmitPrompt": [
    +      {
    +        "command": "/bin/memory hook prompt --agent cursor",
    +        "timeout": 5
    +      }
    +    ]
    +  }
    +}
    --- stderr
    nothing was written
    "#);
    sandbox.run(&["install", "cursor"]);
    assert!(sandbox.read_file(".cursor/mcp.json").contains(&token));
}

#[test]
fn a_client_that_nobody_knows_is_a_mistake() {
    assert_snapshot!(Sandbox::new().run(&["install", "emacs"]), @"
    --- stderr
    error[usage]: invalid value 'emacs' for '[CLIENT]'
      [possible values: claude-code, codex, cursor, gemini, vscode, opencode, claude-desktop, windsurf, zed, cline, roo-code, goose]

    For more information, try '--help'.
    --- exit 2
    ");
}

/// The files of clients in a project.
const PROJECT_FILES: [(&str, &str); 11] = [
    ("claude-code", ".mcp.json"),
    ("claude-code", ".claude/settings.json"),
    ("codex", ".codex/config.toml"),
    ("codex", ".codex/hooks.json"),
    ("cursor", ".cursor/mcp.json"),
    ("cursor", ".cursor/hooks.json"),
    ("gemini", ".gemini/settings.json"),
    ("vscode", ".vscode/mcp.json"),
    ("opencode", "opencode.json"),
    ("zed", ".zed/settings.json"),
    ("roo-code", ".roo/mcp.json"),
];

/// Returns the paths and texts of all files in a folder.
fn content(folder: &std::path::Path) -> Vec<(String, String)> {
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            (path.display().to_string(), text)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn a_file_of_a_project_that_leads_out_of_it_is_neither_read_nor_written() {
    const PRIVATE: &str = "{\"mcpServers\": {\"x\": {\"command\": \"secret\"}}}\n";
    for (client, file) in PROJECT_FILES {
        let name = file.rsplit('/').next().expect("a name");
        let folder = file.split_once('/').map(|(folder, _)| folder);
        // A symlink in place of the file or its folder; its target; and whether the target exists.
        let links = [(file, format!("outside/{name}"))]
            .into_iter()
            .chain(folder.map(|folder| (folder, "outside".to_owned())));
        for ((link, target), exists) in links.flat_map(|link| [(link.clone(), true), (link, false)])
        {
            let sandbox = Sandbox::new();
            std::fs::create_dir_all(sandbox.path("work")).expect("a folder");
            std::fs::create_dir_all(sandbox.path("outside")).expect("a folder");
            if exists {
                sandbox.file(&format!("outside/{name}"), PRIVATE);
            } else if target == "outside" {
                std::fs::remove_dir(sandbox.path("outside")).expect("it was there");
            }
            let place = sandbox.path("work").join(link);
            std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
            symlink(sandbox.path(&target), &place).expect("a link");
            let before = exists.then(|| content(&sandbox.path("outside")));
            for command in [
                ["install", client, "--project"].as_slice(),
                &["install", client, "--project", "--dry-run"],
                &["uninstall", client, "--project"],
            ] {
                let mut program = sandbox.command(command);
                program.current_dir(sandbox.path("work"));
                let output = Sandbox::finish(program, "");
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(
                    said.contains("a symlink that does not lead to a file of the project"),
                    "{command:?} {link} -> {target}: {said}"
                );
                assert!(
                    !said.contains("secret")
                        && !output.stdout.windows(6).any(|word| word == b"secret"),
                    "{said}"
                );
            }
            let after = sandbox.path("outside");
            assert_eq!(
                after.exists().then(|| content(&after)),
                before.or_else(|| after.exists().then(Vec::new))
            );
            assert!(place.is_symlink());
        }
    }
}

#[test]
fn a_symlink_within_a_project_is_followed_but_not_into_the_repository_and_no_backup_is_a_symlink() {
    let sandbox = Sandbox::new();
    let run = |arguments: &[&str]| {
        let mut program = sandbox.command(arguments);
        program.current_dir(sandbox.path("work"));
        let output = Sandbox::finish(program, "");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    sandbox.file("work/shared/mcp.json", "{}\n");
    sandbox.file("private.json", "{}\n");
    symlink("shared/mcp.json", sandbox.path("work/.mcp.json")).expect("a link");
    // Its content is that of the file, so it would count as the backup.
    symlink(
        sandbox.path("private.json"),
        sandbox.path("work/.mcp.json.before-memory"),
    )
    .expect("a link");
    let said = run(&["install", "claude-code", "--project"]);
    assert!(said.contains("work/.mcp.json.before-memory-2"), "{said}");
    assert!(sandbox.path("work/.mcp.json").is_symlink());
    assert!(sandbox.read_file("work/shared/mcp.json").contains("memory"));
    let said = run(&["uninstall", "claude-code", "--project"]);
    assert!(said.contains("restored"), "{said}");
    assert_eq!(sandbox.read_file("private.json"), "{}\n");
    assert!(sandbox.path("work/.mcp.json.before-memory").is_symlink());

    sandbox.file("work/.git/hooks/x.json", "{}\n");
    std::fs::remove_file(sandbox.path("work/.mcp.json")).expect("it was there");
    symlink(".git/hooks/x.json", sandbox.path("work/.mcp.json")).expect("a link");
    let said = run(&["install", "claude-code", "--project"]);
    assert!(
        said.contains("does not lead to a file of the project"),
        "{said}"
    );
    assert_eq!(sandbox.read_file("work/.git/hooks/x.json"), "{}\n");
}

#[test]
fn the_setting_for_topics_is_not_written_through_a_symlink_of_the_project() {
    let sandbox = Sandbox::new();
    sandbox.file("outside/settings.local.json", "{}\n");
    std::fs::create_dir_all(sandbox.path("work/.git")).expect("a folder");
    symlink(sandbox.path("outside"), sandbox.path("work/.claude")).expect("a link");
    let mut program = sandbox.command(&["install", "claude-code", "--topics"]);
    program.current_dir(sandbox.path("work"));
    let output = Sandbox::finish(program, "");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("does not lead to a file of the project"),
        "{said}"
    );
    assert_eq!(content(&sandbox.path("outside")).len(), 1);
    assert_eq!(sandbox.read_file("outside/settings.local.json"), "{}\n");
}
