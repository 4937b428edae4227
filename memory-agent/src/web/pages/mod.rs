//! The pages. Each module has the routes, the handlers and the templates of one section.

mod activity;
mod agent_summary;
mod ask;
mod assistants;
mod banks;
mod charts;
mod conversations;
mod deleted;
mod devices;
mod edit_memory;
mod editor;
mod export;
mod graph;
mod health;
mod import;
mod inbox;
mod inbox_item;
mod inbox_plan;
mod instances;
mod lookup;
mod memories;
mod memory;
mod memory_filter;
mod memory_parts;
mod merge;
mod projects;
mod reminders;
mod sessions;
mod settings;
mod today;
mod topics;
mod write;

use std::sync::Arc;

use axum::Router;

pub(super) use charts::ChartNumbers;

use super::state::WebState;

/// Returns the routes of all pages.
pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .merge(today::routes())
        .merge(lookup::routes())
        .merge(memories::routes())
        .merge(memory::routes())
        .merge(merge::routes())
        .merge(edit_memory::routes())
        .merge(write::routes())
        .merge(deleted::routes())
        .merge(inbox::routes())
        .merge(inbox_plan::routes())
        .merge(reminders::routes())
        .merge(graph::routes())
        .merge(activity::routes())
        .merge(charts::routes())
        .merge(ask::routes())
        .merge(assistants::routes())
        .merge(projects::routes())
        .merge(sessions::routes())
        .merge(topics::routes())
        .merge(banks::routes())
        .merge(conversations::routes())
        .merge(instances::routes())
        .merge(import::routes())
        .merge(export::routes())
        .merge(settings::routes())
        .merge(devices::routes())
        .merge(health::routes())
}
