//! Decides whose words a memory contains.

use crate::{Memory, SpeakerRole};

/// The author of a memory, as far as standing sentences are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Authorship {
    /// The person. Requests and statements count.
    Person,
    /// A program that writes on behalf of the person. Only statements about the person count.
    Agent,
    /// Another author, or a text from elsewhere. Nothing counts.
    Foreign,
}

/// Returns the authorship of a memory, from its role, its origin and its source.
pub(super) fn authorship(memory: &Memory) -> Authorship {
    match memory.role {
        Some(SpeakerRole::Person) => return Authorship::Person,
        Some(SpeakerRole::Assistant | SpeakerRole::Tool | SpeakerRole::Author) => return Authorship::Foreign,
        None => {}
    }
    if let Some(origin) = &memory.origin {
        return match origin.source.as_str() {
            "claude" if is_instruction_file(&origin.path) => Authorship::Person,
            "claude" => Authorship::Agent,
            _ => Authorship::Foreign,
        };
    }
    let source = memory.source.trim();
    match SpeakerRole::from_source(source) {
        _ if source.is_empty() => Authorship::Person,
        Some(SpeakerRole::Person) => Authorship::Person,
        Some(SpeakerRole::Tool | SpeakerRole::Author) => Authorship::Foreign,
        _ if is_web(source) => Authorship::Foreign,
        // Programs have many names, so an unknown one counts as an agent.
        Some(SpeakerRole::Assistant) | None => Authorship::Agent,
    }
}

/// Returns whether the person is the author of a memory.
pub fn is_by_person(memory: &Memory) -> bool {
    authorship(memory) == Authorship::Person
}

/// Returns whether a file of Claude Code contains instructions of the user; all others are notes of the model.
fn is_instruction_file(path: &str) -> bool {
    let path = path.strip_prefix(".claude/").unwrap_or(path);
    let file = path.split_once('#').map_or(path, |(file, _)| file);
    file == "CLAUDE.md" || file == "CLAUDE.local.md" || file.starts_with("rules/")
}

/// Returns whether a source is an address, or a program that stores pages of the web.
fn is_web(source: &str) -> bool {
    const NAMES: [&str; 10] =
        ["web", "website", "webpage", "page", "browser", "clipper", "web clipper", "clipping", "rss", "url"];
    let lower = source.to_lowercase();
    lower.contains("://") || NAMES.contains(&lower.as_str()) || is_domain(&lower)
}

/// Returns whether a source is the name of a host, such as `example.com`.
fn is_domain(source: &str) -> bool {
    let host = source.split_once('/').map_or(source, |(host, _)| host);
    let labels: Vec<&str> = host.split('.').collect();
    let is_label =
        |label: &&str| !label.is_empty() && label.chars().all(|character| character.is_alphanumeric() || character == '-');
    let ends_in_letters = labels.last().is_some_and(|last| 2 <= last.len() && last.chars().all(char::is_alphabetic));
    2 <= labels.len() && labels.iter().all(is_label) && ends_in_letters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Draft, MemoryId, Origin};

    fn of(draft: Draft) -> Authorship {
        authorship(&draft.into_memory(MemoryId::for_path(""), chrono::DateTime::UNIX_EPOCH))
    }

    #[test]
    fn a_role_decides_before_a_source() {
        let by = |role| of(Draft { role: Some(role), source: "claude".into(), ..Draft::new("x") });
        assert_eq!(by(SpeakerRole::Person), Authorship::Person);
        for role in [SpeakerRole::Assistant, SpeakerRole::Tool, SpeakerRole::Author] {
            assert_eq!(by(role), Authorship::Foreign, "{role}");
        }
    }

    #[test]
    fn a_source_tells_the_person_from_agents_and_from_the_web() {
        let from = |source: &str| of(Draft { source: source.into(), ..Draft::new("x") });
        for source in ["", "User", "human", "user:"] {
            assert_eq!(from(source), Authorship::Person, "{source}");
        }
        for source in ["ChatGPT", "GPT-4", "claude", "claude-code", "gemini", "Assistant:", "cursor", "system", "agent 2.0"] {
            assert_eq!(from(source), Authorship::Agent, "{source}");
        }
        for source in ["web", "https://example.com/a", "www.example.com", "example.co.uk/page", "tool_result", "function"] {
            assert_eq!(from(source), Authorship::Foreign, "{source}");
        }
    }

    #[test]
    fn of_the_ingested_only_the_instructions_of_the_user_are_the_persons() {
        let from = |source: &str, path: &str| {
            let origin = Origin { source: source.into(), root: "/home/a".into(), path: path.into(), hash: None };
            of(Draft { source: source.into(), origin: Some(origin), ..Draft::new("x") })
        };
        for path in ["CLAUDE.md", ".claude/CLAUDE.local.md", "rules/git.md", "CLAUDE.md#Style"] {
            assert_eq!(from("claude", path), Authorship::Person, "{path}");
        }
        for path in ["projects/x/memory/user.md", "agents/reviewer.md", "agent-memory/a.md"] {
            assert_eq!(from("claude", path), Authorship::Agent, "{path}");
        }
        for source in ["obsidian", "logseq", "car-agent", "fingersaver"] {
            assert_eq!(from(source, "CLAUDE.md"), Authorship::Foreign, "{source}");
        }
    }
}
