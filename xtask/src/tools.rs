//! What the tests need beyond Rust: real WARC readers from `PyPI`; real HTML, a browser, wget, a reader of PDF, a recorder of system calls and a counter of
//! instructions from Debian packages.
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
/// The program that reads PDF.
const PDFTOTEXT: DebianProgram = DebianProgram {
    name: "pdftotext",
    package: "poppler-utils",
    folder: "poppler",
    libraries: "LD_LIBRARY_PATH",
    libraries_in: "usr/lib",
    program: "usr/bin/pdftotext",
};
/// The program that records what a crawl asks the system for, so that the tests can end it at every call.
const STRACE: DebianProgram = DebianProgram {
    name: "strace",
    package: "strace",
    folder: "strace",
    libraries: "LD_LIBRARY_PATH",
    libraries_in: "usr/lib",
    program: "usr/bin/strace",
};
/// The program that counts instructions.
const VALGRIND: DebianProgram = DebianProgram {
    name: "valgrind",
    package: "valgrind",
    folder: "valgrind",
    libraries: "VALGRIND_LIB",
    libraries_in: "usr/libexec",
    program: "usr/bin/valgrind.bin",
};

/// The browser that shows what was archived.
const CHROMIUM: DebianProgram = DebianProgram {
    name: "chromium-headless-shell",
    package: "chromium-headless-shell",
    folder: "chromium",
    libraries: "LD_LIBRARY_PATH",
    libraries_in: "usr/lib",
    program: "usr/lib/chromium/chromium-headless-shell",
};
/// The program whose recursive download our archives must not fall behind.
const WGET: DebianProgram = DebianProgram {
    name: "wget",
    package: "wget",
    folder: "wget",
    libraries: "LD_LIBRARY_PATH",
    libraries_in: "usr/lib",
    program: "usr/bin/wget",
};

/// Where the tools are.
pub(crate) struct Tools {
    /// A Python that has warcio, cdxj-indexer and pywb.
    pub(crate) python: PathBuf,
    /// The unpacked documentation package.
    pub(crate) docs: PathBuf,
    /// The program that reads PDF.
    pub(crate) pdftotext: PathBuf,
    /// The program that records system calls.
    pub(crate) strace: PathBuf,
    /// The program that counts instructions.
    pub(crate) valgrind: PathBuf,
    /// The browser.
    pub(crate) chromium: PathBuf,
    /// The other downloader.
    pub(crate) wget: PathBuf,
}

/// A program of the system, or else that of a Debian package with what it needs and the system does not have.
struct DebianProgram {
    name: &'static str,
    package: &'static str,
    /// Where the package is unpacked, below the folder of tools.
    folder: &'static str,
    /// The variable that tells the program where its libraries are.
    libraries: &'static str,
    /// The folder of the package whose folders hold them.
    libraries_in: &'static str,
    /// The program in the package.
    program: &'static str,
}

impl fmt::Display for Tools {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "JUNKAI_PYTHON={}", self.python.display())?;
        writeln!(out, "JUNKAI_DOCS={}", self.docs.display())?;
        writeln!(out, "JUNKAI_PDFTOTEXT={}", self.pdftotext.display())?;
        writeln!(out, "JUNKAI_STRACE={}", self.strace.display())?;
        writeln!(out, "JUNKAI_VALGRIND={}", self.valgrind.display())?;
        writeln!(out, "JUNKAI_CHROMIUM={}", self.chromium.display())?;
        write!(out, "JUNKAI_WGET={}", self.wget.display())
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
        pdftotext: PDFTOTEXT.install(&folder)?,
        strace: STRACE.install(&folder)?,
        valgrind: VALGRIND.install(&folder)?,
        chromium: CHROMIUM.install(&folder)?,
        wget: WGET.install(&folder)?,
    })
}

/// Installs the program that counts instructions, and nothing else.
pub(crate) fn valgrind() -> Result<PathBuf> {
    VALGRIND.install(&root().join("target/tools"))
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

impl DebianProgram {
    /// Where it is; it is installed if need be.
    fn install(&self, tools: &Path) -> Result<PathBuf> {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let mut installed = std::env::split_paths(&folders).map(|folder| folder.join(self.name));
        if let Some(program) = installed.find(|program| program.is_file()) {
            return Ok(program);
        }
        let folder = tools.join(self.folder);
        let program = folder.join("bin").join(self.name);
        if program.is_file() {
            return Ok(program);
        }
        println!("── tools: Debian package {}", self.package);
        fs::create_dir_all(folder.join("partial"))?;
        let place = format!("Dir::Cache::archives={}", folder.display());
        let download = || {
            let mut apt = Command::new("apt-get");
            apt.args(["install", "--download-only", "--no-install-recommends"])
                .args(["--yes", "--quiet", "-o", "Debug::NoLocking=1", "-o", &place])
                .arg(self.package);
            apt
        };
        let hint = format!("install Debian's {} by hand", self.package);
        run_with_package_lists(download, &hint)?;
        while let Ok(package) = deb_file(&folder) {
            run(
                Command::new("dpkg").arg("-x").arg(&package).arg(&folder),
                "install dpkg",
            )?;
            fs::remove_file(&package)?;
        }
        self.write_wrapper(&folder, &program)?;
        Ok(program)
    }

    /// Writes a script that runs the unpacked program with the libraries beside it.
    fn write_wrapper(&self, folder: &Path, wrapper: &Path) -> Result<()> {
        // A program whose libraries the system has brings none; libraries may have folders of their own for others.
        let outer = folders_in(&folder.join(self.libraries_in));
        let inner = outer.iter().flat_map(|folder| folders_in(folder));
        let libraries = outer.iter().cloned().chain(inner);
        let libraries: Vec<String> = libraries.map(|it| it.display().to_string()).collect();
        let script = format!(
            "#!/bin/sh\n{}={} exec {} \"$@\"\n",
            self.libraries,
            libraries.join(":"),
            folder.join(self.program).display()
        );
        fs::create_dir_all(folder.join("bin"))?;
        let draft = wrapper.with_extension("new");
        fs::write(&draft, script)?;
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o755))?;
        fs::rename(&draft, wrapper)?;
        Ok(())
    }
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.is_dir()).collect()
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
