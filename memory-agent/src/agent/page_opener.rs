//! The interface through which clients open the web page of a server.

use std::fmt::Debug;
use std::net::SocketAddr;

use memory_core::ToolError;

/// Serves the web page on request.
pub trait PageOpener: Debug + Send + Sync {
    /// Serves the page, if it is not served yet, and returns its address with a new sign-in code.
    ///
    /// `port` applies only to the first call; without it, the implementation chooses one.
    ///
    /// # Errors
    /// If no listener can be opened.
    fn open_page(&self, port: Option<u16>) -> Result<OpenedPage, ToolError>;
}

/// The address of the web page, and a code to sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedPage {
    /// The address.
    pub address: SocketAddr,
    /// The code, which is valid once and for 60 seconds.
    pub code: String,
}
