//! Looking at every vector, in whole steps, for those that may be the nearest.

use std::cmp::Ordering;
use std::ops::Range;
use std::thread;

use super::unit::{Codes, product};
use super::view::View;

/// How far a cosine of rounded vectors lies from that of the vectors at most, in steps of both.
///
/// What rounding leaves is spread evenly over a step, and so deviates by `1/sqrt(12)` steps; the sum of all those, each times
/// a number of the other vector, whose squares add up to 1, deviates as much. This is six times that.
const MARGIN: f32 = 1.733;

/// What a scan found.
#[derive(Debug)]
pub(super) struct Scan {
    /// What may be the nearest, the most promising first.
    pub(super) candidates: Vec<Candidate>,
    /// No row that was left out is nearer than this; `None` if none was left out.
    pub(super) others_at_most: Option<f32>,
    /// Of how many rows the sums are.
    pub(super) rows: u64,
    /// The sum of the cosines of all live rows.
    pub(super) sum: f64,
    /// The sum of their squares.
    pub(super) squares: f64,
}

/// A row that may be one of the nearest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    /// The most that its cosine can be.
    pub(super) at_most: f32,
    pub(super) slot: usize,
}

/// Looks at every live row on so many threads, and returns `limit` candidates among those that are allowed.
pub(super) fn scan(view: &View, query: &Codes, limit: usize, threads: usize, allowed: &(dyn Fn(i64) -> bool + Sync)) -> Scan {
    let blocks = view.blocks();
    if threads <= 1 || blocks <= 1 {
        return scan_blocks(view, 0..blocks, query, limit, allowed);
    }
    let part = blocks.div_ceil(threads);
    let scan_part = |number: usize| scan_blocks(view, number * part..blocks.min((number + 1) * part), query, limit, allowed);
    thread::scope(|scope| {
        let others: Vec<_> = (1..blocks.div_ceil(part)).map(|number| scope.spawn(move || scan_part(number))).collect();
        let first = scan_part(0);
        others.into_iter().fold(first, |all, other| match other.join() {
            Ok(other) => merged(&all, &other, limit),
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

fn scan_blocks(view: &View, blocks: Range<usize>, query: &Codes, limit: usize, allowed: &(dyn Fn(i64) -> bool + Sync)) -> Scan {
    let mut best = Best::new(limit);
    let (mut rows, mut sum, mut squares) = (0, 0.0, 0.0);
    let has_dead = !view.head.dead.is_empty();
    for block in blocks {
        let block = view.block(block);
        let cells = block.codes.chunks_exact(view.layout.dimensions).zip(block.scales).zip(block.keys);
        for (slot, ((codes, scale), key)) in block.slots.zip(cells) {
            if has_dead && view.head.dead.contains(slot) {
                continue;
            }
            let cosine = product(&query.codes, codes) * (query.scale * scale);
            // A scale that is damaged may be any number, or none.
            let is_cosine = (-1.5..=1.5).contains(&cosine);
            if !is_cosine {
                continue;
            }
            rows += 1;
            sum += f64::from(cosine);
            squares += f64::from(cosine) * f64::from(cosine);
            let at_most = cosine + MARGIN * (query.scale + scale);
            if best.left_out < at_most && allowed(*key) {
                best.add(Candidate { at_most, slot });
            }
        }
    }
    let (candidates, others_at_most) = best.finish();
    Scan { candidates, others_at_most, rows, sum, squares }
}

fn merged(one: &Scan, other: &Scan, limit: usize) -> Scan {
    let mut best = Best::new(limit);
    one.candidates.iter().chain(&other.candidates).for_each(|candidate| best.add(*candidate));
    let (candidates, left_out) = best.finish();
    let others_at_most = [left_out, one.others_at_most, other.others_at_most].into_iter().flatten().reduce(f32::max);
    Scan {
        candidates,
        others_at_most,
        rows: one.rows + other.rows,
        sum: one.sum + other.sum,
        squares: one.squares + other.squares,
    }
}

/// Keeps the best candidates.
#[derive(Debug)]
struct Best {
    limit: usize,
    kept: Vec<Candidate>,
    /// The best that was left out.
    left_out: f32,
}

impl Best {
    fn new(limit: usize) -> Self {
        Self { limit, kept: Vec::new(), left_out: f32::NEG_INFINITY }
    }

    fn add(&mut self, candidate: Candidate) {
        self.kept.push(candidate);
        // Cutting half of them now and then costs less than to keep them in order.
        if 2 * self.limit <= self.kept.len() {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.limit < self.kept.len() {
            let (_, left_out, _) = self.kept.select_nth_unstable_by(self.limit, nearer);
            self.left_out = self.left_out.max(left_out.at_most);
            self.kept.truncate(self.limit);
        }
    }

    fn finish(mut self) -> (Vec<Candidate>, Option<f32>) {
        self.cut();
        self.kept.sort_unstable_by(nearer);
        let left_out = Some(self.left_out).filter(|at_most| at_most.is_finite());
        (self.kept, left_out)
    }
}

/// Puts the nearer first, and among equals the one that was written first.
fn nearer(one: &Candidate, other: &Candidate) -> Ordering {
    other.at_most.total_cmp(&one.at_most).then(one.slot.cmp(&other.slot))
}
