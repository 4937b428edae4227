//! Selects the tools that are offered, and their names.

use std::str::FromStr;
use std::sync::Arc;

use memory_core::{Code, Effect, Tool, ToolContext, ToolError};
use serde_json::Value;

use super::{DEFAULT, DEFAULT_FOR_MODELS, all, instance};
use crate::instance::OpenInstances;

/// The selection of tools that are offered, and their names.
///
/// Its text form is a comma-separated list of: `usual` (all note and bank tools may be called, [`DEFAULT`] are listed for
/// programs and [`DEFAULT_FOR_MODELS`] for models),
/// `all` (all are listed), the name of a set (`memory`, `bank`, `topic`, `memory_20250818`, `history`, `kv`), a set
/// with another prefix (`bank=memory_`), or the name of a tool.
///
/// ```
/// use memory_agent::ToolSelection;
///
/// let selection: ToolSelection = "bank=memory_".parse()?;
/// # Ok::<(), memory_core::ToolError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSelection {
    parts: Vec<SelectionItem>,
    /// Whether only listed tools may be called.
    is_listed_only: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SelectionItem {
    Usual,
    All,
    Set { set: ToolSet, prefix: String },
    Tool(String),
}

/// A set of related tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSet {
    /// The note tools, `memory_*`.
    Memory,
    /// The bank tools, `bank_*`.
    Bank,
    /// The topic tools, `topic_*`.
    Topic,
    /// The file tool `memory`, which the Messages API calls `memory_20250818`.
    Files,
    /// The session tools, `history_*`.
    History,
    /// The key-value tools, `kv_*`.
    Kv,
}

impl ToolSet {
    const ALL: [Self; 6] = [
        Self::Memory,
        Self::Bank,
        Self::Topic,
        Self::Files,
        Self::History,
        Self::Kv,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Bank => "bank",
            Self::Topic => "topic",
            Self::Files => "memory_20250818",
            Self::History => "history",
            Self::Kv => "kv",
        }
    }

    /// Returns the name prefix of the tools; the whole name, if the set has a single tool.
    fn prefix(self) -> String {
        match self {
            Self::Files => "memory".to_owned(),
            Self::Memory | Self::Bank | Self::Topic | Self::History | Self::Kv => {
                format!("{}_", self.name())
            }
        }
    }

    fn contains(self, tool: &str) -> bool {
        match self {
            Self::Files => tool == self.prefix(),
            Self::Memory | Self::Bank | Self::Topic | Self::History | Self::Kv => {
                tool.starts_with(&self.prefix())
            }
        }
    }

    /// Returns whether the tools may be called without being selected.
    const fn is_default(self) -> bool {
        matches!(self, Self::Memory | Self::Bank)
    }
}

impl ToolSelection {
    /// Selects all note and bank tools, and lists [`DEFAULT`] for programs and [`DEFAULT_FOR_MODELS`] for models.
    ///
    /// Sessions may be private, and topics are stored in a project; their tools are only offered if they are selected.
    pub fn default_tools() -> Self {
        Self {
            parts: vec![SelectionItem::Usual],
            is_listed_only: false,
        }
    }

    /// Selects and lists all tools.
    pub fn all() -> Self {
        Self {
            parts: vec![SelectionItem::All],
            is_listed_only: false,
        }
    }

    /// Forbids calls of tools that are not listed.
    #[must_use]
    pub fn listed_only(self) -> Self {
        Self {
            is_listed_only: true,
            ..self
        }
    }
}

impl Default for ToolSelection {
    fn default() -> Self {
        Self::default_tools()
    }
}

impl FromStr for ToolSelection {
    type Err = ToolError;

    fn from_str(text: &str) -> Result<Self, ToolError> {
        let tools: Vec<String> = all()
            .iter()
            .map(|tool| tool.name().to_owned())
            .chain(instance::tool_names())
            .collect();
        let part = |word: &str| {
            let (name, prefix) = word
                .split_once('=')
                .map_or((word, None), |(name, prefix)| (name, Some(prefix)));
            let set = ToolSet::ALL.into_iter().find(|set| set.name() == name);
            match (name, set, prefix) {
                ("usual", None, None) => Ok(SelectionItem::Usual),
                ("all", None, None) => Ok(SelectionItem::All),
                (_, Some(set), None) => Ok(SelectionItem::Set {
                    set,
                    prefix: set.prefix(),
                }),
                (_, Some(set), Some(prefix)) if is_tool_name(prefix) => Ok(SelectionItem::Set {
                    set,
                    prefix: prefix.to_owned(),
                }),
                (_, None, None) if tools.iter().any(|tool| tool == name) => {
                    Ok(SelectionItem::Tool(name.to_owned()))
                }
                _ => Err(not_found(word)),
            }
        };
        let parts = text
            .split(',')
            .map(|word| part(word.trim()))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            parts,
            is_listed_only: false,
        })
    }
}

/// Returns whether `name` is a valid name of a tool, or the start of one.
pub(crate) fn is_tool_name(name: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.bytes().all(is_fine)
}

/// Returns the error for an unknown tool.
pub(crate) fn not_found(name: &str) -> ToolError {
    let message = format!(
        "no tool is named {}",
        memory_core::text::to_one_line(name, 80)
    );
    ToolError::new(
        Code::ToolNotFound,
        message,
        Some("`memory agent --list-tools --tools all` lists them".into()),
    )
}

/// The services that exist in addition to notes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AvailableServices {
    pub banks: bool,
    pub topics: bool,
}

/// Whether a tool is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ToolListing {
    /// For programs.
    pub programs: bool,
    /// For models.
    pub models: bool,
}

impl ToolListing {
    /// Everywhere.
    pub(crate) const FULL: Self = Self {
        programs: true,
        models: true,
    };

    /// The listing of a note or bank tool by default.
    fn usual(tool: &str) -> Self {
        Self {
            programs: DEFAULT.contains(&tool),
            models: DEFAULT_FOR_MODELS.contains(&tool),
        }
    }

    const fn is_anywhere(self) -> bool {
        self.programs || self.models
    }
}

/// A tool, its listing, and its original name.
type SelectedTool = (Arc<dyn Tool>, ToolListing, String);

/// Returns the tools of `offer`, each with its listing.
///
/// Bank, topic and instance tools are left out if the corresponding service does not exist.
///
/// # Errors
/// If two tools would have the same name.
pub(crate) fn select_tools(
    offer: &ToolSelection,
    there: AvailableServices,
    instances: Option<&Arc<OpenInstances>>,
) -> Result<Vec<SelectedTool>, ToolError> {
    let is_there = |tool: &str| {
        (there.banks || !ToolSet::Bank.contains(tool))
            && (there.topics || !(ToolSet::Topic.contains(tool) || ToolSet::Files.contains(tool)))
    };
    let own = all().into_iter().filter(|tool| is_there(tool.name()));
    let tools: Vec<_> = own
        .chain(instances.map(instance::instance_tools).unwrap_or_default())
        .collect();
    let mut offered: Vec<SelectedTool> = Vec::new();
    let mut put =
        |tool: Arc<dyn Tool>, listing: ToolListing, renamed_from: Option<&str>| match offered
            .iter_mut()
            .find(|(other, ..)| other.name() == tool.name())
        {
            Some(_) if renamed_from.is_some() => Err(duplicate_name(
                tool.name(),
                "select only one of the two sets, or use another prefix",
            )),
            Some((_, known, _)) => {
                known.programs |= listing.programs;
                known.models |= listing.models;
                Ok(())
            }
            None => {
                let own_name = renamed_from.unwrap_or(tool.name()).to_owned();
                offered.push((tool, listing, own_name));
                Ok(())
            }
        };
    for part in &offer.parts {
        for tool in &tools {
            let name = tool.name();
            match part {
                SelectionItem::Usual
                    if ToolSet::ALL
                        .into_iter()
                        .any(|set| !set.is_default() && set.contains(name)) => {}
                SelectionItem::Usual => put(Arc::clone(tool), ToolListing::usual(name), None)?,
                SelectionItem::All => put(Arc::clone(tool), ToolListing::FULL, None)?,
                SelectionItem::Set { set, prefix } if set.contains(name) => {
                    let renamed = format!("{prefix}{}", &name[set.prefix().len()..]);
                    if renamed == name {
                        put(Arc::clone(tool), ToolListing::FULL, None)?;
                    } else {
                        put(
                            Arc::new(RenamedTool {
                                tool: Arc::clone(tool),
                                name: renamed,
                            }),
                            ToolListing::FULL,
                            Some(name),
                        )?;
                    }
                }
                SelectionItem::Tool(wanted) if wanted == name => {
                    put(Arc::clone(tool), ToolListing::FULL, None)?;
                }
                SelectionItem::Set { .. } | SelectionItem::Tool(_) => {}
            }
        }
    }
    if offer.is_listed_only {
        offered.retain(|(_, listing, _)| listing.is_anywhere());
        // A program that selected the tools sees all that it may call.
        for (_, listing, _) in &mut offered {
            listing.programs = true;
        }
    }
    Ok(offered)
}

/// Returns the error for two tools with the same name.
pub(crate) fn duplicate_name(name: &str, hint: &str) -> ToolError {
    ToolError::new(
        Code::InvalidInput,
        format!("two tools would be named {name}"),
        Some(hint.to_owned()),
    )
}

/// A tool with another name.
#[derive(Debug)]
struct RenamedTool {
    tool: Arc<dyn Tool>,
    name: String,
}

impl Tool for RenamedTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        self.tool.description()
    }

    fn parameters(&self) -> Value {
        self.tool.parameters()
    }

    fn effect(&self) -> Effect {
        self.tool.effect()
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        self.tool.execute(context, parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed_where(
        words: &str,
        is_listed: fn(ToolListing) -> bool,
    ) -> Result<Vec<String>, ToolError> {
        let offered = select_tools(
            &words.parse()?,
            AvailableServices {
                banks: true,
                topics: true,
            },
            None,
        )?;
        Ok(offered
            .into_iter()
            .filter(|(_, listing, _)| is_listed(*listing))
            .map(|(tool, ..)| tool.name().to_owned())
            .collect())
    }

    fn listed(words: &str) -> Result<Vec<String>, ToolError> {
        listed_where(words, |listing| listing.programs)
    }

    #[test]
    fn programs_and_models_have_different_usual_tools() {
        assert_eq!(listed("usual").unwrap(), DEFAULT);
        let for_models = |words| listed_where(words, |listing| listing.models).unwrap();
        assert_eq!(for_models("usual"), DEFAULT_FOR_MODELS);
        assert_eq!(for_models("all"), listed("all").unwrap());
        assert!(
            for_models("usual,memory_smart_search").contains(&"memory_smart_search".to_owned())
        );
    }

    #[test]
    fn words_say_which_tools_are_listed_and_under_which_names() {
        assert_eq!(
            listed("usual").unwrap(),
            listed(&DEFAULT.join(",")).unwrap()
        );
        assert_eq!(listed("usual,bank").unwrap().len(), DEFAULT.len() + 7);
        let banks = [
            "read", "write", "update", "delete", "list", "query", "search",
        ];
        assert_eq!(
            listed("bank=memory_").unwrap(),
            banks.map(|name| format!("memory_{name}"))
        );
        assert_eq!(
            listed("bank = x-").err().map(|error| error.code),
            Some(Code::ToolNotFound)
        );
        assert_eq!(
            listed("bank_read, memory_undo").unwrap(),
            ["bank_read", "memory_undo"]
        );
        for wrong in [
            "", "usual,", "nothing", "bank=a b", "bank=", "bank=1x", "usual=x",
        ] {
            assert_eq!(
                listed(wrong).unwrap_err().code,
                Code::ToolNotFound,
                "{wrong}"
            );
        }
        let topics = ["view", "read", "write", "update", "delete"];
        assert_eq!(
            listed("topic").unwrap(),
            topics.map(|name| format!("topic_{name}"))
        );
        assert_eq!(
            listed("topic=memory_").unwrap(),
            topics.map(|name| format!("memory_{name}"))
        );
        assert_eq!(
            listed("usual,bank=memory_").unwrap_err().code,
            Code::InvalidInput
        );
    }

    #[test]
    fn what_is_named_alone_is_all_that_may_be_called() {
        let names = |words: &str, banks| -> Vec<String> {
            select_tools(
                &words.parse().unwrap(),
                AvailableServices {
                    banks,
                    topics: true,
                },
                None,
            )
            .unwrap()
            .into_iter()
            .map(|(tool, ..)| tool.name().to_owned())
            .collect()
        };
        assert_eq!(names("bank_read", true), ["bank_read"]);
        // Bank and topic tools are not included unless they are selected.
        assert_eq!(names("usual", true).len(), all().len() - 6);
        assert_eq!(names("usual", false).len(), all().len() - 6 - 7);
        let listed_only = "usual".parse::<ToolSelection>().unwrap().listed_only();
        assert_eq!(
            select_tools(
                &listed_only,
                AvailableServices {
                    banks: true,
                    topics: true
                },
                None
            )
            .unwrap()
            .len(),
            DEFAULT_FOR_MODELS.len() + 1
        );
        assert_eq!(names("memory_20250818", true), ["memory"]);
        assert_eq!(names("memory_20250818=files", true), ["files"]);
    }
}
