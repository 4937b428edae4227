//! What a language model is told to do.

/// What a language model is told to do, for each thing it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    /// To draw facts from what the person said.
    pub facts: String,
    /// To say what becomes of known facts and new ones.
    pub reconcile: String,
    /// To bring the summary up to date.
    pub summary: String,
}

impl Default for Prompts {
    fn default() -> Self {
        let text = |text: &str| text.trim_end().to_owned();
        Self {
            facts: text(include_str!("prompts/facts.md")),
            reconcile: text(include_str!("prompts/reconcile.md")),
            summary: text(include_str!("prompts/summary.md")),
        }
    }
}

impl Prompts {
    /// Returns what `read` has for each of the names `facts`, `reconcile` and `summary`, such as what a file of that name in the home says;
    /// and the usual where it has nothing, or nothing but blanks.
    pub fn with(read: &dyn Fn(&str) -> Option<String>) -> Self {
        let usual = Self::default();
        let said = |name: &str, usual: String| read(name).filter(|text| !text.trim().is_empty()).unwrap_or(usual);
        Self {
            facts: said("facts", usual.facts),
            reconcile: said("reconcile", usual.reconcile),
            summary: said("summary", usual.summary),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_wrote_takes_the_place_of_the_usual() {
        let own = |name: &str| match name {
            "facts" => Some("Mine.".to_owned()),
            "summary" => Some(" \n".to_owned()),
            _ => None,
        };
        assert_eq!(Prompts::with(&own), Prompts { facts: "Mine.".into(), ..Prompts::default() });
    }
}
