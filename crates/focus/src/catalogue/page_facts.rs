//! What a page says of the data files that it links to: who publishes them, under which licence, under which heading.
//!
//! Where a page describes its data for machines (a schema.org `Dataset` in JSON-LD), that is believed before anything else.

use junkai_page::markup::{self, Attributes, Token};
use junkai_page::{LinkOptions, Source, analyze_with_contexts, charset};
use serde_json::Value;
use url::Url;

use crate::data_file::looks_like_data;

/// More of a page is not read.
const PAGE_BYTES: usize = 4 << 20;
/// Links to data files that are kept of one page.
const LINKS_MAX: usize = 4096;
/// Data sets that are kept of one page.
const DATASETS_MAX: usize = 256;
/// Longer texts are cut.
const TEXT_BYTES: usize = 600;
/// A longer script is no description.
const SCRIPT_BYTES: usize = 1 << 20;

/// What a page says of the data on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageFacts {
    /// The page.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its first heading.
    pub heading: String,
    /// Who publishes it.
    pub publisher: Option<String>,
    /// Its licence: a URL or a name.
    pub licence: Option<String>,
    /// Its language.
    pub language: Option<String>,
    /// Whether it describes data sets for machines.
    pub declares_data: bool,
    /// Its links to what looks like data files.
    pub links: Vec<LinkFacts>,
}

/// What a page says of one data file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkFacts {
    /// The file.
    pub url: String,
    /// The text of the link.
    pub text: String,
    /// The text around the link.
    pub context: String,
    /// The headings above the link, the outermost first.
    pub headings: Vec<String>,
}

impl PageFacts {
    /// Reads a page.
    #[must_use]
    pub fn read(body: &[u8], content_type: Option<&str>, url: &Url) -> Self {
        let body = &body[..body.len().min(PAGE_BYTES)];
        let source = Source {
            body,
            content_type,
            url,
            robots_agent: "",
            x_robots_tag: &[],
            link_headers: &[],
            detect_language: true,
        };
        let pages_only = LinkOptions {
            requisites: false,
            ..LinkOptions::default()
        };
        let analysis = analyze_with_contexts(&source, &pages_only);
        let domain = url.host_str().and_then(|host| host.rsplit('.').next());
        let html = charset::decode(body, charset::detect(body, content_type, domain));
        let mut reader = Reader {
            page: url.clone(),
            facts: Self {
                url: url.to_string(),
                title: short(&analysis.title.unwrap_or_default()),
                language: analysis.language.map(|language| language.code),
                ..Self::default()
            },
            headings: Vec::new(),
            open: Open::Nothing,
            text: String::new(),
            found: Found::default(),
            placed: Vec::new(),
        };
        markup::each(&html, |token| reader.take(&token));
        let mut facts = reader.finish();
        let placed = std::mem::take(&mut facts.links);
        for link in analysis.links {
            if facts.links.len() == LINKS_MAX || looks_like_data(&link.url, None).is_none() {
                continue;
            }
            let headings = placed.iter().find(|it| it.url == link.url);
            let context = link.context.unwrap_or_default();
            facts.links.push(LinkFacts {
                url: link.url,
                text: short(&context.text),
                context: short(&context.beside),
                headings: headings.map(|it| it.headings.clone()).unwrap_or_default(),
            });
        }
        facts
    }

    /// What the page says of a file.
    #[must_use]
    pub fn link(&self, url: &str) -> Option<&LinkFacts> {
        self.links.iter().find(|link| link.url == url)
    }
}

/// What texts are being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Heading(u8),
    Description,
}

/// Publishers and licences by how much they are worth: what a data set says, what the page says of itself, what its text hints at.
#[derive(Default)]
struct Found {
    publishers: [Option<String>; 3],
    licences: [Option<String>; 3],
}

struct Reader {
    page: Url,
    facts: PageFacts,
    /// The headings that hold here, with their levels.
    headings: Vec<(u8, String)>,
    open: Open,
    text: String,
    found: Found,
    placed: Vec<LinkFacts>,
}

impl Reader {
    fn take(&mut self, token: &Token<'_>) {
        match token {
            Token::Start { name, attributes } => self.start(&name.to_ascii_lowercase(), attributes),
            Token::End { name } => self.end(&name.to_ascii_lowercase()),
            Token::Text(text) => match self.open {
                Open::Nothing => self.hint(text),
                Open::Heading(_) if self.text.len() < TEXT_BYTES => self.text.push_str(text),
                Open::Description if text.len() <= SCRIPT_BYTES => self.describe(text),
                Open::Heading(_) | Open::Description => {}
            },
        }
    }

    fn start(&mut self, name: &str, attributes: &Attributes<'_>) {
        let value = |name: &str| attributes.value(name).map(|value| short(&value));
        match name {
            "meta" => {
                let key = value("name")
                    .or_else(|| value("property"))
                    .unwrap_or_default();
                if let Some(content) = value("content").filter(|it| !it.is_empty()) {
                    self.meta(&key.to_ascii_lowercase(), content);
                }
            }
            "link" | "a" => {
                let href = attributes
                    .value("href")
                    .and_then(|href| self.page.join(&href).ok());
                let rel = value("rel").unwrap_or_default().to_ascii_lowercase();
                if let Some(href) = href {
                    self.link(name, &rel, href);
                }
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.open = Open::Heading(name.as_bytes()[1] - b'0');
                self.text.clear();
            }
            "script" => {
                let kind = value("type").unwrap_or_default();
                if kind.eq_ignore_ascii_case("application/ld+json") {
                    self.open = Open::Description;
                }
            }
            _ => {}
        }
    }

    fn meta(&mut self, key: &str, content: String) {
        match key {
            "dc.publisher" | "dcterms.publisher" | "citation_publisher" => {
                self.found.publishers[1].get_or_insert(content);
            }
            "og:site_name" | "application-name" | "author" | "dc.creator" => {
                self.found.publishers[2].get_or_insert(content);
            }
            "dc.rights" | "dcterms.license" | "dcterms.rights" | "dc.rights.license" => {
                self.found.licences[1].get_or_insert(content);
            }
            _ => {}
        }
    }

    fn link(&mut self, name: &str, rel: &str, mut href: Url) {
        href.set_fragment(None);
        let is_licence = rel.split_ascii_whitespace().any(|word| word == "license");
        if is_licence {
            self.found.licences[1].get_or_insert(href.to_string());
        } else if is_licence_address(&href) {
            self.found.licences[2].get_or_insert(href.to_string());
        }
        if name == "a"
            && self.placed.len() < LINKS_MAX
            && looks_like_data(href.as_str(), None).is_some()
        {
            self.placed.push(LinkFacts {
                url: href.into(),
                headings: self.headings.iter().map(|(_, text)| text.clone()).collect(),
                ..LinkFacts::default()
            });
        }
    }

    fn end(&mut self, name: &str) {
        if let Open::Heading(level) = self.open
            && name.starts_with('h')
        {
            let text = short(&self.text);
            self.headings.retain(|(other, _)| *other < level);
            if !text.is_empty() {
                if self.facts.heading.is_empty() {
                    self.facts.heading.clone_from(&text);
                }
                self.headings.push((level, text));
            }
            self.open = Open::Nothing;
        }
        if name == "script" {
            self.open = Open::Nothing;
        }
    }

    /// Takes licences that running text names.
    fn hint(&mut self, text: &str) {
        const NAMES: [(&str, &str); 8] = [
            ("Open Government Licence", "Open Government Licence"),
            ("政府標準利用規約", "政府標準利用規約"),
            ("公共データ利用規約", "公共データ利用規約"),
            ("CC BY-SA", "CC BY-SA"),
            ("CC BY-NC", "CC BY-NC"),
            ("CC BY", "CC BY"),
            ("CC0", "CC0"),
            ("ODbL", "ODbL"),
        ];
        if self.found.licences[2].is_none() {
            let named = NAMES.iter().find(|(sign, _)| text.contains(sign));
            self.found.licences[2] = named.map(|(_, name)| (*name).to_owned());
        }
    }

    /// Takes in JSON-LD.
    fn describe(&mut self, json: &str) {
        let Ok(root) = serde_json::from_str::<Value>(json) else {
            return;
        };
        // Items come alone, in a list, or in a graph; deeper nesting is not looked into.
        let lists = [Some(&root), root.get("@graph")].into_iter().flatten();
        let items = lists.flat_map(|list| match list {
            Value::Array(items) => items.iter().collect::<Vec<_>>(),
            item => vec![item],
        });
        for item in items.take(DATASETS_MAX) {
            if !is_kind(item, "Dataset") && !is_kind(item, "DataCatalog") {
                continue;
            }
            self.facts.declares_data = true;
            let publisher = item.get("publisher").or_else(|| item.get("creator"));
            if let (None, Some(name)) = (&self.found.publishers[0], publisher.and_then(name_of)) {
                self.found.publishers[0] = Some(name);
            }
            if let (None, Some(name)) = (
                &self.found.licences[0],
                item.get("license").and_then(name_of),
            ) {
                self.found.licences[0] = Some(name);
            }
        }
    }

    fn finish(mut self) -> PageFacts {
        let first = |list: [Option<String>; 3]| list.into_iter().flatten().next();
        self.facts.publisher = first(self.found.publishers);
        self.facts.licence = first(self.found.licences);
        self.facts.links = self.placed;
        self.facts
    }
}

fn is_kind(item: &Value, kind: &str) -> bool {
    match item.get("@type") {
        Some(Value::String(found)) => found == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|found| found == kind),
        _ => false,
    }
}

/// A text, or the name or address of a thing.
fn name_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => Some(&**text),
        Value::Object(thing) => ["name", "url", "@id"]
            .iter()
            .find_map(|key| thing.get(*key)?.as_str()),
        Value::Array(list) => return list.first().filter(|it| !it.is_array()).and_then(name_of),
        _ => None,
    };
    text.map(short).filter(|text| !text.is_empty())
}

fn is_licence_address(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let path = url.path();
    (host.ends_with("creativecommons.org")
        && (path.starts_with("/licenses/") || path.starts_with("/publicdomain/")))
        || (host.ends_with("nationalarchives.gov.uk") && path.contains("open-government-licence"))
        || (host.ends_with("opendatacommons.org") && path.contains("licenses"))
}

/// A text with its white space collapsed, cut.
fn short(text: &str) -> String {
    let mut short = String::new();
    for word in text.split_whitespace() {
        if TEXT_BYTES < short.len() + word.len() {
            break;
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short.extend(word.chars().filter(|it| !it.is_control()));
    }
    short
}
