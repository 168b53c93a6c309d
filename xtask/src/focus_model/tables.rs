//! Data files with statistics, and data files that only look like it: generated, in Japanese and English.
//!
//! Each kind of table is a source of its own, so that a model is asked about kinds that it has not learned from. What is drawn depends on
//! the seed alone.

use std::fmt::Write as _;

/// A kind of table.
pub(super) struct Kind {
    /// What it is called.
    pub(super) name: &'static str,
    /// Whether it is statistics.
    pub(super) wanted: bool,
    write: fn(&mut Chance) -> String,
}

/// Every kind.
pub(super) const KINDS: [Kind; 32] = [
    kind("prefectures-by-year", true, prefectures_by_year),
    kind("long-form", true, long_form),
    kind("monthly-indicators", true, monthly_indicators),
    kind("age-and-sex", true, age_and_sex),
    kind("survey-shares", true, survey_shares),
    kind("accounts", true, accounts),
    kind("trade", true, trade),
    kind("weather", true, weather),
    kind("observations", true, observations),
    kind("quarterly-series", true, quarterly_series),
    kind("country-panel", true, country_panel),
    kind("rates-with-intervals", true, rates_with_intervals),
    kind("addresses", false, addresses),
    kind("facilities", false, facilities),
    kind("timetable", false, timetable),
    kind("log", false, log),
    kind("settings", false, settings),
    kind("codes", false, codes),
    kind("dictionary", false, dictionary),
    kind("prices", false, prices),
    kind("tickets", false, tickets),
    kind("translations", false, translations),
    kind("files", false, files),
    kind("calendar", false, calendar),
    kind("contracts", false, contracts),
    kind("ledger", false, ledger),
    kind("references", false, references),
    kind("glossary", false, glossary),
    kind("members", false, members),
    kind("shops", false, shops),
    kind("stations", false, stations),
    kind("fields", false, fields),
];

const fn kind(name: &'static str, wanted: bool, write: fn(&mut Chance) -> String) -> Kind {
    Kind {
        name,
        wanted,
        write,
    }
}

impl Kind {
    /// One table of this kind, as CSV. Some of what is no statistics is short: lists of three lines are all over the web.
    pub(super) fn table(&self, seed: u64) -> String {
        let mut chance = Chance(seed);
        let table = (self.write)(&mut chance);
        if self.wanted || chance.percent(55) {
            return table;
        }
        let lines = usize::try_from(chance.between(2, 6)).unwrap_or(2);
        table.split_inclusive('\n').take(lines).collect()
    }
}

/// Numbers that look drawn by lot (`SplitMix64`).
pub(super) struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick(&mut self, list: &[&'static str]) -> &'static str {
        let place = usize::try_from(self.below(list.len() as u64)).unwrap_or_default();
        list[place]
    }

    /// A quantity of any order of size, as people write it.
    fn quantity(&mut self, style: Style) -> String {
        let size = 10_u64.pow(u32::try_from(self.below(style.sizes)).unwrap_or_default() + 2);
        let number = self.below(size) + size / 20;
        match () {
            () if self.percent(style.marks) => self.pick(&["-", "…", "x", "***"]).to_owned(),
            () if style.decimals => format!("{}.{}", number / 10, number % 10),
            () if style.grouped => format!("\"{}\"", grouped(number)),
            () => number.to_string(),
        }
    }
}

/// How the numbers of one table are written.
#[derive(Clone, Copy)]
struct Style {
    sizes: u64,
    marks: u64,
    decimals: bool,
    grouped: bool,
}

impl Style {
    fn draw(chance: &mut Chance) -> Self {
        Self {
            sizes: chance.between(1, 5),
            marks: if chance.percent(30) { 6 } else { 0 },
            decimals: chance.percent(30),
            grouped: chance.percent(35),
        }
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.char_indices() {
        if 0 < index && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

const PLACES: [&[&str]; 2] = [
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
        "新潟県",
        "富山県",
    ],
    &[
        "North", "South", "East", "West", "Midlands", "Wales", "Scotland", "London", "Avon",
        "Kent", "Essex", "Devon", "Dorset", "Surrey", "Norfolk",
    ],
];
const TOPICS: [&[&str]; 2] = [
    &[
        "人口",
        "世帯数",
        "出生数",
        "死亡数",
        "事業所数",
        "従業者数",
        "製造品出荷額",
        "医師数",
        "病床数",
        "大学数",
        "交通事故件数",
        "観光客数",
        "ごみ排出量",
    ],
    &[
        "Population",
        "Households",
        "Births",
        "Deaths",
        "Employment",
        "Output",
        "Exports",
        "Physicians",
        "Hospital beds",
        "Students",
        "Accidents",
        "Visitors",
        "Waste",
    ],
];
const UNITS: [&[&str]; 2] = [
    &["人", "千人", "件", "百万円", "％", "トン", "世帯"],
    &[
        "persons",
        "thousands",
        "number",
        "million euros",
        "%",
        "tonnes",
        "households",
    ],
];
const TOTALS: [&str; 2] = ["総数", "Total"];
const NAMES: [&[&str]; 2] = [
    &[
        "佐藤", "鈴木", "高橋", "田中", "伊藤", "渡辺", "山本", "中村", "小林", "加藤",
    ],
    &[
        "Smith", "Jones", "Taylor", "Brown", "Wilson", "Evans", "Walker", "White", "Green", "Hall",
    ],
];
const THINGS: [&[&str]; 2] = [
    &[
        "図書館",
        "公民館",
        "小学校",
        "保育園",
        "体育館",
        "公園",
        "郵便局",
        "診療所",
        "市役所支所",
        "駐車場",
    ],
    &[
        "Library",
        "School",
        "Clinic",
        "Park",
        "Station",
        "Museum",
        "Nursery",
        "Gym",
        "Post office",
        "Car park",
    ],
];

/// The language of a table: an index into the lists above.
fn language(chance: &mut Chance) -> usize {
    usize::from(chance.percent(50))
}

fn years(chance: &mut Chance, language: usize) -> Vec<String> {
    let first = chance.between(1950, 2012);
    let count = chance.between(3, 11);
    let step = [1, 1, 5][usize::try_from(chance.below(3)).unwrap_or_default()];
    let form = chance.below(3);
    (0..count)
        .map(|index| {
            let year = first + index * step;
            match (language, form) {
                (0, 0) => format!("{year}年"),
                (0, 1) if (1989..2019).contains(&year) => format!("平成{}年", year - 1988),
                (1, 0) => format!("{year}/{:02}", (year + 1) % 100),
                _ => year.to_string(),
            }
        })
        .collect()
}

/// A title and a unit above the table, in some files.
fn above(text: &mut String, chance: &mut Chance, language: usize, topic: &str) {
    if chance.percent(50) {
        return;
    }
    let unit = chance.pick(UNITS[language]);
    let number = chance.between(1, 80);
    if language == 0 {
        let _ = write!(text, "第{number}表 {topic}の推移\n（単位：{unit}）\n");
    } else {
        let _ = write!(text, "Table {number}. {topic} by region\nUnit: {unit}\n");
    }
}

fn below(text: &mut String, chance: &mut Chance, language: usize) {
    if chance.percent(40) {
        text.push_str(
            [
                "資料：統計調査\n注：概数である\n",
                "Source: survey\nNote: rounded\n",
            ][language],
        );
    }
}

fn prefectures_by_year(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = String::new();
    let topic = chance.pick(TOPICS[language]);
    above(&mut text, chance, language, topic);
    let years = years(chance, language);
    let _ = writeln!(
        text,
        "{},{}",
        ["都道府県", "Region"][language],
        years.join(",")
    );
    let style = Style::draw(chance);
    let total = chance.percent(60).then_some(TOTALS[language]);
    for place in total.iter().chain(PLACES[language]) {
        text.push_str(place);
        for _ in &years {
            let _ = write!(text, ",{}", chance.quantity(style));
        }
        text.push('\n');
    }
    below(&mut text, chance, language);
    text
}

fn long_form(chance: &mut Chance) -> String {
    let language = language(chance);
    let unit = chance.pick(UNITS[language]);
    let has_unit = chance.percent(50);
    let mut text = ["年,地域,性別,分類", "Year,Area,Sex,Measure"][language].to_owned();
    text.push_str(if has_unit {
        [",単位,値\n", ",Units,Value\n"][language]
    } else {
        [",値\n", ",Value\n"][language]
    });
    let style = Style::draw(chance);
    let topic = chance.pick(TOPICS[language]);
    for year in years(chance, language) {
        for place in PLACES[language].iter().take(6) {
            for sex in [["男", "女"], ["Male", "Female"]][language] {
                let _ = write!(text, "{year},{place},{sex},{topic},");
                if has_unit {
                    let _ = write!(text, "{unit},");
                }
                let _ = writeln!(text, "{}", chance.quantity(style));
            }
        }
    }
    text
}

fn monthly_indicators(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = ["年月", "Month"][language].to_owned();
    let count = chance.between(2, 6);
    for _ in 0..count {
        let _ = write!(text, ",{}", chance.pick(TOPICS[language]));
    }
    text.push('\n');
    let style = Style::draw(chance);
    let first = chance.between(1990, 2015);
    for month in 0..chance.between(24, 120) {
        let (year, month) = (first + month / 12, month % 12 + 1);
        let _ = write!(text, "{year}-{month:02}");
        for _ in 0..count {
            let _ = write!(text, ",{}", chance.quantity(style));
        }
        text.push('\n');
    }
    text
}

fn age_and_sex(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = String::new();
    let topic = chance.pick(TOPICS[language]);
    above(&mut text, chance, language, topic);
    text.push_str(["年齢,総数,男,女\n", "Age,Total,Male,Female\n"][language]);
    let style = Style::draw(chance);
    let _ = writeln!(
        text,
        "{},{},{},{}",
        TOTALS[language],
        chance.quantity(style),
        chance.quantity(style),
        chance.quantity(style)
    );
    for age in (0..95).step_by(5) {
        let label = if language == 0 {
            format!("{age}～{}歳", age + 4)
        } else {
            format!("{age} to {}", age + 4)
        };
        let _ = writeln!(
            text,
            "{label},{},{},{}",
            chance.quantity(style),
            chance.quantity(style),
            chance.quantity(style)
        );
    }
    below(&mut text, chance, language);
    text
}

fn survey_shares(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "回答,全体,18～29歳,30～59歳,60歳以上\n",
        "Answer,All,18-29,30-59,60 or over\n",
    ][language]
        .to_owned();
    let answers: [&[&str]; 2] = [
        &[
            "満足",
            "やや満足",
            "どちらともいえない",
            "やや不満",
            "不満",
            "無回答",
        ],
        &[
            "Very satisfied",
            "Satisfied",
            "Neither",
            "Dissatisfied",
            "Very dissatisfied",
            "No answer",
        ],
    ];
    let sign = if chance.percent(50) { "%" } else { "" };
    for answer in answers[language] {
        text.push_str(answer);
        for _ in 0..4 {
            let _ = write!(text, ",{}.{}{sign}", chance.below(60), chance.below(10));
        }
        text.push('\n');
    }
    below(&mut text, chance, language);
    text
}

fn accounts(chance: &mut Chance) -> String {
    let language = language(chance);
    let items: [&[&str]; 2] = [
        &[
            "地方税",
            "地方交付税",
            "国庫支出金",
            "都道府県支出金",
            "地方債",
            "人件費",
            "扶助費",
            "公債費",
            "普通建設事業費",
        ],
        &[
            "Taxes",
            "Grants",
            "Borrowing",
            "Wages",
            "Benefits",
            "Interest",
            "Investment",
            "Transfers",
        ],
    ];
    let mut text = String::new();
    let years = years(chance, language);
    let _ = writeln!(
        text,
        "{},{}",
        ["区分（千円）", "Item (million euros)"][language],
        years.join(",")
    );
    let style = Style {
        sizes: 6,
        grouped: chance.percent(60),
        ..Style::draw(chance)
    };
    for item in items[language].iter().chain([&["合計", "Total"][language]]) {
        text.push_str(item);
        for _ in &years {
            let _ = write!(text, ",{}", chance.quantity(style));
        }
        text.push('\n');
    }
    below(&mut text, chance, language);
    text
}

fn trade(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "品目,相手国,輸出額,輸入額,前年比（％）\n",
        "Commodity,Partner,Exports,Imports,Change (%)\n",
    ][language]
        .to_owned();
    let style = Style::draw(chance);
    for _ in 0..chance.between(15, 60) {
        let _ = writeln!(
            text,
            "{},{},{},{},{}{}.{}",
            chance.pick(TOPICS[language]),
            chance.pick(PLACES[language]),
            chance.quantity(style),
            chance.quantity(style),
            chance.pick(&["", "-", "△"]),
            chance.below(40),
            chance.below(10)
        );
    }
    text
}

fn weather(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "年月日,平均気温(℃),降水量(mm),日照時間\n",
        "date,temperature (°C),rain (mm),sunshine hours\n",
    ][language]
        .to_owned();
    let year = chance.between(1980, 2023);
    for day in 0..chance.between(30, 200) {
        let _ = writeln!(
            text,
            "{year}/{}/{},{}.{},{}.{},{}.{}",
            day / 28 % 12 + 1,
            day % 28 + 1,
            chance.below(30),
            chance.below(10),
            chance.below(40),
            chance.below(10),
            chance.below(13),
            chance.below(10)
        );
    }
    text
}

fn addresses(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "氏名,郵便番号,住所,電話番号,メール\n",
        "Name,Postcode,Address,Phone,E-mail\n",
    ][language]
        .to_owned();
    for _ in 0..chance.between(8, 80) {
        let (name, place) = (chance.pick(NAMES[language]), chance.pick(PLACES[language]));
        let _ = writeln!(
            text,
            "{name},{:03}-{:04},{place}{}-{}-{},0{}-{:04}-{:04},u{}@example.org",
            chance.below(1000),
            chance.below(10_000),
            chance.between(1, 9),
            chance.between(1, 30),
            chance.between(1, 20),
            chance.between(3, 99),
            chance.below(10_000),
            chance.below(10_000),
            chance.below(1000)
        );
    }
    text
}

fn facilities(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "番号,名称,所在地,緯度,経度,定員,開館時間,URL\n",
        "No,Name,Location,Latitude,Longitude,Capacity,Hours,Website\n",
    ][language]
        .to_owned();
    for number in 1..chance.between(10, 90) {
        let _ = writeln!(
            text,
            "{number},{}{},{},35.{:06},139.{:06},{},9:00-{}:00,https://www.example.org/{number}",
            chance.pick(PLACES[language]),
            chance.pick(THINGS[language]),
            chance.pick(PLACES[language]),
            chance.below(1_000_000),
            chance.below(1_000_000),
            chance.between(10, 400),
            chance.between(16, 21)
        );
    }
    text
}

fn timetable(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = ["停留所", "Stop"][language].to_owned();
    let count = chance.between(3, 12);
    for run in 0..count {
        let _ = write!(text, ",{}{}", ["第", "Run "][language], run + 1);
    }
    text.push('\n');
    for stop in 0..chance.between(6, 30) {
        text.push_str(chance.pick(THINGS[language]));
        for run in 0..count {
            let minute = 360 + run * 45 + stop * 3;
            let _ = write!(text, ",{}:{:02}", minute / 60, minute % 60);
        }
        text.push('\n');
    }
    text
}

fn log(chance: &mut Chance) -> String {
    let mut text = String::from(if chance.percent(50) {
        "timestamp,ip,method,path,status,bytes,agent\n"
    } else {
        ""
    });
    for line in 0..chance.between(20, 300) {
        let _ = writeln!(
            text,
            "2024-05-{:02}T{:02}:{:02}:{:02}Z,10.0.{}.{},GET,/page/{},{},{},Mozilla/5.0",
            line % 28 + 1,
            line % 24,
            chance.below(60),
            chance.below(60),
            chance.below(256),
            chance.below(256),
            chance.below(10_000),
            chance.pick(&["200", "304", "404", "500"]),
            chance.below(100_000)
        );
    }
    text
}

fn settings(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "項目,既定値,型,説明\n",
        "setting,default,type,description\n",
    ][language]
        .to_owned();
    for _ in 0..chance.between(10, 60) {
        let _ = writeln!(
            text,
            "{}_{}_{},{},{},{}",
            chance.pick(&["max", "min", "log", "cache", "net"]),
            chance.pick(&["size", "level", "time", "path"]),
            chance.below(100),
            chance.pick(&["0", "1", "true", "1024", "auto", "/var/tmp", "10s"]),
            chance.pick(&["int", "bool", "string", "duration"]),
            [
                "この値を変更すると動作が変わります",
                "Changes what the program does when it starts and has to be set with care by the user"
            ][language]
        );
    }
    text
}

fn codes(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = ["コード,名称,フリガナ\n", "code,name,parent\n"][language].to_owned();
    let width = usize::try_from(chance.between(2, 6)).unwrap_or(4);
    for number in 1..chance.between(10, 300) {
        let code = number * 3 + 10_u64.pow(u32::try_from(width).unwrap_or(4) - 1) * chance.below(2);
        let _ = writeln!(
            text,
            "{code:0width$},{}{},{}",
            chance.pick(PLACES[language]),
            chance.pick(THINGS[language]),
            chance.pick(NAMES[language])
        );
    }
    text
}

fn dictionary(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = String::new();
    for _ in 0..chance.between(50, 400) {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},*",
            chance.pick(THINGS[language]),
            chance.between(1000, 1400),
            chance.between(1000, 1400),
            chance.between(2000, 9000),
            ["名詞", "noun"][language],
            chance.pick(NAMES[language])
        );
    }
    text
}

fn prices(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "商品番号,商品名,価格（税込）,在庫,発売日\n",
        "sku,product,price,stock,released\n",
    ][language]
        .to_owned();
    for _ in 0..chance.between(10, 120) {
        let _ = writeln!(
            text,
            "{}{:05},{} {},{}{},{},{}-{:02}-{:02}",
            chance.pick(&["A", "B", "XK"]),
            chance.below(100_000),
            chance.pick(THINGS[language]),
            chance.below(900),
            ["¥", "$"][language],
            chance.between(100, 9000),
            chance.below(50),
            chance.between(2015, 2024),
            chance.between(1, 12),
            chance.between(1, 28)
        );
    }
    text
}

fn tickets(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "番号,状態,件名,担当,更新日\n",
        "id,status,subject,assignee,updated\n",
    ][language]
        .to_owned();
    for number in 0..chance.between(15, 150) {
        let _ = writeln!(
            text,
            "{},{},{},{},2023-{:02}-{:02}",
            4000 + number,
            chance.pick(&["open", "closed", "new", "wontfix"]),
            [
                "画面が表示されない場合がある件について",
                "The page is not shown when the user comes back from the form"
            ][language],
            chance.pick(NAMES[language]),
            chance.between(1, 12),
            chance.between(1, 28)
        );
    }
    text
}

fn translations(chance: &mut Chance) -> String {
    let mut text = String::from("key,en,ja\n");
    for number in 0..chance.between(20, 200) {
        let _ = writeln!(
            text,
            "{}.{}.{number},{} {},{}の{}",
            chance.pick(&["menu", "error", "help"]),
            chance.pick(&["title", "text"]),
            chance.pick(NAMES[1]),
            chance.pick(THINGS[1]),
            chance.pick(NAMES[0]),
            chance.pick(THINGS[0])
        );
    }
    text
}

fn files(chance: &mut Chance) -> String {
    let mut text = String::from(if chance.percent(50) {
        "path,size,sha256,modified\n"
    } else {
        ""
    });
    for number in 0..chance.between(20, 200) {
        let _ = writeln!(
            text,
            "/srv/data/{}/{number}.{},{},{:016x}{:016x},2022-{:02}-11",
            chance.below(40),
            chance.pick(&["jpg", "txt", "bin"]),
            chance.below(10_000_000),
            chance.next(),
            chance.next(),
            chance.between(1, 12)
        );
    }
    text
}

fn calendar(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "日付,時間,行事,場所,備考\n",
        "date,time,event,place,remarks\n",
    ][language]
        .to_owned();
    for _ in 0..chance.between(10, 80) {
        let _ = writeln!(
            text,
            "2024/{}/{},{}:{:02},{},{},",
            chance.between(1, 12),
            chance.between(1, 28),
            chance.between(8, 20),
            chance.below(2) * 30,
            ["説明会・相談会", "Meeting of the committee"][language],
            chance.pick(THINGS[language])
        );
    }
    text
}

fn contracts(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "契約日,件名,相手方,住所,契約金額（円）,契約方法\n",
        "date,contract,supplier,address,amount,procedure\n",
    ][language]
        .to_owned();
    for _ in 0..chance.between(8, 60) {
        let _ = writeln!(
            text,
            "2023-{:02}-{:02},{}{},{},{},\"{}\",{}",
            chance.between(1, 12),
            chance.between(1, 28),
            chance.pick(THINGS[language]),
            ["改修工事", " repair"][language],
            chance.pick(NAMES[language]),
            chance.pick(PLACES[language]),
            grouped(chance.between(100_000, 90_000_000)),
            ["一般競争入札", "open"][language]
        );
    }
    text
}

fn ledger(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "日付,摘要,入金,出金,残高\n",
        "date,description,credit,debit,balance\n",
    ][language]
        .to_owned();
    let mut balance = 100_000;
    for _ in 0..chance.between(15, 120) {
        let amount = chance.between(100, 9000);
        balance += amount;
        let _ = writeln!(
            text,
            "2024-{:02}-{:02},{},{amount},,{balance}",
            chance.between(1, 12),
            chance.between(1, 28),
            chance.pick(NAMES[language])
        );
    }
    text
}

fn observations(chance: &mut Chance) -> String {
    let mut text =
        String::from("FREQ,REF_AREA,INDICATOR,TIME_PERIOD,OBS_VALUE,UNIT_MEASURE,OBS_STATUS\n");
    let style = Style::draw(chance);
    let unit = chance.pick(&["PC", "PS", "EUR_MN", "IX"]);
    for year in years(chance, 1) {
        for area in ["FR", "IT", "DE", "ES", "JP", "US"] {
            let status = chance.pick(&["A", "A", "A", "E", "P"]);
            let _ = writeln!(
                text,
                "A,{area},{},{year},{},{unit},{status}",
                chance.pick(&["POP", "EMP", "GDP"]),
                chance.quantity(style)
            );
        }
    }
    text
}

fn quarterly_series(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "時点,項目,値,単位,注記\n",
        "Period,Series title,Value,Unit,Status\n",
    ][language]
        .to_owned();
    let (topic, unit) = (chance.pick(TOPICS[language]), chance.pick(UNITS[language]));
    let first = chance.between(1985, 2015);
    let style = Style::draw(chance);
    for quarter in 0..chance.between(3, 60) {
        let _ = writeln!(
            text,
            "{} Q{},{topic},{},{unit},{}",
            first + quarter / 4,
            quarter % 4 + 1,
            chance.quantity(style),
            chance.pick(&["", "", "R", "P"])
        );
    }
    text
}

fn country_panel(chance: &mut Chance) -> String {
    let mut text = String::from("country,iso3,year");
    let count = chance.between(2, 6);
    for _ in 0..count {
        let _ = write!(
            text,
            ",{}",
            chance.pick(&[
                "gdp_per_capita",
                "population",
                "life_expectancy",
                "literacy",
                "co2",
                "urban_share",
                "inflation"
            ])
        );
    }
    text.push('\n');
    let years = years(chance, 1);
    let style = Style::draw(chance);
    for (country, code) in [
        ("France", "FRA"),
        ("Japan", "JPN"),
        ("Kenya", "KEN"),
        ("Peru", "PER"),
        ("India", "IND"),
    ] {
        for year in &years {
            let _ = write!(text, "{country},{code},{year}");
            for _ in 0..count {
                let _ = write!(text, ",{}", chance.quantity(style));
            }
            text.push('\n');
        }
    }
    text
}

fn rates_with_intervals(chance: &mut Chance) -> String {
    let mut text = String::from(
        "Area Code,Area Name,Indicator,Age,Sex,Time period,Value,Lower 95% limit,Upper 95% limit,Count,Denominator\n",
    );
    let topic = chance.pick(TOPICS[1]);
    let year = chance.between(2001, 2022);
    for (number, place) in PLACES[1].iter().enumerate() {
        let value = chance.between(5, 80);
        let _ = writeln!(
            text,
            "E06{number:06},{place},{topic},All ages,{},{year},{value}.{},{}.1,{}.7,{},{}",
            chance.pick(&["Male", "Female", "Persons"]),
            chance.below(10),
            value - 2,
            value + 2,
            chance.between(20, 900),
            chance.between(1000, 90_000)
        );
    }
    text
}

fn references(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = ["指標", "Reference"][language].to_owned();
    let has_count = chance.percent(50);
    text.push_str(if has_count { ",uses\n" } else { "\n" });
    for _ in 0..chance.between(1, 40) {
        let _ = write!(
            text,
            "#{}-{}-{}",
            chance.between(1, 17),
            chance.between(1, 9),
            chance.pick(&["1", "2", "a", "b"])
        );
        if has_count {
            let _ = write!(text, ",{}", chance.between(1, 9));
        }
        text.push('\n');
    }
    text
}

fn glossary(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = ["用語,定義\n", "Term,Definition\n"][language].to_owned();
    for _ in 0..chance.between(3, 50) {
        let _ = writeln!(
            text,
            "{},{}",
            chance.pick(TOPICS[language]),
            [
                "調査日現在において当該地域に居住している者の数をいう。",
                "What is counted on the day of the survey by those who live in the area at that time."
            ][language]
        );
    }
    text
}

fn members(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = ["氏名,役職,任期,選挙区\n", "Name,Role,Since,Party\n"][language].to_owned();
    for _ in 0..chance.between(3, 60) {
        let _ = writeln!(
            text,
            "{},{},{},{}",
            chance.pick(NAMES[language]),
            chance.pick(&["chair", "member", "委員", "secretary"]),
            chance.between(1995, 2023),
            chance.pick(PLACES[language])
        );
    }
    text
}

fn shops(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "店名,座席数,緯度,経度,定休日\n",
        "shop,seats,lat,lon,closed\n",
    ][language]
        .to_owned();
    for _ in 0..chance.between(4, 100) {
        let _ = writeln!(
            text,
            "{}{},{},{}.{:05},{}.{:05},{}",
            chance.pick(PLACES[language]),
            chance.pick(THINGS[language]),
            chance.between(4, 90),
            chance.between(30, 45),
            chance.below(100_000),
            chance.between(120, 145),
            chance.below(100_000),
            chance.pick(&["Mon", "月", "Sun"])
        );
    }
    text
}

fn stations(chance: &mut Chance) -> String {
    let mut text = String::from("id,code,name,elevation,latitude,longitude,timezone\n");
    for number in 1..chance.between(5, 150) {
        let _ = writeln!(
            text,
            "{number},{}{:02},{} {},{},{}.{:04},-{}.{:04},Etc/UTC",
            chance.pick(&["LF", "RJ", "K"]),
            chance.below(100),
            chance.pick(PLACES[1]),
            chance.pick(THINGS[1]),
            chance.below(3000),
            chance.below(90),
            chance.below(10_000),
            chance.below(180),
            chance.below(10_000)
        );
    }
    text
}

fn fields(chance: &mut Chance) -> String {
    let language = language(chance);
    let mut text = [
        "項目名,型,桁数,必須,備考\n",
        "field,type,length,required,notes\n",
    ][language]
        .to_owned();
    for _ in 0..chance.between(4, 50) {
        let _ = writeln!(
            text,
            "{},{},{},{},",
            chance.pick(TOPICS[language]),
            chance.pick(&["char", "number", "date"]),
            chance.between(1, 64),
            chance.pick(&["yes", "no", "○"])
        );
    }
    text
}
