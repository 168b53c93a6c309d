//! `junkai focus train`: learns from labelled sites what is wanted, and says how well.

mod data_files;
mod examples;
mod labels;
mod show;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use junkai_focus::learn::{
    Check, Corpus, DICTIONARY_FOLDER, Group, Groups, Look, Method, Model, PageView, Split,
    TrainSettings, train, words_for,
};

use self::examples::{Source, Taker};
use self::labels::{Label, Labels};
use crate::bar::Bar;
use crate::exit::{Ending, bad_command_line};

/// What `junkai focus train` takes.
#[derive(clap::Args)]
#[command(after_help = "\
LABELS is a CSV file with a header line and the columns site_or_file, label and, if wanted, group:
  site_or_file  with an archive: a site or host (example.org); with a folder: a folder or file in it
  label         1 (yes, true, wanted) if it holds what is wanted, 0 (no, false, other) if it does not
  group         rows of one group are never both learned from and asked about; default: each row its own

Example:
  junkai focus train labels.csv --from my-archive --out prices.model --name \"price lists\"")]
pub(crate) struct Arguments {
    /// The labels: a CSV file with the columns `site_or_file` and `label`.
    #[arg(value_name = "LABELS.csv")]
    labels: PathBuf,
    /// Where the pages are: an archive's folder, or a folder of HTML files.
    #[arg(long, value_name = "FOLDER|ARCHIVE")]
    from: PathBuf,
    /// The model to write; the calibration plot goes beside it. Default: the name of the labels, with `.model`.
    #[arg(long, short, value_name = "MODEL")]
    out: Option<PathBuf>,
    /// Labels of data files, in the same form; they are looked for in the folder of `--from`, or of `--files-from`.
    #[arg(long, value_name = "FILES.csv")]
    files: Option<PathBuf>,
    /// The folder of the data files.
    #[arg(long, value_name = "FOLDER", requires = "files")]
    files_from: Option<PathBuf>,
    /// What the model is to find, in words.
    #[arg(long, value_name = "TEXT", default_value = "what was labelled")]
    name: String,
    /// Into how many parts the sites are dealt, each to be asked about once.
    #[arg(long, default_value_t = 5)]
    folds: usize,
    /// Most pages of a site that are looked at.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pages_per_site: usize,
    /// What an error costs, against large weights; of several, the one that does best on held-out sites.
    #[arg(long, value_delimiter = ',', default_value = "0.003,0.03,0.3")]
    cost: Vec<f64>,
    /// The share of sites that hold what is wanted where the model will be used. Default: as among the labels.
    #[arg(long, value_name = "0..1")]
    share: Option<f64>,
    /// What to look at, of a page.
    #[arg(long, value_name = "GROUP", value_delimiter = ',', value_parser = group, default_value = "title,text,url,link-text,link-type,shape")]
    look_at: Vec<Group>,
    /// How to split text into words: `script` is fast, `unicode` has dictionaries, `nouns` needs one in MeCab's format.
    #[arg(long, value_enum, default_value_t = SplitName::Script)]
    split: SplitName,
    /// The folder of the dictionary for `--split nouns`.
    #[arg(long, value_name = "DIR", default_value = DICTIONARY_FOLDER)]
    dictionary: PathBuf,
    /// Bytes of a page's text that are looked at, as in `64kB`.
    #[arg(long, value_name = "BYTES", default_value_t = Look::default().text_bytes, value_parser = text_bytes)]
    text_bytes: usize,
    /// How scores become probabilities.
    #[arg(long, value_enum, default_value_t = MethodName::Platt)]
    calibration: MethodName,
    /// Do not train: say how good this model is on the labelled sites, which it should not have learned from.
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["out", "folds", "cost", "share"])]
    check: Option<PathBuf>,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum SplitName {
    Script,
    Unicode,
    Nouns,
}

#[derive(Clone, Copy, ValueEnum)]
enum MethodName {
    Platt,
    Isotonic,
}

fn text_bytes(text: &str) -> Result<usize, String> {
    let bytes = junkai_size::parse(text).map_err(|error| error.to_string())?;
    usize::try_from(bytes).map_err(|error| error.to_string())
}

fn group(name: &str) -> Result<Group, String> {
    let names = Group::ALL.map(Group::name).join(", ");
    Group::ALL
        .into_iter()
        .find(|group| group.name() == name)
        .ok_or_else(|| format!("there are {names}"))
}

/// Trains or checks, and prints how well it went.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    match &arguments.check {
        Some(model) => check(arguments, &Model::load(model)?),
        None => learn(arguments),
    }
}

impl Taker for Corpus {
    fn take(&mut self, name: &str, label: &Label, page: &PageView<'_>) -> Result<()> {
        self.add_in_group(name, &label.group, label.wanted, page)?;
        Ok(())
    }
}

impl Taker for Check<'_> {
    fn take(&mut self, name: &str, label: &Label, page: &PageView<'_>) -> Result<()> {
        self.add(name, label.wanted, page);
        Ok(())
    }
}

fn check(arguments: &Arguments, model: &Model) -> Result<Ending> {
    let mut check = Check::new(model.page());
    gather(arguments, &mut check)?;
    show::print_check(model.name(), &check.finish(), arguments.json)?;
    Ok(Ending::Well)
}

fn learn(arguments: &Arguments) -> Result<Ending> {
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| arguments.labels.with_extension("model"));
    // Before the long work, not after it.
    check_out(&out)?;
    let look = arguments.look();
    let words = || words_for(look.split, &arguments.dictionary);
    let mut corpus = Corpus::new(look.clone(), words()?);
    gather(arguments, &mut corpus)?;
    let mut bar = Bar::new();
    let trained = train(&corpus, words()?, &arguments.settings(), |progress| {
        bar.at("training", progress.done as u64, progress.total as u64);
    })
    .with_context(|| format!("cannot learn from {}", arguments.labels.display()))?;
    bar.finish();
    let learned = match &arguments.files {
        Some(labels) => {
            let folder = arguments.files_from.as_ref().unwrap_or(&arguments.from);
            Some(data_files::learn(labels, folder)?)
        }
        None => None,
    };
    let (files, file_figures) = learned.unzip();
    // Who labels no files gets the judge of statistical data: the shapes of tables are much the same whatever they are about.
    let files = files.or_else(|| Model::statistical_data().files().cloned());
    let model = Model::new(&arguments.name, trained.model, files);
    model.save(&out)?;
    let plot = out.with_extension("svg");
    std::fs::write(&plot, show::plot(&arguments.name, &trained.validation))
        .with_context(|| format!("cannot write the plot {}", plot.display()))?;
    let result = show::Outcome {
        name: &arguments.name,
        model: &out,
        plot: &plot,
        wanted_sites: corpus.site_count(true),
        other_sites: corpus.site_count(false),
        pages: corpus.page_count(),
        features: model.page().feature_count(),
        cost: trained.cost,
        files: file_figures,
        validation: &trained.validation,
    };
    show::print(&result, arguments.json)?;
    Ok(Ending::Well)
}

/// Hands all labelled pages to `taker`.
fn gather(arguments: &Arguments, taker: &mut dyn Taker) -> Result<()> {
    let labels = Labels::read(&arguments.labels)?;
    let source = Source::of(&arguments.from)?;
    let mut bar = Bar::new();
    let pages_max = arguments.pages_per_site;
    let gathered = examples::gather(&source, &labels, pages_max, taker, &mut bar)?;
    bar.finish();
    gathered.warn(&labels);
    Ok(())
}

impl Arguments {
    fn look(&self) -> Look {
        Look {
            groups: Groups::of(&self.look_at),
            split: match self.split {
                SplitName::Script => Split::Script,
                SplitName::Unicode => Split::Unicode,
                SplitName::Nouns => Split::Nouns,
            },
            text_bytes: self.text_bytes,
        }
    }

    fn settings(&self) -> TrainSettings {
        TrainSettings {
            folds: self.folds,
            costs: self.cost.clone(),
            share: self.share,
            calibration: match self.calibration {
                MethodName::Platt => Method::Platt,
                MethodName::Isotonic => Method::Isotonic,
            },
            ..TrainSettings::default()
        }
    }
}

fn check_out(out: &Path) -> Result<()> {
    if out.is_dir() {
        return Err(bad_command_line(format!(
            "{} is a folder; --out names the file that is to hold the model",
            out.display()
        )));
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => {
            bail!(
                "there is no folder {} to write the model to",
                folder.display()
            )
        }
        Some(_) | None => Ok(()),
    }
}
