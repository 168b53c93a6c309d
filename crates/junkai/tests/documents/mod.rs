//! The documents: their links lead somewhere, `ARCHITECTURE.md` has every room, and the index of decisions every record.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::root;

#[test]
fn links_in_documents_lead_to_what_is_there() {
    let mut broken = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let folder = document.parent().unwrap();
        for link in links(&text) {
            let is_elsewhere = link.contains("://") || link.starts_with("mailto:");
            let path = link.split('#').next().unwrap_or_default();
            if !is_elsewhere && !folder.join(path).exists() {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "these links lead nowhere: {broken:#?}");
}

#[test]
fn links_are_found_outside_code() {
    let text =
        "[`a`](b.md), `[no](code)`\n\n```text\n[no](block)\n\n```\n\n| [c](d.md#e) | [f](g) |";
    assert_eq!(links(text), ["b.md", "d.md#e", "g"]);
}

/// "It depends only on rooms above it in this table", says `ARCHITECTURE.md`.
#[test]
fn a_room_depends_only_on_rooms_above_it() {
    let rooms = rooms();
    let place_of = |room: &str| {
        let place = rooms.iter().position(|named| named == room);
        place.unwrap_or_else(|| panic!("ARCHITECTURE.md does not name the room {room}"))
    };
    let mut folders = 0;
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap();
        let room = folder.file_name().into_string().unwrap();
        let place = place_of(&room);
        let manifest = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        for line in manifest.lines() {
            if let Some(dependency) = line.strip_prefix("junkai-") {
                let other = dependency.split(['.', ' ', '=']).next().unwrap_or_default();
                assert!(
                    place_of(other) < place,
                    "{room} depends on {other}, which stands below it in ARCHITECTURE.md"
                );
            }
        }
        folders += 1;
    }
    assert_eq!(folders, rooms.len(), "ARCHITECTURE.md names {rooms:?}");
}

/// The experiments are a program of their own: no room links them, so the product does not. Its tests may.
#[test]
fn no_room_links_the_experiments() {
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let linked = manifest.split("[dev-dependencies]").next().unwrap();
        let links_lab = linked.lines().any(|line| line.starts_with("junkai-lab"));
        assert!(!links_lab, "{} links the lab", folder.display());
    }
}

#[test]
fn every_decision_is_in_the_index_and_has_its_three_parts() {
    let folder = root().join("docs/decisions");
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    let mut numbers = BTreeSet::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name == "README.md" {
            continue;
        }
        let is_linked = index.contains(&format!("({name})"));
        assert!(is_linked, "the index has no link to {name}");
        let number = name.split('-').next().unwrap_or_default().to_owned();
        assert!(
            numbers.insert(number),
            "two records have the number of {name}"
        );
        let record = fs::read_to_string(folder.join(&name)).unwrap();
        for part in ["## Context", "## Decision", "## Consequence"] {
            assert!(record.contains(part), "{name} has no part {part}");
        }
    }
}

/// The Markdown files in the root and below `docs`.
fn documents() -> Vec<PathBuf> {
    let mut documents = Vec::new();
    let mut folders = vec![root().join("docs")];
    let mut paths = entries(root());
    while let Some(folder) = folders.pop() {
        for path in entries(folder) {
            if path.is_dir() {
                folders.push(path);
            } else {
                paths.push(path);
            }
        }
    }
    for path in paths {
        if path.extension().is_some_and(|extension| extension == "md") {
            documents.push(path);
        }
    }
    documents
}

fn entries(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Where the links of a document lead, those in code left out.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for paragraph in without_code_blocks(text).split("\n\n") {
        // Every second part stands between backticks.
        for prose in paragraph.split('`').step_by(2) {
            let targets = prose.split("](").skip(1);
            let targets = targets.filter_map(|rest| rest.split_once(')'));
            links.extend(targets.map(|(target, _)| target.to_owned()));
        }
    }
    links
}

fn without_code_blocks(text: &str) -> String {
    let mut prose = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            prose.push(line);
        }
    }
    prose.join("\n")
}

/// The rooms that `ARCHITECTURE.md` names, in the order of its table.
fn rooms() -> Vec<String> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, rooms) = text.split_once("\n## Rooms\n").unwrap();
    let (rooms, _) = rooms.split_once("\n## ").unwrap();
    let rows = rooms.lines().filter_map(|line| line.strip_prefix("| `"));
    let names = rows.filter_map(|row| row.split_once('`'));
    names.map(|(room, _)| room.to_owned()).collect()
}
