//! The `memory conversations add` command.

use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::json;
use memory_core::SecretPolicy;
use memory_core::conversation::{ConversationEntry, ConversationId, Conversations};
use memory_store::RandomIds;
use memory_store::conversation::GitVersions;
use serde_json::Value;

use crate::app::App;
use crate::args;
use crate::config::Settings;
use crate::conversations;
use crate::failure::Failure;
use crate::versions;

/// Add facts to a conversation
///
/// Each text is stored as one fact. A file contains a JSON list of texts or of objects with content and an optional
/// conversation_id, an object with such a list under memories, or one fact per line. If any text contains a credential,
/// nothing is added. `memory search --scope conversation:ID` searches facts in the home. `memory undo` removes the added
/// facts of one conversation.
///
/// JSON: {added, memories: [{id, conversation_id, content, created_at}…]}
#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// Facts to add
    facts: Vec<String>,
    /// Read facts from this file; `-`, or piped input without other arguments, is the standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Conversation to add the facts to [default: default]
    #[arg(long, short, value_name = "ID")]
    conversation_id: Option<ConversationId>,
    /// Commit the facts to git [default: if --memory-path is set or the folder is a repository]
    ///
    /// The default also requires proxy.enable_git_versioning.
    #[arg(long, conflicts_with = "no_git_versioning")]
    git_versioning: bool,
    /// Do not commit the facts to git
    #[arg(long)]
    no_git_versioning: bool,
    /// Store the facts even if they seem to contain a credential
    #[arg(long)]
    allow_secret: bool,
}

impl AddArgs {
    pub(super) fn run(&self, folder: Option<&Path>, app: &mut App) -> Result<(), Failure> {
        let given = self.read_facts(app)?;
        if given.is_empty() {
            return Err(Failure::usage(
                "no facts to add",
                "pass it as an argument: `memory conversations add \"…\"`, or use -f FILE",
            ));
        }
        let settings = app.settings()?;
        let (place, keeps_home) = match folder {
            Some(place) => (app.environment.absolute_path(place), false),
            None => (settings.root.value.clone(), settings.git.value),
        };
        let conversations = open_conversations(&settings, &place)?;
        let secrets = SecretPolicy::allowing(self.allow_secret);
        if secrets == SecretPolicy::Refuse {
            memory_core::secret::reject_secrets(given.iter().map(|given| given.content.as_str()))?;
        }
        let mut entries: Vec<ConversationEntry> = Vec::new();
        for (conversation, facts) in group_by_conversation(given) {
            entries.extend(memory_core::conversation::add(
                &conversations,
                &conversation,
                &facts,
                secrets,
            )?);
        }
        let message = format!("Add {} memories directly", entries.len());
        if keeps_home && !self.no_git_versioning {
            // `commit_now` also commits changes of memories that are not committed yet.
            app.warn_at_end(versions::take_warning(
                &place,
                versions::commit_now(&place, &message),
            ));
        } else if self.should_commit(&settings, &place, folder.is_some()) {
            app.warn_at_end(versions::take_warning(
                &place,
                GitVersions::commit(&place, &message),
            ));
        }
        if app.output.is_json() {
            return app.output.json(&json::added_entries(&entries));
        }
        for entry in &entries {
            app.output.fields(&[
                entry.id.as_str(),
                entry.conversation.as_str(),
                &entry.content,
            ])?;
        }
        let default = ConversationId::default_conversation();
        if self.conversation_id.is_none() && folder.is_none() && !self.facts.is_empty() {
            app.output.note(&format!(
                "stored as facts of the conversation {default}, found by `memory search --scope conversation:{default}`; `memory write` stores a text for all agents"
            ))?;
        }
        Ok(())
    }

    fn conversation(&self) -> ConversationId {
        self.conversation_id
            .clone()
            .unwrap_or_else(ConversationId::default_conversation)
    }

    fn read_facts(&self, app: &mut App) -> Result<Vec<FactInput>, Failure> {
        let is_piped = self.facts.is_empty() && self.file.is_none();
        let piped = if is_piped {
            args::or_stdin(None, &app.output)
        } else {
            None
        };
        let text = match &self.file {
            Some(file) if file.as_os_str() != "-" => {
                let bytes = std::fs::read(file)
                    .map_err(Failure::file(format!("read {}", file.display())))?;
                let not_text = |_| {
                    Failure::usage(
                        format!("{} is not valid UTF-8", file.display()),
                        "convert it with `iconv -t utf-8`",
                    )
                };
                Some(String::from_utf8(bytes).map_err(not_text)?)
            }
            Some(_) => Some(args::read_content("-", &mut app.output)?),
            None => piped
                .map(|piped| args::read_content(piped, &mut app.output))
                .transpose()?,
        };
        let mut given = text.map_or_else(
            || Ok(Vec::new()),
            |text| parse_facts(&text, &self.conversation()),
        )?;
        let typed = self.facts.iter().map(|fact| FactInput {
            content: fact.clone(),
            conversation: self.conversation(),
        });
        given.extend(typed);
        given.retain(|given| !given.content.trim().is_empty());
        Ok(given)
    }

    fn should_commit(&self, settings: &Settings, place: &Path, is_given: bool) -> bool {
        let by_itself = || {
            settings.proxy.enable_git_versioning.value && (is_given || place.join(".git").exists())
        };
        !self.no_git_versioning && (self.git_versioning || by_itself())
    }
}

/// Opens the conversations in a folder, without an embedder, a reranker or a language model.
fn open_conversations(settings: &Settings, place: &Path) -> Result<Conversations, Failure> {
    let store = std::sync::Arc::new(conversations::open(settings, place)?);
    Ok(Conversations {
        store,
        clock: settings.clock(),
        ids: std::sync::Arc::new(RandomIds),
        embedder: None,
        reranker: None,
        chat: None,
    })
}

/// Groups facts by conversation. Conversations and facts retain the order of the input.
fn group_by_conversation(given: Vec<FactInput>) -> Vec<(ConversationId, Vec<String>)> {
    let mut all: Vec<(ConversationId, Vec<String>)> = Vec::new();
    for FactInput {
        content,
        conversation,
    } in given
    {
        match all.iter_mut().find(|(own, _)| *own == conversation) {
            Some((_, facts)) => facts.push(content),
            None => all.push((conversation, vec![content])),
        }
    }
    all
}

/// A fact and its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FactInput {
    /// The text of the fact.
    pub(super) content: String,
    /// The conversation that the fact is added to.
    pub(super) conversation: ConversationId,
}

/// Parses facts from a JSON list, a JSON object with a list under `memories`, or lines of text.
///
/// In lines of text, list markers such as `-` and `1.` are removed. A fact without a conversation of its own belongs to `conversation`.
pub(super) fn parse_facts(
    text: &str,
    conversation: &ConversationId,
) -> Result<Vec<FactInput>, Failure> {
    let own = |content: &str| FactInput {
        content: content.to_owned(),
        conversation: conversation.clone(),
    };
    let trimmed = text.trim();
    let list = match serde_json::from_str(trimmed) {
        Ok(Value::Array(list)) => list,
        Ok(Value::Object(mut map)) => match map.remove("memories") {
            Some(Value::Array(list)) => list,
            _ => return Err(format_error("an object without a list under memories")),
        },
        _ => {
            return Ok(trimmed
                .lines()
                .map(|line| own(strip_list_marker(line.trim())))
                .collect());
        }
    };
    list.iter()
        .map(|item| parse_fact(item, conversation))
        .collect()
}

fn parse_fact(item: &Value, conversation: &ConversationId) -> Result<FactInput, Failure> {
    let content = item.as_str().or_else(|| item.get("content")?.as_str());
    let content = content
        .ok_or_else(|| {
            format_error(
                "an item that is neither a string nor an object with a string under content",
            )
        })?
        .to_owned();
    let conversation = match item.get("conversation_id") {
        None | Some(Value::Null) => conversation.clone(),
        Some(Value::String(id)) => id
            .parse::<ConversationId>()
            .map_err(|error| format_error(&error.to_string()))?,
        Some(_) => return Err(format_error("a conversation_id that is not a string")),
    };
    Ok(FactInput {
        content,
        conversation,
    })
}

fn format_error(what: &str) -> Failure {
    Failure::usage(
        format!("invalid list of facts: it contains {what}"),
        "write [\"a fact\", {\"content\": \"a fact\", \"conversation_id\": \"work\"}], or one fact per line",
    )
}

/// Removes the list marker at the start of a line: `-`, `*`, `+`, or a number with a dot.
fn strip_list_marker(line: &str) -> &str {
    let rest = line.strip_prefix(['-', '*', '+']).or_else(|| {
        let rest = line.trim_start_matches(|character: char| character.is_ascii_digit());
        if rest.len() < line.len() {
            rest.strip_prefix('.')
        } else {
            None
        }
    });
    rest.filter(|rest| rest.starts_with([' ', '\t']))
        .map_or(line, str::trim_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Vec<String> {
        let given = parse_facts(text, &ConversationId::default_conversation()).unwrap_or_default();
        given
            .into_iter()
            .map(|given| format!("{}: {}", given.conversation, given.content))
            .collect()
    }

    #[test]
    fn lists_are_read_in_every_form() {
        let expected = ["default: likes tea", "work: due on Friday"];
        let objects = r#"["likes tea", {"content": "due on Friday", "conversation_id": "work"}]"#;
        assert_eq!(facts(objects), expected);
        assert_eq!(facts(&format!("{{\"memories\": {objects}}}\n")), expected);
        assert_eq!(
            facts("- likes tea\n\n  2. has a dog\n3.5 metres\n-5 degrees\n"),
            [
                "default: likes tea",
                "default: ",
                "default: has a dog",
                "default: 3.5 metres",
                "default: -5 degrees"
            ]
        );
    }

    #[test]
    fn what_is_no_list_of_facts_is_refused() {
        for text in [
            "{\"facts\": []}",
            "[3]",
            "[{\"text\": \"x\"}]",
            "[{\"content\": \"x\", \"conversation_id\": 3}]",
        ] {
            assert!(
                parse_facts(text, &ConversationId::default_conversation()).is_err(),
                "{text}"
            );
        }
    }
}
