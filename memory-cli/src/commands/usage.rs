//! The `memory usage` command.

use clap::Args;
use memory_agent::json;
use memory_core::{LlmUsage, PeriodUsage, Purpose, Usage as Report, usage};
use memory_store::Ledger;

use crate::app::App;
use crate::conversations::waiting_messages;
use crate::failure::Failure;
use crate::language_model;
use crate::print::Table;

/// Show the usage of the language model, and the rest of today's budget
///
/// Number of calls and tokens (prompts and answers), today and in the last 30 days, by purpose. The daily budget is
/// llm.calls_a_day and llm.tokens_a_day in config.yaml; when it is exhausted, the model is not called until the next day,
/// and everything else continues without it.
///
/// JSON: {budget: AMOUNT, left: AMOUNT, today: COSTS, lately: COSTS, unreadable, waiting}; AMOUNT is {calls, tokens}, null without a
/// limit, COSTS is {from, to, calls, prompt_tokens, answer_tokens, tokens, purposes: [{purpose, calls, prompt_tokens,
/// answer_tokens, tokens}]}
#[derive(Debug, Args)]
pub(crate) struct UsageArgs {}

/// Cell without a limit or a value.
const NO_VALUE: &str = "-";

impl UsageArgs {
    #[expect(clippy::unused_self, reason = "all commands run alike")]
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let ledger = Ledger::open(&settings.root.value)?;
        let today = language_model::budget_day(&settings);
        let report = usage(&ledger, today, settings.llm_budget())?;
        let waiting = waiting_messages(&settings)?;
        if app.output.is_json() {
            return app.output.json(&json::usage(&report, waiting));
        }
        app.output.table(&usage_table(&report))?;
        if 0 < report.unreadable {
            let folder = app.output.display_path(&settings.root.value.join("usage"));
            app.output
                .warning(&format!("{folder}: {}", unreadable_text(report.unreadable)))?;
        }
        if 0 < waiting {
            let text = format!(
                "messages of conversations that wait for the extraction of facts: {waiting}"
            );
            app.output.note(&text)?;
        }
        if !settings.llm.is_named() {
            app.output.note("no language model is configured; see `llm` in the file that `memory config init` creates")?;
        }
        Ok(())
    }
}

fn unreadable_text(lines: u64) -> String {
    match lines {
        1 => "1 line is unreadable and not counted".into(),
        several => format!("{several} lines are unreadable and not counted"),
    }
}

fn usage_table(report: &Report) -> Table {
    let numbers = [
        "calls today",
        "tokens today",
        "calls in 30 days",
        "tokens in 30 days",
    ];
    let mut table = Table::of_numbers("for", &numbers);
    // Today's purposes are a subset of those of the last 30 days.
    for (purpose, lately) in &report.lately.purposes {
        push_row(
            &mut table,
            purpose.as_str(),
            spent_on(&report.today, purpose),
            *lately,
        );
    }
    push_row(&mut table, "(all)", report.today.all, report.lately.all);
    let limit =
        |limit: Option<u64>| limit.map_or_else(|| NO_VALUE.to_owned(), |limit| limit.to_string());
    let Report { budget, left, .. } = report;
    table.push([
        "(budget)",
        &limit(budget.calls_a_day),
        &limit(budget.tokens_a_day),
        NO_VALUE,
        NO_VALUE,
    ]);
    table.push([
        "(left)",
        &limit(left.calls),
        &limit(left.tokens),
        NO_VALUE,
        NO_VALUE,
    ]);
    table
}

fn spent_on(costs: &PeriodUsage, purpose: &Purpose) -> LlmUsage {
    costs
        .purposes
        .iter()
        .find(|(own, _)| own == purpose)
        .map(|(_, spent)| *spent)
        .unwrap_or_default()
}

fn push_row(table: &mut Table, name: &str, today: LlmUsage, lately: LlmUsage) {
    let numbers = [
        today.calls,
        today.total_tokens(),
        lately.calls,
        lately.total_tokens(),
    ];
    table.push_numbers(name, &numbers);
}
