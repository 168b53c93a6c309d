//! Believable text in several languages, ready in the bytes of a charset.
//!
//! Sentences are made once, from patterns filled with words, and encoded once; a page only copies them.

use encoding_rs::Encoding;

use crate::chance::Chance;

/// The languages that hosts write in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    German,
    French,
    Japanese,
    Chinese,
}

impl Language {
    /// The tag for `lang` attributes (BCP 47).
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Japanese => "ja",
            Self::Chinese => "zh",
        }
    }

    const fn vocabulary(self) -> &'static Vocabulary {
        match self {
            Self::English => &ENGLISH,
            Self::German => &GERMAN,
            Self::French => &FRENCH,
            Self::Japanese => &JAPANESE,
            Self::Chinese => &CHINESE,
        }
    }
}

/// Sentences and short phrases of one language, encoded in one charset.
#[derive(Debug)]
pub(crate) struct Prose {
    sentences: Vec<Vec<u8>>,
    phrases: Vec<Vec<u8>>,
}

const SENTENCES: usize = 512;
const PHRASES: usize = 256;

impl Prose {
    /// The prose of a language in a charset, the same for the same seed.
    pub(crate) fn new(seed: u64, language: Language, charset: &'static Encoding) -> Self {
        let vocabulary = language.vocabulary();
        let mut chance = Chance::about(seed, 0x0070_726f_7365);
        let encode = |text: String| charset.encode(&text).0.into_owned();
        Self {
            sentences: (0..SENTENCES)
                .map(|_| encode(vocabulary.sentence(&mut chance)))
                .collect(),
            phrases: (0..PHRASES)
                .map(|_| encode(vocabulary.phrase(&mut chance)))
                .collect(),
        }
    }

    /// A whole sentence, with the space after it where the language has one.
    pub(crate) fn sentence(&self, chance: &mut Chance) -> &[u8] {
        chance.pick::<Vec<u8>>(&self.sentences)
    }

    /// A few words, for titles and the text of links.
    pub(crate) fn phrase(&self, chance: &mut Chance) -> &[u8] {
        chance.pick::<Vec<u8>>(&self.phrases)
    }
}

/// Sentence patterns in which `#` stands for a noun and `~` for an adjective.
struct Vocabulary {
    sentences: &'static [&'static str],
    phrases: &'static [&'static str],
    nouns: &'static [&'static str],
    adjectives: &'static [&'static str],
    sentence_gap: &'static str,
}

impl Vocabulary {
    fn sentence(&self, chance: &mut Chance) -> String {
        self.fill(chance, self.sentences) + self.sentence_gap
    }

    fn phrase(&self, chance: &mut Chance) -> String {
        self.fill(chance, self.phrases)
    }

    fn fill(&self, chance: &mut Chance, patterns: &[&str]) -> String {
        let mut text = String::new();
        for character in chance.pick(patterns).chars() {
            match character {
                '#' => text.push_str(chance.pick::<&str>(self.nouns)),
                '~' => text.push_str(chance.pick::<&str>(self.adjectives)),
                other => text.push(other),
            }
        }
        text
    }
}

static ENGLISH: Vocabulary = Vocabulary {
    sentences: &[
        "The # of the # was ~, and nobody had expected that the # would be so ~.",
        "When the ~ # came to the #, most of the people had already seen the #.",
        "It is said that a ~ # is worth more than any # in the ~ #.",
        "This # has been kept in the # since the first ~ # was built there.",
        "Our ~ # shows what happens to a # if there is no # near it.",
        "You can find the # next to the ~ #, just behind the #.",
        "They asked whether the # should be ~ or whether another # was needed.",
        "Every ~ # needs a #, and this one has had the same # for years.",
        "In the morning the # looks ~, but in the evening it is the # that we remember.",
        "There were three # questions about the ~ #, and the # answered all of them.",
    ],
    phrases: &[
        "The ~ #",
        "A # for the #",
        "~ # and ~ #",
        "More about the #",
        "How the # became ~",
        "# of the #",
    ],
    nouns: &[
        "river",
        "garden",
        "station",
        "letter",
        "winter",
        "harbour",
        "market",
        "bridge",
        "library",
        "mountain",
        "village",
        "engine",
        "museum",
        "forest",
        "window",
        "teacher",
        "history",
        "island",
        "journey",
        "kitchen",
        "machine",
        "newspaper",
        "orchestra",
        "painter",
        "railway",
        "school",
        "theatre",
        "valley",
        "weather",
        "workshop",
    ],
    adjectives: &[
        "old", "quiet", "northern", "green", "famous", "small", "open", "bright", "careful",
        "distant", "early", "foreign", "gentle", "heavy", "modern", "narrow", "popular", "public",
        "simple", "wooden",
    ],
    sentence_gap: " ",
};

static GERMAN: Vocabulary = Vocabulary {
    sentences: &[
        "Der # und die ~ # sind seit vielen Jahren für die Gäste geöffnet.",
        "Als wir am Abend über die ~ # gingen, hörten wir den # hinter dem #.",
        "Es gibt keinen Grund, warum ein # nicht auch ~ sein könnte.",
        "Die Geschichte vom ~ # wurde später in einem # erzählt.",
        "Natürlich müssen wir zuerst den # prüfen, bevor die ~ # beginnt.",
        "Früher stand hier ein ~ #, heute fährt nur noch der # vorbei.",
        "Wer den # kennt, weiß, dass er ~ und manchmal auch ~ ist.",
        "In der Nähe des # befindet sich eine ~ # mit schöner Aussicht.",
        "Für nächstes Jahr ist ein größerer # geplant, sagte der # am Montag.",
    ],
    phrases: &[
        "Der ~ #",
        "# und #",
        "Über den #",
        "Neues vom #",
        "Wie der # ~ wurde",
        "Öffnungszeiten: #",
    ],
    nouns: &[
        "Fluss",
        "Garten",
        "Bahnhof",
        "Brief",
        "Winter",
        "Hafen",
        "Markt",
        "Turm",
        "Bücherei",
        "Berg",
        "Dorf",
        "Motor",
        "Künstler",
        "Wald",
        "Schlüssel",
        "Lehrer",
        "Wagen",
        "Straße",
        "Brücke",
        "Küche",
        "Maschine",
        "Zeitung",
        "Bäcker",
        "Verein",
        "Schule",
    ],
    adjectives: &[
        "alte",
        "ruhige",
        "grüne",
        "berühmte",
        "kleine",
        "offene",
        "helle",
        "frühe",
        "schwere",
        "schöne",
        "öffentliche",
        "einfache",
        "süße",
        "weiße",
        "große",
    ],
    sentence_gap: " ",
};

static FRENCH: Vocabulary = Vocabulary {
    sentences: &[
        "Le # et la # ~ ont été rénovés après la dernière crue.",
        "Quand nous sommes arrivés près du # ~, il n'y avait plus personne.",
        "C'est à côté du # que l'on trouve le # le plus ~ de la région.",
        "Les élèves ont préparé un # qui sera présenté à la # l'été prochain.",
        "On dit souvent qu'un # ~ vaut mieux que deux # ailleurs.",
        "La mairie a décidé de protéger le # ~ où se trouvait autrefois le #.",
        "Il faut être très ~ pour comprendre ce que le # représente.",
        "Depuis l'année dernière, le # est fermé, mais le # reste ~.",
    ],
    phrases: &[
        "Le # ~",
        "Un # à découvrir",
        "# et #",
        "Tout savoir sur le #",
        "L'été au #",
        "Où trouver un # ~",
    ],
    nouns: &[
        "jardin",
        "marché",
        "fleuve",
        "théâtre",
        "musée",
        "château",
        "quartier",
        "village",
        "forêt",
        "bibliothèque",
        "hôtel",
        "atelier",
        "journal",
        "peintre",
        "chemin",
        "pont",
        "lycée",
        "voyage",
        "siècle",
        "été",
    ],
    adjectives: &[
        "ancien",
        "célèbre",
        "tranquille",
        "ouvert",
        "étroit",
        "léger",
        "privé",
        "étranger",
        "récent",
        "fermé",
        "fidèle",
        "agréable",
    ],
    sentence_gap: " ",
};

static JAPANESE: Vocabulary = Vocabulary {
    sentences: &[
        "昨日は~#を見てから、友だちと一緒に#へ行きました。",
        "この#は~ので、毎年たくさんの人が訪れます。",
        "#について調べたところ、~#が見つかりました。",
        "駅の近くに~#があり、その隣には#があります。",
        "来月から#の工事が始まるため、#は使えなくなります。",
        "先生は「#は~ものだ」とおっしゃいました。",
        "ホームページの#を更新しましたので、ぜひご覧ください。",
        "~#よりも、やはり#のほうが好きです。",
        "詳しくは#のページをお読みください。",
    ],
    phrases: &[
        "~#",
        "#のお知らせ",
        "#と#",
        "~#について",
        "#の歴史",
        "はじめての#",
    ],
    nouns: &[
        "図書館",
        "公園",
        "神社",
        "学校",
        "新聞",
        "写真",
        "旅行",
        "料理",
        "音楽",
        "研究",
        "大学",
        "電車",
        "天気",
        "祭り",
        "温泉",
        "海岸",
        "市場",
        "庭園",
        "会社",
        "ニュース",
        "カメラ",
        "パソコン",
        "サービス",
        "イベント",
    ],
    adjectives: &[
        "新しい",
        "古い",
        "美しい",
        "小さな",
        "有名な",
        "静かな",
        "楽しい",
        "便利な",
        "大きな",
        "珍しい",
    ],
    sentence_gap: "",
};

static CHINESE: Vocabulary = Vocabulary {
    sentences: &[
        "昨天我们去了~#，然后在#旁边吃了午饭。",
        "这个#非常~，每年都有很多人来参观。",
        "如果你想了解#，可以先看看这本关于#的书。",
        "虽然#已经关闭了，但是~#还在那里。",
        "他们认为#应该更加~，不过没有人同意。",
        "从这里到#只需要十分钟，路上可以看到~#。",
        "我们的#每个星期都会更新，欢迎大家留言。",
        "最近几年，#的发展比#快得多。",
    ],
    phrases: &["~#", "#的历史", "#与#", "关于~#", "#简介", "怎样选择#"],
    nouns: &[
        "图书馆",
        "公园",
        "学校",
        "报纸",
        "照片",
        "旅行",
        "音乐",
        "大学",
        "火车",
        "天气",
        "博物馆",
        "市场",
        "花园",
        "公司",
        "新闻",
        "城市",
        "河流",
        "桥梁",
        "电影",
        "历史",
    ],
    adjectives: &[
        "新的",
        "古老的",
        "美丽的",
        "小小的",
        "著名的",
        "安静的",
        "热闹的",
        "方便的",
    ],
    sentence_gap: "",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_prose_can_be_written_in_the_charsets_of_its_language() {
        for (language, charset) in [
            (Language::German, encoding_rs::WINDOWS_1252),
            (Language::French, encoding_rs::WINDOWS_1252),
            (Language::Japanese, encoding_rs::SHIFT_JIS),
            (Language::Japanese, encoding_rs::EUC_JP),
        ] {
            let utf8 = Prose::new(9, language, encoding_rs::UTF_8);
            let other = Prose::new(9, language, charset);
            for (left, right) in utf8.sentences.iter().zip(&other.sentences) {
                let (decoded, _, malformed) = charset.decode(right);
                assert!(!malformed);
                assert_eq!(decoded.as_bytes(), left);
            }
        }
    }
}
