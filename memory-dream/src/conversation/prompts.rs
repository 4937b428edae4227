//! The system prompts for conversation processing.

/// The system prompts for conversation processing, one per kind of request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationPrompts {
    /// The prompt to extract facts from a message of the user.
    pub facts: String,
    /// The prompt to reconcile new facts with existing ones.
    pub reconcile: String,
    /// The prompt to update the summary.
    pub summary: String,
}

impl Default for ConversationPrompts {
    fn default() -> Self {
        let text = |text: &str| text.trim_end().to_owned();
        Self {
            facts: text(include_str!("prompts/facts.md")),
            reconcile: text(include_str!("prompts/reconcile.md")),
            summary: text(include_str!("prompts/summary.md")),
        }
    }
}

impl ConversationPrompts {
    /// Creates prompts from the texts that `read` returns for the names `facts`, `reconcile` and `summary`.
    ///
    /// `read` may return the content of a file in the home. If it returns `None` or a blank text, the default prompt is used.
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
        assert_eq!(
            ConversationPrompts::with(&own),
            ConversationPrompts { facts: "Mine.".into(), ..ConversationPrompts::default() }
        );
    }
}
