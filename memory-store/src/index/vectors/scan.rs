//! Scans the vectors for the nearest.

use std::cmp::Ordering;
use std::ops::Range;
use std::thread;

use super::layout::BLOCK;
use super::quantized_vector::{QuantizedVector, dot_product};
use super::view::{RowBlock, RowsView};

/// Number of values that are summed in parallel.
const LANES: usize = 16;

/// The result of a scan.
#[derive(Debug)]
pub(super) struct VectorScan {
    /// The best row of each of the nearest allowed documents, the nearest first.
    pub(super) nearest: Vec<NearRow>,
    /// Number of rows in the sums.
    pub(super) rows: f64,
    /// The sum of the cosines of all live rows.
    pub(super) sum: f64,
    /// The sum of the squares of these cosines.
    pub(super) squares: f64,
}

/// The row of a document that is nearest to the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NearRow {
    pub(super) cosine: f32,
    pub(super) key: i64,
    pub(super) slot: usize,
}

/// Scans all live rows on `threads` threads, and returns the `limit` nearest of the allowed documents.
pub(super) fn scan(
    view: &RowsView,
    query: &QuantizedVector,
    limit: usize,
    threads: usize,
    allowed: &(dyn Fn(i64) -> bool + Sync),
) -> VectorScan {
    let blocks = view.blocks();
    if threads <= 1 || blocks <= 1 {
        return scan_blocks(view, 0..blocks, query, limit, allowed);
    }
    let part = blocks.div_ceil(threads);
    let scan_part = |number: usize| {
        scan_blocks(
            view,
            number * part..blocks.min((number + 1) * part),
            query,
            limit,
            allowed,
        )
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..blocks.div_ceil(part))
            .map(|number| scope.spawn(move || scan_part(number)))
            .collect();
        let first = scan_part(0);
        others
            .into_iter()
            .fold(first, |all, other| match other.join() {
                Ok(other) => merge_scans(&all, &other, limit),
                Err(panic) => std::panic::resume_unwind(panic),
            })
    })
}

fn scan_blocks(
    view: &RowsView,
    blocks: Range<usize>,
    query: &QuantizedVector,
    limit: usize,
    allowed: &(dyn Fn(i64) -> bool + Sync),
) -> VectorScan {
    let mut best = NearestRows::new(limit);
    let (mut rows, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let mut cosines = [0.0; BLOCK];
    for block in blocks {
        let block = view.block(block);
        let cosines = &mut cosines[..block.slots.len()];
        compute_cosines(cosines, view, &block, query);
        let [block_rows, block_sum, block_squares] = cosine_sums(cosines);
        rows += block_rows;
        sum += block_sum;
        squares += block_squares;
        for (number, cosines) in cosines.chunks(LANES).enumerate() {
            // No early exit, so that the compiler can vectorize the comparison.
            let promising = cosines.iter().filter(|cosine| best.least < **cosine);
            if promising.count() == 0 {
                continue;
            }
            for (place, cosine) in cosines.iter().enumerate() {
                let offset = number * LANES + place;
                if best.least < *cosine && allowed(block.keys[offset]) {
                    best.add(NearRow {
                        cosine: *cosine,
                        key: block.keys[offset],
                        slot: block.slots.start + offset,
                    });
                }
            }
        }
    }
    VectorScan {
        nearest: best.finish(),
        rows,
        sum,
        squares,
    }
}

/// Computes the cosines of a block; NaN for dead, zero and damaged rows.
fn compute_cosines(
    cosines: &mut [f32],
    view: &RowsView,
    block: &RowBlock<'_>,
    query: &QuantizedVector,
) {
    // Separate loops, each of which the compiler can vectorize.
    for (cosine, codes) in cosines
        .iter_mut()
        .zip(block.codes.chunks_exact(view.layout.dimensions))
    {
        *cosine = dot_product(&query.codes, codes);
    }
    for (cosine, scale) in cosines.iter_mut().zip(block.scales) {
        *cosine *= query.scale * scale;
        // The scale of a damaged row may be any number or NaN; the scale of a zero vector is 0.
        *cosine = if cosine.abs() <= 1.5 && *scale != 0.0 {
            *cosine
        } else {
            f32::NAN
        };
    }
    if view.head.dead.is_empty() {
        return;
    }
    for (cosine, slot) in cosines.iter_mut().zip(block.slots.clone()) {
        if view.head.dead.contains(slot) {
            *cosine = f32::NAN;
        }
    }
}

/// Returns the number of cosines that are not NaN, their sum, and the sum of their squares.
fn cosine_sums(cosines: &[f32]) -> [f64; 3] {
    let mut lanes = [[0.0_f32; LANES]; 3];
    for cosines in cosines.chunks(LANES) {
        for (lane, cosine) in cosines.iter().enumerate() {
            let (one, cosine) = if cosine.is_nan() {
                (0.0, 0.0)
            } else {
                (1.0, *cosine)
            };
            lanes[0][lane] += one;
            lanes[1][lane] += cosine;
            lanes[2][lane] += cosine * cosine;
        }
    }
    lanes.map(|lanes| lanes.into_iter().map(f64::from).sum())
}

fn merge_scans(one: &VectorScan, other: &VectorScan, limit: usize) -> VectorScan {
    let mut best = NearestRows::new(limit);
    one.nearest
        .iter()
        .chain(&other.nearest)
        .for_each(|near| best.add(*near));
    VectorScan {
        nearest: best.finish(),
        rows: one.rows + other.rows,
        sum: one.sum + other.sum,
        squares: one.squares + other.squares,
    }
}

/// A collector of the nearest documents.
#[derive(Debug)]
struct NearestRows {
    limit: usize,
    kept: Vec<NearRow>,
    /// A row is the best of one of the nearest documents only if its cosine is larger.
    least: f32,
}

impl NearestRows {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            kept: Vec::new(),
            least: f32::NEG_INFINITY,
        }
    }

    fn add(&mut self, near: NearRow) {
        self.kept.push(near);
        // Cutting the list in half now and then is cheaper than keeping it sorted.
        if 2 * self.limit <= self.kept.len() {
            self.prune();
        }
    }

    fn prune(&mut self) {
        self.kept
            .sort_unstable_by(|one, other| one.key.cmp(&other.key).then(compare_rows(one, other)));
        self.kept.dedup_by_key(|near| near.key);
        self.kept.sort_unstable_by(compare_rows);
        self.kept.truncate(self.limit);
        if self.kept.len() == self.limit {
            self.least = self.kept.last().map_or(self.least, |last| last.cosine);
        }
    }

    fn finish(mut self) -> Vec<NearRow> {
        self.prune();
        self.kept
    }
}

/// Orders the nearer first, ties by slot.
fn compare_rows(one: &NearRow, other: &NearRow) -> Ordering {
    other
        .cosine
        .total_cmp(&one.cosine)
        .then(one.slot.cmp(&other.slot))
}
