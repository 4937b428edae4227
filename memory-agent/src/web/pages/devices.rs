//! The devices that are paired with the page.
//!
//! - Purpose: see which phones and other computers reach the memory, and end the access of each at once.
//! - First thing a person sees: the devices with the time of their last use; without any, how to pair one.
//! - Actions by frequency: pair a device (on the computer), revoke or rename one, trust the certificate on a phone so that it installs the page.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use memory_core::Code;

use crate::web::certificate::PageCertificate;
use crate::web::devices::{PairedDevices, rename, revoke};
use crate::web::error::{PageError, render};
use crate::web::html::Label;
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

const PATH: &str = "/devices";
const CERTIFICATE: &str = "/devices/certificate";

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route(PATH, get(show))
        .route("/devices/revoke", post(revoke_device))
        .route("/devices/rename", post(rename_device))
        .route(CERTIFICATE, get(show_certificate))
}

#[derive(Template)]
#[template(path = "devices.html")]
struct DevicesPage {
    layout: Layout,
    rows: Vec<DeviceRow>,
    /// The fingerprint of the certificate, on the local network.
    fingerprint: Option<String>,
}

struct DeviceRow {
    id: String,
    name: Label,
    paired: TimeLabel,
    last_seen: TimeLabel,
    is_this: bool,
}

async fn show(request: WebRequest) -> Response {
    request.respond(render_devices).await
}

fn render_devices(request: &WebRequest) -> Result<Response, PageError> {
    let web = &request.web;
    let devices = PairedDevices::parse(web.config.host.devices()?.as_deref())?;
    let now = request.services.clock.now();
    let label = |time| TimeLabel::new(request.local(time), request.local(now));
    let rows = devices.active(now).into_iter().map(|device| DeviceRow {
        id: device.id.clone(),
        name: Label::new(&device.name),
        paired: label(device.paired_at),
        last_seen: label(device.last_seen),
        is_this: request.device() == Some(device.id.as_str()),
    });
    let certificate = web.remote.as_ref().and_then(|remote| remote.certificate());
    Ok(render(&DevicesPage {
        layout: request.layout("Devices"),
        rows: rows.collect(),
        fingerprint: certificate.map(PageCertificate::fingerprint),
    }))
}

async fn revoke_device(request: WebRequest) -> Response {
    let work = |request: &WebRequest| {
        revoke(request.web.config.host.as_ref(), request.form.get("id"))?;
        Ok(request.redirect(PATH))
    };
    request.respond(work).await
}

async fn rename_device(request: WebRequest) -> Response {
    let work = |request: &WebRequest| {
        let name = request.form.get("name").trim();
        if name.is_empty() {
            return Err(PageError::invalid("the device needs a name"));
        }
        rename(
            request.web.config.host.as_ref(),
            request.form.get("id"),
            name,
        )?;
        Ok(request.redirect(PATH))
    };
    request.respond(work).await
}

async fn show_certificate(request: WebRequest) -> Response {
    let work = |request: &WebRequest| {
        let remote = request.web.remote.as_ref();
        let Some(certificate) = remote.and_then(|remote| remote.certificate()) else {
            return Err(PageError::new(
                Code::RouteNotFound,
                "the page has no certificate here",
                "open Devices on a phone",
            ));
        };
        let headers = [
            (CONTENT_TYPE, "application/x-x509-ca-cert"),
            (CONTENT_DISPOSITION, "attachment; filename=\"memory.crt\""),
        ];
        Ok((headers, certificate.authority().to_vec()).into_response())
    };
    request.respond(work).await
}
