//! What the network works on: a column for each token, a row for each feature.
//!
//! That way round the weights, which are many, are read as they stand in the file, and what is done to each token is done
//! to many tokens at once.

use std::ops::Range;

use crate::model::local::raw::{Matrix, MatrixMut};

/// Rows begin at multiples of this, so that the processor reads whole lines.
const LINE: usize = 16;

/// Numbers in rows and columns. Between the last column and the next row there may be numbers that mean nothing.
#[derive(Debug, Default)]
pub(in crate::model::local) struct Grid {
    numbers: Vec<f32>,
    columns: usize,
    width: usize,
}

impl Grid {
    /// Gets another size. What the numbers are afterwards is not said.
    pub(in crate::model::local) fn resize(&mut self, rows: usize, columns: usize) {
        (self.columns, self.width) = (columns, columns.next_multiple_of(LINE));
        self.numbers.resize(rows * self.width, 0.0);
    }

    /// Gets another size, and all numbers become 0.
    pub(super) fn reset(&mut self, rows: usize, columns: usize) {
        self.numbers.clear();
        self.resize(rows, columns);
    }

    /// Gets as many columns as `other`, in each of which stands `column`.
    pub(super) fn become_rows(&mut self, column: &[f32], other: &Self) {
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

    /// Puts `numbers` into a column, from the first row on.
    pub(in crate::model::local) fn set_column(&mut self, column: usize, numbers: &[f32]) {
        for (row, number) in self.numbers.chunks_exact_mut(self.width).zip(numbers) {
            row[column] = *number;
        }
    }

    /// Returns a column.
    pub(in crate::model::local) fn column(&self, column: usize) -> Vec<f32> {
        self.numbers.chunks_exact(self.width).map(|row| row[column]).collect()
    }

    /// Returns the sum of some columns.
    pub(in crate::model::local) fn sum(&self, columns: Range<usize>) -> Vec<f32> {
        self.numbers.chunks_exact(self.width).map(|row| row[columns.clone()].iter().sum()).collect()
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns how many numbers stand between the beginnings of two rows.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Returns all numbers, with those that mean nothing.
    pub(in crate::model::local) fn numbers_mut(&mut self) -> &mut [f32] {
        &mut self.numbers
    }

    pub(super) fn matrix(&self, rows: Range<usize>, columns: Range<usize>) -> Matrix<'_> {
        let start = rows.start * self.width + columns.start;
        Matrix::new(&self.numbers[start..], rows.len(), columns.len(), self.width)
    }

    pub(super) fn matrix_mut(&mut self, rows: Range<usize>, columns: Range<usize>) -> MatrixMut<'_> {
        let start = rows.start * self.width + columns.start;
        MatrixMut::new(&mut self.numbers[start..], rows.len(), columns.len(), self.width)
    }
}
