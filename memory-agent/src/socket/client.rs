//! A request to a server on a local socket.

use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{NAME, connect};

/// Sends a request to the server of the home at `root`, and returns the result; `None` without one within `timeout`.
pub fn request(root: &Path, method: &str, params: &Value, timeout: Duration) -> Option<Value> {
    let end = Instant::now() + timeout;
    let stream = connect(&root.join(NAME)).ok()?;
    stream.set_write_timeout(Some(timeout)).ok()?;
    let request = json!({ "id": 1, "method": method, "params": params });
    (&stream)
        .write_all(format!("{request}\n").as_bytes())
        .ok()?;
    let mut line = Vec::new();
    let mut buffer = [0; 1 << 14];
    while !line.ends_with(b"\n") {
        let left = end
            .checked_duration_since(Instant::now())
            .filter(|left| !left.is_zero())?;
        stream.set_read_timeout(Some(left)).ok()?;
        match (&stream).read(&mut buffer).ok()? {
            0 => return None,
            read => line.extend_from_slice(&buffer[..read]),
        }
    }
    let mut answer: Value = serde_json::from_slice(&line).ok()?;
    answer.get_mut("result").map(Value::take)
}
