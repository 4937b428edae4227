//! Tests of `memory install` and `memory uninstall` with the entries of other programs.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;

use crate::install::home_with_client_files;
use crate::sandbox::Sandbox;

#[test]
fn what_others_do_meanwhile_stays() {
    let sandbox = home_with_client_files();
    sandbox.run(&["install", "claude-code"]);
    let later =
        sandbox.read_file(".claude.json").replace("\"numStartups\": 7", "\"numStartups\": 8").replace("/bin/memory", "memory");
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
    @@ -1,27 +1,7 @@
     {
     	"hooks": {
     		"SessionStart": [
    -			{ "hooks": [{ "type": "command", "command": "date" }] },
    -			{
    -				"hooks": [
    -					{
    -						"type": "command",
    -						"command": "/bin/memory hook session-start",
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
    -						"command": "/bin/memory hook prompt",
    -						"timeout": 5
    -					}
    -				]
    -			}
    +			{ "hooks": [{ "type": "command", "command": "date" }] }
     		]
     	}
     }
    --- stderr
    nothing was written
    "#);
    assert_snapshot!(sandbox.run(&["uninstall", "claude-code", "--json"]), @r#"{"client":"claude-code","level":"user","dry_run":false,"changed":true,"files":[{"path":"~/.claude.json","change":"changed","backup":"~/.claude.json.before-memory-2","diff":null},{"path":"~/.claude/settings.json","change":"restored","backup":null,"diff":null}]}"#);
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
    let file =
        "{\n  \"mcpServers\": {\n    \"memory\": { \"command\": \"npx\", \"args\": [\"-y\", \"server-memory\"] }\n  }\n}\n";
    sandbox.file(".claude.json", file);
    assert_snapshot!(sandbox.run(&["install", "claude-code"]), @"
    --- stderr
    error[conflict]: ~/.claude.json:3: mcpServers.memory belongs to another program
    hint: nothing was written; rename or remove that entry and try again
    --- exit 4
    ");
    assert_snapshot!(sandbox.run(&["install", "claude-code", "--json"]), @r#"
    {"error":{"code":"CONFLICT","message":"~/.claude.json:3: mcpServers.memory belongs to another program","hint":"nothing was written; rename or remove that entry and try again"}}
    --- exit 4
    "#);
    assert_snapshot!(sandbox.run(&["uninstall", "claude-code"]), @"
    unchanged	~/.claude.json
    unchanged	~/.claude/settings.json
    --- stderr
    no entries found; nothing was changed
    ");
    assert_eq!(sandbox.read_file(".claude.json"), file);
    assert!(!sandbox.path(".claude").exists(), "the other file was not made either");
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.file(".claude/settings.json", "{\n  \"hooks\": {\n    oops\n  }\n}\n");
    assert_snapshot!(sandbox.run(&["install", "claude-code"]), @"
    --- stderr
    error[file_damaged]: ~/.claude/settings.json:3: expected string for object property
    hint: the file was not changed; correct it and try again
    --- exit 5
    ");
    assert!(!sandbox.path(".claude.json").exists(), "the other file was not made either");
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
    --- stderr
    backup: ~/.cursor/mcp.json.before-memory
    restart Cursor to use the memories
    ");
    assert!(sandbox.path(".cursor/mcp.json").is_symlink() && sandbox.read_file("dots/mcp.json").contains("/bin/memory"));
    assert_snapshot!(sandbox.run(&["uninstall", "cursor"]), @"restored	~/.cursor/mcp.json");
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
    --- exit 1
    ");
    assert!(!sandbox.read_file(".claude.json").contains("/bin/memory"), "the other file was not changed either");
    assert!(!sandbox.path(".claude.json.before-memory").exists());
}

#[test]
fn credentials_beside_our_entry_are_not_shown() {
    let sandbox = Sandbox::new();
    let token = format!("{}{}", "gh", "p_1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX");
    sandbox.file(".cursor/mcp.json", &format!("{{\n  \"mcpServers\": {{\n    \"git\": {{ \"token\": \"{token}\" }}\n  }}\n}}\n"));
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
    error[usage]: invalid value 'emacs' for '<CLIENT>'
      [possible values: claude-code, codex, cursor, gemini, vscode, opencode]

    For more information, try '--help'.
    --- exit 2
    ");
}
