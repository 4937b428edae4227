//! Tests of the files that `memory install` writes for each client.

use insta::assert_snapshot;

use crate::client_files::project_with_clients;
use crate::sandbox::Sandbox;

#[test]
fn terminals_get_what_they_read() {
    let sandbox = project_with_clients(&["claude-code", "codex", "gemini"]);
    assert_snapshot!(sandbox.read_file(".mcp.json"), @r#"
    {
      "mcpServers": {
        "memory": {
          "type": "stdio",
          "command": "memory",
          "args": [
            "mcp",
            "--agent",
            "claude-code"
          ]
        }
      }
    }
    "#);
    assert_snapshot!(sandbox.read_file(".claude/settings.json"), @r#"
    {
      "hooks": {
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "memory",
                "args": [
                  "hook",
                  "session-start"
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
                "command": "memory",
                "args": [
                  "hook",
                  "prompt"
                ],
                "timeout": 5
              }
            ]
          }
        ]
      }
    }
    "#);
    assert_snapshot!(sandbox.read_file(".codex/config.toml"), @r#"
    [mcp_servers.memory]
    command = "memory"
    args = ["mcp", "--agent", "codex"]
    "#);
    assert_snapshot!(sandbox.read_file(".gemini/settings.json"), @r#"
    {
      "mcpServers": {
        "memory": {
          "command": "memory",
          "args": [
            "mcp",
            "--agent",
            "gemini"
          ]
        }
      },
      "hooks": {
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "memory hook session-start --agent gemini",
                "timeout": 5000
              }
            ]
          }
        ],
        "BeforeAgent": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "memory hook prompt --agent gemini",
                "timeout": 5000
              }
            ]
          }
        ]
      }
    }
    "#);
}

#[test]
fn editors_get_what_they_read() {
    let sandbox = project_with_clients(&["cursor", "vscode", "opencode"]);
    assert_snapshot!(sandbox.read_file(".cursor/mcp.json"), @r#"
    {
      "mcpServers": {
        "memory": {
          "type": "stdio",
          "command": "memory",
          "args": [
            "mcp",
            "--agent",
            "cursor"
          ]
        }
      }
    }
    "#);
    assert_snapshot!(sandbox.read_file(".vscode/mcp.json"), @r#"
    {
      "servers": {
        "memory": {
          "type": "stdio",
          "command": "memory",
          "args": [
            "mcp",
            "--agent",
            "vscode"
          ]
        }
      }
    }
    "#);
    assert_snapshot!(sandbox.read_file("opencode.json"), @r#"
    {
      "mcp": {
        "memory": {
          "type": "local",
          "command": [
            "memory",
            "mcp",
            "--agent",
            "opencode"
          ],
          "enabled": true
        }
      }
    }
    "#);
    assert_snapshot!(sandbox.run(&["uninstall", "opencode", "--project"]), @"removed	~/opencode.json");
    assert!(
        !sandbox.path("opencode.json").exists(),
        "it was made for us"
    );
}

#[test]
fn applications_get_what_they_read() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".config/goose/config.yaml",
        "GOOSE_MODE: auto\nextensions:\n  developer:\n    type: builtin\n",
    );
    sandbox.file(
        ".config/zed/settings.json",
        "// mine\n{\n  \"theme\": \"One\",\n}\n",
    );
    let clients = [
        "claude-desktop",
        "windsurf",
        "zed",
        "cline",
        "roo-code",
        "goose",
    ];
    let outputs: String = clients
        .iter()
        .map(|client| sandbox.run(&["install", client, "--quiet"]))
        .collect();
    assert_snapshot!(outputs, @"
    created	~/.config/Claude/claude_desktop_config.json
    created	~/.codeium/windsurf/mcp_config.json
    changed	~/.config/zed/settings.json
    created	~/.cline/data/settings/cline_mcp_settings.json
    created	~/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json
    changed	~/.config/goose/config.yaml
    ");
    assert_snapshot!(sandbox.read_file(".config/Claude/claude_desktop_config.json"), @r#"
    {
      "mcpServers": {
        "memory": {
          "command": "/bin/memory",
          "args": [
            "mcp",
            "--agent",
            "claude-desktop"
          ]
        }
      }
    }
    "#);
    assert_snapshot!(sandbox.read_file(".config/zed/settings.json"), @r#"
    // mine
    {
      "theme": "One",
      "context_servers": {
        "memory": {
          "command": "/bin/memory",
          "args": [
            "mcp",
            "--agent",
            "zed"
          ]
        }
      },
    }
    "#);
    assert_snapshot!(sandbox.read_file(".config/goose/config.yaml"), @r#"
    GOOSE_MODE: auto
    extensions:
      developer:
        type: builtin
      memory:
        type: stdio
        name: memory
        enabled: true
        cmd: "/bin/memory"
        args: ["mcp","--agent","goose"]
        env_keys: []
        envs: {}
        timeout: 300
    "#);
    let outputs: String = clients
        .iter()
        .map(|client| sandbox.run(&["uninstall", client, "--quiet"]))
        .collect();
    assert_snapshot!(outputs, @"
    removed	~/.config/Claude/claude_desktop_config.json
    removed	~/.codeium/windsurf/mcp_config.json
    restored	~/.config/zed/settings.json
    removed	~/.cline/data/settings/cline_mcp_settings.json
    removed	~/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json
    restored	~/.config/goose/config.yaml
    ");
    assert_snapshot!(sandbox.run(&["install", "goose", "--project"]), @"
    --- stderr
    error[usage]: goose has no configuration files in projects
    hint: omit --project
    --- exit 2
    ");
}

#[test]
fn clients_with_hooks_get_them_in_their_format() {
    let sandbox = project_with_clients(&["codex", "gemini", "cursor"]);
    assert_snapshot!(sandbox.read_file(".codex/hooks.json"), @r#"
    {
      "hooks": {
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "memory hook session-start --agent codex",
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
                "command": "memory hook prompt --agent codex",
                "timeout": 5
              }
            ]
          }
        ]
      }
    }
    "#);
    assert_snapshot!(sandbox.read_file(".cursor/hooks.json"), @r#"
    {
      "version": 1,
      "hooks": {
        "sessionStart": [
          {
            "command": "memory hook session-start --agent cursor",
            "timeout": 5
          }
        ],
        "beforeSubmitPrompt": [
          {
            "command": "memory hook prompt --agent cursor",
            "timeout": 5
          }
        ]
      }
    }
    "#);
    assert_snapshot!(sandbox.run(&["uninstall", "gemini", "--project"]), @"removed	~/.gemini/settings.json");
    assert_snapshot!(sandbox.run(&["install", "codex"]), @"
    changed	~/.codex/config.toml
    changed	~/.codex/hooks.json
    --- stderr
    backup: ~/.codex/config.toml.before-memory
    backup: ~/.codex/hooks.json.before-memory
    restart Codex, and tell it something to remember; `memory why` then shows what it received
    Codex runs the hooks after you approve them with /hooks
    ");
}
