//! Which language a page is written in: as it declares, else as its text looks.
//!
//! Codes are primary language subtags of BCP 47: two letters where ISO 639-1 has them (`ja`), else three (`sco`).

use serde::Serialize;
use whatlang::Lang;

/// As much text as detection looks at; more costs time and gains little.
pub const SAMPLE_CHARACTERS: usize = 512;

/// A language and what told us.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Language {
    /// The primary language subtag, in lower case.
    pub code: String,
    /// What told us.
    pub source: LanguageSource,
}

/// What told us the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LanguageSource {
    /// The `lang` attribute of the page, or its `content-language`.
    Declared,
    /// Its text.
    Detected,
}

/// The language of a declared tag such as `en-US`; none if it is no tag, or says that the language is unknown.
#[must_use]
pub fn declared(tag: &str) -> Option<Language> {
    let primary = tag.trim().split(['-', '_']).next()?;
    let is_subtag =
        (2..=3).contains(&primary.len()) && primary.bytes().all(|byte| byte.is_ascii_alphabetic());
    let code = primary.to_ascii_lowercase();
    (is_subtag && !matches!(&*code, "und" | "mul" | "zxx")).then_some(Language {
        code,
        source: LanguageSource::Declared,
    })
}

/// The language that the first [`SAMPLE_CHARACTERS`] of `text` are surely in.
#[must_use]
pub fn of(text: &str) -> Option<Language> {
    let end = text
        .char_indices()
        .nth(SAMPLE_CHARACTERS)
        .map_or(text.len(), |(index, _)| index);
    let info = whatlang::detect(&text[..end])?;
    info.is_reliable().then(|| Language {
        code: code_of(info.lang()).to_owned(),
        source: LanguageSource::Detected,
    })
}

/// The subtag of a language that the detector knows; it speaks ISO 639-3.
#[rustfmt::skip]
fn code_of(language: Lang) -> &'static str {
    match language {
        Lang::Afr => "af", Lang::Aka => "ak", Lang::Amh => "am", Lang::Ara => "ar", Lang::Aze => "az", Lang::Bel => "be",
        Lang::Ben => "bn", Lang::Bul => "bg", Lang::Cat => "ca", Lang::Ces => "cs", Lang::Cmn => "zh", Lang::Cym => "cy",
        Lang::Dan => "da", Lang::Deu => "de", Lang::Ell => "el", Lang::Eng => "en", Lang::Epo => "eo", Lang::Est => "et",
        Lang::Fin => "fi", Lang::Fra => "fr", Lang::Guj => "gu", Lang::Heb => "he", Lang::Hin => "hi", Lang::Hrv => "hr",
        Lang::Hun => "hu", Lang::Hye => "hy", Lang::Ind => "id", Lang::Ita => "it", Lang::Jav => "jv", Lang::Jpn => "ja",
        Lang::Kan => "kn", Lang::Kat => "ka", Lang::Khm => "km", Lang::Kor => "ko", Lang::Lat => "la", Lang::Lav => "lv",
        Lang::Lit => "lt", Lang::Mal => "ml", Lang::Mar => "mr", Lang::Mkd => "mk", Lang::Mya => "my", Lang::Nep => "ne",
        Lang::Nld => "nl", Lang::Nob => "nb", Lang::Ori => "or", Lang::Pan => "pa", Lang::Pes => "fa", Lang::Pol => "pl",
        Lang::Por => "pt", Lang::Ron => "ro", Lang::Rus => "ru", Lang::Sin => "si", Lang::Slk => "sk", Lang::Slv => "sl",
        Lang::Sna => "sn", Lang::Spa => "es", Lang::Srp => "sr", Lang::Swe => "sv", Lang::Tam => "ta", Lang::Tel => "te",
        Lang::Tgl => "tl", Lang::Tha => "th", Lang::Tuk => "tk", Lang::Tur => "tr", Lang::Ukr => "uk", Lang::Urd => "ur",
        Lang::Uzb => "uz", Lang::Vie => "vi", Lang::Yid => "yi", Lang::Zul => "zu",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_cut_to_their_primary_subtag() {
        for (tag, code) in [
            ("en", Some("en")),
            ("EN-us", Some("en")),
            (" zh-Hant-TW ", Some("zh")),
            ("pt_BR", Some("pt")),
            ("sco", Some("sco")),
            ("und", None),
            ("", None),
            ("x", None),
            ("english", None),
            ("12", None),
        ] {
            let found = declared(tag).map(|language| language.code);
            assert_eq!(found.as_deref(), code, "{tag}");
        }
    }

    #[test]
    fn text_is_recognised() {
        for (text, code) in [
            (
                "The crawler follows links from page to page and keeps every version that it has seen.",
                "en",
            ),
            (
                "Der Crawler folgt den Verweisen von Seite zu Seite und bewahrt jede Fassung auf, die er gesehen hat.",
                "de",
            ),
            (
                "Le robot suit les liens de page en page et conserve toutes les versions qu’il a pu voir.",
                "fr",
            ),
            (
                "収集器は頁から頁へとリンクをたどり、見たすべての版を保存します。",
                "ja",
            ),
            (
                "爬虫沿着链接从一个网页到另一个网页，并保存它见过的每一个版本。",
                "zh",
            ),
            (
                "Робот переходит по ссылкам со страницы на страницу и хранит каждую увиденную версию.",
                "ru",
            ),
        ] {
            let found = of(text).map(|language| language.code);
            assert_eq!(found.as_deref(), Some(code), "{text}");
        }
    }

    #[test]
    fn too_little_text_says_nothing() {
        assert_eq!(of(""), None);
        assert_eq!(of("12 34 !?"), None);
    }
}
