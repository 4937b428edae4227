//! Quality metrics of a ranking.

use std::collections::HashSet;

/// The names of the metrics: first those of turns, then those of sessions.
pub(crate) const NAMES: [&str; 14] = [
    "turn any@5",
    "any@10",
    "all@5",
    "all@10",
    "frac@5",
    "frac@10",
    "mrr",
    "session any@5",
    "any@10",
    "all@5",
    "all@10",
    "frac@5",
    "frac@10",
    "mrr",
];

/// Returns the metrics of a ranking of turns or of sessions, from 0 to 1.
///
/// They have the order of one half of [`NAMES`]. Reciprocal ranks count within the first ten results.
#[expect(clippy::cast_precision_loss, reason = "ranks and counts are small")]
pub(crate) fn ranking_metrics(ranked: &Vec<&str>, gold: &[&str]) -> Vec<f64> {
    let gold: HashSet<&str> = gold.iter().copied().collect();
    let within = |k: usize| {
        ranked
            .iter()
            .take(k)
            .filter(|turn| gold.contains(**turn))
            .count()
    };
    let first = ranked.iter().take(10).position(|turn| gold.contains(turn));
    let is = |is: bool| if is { 1.0 } else { 0.0 };
    vec![
        is(0 < within(5)),
        is(0 < within(10)),
        is(within(5) == gold.len()),
        is(within(10) == gold.len()),
        within(5) as f64 / gold.len() as f64,
        within(10) as f64 / gold.len() as f64,
        first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
    ]
}

/// Prints one row of a table, in percent.
pub(crate) fn print_row(name: &str, figures: &[f64]) {
    let figures: Vec<String> = figures
        .iter()
        .map(|figure| format!("{:.1}", 100.0 * figure))
        .collect();
    println!("| {name} | {} |", figures.join(" | "));
}

/// Prints the header of a table.
pub(crate) fn print_header(of: &str) {
    println!("| {of} | {} |", NAMES.join(" | "));
    println!("|---|{}", "---:|".repeat(NAMES.len()));
}
