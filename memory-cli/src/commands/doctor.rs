//! The `memory doctor` and `memory reindex` commands.

use clap::Args;
use memory_agent::json::add_field;
use memory_core::{Code, Verb};
use memory_store::{DoctorFinding, DoctorReport};
use serde_json::json;

use crate::app::App;
use crate::doctor::{check_home, report_json};
use crate::failure::Failure;
use crate::ingestion::{INDEXING_SESSIONS, open_history};
use crate::instances::DEFAULT;
use crate::print::{Table, TableColumn, counted};
use crate::system_check::{
    SystemFinding, SystemState, check_system, check_without_settings, next_step,
};

/// Check the files against the index and the journal
///
/// Also checks banks and sessions in the home, and their undo records, for damage.
///
/// Exits with 5 if a problem was not repaired.
///
/// JSON: {checked, healthy, findings: [{code, path, line?, what, hint?, fixed}]}; with --system {healthy, checks: [{name, state,
/// what, hint?}], next}, where `state` is ok, unused or problem, and `next` is what to do next
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Check the environment instead: programs, assistants, models, permissions and the file system
    #[arg(long, conflicts_with = "fix")]
    system: bool,
    /// Repair what can be repaired without data loss
    #[arg(long)]
    fix: bool,
}

impl DoctorArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        if self.system {
            return check_environment(app);
        }
        let home = app.open()?;
        let services = &home.services;
        let repair = services.operation(Verb::Repair);
        let report = check_home(&home, self.fix.then_some(&repair))?;
        let wrong = report
            .findings
            .iter()
            .filter(|finding| !finding.fixed)
            .count() as u64;
        if app.output.is_json() {
            app.output.json(&report_json(&report))?;
        } else {
            print_report(&report, app)?;
        }
        let hint = if self.fix {
            "repair the remaining problems by hand"
        } else {
            "run `memory doctor --fix` to repair what can be repaired"
        };
        let why = format!("{} found", counted(wrong, "problem"));
        Failure::unless_none(wrong, why, hint, Code::CheckFailed)
    }
}

fn check_environment(app: &mut App) -> Result<(), Failure> {
    let (findings, has_home) = match app.settings() {
        Ok(settings) => (check_system(&settings), settings.root.value.exists()),
        Err(failure) => (check_without_settings(&failure, app.environment), false),
    };
    let next = next_step(&findings, has_home);
    let problems = findings
        .iter()
        .filter(|finding| finding.state == SystemState::Problem)
        .count() as u64;
    if app.output.is_json() {
        let shape = |SystemFinding {
                         name,
                         state,
                         what,
                         hint,
                     }: &SystemFinding| {
            let mut shape = json!({ "name": name, "state": state.as_str(), "what": what });
            add_field(&mut shape, "hint", hint.as_deref());
            shape
        };
        let checks: Vec<_> = findings.iter().map(shape).collect();
        app.output
            .json(&json!({ "healthy": problems == 0, "checks": checks, "next": next }))?;
    } else {
        let columns = [
            TableColumn::Whole("what"),
            TableColumn::Whole("state"),
            TableColumn::Text("details"),
        ];
        let mut table = Table::new(columns);
        for SystemFinding {
            name,
            state,
            what,
            hint,
        } in &findings
        {
            let details = hint
                .as_ref()
                .map_or_else(|| what.clone(), |hint| format!("{what}; {hint}"));
            table.push([*name, state.as_str(), &details]);
        }
        app.output.table(&table)?;
        app.output.note(&format!("next: {next}"))?;
    }
    Failure::unless_none(
        problems,
        format!("{} found in the environment", counted(problems, "problem")),
        "`memory doctor --system` again shows the next step, until nothing is left",
        Code::CheckFailed,
    )
}

fn print_report(report: &DoctorReport, app: &mut App) -> Result<(), Failure> {
    let mut table = Table::new([
        TableColumn::Whole("state"),
        TableColumn::Whole("code"),
        TableColumn::Whole("where"),
        TableColumn::Text("what"),
    ]);
    for DoctorFinding {
        code,
        path,
        line,
        what,
        hint,
        fixed,
    } in &report.findings
    {
        let place = line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"));
        let what = hint
            .as_ref()
            .map_or_else(|| what.clone(), |hint| format!("{what}; {hint}"));
        table.push([
            if *fixed { "repaired" } else { "wrong" },
            &code.to_lowercase(),
            &place,
            &what,
        ]);
    }
    app.output.table(&table)?;
    let found = report.findings.len();
    let what = if found == 0 {
        "no problems found".to_owned()
    } else {
        format!("problems: {found}")
    };
    app.output
        .note(&format!("checked: {}; {what}", report.checked))
}

/// Rebuild the index from the files
///
/// Normally not needed: the index is a cache and is rebuilt automatically. It is always safe.
///
/// JSON: {documents, degraded?}
#[derive(Debug, Args)]
pub(crate) struct ReindexArgs {}

impl ReindexArgs {
    #[expect(clippy::unused_self, reason = "all commands run alike")]
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let mut bar = app.output.progress_bar("reading");
        let documents = home.store.rebuild(&mut |progress| bar.show(progress))?;
        drop(bar);
        let mut bar = app.output.progress_bar(INDEXING_SESSIONS);
        let sessions = open_history(DEFAULT, &home.settings).and_then(|sessions| {
            let mut show = |progress| bar.show(progress);
            Ok(sessions.store.rebuild_index(&mut show)?)
        });
        drop(bar);
        // The index of the memories is built, whatever the state of the history.
        if let Err(error) = sessions {
            app.output
                .warning(&format!("cannot index the sessions: {error}"))?;
        }
        let disorder = home.store.journal_warning();
        if app.output.is_json() {
            let mut answer = json!({ "documents": documents });
            add_field(&mut answer, "degraded", disorder);
            return app.output.json(&answer);
        }
        if let Some(why) = disorder {
            app.output.warning(&why)?;
        }
        app.output.fields(&["documents", &documents.to_string()])
    }
}
