//! Tells data files of the wanted kind from others, by the looks of their tables.
//!
//! Gradient-boosted trees: Friedman, "Greedy Function Approximation: A Gradient Boosting Machine", Annals of Statistics 29(5), 2001;
//! second-order, with shrinkage and weights on leaves, as in Chen and Guestrin, "`XGBoost`: A Scalable Tree Boosting System", KDD 2016,
//! section 2. The library grows the trees; they are kept and walked here, because a model comes from a file, and a file may lie: the
//! trees are checked once, and then nothing can go wrong. Departures: none.
//!
//! Files of one source look alike, so sources, not files, are held out when a model is judged ([`FileModel::held_out`]), and a source
//! weighs as the root of its files.

use forust_ml::objective::ObjectiveType;
use forust_ml::{GradientBooster, Matrix};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use crate::data_file::Features;

/// What a file that could not be read is taken for, before the words that lead to it are asked.
const UNREAD_LOG_ODDS: f64 = -1.5;
/// What each order of words of statistics, or of registers, adds to that.
const UNREAD_WORD_LOG_ODDS: f64 = 1.5;
/// Most nodes of all trees: models have some thousands.
const NODES_MAX: usize = 1 << 20;

/// Judges data files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct FileModel {
    base: f64,
    trees: Vec<Vec<Node>>,
}

/// A step of a tree: where to go on, or what to add.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Node {
    /// Goes to `left` if the feature is below the threshold, else to `right`.
    Split {
        feature: u16,
        threshold: f64,
        left: u32,
        right: u32,
    },
    /// Adds to the logarithm of the odds.
    Leaf(f64),
}

/// A model as it is written down.
#[derive(Clone, Serialize, Deserialize)]
struct Parts {
    features: Vec<String>,
    base: f64,
    trees: Vec<Vec<Node>>,
}

/// A file of which it is known whether it is wanted.
#[derive(Clone, Debug)]
pub struct FileExample {
    /// What it looks like.
    pub features: Features,
    /// Whether it is wanted.
    pub is_wanted: bool,
    /// Where it comes from: files of one source look alike.
    pub source: String,
}

/// How trees are grown.
#[derive(Clone, Debug, PartialEq)]
pub struct FileTraining {
    /// How many trees. Default 120.
    pub trees: usize,
    /// Most splits from the root to a leaf. Default 4.
    pub depth: usize,
    /// How much each tree counts. Default 0.08.
    pub learning_rate: f32,
    /// How many parts the sources are split into for cross-validation. Default 10.
    pub folds: u64,
}

impl Default for FileTraining {
    fn default() -> Self {
        Self {
            trees: 120,
            depth: 4,
            learning_rate: 0.08,
            folds: 10,
        }
    }
}

/// Why there is no model.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileModelError {
    /// There is nothing to tell apart.
    #[error("files of both kinds are needed, wanted and not: {wanted} of {all} are wanted")]
    OneKind {
        /// How many are wanted.
        wanted: usize,
        /// How many there are.
        all: usize,
    },
    /// The library refused.
    #[error("trees cannot be grown: {0}")]
    Training(String),
    /// A model was made of other features, or its trees are no trees.
    #[error("not a model of data files: {0}")]
    Content(&'static str),
}

impl FileModel {
    /// Learns from examples.
    ///
    /// # Errors
    /// If examples of one kind only are given.
    pub fn train(
        examples: &[FileExample],
        training: &FileTraining,
    ) -> Result<Self, FileModelError> {
        let all: Vec<&FileExample> = examples.iter().collect();
        Self::train_on(&all, training)
    }

    /// What models that have not seen the source of an example say of it, for each example.
    ///
    /// # Errors
    /// As [`train`](Self::train).
    pub fn held_out(
        examples: &[FileExample],
        training: &FileTraining,
    ) -> Result<Vec<f64>, FileModelError> {
        let fold =
            |example: &FileExample| xxh3_64(example.source.as_bytes()) % training.folds.max(2);
        let mut probabilities = vec![0.0; examples.len()];
        for held_out in 0..training.folds.max(2) {
            let seen: Vec<&FileExample> =
                examples.iter().filter(|it| fold(it) != held_out).collect();
            if seen.len() == examples.len() {
                continue;
            }
            let model = Self::train_on(&seen, training)?;
            for (probability, example) in probabilities.iter_mut().zip(examples) {
                if fold(example) == held_out {
                    *probability = model.probability(&example.features);
                }
            }
        }
        Ok(probabilities)
    }

    /// The probability that a file is wanted.
    #[must_use]
    pub fn probability(&self, features: &Features) -> f64 {
        let log_odds = if features.is_read() {
            let leaves = self.trees.iter().map(|tree| leaf(tree, features.values()));
            self.base + leaves.sum::<f64>()
        } else {
            // No tree has seen such a file.
            let words = |name: &str| features.named(name).unwrap_or_default();
            UNREAD_LOG_ODDS
                + UNREAD_WORD_LOG_ODDS * (words("statistics_words") - words("register_words"))
        };
        1.0 / (1.0 + (-log_odds).exp())
    }

    fn train_on(
        examples: &[&FileExample],
        training: &FileTraining,
    ) -> Result<Self, FileModelError> {
        let wanted = examples.iter().filter(|example| example.is_wanted).count();
        if wanted == 0 || wanted == examples.len() {
            return Err(FileModelError::OneKind {
                wanted,
                all: examples.len(),
            });
        }
        let failed = |error: &dyn std::fmt::Display| FileModelError::Training(error.to_string());
        let rows = examples.len();
        let mut columns = Vec::with_capacity(rows * Features::COUNT);
        for feature in 0..Features::COUNT {
            columns.extend(examples.iter().map(|it| it.features.values()[feature]));
        }
        let labels: Vec<f64> = examples
            .iter()
            .map(|example| f64::from(u8::from(example.is_wanted)))
            .collect();
        let mut booster = GradientBooster::default()
            .set_objective_type(ObjectiveType::LogLoss)
            .set_iterations(training.trees)
            .set_max_depth(training.depth)
            .set_max_leaves(1 << training.depth.min(16))
            .set_learning_rate(training.learning_rate)
            .set_parallel(false);
        let matrix = Matrix::new(&columns, rows, Features::COUNT);
        booster
            .fit(&matrix, &labels, &weights(examples), None)
            .map_err(|error| failed(&error))?;
        let trees: Option<Vec<Vec<Node>>> = booster.trees.iter().map(nodes_of).collect();
        Self::try_from(Parts {
            features: Features::NAMES.map(str::to_owned).to_vec(),
            base: booster.base_score,
            trees: trees.ok_or_else(|| failed(&"a tree is too large"))?,
        })
    }
}

/// A tree of the library, with what is needed to walk it.
fn nodes_of(tree: &forust_ml::tree::Tree) -> Option<Vec<Node>> {
    tree.nodes
        .iter()
        .map(|node| {
            if node.is_leaf {
                return Some(Node::Leaf(f64::from(node.weight_value)));
            }
            Some(Node::Split {
                feature: u16::try_from(node.split_feature).ok()?,
                threshold: node.split_value,
                left: u32::try_from(node.left_child).ok()?,
                right: u32::try_from(node.right_child).ok()?,
            })
        })
        .collect()
}

/// A source weighs as the root of its files.
fn weights(examples: &[&FileExample]) -> Vec<f64> {
    let mut counts: HashMap<&str, f64> = HashMap::new();
    for example in examples {
        *counts.entry(&example.source).or_default() += 1.0;
    }
    examples
        .iter()
        .map(|example| counts[&*example.source].sqrt().recip())
        .collect()
}

/// Where the tree leads. Children come after their parents (checked when the model is made), so this ends.
fn leaf(tree: &[Node], values: &[f64; Features::COUNT]) -> f64 {
    let mut at = 0;
    loop {
        match tree[at] {
            Node::Leaf(value) => return value,
            Node::Split {
                feature,
                threshold,
                left,
                right,
            } => {
                let is_below = values[usize::from(feature)] < threshold;
                at = if is_below { left } else { right } as usize;
            }
        }
    }
}

impl TryFrom<Parts> for FileModel {
    type Error = FileModelError;

    fn try_from(parts: Parts) -> Result<Self, FileModelError> {
        if parts.features != Features::NAMES {
            return Err(FileModelError::Content("it looks at other features"));
        }
        if NODES_MAX < parts.trees.iter().map(Vec::len).sum() {
            return Err(FileModelError::Content("it is too large"));
        }
        let is_sound = |tree: &Vec<Node>| {
            let is_node = |(at, node): (usize, &Node)| match node {
                Node::Leaf(value) => value.is_finite(),
                Node::Split {
                    feature,
                    threshold,
                    left,
                    right,
                } => {
                    let is_child =
                        |child: &u32| at < *child as usize && (*child as usize) < tree.len();
                    usize::from(*feature) < Features::COUNT
                        && threshold.is_finite()
                        && is_child(left)
                        && is_child(right)
                }
            };
            !tree.is_empty() && tree.iter().enumerate().all(is_node)
        };
        if !parts.base.is_finite() || !parts.trees.iter().all(is_sound) {
            return Err(FileModelError::Content("its trees are damaged"));
        }
        Ok(Self {
            base: parts.base,
            trees: parts.trees,
        })
    }
}

impl From<FileModel> for Parts {
    fn from(model: FileModel) -> Self {
        Self {
            features: Features::NAMES.map(str::to_owned).to_vec(),
            base: model.base,
            trees: model.trees,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::data_file::{Bounds, Hints, inspect};

    fn features(csv: &str) -> Features {
        let hints = Hints {
            url: "https://a.example/a.csv",
            ..Hints::default()
        };
        inspect(csv.as_bytes(), &hints, &Bounds::default()).features
    }

    fn examples() -> Vec<FileExample> {
        let mut examples = Vec::new();
        for number in 0..40_usize {
            let mut numbers = String::from("year,population\n");
            let mut names = String::from("name,address\n");
            for row in 0..20 {
                let value = (row * 37 + number * 101) % 997;
                writeln!(numbers, "{},{value}", 2000 + row).unwrap();
                writeln!(names, "person {row},street {}", row + number).unwrap();
            }
            for (csv, is_wanted) in [(numbers, true), (names, false)] {
                examples.push(FileExample {
                    features: features(&csv),
                    is_wanted,
                    source: format!("source {}", number % 8),
                });
            }
        }
        examples
    }

    #[test]
    fn a_model_tells_what_it_was_shown() {
        let examples = examples();
        let held_out = FileModel::held_out(&examples, &FileTraining::default()).unwrap();
        for (probability, example) in held_out.iter().zip(&examples) {
            assert_eq!(0.5 < *probability, example.is_wanted, "{probability}");
        }
    }

    #[test]
    fn a_model_survives_being_written_down() {
        let examples = examples();
        let model = FileModel::train(&examples, &FileTraining::default()).unwrap();
        let again: FileModel =
            serde_json::from_str(&serde_json::to_string(&model).unwrap()).unwrap();
        assert_eq!(again, model);
        for example in &examples {
            let probability = again.probability(&example.features);
            assert_eq!(
                probability.to_bits(),
                model.probability(&example.features).to_bits()
            );
        }
    }

    #[test]
    fn trees_that_are_none_are_refused() {
        let parts = |trees: Vec<Vec<Node>>| Parts {
            features: Features::NAMES.map(str::to_owned).to_vec(),
            base: 0.0,
            trees,
        };
        let split = |feature, left, right| Node::Split {
            feature,
            threshold: 0.0,
            left,
            right,
        };
        for tree in [
            vec![],
            vec![Node::Leaf(f64::NAN)],
            vec![split(0, 0, 1), Node::Leaf(0.0)],
            vec![split(0, 1, 2), Node::Leaf(0.0)],
            vec![split(9999, 1, 1), Node::Leaf(0.0)],
        ] {
            assert!(FileModel::try_from(parts(vec![tree])).is_err());
        }
        let mut other = parts(vec![]);
        other.features.pop();
        assert!(FileModel::try_from(other).is_err());
        let sound = parts(vec![vec![
            split(0, 1, 2),
            Node::Leaf(1.0),
            Node::Leaf(-1.0),
        ]]);
        assert!(FileModel::try_from(sound).is_ok());
    }

    #[test]
    fn one_kind_teaches_nothing() {
        let mut examples = examples();
        examples.retain(|example| example.is_wanted);
        let error = FileModel::train(&examples, &FileTraining::default()).unwrap_err();
        assert!(matches!(
            error,
            FileModelError::OneKind {
                wanted: 40,
                all: 40
            }
        ));
    }

    #[test]
    fn an_unread_file_is_judged_by_the_words_that_lead_to_it() {
        let model = FileModel::train(&examples(), &FileTraining::default()).unwrap();
        let judge = |text: &str| {
            let hints = Hints {
                url: "https://a.example/1.pdf",
                link_text: Some(text),
                ..Hints::default()
            };
            model.probability(&inspect(b"%PDF-1.7", &hints, &Bounds::default()).features)
        };
        assert!(judge("人口統計調査 年度別の推移") > 0.5);
        assert!(judge("申請様式") < judge("an undescribed file"));
        assert!(judge("an undescribed file") < 0.5);
    }
}
