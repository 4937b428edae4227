//! The weights of a network in `model.safetensors`.

use std::fmt::{self, Debug};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use half::{bf16, f16};
use memmap2::Mmap;
use safetensors::{Dtype, SafeTensors};

use crate::model::local::{ModelError, ModelFolder, unsafe_ops};

const FILE: &str = "model.safetensors";

/// Length of the field with the header size at the start of the file, in bytes.
const SIZE: usize = 8;

/// A memory-mapped file of weights.
#[derive(Debug)]
pub(in crate::model::local) struct ModelWeights<'a> {
    folder: &'a ModelFolder,
    map: Arc<Mmap>,
    metadata: safetensors::tensor::Metadata,
    data: usize,
    /// Prefix of the tensor names of the encoder; some published checkpoints have `bert.` or `roberta.`.
    prefix: &'static str,
}

impl<'a> ModelWeights<'a> {
    pub(in crate::model::local) fn open(folder: &'a ModelFolder) -> Result<Self, ModelError> {
        let file = folder.file(FILE)?;
        let map = unsafe_ops::map_file(&file).map_err(|error| {
            folder.damaged(FILE, &format!("it cannot be mapped into memory: {error}"))
        })?;
        let (header, metadata) = SafeTensors::read_metadata(&map).map_err(|error| {
            folder.damaged(
                FILE,
                &format!("it is truncated or not a safetensors file ({error})"),
            )
        })?;
        let has_prefix = |prefix: &&str| {
            metadata
                .info(&format!("{prefix}embeddings.word_embeddings.weight"))
                .is_some()
        };
        let prefix = ["bert.", "roberta."]
            .into_iter()
            .find(has_prefix)
            .unwrap_or_default();
        Ok(Self {
            folder,
            map: Arc::new(map),
            metadata,
            data: SIZE + header,
            prefix,
        })
    }

    /// Returns the bytes of the file and the offset of its data section.
    pub(in crate::model::local) fn bytes(&self) -> (&[u8], usize) {
        (&self.map, self.data)
    }

    /// Returns the shape of a tensor outside the encoder.
    pub(in crate::model::local) fn shape(&self, name: &str) -> Option<&[usize]> {
        self.metadata.info(name).map(|info| info.shape.as_slice())
    }

    /// Returns a tensor of the encoder as `f32` numbers.
    pub(super) fn numbers(&self, name: &str, shape: &[usize]) -> Result<TensorNumbers, ModelError> {
        self.outer_numbers(&format!("{}{name}", self.prefix), shape)
    }

    /// Returns a tensor outside the encoder as `f32` numbers.
    pub(super) fn outer_numbers(
        &self,
        name: &str,
        shape: &[usize],
    ) -> Result<TensorNumbers, ModelError> {
        let RowTensor {
            kind, map, range, ..
        } = self.table(name, shape)?;
        let bytes = &map[range.clone()];
        let as_they_stand =
            cfg!(target_endian = "little") && bytemuck::try_cast_slice::<u8, f32>(bytes).is_ok();
        Ok(match kind {
            NumberFormat::F32 if as_they_stand => TensorNumbers::Mapped { map, range },
            NumberFormat::F32
            | NumberFormat::F64
            | NumberFormat::F16
            | NumberFormat::Bf16
            | NumberFormat::I8 => {
                let mut numbers = vec![0.0; bytes.len() / kind.size()];
                kind.add(bytes, &mut numbers);
                TensorNumbers::Copied(numbers)
            }
        })
    }

    /// Returns a tensor of the encoder for access by row; it may have any number of rows.
    pub(super) fn rows(&self, name: &str, columns: usize) -> Result<RowTensor, ModelError> {
        let name = format!("{}{name}", self.prefix);
        let rows = self
            .shape(&name)
            .and_then(|shape| shape.first().copied())
            .unwrap_or(0);
        self.table(&name, &[rows, columns])
    }

    /// Returns the table of static embeddings for access by row; it may hold integers and have any shape.
    pub(in crate::model::local) fn static_rows(&self, name: &str) -> Result<RowTensor, ModelError> {
        let Some(&[rows, columns]) = self.shape(name) else {
            return Err(self.damaged(&format!("it has no table {name}")));
        };
        if rows == 0 || columns == 0 {
            return Err(self.damaged(&format!("{name} is empty")));
        }
        self.table_of(name, &[rows, columns], STATIC_FORMATS)
    }

    /// Returns a tensor of one dimension as `f32` numbers, if the file contains it.
    pub(in crate::model::local) fn static_row(
        &self,
        name: &str,
    ) -> Result<Option<Vec<f32>>, ModelError> {
        let Some(&[columns]) = self.shape(name) else {
            return Ok(None);
        };
        let table = self.table_of(name, &[columns], STATIC_FORMATS)?;
        let mut row = vec![0.0; columns];
        table.kind.add(&table.map[table.range.clone()], &mut row);
        Ok(Some(row))
    }

    /// Returns a tensor of row indices into another tensor, if the file contains it.
    pub(in crate::model::local) fn row_indices(
        &self,
        name: &str,
    ) -> Result<Option<Vec<usize>>, ModelError> {
        let Some(info) = self.metadata.info(name) else {
            return Ok(None);
        };
        let bytes = &self.map[self.data + info.data_offsets.0..self.data + info.data_offsets.1];
        let places: Option<Vec<usize>> = match info.dtype {
            Dtype::I64 => bytes
                .as_chunks()
                .0
                .iter()
                .map(|bytes| i64::from_le_bytes(*bytes).try_into().ok())
                .collect(),
            Dtype::I32 => bytes
                .as_chunks()
                .0
                .iter()
                .map(|bytes| i32::from_le_bytes(*bytes).try_into().ok())
                .collect(),
            other => {
                return Err(self
                    .folder
                    .unsupported(FILE, &format!("{name} has numbers of type {other:?}")));
            }
        };
        places
            .map(Some)
            .ok_or_else(|| self.damaged(&format!("{name} contains negative numbers")))
    }

    fn table(&self, name: &str, shape: &[usize]) -> Result<RowTensor, ModelError> {
        self.table_of(name, shape, NETWORK_FORMATS)
    }

    fn table_of(
        &self,
        name: &str,
        shape: &[usize],
        kinds: &[NumberFormat],
    ) -> Result<RowTensor, ModelError> {
        // Early checkpoints use other names for the weight and the bias of a norm.
        let former = name
            .replace("LayerNorm.weight", "LayerNorm.gamma")
            .replace("LayerNorm.bias", "LayerNorm.beta");
        let Some(info) = self
            .metadata
            .info(name)
            .or_else(|| self.metadata.info(&former))
        else {
            return Err(self.folder.damaged(FILE, &format!("it has no {name}")));
        };
        if info.shape != shape {
            let why = format!(
                "{name} has the shape {:?}; config.json requires {shape:?}",
                info.shape
            );
            return Err(self.folder.damaged(FILE, &why));
        }
        let Some(&kind) = kinds.iter().find(|kind| kind.dtype() == info.dtype) else {
            let read: Vec<String> = kinds
                .iter()
                .map(|kind| format!("{:?}", kind.dtype()))
                .collect();
            let (last, others) = read.split_last().expect("some kinds are read");
            let why = format!(
                "{name} has numbers of type {:?}; {} and {last} are supported",
                info.dtype,
                others.join(", ")
            );
            return Err(self.folder.unsupported(FILE, &why));
        };
        let (start, end) = info.data_offsets;
        let columns = shape.last().copied().unwrap_or(0);
        Ok(RowTensor {
            kind,
            map: Arc::clone(&self.map),
            range: self.data + start..self.data + end,
            columns,
        })
    }

    /// Returns the error for a damaged file.
    pub(in crate::model::local) fn damaged(&self, what: &str) -> ModelError {
        self.folder.damaged(FILE, what)
    }

    /// Returns the error for a network in `folder` with an output that is not finite.
    pub(in crate::model::local) fn not_finite_error(folder: &Path) -> ModelError {
        ModelError::new(
            format!(
                "{} cannot be used: it produces no finite result",
                folder.join(FILE).display()
            ),
            "download the model again, or choose another one",
        )
    }
}

/// The numbers of a tensor that is read as a whole.
pub(super) enum TensorNumbers {
    /// Mapped directly from the file.
    Mapped { map: Arc<Mmap>, range: Range<usize> },
    /// Converted copies, for another number format, byte order or alignment.
    Copied(Vec<f32>),
}

/// Number formats of networks and, below, of static embeddings.
const NETWORK_FORMATS: &[NumberFormat] =
    &[NumberFormat::F32, NumberFormat::F16, NumberFormat::Bf16];
const STATIC_FORMATS: &[NumberFormat] = &[
    NumberFormat::F32,
    NumberFormat::F64,
    NumberFormat::F16,
    NumberFormat::Bf16,
    NumberFormat::I8,
];

impl TensorNumbers {
    pub(super) fn get(&self) -> &[f32] {
        match self {
            Self::Mapped { map, range } => bytemuck::cast_slice(&map[range.clone()]),
            Self::Copied(numbers) => numbers,
        }
    }
}

impl Debug for TensorNumbers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} numbers", self.get().len())
    }
}

/// A tensor that is read by row.
#[derive(Debug)]
pub(in crate::model::local) struct RowTensor {
    kind: NumberFormat,
    map: Arc<Mmap>,
    range: Range<usize>,
    columns: usize,
}

impl RowTensor {
    pub(in crate::model::local) fn len(&self) -> usize {
        self.range.len() / (self.columns * self.kind.size())
    }

    /// Returns the length of a row.
    pub(in crate::model::local) fn columns(&self) -> usize {
        self.columns
    }

    /// Adds a row to `numbers`.
    ///
    /// # Panics
    /// If the row does not exist.
    pub(in crate::model::local) fn add_row(&self, row: usize, numbers: &mut [f32]) {
        let size = self.columns * self.kind.size();
        self.kind
            .add(&self.map[self.range.clone()][row * size..][..size], numbers);
    }
}

/// The number format of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberFormat {
    F32,
    F64,
    F16,
    Bf16,
    I8,
}

impl NumberFormat {
    fn dtype(self) -> Dtype {
        match self {
            Self::F32 => Dtype::F32,
            Self::F64 => Dtype::F64,
            Self::F16 => Dtype::F16,
            Self::Bf16 => Dtype::BF16,
            Self::I8 => Dtype::I8,
        }
    }

    fn size(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::I8 => 1,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "vectors are kept in f32")]
    fn add(self, bytes: &[u8], numbers: &mut [f32]) {
        match self {
            Self::F32 => add(bytes, numbers, f32::from_le_bytes),
            Self::F64 => add(bytes, numbers, |bytes| f64::from_le_bytes(bytes) as f32),
            Self::F16 => add(bytes, numbers, |bytes| f16::from_le_bytes(bytes).to_f32()),
            Self::Bf16 => add(bytes, numbers, |bytes| bf16::from_le_bytes(bytes).to_f32()),
            Self::I8 => add(bytes, numbers, |bytes| f32::from(i8::from_le_bytes(bytes))),
        }
    }
}

fn add<const SIZE: usize>(bytes: &[u8], numbers: &mut [f32], read: impl Fn([u8; SIZE]) -> f32) {
    for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks().0) {
        *number += read(*bytes);
    }
}
