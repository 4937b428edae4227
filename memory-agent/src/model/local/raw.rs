//! The only unsafe code of this crate: mapping a file, and multiplying matrices.
//!
//! Both are safe to call: what they rely on is checked here, save that nobody cuts the file while it is mapped.
#![expect(unsafe_code, reason = "a mapped file and the fast product of matrices are offered by no safe interface")]

use std::fs::File;
use std::io;

use gemm::Parallelism;
use memmap2::Mmap;

/// Maps a file into memory: only the pages that are looked at are read.
pub(super) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the map is only read, as bytes or numbers, of which every pattern is a value. If another process writes to
    // the file, other numbers come out; if it cuts the file, the system ends this process, as for every program that
    // maps files. Whoever replaces a model puts the new file in place of the old one, which stays whole.
    unsafe { Mmap::map(file) }
}

/// A matrix within a slice: each row is `columns` numbers, and begins `step` numbers after the one before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrix<'a> {
    numbers: &'a [f32],
    rows: usize,
    columns: usize,
    step: usize,
}

impl<'a> Matrix<'a> {
    /// # Panics
    /// When the slice is too short.
    pub(super) fn new(numbers: &'a [f32], rows: usize, columns: usize, step: usize) -> Self {
        assert!(reach(rows, columns, step) <= numbers.len(), "{rows} rows of {columns} in {}", numbers.len());
        Self { numbers, rows, columns, step }
    }
}

/// A matrix that is written to.
#[derive(Debug)]
pub(super) struct MatrixMut<'a> {
    numbers: &'a mut [f32],
    rows: usize,
    columns: usize,
    step: usize,
}

impl<'a> MatrixMut<'a> {
    /// # Panics
    /// When the slice is too short, or rows overlap.
    pub(super) fn new(numbers: &'a mut [f32], rows: usize, columns: usize, step: usize) -> Self {
        assert!(reach(rows, columns, step) <= numbers.len(), "{rows} rows of {columns} in {}", numbers.len());
        assert!(columns <= step, "rows of {columns} every {step} overlap");
        Self { numbers, rows, columns, step }
    }

    /// Adds `left · right` to what is there.
    pub(super) fn add_product(&mut self, left: Matrix<'_>, right: Matrix<'_>) {
        assert_eq!((self.rows, self.columns, left.columns), (left.rows, right.columns, right.rows), "shapes fit");
        multiply(self, left, (left.columns, left.step, 1), right, Former::Kept, 1.0);
    }

    /// Becomes `left · right`.
    pub(super) fn set_product(&mut self, left: Matrix<'_>, right: Matrix<'_>) {
        assert_eq!((self.rows, self.columns, left.columns), (left.rows, right.columns, right.rows), "shapes fit");
        multiply(self, left, (left.columns, left.step, 1), right, Former::Replaced, 1.0);
    }

    /// Becomes `factor · leftᵀ · right`.
    pub(super) fn set_product_of_columns(&mut self, left: Matrix<'_>, right: Matrix<'_>, factor: f32) {
        assert_eq!((self.rows, self.columns, left.rows), (left.columns, right.columns, right.rows), "shapes fit");
        multiply(self, left, (left.rows, 1, left.step), right, Former::Replaced, factor);
    }
}

/// What becomes of the numbers that stood where the product goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Former {
    Kept,
    Replaced,
}

fn reach(rows: usize, columns: usize, step: usize) -> usize {
    let last = rows.checked_sub(1).map(|before| before.checked_mul(step).and_then(|start| start.checked_add(columns)));
    last.map_or(0, |reach| reach.expect("a matrix that exists has a size"))
}

/// `left` is read along `inner` numbers, with the steps that lead `down` to its next row and `across` to its next column.
fn multiply(
    out: &mut MatrixMut<'_>,
    left: Matrix<'_>,
    (inner, down, across): (usize, usize, usize),
    right: Matrix<'_>,
    former: Former,
    factor: f32,
) {
    let signed = |step: usize| isize::try_from(step).expect("a step within a slice is small");
    // SAFETY: `new` has checked that all rows lie within the slices and that those written to do not overlap; the callers
    // above have checked that the shapes fit, so that every element the product touches is one of these. The slice that
    // is written to is borrowed for us alone.
    unsafe {
        gemm::gemm(
            out.rows,
            out.columns,
            inner,
            out.numbers.as_mut_ptr(),
            1,
            signed(out.step),
            former == Former::Kept,
            left.numbers.as_ptr(),
            signed(across),
            signed(down),
            right.numbers.as_ptr(),
            1,
            signed(right.step),
            1.0,
            factor,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn some(count: usize, start: u16) -> Vec<f32> {
        (start..).take(count).map(|number| f32::from(number % 19) - 9.0).collect()
    }

    /// Checks `product` against `expected`, and that what lies between the rows was left alone.
    fn check(product: &[f32], rows: usize, columns: usize, step: usize, expected: impl Fn(usize, usize) -> f32) {
        for (row, numbers) in product.chunks(step.max(1)).enumerate().take(rows) {
            for (column, number) in numbers.iter().enumerate() {
                let expected = if column < columns { expected(row, column) } else { 1.0 };
                assert!((number - expected).abs() < 0.01, "{row} {column}: {number} {expected}");
            }
        }
    }

    proptest! {
        #[test]
        fn products_are_those_of_the_definition(
            rows in 0..70_usize,
            columns in 0..70_usize,
            inner in 0..70_usize,
            gap in 0..5_usize,
        ) {
            let (step, inner_step, row_step) = (columns + gap, inner + gap, rows + gap);
            let (left, right) = (some(rows * inner_step, 3), some(inner * step, 5));
            let turned = some(inner * row_step, 3);
            let straight = |row: usize, column: usize| (0..inner).map(|k| left[row * inner_step + k] * right[k * step + column]).sum::<f32>();
            let of_columns = |row: usize, column: usize| (0..inner).map(|k| turned[k * row_step + row] * right[k * step + column]).sum::<f32>();
            let left = Matrix::new(&left, rows, inner, inner_step);
            let turned = Matrix::new(&turned, inner, rows, row_step);
            let right = Matrix::new(&right, inner, columns, step);

            let mut product = vec![1.0; rows * step];
            MatrixMut::new(&mut product, rows, columns, step).add_product(left, right);
            check(&product, rows, columns, step, |row, column| 1.0 + straight(row, column));
            MatrixMut::new(&mut product, rows, columns, step).set_product(left, right);
            check(&product, rows, columns, step, straight);
            MatrixMut::new(&mut product, rows, columns, step).set_product_of_columns(turned, right, 0.5);
            check(&product, rows, columns, step, |row, column| 0.5 * of_columns(row, column));
        }
    }

    #[test]
    fn a_matrix_that_does_not_fit_is_refused() {
        let refused = |rows: usize, columns: usize, step: usize| {
            std::panic::catch_unwind(|| Matrix::new(&[0.0; 10], rows, columns, step)).is_err()
        };
        assert!(!refused(2, 4, 6) && !refused(0, 100, 100));
        assert!(refused(2, 5, 6) && refused(3, 4, 4) && refused(2, 2, usize::MAX));
        assert!(std::panic::catch_unwind(|| MatrixMut::new(&mut [0.0; 10], 2, 4, 3).rows).is_err(), "rows overlap");
        let (two, three) = ([0.0; 4], [0.0; 9]);
        let unfit =
            || MatrixMut::new(&mut [0.0; 4], 2, 2, 2).set_product(Matrix::new(&two, 2, 2, 2), Matrix::new(&three, 3, 3, 3));
        assert!(std::panic::catch_unwind(unfit).is_err());
    }
}
