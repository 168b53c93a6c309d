//! A disk that remembers what was made durable, and can show what each kind of end leaves of the rest.
//!
//! It is filled by the calls that a crawl made ([`recording`](super::recording)). A kill leaves all of them. A power failure leaves what was synced; of the rest
//! nothing, or any part: names without contents, contents without names, some writes and not those before them, half a write.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use junkai_chance::Chance;

/// What the system was asked to do to a file or folder; paths are below the archive.
#[derive(Clone, Debug)]
pub(super) enum Call {
    /// Opened for writing: made if it is not there.
    Open {
        path: PathBuf,
        is_emptied: bool,
    },
    /// Written to; at the end where no place is told.
    Write {
        path: PathBuf,
        at: Option<usize>,
        bytes: Vec<u8>,
    },
    SetLength {
        path: PathBuf,
        length: usize,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Remove {
        path: PathBuf,
    },
    MakeFolder {
        path: PathBuf,
    },
    /// A file's content, or a folder's names.
    Sync {
        path: PathBuf,
    },
    /// Everything.
    SyncAll,
}

/// What an end leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// All: the process was killed.
    Everything,
    /// What was synced.
    Synced,
    /// That, and the names of files, without what was written to them since.
    Names,
    /// The same, with zeros in the place of what was written.
    NamesAndZeros,
    /// What was synced, and what was written to files whose names were.
    Contents,
    /// Any part of the rest, by this number: names up to some moment, some writes, some of these by half.
    Some(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Folder,
    /// The file with this number.
    File(usize),
}

type Names = BTreeMap<PathBuf, Node>;

#[derive(Debug, Default)]
struct Content {
    now: Vec<u8>,
    synced: Vec<u8>,
    /// What was done to it since it was synced.
    changes: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    SetLength(usize),
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Change::Write { at, bytes } => {
                let end = at + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[*at..end].copy_from_slice(bytes);
            }
            Change::SetLength(length) => content.resize(*length, 0),
        }
    }
}

/// One step of a folder: names that are given or taken together.
type NameChange = Vec<(PathBuf, Option<Node>)>;

/// The disk.
#[derive(Debug, Default)]
pub(super) struct TestDisk {
    files: Vec<Content>,
    names: Names,
    synced_names: Names,
    name_changes: Vec<NameChange>,
}

impl TestDisk {
    /// Does what the system was asked for.
    pub(super) fn apply(&mut self, call: &Call) {
        match call {
            Call::Open { path, is_emptied } => {
                if !self.names.contains_key(path) {
                    let node = Node::File(self.files.len());
                    self.files.push(Content::default());
                    self.rename_in_one_step(vec![(path.clone(), Some(node))]);
                } else if *is_emptied {
                    self.change(path, Change::SetLength(0));
                }
            }
            Call::Write { path, bytes, .. } => {
                let at = self.place_of(call);
                let bytes = bytes.clone();
                self.change(path, Change::Write { at, bytes });
            }
            Call::SetLength { path, length } => self.change(path, Change::SetLength(*length)),
            Call::Rename { from, to } => {
                let node = self.names[from];
                self.rename_in_one_step(vec![(to.clone(), Some(node)), (from.clone(), None)]);
            }
            Call::Remove { path } => {
                // A socket is not made by a call that is recorded.
                if self.names.contains_key(path) {
                    self.rename_in_one_step(vec![(path.clone(), None)]);
                }
            }
            Call::MakeFolder { path } => {
                self.rename_in_one_step(vec![(path.clone(), Some(Node::Folder))]);
            }
            Call::Sync { path } => self.sync(path),
            Call::SyncAll => {
                self.files.iter_mut().for_each(Content::sync);
                self.synced_names.clone_from(&self.names);
                self.name_changes.clear();
            }
        }
    }

    /// Where a write goes.
    pub(super) fn place_of(&self, call: &Call) -> usize {
        match call {
            Call::Write { path, at: None, .. } => self.files[self.file(path)].now.len(),
            Call::Write { at: Some(at), .. } => *at,
            other => panic!("{other:?} is no write"),
        }
    }

    fn file(&self, path: &Path) -> usize {
        match self.names.get(path) {
            Some(Node::File(number)) => *number,
            other => panic!("{} is {other:?}", path.display()),
        }
    }

    fn change(&mut self, path: &Path, change: Change) {
        let number = self.file(path);
        let content = &mut self.files[number];
        change.apply(&mut content.now);
        content.changes.push(change);
    }

    fn rename_in_one_step(&mut self, change: NameChange) {
        apply_names(&change, &mut self.names);
        self.name_changes.push(change);
    }

    fn sync(&mut self, path: &Path) {
        if let Some(Node::File(number)) = self.names.get(path) {
            self.files[*number].sync();
            return;
        }
        let is_in_folder = |change: &NameChange| change[0].0.parent() == Some(path);
        for change in self
            .name_changes
            .extract_if(.., |change| is_in_folder(change))
        {
            apply_names(&change, &mut self.synced_names);
        }
    }

    /// Puts what an end leaves into an empty folder.
    pub(super) fn lay_out(&self, left: Left, folder: &Path) {
        let mut dice = match left {
            Left::Some(seed) => Chance::new(seed),
            _ => Chance::new(0),
        };
        for (path, node) in &self.names_left(left, &mut dice) {
            let is_reachable = path
                .parent()
                .is_some_and(|parent| folder.join(parent).is_dir());
            if !is_reachable {
                continue;
            }
            let path = folder.join(path);
            match node {
                Node::Folder => fs::create_dir(path).unwrap(),
                Node::File(number) => {
                    fs::write(path, self.files[*number].left(left, &mut dice)).unwrap();
                }
            }
        }
    }

    fn names_left(&self, left: Left, dice: &mut Chance) -> Names {
        match left {
            Left::Everything | Left::Names | Left::NamesAndZeros => self.names.clone(),
            Left::Synced | Left::Contents => self.synced_names.clone(),
            Left::Some(_) => {
                let mut names = self.synced_names.clone();
                let count = dice.index(self.name_changes.len() + 1);
                for change in &self.name_changes[..count] {
                    apply_names(change, &mut names);
                }
                names
            }
        }
    }
}

fn apply_names(change: &NameChange, names: &mut Names) {
    for (path, node) in change {
        match node {
            Some(node) => names.insert(path.clone(), *node),
            None => names.remove(path),
        };
    }
}

impl Content {
    fn sync(&mut self) {
        if !self.changes.is_empty() {
            self.synced.clone_from(&self.now);
            self.changes.clear();
        }
    }

    fn left(&self, left: Left, dice: &mut Chance) -> Vec<u8> {
        match left {
            Left::Everything | Left::Contents => self.now.clone(),
            Left::Synced | Left::Names => self.synced.clone(),
            Left::NamesAndZeros => {
                let mut content = self.synced.clone();
                content.resize(self.now.len(), 0);
                content
            }
            Left::Some(_) => {
                let mut content = self.synced.clone();
                for change in &self.changes {
                    match (dice.below(4), change) {
                        (0, _) => {}
                        (1, Change::Write { at, bytes }) => {
                            let bytes = bytes[..bytes.len() / 2].to_vec();
                            Change::Write { at: *at, bytes }.apply(&mut content);
                        }
                        _ => change.apply(&mut content),
                    }
                }
                content
            }
        }
    }
}

#[test]
fn it_loses_what_was_not_synced_and_nothing_else() {
    let at = |name: &str| PathBuf::from(name);
    let open = |name| Call::Open {
        path: at(name),
        is_emptied: true,
    };
    let write = |name, bytes: &[u8]| Call::Write {
        path: at(name),
        at: None,
        bytes: bytes.to_vec(),
    };
    let mut disk = TestDisk::default();
    for call in [
        open("a"),
        write("a", b"one"),
        Call::SyncAll,
        write("a", b"two"),
        open("new"),
        write("new", b"three"),
        Call::Sync { path: at("new") },
        Call::Rename {
            from: at("new"),
            to: at("b"),
        },
    ] {
        disk.apply(&call);
    }
    let found = |disk: &TestDisk, left| {
        let folder = tempfile::tempdir().unwrap();
        disk.lay_out(left, folder.path());
        let read = |name| fs::read_to_string(folder.path().join(name)).ok();
        [read("a"), read("new"), read("b")].map(|text| text.unwrap_or("-".to_owned()))
    };
    assert_eq!(found(&disk, Left::Everything), ["onetwo", "-", "three"]);
    assert_eq!(found(&disk, Left::Synced), ["one", "-", "-"]);
    assert_eq!(found(&disk, Left::Names), ["one", "-", "three"]);
    assert_eq!(found(&disk, Left::NamesAndZeros)[0], "one\0\0\0");
    assert_eq!(found(&disk, Left::Contents), ["onetwo", "-", "-"]);
    let some: std::collections::BTreeSet<_> =
        (0..50).map(|seed| found(&disk, Left::Some(seed))).collect();
    assert!(
        some.contains(&["onet", "three", "-"].map(str::to_owned)),
        "{some:?}"
    );
    disk.apply(&Call::Sync { path: at("") });
    assert_eq!(found(&disk, Left::Synced), ["one", "-", "three"]);
}
