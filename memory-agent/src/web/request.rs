//! A request of a signed-in person, as handlers receive it.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::header::REFERER;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Redirect, Response};
use chrono::{DateTime, FixedOffset};
use memory_core::bank::Banks;
use memory_core::{Code, IdSource, LocalZone, MemoryId, OperationId, OperationLogs, Services};
use tokio::task::spawn_blocking;

use super::assets::PATHS;
use super::error::PageError;
use super::fields::{Fields, local_path};
use super::layout::{Layout, Section, notice_text};
use super::sessions::WebSession;
use super::state::WebState;
use super::time_label::TimeLabel;
use super::unsent_form::UnsentForm;

/// A request of a signed-in person, after all checks.
#[derive(Debug)]
pub(crate) struct WebRequest {
    pub(crate) web: Arc<WebState>,
    pub(super) session: Arc<WebSession>,
    /// The path, without the query.
    pub(crate) path: String,
    /// The fields of the query string.
    pub(crate) query: Fields,
    /// The path and query of the page from which the person came, if it is known.
    pub(crate) previous: Option<String>,
    /// The path and query of the list from which the person came, if it is one.
    pub(crate) list: Option<String>,
    /// The fields of the form; empty if the method is GET.
    pub(crate) form: Fields,
    /// Whether the script of an open page sent the request, and no person.
    pub(crate) is_update: bool,
    /// The services; they record the ids of operations for [`Self::redirect`].
    pub(crate) services: Services,
    ids: Arc<RecordingIds>,
}

/// Field of the query with the ids of the operations that the previous request made.
pub(super) const DONE: &str = "done";

/// Field of the query with the reason why the previous request changed nothing.
pub(crate) const NOTICE: &str = "notice";

impl FromRequestParts<Arc<WebState>> for WebRequest {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, web: &Arc<WebState>) -> Result<Self, PageError> {
        let session = parts.extensions.get::<Arc<WebSession>>().cloned();
        let session = session
            .ok_or_else(|| PageError::new(Code::Unauthorized, "nobody is signed in", "sign in"))?;
        let form = parts.extensions.remove::<Fields>().unwrap_or_default();
        let ids = Arc::new(RecordingIds::new(Arc::clone(&web.config.services.ids)));
        let mut services = Services {
            ids: Arc::clone(&ids) as _,
            ..web.config.services.clone()
        };
        if let Some(topics) = &mut services.topics {
            topics.ids = Arc::clone(&ids) as _;
        }
        Ok(Self {
            previous: parts
                .headers
                .get(REFERER)
                .and_then(|value| previous_path(value.to_str().ok()?)),
            list: parts
                .headers
                .get(REFERER)
                .and_then(|value| list_path(value.to_str().ok()?)),
            is_update: parts
                .headers
                .get("sec-fetch-dest")
                .is_some_and(|target| target == "empty"),
            web: Arc::clone(web),
            session,
            path: parts.uri.path().to_owned(),
            query: Fields::parse(parts.uri.query().unwrap_or_default()),
            form,
            services,
            ids,
        })
    }
}

impl WebRequest {
    /// Runs blocking work on one of a limited number of threads, and returns its response or the page of its error.
    ///
    /// The work completes even if the browser disconnects.
    pub(crate) async fn respond(
        self,
        work: impl FnOnce(&Self) -> Result<Response, PageError> + Send + 'static,
    ) -> Response {
        let place = Arc::clone(&self.web.workers)
            .acquire_owned()
            .await
            .expect("the workers are never closed");
        let work = move || {
            let _place = place;
            work(&self).unwrap_or_else(|error| {
                let previous = self.previous.clone().filter(|path| *path != self.here());
                error
                    .within(
                        self.layout(""),
                        previous,
                        UnsentForm::new(&self.path, &self.form),
                    )
                    .into_response()
            })
        };
        spawn_blocking(work).await.unwrap_or_else(|error| {
            let message = format!("the request failed: {error}");
            PageError::new(
                Code::Internal,
                message,
                "Try again. If it fails again, look at Health.",
            )
            .into_response()
        })
    }

    /// Returns the frame of a page. The path determines the section.
    pub(crate) fn layout(&self, title: &str) -> Layout {
        let mark = self.web.change_mark();
        Layout {
            title: title.to_owned(),
            section: Section::of(&self.path),
            csrf: self.session.csrf().to_owned(),
            query: String::new(),
            filters: Vec::new(),
            here: self.here(),
            home: self.web.config.home.clone(),
            inbox: self
                .inbox_counts(&mark)
                .map(|counts| counts.proposals + counts.notes),
            mark,
            notice: notice_text(self.query.get(NOTICE)),
            undo: self.undo_bar(self.query.get(DONE)),
            assets: &PATHS,
        }
    }

    /// Returns the id of the paired device that sent the request, if one did.
    pub(crate) fn device(&self) -> Option<&str> {
        self.session.device()
    }

    /// Returns the path and the query of this page without `done`.
    fn here(&self) -> String {
        with_query(&self.path, &self.query.without(&[DONE, NOTICE]))
    }

    /// Returns the banks; they record the ids of operations as the services do.
    pub(crate) fn banks(&self) -> Banks {
        Banks {
            ids: Arc::clone(&self.ids) as _,
            ..self.web.config.banks.clone()
        }
    }

    /// Calls `work` with the logs of all operations.
    pub(crate) fn with_logs<T, E>(
        &self,
        work: impl FnOnce(OperationLogs<'_>) -> Result<T, E>,
    ) -> Result<T, PageError>
    where
        PageError: From<E>,
    {
        let config = &self.web.config;
        let (banks, instances) = (self.banks(), config.host.instance_logs()?);
        let (services, conversations) = (&self.services, config.conversations.as_slice());
        Ok(work(OperationLogs {
            services,
            banks: &banks,
            instances: &instances,
            conversations,
            others: &[],
        })?)
    }

    /// Returns a function that lists the operations which the services of the request have made so far.
    pub(super) fn operations(&self) -> impl Fn() -> Vec<OperationId> + Send + use<> {
        let ids = Arc::clone(&self.ids);
        move || ids.operations()
    }

    /// Checks that the page is used on the computer with the memory, and not by a paired device.
    ///
    /// A lost device must not reach other files of the computer, its programs or its keys.
    ///
    /// # Errors
    /// If a paired device sent the request.
    pub(crate) fn check_on_computer(&self) -> Result<(), PageError> {
        if self.device().is_none() {
            return Ok(());
        }
        Err(PageError::new(
            Code::Forbidden,
            "this can only be done on the computer with the memory",
            "Open the page there.",
        ))
    }

    /// Returns a time in the zone of the user.
    pub(crate) fn local(&self, time: DateTime<chrono::Utc>) -> DateTime<FixedOffset> {
        (self.web.config.local_time)(time)
    }

    /// Returns the label of a time in the zone of the user.
    pub(crate) fn exact(&self, time: DateTime<chrono::Utc>) -> TimeLabel {
        TimeLabel::exact(self.local(time))
    }

    /// Returns the zone of the user.
    pub(crate) fn zone(&self) -> LocalZone {
        LocalZone::new(Arc::clone(&self.web.config.local_time))
    }

    /// Redirects to `path` after a change; the page there offers to undo the operations of this request.
    ///
    /// `path` is a path of this server with an optional query; any other text redirects to the first page.
    pub(crate) fn redirect(&self, path: &str) -> Response {
        self.redirect_after(path, &self.ids.operations())
    }

    /// Redirects to `path`; the page there offers to undo `operations`.
    pub(crate) fn redirect_after(&self, path: &str, operations: &[OperationId]) -> Response {
        if self.is_in_background() {
            return self.reply(path, operations, Vec::new());
        }
        self.web.config.host.after_change();
        let path = local_path(path);
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let done = join_ids(operations);
        let query = Fields::parse(query).with(DONE, &done);
        Redirect::to(&with_query(path, &query)).into_response()
    }
}

/// Returns ids as the value of a field.
pub(super) fn join_ids(operations: &[OperationId]) -> String {
    let ids: Vec<&str> = operations.iter().map(OperationId::as_str).collect();
    ids.join(",")
}

/// Redirects to `path`; the page there explains with `notice` why nothing was changed.
pub(crate) fn redirect_with_notice(path: &str, notice: &str) -> Response {
    let path = local_path(path);
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    Redirect::to(&with_query(
        path,
        &Fields::parse(query).with(NOTICE, notice),
    ))
    .into_response()
}

/// Returns a path with a query string, which may be empty.
pub(crate) fn with_query(path: &str, query: &str) -> String {
    if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{query}")
    }
}

/// Returns the path and query of the page at an address.
pub(super) fn previous_path(address: &str) -> Option<String> {
    let address: Uri = address.parse().ok()?;
    let query = Fields::parse(address.query().unwrap_or_default()).without(&[DONE, NOTICE]);
    Some(with_query(local_path(address.path()), &query))
}

/// Returns the path and query of an address on this server if it is that of a list of memories.
fn list_path(address: &str) -> Option<String> {
    let address: Uri = address.parse().ok()?;
    let query = Fields::parse(address.query().unwrap_or_default()).with(DONE, "");
    match address.path() {
        path @ ("/memories" | "/inbox") if query.is_empty() => Some(path.to_owned()),
        path @ ("/memories" | "/inbox") => Some(format!("{path}?{query}")),
        _ => None,
    }
}

/// A source of ids that records the ids of operations.
#[derive(Debug)]
struct RecordingIds {
    source: Arc<dyn IdSource>,
    operations: Mutex<Vec<OperationId>>,
}

impl RecordingIds {
    fn new(source: Arc<dyn IdSource>) -> Self {
        Self {
            source,
            operations: Mutex::default(),
        }
    }

    fn operations(&self) -> Vec<OperationId> {
        self.operations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl IdSource for RecordingIds {
    fn memory_id(&self) -> MemoryId {
        self.source.memory_id()
    }

    fn operation_id(&self) -> OperationId {
        let id = self.source.operation_id();
        self.operations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(id.clone());
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deletion_returns_to_the_list_from_which_the_person_came() {
        assert_eq!(
            list_path("http://127.0.0.1:1/memories?q=tea&done=1").as_deref(),
            Some("/memories?q=tea")
        );
        assert_eq!(
            list_path("http://127.0.0.1:1/inbox").as_deref(),
            Some("/inbox")
        );
        assert_eq!(list_path("http://127.0.0.1:1/memories/1"), None);
        assert_eq!(list_path("not an address"), None);
    }
}
