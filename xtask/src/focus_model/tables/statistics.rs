//! Tables of statistics.

use std::fmt::Write as _;

use super::super::chance::{Chance, grouped};
use super::words::{PLACES, TOPICS, TOTALS, UNITS, language};

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

    /// A quantity of any order of size, as people write it.
    fn quantity(self, chance: &mut Chance) -> String {
        let size = 10_u64.pow(u32::try_from(chance.below(self.sizes)).unwrap_or_default() + 2);
        let number = chance.below(size) + size / 20;
        match () {
            () if chance.percent(self.marks) => chance.pick(&["-", "…", "x", "***"]).to_owned(),
            () if self.decimals => format!("{}.{}", number / 10, number % 10),
            () if self.grouped => format!("\"{}\"", grouped(number)),
            () => number.to_string(),
        }
    }
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

pub(super) fn prefectures_by_year(chance: &mut Chance) -> String {
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
            let _ = write!(text, ",{}", style.quantity(chance));
        }
        text.push('\n');
    }
    below(&mut text, chance, language);
    text
}

pub(super) fn long_form(chance: &mut Chance) -> String {
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
                let _ = writeln!(text, "{}", style.quantity(chance));
            }
        }
    }
    text
}

pub(super) fn monthly_indicators(chance: &mut Chance) -> String {
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
            let _ = write!(text, ",{}", style.quantity(chance));
        }
        text.push('\n');
    }
    text
}

pub(super) fn age_and_sex(chance: &mut Chance) -> String {
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
        style.quantity(chance),
        style.quantity(chance),
        style.quantity(chance)
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
            style.quantity(chance),
            style.quantity(chance),
            style.quantity(chance)
        );
    }
    below(&mut text, chance, language);
    text
}

pub(super) fn survey_shares(chance: &mut Chance) -> String {
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

pub(super) fn accounts(chance: &mut Chance) -> String {
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
            let _ = write!(text, ",{}", style.quantity(chance));
        }
        text.push('\n');
    }
    below(&mut text, chance, language);
    text
}

pub(super) fn trade(chance: &mut Chance) -> String {
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
            style.quantity(chance),
            style.quantity(chance),
            chance.pick(&["", "-", "△"]),
            chance.below(40),
            chance.below(10)
        );
    }
    text
}

pub(super) fn weather(chance: &mut Chance) -> String {
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

pub(super) fn observations(chance: &mut Chance) -> String {
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
                style.quantity(chance)
            );
        }
    }
    text
}

pub(super) fn quarterly_series(chance: &mut Chance) -> String {
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
            style.quantity(chance),
            chance.pick(&["", "", "R", "P"])
        );
    }
    text
}

pub(super) fn country_panel(chance: &mut Chance) -> String {
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
                let _ = write!(text, ",{}", style.quantity(chance));
            }
            text.push('\n');
        }
    }
    text
}

pub(super) fn rates_with_intervals(chance: &mut Chance) -> String {
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
