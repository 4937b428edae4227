//! Compressed banks of which a part can be read without the rest.
//!
//! A gzip file may consist of several members ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952), 2.2), and `gunzip` reads them
//! as one text. A new member starts every 64 KB, between two entries. A reader with the positions of the members can decompress
//! one entry alone, and a change rewrites only the members that it touches.

use std::io::{self, Read, Write};
use std::ops::Range;

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

use super::edit::BankTextEdit;

/// The minimum length in bytes of the text of a member, except the last one.
const MIN_MEMBER_SIZE: usize = 64 * 1024;

/// The maximum length in bytes of the decompressed text.
const MAX_TEXT: u64 = 64 * 1024 * 1024;

/// The position of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GzipMember {
    /// The range in the text.
    pub text: Range<usize>,
    /// The range in the file.
    pub file: Range<usize>,
}

/// Returns whether bytes are compressed.
pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Decompresses all members.
///
/// # Errors
/// If a member is damaged, or the text is longer than [`MAX_TEXT`].
pub(super) fn decompress(bytes: &[u8]) -> io::Result<(Vec<u8>, Vec<GzipMember>)> {
    let (mut text, mut members) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        let start = text.len();
        let mut decoder = GzDecoder::new(&bytes[at..]);
        let room = MAX_TEXT + 1 - text.len() as u64;
        Read::take(&mut decoder, room).read_to_end(&mut text)?;
        if MAX_TEXT < text.len() as u64 {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("it decompresses to more than {MAX_TEXT} bytes"),
            ));
        }
        let end = bytes.len() - decoder.into_inner().len();
        members.push(GzipMember {
            text: start..text.len(),
            file: at..end,
        });
        at = end;
    }
    Ok((text, members))
}

/// Returns the positions of the members of a compressed file; empty if the file is damaged.
pub(super) fn members(bytes: &[u8]) -> Vec<GzipMember> {
    decompress(bytes).map_or_else(|_| Vec::new(), |(_, members)| members)
}

/// The readable parts of a damaged compressed file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RecoveredGzip {
    /// The text of all intact members, in order, with [`GAP`] in place of each missing part.
    pub text: Vec<u8>,
    /// The ranges of the file that cannot be decompressed.
    pub damaged: Vec<Range<usize>>,
    /// The text of the damaged ranges as far as they decompress.
    ///
    /// The checksum does not match, so all of it is unreliable.
    pub doubtful: Vec<u8>,
    /// Whether the file is truncated; then the text ends at the truncation.
    pub is_cut: bool,
}

/// The byte in place of a missing part. It is invalid in JSON.
pub(super) const GAP: u8 = 0;

/// The maximum number of bytes that the search for members decompresses, in multiples of [`MAX_TEXT`].
const MAX_ATTEMPTS: u64 = 4;

/// Decompresses every intact member.
///
/// After a damaged member, the next intact one is found by its header.
pub(super) fn decompress_intact(bytes: &[u8]) -> RecoveredGzip {
    let mut remains = RecoveredGzip::default();
    let mut budget = MAX_TEXT * MAX_ATTEMPTS;
    let mut at = 0;
    while at < bytes.len() {
        let (text, end) = decompress_member(
            &bytes[at..],
            MAX_TEXT.saturating_sub(remains.text.len() as u64),
        );
        if let Ok(length) = end {
            remains.text.extend(text);
            at += length;
            continue;
        }
        budget = budget.saturating_sub(text.len() as u64);
        let next = next_member(bytes, at + 1, &mut budget);
        if next.is_none() && end.is_err_and(|error| error.kind() == io::ErrorKind::UnexpectedEof) {
            remains.text.extend(text);
            remains.text.push(GAP);
            remains.is_cut = true;
        } else {
            remains.text.push(GAP);
            remains.doubtful.extend(text);
            remains.doubtful.push(GAP);
        }
        let end = next.unwrap_or(bytes.len());
        remains.damaged.push(at..end);
        at = end;
    }
    remains
}

/// Returns whether a file contains an intact member. The first bytes of the file may be damaged.
pub(super) fn has_member(bytes: &[u8]) -> bool {
    next_member(bytes, 0, &mut (MAX_TEXT * MAX_ATTEMPTS)).is_some()
}

/// Returns the start of the next intact member at or after `at`.
///
/// Bytes that look like a header but are not one are skipped.
fn next_member(bytes: &[u8], mut at: usize, budget: &mut u64) -> Option<usize> {
    while 0 < *budget {
        // Magic number, method 8 (deflate), and flags with the upper three bits reserved.
        let is_header =
            |window: &[u8]| matches!(window, [0x1f, 0x8b, 8, flags] if flags & 0xe0 == 0);
        let start = at + bytes.get(at..)?.windows(4).position(is_header)?;
        let (text, end) = decompress_member(&bytes[start..], (*budget).min(MAX_TEXT));
        if end.is_ok() {
            return Some(start);
        }
        *budget = budget.saturating_sub(text.len().max(1024) as u64);
        at = start + 1;
    }
    None
}

/// Decompresses the member at the start of `bytes`.
///
/// Returns the text as far as it could be decompressed, and the length of the member in the file.
fn decompress_member(bytes: &[u8], room: u64) -> (Vec<u8>, io::Result<usize>) {
    let mut text = Vec::new();
    let mut decoder = GzDecoder::new(bytes);
    let read = Read::take(&mut decoder, room + 1).read_to_end(&mut text);
    let is_too_long = room < text.len() as u64;
    let length = read.and_then(|_| {
        if is_too_long {
            Err(io::ErrorKind::FileTooLarge.into())
        } else {
            Ok(bytes.len() - decoder.into_inner().len())
        }
    });
    (text, length)
}

/// Compresses a text, which may be split before each of `cuts`.
pub(super) fn compress(text: &[u8], cuts: &[usize]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut start = 0;
    for &cut in cuts.iter().chain([&text.len()]) {
        if start + MIN_MEMBER_SIZE <= cut || cut == text.len() {
            bytes.extend(compress_member(&text[start..cut])?);
            start = cut;
        }
    }
    Ok(bytes)
}

/// Compresses the edited text, and copies all members that `edits` do not touch.
///
/// `text` is the text after the edits.
pub(super) fn recompress(
    packed: &[u8],
    members: &[GzipMember],
    text: &[u8],
    edits: &[BankTextEdit],
    cuts: &[usize],
) -> io::Result<Vec<u8>> {
    let end = members.last().map_or(0, |last| last.text.end);
    // An insertion between two members belongs to the second one, and one at the end to the last member.
    let touches = |edit: &BankTextEdit, member: &GzipMember| {
        let is_in = edit.range.start < member.text.end || member.text.end == end;
        is_in && (member.text.start < edit.range.end || member.text.start <= edit.range.start)
    };
    let is_touched = |member: &GzipMember| edits.iter().any(|edit| touches(edit, member));
    // No edit crosses the border of an untouched member, so the new position of the border is well-defined.
    let moved = |border: usize| {
        let before = edits
            .iter()
            .filter(|edit| edit.range.start < border || border == end);
        before.fold(border, |border, edit| {
            border + edit.text.len() - edit.range.len()
        })
    };
    let mut bytes = Vec::with_capacity(packed.len());
    let mut packed_to = 0;
    for member in members.iter().filter(|member| !is_touched(member)) {
        let start = moved(member.text.start);
        bytes.extend(compress_range(text, packed_to..start, cuts)?);
        bytes.extend_from_slice(&packed[member.file.clone()]);
        packed_to = start + member.text.len();
    }
    bytes.extend(compress_range(text, packed_to..text.len(), cuts)?);
    Ok(bytes)
}

fn compress_range(text: &[u8], range: Range<usize>, cuts: &[usize]) -> io::Result<Vec<u8>> {
    if range.is_empty() {
        return Ok(Vec::new());
    }
    let inner: Vec<_> = cuts
        .iter()
        .filter(|cut| range.contains(cut) && **cut != range.start)
        .map(|cut| cut - range.start)
        .collect();
    compress(&text[range], &inner)
}

fn compress_member(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(text.len() / 4 + 32), Compression::new(3));
    encoder.write_all(text)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bank::edit::apply_edits;

    #[test]
    fn members_begin_at_cuts_and_hold_the_text() {
        let text: Vec<u8> = (0..200_000_u32)
            .map(|number| b'a' + u8::try_from(number % 26).unwrap())
            .collect();
        let cuts: Vec<_> = (1..200).map(|number| number * 1000).collect();
        let packed = compress(&text, &cuts).unwrap();
        let (unpacked, members) = decompress(&packed).unwrap();
        assert!(unpacked == text);
        let borders: Vec<_> = members.iter().map(|member| member.text.start).collect();
        assert_eq!(borders, [0, 66_000, 132_000, 198_000]);
    }

    #[test]
    fn what_breaks_off_is_damaged_and_a_bomb_is_not_unpacked() {
        let packed = compress(b"some text that is long enough", &[]).unwrap();
        decompress(&packed[..packed.len() - 3]).unwrap_err();
        let bomb = compress(&vec![0; 65 * 1024 * 1024], &[]).unwrap();
        assert_eq!(
            decompress(&bomb).unwrap_err().kind(),
            io::ErrorKind::FileTooLarge
        );
    }

    /// Returns a file with three members, and the text of each.
    fn three_members() -> (Vec<u8>, [Vec<u8>; 3]) {
        let texts = ["one", "two", "three"].map(|word| {
            (0..3000)
                .flat_map(|number| format!("{word}{number},").into_bytes())
                .collect()
        });
        (
            texts
                .iter()
                .flat_map(|text: &Vec<u8>| compress_member(text).unwrap())
                .collect(),
            texts,
        )
    }

    #[test]
    fn whatever_byte_is_wrong_the_members_around_it_are_intact() {
        let (packed, texts) = three_members();
        let (_, members) = decompress(&packed).unwrap();
        for at in (0..packed.len())
            .step_by(61)
            .chain(0..12)
            .chain(packed.len() - 9..packed.len())
        {
            let mut bytes = packed.clone();
            bytes[at] ^= 0x04;
            let Ok(_) = decompress(&bytes) else {
                let remains = decompress_intact(&bytes);
                let damaged = members
                    .iter()
                    .position(|member| member.file.contains(&at))
                    .unwrap();
                assert_eq!(remains.damaged, [members[damaged].file.clone()], "{at}");
                let left: Vec<u8> = (0..3)
                    .flat_map(|index| {
                        if index == damaged {
                            vec![GAP]
                        } else {
                            texts[index].clone()
                        }
                    })
                    .collect();
                assert!(remains.text == left || remains.is_cut, "{at}");
                continue;
            };
            // The name, time and system in the header are not covered by the checksum.
            assert!(decompress(&bytes).unwrap().0 == texts.concat(), "{at}");
        }
    }

    #[test]
    fn zeroed_blocks_and_ends_that_are_missing_leave_the_rest() {
        let (packed, texts) = three_members();
        let (_, members) = decompress(&packed).unwrap();
        let mut zeroed = packed.clone();
        zeroed[..members[0].file.end / 2].fill(0);
        let remains = decompress_intact(&zeroed);
        assert!(
            remains.text == [vec![GAP], texts[1].clone(), texts[2].clone()].concat()
                && has_member(&zeroed)
        );
        let remains = decompress_intact(&packed[..members[2].file.start + 400]);
        assert!(
            remains.is_cut
                && remains.text.starts_with(&texts[..2].concat())
                && remains.text.ends_with(&[GAP])
        );
        assert!(
            texts[2].starts_with(
                &remains.text[texts[0].len() + texts[1].len()..remains.text.len() - 1]
            )
        );
        assert!(!has_member(&vec![0; 5000]) && !has_member(b"\x1f\x8b\x08\x00 and no more"));
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
                packed.extend(compress_member(&text.as_bytes()[start..border]).unwrap());
                start = border;
            }
            let places: Vec<_> = places.into_iter().filter(|&place| place <= text.len()).collect();
            let edits: Vec<_> = places
                .chunks(2)
                .map(|pair| BankTextEdit { range: pair[0]..*pair.last().unwrap_or(&pair[0]), text: word.clone() })
                .collect();
            let (_, members) = decompress(&packed).unwrap();
            let edited = apply_edits(&text, &edits);
            let repacked = recompress(&packed, &members, edited.as_bytes(), &edits, &[]).unwrap();
            prop_assert_eq!(decompress(&repacked).unwrap().0, edited.into_bytes());
        }
    }
}
