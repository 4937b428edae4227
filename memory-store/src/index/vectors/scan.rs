//! Scans the quantized vectors for candidates of the nearest.

use std::cmp::Ordering;
use std::ops::Range;
use std::thread;

use super::layout::BLOCK;
use super::unit_vector::{QuantizedVector, dot_product};
use super::view::{RowBlock, RowsView};

/// Bound on the error of a cosine of quantized vectors, in steps of both vectors.
///
/// Rounding errors are uniformly distributed over a step, with a standard deviation of `1/sqrt(12)` steps. The sum of all errors, each
/// multiplied by a number of the other vector (with squares that sum to 1), has the same standard deviation. The bound is six times that.
const MARGIN: f32 = 1.733;

/// Number of values that are summed in parallel.
const LANES: usize = 16;

/// The result of a scan.
#[derive(Debug)]
pub(super) struct VectorScan {
    /// The candidates for the nearest, sorted by upper bound.
    pub(super) candidates: Vec<ScanCandidate>,
    /// Upper bound on the cosine of every omitted row; `None` if no row was omitted.
    pub(super) others_at_most: Option<f32>,
    /// Number of rows in the sums.
    pub(super) rows: f64,
    /// The sum of the cosines of all live rows.
    pub(super) sum: f64,
    /// The sum of the squares of these cosines.
    pub(super) squares: f64,
}

/// A row that may be one of the nearest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ScanCandidate {
    /// Upper bound on its cosine.
    pub(super) at_most: f32,
    pub(super) slot: usize,
}

/// Scans all live rows on `threads` threads, and returns `limit` candidates among the allowed rows.
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
    let mut best = BestCandidates::new(limit);
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
        for (number, (cosines, scales)) in cosines
            .chunks(LANES)
            .zip(block.scales.chunks(LANES))
            .enumerate()
        {
            let at_most = |place: usize| cosines[place] + MARGIN * (query.scale + scales[place]);
            // No early exit, so that the compiler can vectorize the comparison.
            let is_promising =
                (0..cosines.len()).fold(false, |any, place| any | (best.left_out < at_most(place)));
            if !is_promising {
                continue;
            }
            for place in 0..cosines.len() {
                let offset = number * LANES + place;
                let candidate = ScanCandidate {
                    at_most: at_most(place),
                    slot: block.slots.start + offset,
                };
                if best.left_out < candidate.at_most && allowed(block.keys[offset]) {
                    best.add(candidate);
                }
            }
        }
    }
    let (candidates, others_at_most) = best.finish();
    VectorScan {
        candidates,
        others_at_most,
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
    let mut best = BestCandidates::new(limit);
    one.candidates
        .iter()
        .chain(&other.candidates)
        .for_each(|candidate| best.add(*candidate));
    let (candidates, left_out) = best.finish();
    let others_at_most = [left_out, one.others_at_most, other.others_at_most]
        .into_iter()
        .flatten()
        .reduce(f32::max);
    VectorScan {
        candidates,
        others_at_most,
        rows: one.rows + other.rows,
        sum: one.sum + other.sum,
        squares: one.squares + other.squares,
    }
}

/// A collector of the best candidates.
#[derive(Debug)]
struct BestCandidates {
    limit: usize,
    kept: Vec<ScanCandidate>,
    /// The best upper bound among the omitted candidates.
    left_out: f32,
}

impl BestCandidates {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            kept: Vec::new(),
            left_out: f32::NEG_INFINITY,
        }
    }

    fn add(&mut self, candidate: ScanCandidate) {
        self.kept.push(candidate);
        // Cutting the list in half now and then is cheaper than keeping it sorted.
        if 2 * self.limit <= self.kept.len() {
            self.prune();
        }
    }

    fn prune(&mut self) {
        if self.limit < self.kept.len() {
            let (_, left_out, _) = self.kept.select_nth_unstable_by(self.limit, compare_bounds);
            self.left_out = self.left_out.max(left_out.at_most);
            self.kept.truncate(self.limit);
        }
    }

    fn finish(mut self) -> (Vec<ScanCandidate>, Option<f32>) {
        self.prune();
        self.kept.sort_unstable_by(compare_bounds);
        let left_out = Some(self.left_out).filter(|at_most| at_most.is_finite());
        (self.kept, left_out)
    }
}

/// Orders by upper bound, ties by slot.
fn compare_bounds(one: &ScanCandidate, other: &ScanCandidate) -> Ordering {
    other
        .at_most
        .total_cmp(&one.at_most)
        .then(one.slot.cmp(&other.slot))
}
