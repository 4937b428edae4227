//! Parameters that several tools share.

use memory_core::{Filter, Lifetime, Scope, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::input::{invalid, parse_field, parse_period};

/// The filter parameters of a tool, which are flattened into its other parameters.
///
/// Serde cannot refuse unknown fields of a flattened type; the check against the schema does.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct FilterInput {
    #[serde(default)]
    tags: Vec<String>,
    #[schemars(description = "as in memory_write")]
    category: Option<String>,
    /// global, project or agent
    scope: Option<String>,
    /// inbox: new, unsorted
    #[schemars(extend("enum" = ["inbox", "organized"]))]
    phase: Option<String>,
    /// program that wrote it
    source: Option<String>,
    /// YYYY-MM-DD
    from: Option<String>,
    to: Option<String>,
}

impl FilterInput {
    /// Converts the parameters into a filter.
    pub(super) fn to_filter(&self, context: &ToolContext) -> Result<Filter, ToolError> {
        let start = |text: &str| parse_period(context, "from", text).map(|(start, _)| start);
        let end = |text: &str| parse_period(context, "to", text).map(|(_, end)| end);
        Ok(Filter {
            phase: parse_field("phase", self.phase.as_deref())?,
            category: parse_field("category", self.category.as_deref())?,
            scope: parse_scope(context, self.scope.as_deref())?,
            source: self.source.clone(),
            tags: self.tags.iter().collect(),
            from: self.from.as_deref().map(start).transpose()?,
            until: self.to.as_deref().map(end).transpose()?,
            standing: None,
            lifetime: Lifetime::Current,
            ..Filter::default()
        })
    }
}

/// Parses a scope; `agent` and `project` denote those of the caller.
pub(super) fn parse_scope(
    context: &ToolContext,
    text: Option<&str>,
) -> Result<Option<Scope>, ToolError> {
    let missing = |what: &str, hint: &str| {
        invalid(format!("scope: the caller has no {what}")).with_hint(hint.to_owned())
    };
    match text.map(|text| text.trim().to_lowercase()).as_deref() {
        Some("agent") => match &context.caller.agent {
            Some(agent) => Ok(Some(Scope::Agent(agent.as_str().to_owned()))),
            None => Err(missing("name", "use global or project")),
        },
        Some("project") => match &context.caller.project {
            Some(project) => Ok(Some(Scope::Project(project.clone()))),
            None => Err(missing(
                "project",
                "use global for what holds everywhere, or make the folder a project: memory project bind",
            )),
        },
        _ => parse_field("scope", text)
            .map_err(|error| error.with_hint("use global, project or agent")),
    }
}

/// The parameters of a tool that takes one memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IdInput {
    pub(super) id: String,
}

/// Maximum number of results per call; a larger limit counts as this one.
pub(super) const MAX_RESULTS: usize = 1_000;
