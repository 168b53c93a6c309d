//! Learns from examples what is wanted, and tells it in pages that it has not seen.
//!
//! A [`Model`] is trained from pages whose *sites* are known to hold what is wanted or not. [`PageModel::probability`] then says of any
//! page how likely its site is to hold it: words of title and text, parts of the URL, texts and targets of links (`features`), weighed
//! by a linear classifier (`svm`), made a probability by what held-out sites had (`calibration`).
//!
//! A page is shown as a [`PageView`]; [`Seen`] makes one of a page's bytes.
//!
//! Not here: fetching, archives and folders of examples; whoever trains or crawls brings the pages.

mod calibration;
mod corpus;
mod features;
mod file_model;
mod folds;
mod group;
mod lesson;
mod model;
mod page_model;
mod svm;
mod training;
mod validation;
mod view;

pub use calibration::{Calibration, Method};
pub use corpus::{Corpus, CorpusError};
pub use features::{Look, Split};
pub use file_model::{FileExample, FileModel, FileModelError, FileTraining};
pub use group::{Group, Groups};
pub use model::{DICTIONARY_FOLDER, Model, ModelError, words_for};
pub use page_model::PageModel;
pub use training::{TrainError, TrainProgress, TrainSettings, Trained, train};
pub use validation::{Bin, Check, Figures, Validation};
pub use view::{LinkView, PageView, Seen};
