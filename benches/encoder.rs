//! Benchmarks of the sentence encoder: a question, a note of 58 words, and the pieces of the note.

use criterion::{Criterion, criterion_group, criterion_main};
use memory_encoder::SentenceEncoder;

const QUESTION: &str = "what pet do I have";

const NOTE: &str = "We deploy the billing service on Tuesdays after the morning stand-up, because the on-call engineer is then \
    awake in both offices. The database migration runs first and takes about four minutes; if it fails, the old version keeps \
    serving, and nobody is paged before nine. Ask Marta for the credentials of the staging environment, which rotate each month.";

fn bench_encoder(criterion: &mut Criterion) {
    let encoder = SentenceEncoder::bundled();
    let mut group = criterion.benchmark_group("encoder");
    for (name, text) in [("question", QUESTION), ("note", NOTE)] {
        let count = encoder.pieces(text).len();
        group.bench_function(format!("{name} of {count} pieces"), |bencher| {
            bencher.iter(|| encoder.encode(text));
        });
    }
    group.bench_function("pieces of the note", |bencher| {
        bencher.iter(|| encoder.pieces(NOTE));
    });
    group.finish();
}

criterion_group!(benches, bench_encoder);
criterion_main!(benches);
