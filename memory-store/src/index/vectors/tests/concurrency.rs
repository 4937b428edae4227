//! Tests of several processes and several models at the same time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::super::{DocumentVector, ModelVectors};
use super::{cosines, keys, open, put, text};

#[test]
fn models_never_mix() {
    let place = tempfile::tempdir().unwrap();
    let mut one = open(place.path());
    let mut other = ModelVectors::open(place.path(), "another model", 3).unwrap();
    let mut longer = ModelVectors::open(place.path(), "a model of more", 5).unwrap();
    put(&mut one, &[(1, [1.0, 0.0, 0.0]), (2, [0.0, 1.0, 0.0])]);
    put(&mut other, &[(1, [0.0, 1.0, 0.0]), (3, [0.0, 1.0, 0.0])]);
    longer
        .put(&[DocumentVector {
            key: 1,
            text: text(1),
            vectors: &[vec![1.0; 5]],
        }])
        .unwrap();
    one.remove(&[2]).unwrap();
    assert_eq!(
        cosines(&one, [1.0, 0.0, 0.0], &[1, 2, 3]),
        [Some(1.0), None, None]
    );
    assert_eq!(
        cosines(&other, [1.0, 0.0, 0.0], &[1, 2, 3]),
        [Some(0.0), None, Some(0.0)]
    );
    assert_eq!(
        other
            .missing([(1, text(1)), (2, text(2))].into_iter())
            .collect::<Vec<_>>(),
        [(2, text(2))]
    );
    assert_eq!(
        [keys(&one), keys(&other), keys(&longer)],
        [vec![1], vec![1, 3], vec![1]]
    );
}

#[test]
fn a_reader_of_an_older_state_keeps_what_was_not_changed() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = open(place.path());
    let many: Vec<_> = (0..2000).map(|key| (key, [1.0, 0.0, 0.0])).collect();
    put(&mut writer, &many);
    let mut reader = open(place.path());
    put(
        &mut writer,
        &many[..1000]
            .iter()
            .map(|(key, _)| (*key, [0.0, 1.0, 0.0]))
            .collect::<Vec<_>>(),
    );
    writer.remove(&(0..1990).collect::<Vec<_>>()).unwrap();
    assert!(writer.compact().unwrap());
    put(&mut writer, &[(5, [0.0, 0.0, 1.0])]);
    let seen = reader.nearest(&[1.0, 0.0, 0.0], 3000, &|_| true).unwrap();
    assert_eq!(
        (
            seen.best.len(),
            seen.best.iter().all(|(_, cosine)| 0.999 < *cosine)
        ),
        (10, true)
    );
    reader.refresh().unwrap();
    assert_eq!((reader.count(), keys(&reader)), (11, keys(&writer)));
}

#[test]
fn two_handles_that_take_turns_write_behind_each_other() {
    let place = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (open(place.path()), open(place.path()));
    for turn in 0..5 {
        put(&mut one, &[(turn * 2, [1.0, 0.0, 0.0])]);
        put(
            &mut other,
            &[(turn * 2 + 1, [0.0, 1.0, 0.0]), (0, [0.0, 1.0, 0.0])],
        );
    }
    one.refresh().unwrap();
    assert_eq!(
        (keys(&one), keys(&other)),
        ((0..10).collect(), (0..10).collect())
    );
    assert_eq!(
        cosines(&one, [1.0, 0.0, 0.0], &[0, 2, 3]),
        [Some(0.0), Some(1.0), Some(0.0)]
    );
}

#[test]
fn a_reader_sees_each_change_whole_while_a_writer_writes() {
    // Each change gives all documents one new direction: a reader that finds two directions has read half a change. It may
    // find no vector of a document while its vectors are replaced.
    let place = tempfile::tempdir().unwrap();
    let documents = 1100;
    let all: Vec<i64> = (0..documents).collect();
    let change = |vectors: &mut ModelVectors, number: i16| {
        let angle = f32::from(number) / 50.0;
        put(
            vectors,
            &all.iter()
                .map(|key| (*key, [angle.cos(), angle.sin(), 0.0]))
                .collect::<Vec<_>>(),
        );
        if number % 3 == 0 {
            vectors.compact().unwrap();
        }
    };
    let mut writer = open(place.path());
    change(&mut writer, 0);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut reader = open(place.path());
                    let mut last = 0.0;
                    let mut turns = 0;
                    while !is_done.load(Ordering::Acquire) || turns == 0 {
                        turns += 1;
                        reader.refresh().unwrap();
                        let seen = cosines(&reader, [0.0, 1.0, 0.0], &all);
                        let nearest = reader.nearest(&[0.0, 1.0, 0.0], 5, &|_| true).unwrap();
                        let found: Vec<f32> = seen
                            .into_iter()
                            .flatten()
                            .chain(nearest.best.into_iter().map(|(_, cosine)| cosine))
                            .collect();
                        let now = found.first().copied().unwrap_or(last);
                        assert!(
                            found.iter().all(|cosine| cosine.total_cmp(&now).is_eq()),
                            "half a change"
                        );
                        assert!(last <= now, "an older change after a newer one");
                        last = now;
                        assert_eq!(open(place.path()).count(), all.len());
                    }
                })
            })
            .collect();
        (1..60).for_each(|number| change(&mut writer, number));
        is_done.store(true, Ordering::Release);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}
