//! A BERT model that is small enough to be generated in tests.

use std::fs;
use std::path::Path;

use half::{bf16, f16};
use memory_agent::model::{LocalEmbedder, LocalReranker};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

pub(crate) const HIDDEN: usize = 32;
pub(crate) const HEADS: usize = 4;
pub(crate) const LAYERS: usize = 2;
const INTERMEDIATE: usize = 64;
const POSITIONS: usize = 40;

pub(crate) const VOCABULARY: &[&str] = &[
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "red", "apple", "which", "fruit", "is", "?",
    ".", "an", "and", "so", "cherry", "深", "色", "模", "式", "##s", "##es", "blue", "green", "x",
    "y", "z",
];

/// A tensor: its name, shape and numbers.
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) numbers: Vec<f32>,
}

/// The number format of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TensorKind {
    F32,
    F16,
    Bf16,
}

/// A model that can be written to a folder.
#[derive(Debug, Clone)]
pub(crate) struct TinyBert {
    pub(crate) config: Value,
    pub(crate) tokenizer: Value,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) kind: TensorKind,
    /// Additional files, with their names.
    pub(crate) others: Vec<(&'static str, String)>,
}

impl TinyBert {
    /// Generates an encoder, deterministically from the seed.
    pub(crate) fn encoder(seed: u64) -> Self {
        let mut numbers = TensorGenerator(seed);
        let mut tensors = Vec::new();
        let mut add = |name: &str, shape: &[usize], middle: f32| {
            let count = shape.iter().product();
            let numbers = (0..count).map(|_| middle + numbers.next()).collect();
            tensors.push(Tensor {
                name: name.to_owned(),
                shape: shape.to_vec(),
                numbers,
            });
        };
        add(
            "embeddings.word_embeddings.weight",
            &[VOCABULARY.len(), HIDDEN],
            0.0,
        );
        add(
            "embeddings.position_embeddings.weight",
            &[POSITIONS, HIDDEN],
            0.0,
        );
        add("embeddings.token_type_embeddings.weight", &[2, HIDDEN], 0.0);
        let mut norms = vec!["embeddings".to_owned()];
        for layer in 0..LAYERS {
            let prefix = format!("encoder.layer.{layer}");
            for (name, outputs, inputs) in [
                ("attention.self.query", HIDDEN, HIDDEN),
                ("attention.self.key", HIDDEN, HIDDEN),
                ("attention.self.value", HIDDEN, HIDDEN),
                ("attention.output.dense", HIDDEN, HIDDEN),
                ("intermediate.dense", INTERMEDIATE, HIDDEN),
                ("output.dense", HIDDEN, INTERMEDIATE),
            ] {
                add(&format!("{prefix}.{name}.weight"), &[outputs, inputs], 0.0);
                add(&format!("{prefix}.{name}.bias"), &[outputs], 0.0);
            }
            norms.extend([
                format!("{prefix}.attention.output"),
                format!("{prefix}.output"),
            ]);
        }
        for norm in norms {
            add(&format!("{norm}.LayerNorm.weight"), &[HIDDEN], 1.0);
            add(&format!("{norm}.LayerNorm.bias"), &[HIDDEN], 0.0);
        }
        add("pooler.dense.weight", &[HIDDEN, HIDDEN], 0.0);
        add("pooler.dense.bias", &[HIDDEN], 0.0);
        Self {
            config: config("BertModel"),
            tokenizer: tokenizer(),
            tensors,
            kind: TensorKind::F32,
            others: Vec::new(),
        }
    }

    /// Generates a cross-encoder, with the usual tensor names of such models.
    pub(crate) fn cross_encoder(seed: u64, labels: usize) -> Self {
        let mut model = Self::encoder(seed);
        model.config = config("BertForSequenceClassification");
        for tensor in &mut model.tensors {
            tensor.name.insert_str(0, "bert.");
        }
        let mut numbers = TensorGenerator(seed + 1);
        for (name, shape) in [
            ("classifier.weight", vec![labels, HIDDEN]),
            ("classifier.bias", vec![labels]),
        ] {
            let numbers = (0..shape.iter().product())
                .map(|_| numbers.next())
                .collect();
            model.tensors.push(Tensor {
                name: name.to_owned(),
                shape,
                numbers,
            });
        }
        model
    }

    /// Returns a tensor, regardless of a prefix of its name.
    pub(crate) fn tensor(&self, name: &str) -> &Tensor {
        let found = self
            .tensors
            .iter()
            .find(|tensor| tensor.name.strip_prefix("bert.").unwrap_or(&tensor.name) == name);
        found.unwrap_or_else(|| panic!("there is a tensor called {name}"))
    }

    pub(crate) fn tensor_mut(&mut self, name: &str) -> &mut Tensor {
        self.tensors
            .iter_mut()
            .find(|tensor| tensor.name == name)
            .unwrap_or_else(|| panic!("there is a tensor called {name}"))
    }

    /// Adds the pooling configuration of sentence transformers: `pooling` is `mean` or `cls`.
    pub(crate) fn pooled_by(mut self, pooling: &str) -> Self {
        let modules = json!([
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        ]);
        let is_first = pooling == "cls";
        let config = json!({"word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": is_first, "pooling_mode_mean_tokens": !is_first});
        self.others.push(("modules.json", modules.to_string()));
        self.others
            .push(("1_Pooling/config.json", config.to_string()));
        self
    }

    pub(crate) fn with(mut self, file: &'static str, content: &Value) -> Self {
        self.others.push((file, content.to_string()));
        self
    }

    /// Writes the model to a new folder.
    pub(crate) fn write_to_temp(&self) -> TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        self.write(folder.path());
        folder
    }

    pub(crate) fn write(&self, folder: &Path) {
        write(folder, "config.json", self.config.to_string().as_bytes());
        write(
            folder,
            "tokenizer.json",
            self.tokenizer.to_string().as_bytes(),
        );
        write(folder, "model.safetensors", &self.weights());
        for (file, content) in &self.others {
            write(folder, file, content.as_bytes());
        }
    }

    /// Returns the weights as a safetensors file: the size of the header, the header, the numbers.
    pub(crate) fn weights(&self) -> Vec<u8> {
        let (mut header, mut data) = (Map::new(), Vec::new());
        header.insert("__metadata__".into(), json!({"format": "pt"}));
        for tensor in &self.tensors {
            let start = data.len();
            for number in &tensor.numbers {
                match self.kind {
                    TensorKind::F32 => data.extend(number.to_le_bytes()),
                    TensorKind::F16 => data.extend(f16::from_f32(*number).to_le_bytes()),
                    TensorKind::Bf16 => data.extend(bf16::from_f32(*number).to_le_bytes()),
                }
            }
            let kind = match self.kind {
                TensorKind::F32 => "F32",
                TensorKind::F16 => "F16",
                TensorKind::Bf16 => "BF16",
            };
            let entry =
                json!({"dtype": kind, "shape": tensor.shape, "data_offsets": [start, data.len()]});
            header.insert(tensor.name.clone(), entry);
        }
        let header = Value::Object(header).to_string();
        [
            &(header.len() as u64).to_le_bytes()[..],
            header.as_bytes(),
            &data,
        ]
        .concat()
    }

    pub(crate) fn embedder(&self) -> LocalEmbedder {
        LocalEmbedder::open(self.write_to_temp().path(), None).expect("the model is sound")
    }

    pub(crate) fn reranker(&self) -> LocalReranker {
        LocalReranker::open(self.write_to_temp().path(), None).expect("the model is sound")
    }
}

/// Returns the tokens of words in the vocabulary.
pub(crate) fn ids(words: &str) -> Vec<usize> {
    words
        .split(' ')
        .map(|word| {
            VOCABULARY
                .iter()
                .position(|known| *known == word)
                .expect("the word is known")
        })
        .collect()
}

fn write(folder: &Path, file: &str, bytes: &[u8]) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a file stands in a folder"))
        .expect("a temporary folder can be made");
    fs::write(path, bytes).expect("a temporary file can be written");
}

fn config(architecture: &str) -> Value {
    json!({
        "architectures": [architecture], "model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN,
        "intermediate_size": INTERMEDIATE, "layer_norm_eps": 1e-12, "max_position_embeddings": POSITIONS,
        "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "type_vocab_size": 2, "vocab_size": VOCABULARY.len(),
    })
}

fn tokenizer() -> Value {
    let vocabulary: Map<_, _> = VOCABULARY
        .iter()
        .zip(0..)
        .map(|(piece, number)| ((*piece).into(), json!(number)))
        .collect();
    json!({
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary},
    })
}

/// Generated numbers: multiples of 1/64 between −0.5 and 0.5, which are exact in 16 bits.
struct TensorGenerator(u64);

impl TensorGenerator {
    fn next(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let number = u8::try_from((self.0 >> 40) % 65).expect("it is at most 64");
        (f32::from(number) - 32.0) / 64.0
    }
}
