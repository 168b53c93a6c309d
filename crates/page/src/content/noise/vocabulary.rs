//! The English words that the grammars of noise know, each found once, when its token is cut.
//!
//! A grammar asks whether a token is one of a list of words. The lists are few, and so are their words; so each word has a number
//! ([`WordId`]), found by one look into a table, and each number a set of the lists that have it ([`Lists`]). Most words of a text
//! are in no list, and cost no more than to see that.

use super::super::hash::EIGHT;

/// A word of the vocabulary by its number; [`WordId::OTHER`] is any other word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::content) struct WordId(u8);

/// Some of the lists below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::content) struct Lists(u64);

impl Lists {
    const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl WordId {
    /// A word that no list has.
    pub(in crate::content) const OTHER: Self = Self(0);

    /// Whether one of `lists` has the word.
    pub(in crate::content) fn is_in(self, lists: Lists) -> bool {
        ENTRIES[usize::from(self.0)].lists & lists.0 != 0
    }

    /// The number of the word of `length` ASCII letters that `text` begins with; `start` is its first eight letters as [`word_start`] packs them.
    #[inline]
    pub(in crate::content) fn of(start: u64, length: usize, text: &[u8]) -> Self {
        let mut slot = slot_of(start);
        loop {
            let id = SLOTS[slot];
            if id == 0 {
                return Self::OTHER;
            }
            let entry = &ENTRIES[usize::from(id)];
            if entry.start == start && entry.word.len() == length {
                let has_rest = length <= EIGHT
                    || text
                        .get(..length)
                        .is_some_and(|word| word.eq_ignore_ascii_case(entry.word.as_bytes()));
                if has_rest {
                    return Self(id);
                }
            }
            slot = (slot + 1) % SLOT_COUNT;
        }
    }
}

/// The first letters of a word in lower case, the first one lowest.
const fn word_start(word: &[u8]) -> u64 {
    let mut start = 0;
    let mut index = 0;
    while index < word.len() && index < EIGHT {
        start |= (word[index].to_ascii_lowercase() as u64) << (8 * index);
        index += 1;
    }
    start
}

/// Where the search for a word begins.
const fn slot_of(start: u64) -> usize {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the number of a slot is small"
    )]
    let slot = (start.wrapping_mul(MULTIPLIER) >> (u64::BITS - SLOT_COUNT.ilog2())) as usize;
    slot
}

/// Some eight for each word, so that most other words find theirs empty.
const SLOT_COUNT: usize = 2048;

#[derive(Clone, Copy)]
struct Entry {
    word: &'static str,
    start: u64,
    lists: u64,
}

/// The words of all lists, each once; the first is none.
static ENTRIES: [Entry; 256] = VOCABULARY.0;
/// For each slot the number of a word, or 0; words that want the same one stand in the next.
static SLOTS: [u8; SLOT_COUNT] = VOCABULARY.1;

const VOCABULARY: ([Entry; 256], [u8; SLOT_COUNT]) = {
    let none = Entry {
        word: "",
        start: 0,
        lists: 0,
    };
    let mut entries = [none; 256];
    let mut slots = [0; SLOT_COUNT];
    let mut count: u8 = 0;
    let mut list = 0;
    while list < LISTS.len() {
        let mut index = 0;
        while index < LISTS[list].len() {
            let word = LISTS[list][index];
            let start = word_start(word.as_bytes());
            let mut slot = slot_of(start);
            loop {
                let id = slots[slot];
                if id == 0 {
                    // More than 255 words do not compile.
                    count += 1;
                    slots[slot] = count;
                    entries[count as usize] = Entry {
                        word,
                        start,
                        lists: 1 << list,
                    };
                    break;
                }
                if is_same(entries[id as usize].word, word) {
                    entries[id as usize].lists |= 1 << list;
                    break;
                }
                slot = (slot + 1) % SLOT_COUNT;
            }
            index += 1;
        }
        list += 1;
    }
    (entries, slots)
};

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// Declares lists of words in lower case, and the constants that name them.
macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident: $words:expr;)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "named as the constants")]
        enum Number { $($name),* }

        const LISTS: [&[&str]; [$(Number::$name),*].len()] = [$(&$words),*];

        $($(#[$doc])* pub(super) const $name: Lists = Lists(1 << Number::$name as u32);)*
    };
}

lists! {
    /// Names of time zones.
    ZONES: [
        "z", "utc", "gmt", "jst", "est", "edt", "cst", "cdt", "mst", "mdt", "pst", "pdt", "et", "pt", "bst", "cet", "cest", "eet",
        "eest", "ist", "kst", "msk",
    ];
    /// Names of months.
    MONTHS: [
        "jan", "january", "feb", "february", "mar", "march", "apr", "april", "may", "jun", "june", "jul", "july", "aug", "august",
        "sep", "sept", "september", "oct", "october", "nov", "november", "dec", "december",
    ];
    /// What makes a number the number of a day.
    ORDINALS: ["st", "nd", "rd", "th"];
    /// Names of days.
    WEEKDAYS: [
        "mon", "monday", "tue", "tues", "tuesday", "wed", "wednesday", "thu", "thur", "thurs", "thursday", "fri", "friday", "sat",
        "saturday", "sun", "sunday",
    ];
    /// Days that a time may follow.
    NEAR_DAYS: ["today", "yesterday", "tomorrow"];
    /// What may stand before how long ago it was.
    ABOUT: ["about", "over", "almost"];
    /// One of a unit.
    ONE: ["a", "an", "one"];
    /// Halves of a day.
    HALVES: ["am", "pm"];
    /// Halves of a day, where points follow.
    HALF_LETTERS: ["a", "p"];
    /// The end of a half of a day, where points stand.
    HALF_END: ["m"];
    /// Units of time.
    UNITS: [
        "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes", "h", "hr", "hrs", "hour", "hours", "d",
        "day", "days", "w", "week", "weeks", "mo", "month", "months", "moment", "y", "yr", "yrs", "year", "years",
    ];
    /// Units of the time that it took to make a page.
    SHORT_UNITS: ["s", "sec", "secs", "second", "seconds", "ms", "msec", "milliseconds"];
    /// How few units.
    FEW: ["few", "couple"];
    /// Joins a time to a date.
    T: ["t"];
    /// Joins a time to a day.
    AT: ["at"];
    /// Joins a date to a weekday.
    AT_OR_THE: ["at", "the"];
    /// Joins a month to a day, a unit to a number.
    OF: ["of"];
    /// Joins two units.
    AND: ["and"];
    /// Ends how long ago it was.
    AGO: ["ago"];
    /// Begins "just now".
    JUST: ["just"];
    /// Ends it.
    NOW: ["now"];
    /// How long ago it was, without a unit.
    MOMENTS: ["moments"];
    /// Which of what is counted.
    WHICH: ["page", "new", "total", "unique", "video", "sql", "db"];
    /// Readers that a page counts.
    READERS: ["user", "users", "people", "member", "members", "guest", "guests"];
    /// Which readers.
    WHICH_READERS: ["registered", "active"];
    /// That readers are there.
    ARE: ["are", "is", "currently", "now"];
    /// What readers do.
    PRESENT_READERS: ["online", "viewing", "watching", "reading"];
    /// How a page came to be.
    MADE: [
        "generated", "rendered", "created", "loaded", "executed", "served", "processed", "built", "completed", "took",
    ];
    /// Before how long that took.
    IN: ["in"];
    /// What many are counted in.
    THOUSANDS: ["k", "m", "b"];
    /// What a page counts of itself.
    COUNTED: [
        "view", "views", "pageview", "pageviews", "pv", "hit", "hits", "visit", "visits", "visitor", "visitors", "read", "reads",
        "comment", "comments", "reply", "replies", "response", "responses", "reaction", "reactions", "like", "likes", "dislikes",
        "favorites", "favourites", "vote", "votes", "upvote", "upvotes", "downvotes", "share", "shares", "retweet", "retweets",
        "reposts", "bookmarks", "follower", "followers", "subscriber", "subscribers", "download", "downloads", "play", "plays",
        "listeners", "queries",
    ];
    /// Between what is counted and its number.
    COUNT: ["number", "no", "count", "counter", "total"];
    /// None of what is counted.
    NO: ["no"];
    /// After none of it.
    YET: ["yet"];
    /// Before a year.
    COPYRIGHT: ["copyright"];
    /// The letter in brackets that means the same.
    C: ["c"];
    /// In the place of a last year.
    PRESENT: ["present"];
}

/// Words that noise may begin with.
pub(in crate::content) const STARTS: Lists = MONTHS
    .or(WEEKDAYS)
    .or(NEAR_DAYS)
    .or(ABOUT)
    .or(ONE)
    .or(JUST)
    .or(MOMENTS)
    .or(COUNTED)
    .or(MADE)
    .or(NO)
    .or(COPYRIGHT);

/// Words that may follow a number that noise begins with.
pub(super) const FOLLOWERS: Lists = MONTHS
    .or(ORDINALS)
    .or(HALVES)
    .or(HALF_LETTERS)
    .or(UNITS)
    .or(OF)
    .or(COUNTED)
    .or(WHICH)
    .or(READERS)
    .or(WHICH_READERS)
    .or(THOUSANDS);

#[cfg(test)]
impl WordId {
    pub(in crate::content) fn of_word(word: &str) -> WordId {
        WordId::of(word_start(word.as_bytes()), word.len(), word.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_in_its_lists_and_in_no_other() {
        for (number, list) in LISTS.iter().enumerate() {
            for word in *list {
                assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
                for spelt in [(*word).to_owned(), word.to_uppercase()] {
                    for (other, words) in LISTS.iter().enumerate() {
                        let is_there = WordId::of_word(&spelt).is_in(Lists(1 << other));
                        assert_eq!(is_there, words.contains(word), "{word} {number} {other}");
                    }
                }
            }
        }
    }

    #[test]
    fn other_words_are_in_no_list() {
        for word in [
            "",
            "crawler",
            "septembe",
            "septemberx",
            "subscribe",
            "subscribersx",
            "mays",
        ] {
            assert_eq!(WordId::of_word(word), WordId::OTHER, "{word}");
            assert!(!WordId::of_word(word).is_in(Lists(u64::MAX)));
        }
    }
}
