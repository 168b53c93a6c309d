//! What the tests need beyond Rust: real WARC readers from `PyPI`, real HTML and a reader of PDF from Debian packages.
//!
//! Everything goes below `target/tools`, by package name and pinned version; nothing is installed into the system.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The Python packages that judge our archives.
const PYTHON_PACKAGES: [&str; 3] = ["warcio==1.8.1", "cdxj-indexer==1.5.0", "pywb==2.10.0"];
/// The Debian package whose HTML the completeness test crawls: a few thousand pages in eleven languages.
const DOC_PACKAGE: &str = "apache2-doc";
/// The Debian package that has `pdftotext`.
const PDF_PACKAGE: &str = "poppler-utils";

/// Where the tools are.
pub(crate) struct Tools {
    /// A Python that has warcio, cdxj-indexer and pywb.
    pub(crate) python: PathBuf,
    /// The unpacked documentation package.
    pub(crate) docs: PathBuf,
    /// The program that reads PDF.
    pub(crate) pdftotext: PathBuf,
}

impl fmt::Display for Tools {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "JUNKAI_PYTHON={}", self.python.display())?;
        writeln!(out, "JUNKAI_DOCS={}", self.docs.display())?;
        write!(out, "JUNKAI_PDFTOTEXT={}", self.pdftotext.display())
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
        pdftotext: pdftotext(&folder)?,
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
    run_with_package_lists(
        || download(&docs),
        &format!(
            "unpack Debian's {DOC_PACKAGE} below {} by hand",
            docs.display()
        ),
    )?;
    let package = deb_file(&docs)?;
    run(
        Command::new("dpkg").arg("-x").arg(&package).arg(&docs),
        "install dpkg",
    )?;
    fs::remove_file(&package)?;
    fs::write(&stamp, DOC_PACKAGE)?;
    Ok(docs)
}

/// The program of the system, or else that of a package with what it needs and the system does not have.
fn pdftotext(folder: &Path) -> Result<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut installed = std::env::split_paths(&folders).map(|folder| folder.join("pdftotext"));
    if let Some(program) = installed.find(|program| program.is_file()) {
        return Ok(program);
    }
    let poppler = folder.join("poppler");
    let program = poppler.join("bin/pdftotext");
    if program.is_file() {
        return Ok(program);
    }
    println!("── tools: Debian package {PDF_PACKAGE}");
    fs::create_dir_all(poppler.join("partial"))?;
    let place = format!("Dir::Cache::archives={}", poppler.display());
    let download = || {
        let mut apt = Command::new("apt-get");
        apt.args(["install", "--download-only", "--no-install-recommends"])
            .args(["--yes", "--quiet", "-o", "Debug::NoLocking=1", "-o", &place])
            .arg(PDF_PACKAGE);
        apt
    };
    run_with_package_lists(download, &format!("install Debian's {PDF_PACKAGE} by hand"))?;
    while let Ok(package) = deb_file(&poppler) {
        run(
            Command::new("dpkg").arg("-x").arg(&package).arg(&poppler),
            "install dpkg",
        )?;
        fs::remove_file(&package)?;
    }
    write_wrapper(&poppler, &program)?;
    Ok(program)
}

/// Writes a script that runs the unpacked program with the libraries beside it.
fn write_wrapper(poppler: &Path, program: &Path) -> Result<()> {
    let libraries: Vec<String> = fs::read_dir(poppler.join("usr/lib"))
        .with_context(|| format!("{PDF_PACKAGE} brought no libraries"))?
        .filter_map(|entry| Some(entry.ok()?.path().display().to_string()))
        .collect();
    let script = format!(
        "#!/bin/sh\nLD_LIBRARY_PATH={} exec {} \"$@\"\n",
        libraries.join(":"),
        poppler.join("usr/bin/pdftotext").display()
    );
    fs::create_dir_all(poppler.join("bin"))?;
    let draft = program.with_extension("new");
    fs::write(&draft, script)?;
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755))?;
    fs::rename(&draft, program)?;
    Ok(())
}

/// Runs a command of apt-get; if that fails, once more with fresh package lists: a new machine has none.
fn run_with_package_lists(command: impl Fn() -> Command, hint: &str) -> Result<()> {
    if run(&mut command(), "").is_ok() {
        return Ok(());
    }
    run(
        Command::new("apt-get").args(["update", "--quiet"]),
        "run `apt-get update` as root, then try again",
    )?;
    run(&mut command(), hint)
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
