//! What the tests need beyond Rust: real WARC readers from `PyPI`, real HTML from a Debian package.
//!
//! Everything goes below `target/tools`, by package name and pinned version; nothing is installed into the system.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The Python packages that judge our archives.
const PYTHON_PACKAGES: [&str; 3] = ["warcio==1.8.1", "cdxj-indexer==1.5.0", "pywb==2.10.0"];
/// The Debian package whose HTML the completeness test crawls: a few thousand pages in eleven languages.
const DOC_PACKAGE: &str = "apache2-doc";

/// Where the tools are.
pub(crate) struct Tools {
    /// A Python that has warcio, cdxj-indexer and pywb.
    pub(crate) python: PathBuf,
    /// The unpacked documentation package.
    pub(crate) docs: PathBuf,
}

impl fmt::Display for Tools {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "JUNKAI_PYTHON={}", self.python.display())?;
        write!(out, "JUNKAI_DOCS={}", self.docs.display())
    }
}

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Installs what is not there yet.
pub(crate) fn install() -> Result<Tools> {
    let folder = root().join("target/tools");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(Tools {
        python: python(&folder)?,
        docs: docs(&folder)?,
    })
}

fn python(folder: &Path) -> Result<PathBuf> {
    let venv = folder.join("python");
    let python = venv.join("bin/python");
    let stamp = venv.join("installed");
    let wanted = PYTHON_PACKAGES.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    println!("── tools: python packages {}", PYTHON_PACKAGES.join(", "));
    let hint = "install Python 3.9 or newer with venv (Debian: apt-get install python3-venv)";
    run(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&venv),
        hint,
    )?;
    let mut pip = Command::new(&python);
    // setuptools: pywb imports pkg_resources.
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "setuptools<81",
    ])
    .args(PYTHON_PACKAGES);
    run(&mut pip, "check that pip reaches its package index")?;
    fs::write(&stamp, wanted)?;
    Ok(python)
}

fn docs(folder: &Path) -> Result<PathBuf> {
    let docs = folder.join("docs");
    let stamp = docs.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == DOC_PACKAGE) {
        return Ok(docs);
    }
    println!("── tools: Debian package {DOC_PACKAGE}");
    fs::create_dir_all(&docs)?;
    let download = |folder: &Path| {
        let mut apt = Command::new("apt-get");
        apt.args(["download", "--quiet", DOC_PACKAGE])
            .current_dir(folder);
        apt
    };
    if run(&mut download(&docs), "").is_err() {
        // A fresh machine has no package lists.
        run(
            Command::new("apt-get").args(["update", "--quiet"]),
            "run `apt-get update` as root, then try again",
        )?;
        run(
            &mut download(&docs),
            &format!(
                "unpack Debian's {DOC_PACKAGE} below {} by hand",
                docs.display()
            ),
        )?;
    }
    let package = deb_file(&docs)?;
    run(
        Command::new("dpkg").arg("-x").arg(&package).arg(&docs),
        "install dpkg",
    )?;
    fs::remove_file(&package)?;
    fs::write(&stamp, DOC_PACKAGE)?;
    Ok(docs)
}

pub(crate) fn deb_file(folder: &Path) -> Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("deb")) {
            return Ok(path);
        }
    }
    bail!("apt-get download left no package in {}", folder.display())
}

pub(crate) fn run(command: &mut Command, hint: &str) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot run {command:?}; {hint}"))?;
    if !status.success() {
        bail!("{command:?} failed; {hint}");
    }
    Ok(())
}
