//! The tools as JSON-RPC 2.0, one line each way, for every front that speaks it. All of it is data; what waits is elsewhere.
//!
//! | method | parameters | answer |
//! |---|---|---|
//! | `tools/list` | `{all?}` | `{tools: [{name, description, parameters}]}`; all that may be called with `all` |
//! | `tools/call` | `{name, params?}` | what the tool says, see [`crate::json`]; `arguments` is another name of `params` |
//! | the name of a tool | those of the tool | the same |
//! | `session/open` | `{agent?, project?}` | `{agent, project, scopes}`; who is speaking from the next request on |
//! | `embed` | `{texts}` | `{identity, vectors}`, by the embedding model that is open here |
//! | `ping` | | `{}` |
//!
//! A request without `id` is not answered, `jsonrpc` may be left out, and a list of requests is answered by one list. A line
//! of blanks asks for nothing.
//!
//! | error | what it says |
//! |---:|---|
//! | -32700 | the line is no JSON: not well-formed, not UTF-8, or nested too deep |
//! | -32600 | it is JSON, and no request |
//! | -32601 | there is no such method or tool |
//! | -32602 | the parameters are not what is asked for |
//! | -32000 | anything else |
//!
//! Each has `data: {code, hint?}`, with the permanent name of what went wrong ([`memory_core::Code`]).

mod answer;
mod fault;
mod request;
mod speech;

pub(crate) use answer::described;
pub use answer::tools;
pub use fault::Fault;
pub use request::{Ask, Line, MOST, Request, read};
pub use speech::{Speech, Work};
