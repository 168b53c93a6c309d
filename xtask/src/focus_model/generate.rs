//! Sites that hold statistical data, and sites that look like it: generated, in Japanese and English.
//!
//! A site is of one genre, has its own menu, its own look and its own sample of the phrases, and some of its pages are about something
//! else: a statistics office has a page on how to get there, a shop has a table of numbers. What is drawn depends on the paper alone.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::chance::{Chance, grouped};
use super::genre::{Genre, Language};

/// What any site may have in its menu and say on its pages.
const COMMON: [(&str, &[&str], &[&str]); 2] = [
    (
        "en",
        &[
            "Home",
            "About us",
            "Contact",
            "Privacy",
            "Sitemap",
            "Search",
            "Help",
            "News",
            "Accessibility",
            "Imprint",
            "Terms of use",
            "Archive",
            "Links",
        ],
        &[
            "This site uses cookies.",
            "Last changed on 12 May.",
            "Back to top.",
            "All rights reserved.",
            "Print this page.",
            "For questions write to us.",
            "You are here: home.",
            "Skip to content.",
            "Page 1 of 3, next.",
            "Follow us.",
            "How to find us: take the bus to the centre.",
            "We do not share your personal data with others.",
            "The number of pages is limited.",
            "See the table below.",
            "More information can be found in the report.",
        ],
    ),
    (
        "ja",
        &[
            "ホーム",
            "サイトマップ",
            "お問い合わせ",
            "アクセス",
            "プライバシーポリシー",
            "検索",
            "お知らせ",
            "リンク集",
            "このサイトについて",
            "ご利用案内",
            "English",
        ],
        &[
            "本文へスキップします。",
            "ページの先頭へ戻る",
            "無断転載を禁じます。",
            "印刷用ページ",
            "ご意見・ご感想をお寄せください。",
            "個人情報の取扱いについて",
            "更新日：5月12日",
            "PDFをご覧いただくには閲覧ソフトが必要です。",
            "詳しくはこちらをご覧ください。",
            "前のページ　次のページ",
            "担当課までご連絡ください。",
            "下の表をご覧ください。",
        ],
    ),
];

/// Pages of a site, from and to.
const PAGES: (u64, u64) = (6, 24);

/// Writes a site into a folder of its own.
pub(super) fn site(folder: &Path, language: &Language, genre: &Genre, seed: u64) -> Result<()> {
    let mut writer = Writer::new(language, genre, seed);
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for page in 0..writer.chance.between(PAGES.0, PAGES.1) {
        let html = writer.page();
        fs::write(folder.join(format!("p{page}.html")), html)?;
    }
    Ok(())
}

/// Writes the pages of one site.
struct Writer<'a> {
    language: &'a Language,
    genre: &'a Genre,
    chance: Chance,
    menu: Vec<&'static str>,
    titles: Vec<&'static str>,
    sentences: Vec<&'static str>,
    common: &'static [&'static str],
    site_name: String,
    /// How many of a hundred sentences are common ones.
    common_percent: u64,
    is_sidebar: bool,
    is_absolute: bool,
}

impl<'a> Writer<'a> {
    fn new(language: &'a Language, genre: &'a Genre, seed: u64) -> Self {
        let mut chance = Chance(seed);
        let common = COMMON.iter().find(|(code, ..)| *code == language.code);
        let (_, common_menu, common) = common.copied().unwrap_or(COMMON[0]);
        let mut menu = chance.some(common_menu, 50);
        menu.extend(chance.some(&genre.menu, 60));
        let mut writer = Self {
            menu,
            titles: chance.some(&genre.titles, 80),
            sentences: chance.some(&genre.sentences, 75),
            common,
            site_name: String::new(),
            common_percent: chance.between(5, 40),
            is_sidebar: chance.percent(50),
            is_absolute: chance.percent(30),
            chance,
            language,
            genre,
        };
        let title = writer.chance.pick(&genre.titles);
        writer.site_name = if writer.chance.percent(50) {
            writer.filled("{place}")
        } else {
            writer.filled(title)
        };
        writer
    }

    fn page(&mut self) -> String {
        let title = self.chance.pick(&self.titles);
        // Some pages of every site say nothing of what it is.
        let is_plain = self.chance.percent(15);
        let title = if is_plain {
            self.chance.pick(self.common).to_owned()
        } else {
            self.filled(title)
        };
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"{}\"><head><meta charset=\"utf-8\"><title>{title} | {}</title></head>\n<body>\n",
            self.language.code, self.site_name
        );
        if !self.is_sidebar {
            self.menu(&mut html);
        }
        let _ = writeln!(html, "<main><h1>{title}</h1>");
        for _ in 0..self.chance.between(1, 7) {
            self.paragraph(&mut html, is_plain);
        }
        if self.chance.percent(if self.genre.wanted { 45 } else { 30 }) && !is_plain {
            self.table(&mut html);
        }
        let file_percent = if self.genre.wanted { 65 } else { 30 };
        if self.chance.percent(file_percent) && !is_plain {
            self.files(&mut html);
        }
        html.push_str("</main>\n");
        if self.is_sidebar {
            self.menu(&mut html);
        }
        html.push_str("</body></html>\n");
        html
    }

    fn menu(&mut self, html: &mut String) {
        html.push_str("<nav><ul>\n");
        for (number, entry) in self.menu.iter().enumerate() {
            let base = if self.is_absolute { "/pages/" } else { "" };
            let _ = writeln!(
                html,
                "<li><a href=\"{base}p{number}.html\">{entry}</a></li>"
            );
        }
        html.push_str("</ul></nav>\n");
    }

    fn paragraph(&mut self, html: &mut String, is_plain: bool) {
        html.push_str("<p>");
        for _ in 0..self.chance.between(1, 5) {
            let is_common = is_plain || self.chance.percent(self.common_percent);
            let list = if is_common {
                self.common
            } else {
                &self.sentences[..]
            };
            let sentence = self.chance.pick(list);
            let sentence = self.filled(sentence);
            html.push_str(&sentence);
            html.push(' ');
        }
        html.push_str("</p>\n");
    }

    /// A table of numbers: who has statistics has them, and so have others.
    fn table(&mut self, html: &mut String) {
        let columns = self.chance.between(2, 6);
        let row_name = if self.genre.wanted {
            "{place}"
        } else {
            "{item}"
        };
        html.push_str("<table><tr><th></th>");
        for column in 0..columns {
            let head = match (self.genre.wanted, self.chance.percent(70)) {
                (true, true) => format!("{}", 2024 - column),
                (true, false) => self.filled("{topic}"),
                (false, true) => self.filled("{d}"),
                (false, false) => self.filled("{year}"),
            };
            let _ = write!(html, "<th>{head}</th>");
        }
        html.push_str("</tr>\n");
        for _ in 0..self.chance.between(3, 15) {
            let name = self.filled(row_name);
            let _ = write!(html, "<tr><td>{name}</td>");
            for _ in 0..columns {
                let value = self.filled("{n}");
                let _ = write!(html, "<td>{value}</td>");
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</table>\n");
    }

    fn files(&mut self, html: &mut String) {
        if self.genre.files.is_empty() {
            return;
        }
        html.push_str("<ul>\n");
        let most = if self.genre.wanted { 12 } else { 3 };
        for _ in 0..self.chance.between(1, most) {
            let (text, name) = self.chance.pick(&self.genre.files);
            let text = self.filled(text);
            let name = self.filled(name);
            let folder = self
                .chance
                .pick(&["", "files/", "/download/", "../data/", "docs/"]);
            let _ = writeln!(html, "<li><a href=\"{folder}{name}\">{text}</a></li>");
        }
        html.push_str("</ul>\n");
    }

    /// Puts something for every word in braces.
    fn filled(&mut self, phrase: &str) -> String {
        let mut text = String::new();
        let mut rest = phrase;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((slot, after)) = after.split_once('}') else {
                break;
            };
            text.push_str(before);
            rest = after;
            let filler = match slot {
                "year" => self.chance.between(1985, 2024).to_string(),
                "d" => self.chance.between(1, 60).to_string(),
                "p" => format!(
                    "{}.{}",
                    self.chance.between(0, 99),
                    self.chance.between(0, 9)
                ),
                "n" => grouped(
                    self.chance.next()
                        % 10_u64.pow(1 + u32::try_from(self.chance.between(2, 7)).unwrap_or(2)),
                ),
                "slug" => format!("t{:05}", self.chance.between(0, 99_999)),
                name => {
                    let pool = self.language.pool(name).unwrap_or_default();
                    self.chance.pick(pool).to_owned()
                }
            };
            text.push_str(&filler);
        }
        text.push_str(rest);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::genre::languages;
    use super::*;

    #[test]
    fn a_site_is_what_its_seed_says_and_leaves_no_braces() {
        for language in languages().unwrap() {
            for genre in &language.genres {
                let page = |seed| Writer::new(&language, genre, seed).page();
                assert_eq!(page(1), page(1));
                for seed in 0..20 {
                    assert!(!page(seed).contains('{'), "{}: {}", genre.name, page(seed));
                }
            }
        }
    }
}
