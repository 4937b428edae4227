//! The check of a home and its JSON, for `memory doctor` and the web page.

use memory_core::{EmbedError, Operation, StoreError};
use memory_store::{DoctorFinding, DoctorReport};
use serde::Serialize;
use serde_json::Value;

use crate::config::Settings;
use crate::embedding;
use crate::home::Home;

/// Returns the JSON of a report: `{checked, healthy, findings: [{code, path, line?, what, hint?, fixed}]}`.
pub(crate) fn report_json(report: &DoctorReport) -> Value {
    serde_json::to_value(DoctorReportShape::of(report)).expect("the shape has text for keys")
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

#[derive(Serialize)]
struct DoctorReportShape<'a> {
    checked: u64,
    healthy: bool,
    findings: Vec<FindingShape<'a>>,
}

#[derive(Serialize)]
struct FindingShape<'a> {
    code: String,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    what: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    fixed: bool,
}

impl<'a> DoctorReportShape<'a> {
    fn of(report: &'a DoctorReport) -> Self {
        let healthy = report.findings.iter().all(|finding| finding.fixed);
        let shape = |finding: &'a DoctorFinding| {
            let DoctorFinding {
                code,
                path,
                line,
                what,
                hint,
                fixed,
            } = finding;
            FindingShape {
                code: code.to_uppercase(),
                path,
                line: *line,
                what,
                hint: hint.as_deref(),
                fixed: *fixed,
            }
        };
        Self {
            checked: report.checked,
            healthy,
            findings: report.findings.iter().map(shape).collect(),
        }
    }
}
