//! `cargo xtask focus-model`: makes the model for statistical data that junkai ships, from what it can get or generate.
//!
//! Generated sites in Japanese and English, with and without statistical data, and real sites without it: documentation packages of
//! Debian, got by name. The model is trained by `junkai focus train`, as any other. What is held out is never part of it; how good the
//! model is on that is in `docs/focus-model.md`.

mod chance;
mod data_files;
mod generate;
mod genre;
mod tables;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::steps::{cargo, step};
use crate::tools;

/// Real sites without statistical data that are learned from, by Debian package; an archive of documentation each.
const PACKAGES: [&str; 10] = [
    "apt-doc",
    "debian-faq-ja",
    "debian-reference-ja",
    "developers-reference-ja",
    "groonga-doc",
    "libreoffice-help-ja",
    "maint-guide-ja",
    "postgresql-doc-15",
    "python3.11-doc",
    "sqlite3-doc",
];
/// Generated sites of each genre.
const SITES_OF_GENRE: u64 = 12;
/// The share of sites with statistical data where the model is used: Kato et al. (2022) found one in eight.
const SHARE: &str = "0.125";
/// What of a page is looked at: not its URL, because those of generated sites and of unpacked packages are like no others.
const LOOK_AT: &str = "title,text,link-text,link-type,shape";
/// The model, in the repository.
const MODEL: &str = "crates/focus/models/statistical-data.model";

/// What `cargo xtask focus-model` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only gather the examples, and say where they are.
    #[arg(long)]
    only_gather: bool,
}

/// Gathers the examples, trains on them and writes the model.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = tools::root().join("target/focus-model");
    let sites = folder.join("sites");
    if sites.exists() {
        fs::remove_dir_all(&sites).with_context(|| format!("cannot empty {}", sites.display()))?;
    }
    fs::create_dir_all(&sites)?;
    let mut labels = String::from("site_or_file,label,group\n");
    generated(&sites, &mut labels)?;
    for package in PACKAGES {
        real(&folder, &sites, package)?;
        let _ = writeln!(labels, "{package},0,{package}");
    }
    let labels_file = folder.join("labels.csv");
    fs::write(&labels_file, labels)?;
    data_files::gather(&folder)?;
    if arguments.only_gather {
        println!(
            "the examples are in {}, their labels in {}",
            sites.display(),
            labels_file.display()
        );
        return Ok(());
    }
    let model = tools::root().join(MODEL);
    if let Some(folder) = model.parent() {
        fs::create_dir_all(folder)?;
    }
    let made = folder.join("statistical-data.model");
    let mut train = cargo(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "junkai",
        "--",
        "focus",
        "train",
    ]);
    train
        .arg(&labels_file)
        .arg("--from")
        .arg(&sites)
        .arg("--out")
        .arg(&made)
        .args(["--name", "statistical data", "--share", SHARE])
        .args(["--look-at", LOOK_AT])
        .arg("--files")
        .arg(folder.join("files.csv"))
        .arg("--files-from")
        .arg(folder.join("files"));
    step("training", train)?;
    fs::copy(&made, &model).with_context(|| format!("cannot write {}", model.display()))?;
    println!("the model is in {}", model.display());
    Ok(())
}

fn generated(sites: &Path, labels: &mut String) -> Result<()> {
    println!("── generating sites");
    let mut seed = 0;
    for language in genre::languages()? {
        for (number, genre) in language.genres.iter().enumerate() {
            for site in 0..SITES_OF_GENRE {
                seed += 1;
                let name = format!("{}{number:02}-{site:02}.example", language.code);
                generate::site(&sites.join(&name), &language, genre, seed)?;
                // Sites of a genre share their phrases: a model is asked about genres that it has not learned from.
                let group = format!("{} {}", language.code, genre.name);
                let _ = writeln!(labels, "{name},{},{group}", u8::from(genre.wanted));
            }
        }
    }
    Ok(())
}

/// Puts the pages of a Debian package beside the generated sites.
fn real(folder: &Path, sites: &Path, package: &str) -> Result<()> {
    let unpacked = folder.join("packages").join(package);
    if !unpacked.join("usr").exists() {
        println!("── Debian package {package}");
        fs::create_dir_all(&unpacked)?;
        let hint = "run `apt-get update` as root, then try again";
        let mut download = Command::new("apt-get");
        download
            .args(["download", "--quiet", package])
            .current_dir(&unpacked);
        tools::run(&mut download, hint)?;
        let archive = tools::deb_file(&unpacked)?;
        let mut unpack = Command::new("dpkg");
        unpack.arg("-x").arg(&archive).arg(&unpacked);
        tools::run(&mut unpack, "install dpkg")?;
        fs::remove_file(archive)?;
    }
    copy_pages(&unpacked, &sites.join(package))
}

/// Copies the HTML files below a folder into one folder, under names that tell where they were.
fn copy_pages(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let mut waiting = vec![from.to_owned()];
    while let Some(place) = waiting.pop() {
        for entry in fs::read_dir(&place)? {
            let entry = entry?;
            let path = entry.path();
            let kind = entry.file_type()?;
            if kind.is_dir() {
                waiting.push(path);
            } else if kind.is_file() && is_page(&path) {
                let below = path.strip_prefix(from).unwrap_or(&path);
                let name = below.to_string_lossy().replace(['/', '^'], "_");
                fs::copy(&path, to.join(name))?;
            }
        }
    }
    Ok(())
}

fn is_page(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    ["html", "htm", "xhtml"].contains(&extension)
}
