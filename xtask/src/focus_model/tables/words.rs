//! What tables are about, in Japanese and English.

use super::super::chance::Chance;

pub(super) const PLACES: [&[&str]; 2] = [
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
pub(super) const TOPICS: [&[&str]; 2] = [
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
pub(super) const UNITS: [&[&str]; 2] = [
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
pub(super) const TOTALS: [&str; 2] = ["総数", "Total"];
pub(super) const NAMES: [&[&str]; 2] = [
    &[
        "佐藤", "鈴木", "高橋", "田中", "伊藤", "渡辺", "山本", "中村", "小林", "加藤",
    ],
    &[
        "Smith", "Jones", "Taylor", "Brown", "Wilson", "Evans", "Walker", "White", "Green", "Hall",
    ],
];
pub(super) const THINGS: [&[&str]; 2] = [
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
pub(super) fn language(chance: &mut Chance) -> usize {
    usize::from(chance.percent(50))
}
