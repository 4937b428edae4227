//! The `memory ui` command.
//!
//! For phones it always serves the page itself: then it is reachable only while the command runs.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use memory_agent::socket;
use memory_agent::web::{
    PageCertificate, PairedDevices, RemoteAccess, SignInCodes, serve_web, serve_web_to_devices,
};
use memory_store::{PrivateFile, PublishedPage};
use qrcodegen::{QrCode, QrCodeEcc};
use serde_json::json;
use tokio::runtime::Builder;

use super::shutdown_signal::ShutdownSignal;
use crate::app::App;
use crate::embedding;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::{Table, TableColumn};
use crate::web_page;

/// Open the page to browse, correct and undo memories in a browser
///
/// The page is served on this machine only, and only to programs of the same user. It asks for the code that this command prints,
/// which is valid once and for one minute. If the daemon runs (`memory daemon run`), the daemon serves the page, and this command
/// ends at once; otherwise this command serves it until Ctrl-C.
///
/// With `--lan`, phones in the same network reach the page over HTTPS while the command runs, at that address alone. A phone scans the
/// picture that the command shows, or enters the code, within five minutes. It then stays paired for 90 days, until you revoke it.
///
/// JSON: {url, code, pid?, fingerprint?}; `pid` is the process of this command, if it serves the page, and `fingerprint` that of its
/// certificate. With `--devices`: {devices: [{id, name, paired_at, last_seen}]}; with `--revoke`: {revoked}
#[derive(Debug, Args)]
pub(crate) struct UiArgs {
    /// Print the address and the code, and do not start a browser
    #[arg(long)]
    no_open: bool,
    /// Port of the page, if the daemon does not serve it yet [default: 8719, or a free port]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Serve the page to phones on the local network, at this address of the machine [default: that of its network]
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = "0.0.0.0",
        conflicts_with_all = ["tunnel", "devices", "revoke"]
    )]
    lan: Option<IpAddr>,
    /// Serve the page to phones through a tunnel of yours that forwards this https:// address to the port
    #[arg(long, value_name = "URL", conflicts_with_all = ["devices", "revoke"])]
    tunnel: Option<String>,
    /// List the paired devices
    #[arg(long, conflicts_with = "revoke")]
    devices: bool,
    /// End the access of the paired device with this id
    #[arg(long, value_name = "ID")]
    revoke: Option<String>,
}

impl UiArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        if self.devices {
            return list_devices(app);
        }
        if let Some(id) = &self.revoke {
            return revoke_device(id, app);
        }
        let home = app.open_long_running()?;
        if let Some(access) = self.open_to_devices(&home)? {
            return serve_devices(&home, access, app);
        }
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

    /// Opens a listener for other devices, if the arguments request it.
    fn open_to_devices(&self, home: &Home) -> Result<Option<(TcpListener, RemoteAccess)>, Failure> {
        let port = self.port.unwrap_or(DEVICE_PORT);
        if let Some(url) = &self.tunnel {
            let access = RemoteAccess::tunnel(url)?;
            let listener = web_page::listen(Some(port));
            return Ok(Some((listener.map_err(port_failure(port))?, access)));
        }
        let Some(address) = self.lan else {
            return Ok(None);
        };
        let address = if address.is_unspecified() {
            find_network_address()?
        } else {
            address
        };
        if !is_private(address) {
            return Err(Failure::usage(
                format!("{address} is not an address of a local network"),
                "name one, such as --lan 192.168.1.5, or use a tunnel with --tunnel https://NAME",
            ));
        }
        let listener = TcpListener::bind(SocketAddr::new(address, port))
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .map_err(port_failure(port))?;
        let address = listener.local_addr().map_err(port_failure(port))?;
        let certificate = find_certificate(home, address.ip())?;
        Ok(Some((
            listener,
            RemoteAccess::network(address, certificate),
        )))
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

/// The port for other devices. They find the page again under the same address, and their cookie belongs to it.
const DEVICE_PORT: u16 = 8720;

fn port_failure(port: u16) -> impl FnOnce(io::Error) -> Failure {
    Failure::file(format!("listen for other devices on port {port}"))
}

/// Returns the address of this machine in its network. Nothing is sent: the system only chooses the way to another network.
fn find_network_address() -> Result<IpAddr, Failure> {
    let chosen = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| {
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9))?;
        socket.local_addr()
    });
    chosen.map(|address| address.ip()).map_err(|_| {
        Failure::usage(
            "this machine is in no network",
            "connect it, or name its address: --lan ADDRESS",
        )
    })
}

/// Returns whether an address is reachable from this machine or its own networks only.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            // Private networks that connect devices of one person use the addresses of RFC 6598.
            let [first, second, ..] = address.octets();
            address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || first == 100 && (64..128).contains(&second)
        }
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local(),
    }
}

/// Returns the certificate for an address, and creates it if there is none or it expires soon.
fn find_certificate(home: &Home, address: IpAddr) -> Result<PageCertificate, Failure> {
    let name = format!("{address}.pem").replace(':', "-");
    let (file, now) = (
        PrivateFile::new(home.store.root(), &name),
        home.services.clock.now(),
    );
    let stored = file.read()?;
    if let Some(found) = stored.and_then(|text| PageCertificate::parse(&text, now)) {
        return Ok(found);
    }
    let created = PageCertificate::create(address, now)?;
    file.change::<Failure>(|_| Ok(created.text().to_owned()))?;
    Ok(created)
}

/// Serves the page to other devices until Ctrl-C.
fn serve_devices(
    home: &Home,
    (listener, access): (TcpListener, RemoteAccess),
    app: &mut App,
) -> Result<(), Failure> {
    let codes = Arc::new(SignInCodes::default());
    let embedder = embedding::open_lazily(&home.settings);
    let config = web_page::configure(home, embedder, Arc::clone(&codes))?;
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::file("serve the page"))?;
    let mut ending = ShutdownSignal::install()?;
    present_to_devices(&listener, &access, &codes.issue_for_device()?, app)?;
    let done = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        serve_web_to_devices(listener, config, access, ending.requested()).await
    });
    drop(ending);
    runtime.shutdown_background();
    done.map_err(Failure::file("serve the page"))
}

/// Prints the address and the code, also as a picture that a phone reads.
///
/// In the picture, the code is behind `#`, which browsers never send to a server.
fn present_to_devices(
    listener: &TcpListener,
    access: &RemoteAccess,
    code: &str,
    app: &mut App,
) -> Result<(), Failure> {
    let output = &mut app.output;
    let url = format!("https://{}/", access.authority());
    let fingerprint = access.certificate().map(PageCertificate::fingerprint);
    if output.is_json() {
        let mut shape = json!({ "url": url, "code": code, "pid": std::process::id() });
        if let Some(fingerprint) = fingerprint {
            shape["fingerprint"] = fingerprint.into();
        }
        output.json(&shape)?;
        return output.flush();
    }
    output.fields(&[&url, code])?;
    if output.is_drawn() {
        let picture = QrCode::encode_text(&format!("{url}sign-in#{code}"), QrCodeEcc::Low);
        for line in picture.iter().flat_map(draw_picture) {
            output.line(&line)?;
        }
    }
    let scan = if output.is_drawn() {
        "scan the picture with the phone, or "
    } else {
        ""
    };
    output.note(&format!("{scan}open the address on the phone and enter the code within five minutes; run the command again for a new code"))?;
    if let Some(fingerprint) = fingerprint {
        output.note(&format!("the browser warns that it does not know the certificate; its SHA-256 fingerprint is {fingerprint}"))?;
    } else {
        let port = listener.local_addr().map_err(port_failure(0))?.port();
        output.note(&format!(
            "the tunnel must forward {url} to http://127.0.0.1:{port} and keep the host name"
        ))?;
    }
    output.note(
        "press Ctrl-C to stop; paired devices stay paired, and `memory ui --devices` lists them",
    )?;
    output.flush()
}

/// Width of the margin without which phones do not find a code, in modules.
const MARGIN: i32 = 2;

/// Returns the lines of a code. Each character has two rows of modules; bright ones are drawn, because most terminals are dark.
fn draw_picture(picture: &QrCode) -> Vec<String> {
    let is_bright = |x: i32, y: i32| y < picture.size() + MARGIN && !picture.get_module(x, y);
    let range = -MARGIN..picture.size() + MARGIN;
    let line = |y: i32| {
        let modules = range
            .clone()
            .map(|x| match (is_bright(x, y), is_bright(x, y + 1)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            });
        modules.collect()
    };
    range.clone().step_by(2).map(line).collect()
}

fn list_devices(app: &mut App) -> Result<(), Failure> {
    let home = app.open()?;
    let text = web_page::devices_file(&home).read()?;
    let devices = PairedDevices::parse(text.as_deref())?;
    let active = devices.active(app.now());
    if app.output.is_json() {
        let rows: Vec<_> = active
            .iter()
            .map(|device| {
                json!({ "id": device.id, "name": device.name, "paired_at": device.paired_at, "last_seen": device.last_seen })
            })
            .collect();
        return app.output.json(&json!({ "devices": rows }));
    }
    let mut table = Table::new([
        TableColumn::Whole("id"),
        TableColumn::Text("name"),
        TableColumn::Whole("paired"),
        TableColumn::Whole("last used"),
    ]);
    for device in &active {
        let times = [device.paired_at, device.last_seen].map(|time| app.output.time(time));
        table.push([&device.id, &device.name, &times[0], &times[1]].map(String::as_str));
    }
    app.output.table(&table)?;
    if active.is_empty() {
        app.output.note("no device is paired")?;
    }
    Ok(())
}

fn revoke_device(id: &str, app: &mut App) -> Result<(), Failure> {
    let home = app.open()?;
    web_page::devices_file(&home).change::<Failure>(|text| {
        let mut devices = PairedDevices::parse(text.as_deref())?;
        if devices.revoke(id) {
            return Ok(devices.to_text());
        }
        Err(Failure::usage(
            format!("no paired device has the id {id}"),
            "list them with `memory ui --devices`",
        ))
    })?;
    if app.output.is_json() {
        return app.output.json(&json!({ "revoked": id }));
    }
    app.output
        .note(&format!("the device {id} has no access any more"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_a_local_network_are_served() {
        for own in [
            "192.168.1.5",
            "10.0.0.1",
            "172.16.9.9",
            "169.254.1.1",
            "100.100.1.1",
            "127.0.0.1",
            "::1",
            "fd00::1",
        ] {
            assert!(is_private(own.parse().expect("an address")), "{own}");
        }
        for other in [
            "0.0.0.0",
            "8.8.8.8",
            "100.128.0.1",
            "172.32.0.1",
            "::",
            "2001:db8::1",
        ] {
            assert!(!is_private(other.parse().expect("an address")), "{other}");
        }
    }

    #[test]
    fn a_code_is_drawn_with_a_bright_margin() {
        let picture = QrCode::encode_text("https://192.168.1.5:8720/", QrCodeEcc::Low);
        let lines = draw_picture(&picture.expect("a code"));
        let width = lines[0].chars().count();
        assert!(lines.iter().all(|line| line.chars().count() == width));
        assert!(
            lines[0].chars().all(|module| module == '█'),
            "two rows of the margin"
        );
        assert_eq!(
            lines[1].chars().nth(2),
            Some(' '),
            "the corner of the first square"
        );
    }
}
