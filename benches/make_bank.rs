//! Writes a generated bank to standard output: `make-bank KEYS BYTES`.
//!
//! Each value has about `BYTES` bytes.

use std::env;
use std::error::Error;
use std::io::{BufWriter, Write, stdout};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args()
        .skip(1)
        .map(|argument| argument.parse::<usize>());
    let usage = "usage: make-bank KEYS BYTES";
    let (keys, bytes) = (
        arguments.next().ok_or(usage)??,
        arguments.next().ok_or(usage)??,
    );
    let mut out = BufWriter::new(stdout().lock());
    let times = r#""created_at": "2024-01-15T10:30:00Z", "updated_at": "2024-01-15T14:45:00Z", "ttl": null"#;
    writeln!(
        out,
        r#"{{"_meta": {{"version": 1, "created_at": "2024-01-15T10:30:00Z", "updated_at": "2024-01-15T14:45:00Z"}},"#
    )?;
    write!(out, r#""entries": {{"#)?;
    for key in 0..keys {
        let comma = if key == 0 { "" } else { "," };
        let done = key % 3 == 0;
        let text = "some words that nobody reads ".repeat(bytes.saturating_sub(60) / 29 + 1);
        let value = format!(
            r#"{{"done": {done}, "n": {key}.5, "text": "{}"}}"#,
            text.trim()
        );
        write!(
            out,
            "{comma}\n\"key-{key:05}\": {{\"value\": {value}, {times}}}"
        )?;
    }
    writeln!(out, "\n}}}}")?;
    Ok(())
}
