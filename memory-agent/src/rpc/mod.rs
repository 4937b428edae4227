//! The tools as JSON-RPC 2.0, one message per line, for all frontends. This module does no I/O.
//!
//! | method | parameters | result |
//! |---|---|---|
//! | `tools/list` | `{all?}` | `{tools: [{name, description, parameters}]}`; `all` adds the tools that are not listed |
//! | `tools/call` | `{name, params?}` | the result of the tool; `arguments` is an alias of `params` |
//! | the name of a tool | those of the tool | the result of the tool, see [`crate::json`] |
//! | `session/open` | `{agent?, project?}` | `{agent, project, scopes}`; sets the view of all later requests |
//! | `embed` | `{texts}` | `{identity, vectors}`, computed by the embedding model of this process |
//! | `ui/open` | `{port?}` | `{address, code}` of the web page, with a code to sign in; only where the page is served |
//! | `ping` | | `{}` |
//!
//! A request without `id` gets no response, `jsonrpc` may be omitted, and a list of requests gets one list of
//! responses. A blank line is ignored.
//!
//! | error | meaning |
//! |---:|---|
//! | -32700 | the line is not JSON: malformed, not UTF-8, or nested too deep |
//! | -32600 | it is JSON, but not a request |
//! | -32601 | unknown method or tool |
//! | -32602 | invalid parameters |
//! | -32000 | any other error |
//!
//! Each error has `data: {code, hint?}` with the permanent error code ([`memory_core::Code`]). A request that is not JSON is answered with
//! its id, if the id can be read.
//!
//! A line becomes requests, a request becomes work that any thread may do, and the work becomes a response.

mod connection;
mod error;
mod message_id;
mod request;

pub use connection::{RpcConnection, RpcWork, describe_tool, list_tools};
pub use error::RpcError;
pub(crate) use message_id::MessageIdScanner;
pub use request::{LONGEST_LINE, MOST, RpcLine, RpcMethod, RpcRequest, parse_line};
