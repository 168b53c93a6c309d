use std::fs;

use junkai_archive::logs::rotated_name;

use super::*;
use crate::annotation::BACK;
use crate::log::Event;

/// A line of a page's visit, so many seconds after the first.
fn line(second: i64, path: &str, status: i32, change: Option<&str>, word: Option<&str>) -> String {
    let event = Event {
        time: Timestamp::from_second(1_768_469_400 + second).unwrap(),
        status,
        url: format!("http://a.example/{path}").into(),
        hops: "L".into(),
        change: change.map(Into::into),
        annotations: word.into_iter().map(Into::into).collect(),
        ..Event::default()
    };
    serde_json::to_string(&event).unwrap() + "\n"
}

fn new(second: i64, path: &str) -> String {
    line(second, path, 200, None, None)
}

struct Archive(tempfile::TempDir);

impl Archive {
    fn new() -> Archive {
        let folder = tempfile::tempdir().unwrap();
        for name in ["state", "logs", "indexes", "archive"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Archive(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn log(&self) -> PathBuf {
        self.path().join("logs/events.jsonl")
    }

    fn append(&self, text: &str) {
        use std::io::Write as _;
        let mut options = fs::OpenOptions::new();
        let file = options.append(true).create(true).open(self.log());
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn rotate_log(&self, second: i64) -> PathBuf {
        let name = rotated_name(&self.log(), Timestamp::from_second(second).unwrap());
        fs::rename(self.log(), &name).unwrap();
        name
    }
}

/// What a batch tells: what, of which page; and the identifiers.
fn told(batch: &Batch) -> (Vec<String>, Vec<String>) {
    let lines = std::str::from_utf8(&batch.lines).unwrap().lines();
    let values: Vec<serde_json::Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(values.len(), batch.changes);
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let what = |it: &serde_json::Value| {
        let page = text(&it["url"]).rsplit('/').next().unwrap().to_owned();
        format!("{} {page}", text(&it["what"]))
    };
    let ids = values.iter().map(|it| text(&it["id"])).collect();
    (values.iter().map(what).collect(), ids)
}

fn read(source: &mut Source, changes_max: usize) -> Vec<String> {
    let mut batch = Batch::default();
    source.fill(&mut batch, changes_max).unwrap();
    told(&batch).0
}

#[test]
fn changes_are_told_once_in_batches_and_what_is_no_change_is_not() {
    let archive = Archive::new();
    let mut source = Source::new(archive.path(), Cursor::default());
    assert_eq!(read(&mut source, 10), [""; 0], "there is no log");
    archive.append(&new(0, "a"));
    archive.append(&line(1, "a", 200, Some("same"), None));
    archive.append(&line(2, "a", 200, Some("changed:0.500"), None));
    archive.append(&line(3, "b", 404, None, None));
    archive.append(&line(4, "a", 404, Some("gone"), None));
    archive.append("{\"torn");
    assert_eq!(read(&mut source, 2), ["new a", "changed a"]);
    assert_eq!(read(&mut source, 2), ["gone a"]);
    assert_eq!(read(&mut source, 2), [""; 0], "the last line is not whole");
    archive.append("\"}\n");
    archive.append(&new(5, "c"));
    assert_eq!(read(&mut source, 2), ["new c"]);
    let again = Source::new(archive.path(), source.cursor().clone());
    assert_eq!(again.pending().unwrap(), (0, false));
    let all = Source::new(archive.path(), Cursor::default());
    assert_eq!(all.pending().unwrap(), (4, false));
}

#[test]
fn a_page_that_is_back_is_new_to_whoever_was_told_that_it_is_gone() {
    let archive = Archive::new();
    fs::write(
        archive.path().join("indexes/a.cdxj"),
        "example,a)/x 20260115093000 {\"url\":\"http://a.example/x\",\"mime\":\"text/html\",\"status\":\"404\",\"digest\":\"sha1:A\",\"length\":\"1\",\"offset\":\"0\",\"filename\":\"a.warc.gz\"}\n",
    )
    .unwrap();
    let mut source = Source::new(archive.path(), Cursor::default());
    archive.append(&line(10, "x", 200, Some("same"), Some(BACK)));
    // It merely could not be reached for a while: the index has no 404 of it.
    archive.append(&line(11, "y", 200, Some("same"), Some(BACK)));
    archive.append(&line(12, "x", 200, Some("same"), None));
    // Gone, and it was gone at the last visit: nobody hears of it twice.
    archive.append(&line(13, "x", 404, Some("gone"), None));
    assert_eq!(read(&mut source, 10), ["new x"]);
}

#[test]
fn the_cursor_finds_its_place_again_whatever_became_of_the_files() {
    let archive = Archive::new();
    archive.append(&[new(0, "a"), new(1, "b")].concat());
    let mut source = Source::new(archive.path(), Cursor::default());
    assert_eq!(read(&mut source, 1), ["new a"]);
    let cursor = source.cursor().clone();
    let rotated = archive.rotate_log(1_800_000_000);
    archive.append(&new(2, "c"));
    // The one that reads goes on behind the file that was renamed, and so does one that begins anew.
    assert_eq!(read(&mut source, 10), ["new b", "new c"]);
    let mut anew = Source::new(archive.path(), cursor.clone());
    assert_eq!(read(&mut anew, 10), ["new b", "new c"]);
    archive.append(&new(3, "d"));
    assert_eq!(read(&mut anew, 10), ["new d"]);
    // Without the file nothing is told twice; that something was not told at all is counted.
    fs::remove_file(rotated).unwrap();
    let mut anew = Source::new(archive.path(), cursor);
    assert_eq!(read(&mut anew, 10), ["new c", "new d"]);
    assert_eq!(anew.gaps, 1);
    // A power failure cut the log: what is visited again is told again.
    let cursor = anew.cursor().clone();
    fs::write(archive.log(), new(2, "c")).unwrap();
    let mut anew = Source::new(archive.path(), cursor);
    assert_eq!(read(&mut anew, 10), [""; 0]);
    archive.append(&new(9, "d"));
    assert_eq!(read(&mut anew, 10), ["new d"]);
}

#[test]
fn what_is_logged_just_before_the_log_is_rotated_is_told() {
    let archive = Archive::new();
    archive.append(&new(0, "a"));
    let mut source = Source::new(archive.path(), Cursor::default());
    assert_eq!(read(&mut source, 10), ["new a"]);
    // Between the read that saw the end and the look whether the file was rotated.
    archive.append(&[&new(1, "b"), "{\"torn"].concat());
    archive.rotate_log(1_800_000_000);
    archive.append(&new(2, "c"));
    assert!(source.follow().unwrap());
    assert_eq!(read(&mut source, 10), ["new b", "new c"]);
    // The same where somebody moves the file away.
    archive.append(&new(3, "d"));
    let rotated = archive.rotate_log(1_800_000_001);
    fs::rename(rotated, archive.path().join("elsewhere")).unwrap();
    archive.append(&new(4, "e"));
    assert!(source.follow().unwrap());
    assert_eq!(read(&mut source, 10), ["new d", "new e"]);
}

#[test]
fn a_change_has_the_same_identifier_whenever_it_is_told_and_no_other_has() {
    let archive = Archive::new();
    archive.append(&[new(0, "a"), new(1, "a"), new(0, "b")].concat());
    let ids = || {
        let mut batch = Batch::default();
        let mut source = Source::new(archive.path(), Cursor::default());
        source.fill(&mut batch, 10).unwrap();
        told(&batch).1
    };
    let mut all = ids();
    assert_eq!(all, ids());
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 3);
}

#[test]
fn a_hook_that_is_new_to_an_archive_hears_of_what_happens_from_then_on() {
    let archive = Archive::new();
    archive.append(&new(0, "before"));
    archive.append("{\"torn");
    let kept = Kept::open(archive.path(), Kind::Run).unwrap();
    archive.append("\"}\n");
    archive.append(&new(1, "after"));
    let mut source = Source::new(archive.path(), kept.cursor);
    assert_eq!(read(&mut source, 10), ["new after"]);
    let again = Kept::open(archive.path(), Kind::Run).unwrap();
    let report = again.report(archive.path(), Kind::Run, 0).unwrap();
    assert_eq!((report.delivered, report.pending), (0, 1));
}

#[test]
fn a_program_that_fails_or_takes_too_long_has_not_taken_it() {
    let archive = Archive::new();
    let take = |script: &str, timeout: Duration| {
        let program = program::Program::new("sh", &["-c".into(), script.into()], archive.path());
        program.take(b"one\ntwo\n", timeout, &Ending::default())
    };
    let long = Duration::from_mins(10);
    let out = archive.path().join("out");
    let keep = format!(
        "cat >> {}; test -d \"$JUNKAI_ARCHIVE/state\"",
        out.display()
    );
    assert_eq!(take(&keep, long), Ok(()));
    assert_eq!(fs::read_to_string(&out).unwrap(), "one\ntwo\n");
    // It need not read.
    assert_eq!(take("true", long), Ok(()));
    let said = take("echo no >&2; exit 3", long).unwrap_err();
    assert_eq!(said, "sh: exit code 3: no");
    // However much it complains, it neither blocks nor fills memory.
    let said = take("yes no | head -c 10000000 >&2; exit 3", long).unwrap_err();
    assert!(said.len() < 3000, "{}", said.len());
    let said = take("sleep 600 & wait", Duration::from_millis(100)).unwrap_err();
    assert!(said.contains("longer than 100ms"), "{said}");
    let program = program::Program::new("no-such-program", &[], archive.path());
    let said = program.take(b"", long, &Ending::default()).unwrap_err();
    assert!(said.starts_with("cannot start no-such-program"), "{said}");
    let over = Ending::default();
    over.end_by(Instant::now());
    let said = program::Program::new("sleep", &["600".into()], archive.path());
    let said = said.take(b"", long, &over).unwrap_err();
    assert!(said.contains("the crawl ended"), "{said}");
}

/// An hour and more: whatever waits for it hangs.
const LONG: Duration = Duration::from_hours(2);

/// The hooks of an archive whose changes go to a script, each by itself and at once.
fn told_to(archive: &Archive, script: &str) -> Hooks {
    let mut settings = Settings::default();
    settings.hook.run = vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()];
    start(archive, settings)
}

fn start(archive: &Archive, mut settings: Settings) -> Hooks {
    settings.hook.batch_max = std::num::NonZeroUsize::MIN;
    settings.hook.batch_time = Duration::ZERO;
    settings.hook.timeout = LONG;
    Hooks::start(archive.path(), &settings, &Arc::new(Progress::default())).unwrap()
}

fn wait_for(path: &Path) {
    let deadline = Instant::now() + Duration::from_mins(3);
    while !path.exists() {
        assert!(Instant::now() < deadline, "{} is missing", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn identifiers(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let id = |line: &str| {
        let change: serde_json::Value = serde_json::from_str(line).unwrap();
        change["id"].as_str().unwrap().to_owned()
    };
    text.lines().map(id).collect()
}

#[test]
fn a_delivery_that_is_under_way_when_the_crawl_ends_is_finished_and_so_is_what_is_left() {
    let archive = Archive::new();
    let file = |name: &str| archive.path().join(name);
    let (started, go, out) = (file("started"), file("go"), file("out"));
    let script = format!(
        "touch {0}; while ! test -e {1}; do sleep 0.01; done; cat >> {2}",
        started.display(),
        go.display(),
        out.display()
    );
    let mut hooks = told_to(&archive, &script);
    archive.append(&new(0, "a"));
    wait_for(&started);
    archive.append(&new(1, "b"));
    let ending = Arc::clone(&hooks.threads[0].0);
    let releasing = std::thread::spawn(move || {
        // Only when the end was asked for, while the delivery is under way.
        ending.asked_within(LONG);
        fs::write(go, "").unwrap();
    });
    let reports = hooks.finish_by(Instant::now() + LONG).unwrap();
    releasing.join().unwrap();
    assert_eq!((reports[0].delivered, reports[0].pending), (2, 0));
    assert_eq!(reports[0].error, None);
    assert_eq!(identifiers(&out).len(), 2);
}

#[test]
fn a_delivery_that_does_not_end_in_time_is_broken_off_and_made_again_by_the_next_run() {
    let archive = Archive::new();
    let (started, out) = (archive.path().join("started"), archive.path().join("out"));
    let script = format!(
        "cat > {0}.part; mv {0}.part {0}; exec sleep 7200",
        started.display()
    );
    let mut hooks = told_to(&archive, &script);
    archive.append(&new(0, "a"));
    wait_for(&started);
    // Waiting for the program would take its two hours.
    let report = hooks.finish_by(Instant::now()).unwrap().remove(0);
    assert_eq!(
        (report.delivered, report.pending, report.failures),
        (0, 1, 1)
    );
    let reason = report.error.unwrap().reason;
    assert!(reason.contains("the crawl ended before it did"), "{reason}");

    let mut hooks = told_to(&archive, &format!("cat >> {}", out.display()));
    let report = hooks.finish_by(Instant::now() + LONG).unwrap().remove(0);
    assert_eq!(
        (report.delivered, report.pending, report.failures),
        (1, 0, 1)
    );
    assert_eq!(identifiers(&out), identifiers(&started), "the same change");
}

#[test]
fn a_server_that_never_answers_is_not_waited_for_beyond_the_end() {
    let archive = Archive::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut settings = Settings::default();
    settings.hook.post = Some(format!("http://{}/", listener.local_addr().unwrap()));
    let mut hooks = start(&archive, settings);
    archive.append(&new(0, "a"));
    let (_silent, _) = listener.accept().unwrap();
    let report = hooks.finish_by(Instant::now()).unwrap().remove(0);
    assert_eq!(
        (report.delivered, report.pending, report.failures),
        (0, 1, 1)
    );
}

#[test]
fn a_hook_whose_thread_panics_is_an_error_of_the_crawl() {
    let error = Hooks::broken().finish().unwrap_err();
    assert!(matches!(error, CrawlError::Bug { .. }), "{error}");
}
