//! Banks that are compressed, so that a part of one can be read without the rest.
//!
//! A gzip file may be made of several members ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952), 2.2), and `gunzip` reads them as one
//! text. We begin a new one every 64 KB, between two entries: who knows where the members begin can read an entry by itself, and a
//! change writes anew only the members that it touches.

use std::io::{self, Read, Write};
use std::ops::Range;

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

use super::edit::Edit;

/// How much text a member holds at least, but the last.
const MEMBER: usize = 64 * 1024;

/// The most text that is unpacked, in bytes.
const MAX_TEXT: u64 = 64 * 1024 * 1024;

/// Where one member is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Its place in the text.
    pub text: Range<usize>,
    /// Its place in the file.
    pub file: Range<usize>,
}

/// Tells whether bytes are compressed.
pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Unpacks all members.
///
/// # Errors
/// When they are damaged, or hold more than we read.
pub(super) fn unpack(bytes: &[u8]) -> io::Result<(Vec<u8>, Vec<Member>)> {
    let (mut text, mut members) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        let start = text.len();
        let mut decoder = GzDecoder::new(&bytes[at..]);
        let room = MAX_TEXT + 1 - text.len() as u64;
        Read::take(&mut decoder, room).read_to_end(&mut text)?;
        if MAX_TEXT < text.len() as u64 {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it unpacks to more than {MAX_TEXT} bytes")));
        }
        let end = bytes.len() - decoder.into_inner().len();
        members.push(Member { text: start..text.len(), file: at..end });
        at = end;
    }
    Ok((text, members))
}

/// Returns where the members of a packed file are; none if it is damaged.
pub(super) fn members(bytes: &[u8]) -> Vec<Member> {
    unpack(bytes).map_or_else(|_| Vec::new(), |(_, members)| members)
}

/// Unpacks what can be, and tells whether that is all.
pub(super) fn unpack_what_can_be(bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut text = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut decoder = GzDecoder::new(&bytes[at..]);
        let room = MAX_TEXT.saturating_sub(text.len() as u64);
        if room == 0 || Read::take(&mut decoder, room).read_to_end(&mut text).is_err() {
            return (text, false);
        }
        at = bytes.len() - decoder.into_inner().len();
    }
    (text, true)
}

/// Packs a text, which may be cut before each of `cuts`.
pub(super) fn pack(text: &[u8], cuts: &[usize]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut start = 0;
    for &cut in cuts.iter().chain([&text.len()]) {
        if start + MEMBER <= cut || cut == text.len() {
            bytes.extend(member(&text[start..cut])?);
            start = cut;
        }
    }
    Ok(bytes)
}

/// Packs what a packed text is after `edits`. Members that they do not touch are taken as they are.
pub(super) fn repack(packed: &[u8], members: &[Member], text: &[u8], edits: &[Edit], cuts: &[usize]) -> io::Result<Vec<u8>> {
    let end = members.last().map_or(0, |last| last.text.end);
    // What is put between two members belongs to the second, and behind the last to that.
    let touches = |edit: &Edit, member: &Member| {
        let is_in = edit.range.start < member.text.end || member.text.end == end;
        is_in && (member.text.start < edit.range.end || member.text.start <= edit.range.start)
    };
    let is_touched = |member: &Member| edits.iter().any(|edit| touches(edit, member));
    // No edit reaches over the border of a member that is not touched, so it is known where that is then.
    let moved = |border: usize| {
        let before = edits.iter().filter(|edit| edit.range.start < border || border == end);
        before.fold(border, |border, edit| border + edit.text.len() - edit.range.len())
    };
    let mut bytes = Vec::with_capacity(packed.len());
    let mut packed_to = 0;
    for member in members.iter().filter(|member| !is_touched(member)) {
        let start = moved(member.text.start);
        bytes.extend(pack_between(text, packed_to..start, cuts)?);
        bytes.extend_from_slice(&packed[member.file.clone()]);
        packed_to = start + member.text.len();
    }
    bytes.extend(pack_between(text, packed_to..text.len(), cuts)?);
    Ok(bytes)
}

fn pack_between(text: &[u8], range: Range<usize>, cuts: &[usize]) -> io::Result<Vec<u8>> {
    if range.is_empty() {
        return Ok(Vec::new());
    }
    let inner: Vec<_> =
        cuts.iter().filter(|cut| range.contains(cut) && **cut != range.start).map(|cut| cut - range.start).collect();
    pack(&text[range], &inner)
}

fn member(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(text.len() / 4 + 32), Compression::new(3));
    encoder.write_all(text)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bank::edit::apply;

    #[test]
    fn members_begin_at_cuts_and_hold_the_text() {
        let text: Vec<u8> = (0..200_000_u32).map(|number| b'a' + u8::try_from(number % 26).unwrap()).collect();
        let cuts: Vec<_> = (1..200).map(|number| number * 1000).collect();
        let packed = pack(&text, &cuts).unwrap();
        let (unpacked, members) = unpack(&packed).unwrap();
        assert!(unpacked == text);
        let borders: Vec<_> = members.iter().map(|member| member.text.start).collect();
        assert_eq!(borders, [0, 66_000, 132_000, 198_000]);
    }

    #[test]
    fn what_breaks_off_is_damaged_and_a_bomb_is_not_unpacked() {
        let packed = pack(b"some text that is long enough", &[]).unwrap();
        unpack(&packed[..packed.len() - 3]).unwrap_err();
        let bomb = pack(&vec![0; 65 * 1024 * 1024], &[]).unwrap();
        assert_eq!(unpack(&bomb).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    proptest! {
        #[test]
        fn repacking_gives_the_edited_text(
            text in "[a-z]{1,400}",
            borders in proptest::collection::btree_set(1_usize..400, 0..5),
            places in proptest::collection::btree_set(0_usize..400, 0..8),
            word in "[A-Z]{0,9}",
        ) {
            let mut packed = Vec::new();
            let mut start = 0;
            for border in borders.into_iter().filter(|&border| border < text.len()).chain([text.len()]) {
                packed.extend(member(&text.as_bytes()[start..border]).unwrap());
                start = border;
            }
            let places: Vec<_> = places.into_iter().filter(|&place| place <= text.len()).collect();
            let edits: Vec<_> = places
                .chunks(2)
                .map(|pair| Edit { range: pair[0]..*pair.last().unwrap_or(&pair[0]), text: word.clone() })
                .collect();
            let (_, members) = unpack(&packed).unwrap();
            let edited = apply(&text, &edits);
            let repacked = repack(&packed, &members, edited.as_bytes(), &edits, &[]).unwrap();
            prop_assert_eq!(unpack(&repacked).unwrap().0, edited.into_bytes());
        }
    }
}
