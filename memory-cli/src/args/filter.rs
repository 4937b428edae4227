//! Command-line flags that select memories.

use clap::Args;
use memory_core::{Category, Filter, HomeSection, Lifetime, Phase, Scope};

use super::values;
use crate::datetime::LocalDay;

/// The flags that select memories.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    /// Select this phase: inbox or organized
    #[arg(long, value_parser = values::phase_parser(), ignore_case = true, hide_possible_values = true)]
    phase: Option<Phase>,
    /// Select this category
    #[arg(long, value_parser = values::category_parser(), ignore_case = true)]
    category: Option<Category>,
    /// Select this scope: global, agent:NAME, project:NAME or conversation:ID
    #[arg(long)]
    scope: Option<Scope>,
    /// Select memories from this source program
    #[arg(long)]
    source: Option<String>,
    /// Select memories with all these comma-separated tags; tag a/b also matches a
    #[arg(long, value_delimiter = ',')]
    tags: Vec<String>,
    /// Select memories created on or after this day
    #[arg(long, value_name = "YYYY-MM-DD")]
    from: Option<LocalDay>,
    /// Select memories created on or before this day
    #[arg(long, value_name = "YYYY-MM-DD")]
    to: Option<LocalDay>,
}

impl FilterArgs {
    /// Returns the filter for memories outside of conversations, unless `--scope` or `--source` is set.
    pub(crate) fn notes_filter(&self, lifetime: Lifetime) -> Filter {
        let says_where = self.scope.is_some() || self.source.is_some();
        Filter { place: (!says_where).then_some(HomeSection::Notes), ..self.filter(lifetime) }
    }

    /// Returns the filter of the flags.
    pub(crate) fn filter(&self, lifetime: Lifetime) -> Filter {
        Filter {
            phase: self.phase,
            category: self.category,
            scope: self.scope.clone(),
            within: None,
            source: self.source.clone(),
            place: None,
            tags: self.tags.iter().collect(),
            from: self.from.map(LocalDay::start),
            until: self.to.map(LocalDay::end),
            standing: None,
            lifetime,
        }
    }
}
