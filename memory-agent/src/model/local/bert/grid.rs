//! The matrix of activations: a column for each token, a row for each feature.
//!
//! With this layout the weights, which are by far the larger matrices, are used in the order of the file, and each
//! elementwise operation runs on adjacent tokens.

use std::ops::Range;

use crate::model::local::unsafe_ops::{Matrix, MatrixMut};

/// Alignment of rows, in numbers, so that the processor reads whole cache lines.
const ROW_ALIGNMENT: usize = 16;

/// A matrix in row-major order with padded rows. The values of the padding are undefined.
#[derive(Debug, Default)]
pub(in crate::model::local) struct Grid {
    numbers: Vec<f32>,
    columns: usize,
    width: usize,
}

impl Grid {
    /// Resizes the matrix. Its values are undefined afterwards.
    pub(in crate::model::local) fn resize(&mut self, rows: usize, columns: usize) {
        (self.columns, self.width) = (columns, columns.next_multiple_of(ROW_ALIGNMENT));
        self.numbers.resize(rows * self.width, 0.0);
    }

    /// Resizes the matrix and sets all numbers to 0.
    pub(super) fn reset(&mut self, rows: usize, columns: usize) {
        self.numbers.clear();
        self.resize(rows, columns);
    }

    /// Resizes the matrix to the columns of `other` and copies `column` into each column.
    pub(super) fn fill_columns(&mut self, column: &[f32], other: &Self) {
        (self.columns, self.width) = (other.columns, other.width);
        self.numbers.clear();
        self.numbers.reserve(column.len() * self.width);
        for number in column {
            self.numbers.extend(std::iter::repeat_n(number, self.width));
        }
    }

    /// Adds `column` to each column.
    pub(super) fn add_to_rows(&mut self, column: &[f32]) {
        for (row, addend) in self.numbers.chunks_exact_mut(self.width).zip(column) {
            for number in row {
                *number += addend;
            }
        }
    }

    /// Writes `numbers` to a column, starting at the first row.
    pub(in crate::model::local) fn set_column(&mut self, column: usize, numbers: &[f32]) {
        for (row, number) in self.numbers.chunks_exact_mut(self.width).zip(numbers) {
            row[column] = *number;
        }
    }

    /// Returns a copy of a column.
    pub(in crate::model::local) fn column(&self, column: usize) -> Vec<f32> {
        self.numbers
            .chunks_exact(self.width)
            .map(|row| row[column])
            .collect()
    }

    /// Returns the sum of a range of columns.
    pub(in crate::model::local) fn sum(&self, columns: Range<usize>) -> Vec<f32> {
        self.numbers
            .chunks_exact(self.width)
            .map(|row| row[columns.clone()].iter().sum())
            .collect()
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the distance between the starts of two rows, in numbers.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Returns all numbers, including the padding.
    pub(in crate::model::local) fn numbers_mut(&mut self) -> &mut [f32] {
        &mut self.numbers
    }

    pub(super) fn matrix(&self, rows: Range<usize>, columns: Range<usize>) -> Matrix<'_> {
        let start = rows.start * self.width + columns.start;
        Matrix::new(
            &self.numbers[start..],
            rows.len(),
            columns.len(),
            self.width,
        )
    }

    pub(super) fn matrix_mut(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> MatrixMut<'_> {
        let start = rows.start * self.width + columns.start;
        MatrixMut::new(
            &mut self.numbers[start..],
            rows.len(),
            columns.len(),
            self.width,
        )
    }
}
