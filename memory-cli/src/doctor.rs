//! The check of a home and its JSON, for `memory doctor` and the web page.

use memory_agent::json::add_field;
use memory_core::{EmbedError, Operation, StoreError};
use memory_store::{DoctorFinding, DoctorReport};
use serde_json::{Value, json};

use crate::config::Settings;
use crate::embedding;
use crate::home::Home;

/// Returns the JSON of a report: `{checked, healthy, findings: [{code, path, line?, what, hint?, fixed}]}`.
pub(crate) fn report_json(report: &DoctorReport) -> Value {
    let healthy = report.findings.iter().all(|finding| finding.fixed);
    let findings: Vec<Value> = report.findings.iter().map(finding_json).collect();
    json!({ "checked": report.checked, "healthy": healthy, "findings": findings })
}

fn finding_json(finding: &DoctorFinding) -> Value {
    let mut shape = json!({
        "code": finding.code.to_uppercase(),
        "path": finding.path,
    });
    add_field(&mut shape, "line", finding.line);
    shape["what"] = finding.what.as_str().into();
    add_field(&mut shape, "hint", finding.hint.as_deref());
    shape["fixed"] = finding.fixed.into();
    shape
}

/// Checks the files of a home and the model that its settings name, and repairs the files as `repair`, if given.
pub(crate) fn check_home(
    home: &Home,
    repair: Option<&Operation>,
) -> Result<DoctorReport, StoreError> {
    let mut report = home.store.doctor(repair)?;
    report.findings.extend(check_model_folder(&home.settings));
    Ok(report)
}

/// Returns why the folder that `embedding.model` names is not that of a model; `None` if it is, or if it names none.
fn check_model_folder(settings: &Settings) -> Option<DoctorFinding> {
    let folder = settings.embedding.folder()?;
    let EmbedError { why, hint } = embedding::open(settings).err()?;
    Some(DoctorFinding {
        code: "model_failed",
        path: folder.display().to_string(),
        line: None,
        what: format!("embedding.model names no model: {why}"),
        hint,
        fixed: false,
    })
}
