//! `junkai focus train`: from labels to a model that judges, out of a folder and out of an archive.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use junkai_testweb::TestWebConfig;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Finished, Stage, junkai, run};

pub(crate) fn train(folder: &Path, arguments: &[&str]) -> Finished {
    let mut command = junkai();
    command
        .current_dir(folder)
        .args(["focus", "train"])
        .args(arguments);
    run(command)
}

/// Ten sites of two pages; every other one has tables of births.
pub(crate) fn folder_of_sites() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let mut labels = String::from("site_or_file,label\n");
    for number in 0..10 {
        let (label, text) = match number % 2 {
            0 => (1, "Births by region, a table of figures"),
            _ => (0, "A story of the sea and of the people there"),
        };
        let name = format!("s{number}.example");
        fs::create_dir_all(folder.path().join("sites").join(&name)).expect("a site");
        for page in 0..2 {
            let html = format!("<html><title>{text}</title><p>{text} {page}");
            let file = format!("sites/{name}/p{page}.html");
            fs::write(folder.path().join(file), html).expect("a page");
        }
        writeln!(labels, "{name},{label}").expect("a string takes it");
    }
    fs::write(folder.path().join("labels.csv"), labels).expect("labels");
    folder
}

#[test]
fn a_model_is_trained_from_a_folder_and_judges() {
    let folder = folder_of_sites();
    let told = train(
        folder.path(),
        &[
            "labels.csv",
            "--from",
            "sites",
            "--name",
            "births",
            "--json",
        ],
    )
    .expect(0)
    .out;
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["pages"], 20);
    assert_eq!(told["wanted_sites"], 5);
    assert_eq!(told["validation"]["sites"]["accuracy"], 1.0);
    let plot = fs::read_to_string(folder.path().join("labels.svg")).expect("a plot");
    assert!(plot.starts_with("<svg "));
    let checked = train(
        folder.path(),
        &["labels.csv", "--from", "sites", "--check", "labels.model"],
    )
    .expect(0)
    .out;
    assert!(
        checked.contains("\"births\" on 20 pages of 10 sites"),
        "{checked}"
    );
}

#[test]
fn mistakes_in_the_labels_are_told_with_their_lines() {
    let folder = folder_of_sites();
    let write = |text: &str| fs::write(folder.path().join("wrong.csv"), text).expect("labels");
    let told = |arguments: &[&str]| train(folder.path(), arguments).expect(1).all();
    write("site_or_file,label\ns0.example,1\ns1.example,perhaps\n");
    let message = told(&["wrong.csv", "--from", "sites"]);
    assert!(
        message.contains("line 3: \"perhaps\" is no label"),
        "{message}"
    );
    write("site_or_file,label\ns0.example,1\ns2.example,1\n");
    let message = told(&["wrong.csv", "--from", "sites"]);
    assert!(message.contains("at least two of each"), "{message}");
    write("site_or_file,label\nabsent,1\n../sites/s0.example,0\n");
    let message = told(&["wrong.csv", "--from", "sites"]);
    assert!(message.contains("no labelled folder or file"), "{message}");
    assert!(told(&["absent.csv", "--from", "sites"]).contains("absent.csv"));
    assert!(told(&["labels.csv", "--from", "nowhere"]).contains("nowhere"));
    fs::write(
        folder.path().join("damaged.model"),
        b"junkai-m\x01\0\0\0damaged",
    )
    .expect("a file");
    let message = told(&["labels.csv", "--from", "sites", "--check", "damaged.model"]);
    assert!(message.contains("damaged"), "{message}");
}

#[test]
fn a_model_is_trained_from_an_archive() {
    let web = TestWebConfig {
        hosts: 4,
        addresses: 4,
        pages: 40,
        page_bytes: 4000,
        seeds: 4,
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "0s", "--quiet"]);
    run(crawl).expect(0);
    let seeds = stage.web.seeds();
    let hosts = seeds.iter().filter_map(|seed| seed.split('/').nth(2));
    let hosts = hosts.filter_map(|host| host.split(':').next());
    let mut labels = String::from("site_or_file,label\n");
    for (number, host) in hosts.enumerate() {
        writeln!(labels, "{host},{}", number % 2).expect("a string takes it");
    }
    fs::write(stage.path("labels.csv"), labels).expect("labels");
    let archive = stage.archive();
    let archive = archive.to_str().expect("a path in UTF-8");
    let folder = stage.path("");
    let told = train(&folder, &["labels.csv", "--from", archive, "--json"])
        .expect(0)
        .out;
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["wanted_sites"], 2);
    assert!(4 <= told["pages"].as_u64().expect("a count"), "{told}");
}
