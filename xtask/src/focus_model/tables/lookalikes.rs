//! Tables that are no statistics, and look like them.

use std::fmt::Write as _;

use super::super::chance::{Chance, grouped};
use super::words::{NAMES, PLACES, THINGS, TOPICS, language};

pub(super) fn addresses(chance: &mut Chance) -> String {
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

pub(super) fn facilities(chance: &mut Chance) -> String {
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

pub(super) fn timetable(chance: &mut Chance) -> String {
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

pub(super) fn log(chance: &mut Chance) -> String {
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

pub(super) fn settings(chance: &mut Chance) -> String {
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

pub(super) fn codes(chance: &mut Chance) -> String {
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

pub(super) fn dictionary(chance: &mut Chance) -> String {
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

pub(super) fn prices(chance: &mut Chance) -> String {
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

pub(super) fn tickets(chance: &mut Chance) -> String {
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

pub(super) fn translations(chance: &mut Chance) -> String {
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

pub(super) fn files(chance: &mut Chance) -> String {
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

pub(super) fn calendar(chance: &mut Chance) -> String {
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

pub(super) fn contracts(chance: &mut Chance) -> String {
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

pub(super) fn ledger(chance: &mut Chance) -> String {
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

pub(super) fn references(chance: &mut Chance) -> String {
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

pub(super) fn glossary(chance: &mut Chance) -> String {
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

pub(super) fn members(chance: &mut Chance) -> String {
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

pub(super) fn shops(chance: &mut Chance) -> String {
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

pub(super) fn stations(chance: &mut Chance) -> String {
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

pub(super) fn fields(chance: &mut Chance) -> String {
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
