//! The tools as JSON-RPC 2.0, one message per line, for all frontends. This module does no I/O.
//!
//! | method | parameters | result |
//! |---|---|---|
//! | `tools/list` | `{all?}` | `{tools: [{name, description, parameters}]}`; `all` adds the tools that are not listed |
//! | `tools/call` | `{name, params?}` | the result of the tool; `arguments` is an alias of `params` |
//! | the name of a tool | those of the tool | the result of the tool, see [`crate::json`] |
//! | `session/open` | `{agent?, project?}` | `{agent, project, scopes}`; sets the view of all later requests |
//! | `embed` | `{texts}` | `{identity, vectors}`, computed by the embedding model of this process |
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
//! Each error has `data: {code, hint?}` with the permanent error code ([`memory_core::Code`]).

mod answer;
mod fault;
mod request;
mod speech;

pub(crate) use answer::described;
pub use answer::tools;
pub use fault::Fault;
pub use request::{Ask, Line, MOST, Request, read};
pub use speech::{Speech, Work};
