//! Serves the page on which a person reads, corrects and undoes everything that the memory contains.
//!
//! | route | content |
//! |---|---|
//! | `GET /` | redirects to `/today` |
//! | `GET /today`, `POST /today/conflict`, `/today/old` | what happened since the last visit, and what waits for a decision |
//! | `GET /sign-in`, `POST /sign-in`, `POST /sign-out` | the form for the sign-in code, and the end of the session |
//! | `GET /memories` | search, facets and saved searches |
//! | `POST /memories/searches`, `POST /memories/searches/delete` | saves and deletes a search |
//! | `GET /memories/deleted` | deleted memories, to restore them |
//! | `GET /memories/ID` | one memory: text, metadata, links, history, recalls |
//! | `GET /ask` | what an assistant would receive |
//! | `GET /assistants`, `GET` and `POST /assistants/NAME/connect`, `/disconnect`, `POST /assistants/review` | the assistants on this machine |
//! | `GET /projects`, `GET /projects/show`, `POST /projects/repository` | what belongs to each project |
//! | `GET /memories/ID/similar` | memories that are about the same |
//! | `GET /memories/ID/preview`, `GET /find` | parts of pages for the script: a preview of a link, and the memories of the command palette |
//! | `GET /memories/ID/edit`, `POST /memories/ID/edit` | the form to edit it |
//! | `POST /memories/ID/tags`, `/category`, `/pin`, `/expire`, `/delete`, `/restore` | changes of one memory |
//! | `GET /write`, `POST /write`, `GET /write/titles` | a new memory, and the titles for links in it |
//! | `GET /inbox`, `POST /inbox/decide`, `/edit` | proposals, and apart from them unfiled notes |
//! | `GET /inbox/similar`, `GET /inbox/all` | an item with the memories that are similar to it; all proposals of an agent |
//! | `GET /memories/merge`, `POST /memories/merge` | the choice of a memory to merge an item into |
//! | `GET /inbox/plan`, `POST /inbox/plan` | the suggestions of a dream |
//! | `GET /reminders`, `POST /reminders`, `/done`, `/snooze` | reminders as a list and as a month |
//! | `GET /graph` | the map of all memories, and what surrounds a memory or a tag |
//! | `GET /charts` | growth, what assistants received, unused and expiring memories, the cost of language models |
//! | `GET /activity`, `GET /activity/OPERATION` | all operations, the year |
//! | `GET /sessions`, `GET /sessions/show` | what agents received and wrote |
//! | `GET /topics`, `/banks`, `/conversations`, `/instances` and below | the other data, with forms to edit it |
//! | `GET /import`, `POST /import`, `/import/files`, `GET /import/ID`, `POST /import/ID` | the import of files: choice, outcome, progress |
//! | `GET /export`, `GET /export/file` | the export of memories as a file |
//! | `GET /settings`, `POST /settings`, `/settings/back` | the settings, and their change |
//! | `GET /health` | the check of all files, and status |
//! | `GET /devices`, `POST /devices/{revoke,rename}`, `GET /devices/certificate` | the paired devices, and the certificate for them |
//! | `POST /undo` | undoes operations |
//! | `GET /events` | a stream of server-sent events: one event after each change |
//! | `GET /assets/HASH/NAME` | style sheet, script and icons |
//! | `GET /manifest.webmanifest`, `/service-worker.js`, `/offline` | what makes the page an app on a phone |
//!
//! The handlers call the use cases of `memory_core`, with unrestricted services and the actor `web`. Every control is a link or
//! a form; a form is answered with a redirect (303). The script only adds live search, keyboard shortcuts, updates, and
//! decisions without a reload: a form with the field `background` is answered with the parts of the page that it changed.
//!
//! A refused form is shown again on its page with the text and the reason (`refused_form.rs`), and a form that was sent after the session had ended
//! is continued after a sign-in (`unsent_form.rs`). Handlers need no code for this: they return a `PageError`, with the field that is wrong.
//!
//! A handler takes a `WebRequest`, calls `respond` with blocking work, and returns a rendered template or a
//! redirect. The services of the request record the ids of its operations, and `redirect` passes them to the next page, which
//! offers to undo them. Each template extends `base.html` and has a field `layout`. A control with the attribute `data-key` has a
//! keyboard shortcut; in an element with `data-item` or the class `card` it applies to the selected one.
//!
//! # Security
//!
//! - The listener is bound to a loopback address. Connections of other users are refused, and so are requests with a foreign
//!   `Host` (DNS rebinding), `Origin` or `Sec-Fetch-Site`. No header allows other origins (CORS).
//! - A session starts with a code that is valid once and for 60 seconds. The person types it into a form, so that it is in no
//!   URL and no log. The session is a cookie with `HttpOnly` and `SameSite=Strict`, and ends when it is idle.
//! - Other devices reach the page only over HTTPS at the one address that the person chose, where a code pairs a device. The
//!   page is then served there and nowhere else; a device that was revoked is refused at once.
//! - Every request with a method other than GET and HEAD carries the CSRF token of its session. A form without it is continued only if a page of
//!   this server sent it, and after the person saw its fields and entered a code, or confirmed it in a new session.
//! - In the one form with files the token is the first part, and nothing after it is read if it is wrong. Files are stored below a new folder
//!   of the user alone, under safe names.
//! - `Content-Security-Policy` allows only own scripts, styles and images.
//! - The text of memories is data: templates escape it, `Label` displays hidden characters, and rendered Markdown is restricted
//!   to a list of elements and links.
//!
//! One middleware (`guard.rs`) applies these rules to every route, so that no handler can omit them.

mod app_shell;
mod assets;
mod assistant_host;
mod background;
mod cached_views;
mod card;
mod certificate;
mod changed_object;
mod charts;
mod collection;
mod conflict;
mod devices;
mod diff;
mod error;
mod error_text;
mod events;
mod export_download;
mod fields;
mod guard;
mod html;
mod import_job;
mod json_view;
mod layout;
mod markdown;
mod memory_choice;
mod operations;
mod pager;
mod pages;
mod refused_form;
mod request;
mod saved_searches;
mod server;
mod sessions;
mod setting_fields;
mod sign_in;
mod state;
#[cfg(test)]
mod tests;
mod time_label;
mod undo;
mod undo_offer;
mod unsent_form;
mod upload;

pub use assistant_host::{
    Assistant, AssistantHost, ChangedSettingsFile, Connection, ConnectionChange, ConnectionPlan,
    ProjectRepositories,
};
pub use certificate::PageCertificate;
pub use devices::{PairedDevice, PairedDevices};
pub use export_download::{ExportDownload, ExportRequest};
pub use import_job::{ImportOutcome, ImportReport, ImportRequest, ImportStop, ImportedFiles};
pub use server::{serve_web, serve_web_to_devices};
pub use sessions::SignInCodes;
pub use setting_fields::{SettingField, SettingGroup, SettingKind, SettingsOverview};
pub use state::{RemoteAccess, WebHost, WebServerConfig};
