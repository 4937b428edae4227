//! The only unsafe code of this crate: memory-mapping a file, and multiplying matrices.
//!
//! The functions are safe to call, because this module checks their preconditions. The only exception is that another
//! process must not truncate a mapped file.
#![expect(
    unsafe_code,
    reason = "a mapped file and the fast product of matrices are offered by no safe interface"
)]

use std::fs::File;
use std::io;

use gemm_common::Parallelism;
use gemm_f32::gemm::f32::get_gemm_fn;
use memmap2::Mmap;

/// Maps a file into memory, so that only the pages in use are read.
pub(super) fn map_file(file: &File) -> io::Result<Mmap> {
    // SAFETY: the map is only read as bytes or numbers, for which every bit pattern is valid. If another process writes
    // to the file, the numbers change. If it truncates the file, the system terminates this process, as it does for
    // every program that maps files. Replacing a model by renaming a new file over the old one is safe, because the old
    // file stays intact.
    unsafe { Mmap::map(file) }
}

/// A matrix within a slice: each row has `columns` numbers, and rows start `step` numbers apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrix<'a> {
    numbers: &'a [f32],
    rows: usize,
    columns: usize,
    step: usize,
}

impl<'a> Matrix<'a> {
    /// Creates a matrix.
    ///
    /// # Panics
    /// If the slice is too short.
    pub(super) fn new(numbers: &'a [f32], rows: usize, columns: usize, step: usize) -> Self {
        assert!(
            required_length(rows, columns, step) <= numbers.len(),
            "{rows} rows of {columns} in {}",
            numbers.len()
        );
        Self {
            numbers,
            rows,
            columns,
            step,
        }
    }
}

/// A mutable matrix within a slice.
#[derive(Debug)]
pub(super) struct MatrixMut<'a> {
    numbers: &'a mut [f32],
    rows: usize,
    columns: usize,
    step: usize,
}

impl<'a> MatrixMut<'a> {
    /// Creates a mutable matrix.
    ///
    /// # Panics
    /// If the slice is too short, or rows overlap.
    pub(super) fn new(numbers: &'a mut [f32], rows: usize, columns: usize, step: usize) -> Self {
        assert!(
            required_length(rows, columns, step) <= numbers.len(),
            "{rows} rows of {columns} in {}",
            numbers.len()
        );
        assert!(columns <= step, "rows of {columns} every {step} overlap");
        Self {
            numbers,
            rows,
            columns,
            step,
        }
    }

    /// Adds `left · right` to the matrix.
    pub(super) fn add_product(&mut self, left: Matrix<'_>, right: Matrix<'_>) {
        assert_eq!(
            (self.rows, self.columns, left.columns),
            (left.rows, right.columns, right.rows),
            "shapes fit"
        );
        multiply(
            self,
            left,
            (left.columns, left.step, 1),
            right,
            Accumulation::Kept,
            1.0,
        );
    }

    /// Sets the matrix to `left · right`.
    pub(super) fn set_product(&mut self, left: Matrix<'_>, right: Matrix<'_>) {
        assert_eq!(
            (self.rows, self.columns, left.columns),
            (left.rows, right.columns, right.rows),
            "shapes fit"
        );
        multiply(
            self,
            left,
            (left.columns, left.step, 1),
            right,
            Accumulation::Replaced,
            1.0,
        );
    }

    /// Sets the matrix to `factor · leftᵀ · right`.
    pub(super) fn set_product_of_columns(
        &mut self,
        left: Matrix<'_>,
        right: Matrix<'_>,
        factor: f32,
    ) {
        assert_eq!(
            (self.rows, self.columns, left.rows),
            (left.columns, right.columns, right.rows),
            "shapes fit"
        );
        multiply(
            self,
            left,
            (left.rows, 1, left.step),
            right,
            Accumulation::Replaced,
            factor,
        );
    }
}

/// Whether a product is added to the previous numbers of its destination or replaces them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Accumulation {
    Kept,
    Replaced,
}

fn required_length(rows: usize, columns: usize, step: usize) -> usize {
    let last = rows.checked_sub(1).map(|before| {
        before
            .checked_mul(step)
            .and_then(|start| start.checked_add(columns))
    });
    last.map_or(0, |reach| reach.expect("a matrix that exists has a size"))
}

/// Multiplies two matrices into `out`.
///
/// `left` has `inner` columns; `down` and `across` are the distances to its next row and to its next column.
fn multiply(
    out: &mut MatrixMut<'_>,
    left: Matrix<'_>,
    (inner, down, across): (usize, usize, usize),
    right: Matrix<'_>,
    former: Accumulation,
    factor: f32,
) {
    let signed = |step: usize| isize::try_from(step).expect("a step within a slice is small");
    // The kernel expects a destination whose columns are contiguous. It computes `outᵀ = rightᵀ · leftᵀ`, because the rows
    // of `out` are contiguous.
    // SAFETY: `new` has checked that all rows are within the slices and that the rows of `out` do not overlap. The
    // callers have checked that the shapes match, so the product accesses only elements of these rows. The slice of
    // `out` is borrowed exclusively.
    unsafe {
        get_gemm_fn()(
            out.columns,
            out.rows,
            inner,
            out.numbers.as_mut_ptr(),
            signed(out.step),
            1,
            former == Accumulation::Kept,
            right.numbers.as_ptr(),
            signed(right.step),
            1,
            left.numbers.as_ptr(),
            signed(down),
            signed(across),
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

    fn sample_numbers(count: usize, start: u16) -> Vec<f32> {
        (start..)
            .take(count)
            .map(|number| f32::from(number % 19) - 9.0)
            .collect()
    }

    /// Checks `product` against `expected`, and that the padding between the rows is unchanged.
    fn check(
        product: &[f32],
        rows: usize,
        columns: usize,
        step: usize,
        expected: impl Fn(usize, usize) -> f32,
    ) {
        for (row, numbers) in product.chunks(step.max(1)).enumerate().take(rows) {
            for (column, number) in numbers.iter().enumerate() {
                let expected = if column < columns {
                    expected(row, column)
                } else {
                    1.0
                };
                assert!(
                    (number - expected).abs() < 0.01,
                    "{row} {column}: {number} {expected}"
                );
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
            let (left, right) = (sample_numbers(rows * inner_step, 3), sample_numbers(inner * step, 5));
            let turned = sample_numbers(inner * row_step, 3);
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
        assert!(
            std::panic::catch_unwind(|| MatrixMut::new(&mut [0.0; 10], 2, 4, 3).rows).is_err(),
            "rows overlap"
        );
        let (two, three) = ([0.0; 4], [0.0; 9]);
        let unfit = || {
            MatrixMut::new(&mut [0.0; 4], 2, 2, 2)
                .set_product(Matrix::new(&two, 2, 2, 2), Matrix::new(&three, 3, 3, 3));
        };
        assert!(std::panic::catch_unwind(unfit).is_err());
    }
}
