//! Plugins: files for teams, with the manifest, the server, the hooks and the skill for a client.
//!
//! The files call `memory` from the `PATH` and contain no path of this machine. The entries are those of `memory install`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use memory_core::{ContentHash, ParseError, StoreError};
use serde_json::{Value, json};

use super::bundle::{self, ArchiveMember};
use super::clients::{self, InstallLevel, SERVERS};
use super::command::Invocation;
use super::file::{ClientFileSnapshot, ReplaceError};
use super::hooks::HookFormat;
use super::plan::{self, ClientEntry};
use super::server::NAME;
use super::setup::ClientFileChange;
use crate::config::Environment;
use crate::failure::{Failure, ProgramError};

/// A product of `memory plugin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginTarget {
    /// A plugin for Claude Code, and a marketplace with it.
    ClaudeCode,
    /// A plugin for Codex, and a marketplace with it.
    Codex,
    /// An extension for Gemini CLI.
    Gemini,
    /// A plugin for Cursor, and a marketplace with it.
    Cursor,
    /// A bundle for Claude Desktop, with this program for its platform.
    ClaudeDesktop,
    /// The description of the server for the MCP registry.
    Registry,
}

/// The description of the server for the MCP registry.
#[derive(Debug, Clone)]
pub struct RegistryEntry {
    /// The namespace of the publisher, such as `io.github.you`.
    pub namespace: RegistryNamespace,
    /// The address at which the bundle is published; without it, the description names no package.
    pub bundle_url: Option<BundleUrl>,
}

/// A namespace in the MCP registry: a domain in reverse order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryNamespace(String);

/// The address of a published bundle: an absolute URL with `https`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleUrl(String);

/// A planned file of a plugin.
#[derive(Debug)]
#[non_exhaustive]
pub struct PlannedPluginFile {
    /// The path.
    pub path: PathBuf,
    /// The kind of change.
    pub change: ClientFileChange,
    bytes: Vec<u8>,
    seen: ClientFileSnapshot,
}

/// A file of a plugin: its path in the output folder, and its content.
type PluginFile = (&'static str, Vec<u8>);

const DESCRIPTION: &str =
    "One long-term memory for all AI agents, stored as plain files on your own disk";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const LICENSE: &str = "MIT OR Apache-2.0";
const KEYWORDS: [&str; 3] = ["memory", "notes", "mcp"];
const SKILL: &str = include_str!("plugin/SKILL.md");
const CONTEXT: &str = include_str!("plugin/context.md");
const README: &str = include_str!("plugin/README.md");

/// The record of the written files, in the output folder: their paths with the hashes of their content.
const RECORD: &str = ".memory-plugin.json";

/// The path of the bundle.
const BUNDLE: &str = "claude-desktop/memory.mcpb";

impl PluginTarget {
    /// All products, in the order of the help.
    pub const ALL: [Self; 6] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Cursor,
        Self::ClaudeDesktop,
        Self::Registry,
    ];

    /// Returns the name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Registry => "registry",
        }
    }

    /// Returns the product with this name on the command line.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.as_str() == name)
    }

    fn files(self, bundle: &[u8], registry: &RegistryEntry) -> Result<Vec<PluginFile>, Failure> {
        let author = json!({ "name": NAME });
        let mut manifest = json!({ "name": NAME, "version": VERSION, "description": DESCRIPTION });
        let more = json!({ "author": author, "license": LICENSE, "keywords": KEYWORDS });
        let plugin = with_keys(&manifest, &more);
        let listed =
            |source: &str| json!({ "name": NAME, "source": source, "description": DESCRIPTION });
        let marketplace =
            |source| json!({ "name": NAME, "owner": author, "plugins": [listed(source)] });
        let server = || self.entries("", SERVERS);
        let hooks = |format: HookFormat| self.entries("", ClientEntry::Hooks(format));
        let skill = || SKILL.as_bytes().to_vec();
        let readme = || README.as_bytes().to_vec();
        Ok(match self {
            Self::ClaudeCode => vec![
                (
                    ".claude-plugin/marketplace.json",
                    text(&with_keys(
                        &marketplace("./claude-code"),
                        &json!({ "description": DESCRIPTION }),
                    )),
                ),
                ("claude-code/.claude-plugin/plugin.json", text(&plugin)),
                ("claude-code/.mcp.json", server()?),
                (
                    "claude-code/hooks/hooks.json",
                    hooks(clients::CLAUDE_CODE_HOOKS)?,
                ),
                ("claude-code/skills/memory/SKILL.md", skill()),
                ("claude-code/README.md", readme()),
            ],
            Self::Codex => {
                let interface = json!({
                    "displayName": "Memory", "shortDescription": DESCRIPTION, "category": "Productivity",
                });
                let paths = json!({ "skills": "./skills/", "mcpServers": "./.mcp.json", "hooks": "./hooks/hooks.json" });
                let listed = json!({
                    "name": NAME,
                    "source": { "source": "local", "path": "./codex" },
                    "policy": { "installation": "AVAILABLE", "authentication": "ON_INSTALL" },
                    "category": "Productivity",
                });
                let marketplace = json!({ "name": NAME, "interface": { "displayName": "Memory" }, "plugins": [listed] });
                vec![
                    (".agents/plugins/marketplace.json", text(&marketplace)),
                    (
                        "codex/.codex-plugin/plugin.json",
                        text(&with_keys(
                            &with_keys(&plugin, &paths),
                            &json!({ "interface": interface }),
                        )),
                    ),
                    ("codex/.mcp.json", server()?),
                    ("codex/hooks/hooks.json", hooks(clients::CODEX_HOOKS)?),
                    ("codex/skills/memory/SKILL.md", skill()),
                    ("codex/README.md", readme()),
                ]
            }
            Self::Gemini => {
                manifest["contextFileName"] = "GEMINI.md".into();
                vec![
                    (
                        "gemini/gemini-extension.json",
                        self.entries(&render(&manifest), SERVERS)?,
                    ),
                    ("gemini/GEMINI.md", CONTEXT.as_bytes().to_vec()),
                    ("gemini/hooks/hooks.json", hooks(clients::GEMINI_HOOKS)?),
                    ("gemini/skills/memory/SKILL.md", skill()),
                    ("gemini/README.md", readme()),
                ]
            }
            Self::Cursor => {
                let rule = format!(
                    "---\ndescription: How to use the long-term memory\nalwaysApply: true\n---\n\n{CONTEXT}"
                );
                let paths = json!({
                    "displayName": "Memory",
                    "skills": "./skills/",
                    "rules": "./rules/",
                    "hooks": "./hooks/hooks.json",
                    "mcpServers": "./mcp.json",
                });
                vec![
                    (
                        ".cursor-plugin/marketplace.json",
                        text(&marketplace("./cursor")),
                    ),
                    (
                        "cursor/.cursor-plugin/plugin.json",
                        text(&with_keys(&plugin, &paths)),
                    ),
                    ("cursor/mcp.json", server()?),
                    ("cursor/hooks/hooks.json", hooks(clients::CURSOR_HOOKS)?),
                    ("cursor/rules/memory.mdc", rule.into_bytes()),
                    ("cursor/skills/memory/SKILL.md", skill()),
                    ("cursor/README.md", readme()),
                ]
            }
            Self::ClaudeDesktop => vec![(BUNDLE, bundle.to_vec())],
            Self::Registry => vec![("server.json", text(&registry.json(bundle)))],
        })
    }

    /// Returns a file with an entry of this program, which is called from the `PATH`.
    fn entries(self, file: &str, entry: ClientEntry) -> Result<Vec<u8>, Failure> {
        let installed = plan::install(Some(file), &[entry], &self.invocation("memory"));
        installed
            .map(String::into_bytes)
            .map_err(|_| Failure::usage("cannot build the plugin", "report this defect"))
    }

    fn invocation(self, program: &str) -> Invocation {
        let agent = self.as_str().to_owned();
        Invocation {
            program: program.to_owned(),
            agent,
            root: None,
            server_name: None,
            replaces: false,
            topics: None,
        }
    }
}

impl RegistryEntry {
    /// Returns `server.json`. Source: <https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json>.
    fn json(&self, bundle: &[u8]) -> Value {
        let mut server = json!({
            "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
            "name": format!("{}/{NAME}", self.namespace.0),
            "description": DESCRIPTION,
            "version": VERSION,
        });
        if let Some(url) = &self.bundle_url {
            server["packages"] = json!([{
                "registryType": "mcpb",
                "identifier": url.0,
                "fileSha256": ContentHash::from_bytes(bundle).to_string(),
                "transport": { "type": "stdio" },
            }]);
        }
        server
    }
}

impl std::str::FromStr for RegistryNamespace {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        // The registry has the pattern `^[a-zA-Z0-9.-]+/` for names; a label of a domain neither begins nor ends with `-`.
        let is_valid = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let is_label = |label: &str| {
            !label.is_empty()
                && label.chars().all(is_valid)
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        if !text.contains('.') || !text.split('.').all(is_label) {
            return Err(ParseError::new(
                text,
                "a domain in reverse order, such as io.github.you",
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

impl std::str::FromStr for BundleUrl {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let rest = text.strip_prefix("https://").unwrap_or_default();
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let is_host = |letter: char| letter.is_ascii_alphanumeric() || "-.:[]".contains(letter);
        let starts_with_name =
            host.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '[');
        let is_url = starts_with_name
            && host.chars().all(is_host)
            && text.chars().all(|letter| letter.is_ascii_graphic());
        if is_url {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseError::new(text, "a URL that begins with https://"))
        }
    }
}

/// Plans the files of products in a folder. Nothing is written.
///
/// # Errors
/// If the program cannot be read, or a file was written or changed by another program.
pub fn plan_plugins(
    targets: &[PluginTarget],
    output: &Path,
    registry: &RegistryEntry,
    environment: &Environment,
) -> Result<Vec<PlannedPluginFile>, ProgramError> {
    let needs_bundle = |target: &PluginTarget| match target {
        PluginTarget::ClaudeDesktop => true,
        PluginTarget::Registry => registry.bundle_url.is_some(),
        _ => false,
    };
    let bundle = if targets.iter().any(needs_bundle) {
        build_bundle(environment)?
    } else {
        Vec::new()
    };
    let mut record = read_record(output)?;
    let mut planned = Vec::new();
    for target in targets {
        for (name, bytes) in target.files(&bundle, registry)? {
            let file = plan_file(output.join(name), bytes, record.get(name))?;
            record.insert(
                name.to_owned(),
                ContentHash::from_bytes(&file.bytes).to_string(),
            );
            planned.push(file);
        }
    }
    let path = output.join(RECORD);
    let known = ContentHash::from_bytes(&read(&path)?.bytes.unwrap_or_default()).to_string();
    planned.push(plan_file(
        path,
        text(&json!({ "files": record })),
        Some(&known),
    )?);
    Ok(planned)
}

/// Writes the planned files.
///
/// # Errors
/// If a file was changed since it was read, or cannot be written.
pub fn write_plugins(files: &[PlannedPluginFile]) -> Result<(), ProgramError> {
    for file in files
        .iter()
        .filter(|file| file.change != ClientFileChange::Unchanged)
    {
        let place = file.path.display().to_string();
        file.seen
            .replace(Some(&file.bytes), InstallLevel::Project)
            .map_err(|stopped| match stopped {
                ReplaceError::Changed => Failure::Store(StoreError::Conflict {
                    what: place.clone(),
                }),
                ReplaceError::Refused(source) => Failure::File {
                    action: format!("write {place}"),
                    source,
                },
            })?;
    }
    Ok(())
}

fn plan_file(
    path: PathBuf,
    bytes: Vec<u8>,
    known: Option<&String>,
) -> Result<PlannedPluginFile, Failure> {
    let seen = read(&path)?;
    let change = match &seen.bytes {
        None => ClientFileChange::Created,
        Some(found) if *found == bytes => ClientFileChange::Unchanged,
        Some(found)
            if known.is_some_and(|known| *known == ContentHash::from_bytes(found).to_string()) =>
        {
            ClientFileChange::Changed
        }
        Some(_) => {
            return Err(Failure::ForeignFile {
                path: path.display().to_string(),
            });
        }
    };
    Ok(PlannedPluginFile {
        path,
        change,
        bytes,
        seen,
    })
}

fn read(path: &Path) -> Result<ClientFileSnapshot, Failure> {
    ClientFileSnapshot::read(path, None).map_err(Failure::file(format!("read {}", path.display())))
}

/// Returns the hashes of the files that this program wrote; a damaged record counts as empty.
fn read_record(output: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let bytes = read(&output.join(RECORD))?.bytes.unwrap_or_default();
    let record: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    Ok(record
        .get("files")
        .cloned()
        .and_then(|files| serde_json::from_value(files).ok())
        .unwrap_or_default())
}

/// Returns the bundle for Claude Desktop with this program.
///
/// Source: <https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md>.
fn build_bundle(environment: &Environment) -> Result<Vec<u8>, Failure> {
    let unknown = || {
        Failure::usage(
            "cannot determine the path of this program",
            "run it by its full path",
        )
    };
    let program = environment.program.as_deref().ok_or_else(unknown)?;
    let bytes =
        std::fs::read(program).map_err(Failure::file(format!("read {}", program.display())))?;
    let words = PluginTarget::ClaudeDesktop.invocation("${__dirname}/server/memory");
    let words = words.words(super::command::ClientSubcommand::Serve);
    let platform = if cfg!(target_os = "macos") {
        "darwin"
    } else {
        "linux"
    };
    let manifest = json!({
        "manifest_version": "0.3",
        "name": NAME,
        "display_name": "Memory",
        "version": VERSION,
        "description": DESCRIPTION,
        "author": { "name": NAME },
        "server": {
            "type": "binary",
            "entry_point": "server/memory",
            "mcp_config": { "command": words[0], "args": words[1..], "env": {} },
        },
        "tools_generated": true,
        "keywords": KEYWORDS,
        "license": LICENSE,
        "compatibility": { "platforms": [platform] },
    });
    let manifest = text(&manifest);
    let members = [
        ArchiveMember {
            path: "manifest.json",
            bytes: &manifest,
            is_program: false,
        },
        ArchiveMember {
            path: "server/memory",
            bytes: &bytes,
            is_program: true,
        },
    ];
    bundle::archive(&members).map_err(Failure::file("build the bundle"))
}

fn with_keys(object: &Value, more: &Value) -> Value {
    let members = [object, more]
        .into_iter()
        .filter_map(Value::as_object)
        .flatten();
    Value::Object(
        members
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    )
}

fn render(value: &Value) -> String {
    format!("{value:#}\n")
}

fn text(value: &Value) -> Vec<u8> {
    render(value).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_for_a_team_contains_a_path_of_this_machine() {
        let registry = RegistryEntry {
            namespace: "io.github.you".parse().expect("a namespace"),
            bundle_url: None,
        };
        for target in PluginTarget::ALL
            .into_iter()
            .filter(|target| *target != PluginTarget::ClaudeDesktop)
        {
            for (name, bytes) in target.files(&[], &registry).expect("files") {
                let text = String::from_utf8(bytes).expect("text");
                assert!(
                    !text.contains("/bin") && !text.contains("/home") && text.ends_with('\n'),
                    "{name}: {text}"
                );
                assert!(
                    Path::new(name).extension().is_none_or(|end| end != "json")
                        || serde_json::from_str::<Value>(&text).is_ok()
                );
            }
        }
        assert!(
            DESCRIPTION.len() <= 100,
            "the registry allows 100 characters"
        );
    }
}
