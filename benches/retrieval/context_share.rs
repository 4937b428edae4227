//! The share of the evidence that a model gets in its context.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use memory_core::Embedder;

use crate::Outcome;
use crate::conversation_home::ConversationHome;
use crate::data_set::{DataSet, text_field, text_list};

/// The sizes of the context, in tokens.
const CONTEXT_BUDGETS: [usize; 2] = [1_500, 4_000];

/// Prints, for every set and category of questions, how often the context holds a gold turn, and which share of the gold turns it holds.
///
/// Each conversation is the only content of its home. Sets whose questions hide later turns are left out.
pub(crate) fn print_context_share(
    sets: &[DataSet],
    model: Option<&Arc<dyn Embedder>>,
) -> Outcome<()> {
    let names: Vec<String> = CONTEXT_BUDGETS
        .iter()
        .map(|budget| format!("any@{budget} | frac@{budget}"))
        .collect();
    println!("| set and category | questions | {} |", names.join(" | "));
    println!("|---|---:|{}", "---:|".repeat(2 * CONTEXT_BUDGETS.len()));
    for data in sets.iter().filter(|data| {
        data.questions
            .iter()
            .all(|question| text_field(question, "before").is_empty())
    }) {
        let mut rows = BTreeMap::<String, Vec<[f64; 2 * CONTEXT_BUDGETS.len()]>>::new();
        for conversation in data.conversations() {
            let home = ConversationHome::from_conversation(data, conversation, model)?;
            for question in data
                .questions
                .iter()
                .filter(|question| text_field(question, "conversation") == conversation)
            {
                let gold: HashSet<&str> = text_list(question, "gold").into_iter().collect();
                let mut figures = [0.0; 2 * CONTEXT_BUDGETS.len()];
                for (number, budget) in CONTEXT_BUDGETS.into_iter().enumerate() {
                    let turns: HashSet<&str> =
                        home.context_turns(question, budget)?.into_iter().collect();
                    let found = turns.intersection(&gold).count();
                    figures[2 * number] = if 0 < found { 1.0 } else { 0.0 };
                    figures[2 * number + 1] = ratio(found, gold.len());
                }
                rows.entry(String::new()).or_default().push(figures);
                rows.entry(text_field(question, "category").to_owned())
                    .or_default()
                    .push(figures);
            }
        }
        for (category, figures) in rows {
            let mean = |column: usize| {
                100.0 * figures.iter().map(|row| row[column]).sum::<f64>() * ratio(1, figures.len())
            };
            let cells: Vec<String> = (0..2 * CONTEXT_BUDGETS.len())
                .map(|column| format!("{:.1}", mean(column)))
                .collect();
            println!(
                "| {} {category} | {} | {} |",
                data.name,
                figures.len(),
                cells.join(" | ")
            );
        }
    }
    Ok(())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "there are hundreds of questions"
)]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
