use super::*;

fn folders() -> ClientFolders {
    ClientFolders {
        home: "/home".into(),
        config: "/home/.config".into(),
        application: "/home/apps".into(),
        claude: None,
        codex: None,
        gemini: None,
        project: "/work".into(),
    }
}

fn paths(folders: &ClientFolders, level: InstallLevel) -> Vec<String> {
    let line = |client: &&Client| {
        let files = (client.files)(folders, level);
        let paths = files.iter().flat_map(|target| &target.paths).map(|path| path.display().to_string());
        format!("{} {}", client.name, paths.collect::<Vec<_>>().join(" "))
    };
    Client::ALL.iter().map(line).collect()
}

#[test]
fn each_client_has_its_files() {
    let of_person = [
        "claude-code /home/.claude.json /home/.claude/settings.json",
        "codex /home/.codex/config.toml",
        "cursor /home/.cursor/mcp.json",
        "gemini /home/.gemini/settings.json",
        "vscode /home/apps/Code/User/mcp.json",
        "opencode /home/.config/opencode/opencode.jsonc /home/.config/opencode/opencode.json",
    ];
    assert_eq!(paths(&folders(), InstallLevel::User), of_person);
    let of_project = [
        "claude-code /work/.mcp.json /work/.claude/settings.json",
        "codex /work/.codex/config.toml",
        "cursor /work/.cursor/mcp.json",
        "gemini /work/.gemini/settings.json",
        "vscode /work/.vscode/mcp.json",
        "opencode /work/opencode.jsonc /work/opencode.json",
    ];
    assert_eq!(paths(&folders(), InstallLevel::Project), of_project);
}

#[test]
fn a_client_may_have_its_own_folder() {
    let own = ClientFolders { claude: Some("/c".into()), codex: Some("/x".into()), gemini: Some("/g".into()), ..folders() };
    let paths = paths(&own, InstallLevel::User);
    assert_eq!(paths[0], "claude-code /c/.claude.json /c/settings.json");
    assert_eq!(paths[1], "codex /x/config.toml");
    assert_eq!(paths[3], "gemini /g/.gemini/settings.json");
    assert_eq!(super::tests::paths(&own, InstallLevel::Project), super::tests::paths(&folders(), InstallLevel::Project));
}
