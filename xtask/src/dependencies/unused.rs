//! Whether each dependency of a member of the workspace is named in its code.
//!
//! A name in a comment does not count. What is named in tests alone and is no dev-dependency is not found.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Metadata;

/// Dependencies that no code names, as member and name, and why they are there.
const UNNAMED: [(&str, &str, &str); 1] = [(
    "junkai",
    "data_encoding",
    "its tests include a file of fetch's tests",
)];

/// What is not used, a line each.
pub(super) fn mistakes(metadata: &Metadata) -> Result<Vec<String>> {
    let mut mistakes = Vec::new();
    for node in &metadata.resolve.nodes {
        let is_member = metadata.workspace_members.contains(&node.id);
        let Some(member) = metadata.package(&node.id).filter(|_| is_member) else {
            continue;
        };
        let folder = member
            .manifest_path
            .parent()
            .context("a manifest has a folder")?;
        let mut names = BTreeSet::new();
        name_all(folder, &mut names)?;
        for dependency in &node.deps {
            let is_unnamed =
                |(of, name, _): &(&str, &str, &str)| *of == member.name && *name == dependency.name;
            if !names.contains(&dependency.name) && !UNNAMED.iter().any(is_unnamed) {
                let name = metadata
                    .package(&dependency.pkg)
                    .map_or(&*dependency.name, |it| &it.name);
                mistakes.push(format!(
                    "{}: depends on {name}, and no code of it names {}",
                    member.name, dependency.name
                ));
            }
        }
    }
    Ok(mistakes)
}

/// Takes in the identifiers of all Rust files below a folder, but for those of other packages in it.
fn name_all(folder: &Path, names: &mut BTreeSet<String>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            if !path.join("Cargo.toml").is_file() && !path.ends_with("target") {
                name_all(&path, names)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let words =
                code.flat_map(|line| line.split(|it: char| !it.is_alphanumeric() && it != '_'));
            names.extend(words.map(str::to_owned));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_that_no_code_names_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("src");
        let other = folder.path().join("other");
        for folder in [&source, &other] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(other.join("Cargo.toml"), "").unwrap();
        fs::write(other.join("lib.rs"), "use only_elsewhere::x;").unwrap();
        let code = "//! Not `only_commented`.\nuse used_crate::x;\n#[serde(with = \"in_text\")]\nlet x = renamed::x(); // 7\n";
        fs::write(source.join("lib.rs"), code).unwrap();
        let manifest = folder.path().join("Cargo.toml");
        let names = [
            "used_crate",
            "in_text",
            "renamed",
            "only_commented",
            "only_elsewhere",
        ];
        let deps: Vec<serde_json::Value> = names
            .iter()
            .map(|name| serde_json::json!({ "name": name, "pkg": format!("{name} 1") }))
            .collect();
        let package = |id: &str, name: &str| serde_json::json!({ "id": id, "name": name, "version": "1.0.0", "manifest_path": manifest });
        let metadata = serde_json::json!({
            "packages": [package("a", "member"), package("only_commented 1", "only-commented")],
            "workspace_members": ["a"],
            "resolve": { "nodes": [
                { "id": "a", "deps": deps },
                { "id": "foreign", "deps": [{ "name": "whatever", "pkg": "b" }] },
            ] },
        });
        let metadata = serde_json::from_value(metadata).unwrap();
        assert_eq!(
            mistakes(&metadata).unwrap(),
            [
                "member: depends on only-commented, and no code of it names only_commented",
                "member: depends on only_elsewhere, and no code of it names only_elsewhere",
            ]
        );
    }
}
