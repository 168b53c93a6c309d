use std::io::Write as _;

use proptest::prelude::*;

use super::*;

/// What is said of a file.
fn checked(bytes: &[u8]) -> (Report, Vec<Problem>) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut problems = Vec::new();
    let report = check(file.path(), |problem| problems.push(problem.clone())).unwrap();
    let count = |severity| {
        let told = problems
            .iter()
            .filter(|problem| problem.severity == severity);
        told.count() as u64
    };
    assert_eq!(report.problems, count(Severity::Problem));
    assert_eq!(report.warnings, count(Severity::Warning));
    (report, problems)
}

/// A record of a version with these fields, beside the mandatory ones that are not among them.
fn record(version: &str, fields: &[(&str, &str)], block: &str) -> String {
    let length = block.len().to_string();
    let usual = [
        ("WARC-Record-ID", "<urn:a>"),
        ("WARC-Date", "2026-01-15T09:30:12Z"),
        ("Content-Length", &length),
    ];
    let is_absent = |(name, _): &(&str, &str)| !fields.iter().any(|(given, _)| given == name);
    let mut text = format!("{version}\r\n");
    for (name, value) in fields
        .iter()
        .chain(usual.iter().filter(|field| is_absent(field)))
    {
        if *value != "-" {
            text.extend([*name, ": ", *value, "\r\n"]);
        }
    }
    text + "\r\n" + block + "\r\n\r\n"
}

/// The clauses and messages of one severity.
fn told(problems: &[Problem], severity: Severity) -> Vec<String> {
    let told = problems
        .iter()
        .filter(|problem| problem.severity == severity);
    told.map(|problem| format!("{}: {}", problem.clause, problem.message))
        .collect()
}

/// The problems of a record of WARC 1.1 behind a whole file's beginning.
fn problems_of(fields: &[(&str, &str)], block: &str) -> Vec<String> {
    problems_of_version("WARC/1.1", fields, block)
}

fn problems_of_version(version: &str, fields: &[(&str, &str)], block: &str) -> Vec<String> {
    let (_, problems) = checked(record(version, fields, block).as_bytes());
    told(&problems, Severity::Problem)
}

const RESPONSE: (&str, &str) = ("WARC-Type", "response");
const TARGET: (&str, &str) = ("WARC-Target-URI", "http://example.org/");
const HTTP: (&str, &str) = ("Content-Type", "application/http;msgtype=response");
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
const ANSWER: &str = "HTTP/1.1 200 OK\r\n\r\n";

// Python: base64.b32encode(hashlib.sha1(b"abc").digest()), and of b"3\r\nabc\r\n0\r\n\r\n"; hashlib.new(…, b"abc").hexdigest().
#[test]
fn a_digest_in_any_known_algorithm_with_or_without_chunks_is_right() {
    for digest in [
        "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5",
        "sha1:EZMCEYKLYMOWXPIGFLXFT3WW62PQVRQP",
        "SHA-1:a9993e364706816aba3e25717850c26c9cd0d89d",
        "md5:900150983cd24fb0d6963f7d28e17f72",
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ] {
        let fields = [RESPONSE, TARGET, HTTP, ("WARC-Payload-Digest", digest)];
        let (report, problems) = checked(record("WARC/1.1", &fields, CHUNKED).as_bytes());
        assert!(report.is_sound(), "{digest}: {problems:?}");
        assert_eq!(
            (report.digests, report.digests_unchecked, report.records),
            (1, 0, 1)
        );
    }
    let unknown = [
        RESPONSE,
        TARGET,
        HTTP,
        ("WARC-Payload-Digest", "blake9:0011"),
    ];
    let (report, problems) = checked(record("WARC/1.1", &unknown, CHUNKED).as_bytes());
    assert!(report.is_sound(), "{problems:?}");
    assert_eq!((report.digests, report.digests_unchecked), (0, 1));
}

#[test]
fn wrong_digests_are_told_with_their_clauses() {
    for (name, value, expected) in [
        (
            "WARC-Block-Digest",
            "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "5.8: WARC-Block-Digest is wrong",
        ),
        (
            "WARC-Payload-Digest",
            "md5:00000000000000000000000000000000",
            "5.9: WARC-Payload-Digest is wrong",
        ),
        (
            "WARC-Payload-Digest",
            "sha1:AAAA",
            "5.9: WARC-Payload-Digest is of another length",
        ),
        (
            "WARC-Block-Digest",
            "sha1",
            "5.8: WARC-Block-Digest `sha1` is not an algorithm",
        ),
    ] {
        let problems = problems_of(&[RESPONSE, TARGET, HTTP, (name, value)], CHUNKED);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with(expected), "{problems:?}");
    }
}

#[test]
fn mandatory_fields_are_those_of_all_records_and_of_each_type() {
    let all = [
        ("WARC-Record-ID", "5.2: WARC-Record-ID is missing"),
        ("WARC-Date", "5.4: WARC-Date is missing"),
        ("WARC-Type", "5.5: WARC-Type is missing"),
    ];
    for (name, expected) in all {
        let mut fields = vec![(name, "-")];
        if name != "WARC-Type" {
            fields.extend([RESPONSE, TARGET, HTTP]);
        }
        assert_eq!(problems_of(&fields, ANSWER), [expected]);
    }
    for kind in ["response", "resource", "request", "conversion"] {
        let fields = [("WARC-Type", kind), HTTP];
        assert_eq!(
            problems_of(&fields, ANSWER),
            ["5.14: WARC-Target-URI is missing"],
            "{kind}"
        );
    }
    assert_eq!(problems_of(&[("WARC-Type", "metadata")], ""), [""; 0]);
    assert_eq!(
        problems_of(&[("WARC-Type", "revisit"), TARGET], ""),
        ["5.18: WARC-Profile is missing"]
    );
    assert_eq!(
        problems_of(&[("WARC-Type", "continuation"), TARGET], ""),
        [
            "5.20: WARC-Segment-Number is missing",
            "5.21: WARC-Segment-Origin-ID is missing"
        ]
    );
    assert_eq!(
        problems_of(&[("WARC-Type", "of-an-extension")], ""),
        [""; 0]
    );
}

#[test]
fn a_field_that_a_type_must_not_have_is_told() {
    for (kind, name, value, clause) in [
        ("warcinfo", "WARC-Target-URI", "http://example.org/", "5.14"),
        ("warcinfo", "WARC-IP-Address", "192.0.2.1", "5.10"),
        ("warcinfo", "WARC-Concurrent-To", "<urn:b>", "5.7"),
        ("warcinfo", "WARC-Warcinfo-ID", "<urn:b>", "5.16"),
        ("warcinfo", "WARC-Refers-To", "<urn:b>", "5.11"),
        (
            "warcinfo",
            "WARC-Payload-Digest",
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "5.9",
        ),
        ("metadata", "WARC-Filename", "a.warc", "5.17"),
        (
            "metadata",
            "WARC-Identified-Payload-Type",
            "text/html",
            "5.19",
        ),
        ("metadata", "WARC-Segment-Origin-ID", "<urn:b>", "5.21"),
        ("metadata", "WARC-Segment-Total-Length", "5", "5.22"),
        (
            "metadata",
            "WARC-Refers-To-Target-URI",
            "http://example.org/",
            "5.12",
        ),
        (
            "metadata",
            "WARC-Refers-To-Date",
            "2026-01-15T09:30:12Z",
            "5.13",
        ),
    ] {
        let expected = format!("{clause}: {name} must not be in a {kind} record");
        assert_eq!(
            problems_of(&[("WARC-Type", kind), (name, value)], ""),
            [expected]
        );
    }
    // In WARC 1.0 these are fields of an extension.
    let fields = [("WARC-Type", "metadata"), ("WARC-Refers-To-Date", "2026")];
    assert_eq!(problems_of_version("WARC/1.0", &fields, ""), [""; 0]);
}

#[test]
fn only_one_field_may_be_repeated() {
    let fields = [
        RESPONSE,
        TARGET,
        HTTP,
        ("WARC-Concurrent-To", "<urn:b>"),
        ("WARC-Concurrent-To", "<urn:c>"),
    ];
    assert_eq!(problems_of(&fields, ANSWER), [""; 0]);
    let fields = [
        RESPONSE,
        TARGET,
        ("warc-target-uri", "http://example.org/"),
        HTTP,
    ];
    assert_eq!(
        problems_of(&fields, ANSWER),
        ["5.1: WARC-Target-URI is repeated"]
    );
    let fields = [
        RESPONSE,
        TARGET,
        HTTP,
        ("WARC-Protocol", "http/1.1"),
        ("WARC-Protocol", "tls/1.3"),
    ];
    assert_eq!(
        problems_of(&fields, ANSWER),
        [""; 0],
        "a field of an extension"
    );
}

#[test]
fn values_are_those_of_the_grammar() {
    for (name, value, expected) in [
        (
            "WARC-Date",
            "2026-01-15T09:30:12",
            "5.4: WARC-Date `2026-01-15T09:30:12` is not a W3C date in UTC",
        ),
        (
            "WARC-Record-ID",
            "urn:a",
            "5.2: WARC-Record-ID `urn:a` is not a URI in angle brackets",
        ),
        (
            "WARC-Record-ID",
            "<a b>",
            "5.2: WARC-Record-ID `<a b>` is not a URI in angle brackets",
        ),
        (
            "WARC-IP-Address",
            "example.org",
            "5.10: WARC-IP-Address `example.org` is not an IP address",
        ),
        (
            "WARC-Truncated",
            "too long",
            "5.15: WARC-Truncated `too long` is not a word",
        ),
        (
            "WARC-Segment-Number",
            "one",
            "5.20: WARC-Segment-Number `one` is not a number in digits",
        ),
        (
            "Content-Length",
            "+0",
            "5.3: Content-Length `+0` is not a number in digits",
        ),
        (
            "WARC-Identified-Payload-Type",
            "text",
            "5.19: WARC-Identified-Payload-Type `text` is not a media type",
        ),
    ] {
        assert_eq!(
            problems_of(&[RESPONSE, TARGET, (name, value)], ""),
            [expected]
        );
    }
    let in_1_0 =
        |date| problems_of_version("WARC/1.0", &[RESPONSE, TARGET, ("WARC-Date", date)], "");
    assert_eq!(in_1_0("2026-01-15T09:30:12Z"), [""; 0]);
    let fraction =
        "5.4: WARC-Date `2026-01-15T09:30:12.5Z` is not a date of the form YYYY-MM-DDThh:mm:ssZ";
    assert_eq!(in_1_0("2026-01-15T09:30:12.5Z"), [fraction]);
}

#[test]
fn target_uris_are_absolute_and_only_those_of_1_0_have_brackets() {
    let target =
        |version, uri| problems_of_version(version, &[RESPONSE, ("WARC-Target-URI", uri)], "");
    for version in ["WARC/1.0", "WARC/1.1"] {
        assert_eq!(target(version, "http://example.org/"), [""; 0]);
        assert_eq!(
            target(version, "http://example.org/?a|b"),
            [""; 0],
            "a warning"
        );
        assert_eq!(
            target(version, "example.org"),
            ["5.14: WARC-Target-URI `example.org` is no absolute URI"]
        );
        assert_eq!(
            target(version, "http://example.org/a b"),
            [
                "5.14: WARC-Target-URI `http://example.org/a b` holds characters that must be escaped"
            ]
        );
    }
    assert_eq!(target("WARC/1.0", "<http://example.org/>"), [""; 0]);
    assert_eq!(
        target("WARC/1.1", "<http://example.org/>"),
        [
            "5.14: WARC-Target-URI `<http://example.org/>` has angle brackets, which only WARC 1.0 had"
        ]
    );
}

#[test]
fn the_profile_of_a_revisit_says_what_it_needs() {
    const SAME: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
    const ABC: &str = "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5";
    let revisit = |more: &[(&str, &str)], block: &str| {
        let mut fields = vec![
            ("WARC-Type", "revisit"),
            TARGET,
            HTTP,
            ("WARC-Refers-To", "<urn:b>"),
        ];
        fields.extend(more);
        let (_, problems) = checked(record("WARC/1.1", &fields, block).as_bytes());
        (
            told(&problems, Severity::Problem),
            told(&problems, Severity::Warning).split_off(1),
        )
    };
    let none = (Vec::new(), Vec::new());
    assert_eq!(
        revisit(&[("WARC-Profile", SAME)], "").0,
        ["6.7.2: WARC-Payload-Digest is missing"]
    );
    assert_eq!(
        revisit(&[("WARC-Profile", SAME), ("WARC-Payload-Digest", ABC)], ""),
        none
    );
    assert_eq!(
        revisit(
            &[("WARC-Profile", SAME), ("WARC-Payload-Digest", ABC)],
            ANSWER
        )
        .1,
        ["6.7.2: WARC-Truncated does not say `length`, and the payload was left off"]
    );
    let whole = [ANSWER, "abc"].concat();
    assert_eq!(
        revisit(
            &[("WARC-Profile", SAME), ("WARC-Payload-Digest", ABC)],
            &whole
        ),
        none
    );
    let truncated = [
        ("WARC-Profile", SAME),
        ("WARC-Payload-Digest", ABC),
        ("WARC-Truncated", "length"),
    ];
    assert_eq!(revisit(&truncated, ANSWER), none);
    let (problems, warnings) = revisit(&[("WARC-Profile", "http://example.org/diff")], ANSWER);
    assert!(problems.is_empty());
    assert_eq!(
        warnings,
        ["6.7.4: WARC-Profile `http://example.org/diff` is not known"]
    );
}

#[test]
fn segments_are_numbered_one_after_the_other() {
    let segment = |kind, id, number, total: Option<&'static str>| {
        let mut fields = vec![
            ("WARC-Type", kind),
            TARGET,
            ("WARC-Record-ID", id),
            ("WARC-Segment-Number", number),
        ];
        if kind == "continuation" {
            fields.push(("WARC-Segment-Origin-ID", "<urn:a>"));
        }
        fields.extend(total.map(|total| ("WARC-Segment-Total-Length", total)));
        record("WARC/1.1", &fields, "block")
    };
    let check = |records: &[String], expected: &[&str]| {
        let (_, problems) = checked(records.concat().as_bytes());
        assert_eq!(told(&problems, Severity::Problem), expected);
    };
    let first = segment("response", "<urn:a>", "1", None);
    let second = |total| segment("continuation", "<urn:b>", "2", total);
    check(
        &[
            first.clone(),
            second(None),
            segment("continuation", "<urn:c>", "3", Some("15")),
        ],
        &[],
    );
    check(&[second(Some("99"))], &[]);
    check(
        &[first.clone(), second(Some("11"))],
        &["5.22: WARC-Segment-Total-Length is 11, and the segments have 10 bytes"],
    );
    check(
        &[first.clone(), segment("continuation", "<urn:b>", "3", None)],
        &["5.20: WARC-Segment-Number is 3 after 1"],
    );
    check(
        &[segment("continuation", "<urn:b>", "1", None)],
        &["5.20: WARC-Segment-Number of a continuation is 1"],
    );
    check(
        &[segment("response", "<urn:b>", "2", None)],
        &["5.20: WARC-Segment-Number of a response record is 2, not 1"],
    );
    let elsewhere = second(None).replace("example.org/", "example.org/b");
    check(
        &[first, elsewhere],
        &["7: WARC-Target-URI is not that of the segment before"],
    );
}

#[test]
fn ids_are_used_once_and_records_of_one_capture_have_one_date() {
    let first = record("WARC/1.1", &[RESPONSE, TARGET], "");
    let second = [
        ("WARC-Type", "metadata"),
        ("WARC-Concurrent-To", "<urn:a>"),
        ("WARC-Date", "2026"),
    ];
    let text = [first, record("WARC/1.1", &second, "")].concat();
    let (report, problems) = checked(text.as_bytes());
    assert_eq!(report.records, 2);
    assert_eq!(
        told(&problems, Severity::Problem),
        [
            "5.4: WARC-Date is not that of <urn:a>, of the same capture",
            "5.2: the id <urn:a> was used before"
        ]
    );
}

#[test]
fn the_grammar_of_a_head_is_that_of_clause_4() {
    let text = record("WARC/1.1", &[RESPONSE, TARGET], "");
    for (from, to, expected) in [
        (
            "WARC/1.1\r\n",
            "WARC/1.1\n",
            "4: a line of the head does not end with CR LF",
        ),
        (
            "WARC-Date",
            "no colon\r\nWARC-Date",
            "4: `no colon` is no named field",
        ),
        (
            "WARC-Date",
            "a b: c\r\nWARC-Date",
            "4: `a b: c` is no named field",
        ),
        (
            "WARC-Date",
            "a: b\x07c\r\nWARC-Date",
            "4: a control character stands in the head",
        ),
    ] {
        let (_, problems) = checked(text.replace(from, to).as_bytes());
        assert_eq!(told(&problems, Severity::Problem), [expected]);
    }
    let folded = text.replace("WARC-Date", "X-Note: a\r\n b: c\r\nWARC-Date");
    assert!(checked(folded.as_bytes()).0.is_sound());
    let latin = text
        .replace("WARC-Date", "X-Note: \u{1}\r\nWARC-Date")
        .replace('\u{1}', "e");
    assert!(checked(latin.as_bytes()).0.is_sound());
    let mut latin = latin.into_bytes();
    let at = latin
        .windows(8)
        .position(|bytes| bytes == b"X-Note: ")
        .unwrap();
    latin[at + 8] = 0xe9;
    assert_eq!(
        told(&checked(&latin).1, Severity::Problem),
        ["4: the head is not in UTF-8"]
    );
}

#[test]
fn what_is_recommended_is_a_warning() {
    let fields = [RESPONSE, TARGET, ("Content-Type", "text/html")];
    let (report, problems) = checked(record("WARC/1.1", &fields, ANSWER).as_bytes());
    assert!(report.is_sound());
    assert_eq!(
        told(&problems, Severity::Warning),
        [
            "5.5: the first record should be a warcinfo record",
            "6.3.2: Content-Type should be application/http;msgtype=response, not text/html",
            "6.3.2: WARC-IP-Address should be there",
        ]
    );
    let dns = [
        ("WARC-Type", "resource"),
        ("WARC-Target-URI", "dns:a.example"),
        ("Content-Type", "text/plain"),
    ];
    assert_eq!(
        problems_of(&dns, "x"),
        ["6.4.4: Content-Type of a dns: resource is `text/plain` and not text/dns"]
    );
}

#[test]
fn all_that_is_damaged_is_told_and_all_that_is_whole_is_read() {
    let records: Vec<String> = (0..6)
        .map(|number| {
            record(
                "WARC/1.1",
                &[
                    RESPONSE,
                    TARGET,
                    ("WARC-Record-ID", &format!("<urn:{number}>")),
                ],
                "block",
            )
        })
        .collect();
    let length = records[0].len();
    let mut bytes = records.concat().into_bytes();
    bytes[length..length + 4].fill(b'x');
    bytes[3 * length..3 * length + 4].fill(b'x');
    let (report, problems) = checked(&bytes);
    assert_eq!((report.records, report.problems), (4, 2), "{problems:?}");
    let damaged: Vec<u64> = problems
        .iter()
        .filter(|problem| problem.severity == Severity::Problem)
        .map(|problem| problem.offset)
        .collect();
    assert_eq!(damaged, [length as u64, 3 * length as u64]);
    let (report, _) = checked(&bytes[..bytes.len() - 8]);
    assert_eq!(
        (report.records, report.problems),
        (3, 3),
        "the last is torn"
    );
}

#[test]
fn of_a_member_with_a_wrong_checksum_only_the_damage_is_told() {
    let text = record(
        "WARC/1.1",
        &[RESPONSE, TARGET, ("Content-Type", "text/html")],
        "x",
    );
    // Stored, not compressed, so that one byte of the head can be changed and the member still unpacks.
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(text.as_bytes()).unwrap();
    let mut member = encoder.finish().unwrap();
    let type_at = memchr::memmem::find(&member, b"text/html").unwrap();
    member[type_at + 4] = b' ';
    let (report, problems) = checked(&member);
    let [problem] = &problems[..] else {
        panic!("{problems:?}");
    };
    assert!(problem.message.contains("damaged"), "{problem:?}");
    assert_eq!((report.records, report.digests), (0, 0), "{report:?}");
}

#[test]
fn arc_files_are_judged_by_their_own_description() {
    let text = "filedesc://x.arc 0.0.0.0 20260101000000 text/plain 4\n1 0\n\nhttp://a.example/ 1.2.3.4 20260101000000 text/html 3\nabc\n";
    let (report, problems) = checked(text.as_bytes());
    assert_eq!((report.records, &problems[..]), (2, &[][..]));
    let odd = text.replace("a.example/ ", "a.example/a b ").replacen(
        "20260101000000 text/html",
        "20261301 text/html",
        1,
    );
    let (report, problems) = checked(odd.as_bytes());
    assert_eq!(report.records, 2);
    assert_eq!(
        told(&problems, Severity::Problem),
        [
            "ARC: the date `20261301` is not one of the form YYYYMMDDhhmmss",
            "ARC: the URL `http://a.example/a b` holds blanks"
        ]
    );
}

#[test]
fn the_heading_of_an_arc_file_is_its_first_record() {
    let first = "1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n";
    let second = "2 0 InternetArchive\nURL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length\n";
    let page =
        |more: &str| format!("http://a.example/ 1.2.3.4 20260101000000 text/html {more}3\nabc\n");
    for (block, more) in [(first, ""), (second, "200 - - 5 x.arc ")] {
        let length = block.len();
        let heading =
            format!("filedesc://x.arc 0.0.0.0 20260101000000 text/plain {more}{length}\n{block}\n");
        let (report, problems) = checked((heading.clone() + &page(more)).as_bytes());
        assert_eq!((report.records, &problems[..]), (2, &[][..]), "{heading}");
        let (report, problems) = checked(page(more).as_bytes());
        assert_eq!(report.records, 1);
        assert_eq!(
            told(&problems, Severity::Problem),
            ["ARC: the first record does not describe the file"]
        );
    }
}

#[test]
fn a_file_without_a_record_is_not_sound() {
    let (report, problems) = checked(b"");
    assert!(!report.is_sound());
    assert_eq!(report.records, 0);
    assert_eq!(
        told(&problems, Severity::Problem),
        ["4: there is no record in it"]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// No damage to a file makes a panic, a record that is not there, or more than a few words for each record.
    #[test]
    fn any_damage_is_survived(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in any::<prop::sample::Index>(),
        form in 0..3,
    ) {
        let records: Vec<Vec<u8>> = (0..8)
            .map(|number| record("WARC/1.1", &[RESPONSE, TARGET, ("WARC-Record-ID", &format!("<urn:{number}>"))], CHUNKED).into_bytes())
            .map(|bytes| match form {
                0 => bytes,
                1 => {
                    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                    out.write_all(&bytes).unwrap();
                    out.finish().unwrap()
                }
                _ => zstd::encode_all(&bytes[..], 1).unwrap(),
            })
            .collect();
        let mut bytes = records.concat();
        for (place, value) in places {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        let (report, problems) = checked(&bytes);
        prop_assert!(report.records <= 8);
        prop_assert!(problems.len() <= 8 * 32);
        prop_assert!(problems.iter().all(|problem| problem.offset <= bytes.len() as u64));
    }

    /// Fields may hold anything.
    #[test]
    fn any_head_is_judged(names in prop::collection::vec(0..21_usize, 0..30), value in "\\PC{0,300}", kind in 0..9_usize) {
        let kinds = ["warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation", "x"];
        let mut text = format!("WARC/1.1\r\nWARC-Type: {}\r\nContent-Length: 0\r\n", kinds[kind]);
        for name in names {
            text.extend([standard::FIELD_NAMES[name], ": ", &value, "\r\n"]);
        }
        text.push_str("\r\n\r\n\r\n");
        let (_, problems) = checked(text.as_bytes());
        prop_assert!(problems.iter().all(|problem| problem.message.chars().count() < 1000));
    }
}
