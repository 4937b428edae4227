//! Tests that torn, damaged and foreign files are ignored and replaced.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt};

use super::super::{DocumentVector, ModelVectors};
use super::{SmallVector, cosines, file, keys, open, put, put_passages, text};

const X: SmallVector = [1.0, 0.0, 0.0];
const Y: SmallVector = [0.0, 1.0, 0.0];

#[test]
fn opening_makes_nothing_and_writing_keeps_it_private() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    assert_eq!(
        (vectors.count(), fs::read_dir(place.path()).unwrap().count()),
        (0, 0)
    );
    put(&mut vectors, &[]);
    assert_eq!(
        (vectors.remove(&[1]).unwrap(), vectors.compact().unwrap()),
        (0, false)
    );
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    put(&mut vectors, &[(1, X)]);
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    if cfg!(portable_system) {
        // The portable implementation sets no modes.
        return;
    }
    assert_eq!(mode(vectors.folder.clone()), 0o700);
    assert_eq!(
        [mode(file(&vectors, "head")), mode(file(&vectors, "rows-"))],
        [0o600; 2]
    );
}

#[test]
fn what_is_no_vector_is_refused_before_anything_is_written() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    put(&mut vectors, &[(1, X)]);
    let before = [
        fs::read(file(&vectors, "head")).unwrap(),
        fs::read(file(&vectors, "rows-")).unwrap(),
    ];
    let no_vectors = [
        vec![],
        vec![1.0; 4],
        vec![1.0, f32::NAN, 0.0],
        vec![f32::INFINITY, 0.0, 0.0],
    ];
    for vector in &no_vectors {
        let good = DocumentVector {
            key: 2,
            text: text(2),
            vectors: &[Y.to_vec()],
        };
        let refusal = vectors
            .put(&[
                good,
                DocumentVector {
                    key: 3,
                    text: text(3),
                    vectors: &[Y.to_vec(), vector.clone()],
                },
            ])
            .unwrap_err();
        assert_eq!(
            refusal.code(),
            memory_core::Code::InvalidInput,
            "{vector:?}"
        );
        assert!(
            refusal.to_string().starts_with("the vector of document 3 "),
            "{refusal}"
        );
        assert!(vectors.nearest(vector, 1, &|_| true).is_err());
        assert!(vectors.cosines_of(vector, &[(1, text(1))]).is_err());
        assert!(
            open(&place.path().join("empty"))
                .nearest(vector, 1, &|_| true)
                .is_err()
        );
    }
    assert_eq!(
        before,
        [
            fs::read(file(&vectors, "head")).unwrap(),
            fs::read(file(&vectors, "rows-")).unwrap()
        ]
    );
    for dimensions in [0, 1_000_000] {
        assert!(ModelVectors::open(place.path(), "model", dimensions).is_err());
    }
}

#[test]
fn a_vector_of_zeros_is_kept_and_near_to_none() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    put(
        &mut vectors,
        &[(1, X), (2, [0.0; 3]), (3, [-1.0, 0.0, 0.0])],
    );
    assert_eq!(
        vectors
            .missing([1, 2, 3].map(|key| (key, text(key))).into_iter())
            .count(),
        0
    );
    let nearest = vectors.nearest(&X, 5, &|_| true).unwrap();
    assert_eq!(
        (nearest.best, nearest.compared),
        (vec![(1, 1.0), (3, -1.0)], 2)
    );
    assert_eq!(cosines(&vectors, X, &[1, 2]), [Some(1.0), None]);
    assert!(vectors.damaged().is_empty() && vectors.nearest(&[0.0; 3], 1, &|_| true).is_err());
}

#[test]
fn a_writer_that_died_at_any_byte_leaves_what_was() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    put(&mut vectors, &[(1, X), (2, Y)]);
    let (head, rows) = (file(&vectors, "head"), file(&vectors, "rows-"));
    let (head_before, rows_before) = (fs::read(&head).unwrap(), fs::read(&rows).unwrap());
    put(&mut vectors, &[(3, X), (4, Y)]);
    let rows_after = fs::read(&rows).unwrap();
    let changed: Vec<_> = (0..rows_after.len())
        .filter(|place| rows_before[*place] != rows_after[*place])
        .collect();
    assert!(60 < changed.len());

    fs::write(&head, head_before).unwrap();
    let disk = OpenOptions::new().write(true).open(&rows).unwrap();
    disk.write_all_at(&rows_before, 0).unwrap();
    for place_of_byte in changed {
        disk.write_all_at(
            &rows_after[place_of_byte..=place_of_byte],
            place_of_byte as u64,
        )
        .unwrap();
        let torn = open(place.path());
        assert_eq!(cosines(&torn, X, &[1, 2, 3]), [Some(1.0), Some(0.0), None]);
        assert_eq!(
            torn.nearest(&Y, 9, &|_| true).unwrap().best,
            [(2, 1.0), (1, 0.0)]
        );
    }
    let mut next = open(place.path());
    put(&mut next, &[(4, Y)]);
    assert_eq!(
        cosines(&open(place.path()), X, &[1, 2, 3, 4]),
        [Some(1.0), Some(0.0), None, Some(0.0)]
    );
}

/// Returns whether a file of the folder has the codes of a vector with these numbers.
fn is_anywhere(vectors: &ModelVectors, codes: [i8; 3]) -> bool {
    let codes = codes.map(i8::cast_unsigned);
    let files = fs::read_dir(&vectors.folder).unwrap();
    let mut bytes = files.map(|file| fs::read(file.unwrap().path()).unwrap());
    bytes.any(|bytes| bytes.windows(3).any(|window| window == codes))
}

const TEXT_2: SmallVector = [1.27, 0.53, -0.71];
const CODES_2: [i8; 3] = [127, 53, -71];

#[test]
fn what_is_removed_or_replaced_is_in_no_file() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    put_passages(&mut vectors, &[(1, vec![X]), (2, vec![X, TEXT_2])]);
    assert!(is_anywhere(&vectors, CODES_2));
    put(&mut vectors, &[(2, Y)]);
    assert!(!is_anywhere(&vectors, CODES_2));
    put_passages(&mut vectors, &[(2, vec![Y, TEXT_2])]);
    assert!(is_anywhere(&vectors, CODES_2));
    assert_eq!((vectors.remove(&[2, 5]).unwrap(), vectors.count()), (1, 1));
    assert!(!is_anywhere(&vectors, CODES_2));
    assert_eq!(cosines(&open(place.path()), X, &[1, 2]), [Some(1.0), None]);
}

#[test]
fn what_a_killed_writer_left_goes_with_the_next_removal() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    put(&mut vectors, &[(1, X)]);
    let (head, rows) = (file(&vectors, "head"), file(&vectors, "rows-"));
    let head_before = fs::read(&head).unwrap();
    put(&mut vectors, &[(2, TEXT_2)]);
    let (head_after, rows_after) = (fs::read(&head).unwrap(), fs::read(&rows).unwrap());
    vectors.remove(&[2]).unwrap();
    let head_removed = fs::read(&head).unwrap();
    drop(vectors);
    // The process ended before the new head, after the removal of a row by the head, or while it wrote a new file.
    for (head_left, extra) in [
        (&head_before, false),
        (&head_after, false),
        (&head_removed, false),
        (&head_removed, true),
    ] {
        fs::write(&head, head_left).unwrap();
        fs::write(&rows, &rows_after).unwrap();
        if extra {
            fs::write(rows.with_file_name("rows-0123456789abcdef"), &rows_after).unwrap();
        }
        let mut next = open(place.path());
        assert!(is_anywhere(&next, CODES_2));
        assert_eq!(cosines(&next, X, &[1]), [Some(1.0)]);
        next.remove(&[2]).unwrap();
        assert!(!is_anywhere(&next, CODES_2));
        assert_eq!((keys(&next), next.count()), (vec![1], 1));
    }
    // The rows of a write that was interrupted may be in a part of the file that no head includes.
    let many: Vec<_> = (3..1100).map(|key| (key, TEXT_2)).collect();
    let mut vectors = open(place.path());
    put(&mut vectors, &many);
    fs::write(&head, &head_removed).unwrap();
    let gone: Vec<i64> = many.iter().map(|(key, _)| *key).collect();
    assert_eq!(open(place.path()).remove(&gone).unwrap(), 0);
    assert!(!is_anywhere(&vectors, CODES_2));
}

#[test]
fn rows_that_a_power_cut_lost_are_missing_and_no_longer_counted_after_a_write() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    put_passages(&mut vectors, &[(1, vec![X]), (2, vec![Y, X]), (3, vec![X])]);
    let rows = file(&vectors, "rows-");
    let disk = OpenOptions::new().write(true).open(&rows).unwrap();
    // The keys of the last three rows.
    disk.write_all_at(&[0; 24], 8).unwrap();
    drop(vectors);
    let mut next = open(place.path());
    let all = [1, 2, 3].map(|key| (key, text(key)));
    let missing: Vec<_> = next.missing(all.into_iter()).collect();
    assert_eq!(missing, all[1..]);
    assert_eq!(next.nearest(&X, 9, &|_| true).unwrap().best, [(1, 1.0)]);
    put(&mut next, &[(3, X)]);
    assert_eq!(next.count(), 2);
    put(&mut next, &[(2, X)]);
    assert_eq!(
        (next.count(), next.missing(all.into_iter()).count()),
        (3, 0)
    );
}

#[test]
fn rows_that_were_cut_count_as_not_there_and_come_back() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    put(&mut vectors, &[(1, X), (2, Y)]);
    let rows = file(&vectors, "rows-");
    let whole = fs::metadata(&rows).unwrap().len();
    drop(vectors);
    let disk = OpenOptions::new().write(true).open(&rows).unwrap();
    let is_telling =
        |length: &u64| *length < 2000 || whole - 2000 < *length || length.is_multiple_of(97);
    for length in (0..whole).rev().filter(is_telling) {
        disk.set_len(length).unwrap();
        assert_eq!(open(place.path()).count(), 0, "{length} of {whole} bytes");
    }
    let mut next = open(place.path());
    assert_eq!(next.missing([(1, text(1))].into_iter()).count(), 1);
    put(&mut next, &[(1, X)]);
    assert_eq!(cosines(&open(place.path()), X, &[1, 2]), [Some(1.0), None]);
    assert_eq!(fs::read_dir(&next.folder).unwrap().count(), 2);
}

#[test]
fn a_head_that_was_cut_anywhere_counts_as_not_there() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    put(&mut vectors, &[(1, X), (2, Y)]);
    vectors.remove(&[1]).unwrap();
    let head = file(&vectors, "head");
    let whole = fs::read(&head).unwrap();
    for length in 0..whole.len() {
        fs::write(&head, &whole[..length]).unwrap();
        vectors.refresh().unwrap();
        assert_eq!(
            (vectors.count(), open(place.path()).count()),
            (0, 0),
            "{length}"
        );
    }
    fs::write(&head, &whole).unwrap();
    vectors.refresh().unwrap();
    assert_eq!(keys(&vectors), [2]);
}

#[test]
fn whatever_else_lies_there_is_replaced() {
    let place = tempfile::tempdir().unwrap();
    let folder = open(place.path()).folder;
    let foreign: [fn(&std::path::Path); 6] = [
        |folder| fs::write(folder, "a file in place of the folder").unwrap(),
        |folder| fs::create_dir_all(folder.join("head/deeper")).unwrap(),
        |folder| {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("head"), vec![0xa5; 5000]).unwrap();
        },
        |folder| {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("head"), "").unwrap();
            fs::write(folder.join("rows-0123456789abcdef"), "").unwrap();
        },
        |folder| {
            let mut other =
                ModelVectors::open(folder.parent().unwrap().parent().unwrap(), "model", 4).unwrap();
            other
                .put(&[DocumentVector {
                    key: 1,
                    text: text(1),
                    vectors: &[vec![1.0; 4]],
                }])
                .unwrap();
        },
        |folder| {
            let mut other =
                ModelVectors::open(folder.parent().unwrap().parent().unwrap(), "other model", 3)
                    .unwrap();
            other
                .put(&[DocumentVector {
                    key: 1,
                    text: text(1),
                    vectors: &[vec![1.0; 3]],
                }])
                .unwrap();
            fs::rename(&other.folder, folder).unwrap();
        },
    ];
    for (number, make) in foreign.iter().enumerate() {
        fs::create_dir_all(folder.parent().unwrap()).unwrap();
        make(&folder);
        let mut vectors = open(place.path());
        assert_eq!(
            (
                number,
                vectors.count(),
                vectors.nearest(&X, 3, &|_| true).unwrap().best
            ),
            (number, 0, vec![])
        );
        put(&mut vectors, &[(7, X)]);
        assert_eq!(keys(&open(place.path())), [7], "{number}");
        fs::remove_dir_all(place.path().join("vectors")).unwrap();
    }
}

#[test]
fn a_damaged_row_is_left_out_named_and_can_be_written_anew() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    put(&mut vectors, &[(1, X), (2, X), (3, Y)]);
    let rows = file(&vectors, "rows-");
    let whole = fs::read(&rows).unwrap();
    let written: Vec<_> = (0..whole.len())
        .filter(|place| whole[*place] != 0)
        .collect();
    drop(vectors);
    let disk = OpenOptions::new().write(true).open(&rows).unwrap();
    for place_of_byte in written {
        disk.write_all_at(&[whole[place_of_byte] ^ 0x55], place_of_byte as u64)
            .unwrap();
        let damaged = open(place.path());
        assert_eq!(damaged.damaged().len(), 1, "at {place_of_byte}");
        let found = damaged.nearest(&X, 9, &|_| true).unwrap();
        assert!(
            found.best.len() == 2 && found.mean.is_finite() && found.deviation.is_finite(),
            "{found:?}"
        );
        disk.write_all_at(&[whole[place_of_byte]], place_of_byte as u64)
            .unwrap();
    }
    let code = whole.iter().rposition(|byte| *byte == 127).unwrap();
    disk.write_all_at(&[1], code as u64).unwrap();
    let mut vectors = open(place.path());
    assert_eq!(
        (vectors.damaged(), cosines(&vectors, Y, &[1, 2, 3])),
        (vec![3], vec![Some(0.0), Some(0.0), None])
    );
    vectors.remove(&[3]).unwrap();
    put(&mut vectors, &[(3, Y)]);
    assert_eq!(
        (vectors.damaged(), cosines(&vectors, Y, &[3])),
        (vec![], vec![Some(1.0)])
    );
}

#[test]
fn the_folder_may_be_deleted_at_any_time() {
    let place = tempfile::tempdir().unwrap();
    let mut vectors = open(place.path());
    put(&mut vectors, &[(1, X)]);
    fs::remove_dir_all(place.path().join("vectors")).unwrap();
    assert_eq!(cosines(&vectors, X, &[1]), [Some(1.0)]);
    vectors.refresh().unwrap();
    assert_eq!(vectors.count(), 0);
    put(&mut vectors, &[(2, X)]);
    fs::remove_dir_all(place.path().join("vectors")).unwrap();
    put(&mut vectors, &[(3, X)]);
    fs::remove_file(file(&vectors, "rows-")).unwrap();
    put(&mut vectors, &[(4, X)]);
    assert_eq!(
        (keys(&vectors), keys(&open(place.path()))),
        (vec![4], vec![4])
    );
}
