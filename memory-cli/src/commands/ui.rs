//! The `memory ui` command.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use memory_agent::socket;
use memory_agent::web::{SignInCodes, serve_web};
use memory_store::PublishedPage;
use serde_json::json;
use tokio::runtime::Builder;

use super::shutdown_signal::ShutdownSignal;
use crate::app::App;
use crate::embedding;
use crate::failure::Failure;
use crate::web_page;

/// Open the page to browse, correct and undo memories in a browser
///
/// The page is served on this machine only, and only to programs of the same user. It asks for the code that this command prints,
/// which is valid once and for one minute. If the daemon runs (`memory serve`), the daemon serves the page, and this command
/// ends at once; otherwise this command serves it until Ctrl-C.
///
/// JSON: {url, code, pid?}; `pid` is the process of this command, if it serves the page
#[derive(Debug, Args)]
pub(crate) struct UiArgs {
    /// Print the address and the code, and do not start a browser
    #[arg(long)]
    no_open: bool,
    /// Port of the page, if the daemon does not serve it yet [default: 8719, or a free port]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
}

impl UiArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open_long_running()?;
        if let Some((address, code)) = request_from_daemon(home.store.root(), self.port) {
            return self.present(address, &code, false, app);
        }
        let codes = Arc::new(SignInCodes::default());
        let config = web_page::configure(
            &home,
            embedding::open_lazily(&home.settings),
            Arc::clone(&codes),
        )?;
        let listener =
            web_page::listen(self.port).map_err(Failure::file("listen for the browser"))?;
        let address = listener
            .local_addr()
            .map_err(Failure::file("listen for the browser"))?;
        // Without it, other commands only do not name the address.
        let published = PublishedPage::publish(home.store.root(), address);
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Failure::file("serve the page"))?;
        let mut ending = ShutdownSignal::install()?;
        self.present(address, &codes.issue()?, true, app)?;
        let done = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            serve_web(listener, config, ending.requested()).await
        });
        drop((ending, published));
        runtime.shutdown_background();
        done.map_err(Failure::file("serve the page"))
    }

    /// Prints the address and the code, and starts the browser.
    fn present(
        &self,
        address: SocketAddr,
        code: &str,
        is_serving: bool,
        app: &mut App,
    ) -> Result<(), Failure> {
        let url = format!("http://{address}/");
        if app.output.is_json() {
            let mut shape = json!({ "url": url, "code": code });
            if is_serving {
                shape["pid"] = std::process::id().into();
            }
            app.output.json(&shape)?;
        } else {
            app.output.fields(&[&url, code])?;
            app.output.note(
                "enter the code on the page within one minute; `memory ui` prints a new one",
            )?;
            if is_serving {
                app.output.note("press Ctrl-C to stop")?;
            }
        }
        app.output.flush()?;
        if !self.no_open && !open_browser(&url) {
            app.output
                .note("no browser was started; open the address yourself")?;
            app.output.flush()?;
        }
        Ok(())
    }
}

/// Maximum time to wait for the daemon.
const DAEMON_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the address of the page and a code from the daemon of the home; `None` if none runs or it serves no page.
fn request_from_daemon(root: &Path, port: Option<u16>) -> Option<(SocketAddr, String)> {
    let params = json!({ "port": port });
    let result = socket::request(root, "ui/open", &params, DAEMON_TIMEOUT)?;
    Some((
        result["address"].as_str()?.parse().ok()?,
        result["code"].as_str()?.to_owned(),
    ))
}

/// Starts the browser of the user at `url`; returns whether a program for this was found.
///
/// The URL contains no code: other users can read the arguments of a process.
fn open_browser(url: &str) -> bool {
    let program = match () {
        () if cfg!(target_os = "macos") => "open",
        () if cfg!(windows) => "explorer",
        () => "xdg-open",
    };
    let started = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    // The browser runs on when this command ends.
    started.is_ok()
}
