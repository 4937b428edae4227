//! A file that a command writes.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::app::App;
use crate::failure::Failure;

/// A file that replaces another one when it is complete.
pub(super) struct OutputFile<'a> {
    file: &'a Path,
    place: String,
    draft: BufWriter<NamedTempFile>,
}

impl<'a> OutputFile<'a> {
    pub(super) fn create(file: &'a Path, app: &App) -> Result<Self, Failure> {
        let place = app.output.display_path(file);
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        match NamedTempFile::new_in(folder) {
            Ok(draft) => Ok(Self {
                file,
                place,
                draft: BufWriter::new(draft),
            }),
            Err(source) => Err(Failure::File {
                action: format!("write {place}"),
                source,
            }),
        }
    }

    pub(super) fn write(&mut self, text: &str) -> Result<(), Failure> {
        let written = self.draft.write_all(text.as_bytes());
        written.map_err(|source| Failure::File {
            action: format!("write {}", self.place),
            source,
        })
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        let failed = |source: io::Error| Failure::File {
            action: format!("write {}", self.place),
            source,
        };
        let draft = self
            .draft
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        draft.as_file().sync_all().map_err(failed)?;
        draft
            .persist(self.file)
            .map(drop)
            .map_err(|error| failed(error.error))
    }
}
