//! Benchmarks of search, read and write in a long-lived process, with 1,000 to 100,000 memories.

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memory_core::{
    Draft, ExportedMemory, Filter, Query, Ranking, SecretPolicy, Services, import, read, search,
    write,
};
use memory_store::{FileStore, FileStoreOptions};

fn store_services(store: FileStore) -> Services {
    Services {
        actor: "bench".into(),
        ..Services::new(Arc::new(store))
    }
}

fn filled_store(notes: u32) -> (tempfile::TempDir, Services) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let services = store_services(
        FileStore::open(home.path(), FileStoreOptions::default()).expect("an empty home"),
    );
    let exported = (0..notes).map(|number| {
        Ok((
            format!("line {number}"),
            ExportedMemory::from(Draft::new(corpus::note_text(number).trim_end())),
        ))
    });
    import(&services, exported, SecretPolicy::Keep, &mut |_| ()).expect("the notes are kept");
    (home, services)
}

fn bench_store(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("store");
    group.sample_size(30);
    for notes in [1_000, 10_000, 100_000] {
        let (_home, services) = filled_store(notes);
        let mut number = 0;
        group.bench_function(BenchmarkId::new("search", notes), |bencher| {
            bencher.iter(|| {
                number += 1;
                let (filter, ranking) = (Filter::default(), Ranking::default());
                let query = Query {
                    text: corpus::query_text(number),
                    filter,
                    limit: 10,
                    ranking,
                };
                search(&services, &query).expect("an answer")
            });
        });
        let id = write(
            &services,
            Draft::new("the one that is read"),
            SecretPolicy::Keep,
        )
        .expect("written")
        .id
        .to_string();
        group.bench_function(BenchmarkId::new("read", notes), |bencher| {
            bencher.iter(|| read(&services, &id).expect("it is there"));
        });
        group.bench_function(BenchmarkId::new("write", notes), |bencher| {
            bencher.iter(|| {
                number += 1;
                let draft = Draft::new(&format!("{number} {}", corpus::note_text(notes + number)));
                write(&services, draft, SecretPolicy::Keep).expect("written")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench_store);
criterion_main!(benches);
