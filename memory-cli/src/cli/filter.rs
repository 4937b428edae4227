//! Command-line flags that select memories.

use clap::Args;
use memory_core::{Category, Filter, Lifetime, Phase, Place, Scope};

use super::values;
use crate::moments::Day;

/// Which memories are meant, as flags.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    /// Only this phase: inbox or organized
    #[arg(long, value_parser = values::phase(), ignore_case = true, hide_possible_values = true)]
    phase: Option<Phase>,
    /// Only this category
    #[arg(long, value_parser = values::category(), ignore_case = true)]
    category: Option<Category>,
    /// Only this scope: global, agent:NAME, project:NAME or conversation:ID
    #[arg(long)]
    scope: Option<Scope>,
    /// Only what came from this program
    #[arg(long)]
    source: Option<String>,
    /// Only what carries all of these tags, with commas between them; a/b also counts as a
    #[arg(long, value_delimiter = ',')]
    tags: Vec<String>,
    /// Only what was created on this day or later
    #[arg(long, value_name = "YYYY-MM-DD")]
    from: Option<Day>,
    /// Only what was created on this day or earlier
    #[arg(long, value_name = "YYYY-MM-DD")]
    to: Option<Day>,
}

impl FilterArgs {
    /// Returns the filter for memories outside of conversations, unless `--scope` or `--source` is set.
    pub(crate) fn of_notes(&self, lifetime: Lifetime) -> Filter {
        let says_where = self.scope.is_some() || self.source.is_some();
        Filter { place: (!says_where).then_some(Place::Notes), ..self.filter(lifetime) }
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
            from: self.from.map(Day::start),
            until: self.to.map(Day::end),
            standing: false,
            lifetime,
        }
    }
}
