//! Benchmarks of pure functions: tokens, snippets, credentials, wikilinks and the Markdown codec.

use std::hint::black_box;

use chrono::DateTime;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use memory_core::text::{query_terms, snippet, tokenize};
use memory_core::{Draft, MemoryId, Patch, secret, wikilink};
use memory_store::markdown;

fn bench_text(criterion: &mut Criterion) {
    let english: String = (0..200).map(corpus::note_text).collect();
    let chinese = "用户喜欢深色模式，回答要简短。部署之前先跑全量测试，星期五不部署。".repeat(500);
    let mut group = criterion.benchmark_group("text");
    for (name, text) in [("english", &english), ("chinese", &chinese)] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("tokens of {name}"), |bencher| {
            bencher.iter(|| {
                let mut count = 0;
                tokenize(text, &mut |token| count += token.text.len());
                black_box(count)
            });
        });
        let terms = query_terms(&text.chars().take(40).collect::<String>());
        group.bench_function(format!("snippet of {name}"), |bencher| {
            bencher.iter(|| snippet(text, &terms, &[], 160));
        });
        group.bench_function(format!("credentials in {name}"), |bencher| {
            bencher.iter(|| secret::find(text));
        });
        group.bench_function(format!("wikilinks in {name}"), |bencher| {
            bencher.iter(|| wikilink::parse(text));
        });
    }
    group.finish();
}

fn bench_markdown(criterion: &mut Criterion) {
    let now = DateTime::from_timestamp(1_778_148_000, 0).expect("a moment in 2026");
    let draft = Draft {
        tags: ["preference", "ui"].iter().collect(),
        source: "claude".into(),
        ..Draft::new(&corpus::note_text(1))
    };
    let memory = draft.into_memory(MemoryId::for_path("bench"), now);
    let path = "categories/inbox/bench.md";
    let file = markdown::encode(&memory, "");
    let tagged = Patch {
        add_tags: ["x"].iter().collect(),
        ..Patch::default()
    }
    .apply(&memory, now)
    .expect("a tag is new");
    let mut group = criterion.benchmark_group("markdown");
    group.bench_function("encode", |bencher| {
        bencher.iter(|| markdown::encode(&memory, ""));
    });
    group.bench_function("decode", |bencher| {
        bencher.iter(|| markdown::decode(path, file.as_bytes(), now));
    });
    group.bench_function("rewrite", |bencher| {
        bencher.iter_batched(
            || tagged.clone(),
            |tagged| markdown::rewrite(path, file.as_bytes(), &tagged),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, bench_text, bench_markdown);
criterion_main!(benches);
