//! A plain HTTP client, which sends requests that no browser would send.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::home::WebHome;

/// A response.
pub(crate) struct PlainResponse {
    pub(crate) status: u16,
    /// The status line and the headers.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl PlainResponse {
    /// Returns the value of a header, or nothing.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .filter(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .next()
    }
}

/// Sends bytes to a server and reads the response until the server closes the connection.
pub(crate) fn exchange(authority: &str, request: &str) -> PlainResponse {
    let mut stream = TcpStream::connect(authority).expect("a connection");
    // A server that refuses a request may close the connection before it has read everything.
    let _ = stream.write_all(request.as_bytes());
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response);
    let response = String::from_utf8_lossy(&response).into_owned();
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or((&response, ""));
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .unwrap_or_default();
    PlainResponse {
        status,
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

/// A session of the page, whose cookie and token a plain client uses.
pub(crate) struct PlainSession<'a> {
    home: &'a WebHome,
    pub(crate) cookie: String,
    pub(crate) csrf: String,
}

impl<'a> PlainSession<'a> {
    /// Signs in with the code of the home.
    pub(crate) fn sign_in(home: &'a WebHome) -> Self {
        let body = format!("code={}", home.code());
        let headers = format!("Host: {0}\r\nOrigin: http://{0}\r\n", home.authority());
        let response = exchange(home.authority(), &post_request("/sign-in", &headers, &body));
        let cookie = response
            .header("set-cookie")
            .unwrap_or_else(|| panic!("{}", response.head));
        Self::with_cookie(home, cookie.split(';').next().unwrap_or_default())
    }

    fn with_cookie(home: &'a WebHome, cookie: &str) -> Self {
        let mut session = Self {
            home,
            cookie: cookie.to_owned(),
            csrf: String::new(),
        };
        let page = session.get("/memories").body;
        let field = page
            .split("name=\"csrf\" value=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        field
            .unwrap_or_else(|| panic!("no token in {page}"))
            .clone_into(&mut session.csrf);
        session
    }

    pub(crate) fn get(&self, path: &str) -> PlainResponse {
        self.get_with(path, &format!("Host: {}\r\n", self.home.authority()))
    }

    /// Sends a GET request with other headers.
    pub(crate) fn get_with(&self, path: &str, headers: &str) -> PlainResponse {
        let request = format!(
            "GET {path} HTTP/1.1\r\nConnection: close\r\nCookie: {}\r\n{headers}\r\n",
            self.cookie
        );
        exchange(self.home.authority(), &request)
    }

    /// Posts a form with the token, as the own page does.
    pub(crate) fn post(&self, path: &str, form: &str) -> PlainResponse {
        let headers = format!(
            "Host: {0}\r\nOrigin: http://{0}\r\nSec-Fetch-Site: same-origin\r\n",
            self.home.authority()
        );
        self.post_with(path, &headers, &format!("{form}&csrf={}", self.csrf))
    }

    /// Posts a form with other headers.
    pub(crate) fn post_with(&self, path: &str, headers: &str, form: &str) -> PlainResponse {
        exchange(
            self.home.authority(),
            &post_request(path, &format!("Cookie: {}\r\n{headers}", self.cookie), form),
        )
    }
}

/// Returns a request that posts a form.
pub(crate) fn post_request(path: &str, headers: &str, form: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n{headers}\r\n{form}",
        form.len()
    )
}
