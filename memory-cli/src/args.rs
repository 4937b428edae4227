//! Arguments that several commands share.

use std::io::{self, Read};
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use memory_agent::ToolSelection;
use memory_agent::http::AccessToken;
use memory_core::{
    AgentName, Category, Filter, HomeSection, Lifetime, ListOrder, MAX_INPUT_SIZE, MemoryId,
    MemoryStoreExt, ParseError, Phase, ProposalFilter, Scope, Services, StoreError, ToolError,
};
use memory_ingest::SourceName;
use memory_ingest::export::ExportFormatName;

use crate::config::Environment;
use crate::datetime::NamedPeriod;
use crate::failure::Failure;
use crate::install::Client;
use crate::print::Output;
use crate::project::parse_project;
use crate::zone::UserTimeZone;

/// The flags that select memories.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    /// Select this phase: inbox or organized
    #[arg(long, value_parser = phase_parser(), ignore_case = true, hide_possible_values = true)]
    phase: Option<Phase>,
    /// Select this category
    #[arg(long, value_parser = category_parser(), ignore_case = true)]
    category: Option<Category>,
    /// Select this scope: global, agent:NAME, project:NAME, private:NAME, team:NAME or conversation:ID
    #[arg(long)]
    scope: Option<Scope>,
    /// Select memories from this source program
    #[arg(long)]
    source: Option<String>,
    /// Select memories with all these comma-separated tags; tag a/b also matches a
    #[arg(long, value_delimiter = ',', value_parser = list_item)]
    tags: Vec<String>,
    /// Select memories created on or after this day: YYYY-MM-DD, a time, or words such as "last monday"
    #[arg(long, value_name = "WHEN")]
    from: Option<NamedPeriod>,
    /// Select memories created on or before this day
    #[arg(long, value_name = "WHEN")]
    to: Option<NamedPeriod>,
}

impl FilterArgs {
    /// Returns the filter for memories outside of conversations, unless `--scope` or `--source` is set.
    pub(crate) fn notes_filter(
        &self,
        lifetime: Lifetime,
        now: &DateTime<UserTimeZone>,
    ) -> Result<Filter, Failure> {
        let says_where = self.scope.is_some() || self.source.is_some();
        Ok(Filter {
            place: (!says_where).then_some(HomeSection::Notes),
            ..self.filter(lifetime, now)?
        })
    }

    /// Returns the filter of the flags; words for times are relative to `now`.
    pub(crate) fn filter(
        &self,
        lifetime: Lifetime,
        now: &DateTime<UserTimeZone>,
    ) -> Result<Filter, Failure> {
        let [from, until] = resolve_bounds(self.from.as_ref(), self.to.as_ref(), now)?;
        Ok(Filter {
            phase: self.phase,
            category: self.category,
            scope: self.scope.clone(),
            within: None,
            source: self.source.clone(),
            place: None,
            tags: self.tags.iter().collect(),
            from,
            until,
            standing: None,
            lifetime,
            proposals: ProposalFilter::Exclude,
        })
    }
}

/// Parses an item of a comma-separated list, without the brackets and quotation marks of a list as JSON.
#[expect(clippy::unnecessary_wraps, reason = "clap calls it as a parser")]
pub(crate) fn list_item(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(text.trim().trim_matches(['[', ']', '"']).trim().to_owned())
}

/// Returns the times of the flags `--from` and `--to`.
pub(crate) fn resolve_bounds(
    from: Option<&NamedPeriod>,
    to: Option<&NamedPeriod>,
    now: &DateTime<UserTimeZone>,
) -> Result<[Option<DateTime<Utc>>; 2], Failure> {
    let from = from.map(|period| period.start(now)).transpose();
    let from = from.map_err(|error| wrong_value("--from", &error))?;
    let to = to.map(|period| period.end(now)).transpose();
    let to = to.map_err(|error| wrong_value("--to", &error))?;
    Ok([from, to])
}

/// Returns the failure for the value of a flag that depends on the time.
pub(crate) fn wrong_value(flag: &str, error: &ParseError) -> Failure {
    Failure::usage(
        format!("{flag}: {error}"),
        "`memory when TEXT` shows how words for a time are read",
    )
}

/// The flags that name the agent, its project and its tools.
#[derive(Debug, Clone, Args)]
pub(crate) struct SpeakerArgs {
    /// Name of the calling agent; it sees global memories, its own (agent:NAME) and those of its project
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
    /// Project of the agent [default: the git repository around the current folder]
    #[arg(long, value_name = "NAME", value_parser = parse_project)]
    project: Option<String>,
    /// Restrict the agent to these comma-separated tools
    ///
    /// usual, all, a set (memory, bank, topic, memory_20250818, history, kv), a set with another prefix (bank=memory_), or
    /// tool names. By default the usual tools are listed, and all tools of memories and banks can be called.
    #[arg(long, value_name = "TOOLS", value_parser = parse_tool_selection)]
    tools: Option<ToolSelection>,
    /// Folder of the topics [default: .memory of the project]
    #[arg(long, value_name = "DIR")]
    topics: Option<PathBuf>,
}

impl SpeakerArgs {
    /// Returns the agent from `--agent`.
    pub(crate) fn agent(&self) -> Option<AgentName> {
        self.agent.clone()
    }

    /// Returns whether `--agent` or `--project` is set.
    pub(crate) fn is_given(&self) -> bool {
        self.agent.is_some() || self.project.is_some()
    }

    /// Returns the project from `--project`.
    pub(crate) fn project(&self) -> Option<String> {
        self.project.clone()
    }

    /// Returns the folder of the topics from its flag.
    pub(crate) fn topics(&self) -> Option<PathBuf> {
        self.topics.clone()
    }

    /// Returns the tools that the agent may use.
    pub(crate) fn tool_selection(&self) -> ToolSelection {
        self.tools
            .clone()
            .map_or_else(ToolSelection::default_tools, ToolSelection::listed_only)
    }
}

fn parse_tool_selection(text: &str) -> Result<ToolSelection, String> {
    text.parse().map_err(|error: ToolError| match error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message,
    })
}

/// The flag for the access token of an HTTP server.
#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// Require this token in HTTP requests; better set MEMO_AUTH_TOKEN, as other users can see arguments
    ///
    /// Clients send it as Authorization: Bearer TOKEN. GET /v1/health of a server with instances only needs no token.
    /// Without a token, only your own programs on this machine have access.
    #[arg(long, value_name = "TOKEN")]
    auth_token: Option<String>,
}

impl TokenArgs {
    /// Returns the token of the flag, else that of the environment.
    pub(crate) fn token(&self, environment: &Environment) -> Result<Option<AccessToken>, Failure> {
        let given = match &self.auth_token {
            Some(typed) => Some(("--auth-token", AccessToken::new(typed.clone()).ok_or(()))),
            None => environment
                .memo_auth_token
                .clone()
                .map(|token| ("MEMO_AUTH_TOKEN", token)),
        };
        let Some((from, token)) = given else {
            return Ok(None);
        };
        let refused = |()| {
            Failure::usage(
                format!("{from} is not a valid token"),
                "a token consists of visible ASCII characters without spaces",
            )
        };
        token.map(Some).map_err(refused)
    }
}

/// Returns the text of an argument; `-` reads the standard input, without its final line break.
pub(crate) fn read_content(given: &str, output: &mut Output) -> Result<String, Failure> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut bytes = Vec::new();
    let mut input = output.input().take(MAX_INPUT_SIZE as u64 + 1);
    input
        .read_to_end(&mut bytes)
        .map_err(Failure::file("read the standard input"))?;
    if MAX_INPUT_SIZE < bytes.len() {
        return Err(Failure::File {
            action: "read the standard input".into(),
            source: io::ErrorKind::FileTooLarge.into(),
        });
    }
    let mut text = String::from_utf8(bytes).map_err(|_| {
        Failure::usage(
            "the standard input is not valid UTF-8",
            "convert it, for example with `iconv -t utf-8`, and try again",
        )
    })?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

/// Returns the memories that `references` name.
pub(crate) fn find_all(
    references: &[String],
    services: &Services,
) -> Result<Vec<MemoryId>, StoreError> {
    let found = references
        .iter()
        .map(|reference| services.store.find(reference));
    found.collect()
}

/// Returns the maximum number of a limit, of which 0 means none.
pub(crate) fn max_count(limit: usize) -> usize {
    if limit == 0 { usize::MAX } else { limit }
}

/// Joins words that were typed without quotes into a text.
pub(crate) fn join_words(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| words.join(" "))
}

/// Returns the argument, else `-` if the standard input is not a terminal.
pub(crate) fn or_stdin<'a>(given: Option<&'a str>, output: &Output) -> Option<&'a str> {
    given.or_else(|| (!output.input_is_terminal()).then_some("-"))
}

/// Returns a parser that accepts `words`, for shell completion, and converts them with `parse`.
pub(crate) fn one_of_parser<T: Clone + Send + Sync + 'static>(
    words: impl IntoIterator<Item = &'static str>,
    parse: impl Fn(&str) -> Option<T> + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words)
        .map(move |word| parse(&word).expect("every word of the list has a meaning"))
}

/// Returns a parser for a number from 0 to 1.
pub(crate) fn share_parser() -> impl TypedValueParser<Value = f32> {
    let parse = |text: &str| {
        text.parse::<f32>()
            .ok()
            .filter(|share| (0.0..=1.0).contains(share))
    };
    clap::builder::StringValueParser::new()
        .try_map(move |text| parse(&text).ok_or("not a number from 0 to 1"))
}

/// Returns a parser for a category.
pub(crate) fn category_parser() -> impl TypedValueParser<Value = Category> {
    one_of_parser(Category::ALL.map(Category::as_str), |word| {
        word.parse().ok()
    })
}

/// Returns a parser for a phase.
pub(crate) fn phase_parser() -> impl TypedValueParser<Value = Phase> {
    one_of_parser(
        [Phase::Inbox, Phase::Organized].map(Phase::as_str),
        |word| word.parse().ok(),
    )
}

/// Returns a parser for the order of a list.
pub(crate) fn order_parser() -> impl TypedValueParser<Value = ListOrder> {
    const ORDERS: [(&str, ListOrder); 4] = [
        ("created", ListOrder::Created),
        ("updated", ListOrder::Updated),
        ("accessed", ListOrder::Accessed),
        ("title", ListOrder::Title),
    ];
    one_of_parser(ORDERS.map(|(word, _)| word), |word| {
        ORDERS
            .into_iter()
            .find(|(own, _)| *own == word)
            .map(|(_, order)| order)
    })
}

/// Returns a parser for the name of a client.
pub(crate) fn client_parser() -> impl TypedValueParser<Value = &'static Client> {
    one_of_parser(Client::ALL.map(|client| client.name), Client::named)
}

/// One source of notes, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceSelection {
    /// All sources.
    All,
    /// One source.
    One(SourceName),
}

/// Returns a parser for the format of an export.
pub(crate) fn export_format_parser() -> impl TypedValueParser<Value = ExportFormatSelection> {
    let words = ["jsonl"]
        .into_iter()
        .chain(ExportFormatName::ALL.iter().map(|format| format.as_str()));
    one_of_parser(words, |word| match word {
        "jsonl" => Some(ExportFormatSelection::JsonLines),
        _ => word.parse().ok().map(ExportFormatSelection::Other),
    })
}

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExportFormatSelection {
    /// One memory per line, as JSON.
    JsonLines,
    /// The format of another program.
    Other(ExportFormatName),
}

/// Returns a parser for the name of a source of notes, or `all`.
pub(crate) fn sources_parser() -> impl TypedValueParser<Value = SourceSelection> {
    let words = SourceName::ALL
        .iter()
        .map(|source| source.as_str())
        .chain(["all"]);
    one_of_parser(words, |word| {
        if word == "all" {
            Some(SourceSelection::All)
        } else {
            word.parse().ok().map(SourceSelection::One)
        }
    })
}
