//! Exports for the web page, as `memory export` writes them.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use memory_agent::web::{ExportDownload, ExportRequest};
use memory_ingest::export::ExportFormatName;
use serde_json::Value;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::commands::export::ExportRun;
use crate::commands::session_export::write_sessions;
use crate::failure::Failure;
use crate::home::Home;
use crate::ingestion::open_history;
use crate::instances::DEFAULT;
use crate::shared_store::record_export;

/// The format of all fields, which an import restores.
const LINES: &str = "jsonl";

/// The format of the sessions.
const SESSIONS: &str = "sessions";

/// Returns the name and the title of each format.
pub(crate) fn formats() -> Vec<(String, String)> {
    let own = [
        (LINES, "All fields, to import them again (JSON lines)"),
        (SESSIONS, "Sessions instead of memories (JSON lines)"),
    ];
    let title = |format: &ExportFormatName| match format {
        ExportFormatName::Okf => "Open Knowledge Format (ZIP of Markdown files)",
        ExportFormatName::Obsidian => "Obsidian (ZIP of Markdown files)",
        ExportFormatName::BasicMemory => "Basic Memory (ZIP of Markdown files)",
        ExportFormatName::Mem0 => "mem0 (JSON)",
        ExportFormatName::ServerMemory => "MCP server memory (JSON lines)",
        ExportFormatName::Html => "A page to read in a browser (HTML)",
    };
    let others = ExportFormatName::ALL
        .iter()
        .map(|format| (format.as_str(), title(format)));
    let all = own[..1]
        .iter()
        .copied()
        .chain(others)
        .chain(own[1..].iter().copied());
    all.map(|(name, title)| (name.to_owned(), title.to_owned()))
        .collect()
}

/// Writes an export to a temporary file without a name, which vanishes when it is closed.
pub(crate) fn export(home: &Home, request: &ExportRequest) -> Result<ExportDownload, Failure> {
    let failed = || Failure::file("write the export to a temporary file");
    let file = tempfile::tempfile().map_err(failed())?;
    let mut run = ExportRun::new(home, request.filter.clone());
    let (file, ending, media_type) = match request.format.as_str() {
        LINES => {
            let mut out = BufWriter::new(file);
            run.lines(request.has_history, &mut |memory: &Value| {
                writeln!(out, "{memory}").map_err(failed())
            })?;
            (
                finish(out).map_err(failed())?,
                "memories.jsonl",
                "application/jsonl",
            )
        }
        SESSIONS => {
            let mut out = BufWriter::new(file);
            let messages = open_history(DEFAULT, &home.settings)?;
            write_sessions(&messages, &mut run.problems, &mut |line| {
                writeln!(out, "{line}").map_err(failed())
            })?;
            (
                finish(out).map_err(failed())?,
                "sessions.jsonl",
                "application/jsonl",
            )
        }
        name => {
            let format: ExportFormatName =
                name.parse().map_err(|error: memory_core::ParseError| {
                    Failure::usage(error.to_string(), "choose a format of the list")
                })?;
            if format.is_folder() {
                let ending = match format {
                    ExportFormatName::Okf => "okf.zip",
                    ExportFormatName::Obsidian => "obsidian.zip",
                    _ => "basic-memory.zip",
                };
                (
                    write_archive(&mut run, format, file)?,
                    ending,
                    "application/zip",
                )
            } else {
                let mut out = BufWriter::new(file);
                run.parts(format, &mut |part| {
                    out.write_all(part.text.as_bytes()).map_err(failed())
                })?;
                let (ending, media_type) = match format {
                    ExportFormatName::Html => ("memories.html", "text/html"),
                    ExportFormatName::Mem0 => ("mem0.json", "application/json"),
                    _ => ("memory.jsonl", "application/jsonl"),
                };
                (finish(out).map_err(failed())?, ending, media_type)
            }
        }
    };
    if request.format != SESSIONS {
        run.find_unread()?;
    }
    let is_recorded = request.format == SESSIONS
        || record_export(&home.settings, &format!("{} memories", run.memories)).is_none();
    // The name of the file shows these problems: the browser stores it without another message.
    let mark = match (is_recorded, run.problems.is_empty()) {
        (true, true) => "",
        (true, false) => "incomplete-",
        (false, true) => "unrecorded-",
        (false, false) => "incomplete-unrecorded-",
    };
    let day = home.now().date_naive();
    Ok(ExportDownload {
        name: format!("{day}-{mark}{ending}"),
        media_type,
        file,
    })
}

/// Writes the files of an export in folders as an archive.
fn write_archive(
    run: &mut ExportRun<'_>,
    format: ExportFormatName,
    file: File,
) -> Result<File, Failure> {
    let failed = || Failure::file("write the archive to a temporary file");
    let mut archive = ZipWriter::new(BufWriter::new(file));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    run.parts(format, &mut |part| {
        archive
            .start_file(part.path.as_str(), options)
            .map_err(io::Error::from)
            .and_then(|()| archive.write_all(part.text.as_bytes()))
            .map_err(failed())
    })?;
    let out = archive
        .finish()
        .map_err(io::Error::from)
        .map_err(failed())?;
    finish(out).map_err(failed())
}

/// Returns the file of a writer, to be read from its start.
fn finish(out: BufWriter<File>) -> io::Result<File> {
    let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    Ok(file)
}
