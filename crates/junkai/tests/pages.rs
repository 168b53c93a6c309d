//! The generated pages: `docs/configuration.md` and the commented `junkai.toml`, made from the doc comments of the settings.
//!
//! `cargo xtask pages` writes them; this test fails when they are out of date. `documents` checks the pages that people write.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod documents;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use junkai_crawler::Settings;
use syn::{Attribute, Expr, Fields, Item, ItemStruct, Lit, Meta, Type};

/// Where the structs of the tables are.
const SOURCES: [&str; 20] = [
    "crates/engine/src/settings.rs",
    "crates/engine/src/clock.rs",
    "crates/engine/src/log/config.rs",
    "crates/engine/src/hook_config.rs",
    "crates/engine/src/focus/config.rs",
    "crates/engine/src/scope.rs",
    "crates/weburl/src/config.rs",
    "crates/frontier/src/politeness.rs",
    "crates/frontier/src/ring/config.rs",
    "crates/store/src/seen/config.rs",
    "crates/store/src/backlog/config.rs",
    "crates/store/src/time_queue/config.rs",
    "crates/revisit/src/config.rs",
    "crates/revisit/src/servers/config.rs",
    "crates/page/src/link.rs",
    "crates/fetch/src/config.rs",
    "crates/fetch/src/identity.rs",
    "crates/fetch/src/guard.rs",
    "crates/fetch/src/dns/config.rs",
    "crates/archive/src/config.rs",
];

#[test]
fn generated_pages_are_up_to_date() {
    let tables = tables();
    check("docs/configuration.md", &reference(&tables));
    check("crates/junkai/src/junkai.toml", &template(&tables));
}

#[test]
fn the_template_with_every_line_uncommented_holds_the_defaults() {
    let mut text = String::new();
    for line in template(&tables()).lines() {
        match line.strip_prefix("#: ") {
            Some(setting) => writeln!(text, "{setting}").unwrap(),
            None => writeln!(text, "{line}").unwrap(),
        }
    }
    let settings: Settings =
        toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(settings, Settings::default());
}

struct Table {
    name: String,
    doc: String,
    keys: Vec<Key>,
}

struct Key {
    name: String,
    doc: String,
    /// As TOML; none where the setting is off unless it is given.
    default: Option<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The tables of the root struct, in its order; a table within a table follows it.
fn tables() -> Vec<Table> {
    let structs = structs();
    let defaults = toml::Value::try_from(Settings::default()).unwrap();
    let mut tables = Vec::new();
    for (name, type_name, _) in fields(&structs["Settings"]) {
        let item = structs
            .get(&type_name)
            .unwrap_or_else(|| panic!("add the file of {type_name} to SOURCES"));
        collect(name, item, &structs, &defaults, &mut tables);
    }
    tables
}

/// Adds the table of a struct, and those within it. `name` is its path from the root.
fn collect(
    name: String,
    item: &ItemStruct,
    structs: &BTreeMap<String, ItemStruct>,
    defaults: &toml::Value,
    tables: &mut Vec<Table>,
) {
    let table = name
        .split('.')
        .try_fold(defaults, |table, part| table.get(part));
    let (mut keys, mut inner) = (Vec::new(), Vec::new());
    for (key, type_name, doc) in fields(item) {
        if let Some(item) = structs.get(&type_name) {
            inner.push((format!("{name}.{key}"), item));
            continue;
        }
        let default = table.and_then(|table| table.get(&key));
        keys.push(Key {
            name: key,
            doc,
            default: default.map(shown),
        });
    }
    tables.push(Table {
        keys,
        doc: doc_of(&item.attrs).replace(&format!(" Table `[{name}]`."), ""),
        name,
    });
    for (name, item) in inner {
        collect(name, item, structs, defaults, tables);
    }
}

/// A value as people write it: 400 days and not a year, a month and some; 0.96 and not its nearest number with sixteen digits.
fn shown(value: &toml::Value) -> String {
    const DAY: u64 = 24 * 60 * 60;
    match value {
        toml::Value::String(text) if text.contains(' ') => match humantime::parse_duration(text) {
            Ok(time) if time.subsec_nanos() == 0 && time.as_secs().is_multiple_of(DAY) => {
                format!("\"{}days\"", time.as_secs() / DAY)
            }
            _ => value.to_string(),
        },
        #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough")]
        toml::Value::Float(number) => format!("{:?}", *number as f32),
        toml::Value::Table(table) => {
            let pairs = table
                .iter()
                .map(|(key, value)| format!("{key} = {}", shown(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        _ => value.to_string(),
    }
}

fn structs() -> BTreeMap<String, ItemStruct> {
    let mut structs = BTreeMap::new();
    for source in SOURCES {
        let text = fs::read_to_string(root().join(source))
            .unwrap_or_else(|error| panic!("{source}: {error}"));
        for item in syn::parse_file(&text).unwrap().items {
            if let Item::Struct(item) = item {
                structs.insert(item.ident.to_string(), item);
            }
        }
    }
    structs
}

/// Name, type and documentation of each field that a file may set.
fn fields(item: &ItemStruct) -> impl Iterator<Item = (String, String, String)> {
    let Fields::Named(fields) = &item.fields else {
        panic!("{} has no named fields", item.ident)
    };
    let skipped = |attribute: &Attribute| {
        matches!(&attribute.meta, Meta::List(list)
            if list.path.is_ident("serde") && list.tokens.to_string() == "skip")
    };
    let fields = fields.named.iter();
    let fields = fields.filter(move |field| !field.attrs.iter().any(skipped));
    fields.map(|field| {
        let name = field.ident.as_ref().unwrap().to_string();
        let type_name = match &field.ty {
            Type::Path(path) => path.path.segments.last().unwrap().ident.to_string(),
            _ => String::new(),
        };
        (name, type_name, doc_of(&field.attrs))
    })
}

/// A doc comment as paragraphs, without links to code.
fn doc_of(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let Meta::NameValue(pair) = &attribute.meta
            && pair.path.is_ident("doc")
            && let Expr::Lit(literal) = &pair.value
            && let Lit::Str(text) = &literal.lit
        {
            lines.push(text.value().trim().to_owned());
        }
    }
    let paragraphs: Vec<String> = lines
        .split(String::is_empty)
        .map(|lines| lines.join(" "))
        .collect();
    without_links(&paragraphs.join("\n\n"))
}

/// `[`x`](y)` becomes `` `x` ``: the reader has no rustdoc.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("[`") {
        let Some(end) = rest[start..].find("`]") else {
            break;
        };
        let name = &rest[start + 2..start + end];
        out.push_str(&rest[..start]);
        let _infallible = write!(out, "`{name}`");
        rest = &rest[start + end + 2..];
        if rest.starts_with('(') {
            rest = rest.find(')').map_or(rest, |close| &rest[close + 1..]);
        }
    }
    out + rest
}

fn reference(tables: &[Table]) -> String {
    let mut page = String::from(
        "# Configuration\n\n\
         Every setting of `junkai.toml`, made from the source by `cargo xtask pages`. The file is read from the archive's folder, \
         or from where `--config` says; flags go before it. An unknown key is an error that names the nearest right one.\n\
         Durations are written as `\"90s\"`, `\"5m\"` or `\"1day 2h\"`.\n",
    );
    for table in tables {
        write!(
            page,
            "\n## `[{}]`\n\n{}\n\n| key | default | meaning |\n| --- | --- | --- |\n",
            table.name, table.doc
        )
        .unwrap();
        for key in &table.keys {
            let default = key
                .default
                .as_ref()
                .map_or_else(|| "–".to_owned(), |value| format!("`{}`", flat(value)));
            writeln!(
                page,
                "| `{}` | {default} | {} |",
                key.name,
                key.doc.replace("\n\n", " ").replace('|', "\\|")
            )
            .unwrap();
        }
    }
    page
}

/// A long list is no use in a cell.
fn flat(value: &str) -> String {
    let value = value.replace('\n', " ");
    if value.chars().count() <= 60 {
        value
    } else {
        format!("{}…", value.chars().take(57).collect::<String>())
    }
}

fn template(tables: &[Table]) -> String {
    let mut file = String::from(
        "# Settings of a junkai crawl. Lines that begin with `#:` show the defaults: take the `#:` away to change one.\n\
         # Flags on the command line go before this file.\n",
    );
    for table in tables {
        file.push('\n');
        comment(&table.doc, &mut file);
        writeln!(file, "[{}]", table.name).unwrap();
        for key in &table.keys {
            comment(&key.doc, &mut file);
            match &key.default {
                Some(value) => {
                    writeln!(file, "#: {} = {}", key.name, value.replace('\n', " ")).unwrap();
                }
                None => writeln!(file, "# {} = …", key.name).unwrap(),
            }
        }
    }
    file
}

fn comment(text: &str, out: &mut String) {
    for paragraph in text.split("\n\n") {
        let mut line = String::from("#");
        for word in paragraph.split_whitespace() {
            if 118 < line.chars().count() + 1 + word.chars().count() {
                writeln!(out, "{line}").unwrap();
                line = String::from("#");
            }
            write!(line, " {word}").unwrap();
        }
        writeln!(out, "{line}").unwrap();
    }
}

fn check(path: &str, wanted: &str) {
    let file = root().join(path);
    if std::env::var_os("JUNKAI_WRITE_PAGES").is_some() {
        fs::write(&file, wanted).unwrap();
        return;
    }
    let present = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        present == wanted,
        "{path} is out of date; run `cargo xtask pages`"
    );
}
