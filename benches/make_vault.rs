//! Writes a vault of generated notes: `make-vault FOLDER NOTES`.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let (Some(folder), Some(notes)) = (arguments.next(), arguments.next()) else {
        return Err(io::Error::other("usage: make-vault FOLDER NOTES"));
    };
    let (folder, notes) = (
        PathBuf::from(folder),
        notes.parse::<u32>().map_err(io::Error::other)?,
    );
    for number in 0..notes {
        let place = folder.join(format!("{:03}", number / 1_000));
        fs::create_dir_all(&place)?;
        fs::write(
            place.join(format!("note {number}.md")),
            corpus::note_file(number),
        )?;
    }
    Ok(())
}
