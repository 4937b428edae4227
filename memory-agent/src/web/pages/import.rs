//! The import of files of this and of other programs.
//!
//! Its purpose: notes and conversations of other programs become memories, without surprises and with a way back.
//! A person first sees a place to drop files, a button to choose them, and a field for a path on this computer.
//! The actions by frequency: drop or choose files; look at what would happen; import; undo; choose another format.
//!
//! The page of an import shows its progress, then what would happen, then what happened. It can be left at any time.

use std::sync::Arc;

use askama::Template;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use memory_core::{Code, OperationId, SkippedFile};
use tempfile::TempDir;

use crate::web::error::{PageError, render};
use crate::web::html::Label;
use crate::web::import_job::{
    ImportJob, ImportOutcome, ImportReport, ImportRequest, ImportState, ImportStop, ImportedFiles,
};
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::upload::{UPLOAD_PATH, UploadSlot};

const PATH: &str = "/import";

/// The name of the folder with the files of an upload. Memories state it as the folder of files that were chosen one by one.
const UPLOAD: &str = "upload";

const NO_FILE: &str = "Choose at least one file first.";

/// Maximum number of files of one kind that are listed.
const MAX_FILES: usize = 50;

/// The fields of memories to which keys or columns can be mapped, with their names for people.
const FIELDS: [(&str, &str); 8] = [
    ("content", "Text"),
    ("title", "Title"),
    ("tags", "Tags"),
    ("category", "Category"),
    ("created", "Created"),
    ("updated", "Changed"),
    ("id", "Id"),
    ("project", "Project"),
];

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route(PATH, get(show).post(import_path))
        .route(UPLOAD_PATH, post(import_files))
        .route("/import/{id}", get(show_job).post(proceed))
}

#[derive(Template)]
#[template(path = "import.html")]
struct ImportPage {
    layout: Layout,
    formats: Vec<(String, String)>,
    path: String,
    /// What is wrong with the files or the path.
    problem: Option<String>,
    /// The last import, with its name.
    last: Option<(String, Label)>,
}

#[derive(Template)]
#[template(path = "import_job.html")]
struct ImportJobPage {
    layout: Layout,
    id: String,
    name: Label,
    step: JobStep,
    /// The number of items that are done, and of all items.
    progress: (u64, Option<u64>),
    is_trusted: bool,
    /// Whether the files can be read in another way: nothing was written yet.
    can_read_again: bool,
    stop: Arc<ImportStop>,
    /// The formats, and whether each is chosen.
    formats: Vec<(String, String, bool)>,
}

/// The part of an import that its page shows.
enum JobStep {
    Reading,
    Writing,
    /// What would happen.
    Preview(ReportView),
    /// The formats among which the person chooses.
    Choice(Vec<(String, String)>),
    /// The fields of memories, each with the keys or columns and whether each is suggested.
    Fields(Vec<FieldChoice>),
    /// What happened, and the operations that can be undone.
    Done(ReportView, String),
    Failed(Label, Option<Label>, String),
}

/// A field of memories, and the keys or columns that may contain it.
struct FieldChoice {
    name: &'static str,
    title: &'static str,
    keys: Vec<(String, bool)>,
}

/// A report, for the template.
struct ReportView {
    sources: Vec<ImportedView>,
    left_out: FileList,
    has_new: bool,
}

struct ImportedView {
    format: String,
    /// The rows of a table: notes and conversations.
    counts: Vec<(&'static str, [u64; 3])>,
    first: Vec<Label>,
    skipped: FileList,
    warnings: FileList,
}

/// The first of some files, each with a reason, and the number of all.
struct FileList {
    files: Vec<(Label, Label)>,
    count: usize,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| Ok(render_start(request, "", None)))
        .await
}

fn render_start(request: &WebRequest, path: &str, problem: Option<String>) -> Response {
    let last = request.web.imports.last();
    let status = if problem.is_some() {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    };
    let page = ImportPage {
        layout: request.layout("Import"),
        formats: request.web.config.host.import_formats(),
        path: path.to_owned(),
        problem,
        last: last.map(|job| (job_path(&job), Label::new(&job.request().name()))),
    };
    (status, render(&page)).into_response()
}

fn job_path(job: &ImportJob) -> String {
    format!("{PATH}/{}", job.id)
}

/// Imports the file or folder at the path in the form.
async fn import_path(request: WebRequest) -> Response {
    request
        .respond(|request| {
            request.check_on_computer()?;
            let Some(typed) = request.form.text("path") else {
                let problem = "Enter the path of a file or folder.".to_owned();
                return Ok(render_start(request, "", Some(problem)));
            };
            let path = request.web.config.host.absolute_path(typed);
            if !path.exists() {
                let problem = format!("There is no file or folder {}.", path.display());
                return Ok(render_start(request, typed, Some(problem)));
            }
            let format = request.form.text("format").map(str::to_owned);
            let import = ImportRequest {
                path,
                format,
                is_dry_run: true,
                ..ImportRequest::default()
            };
            Ok(start(request, import, None))
        })
        .await
}

/// Reads files, and redirects to their import.
fn start(request: &WebRequest, import: ImportRequest, upload: Option<TempDir>) -> Response {
    let Some(job) = request.web.imports.start(request, import, upload) else {
        let problem = "Another import is running. Wait until it has ended.".to_owned();
        return render_start(request, "", Some(problem));
    };
    Redirect::to(&job_path(&job)).into_response()
}

/// Imports the files of a form.
async fn import_files(slot: Option<Extension<UploadSlot>>, request: WebRequest) -> Response {
    let refuse = |problem: &'static str| {
        move |request: &WebRequest| Ok(render_start(request, "", Some(problem.to_owned())))
    };
    let Some(upload) = slot.and_then(|Extension(slot)| slot.take()) else {
        return request.respond(refuse(NO_FILE)).await;
    };
    let Ok(_place) = Arc::clone(&request.web.upload).try_acquire_owned() else {
        let problem = "Other files are being received. Wait until they have arrived.";
        return request.respond(refuse(problem)).await;
    };
    let received = match request.web.config.host.upload_folder() {
        Ok(folder) => {
            let files = upload.store(&folder.path().join(UPLOAD)).await;
            files.map(|files| (folder, files))
        }
        Err(error) => Err(error.into()),
    };
    request
        .respond(move |request| {
            let (folder, files) = received?;
            if files.count == 0 {
                return Ok(render_start(request, "", Some(NO_FILE.to_owned())));
            }
            let whole = folder.path().join(UPLOAD);
            let mut top = files.top.into_iter();
            let path = match (top.next(), top.next()) {
                (Some(only), None) => only,
                _ => whole.clone(),
            };
            let import = ImportRequest {
                path,
                upload: Some(whole),
                is_dry_run: true,
                ..ImportRequest::default()
            };
            Ok(start(request, import, Some(folder)))
        })
        .await
}

async fn show_job(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let job = find_job(request, &id)?;
            let import = job.request();
            let (step, progress) = (job_step(request, job.state()), job.progress());
            let formats = request.web.config.host.import_formats().into_iter();
            let with_choice = |(name, title): (String, String)| {
                let is_chosen = import.format.as_deref() == Some(&name);
                (name, title, is_chosen)
            };
            Ok(render(&ImportJobPage {
                layout: request.layout("Import"),
                name: Label::cut(&import.name(), 200),
                step,
                progress,
                is_trusted: import.is_trusted,
                stop: Arc::clone(&job.stop),
                can_read_again: import.is_dry_run,
                formats: formats.map(with_choice).collect(),
                id,
            }))
        })
        .await
}

fn find_job(request: &WebRequest, id: &str) -> Result<Arc<ImportJob>, PageError> {
    request.web.imports.find(id).ok_or_else(|| {
        PageError::new(
            Code::RouteNotFound,
            "this import is over",
            "choose the files again on the page Import",
        )
    })
}

fn job_step(request: &WebRequest, state: ImportState) -> JobStep {
    match state {
        ImportState::Reading => JobStep::Reading,
        ImportState::Writing => JobStep::Writing,
        ImportState::Preview(ImportOutcome::Report(report)) => JobStep::Preview(report.into()),
        ImportState::Preview(ImportOutcome::Ambiguous(formats)) => JobStep::Choice(formats),
        ImportState::Preview(ImportOutcome::Unmapped { keys, suggested }) => {
            let choice = |(name, title)| {
                let is_suggested =
                    |key: &String| suggested.iter().any(|(own, its)| own == name && its == key);
                let keys = keys.iter().map(|key| (key.clone(), is_suggested(key)));
                FieldChoice {
                    name,
                    title,
                    keys: keys.collect(),
                }
            };
            JobStep::Fields(FIELDS.into_iter().map(choice).collect())
        }
        ImportState::Done(report, operations) => {
            JobStep::Done(report.into(), undoable(request, &operations))
        }
        ImportState::Failed(error, operations) => JobStep::Failed(
            Label::new(&error.message),
            error.hint.as_deref().map(Label::new),
            undoable(request, &operations),
        ),
    }
}

/// Returns the operations if they can be undone, separated by commas; empty otherwise.
fn undoable(request: &WebRequest, operations: &[OperationId]) -> String {
    let ids: Vec<&str> = operations.iter().map(OperationId::as_str).collect();
    let bar = request.undo_bar(&ids.join(","));
    bar.map(|bar| bar.operations).unwrap_or_default()
}

/// Reads the files again with other options, imports them, or discards them.
async fn proceed(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let job = find_job(request, &id)?;
            let form = &request.form;
            let former = job.request();
            match form.get("action") {
                "discard" => {
                    job.discard(&request.web.imports);
                    return Ok(Redirect::to(PATH).into_response());
                }
                "stop" => job.stop(),
                "import" => job.proceed(
                    request,
                    ImportRequest {
                        is_dry_run: false,
                        ..former
                    },
                ),
                "read" => job.proceed(request, changed_request(request, former)),
                _ => return Err(PageError::invalid("the action is unknown")),
            }
            Ok(Redirect::to(&job_path(&job)).into_response())
        })
        .await
}

/// Returns the request with the options of the form.
fn changed_request(request: &WebRequest, former: ImportRequest) -> ImportRequest {
    let form = &request.form;
    let mapped = FIELDS.iter().filter_map(|(name, _)| {
        let key = form.get(&format!("field:{name}"));
        (!key.is_empty()).then(|| ((*name).to_owned(), key.to_owned()))
    });
    ImportRequest {
        format: form.text("format").map(str::to_owned),
        fields: mapped.collect(),
        is_trusted: !form.get("trust").is_empty(),
        is_dry_run: true,
        ..former
    }
}

impl From<ImportReport> for ReportView {
    fn from(report: ImportReport) -> Self {
        let is_new = |files: &ImportedFiles| {
            let [new, changed, _] = files.notes;
            let [new_sessions, changed_sessions, _] = files.sessions;
            0 < new + changed + new_sessions + changed_sessions
        };
        Self {
            has_new: report.sources.iter().any(is_new),
            sources: report.sources.into_iter().map(ImportedView::from).collect(),
            left_out: report.left_out.into(),
        }
    }
}

impl From<ImportedFiles> for ImportedView {
    fn from(files: ImportedFiles) -> Self {
        let rows = [("Notes", files.notes), ("Conversations", files.sessions)];
        let has_any = |(_, counts): &(_, [u64; 3])| counts.iter().any(|count| *count != 0);
        Self {
            format: files.format,
            counts: rows.into_iter().filter(has_any).collect(),
            first: files
                .first
                .iter()
                .map(|title| Label::cut(title, 120))
                .collect(),
            skipped: files.skipped.into(),
            warnings: files.warnings.into(),
        }
    }
}

impl From<Vec<SkippedFile>> for FileList {
    fn from(files: Vec<SkippedFile>) -> Self {
        let count = files.len();
        let shown = files.into_iter().take(MAX_FILES);
        let labels =
            |file: SkippedFile| (Label::cut(&file.path, 200), Label::cut(&file.reason, 300));
        Self {
            files: shown.map(labels).collect(),
            count,
        }
    }
}
