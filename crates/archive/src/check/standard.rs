//! What the standard says of the head of a record: which fields it must have, may have and must not have, and what they hold.
//!
//! WARC 1.1 (ISO 28500:2017), clauses 4 to 8; for records of WARC 1.0, where that differs, what 1.0 says, under the number of the
//! clause of 1.1. What a clause demands ("shall") is a problem, what it recommends ("should") a warning.
//!
//! Departures: a target URI may hold what the URL Standard lets stand and RFC 3986 does not (`|` in a query): that is a warning, for
//! no crawler that asks for such a URL could write another one. Of the type of a `warcinfo` block clause 6.2 says "recommended" and
//! clause 8 "shall": the milder counts. Fields of extensions are not judged (clause 5.1), nor are types of extensions but for the
//! fields that all records have (clause 6.1).

use std::net::IpAddr;

use super::Finding;
use super::syntax::{
    DateForm, UriFault, is_date, is_labelled_digest, is_media_type, is_number, is_token, uri_fault,
};
use crate::record_head::RecordHead;

/// Characters of a value that a message shows.
const VALUE_SHOWN_MAX: usize = 200;

const WARCINFO: &str = "warcinfo";
const RESPONSE: &str = "response";
const RESOURCE: &str = "resource";
const REQUEST: &str = "request";
const METADATA: &str = "metadata";
const REVISIT: &str = "revisit";
const CONVERSION: &str = "conversion";
const CONTINUATION: &str = "continuation";

const TYPES: [&str; 8] = [
    WARCINFO,
    RESPONSE,
    RESOURCE,
    REQUEST,
    METADATA,
    REVISIT,
    CONVERSION,
    CONTINUATION,
];
const NONE: &[&str] = &[];
/// Types whose records have no payload, or come from nowhere.
const WITHOUT_PAYLOAD: &[&str] = &[WARCINFO, METADATA];
const NOT_CAPTURED: &[&str] = &[WARCINFO, CONVERSION, CONTINUATION];
const ALL_BUT_WARCINFO: &[&str] = &[
    RESPONSE,
    RESOURCE,
    REQUEST,
    METADATA,
    REVISIT,
    CONVERSION,
    CONTINUATION,
];
const ALL_BUT_REVISIT: &[&str] = &[
    WARCINFO,
    RESPONSE,
    RESOURCE,
    REQUEST,
    METADATA,
    CONVERSION,
    CONTINUATION,
];
const ALL_BUT_CONTINUATION: &[&str] = &[
    WARCINFO, RESPONSE, RESOURCE, REQUEST, METADATA, REVISIT, CONVERSION,
];

/// A field of the standard.
struct Field {
    name: &'static str,
    clause: &'static str,
    value: Value,
    needed_in: &'static [&'static str],
    never_in: &'static [&'static str],
}

/// What a field holds.
#[derive(Clone, Copy)]
enum Value {
    /// A URI in angle brackets.
    RecordId,
    /// A URI; in WARC 1.0 in angle brackets, which nobody wrote.
    Uri,
    Date,
    Number,
    Token,
    MediaType,
    Digest,
    Address,
    Text,
}

const fn field(name: &'static str, clause: &'static str, value: Value) -> Field {
    Field {
        name,
        clause,
        value,
        needed_in: NONE,
        never_in: NONE,
    }
}

impl Field {
    const fn needed_in(mut self, types: &'static [&'static str]) -> Self {
        self.needed_in = types;
        self
    }

    const fn never_in(mut self, types: &'static [&'static str]) -> Self {
        self.never_in = types;
        self
    }
}

/// The fields of all records, which those of extensions have too.
const MANDATORY: usize = 4;

/// Clause 5, in its order.
static FIELDS: [Field; 21] = [
    field("WARC-Record-ID", "5.2", Value::RecordId).needed_in(&TYPES),
    field("Content-Length", "5.3", Value::Number).needed_in(&TYPES),
    field("WARC-Date", "5.4", Value::Date).needed_in(&TYPES),
    field("WARC-Type", "5.5", Value::Token).needed_in(&TYPES),
    field("Content-Type", "5.6", Value::MediaType),
    field("WARC-Concurrent-To", "5.7", Value::RecordId).never_in(NOT_CAPTURED),
    field("WARC-Block-Digest", "5.8", Value::Digest),
    field("WARC-Payload-Digest", "5.9", Value::Digest).never_in(WITHOUT_PAYLOAD),
    field("WARC-IP-Address", "5.10", Value::Address).never_in(NOT_CAPTURED),
    field("WARC-Refers-To", "5.11", Value::RecordId).never_in(&[
        WARCINFO,
        RESPONSE,
        RESOURCE,
        REQUEST,
        CONTINUATION,
    ]),
    field("WARC-Refers-To-Target-URI", "5.12", Value::Uri).never_in(ALL_BUT_REVISIT),
    field("WARC-Refers-To-Date", "5.13", Value::Date).never_in(ALL_BUT_REVISIT),
    field("WARC-Target-URI", "5.14", Value::Uri)
        .needed_in(&[
            RESPONSE,
            RESOURCE,
            REQUEST,
            REVISIT,
            CONVERSION,
            CONTINUATION,
        ])
        .never_in(&[WARCINFO]),
    field("WARC-Truncated", "5.15", Value::Token),
    field("WARC-Warcinfo-ID", "5.16", Value::RecordId).never_in(&[WARCINFO]),
    field("WARC-Filename", "5.17", Value::Text).never_in(ALL_BUT_WARCINFO),
    field("WARC-Profile", "5.18", Value::Uri).needed_in(&[REVISIT]),
    field("WARC-Identified-Payload-Type", "5.19", Value::MediaType).never_in(WITHOUT_PAYLOAD),
    field("WARC-Segment-Number", "5.20", Value::Number).needed_in(&[CONTINUATION]),
    field("WARC-Segment-Origin-ID", "5.21", Value::RecordId)
        .needed_in(&[CONTINUATION])
        .never_in(ALL_BUT_CONTINUATION),
    field("WARC-Segment-Total-Length", "5.22", Value::Number).never_in(ALL_BUT_CONTINUATION),
];

/// Their names, for tests that make up heads.
#[cfg(test)]
pub(super) static FIELD_NAMES: std::sync::LazyLock<Vec<&'static str>> =
    std::sync::LazyLock::new(|| FIELDS.iter().map(|field| field.name).collect());

/// The fields that WARC 1.1 brought: in a record of 1.0 they are extensions.
const NEW_IN_1_1: [&str; 2] = ["WARC-Refers-To-Target-URI", "WARC-Refers-To-Date"];
/// The one field that may be repeated.
const REPEATABLE: &str = "WARC-Concurrent-To";
/// What begins the name of a profile that the standard knows, in both versions.
const PROFILES: [&str; 2] = [
    "http://netpreserve.org/warc/1.0/revisit/",
    "http://netpreserve.org/warc/1.1/revisit/",
];
const IDENTICAL_DIGEST: &str = "identical-payload-digest";
const NOT_MODIFIED: &str = "server-not-modified";
/// What continuations have for themselves; other optional fields they should not have.
const OF_SEGMENTS: [&str; 5] = [
    "WARC-Segment-Number",
    "WARC-Segment-Origin-ID",
    "WARC-Segment-Total-Length",
    "WARC-Block-Digest",
    "WARC-Truncated",
];

/// Judges the head of a WARC record; `bytes` are the head as it is in the file.
pub(super) fn judge(head: &RecordHead, bytes: &[u8], found: &mut Vec<Finding>) {
    Judge { head, found }.all(bytes);
}

/// Whether a revisit record says that its payload has the digest of another.
pub(super) fn is_identical_digest(head: &RecordHead) -> bool {
    profile(head) == Some(IDENTICAL_DIGEST)
}

/// The profile of a revisit record, if the standard knows it.
fn profile(head: &RecordHead) -> Option<&str> {
    let uri = head.field("WARC-Profile")?.trim_matches(['<', '>']);
    let name = PROFILES.iter().find_map(|start| uri.strip_prefix(start))?;
    let name = name.trim_end_matches('/');
    [IDENTICAL_DIGEST, NOT_MODIFIED]
        .contains(&name)
        .then_some(name)
}

struct Judge<'a> {
    head: &'a RecordHead,
    found: &'a mut Vec<Finding>,
}

impl Judge<'_> {
    fn problem(&mut self, clause: &'static str, message: impl Into<String>) {
        self.found.push(Finding::problem(clause, message));
    }

    fn warning(&mut self, clause: &'static str, message: impl Into<String>) {
        self.found.push(Finding::warning(clause, message));
    }

    fn all(&mut self, bytes: &[u8]) {
        self.lines(bytes);
        let record_type = self.head.record_type().to_ascii_lowercase();
        let known = TYPES.iter().find(|known| **known == record_type).copied();
        if known.is_none() && !record_type.is_empty() {
            let shown = clipped(&record_type);
            self.warning("5.5", format!("WARC-Type {shown} is none of the standard"));
        }
        let judged = match known {
            Some(_) => FIELDS.len(),
            None => MANDATORY,
        };
        for field in &FIELDS[..judged] {
            self.field(field, known.unwrap_or(RESPONSE));
        }
        match known {
            Some(WARCINFO) => self.warcinfo(),
            Some(kind @ (RESPONSE | REQUEST)) => self.exchange(kind),
            Some(RESOURCE) => self.resource(),
            Some(REVISIT) => self.revisit(),
            Some(CONVERSION) if self.head.field("WARC-Refers-To").is_none() => {
                self.warning("6.8", "WARC-Refers-To should say what was converted");
            }
            Some(CONTINUATION) => self.continuation(),
            _ => {}
        }
        if let Some(kind) = known {
            self.segment(kind);
        }
        let is_empty = self.head.content_length == 0;
        let needs_type = !is_empty && known != Some(CONTINUATION);
        if needs_type && self.head.field("Content-Type").is_none() {
            self.warning(
                "5.6",
                "Content-Type should be there: the block is not empty",
            );
        }
    }

    /// Whether what every record of WARC 1.0 and before may do is right here.
    fn is_old(&self) -> bool {
        !self.head.version.eq_ignore_ascii_case("WARC/1.1")
    }

    /// The grammar of clause 4: each fault is told once.
    fn lines(&mut self, bytes: &[u8]) {
        if self
            .head
            .version
            .to_ascii_uppercase()
            .starts_with("WARC/0.")
        {
            let version = clipped(&self.head.version);
            self.warning("4", format!("{version} is a draft of the standard"));
        }
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        if lines.iter().any(|line| !line.ends_with(b"\r\n")) {
            self.problem("4", "a line of the head does not end with CR LF");
        }
        if str::from_utf8(bytes).is_err() {
            self.problem("4", "the head is not in UTF-8");
        }
        let is_control = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
        if lines
            .iter()
            .any(|line| line.trim_ascii_end().iter().any(is_control))
        {
            self.problem("4", "a control character stands in the head");
        }
        let fields = lines.iter().skip(1).map(|line| line.trim_ascii_end());
        let mut begun = fields.filter(|line| !line.is_empty() && !line[0].is_ascii_whitespace());
        let is_field = |line: &[u8]| {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            name.len() < line.len() && str::from_utf8(name).is_ok_and(is_token)
        };
        if let Some(line) = begun.find(|line| !is_field(line)) {
            let shown = clipped(&String::from_utf8_lossy(line));
            self.problem("4", format!("`{shown}` is no named field"));
        }
    }

    fn field(&mut self, field: &Field, record_type: &str) {
        let head = self.head;
        if self.is_old() && NEW_IN_1_1.contains(&field.name) {
            return;
        }
        let mut values = head.fields.iter().filter_map(|(name, value)| {
            name.eq_ignore_ascii_case(field.name)
                .then_some(value.as_str())
        });
        let Some(value) = values.next() else {
            if field.needed_in.contains(&record_type) {
                self.problem(field.clause, format!("{} is missing", field.name));
            }
            return;
        };
        let more = values.count();
        if 0 < more && field.name != REPEATABLE {
            self.problem("5.1", format!("{} is repeated", field.name));
        }
        if field.never_in.contains(&record_type) {
            let message = format!("{} must not be in a {record_type} record", field.name);
            self.problem(field.clause, message);
        }
        if field.name == "WARC-Profile" && record_type != REVISIT {
            let message = format!("WARC-Profile means nothing in a {record_type} record");
            self.warning(field.clause, message);
        }
        self.value(field, value);
    }

    fn value(&mut self, field: &Field, value: &str) {
        let wanted = match field.value {
            Value::RecordId => {
                let inner = value
                    .strip_prefix('<')
                    .and_then(|rest| rest.strip_suffix('>'));
                let is_right = inner.is_some_and(|uri| uri_fault(uri).is_none());
                (!is_right).then_some("a URI in angle brackets")
            }
            Value::Uri => return self.uri(field, value),
            Value::Date if self.is_old() => (!is_date(value, DateForm::Seconds))
                .then_some("a date of the form YYYY-MM-DDThh:mm:ssZ"),
            Value::Date => (!is_date(value, DateForm::AnyPrecision)).then_some("a W3C date in UTC"),
            Value::Number => (!is_number(value)).then_some("a number in digits"),
            Value::Token => (!is_token(value)).then_some("a word"),
            Value::MediaType => (!is_media_type(value)).then_some("a media type"),
            Value::Digest => {
                (!is_labelled_digest(value)).then_some("an algorithm, a colon and a value")
            }
            Value::Address => (value.parse::<IpAddr>().is_err()).then_some("an IP address"),
            Value::Text => None,
        };
        if let Some(wanted) = wanted {
            let shown = clipped(value);
            self.problem(
                field.clause,
                format!("{} `{shown}` is not {wanted}", field.name),
            );
        }
    }

    fn uri(&mut self, field: &Field, value: &str) {
        let inner = value
            .strip_prefix('<')
            .and_then(|rest| rest.strip_suffix('>'));
        let shown = clipped(value);
        let name = field.name;
        if inner.is_some() && !self.is_old() {
            self.problem(
                field.clause,
                format!("{name} `{shown}` has angle brackets, which only WARC 1.0 had"),
            );
        }
        let wrong = match uri_fault(inner.unwrap_or(value)) {
            None => return,
            Some(UriFault::NotAbsolute) => "is no absolute URI",
            Some(UriFault::Unescaped) => "holds characters that must be escaped",
            Some(UriFault::Lenient(odd)) => {
                let message =
                    format!("{name} `{shown}` holds `{odd}`, which RFC 3986 wants escaped");
                return self.warning(field.clause, message);
            }
        };
        self.problem(field.clause, format!("{name} `{shown}` {wrong}"));
    }

    fn warcinfo(&mut self) {
        let kind = self.head.field("Content-Type").unwrap_or_default();
        if !kind.is_empty() && !is_of_type(kind, "application/warc-fields") {
            let shown = clipped(kind);
            self.warning(
                "6.2",
                format!("Content-Type should be application/warc-fields, not {shown}"),
            );
        }
    }

    /// A request or a response.
    fn exchange(&mut self, kind: &'static str) {
        let clause = if kind == RESPONSE { "6.3.2" } else { "6.5.2" };
        let uri = self.head.target_uri().unwrap_or_default();
        if !(has_scheme(&uri, "http") || has_scheme(&uri, "https")) {
            return;
        }
        let media_type = self.head.field("Content-Type").unwrap_or_default();
        if !media_type.is_empty() && !is_of_type(media_type, "application/http") {
            let shown = clipped(media_type);
            self.warning(
                clause,
                format!("Content-Type should be application/http;msgtype={kind}, not {shown}"),
            );
        }
        if self.head.field("WARC-IP-Address").is_none() {
            self.warning(clause, "WARC-IP-Address should be there");
        }
    }

    fn resource(&mut self) {
        let uri = self.head.target_uri().unwrap_or_default();
        let kind = self.head.field("Content-Type").unwrap_or_default();
        if has_scheme(&uri, "dns") && !is_of_type(kind, "text/dns") {
            let shown = clipped(kind);
            self.problem(
                "6.4.4",
                format!("Content-Type of a dns: resource is `{shown}` and not text/dns"),
            );
        }
    }

    fn revisit(&mut self) {
        let head = self.head;
        match (profile(head), head.field("WARC-Profile")) {
            (Some(IDENTICAL_DIGEST), _) if head.field("WARC-Payload-Digest").is_none() => {
                self.problem("6.7.2", "WARC-Payload-Digest is missing");
            }
            (None, Some(other)) => {
                let shown = clipped(other);
                self.warning("6.7.4", format!("WARC-Profile `{shown}` is not known"));
            }
            _ => {}
        }
        let refers = [
            "WARC-Refers-To",
            "WARC-Refers-To-Target-URI",
            "WARC-Refers-To-Date",
        ];
        if refers.iter().all(|name| head.field(name).is_none()) {
            self.warning("6.7", "no WARC-Refers-To field says what was visited again");
        }
    }

    fn continuation(&mut self) {
        let optional = FIELDS.iter().filter(|field| {
            !field.needed_in.contains(&CONTINUATION) && !OF_SEGMENTS.contains(&field.name)
        });
        let needless = optional
            .map(|field| field.name)
            .filter(|name| self.head.field(name).is_some())
            .collect::<Vec<_>>();
        if !needless.is_empty() {
            let message = format!(
                "{} should be in the first segment alone",
                needless.join(", ")
            );
            self.warning("7", message);
        }
    }

    /// Numbers begin with 1, which is no continuation.
    fn segment(&mut self, record_type: &str) {
        let Some(number) = self.head.field("WARC-Segment-Number") else {
            return;
        };
        if !is_number(number) {
            return;
        }
        let is_first = number.trim_start_matches('0') == "1";
        let is_zero = number.bytes().all(|digit| digit == b'0');
        if record_type == CONTINUATION && (is_first || is_zero) {
            let shown = clipped(number);
            self.problem(
                "5.20",
                format!("WARC-Segment-Number of a continuation is {shown}"),
            );
        }
        if record_type != CONTINUATION && !is_first {
            let shown = clipped(number);
            let message =
                format!("WARC-Segment-Number of a {record_type} record is {shown}, not 1");
            self.problem("5.20", message);
        }
        if [WARCINFO, REQUEST, METADATA, REVISIT].contains(&record_type) {
            self.warning(
                "7",
                format!("a {record_type} record should not be segmented"),
            );
        }
    }
}

/// A value as a message shows it: not endless.
pub(super) fn clipped(value: &str) -> String {
    match value.char_indices().nth(VALUE_SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

fn is_of_type(value: &str, wanted: &str) -> bool {
    let kind = value.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case(wanted)
}

fn has_scheme(uri: &str, wanted: &str) -> bool {
    uri.split_once(':')
        .is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case(wanted))
}
