//! The JSON of a check of the files, for `memory doctor` and the web page.

use memory_store::{DoctorFinding, DoctorReport};
use serde::Serialize;
use serde_json::Value;

/// Returns the JSON of a report: `{checked, healthy, findings: [{code, path, line?, what, hint?, fixed}]}`.
pub(crate) fn report_json(report: &DoctorReport) -> Value {
    serde_json::to_value(DoctorReportShape::of(report)).expect("the shape has text for keys")
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
