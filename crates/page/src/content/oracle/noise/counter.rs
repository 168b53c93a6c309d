//! Counters: how often a page was seen, liked or answered, how long it took to make, and until when it is copyrighted.
//!
//! The number may stand before what it counts (`1,234 views`, 12件のコメント) or after it (`Views: 1,234`, 閲覧数 1234).

use super::super::token::TokenKind;
use super::cursor::Cursor;

/// Which of what is counted.
const WHICH: [&str; 7] = ["page", "new", "total", "unique", "video", "sql", "db"];
/// Readers that a page counts.
const READERS: [&str; 7] = [
    "user", "users", "people", "member", "members", "guest", "guests",
];
/// How a page came to be.
const MADE: [&str; 10] = [
    "generated",
    "rendered",
    "created",
    "loaded",
    "executed",
    "served",
    "processed",
    "built",
    "completed",
    "took",
];
/// Which readers.
const WHICH_READERS: [&str; 2] = ["registered", "active"];
/// What many are counted in.
const THOUSANDS: [&str; 3] = ["k", "m", "b"];
/// What a page counts of itself.
const COUNTED: [&str; 47] = [
    "view",
    "views",
    "pageview",
    "pageviews",
    "pv",
    "hit",
    "hits",
    "visit",
    "visits",
    "visitor",
    "visitors",
    "read",
    "reads",
    "comment",
    "comments",
    "reply",
    "replies",
    "response",
    "responses",
    "reaction",
    "reactions",
    "like",
    "likes",
    "dislikes",
    "favorites",
    "favourites",
    "vote",
    "votes",
    "upvote",
    "upvotes",
    "downvotes",
    "share",
    "shares",
    "retweet",
    "retweets",
    "reposts",
    "bookmarks",
    "follower",
    "followers",
    "subscriber",
    "subscribers",
    "download",
    "downloads",
    "play",
    "plays",
    "listeners",
    "queries",
];

/// Words that a counter may begin with.
pub(super) const STARTS: [&[&str]; 3] = [&COUNTED, &MADE, &["no", "copyright"]];
/// Words that may follow a counter's number.
pub(super) const FOLLOWERS: [&[&str]; 5] = [&COUNTED, &WHICH, &READERS, &WHICH_READERS, &THOUSANDS];

/// Takes a counter, if one is next.
pub(super) fn skip(cursor: &mut Cursor<'_>) -> bool {
    match cursor.kind() {
        Some(TokenKind::Number) => cursor.accept(|cursor| {
            quantity(cursor)?;
            match cursor.kind()? {
                TokenKind::Word => {
                    (cursor.accept(counted) || cursor.accept(counted_present)).then_some(())
                }
                TokenKind::Character => japanese_counted(cursor),
                TokenKind::Number
                | TokenKind::Sign
                | TokenKind::Mark
                | TokenKind::Secret
                | TokenKind::Noise => None,
            }
        }),
        Some(TokenKind::Word) => {
            cursor.accept(count_after_label)
                || cursor.accept(none_counted)
                || cursor.accept(time_to_make)
                || cursor.accept(copyright)
                || cursor.accept(japanese_count_after_label)
        }
        Some(TokenKind::Character) => cursor.accept(japanese_count_after_label),
        Some(TokenKind::Mark) => {
            matches!(cursor.character(), Some('©' | '(')) && cursor.accept(copyright)
        }
        Some(TokenKind::Sign | TokenKind::Secret | TokenKind::Noise) | None => false,
    }
}

/// Takes 12, 1,234 or 1.2K.
fn quantity(cursor: &mut Cursor<'_>) -> Option<()> {
    /// More groups of digits count nothing.
    const GROUPS_MAX: usize = 5;
    cursor.number()?;
    for _ in 0..GROUPS_MAX {
        let has_more = cursor.accept(|cursor| {
            cursor.tight_mark(&[',', '.'])?;
            cursor.tight_number().map(|_| ())
        });
        if !has_more {
            break;
        }
    }
    let _ = cursor.tight_word(&THOUSANDS) || cursor.literal_of(&["万", "千", "億"]);
    cursor.tight_mark(&['+']);
    Some(())
}

/// … views, … new comments, after the number.
fn counted(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.word(&WHICH);
    cursor.word(&COUNTED).then_some(())
}

/// … users online.
fn counted_present(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.word(&WHICH_READERS);
    cursor.word(&READERS).then_some(())?;
    cursor.word(&["are", "is", "currently", "now"]);
    cursor
        .word(&["online", "viewing", "watching", "reading"])
        .then_some(())
}

/// No comments.
fn none_counted(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.word(&["no"]).then_some(())?;
    cursor.word(&COUNTED).then_some(())?;
    cursor.word(&["yet"]);
    Some(())
}

/// Views: 1,234; Comments (12); visitor no. 12345.
fn count_after_label(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.word(&COUNTED).then_some(())?;
    cursor.word(&["number", "no", "count", "counter", "total"]);
    cursor.mark(&['.', ':', '(', '[', '#', '=']);
    cursor.mark(&['#']);
    quantity(cursor)?;
    cursor.mark(&[')', ']']);
    Some(())
}

/// Generated in 0.123 seconds.
fn time_to_make(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.word(&MADE).then_some(())?;
    cursor.word(&["in"]);
    quantity(cursor)?;
    cursor
        .word(&[
            "s",
            "sec",
            "secs",
            "second",
            "seconds",
            "ms",
            "msec",
            "milliseconds",
        ])
        .then_some(())
}

/// © 2026, Copyright (c) 1998–2026.
fn copyright(cursor: &mut Cursor<'_>) -> Option<()> {
    let is_word = cursor.word(&["copyright"]);
    let is_sign = cursor.mark(&['©']).is_some()
        || cursor.accept(|cursor| {
            cursor.mark(&['('])?;
            cursor.tight_word(&["c"]).then_some(())?;
            cursor.tight_mark(&[')']).map(|_| ())
        });
    (is_word || is_sign).then_some(())?;
    cursor.number().filter(|year| year.is_year())?;
    cursor.accept(|cursor| {
        cursor.mark(&['-', '–', '—', ',', '~', '〜'])?;
        if cursor.word(&["present"]) {
            return Some(());
        }
        let last = cursor.number()?;
        (last.is_year() || last.digits == 2).then_some(())
    });
    Some(())
}

/// …回視聴, …件のコメント.
fn japanese_counted(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor
        .literal_of(&[
            "回視聴",
            "回閲覧",
            "回再生",
            "回表示",
            "回アクセス",
            "回の視聴",
            "回の閲覧",
            "回の再生",
            "件のコメント",
            "件の返信",
            "件のレビュー",
            "人が閲覧",
            "人が視聴",
            "人が訪問",
            "人がいいね",
            "人のフォロワー",
            "フォロワー",
            "いいね",
            "ビュー",
            "閲覧",
            "アクセス",
            "コメント",
            "再生",
            "次阅读",
            "次浏览",
            "人浏览",
            "条评论",
        ])
        .then_some(())
}

/// 閲覧数: 1,234回, コメント(12), 本日:12.
fn japanese_count_after_label(cursor: &mut Cursor<'_>) -> Option<()> {
    let first = cursor.character()?;
    if !"コ閲ア視再表訪来ビいフPカ累本昨今浏阅评".contains(first) {
        return None;
    }
    let is_label = cursor.literal_of(&[
        "コメント数",
        "コメント",
        "閲覧数",
        "閲覧回数",
        "アクセス数",
        "アクセスカウンター",
        "アクセス",
        "視聴回数",
        "視聴数",
        "再生回数",
        "再生数",
        "表示回数",
        "訪問者数",
        "来訪者数",
        "来場者数",
        "ビュー数",
        "いいね数",
        "いいね",
        "フォロワー数",
        "フォロワー",
        "カウンター",
        "PV数",
        "浏览量",
        "浏览",
        "阅读量",
        "阅读",
        "评论",
    ]);
    if is_label {
        cursor.mark(&['!']);
        cursor.mark(&[':', '(', '「', '[']);
    } else {
        cursor
            .literal_of(&["累計", "本日", "昨日", "今日", "合計"])
            .then_some(())?;
        cursor.mark(&[':'])?;
    }
    quantity(cursor)?;
    cursor.literal_of(&["回", "人", "件", "名", "次", "条", "PV"]);
    cursor.mark(&[')', '」', ']']);
    Some(())
}
