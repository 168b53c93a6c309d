//! What sites say, in English and in Japanese.
//!
//! Sentences are patterns: `{n}` is a number, `{p}` a percentage, `{y}` a year, `{m}` something that is measured, `{r}` a region, `{g}` goods, `{o}` some
//! other thing. All of it was written for this web, not taken from anywhere.

use super::Kind;
use crate::chance::Chance;
use crate::synthetic::write_to;

/// A language, with all that is said in it.
#[derive(Debug)]
pub(super) struct Tongue {
    /// The tag for `lang` attributes (BCP 47).
    pub(super) tag: &'static str,
    pub(super) topics: &'static [Topic],
    pub(super) breakdowns: &'static [Breakdown],
    pub(super) unit_word: &'static str,
    pub(super) goods: &'static [&'static str],
    pub(super) colours: &'static [&'static str],
    pub(super) stock: &'static [&'static str],
    pub(super) price_header: [&'static str; 5],
    pub(super) menu: Menu,
    things: &'static [&'static str],
    places: &'static [&'static str],
    titles: Said,
    sentences: Said,
    headlines: Said,
}

/// What can be counted, and in what.
#[derive(Debug)]
pub(super) struct Topic {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) measures: &'static [&'static str],
}

/// What a table has a row for.
#[derive(Debug)]
pub(super) struct Breakdown {
    pub(super) name: &'static str,
    pub(super) values: &'static [&'static str],
}

/// The words of menus and labels.
#[derive(Debug)]
pub(super) struct Menu {
    pub(super) home: &'static str,
    pub(super) about: &'static str,
    pub(super) news: &'static str,
    pub(super) links: &'static str,
    pub(super) next: &'static str,
    pub(super) previous: &'static str,
    pub(super) updated: &'static str,
    pub(super) price_list: &'static str,
    /// The list of what the site has, by kind.
    pub(super) hub: Said,
}

/// Something that each kind of site says in its own way.
#[derive(Debug)]
pub(super) struct Said {
    statistics: &'static [&'static str],
    news: &'static [&'static str],
    shop: &'static [&'static str],
    manual: &'static [&'static str],
    sports: &'static [&'static str],
    firm: &'static [&'static str],
    diary: &'static [&'static str],
    review: &'static [&'static str],
    town: &'static [&'static str],
}

impl Said {
    fn by(&self, kind: Kind) -> &'static [&'static str] {
        match kind {
            Kind::Statistics => self.statistics,
            Kind::News => self.news,
            Kind::Shop => self.shop,
            Kind::Manual => self.manual,
            Kind::Sports => self.sports,
            Kind::Firm => self.firm,
            Kind::Diary => self.diary,
            Kind::Review => self.review,
            Kind::Town => self.town,
        }
    }

    /// What is said first, which is always the same.
    pub(super) fn first(&self, kind: Kind) -> &'static str {
        self.by(kind).first().copied().unwrap_or_default()
    }
}

impl Tongue {
    pub(super) fn site_title(&self, kind: Kind, chance: &mut Chance) -> String {
        let pattern = *chance.pick(self.titles.by(kind));
        self.fill(pattern, chance)
    }

    pub(super) fn sentence(&self, kind: Kind, chance: &mut Chance) -> String {
        let pattern = *chance.pick(self.sentences.by(kind));
        self.fill(pattern, chance)
    }

    /// The name of an article, a product, a chapter.
    pub(super) fn headline(&self, kind: Kind, chance: &mut Chance) -> String {
        let pattern = *chance.pick(self.headlines.by(kind));
        self.fill(pattern, chance)
    }

    pub(super) fn year(&self, year: u64) -> String {
        match self.tag {
            "ja" => format!("{year}年"),
            _ => year.to_string(),
        }
    }

    pub(super) fn table_title(&self, measure: &str, breakdown: &str, years: [u64; 2]) -> String {
        let [first, last] = years;
        match self.tag {
            "ja" => format!("{breakdown}別{measure}（{first}年～{last}年）"),
            _ => format!("{measure} by {breakdown} {first}-{last}"),
        }
    }

    fn fill(&self, pattern: &str, chance: &mut Chance) -> String {
        let mut text = String::new();
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let Some((slot, after)) = after.split_once('}') else {
                break;
            };
            match slot {
                "n" => text.push_str(&grouped(10 + chance.below_large(90_000))),
                "p" => {
                    let (whole, tenths) = (chance.below_large(40), chance.below_large(10));
                    write_to(&mut text, format_args!("{whole}.{tenths}"));
                }
                "y" => text.push_str(&(2012 + chance.below_large(12)).to_string()),
                "m" => {
                    let topic = chance.pick(self.topics);
                    text.push_str(chance.pick::<&str>(topic.measures));
                }
                "r" => text.push_str(chance.pick::<&str>(self.places)),
                "g" => text.push_str(chance.pick::<&str>(self.goods)),
                _ => text.push_str(chance.pick::<&str>(self.things)),
            }
            rest = after;
        }
        text + rest
    }
}

/// A number as people write it.
pub(super) fn grouped(number: u64) -> String {
    if number < 1000 {
        number.to_string()
    } else {
        format!("{},{:03}", number / 1000, number % 1000)
    }
}

pub(super) static ENGLISH: Tongue = Tongue {
    tag: "en",
    topics: &[
        topic(
            "Population",
            "persons",
            &["Resident population", "Live births", "Deaths", "Households"],
        ),
        topic(
            "Labour market",
            "thousand persons",
            &["Employed persons", "Unemployed persons", "Job vacancies"],
        ),
        topic(
            "Prices",
            "index, 2015 = 100",
            &["Consumer price index", "Producer price index", "Rent index"],
        ),
        topic(
            "Foreign trade",
            "million",
            &["Exports of goods", "Imports of goods", "Trade balance"],
        ),
        topic(
            "Agriculture",
            "tonnes",
            &["Wheat harvest", "Milk deliveries", "Cattle on farms"],
        ),
        topic(
            "Education",
            "pupils",
            &[
                "Pupils in primary schools",
                "University graduates",
                "Teachers",
            ],
        ),
        topic(
            "Health",
            "cases",
            &["Hospital beds", "Physicians", "Discharges from hospitals"],
        ),
        topic(
            "Transport",
            "thousand vehicles",
            &["Registered cars", "Road accidents", "Passengers carried"],
        ),
        topic(
            "Energy",
            "GWh",
            &[
                "Electricity generation",
                "Gas consumption",
                "Renewable electricity",
            ],
        ),
        topic(
            "Housing",
            "dwellings",
            &[
                "Dwellings completed",
                "Building permits",
                "Vacant dwellings",
            ],
        ),
    ],
    breakdowns: &[
        breakdown(
            "prefecture",
            &[
                "Northmark",
                "Southmark",
                "Eastvale",
                "Westvale",
                "Highland",
                "Lowland",
                "Lakeside",
                "Coast",
                "Capital",
                "Islands",
                "Border",
                "Midland",
            ],
        ),
        breakdown(
            "age group",
            &[
                "0-4", "5-14", "15-24", "25-34", "35-44", "45-54", "55-64", "65-74", "75+",
            ],
        ),
        breakdown(
            "industry",
            &[
                "Farming",
                "Mining",
                "Manufacturing",
                "Construction",
                "Trade",
                "Transport",
                "Finance",
                "Public administration",
                "Education",
                "Other services",
            ],
        ),
        breakdown(
            "municipality",
            &[
                "Alton", "Burford", "Corwen", "Denby", "Elstow", "Farnham", "Girton", "Hexham",
                "Ilkley", "Jarrow", "Kelso", "Louth", "Melton", "Norham",
            ],
        ),
    ],
    unit_word: "Unit",
    goods: &[
        "desk lamp",
        "garden chair",
        "water kettle",
        "wool scarf",
        "bicycle pump",
        "oak shelf",
        "tea cup",
        "rain jacket",
        "tool box",
        "travel bag",
    ],
    colours: &["white", "black", "green", "natural", "grey", "blue"],
    stock: &["in stock", "on order", "last pieces", "in stock"],
    price_header: ["Article", "Description", "Colour", "Price", "Availability"],
    menu: Menu {
        home: "Home",
        about: "About us",
        news: "News",
        links: "Neighbours",
        next: "Next",
        previous: "Previous",
        updated: "Last updated",
        price_list: "Price list",
        hub: Said {
            statistics: &["Statistics and tables"],
            news: &["All sections"],
            shop: &["All goods"],
            manual: &["Contents"],
            sports: &["Results"],
            firm: &["Our products"],
            diary: &["All entries"],
            review: &["All reviews"],
            town: &["Figures of the town"],
        },
    },
    things: &[
        "river",
        "meeting",
        "winter",
        "bridge",
        "orchestra",
        "kitchen",
        "journey",
        "museum",
        "harbour",
        "garden",
        "teacher",
        "village",
        "window",
        "railway",
    ],
    places: &[
        "Northmark",
        "Eastvale",
        "Alton",
        "Burford",
        "Lakeside",
        "Corwen",
        "the capital",
        "the islands",
        "Denby",
        "Hexham",
    ],
    titles: Said {
        statistics: &[
            "Statistical Office of {r}",
            "{r} Open Data",
            "Bureau of Statistics {r}",
            "Observatory of {r}: facts and figures",
        ],
        news: &["{r} Courier", "The {r} Post", "{r} Today"],
        shop: &["Shop at {r}", "{r} Household Goods", "The {o} shop"],
        manual: &[
            "Manual of the {o} program",
            "The {o} toolkit: documentation",
        ],
        sports: &["{r} Football League", "{r} Athletics Club"],
        firm: &["{r} Works Ltd", "{o} makers of {r}"],
        diary: &["Notes from the {o}", "My {o} and I", "A {o} in {r}"],
        review: &[
            "{r} Economic Review",
            "Numbers and opinions",
            "The {r} Analyst",
        ],
        town: &["Town of {r}", "{r} City Council", "Welcome to {r}"],
    },
    sentences: Said {
        statistics: &[
            "The tables show {m} for {r} since {y}; figures for the last year are provisional.",
            "In {y} the survey counted {n} units, {p} % more than in the year before.",
            "Data were collected by a sample survey of {n} households and weighted to the census of {y}.",
            "The series on {m} has been revised back to {y} because of the new classification.",
            "All tables can be downloaded as a file and used freely if the source is named.",
            "{m} in {r} rose by {p} % against {y}, after seasonal adjustment.",
            "Definitions and methods are described in the quality report of the survey.",
        ],
        news: &[
            "The council of {r} will spend {n} on the {o}, which is {p} % more than last year.",
            "About {n} people came to the {o} on Sunday, the police said.",
            "A {o} was closed for {n} minutes after an accident near {r}.",
            "In {y} the same {o} had cost {n}, a spokesman told this newspaper.",
            "Shares of the {g} maker fell by {p} % to {n} points in early trading.",
            "Rain is expected in {r} until Friday, with up to {n} millimetres in the hills.",
        ],
        shop: &[
            "The {g} is now {n} instead of {n}: you save {p} %.",
            "Order before noon and your {g} leaves {r} the same day.",
            "Rated {p} of 40 by {n} customers who bought this {g}.",
            "Weight {n} g, height {n} mm, packed in a box of {n}.",
            "Customers who looked at the {g} also bought a {g}.",
        ],
        manual: &[
            "The option takes a number from 0 to {n}; the default is {n}.",
            "Since version {p} the command reads the {o} from its configuration file.",
            "If the buffer holds more than {n} bytes, the call returns an error.",
            "See the chapter on the {o} for an example with {n} lines.",
            "The function was added in {y} and replaces the older interface of the {o}.",
        ],
        sports: &[
            "{r} won against {r} in front of {n} spectators.",
            "The {o} cup goes to {r}, for the first time since {y}.",
            "After {p} minutes the score was even, and the goalkeeper of {r} saved twice.",
            "The next match is on Saturday at the {o} ground.",
        ],
        firm: &[
            "We have made every {g} by hand in {r} since {y}.",
            "Our {n} customers value the {g} for its quality and service.",
            "Ask for an offer: we answer within a day.",
            "The workshop near the {o} employs {n} people.",
        ],
        diary: &[
            "Today I walked to the {o} and thought about {y}.",
            "My neighbour says the {o} in {r} is better, but I do not believe it.",
            "We had tea for two hours and talked about the {g}.",
            "I have been writing this diary for {p} years now.",
        ],
        review: &[
            "According to the latest survey, {m} in {r} rose by {p} % in {y}, and nobody knows why.",
            "Our commentator doubts that {m} will fall before {y}.",
            "Official statistics put the figure at {n}; the industry speaks of {n}.",
            "The report on {m} was discussed at a meeting in {r}, with {n} guests.",
            "Readers ask what the new index of {y} means for their savings.",
            "A decline of {p} % is less than the forecast, writes our author.",
        ],
        town: &[
            "The town hall of {r} is open on weekdays until noon; please bring your papers.",
            "Waste is collected on Tuesdays; {n} households have asked for a second bin.",
            "Registration for the {o} begins in March, and places are limited to {n}.",
            "The council has approved {n} for the {o} near the school.",
            "Rooms for weddings can be booked at the registry office.",
            "Lost property is kept for {p} weeks at the reception.",
        ],
    },
    headlines: Said {
        statistics: &["{m}"],
        news: &[
            "{r} argues about the {o}",
            "New {o} for {n}",
            "{o} closed until further notice",
        ],
        shop: &["{g}, model {n}", "{g} for the {o}"],
        manual: &[
            "How to configure the {o}",
            "The {o} command",
            "Limits of the {o}",
        ],
        sports: &["{r} against {r}", "Table after round {p}"],
        firm: &["{g} series {n}", "{g} to order"],
        diary: &["A day at the {o}", "The {o} again", "{g}"],
        review: &[
            "What {m} tells us",
            "{r} after the survey",
            "Comment: {m} and the {o}",
        ],
        town: &["{m}"],
    },
};

pub(super) static JAPANESE: Tongue = Tongue {
    tag: "ja",
    topics: &[
        topic("人口", "人", &["人口", "出生数", "死亡数", "世帯数"]),
        topic("労働", "千人", &["就業者数", "完全失業者数", "求人数"]),
        topic(
            "物価",
            "2015年=100",
            &["消費者物価指数", "企業物価指数", "家賃指数"],
        ),
        topic("貿易", "百万円", &["輸出額", "輸入額", "貿易収支"]),
        topic("農業", "トン", &["小麦収穫量", "生乳生産量", "水稲収穫量"]),
        topic("教育", "人", &["小学校児童数", "大学卒業者数", "教員数"]),
        topic("医療", "件", &["病院病床数", "医師数", "退院患者数"]),
        topic(
            "交通",
            "千台",
            &["自動車保有台数", "交通事故発生件数", "旅客輸送人員"],
        ),
        topic(
            "エネルギー",
            "GWh",
            &["発電電力量", "都市ガス消費量", "再生可能エネルギー発電量"],
        ),
        topic("住宅", "戸", &["新設住宅着工戸数", "空き家数", "持ち家数"]),
    ],
    breakdowns: &[
        breakdown(
            "都道府県",
            &[
                "北海道",
                "青森県",
                "岩手県",
                "宮城県",
                "秋田県",
                "山形県",
                "福島県",
                "茨城県",
                "栃木県",
                "群馬県",
                "埼玉県",
                "千葉県",
                "東京都",
                "神奈川県",
            ],
        ),
        breakdown(
            "年齢階級",
            &[
                "0-4歳",
                "5-14歳",
                "15-24歳",
                "25-34歳",
                "35-44歳",
                "45-54歳",
                "55-64歳",
                "65-74歳",
                "75歳以上",
            ],
        ),
        breakdown(
            "産業",
            &[
                "農林業",
                "鉱業",
                "製造業",
                "建設業",
                "卸売業",
                "運輸業",
                "金融業",
                "公務",
                "教育",
                "その他",
            ],
        ),
        breakdown(
            "市区町村",
            &[
                "青葉市",
                "緑町",
                "桜川村",
                "若草市",
                "朝日町",
                "日向市",
                "白浜町",
                "高原村",
                "川辺町",
                "西浜市",
                "東野市",
                "南原町",
            ],
        ),
    ],
    unit_word: "単位",
    goods: &[
        "卓上ライト",
        "庭用いす",
        "やかん",
        "毛糸のマフラー",
        "空気入れ",
        "本棚",
        "湯のみ",
        "雨がっぱ",
        "工具箱",
        "旅行かばん",
    ],
    colours: &["白", "黒", "緑", "生成り", "灰色", "青"],
    stock: &["在庫あり", "取り寄せ", "残りわずか", "在庫あり"],
    price_header: ["品番", "品名", "色", "価格", "在庫"],
    menu: Menu {
        home: "ホーム",
        about: "当サイトについて",
        news: "お知らせ",
        links: "リンク集",
        next: "次へ",
        previous: "前へ",
        updated: "最終更新日",
        price_list: "価格表",
        hub: Said {
            statistics: &["統計表一覧"],
            news: &["記事一覧"],
            shop: &["商品一覧"],
            manual: &["目次"],
            sports: &["試合結果"],
            firm: &["製品案内"],
            diary: &["日記一覧"],
            review: &["論評一覧"],
            town: &["町の統計"],
        },
    },
    things: &[
        "川",
        "会議",
        "冬",
        "橋",
        "楽団",
        "台所",
        "旅",
        "博物館",
        "港",
        "庭",
        "先生",
        "村",
        "窓",
        "鉄道",
    ],
    places: &[
        "青葉市",
        "桜川村",
        "若草市",
        "朝日町",
        "県内",
        "東京都",
        "北海道",
        "白浜町",
        "秋田県",
        "高原村",
    ],
    titles: Said {
        statistics: &[
            "{r}統計課",
            "{r}オープンデータ",
            "{r}統計情報センター",
            "数字で見る{r}",
        ],
        news: &["{r}新聞", "{r}タイムス", "{r}ニュース"],
        shop: &["{r}の店", "{r}生活雑貨", "{o}の店"],
        manual: &["{o}プログラム説明書", "{o}ツール取扱説明"],
        sports: &["{r}サッカーリーグ", "{r}陸上クラブ"],
        firm: &["株式会社{r}製作所", "{r}工業"],
        diary: &["{o}のそばで", "わたしと{o}", "{r}日記"],
        review: &["{r}経済論評", "数字と意見", "{r}アナリスト"],
        town: &["{r}役所", "{r}公式ホームページ", "ようこそ{r}へ"],
    },
    sentences: Said {
        statistics: &[
            "{y}年以降の{r}の{m}を表に示す。直近の値は速報値である。",
            "{y}年の調査によると、総数は{n}で、前年比{p}％の増加となった。",
            "本調査は{n}世帯を対象とした標本調査であり、{y}年国勢調査に基づき推計した。",
            "{m}の系列は、分類の改定に伴い{y}年にさかのぼって改訂した。",
            "統計表は、出典を明記すれば自由にダウンロードして利用できます。",
            "{r}における{m}は、季節調整済みで{y}年に比べ{p}％増加した。",
            "用語の定義と調査の方法は、利用上の注意をご覧ください。",
        ],
        news: &[
            "{r}議会は{o}に{n}万円を充てる方針で、昨年より{p}％多い。",
            "日曜日の{o}には約{n}人が集まったと警察が発表した。",
            "{r}付近の事故で、{o}が{n}分間通行止めになった。",
            "{y}年には同じ{o}に{n}万円かかっていたという。",
            "{g}メーカーの株価は{p}％下落し、{n}円で取引を終えた。",
            "{r}では金曜日まで雨が続き、山沿いで{n}ミリに達する見込み。",
        ],
        shop: &[
            "{g}がいまだけ{n}円、{p}％引きでお求めいただけます。",
            "正午までのご注文で、{g}を{r}から当日発送します。",
            "この{g}を買った{n}人のお客様の評価は{p}点です。",
            "重さ{n}グラム、高さ{n}ミリ、{n}個入り。",
            "{g}を見た人は{g}も購入しています。",
        ],
        manual: &[
            "この設定は0から{n}までの数値で、既定値は{n}です。",
            "版{p}から、コマンドは{o}を設定ファイルから読み込みます。",
            "バッファが{n}バイトを超えると、呼び出しはエラーを返します。",
            "{n}行の例は{o}の章を参照してください。",
            "この関数は{y}年に追加され、古い{o}の代わりに使います。",
        ],
        sports: &[
            "{r}は{n}人の観客の前で{r}に勝利した。",
            "{o}杯は{y}年以来初めて{r}が優勝。",
            "{p}分に同点とし、{r}のキーパーが二度防いだ。",
            "次の試合は土曜日、{o}競技場で行われます。",
        ],
        firm: &[
            "当社は{y}年から{r}で{g}を手作りしています。",
            "{n}社のお客様に{g}の品質をご評価いただいています。",
            "お見積りは一日以内にお答えします。",
            "{o}近くの工場では{n}人が働いています。",
        ],
        diary: &[
            "きょうは{o}まで歩いて、{y}年のことを思い出した。",
            "隣の人は{r}の{o}のほうがよいと言うが、信じない。",
            "二時間お茶を飲みながら{g}の話をした。",
            "この日記を書きはじめて{p}年になる。",
        ],
        review: &[
            "最新の調査では、{r}の{m}が{y}年に{p}％増えたというが、理由は分からない。",
            "本紙の論説委員は、{m}が{y}年までに下がるとは考えていない。",
            "公的統計では{n}とされるが、業界は{n}とみている。",
            "{m}に関する報告は{r}での会合で議論され、{n}人が参加した。",
            "{y}年の新しい指数は家計に何を意味するのか、読者から質問が届いた。",
            "{p}％の減少は予測より小さいと筆者は書く。",
        ],
        town: &[
            "役所の窓口は平日の正午まで開いています。必要書類をお持ちください。",
            "ごみの収集は火曜日です。{n}世帯が追加の容器を申し込みました。",
            "{o}の申し込みは三月に始まり、定員は{n}名です。",
            "町議会は学校近くの{o}に{n}万円の予算を認めました。",
            "婚姻届は市民課で受け付けています。",
            "落とし物は受付で{p}週間保管します。",
        ],
    },
    headlines: Said {
        statistics: &["{m}"],
        news: &["{r}、{o}めぐり議論", "新しい{o}に{n}万円", "{o}は当面閉鎖"],
        shop: &["{g}　{n}型", "{o}のための{g}"],
        manual: &["{o}の設定", "{o}コマンド", "{o}の制限"],
        sports: &["{r}対{r}", "第{p}節を終えて"],
        firm: &["{g}シリーズ{n}", "{g}の特注"],
        diary: &["{o}の一日", "また{o}へ", "{g}のこと"],
        review: &["{m}が語ること", "調査後の{r}", "論説　{m}と{o}"],
        town: &["{m}"],
    },
};

const fn topic(name: &'static str, unit: &'static str, measures: &'static [&'static str]) -> Topic {
    Topic {
        name,
        unit,
        measures,
    }
}

const fn breakdown(name: &'static str, values: &'static [&'static str]) -> Breakdown {
    Breakdown { name, values }
}
