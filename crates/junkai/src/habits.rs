//! What hands know from wget, Scrapy and Browsertrix: their flags mean the same at `junkai crawl`, or say what to use instead.
//!
//! Most are aliases in clap, which [`crawl`](crate::command::crawl) declares beside its own flags. [`translated`] writes out what clap cannot have as an alias, before it parses; [`instead`]
//! answers for flags that clap does not know. [`HABITS`] is the one list of all of them: `docs/coming-from.md` is made of it, and a test tries every row.

use std::borrow::Cow;
use std::ffi::OsString;

/// A flag of another crawler.
pub(crate) struct Habit {
    /// Whose it is.
    whose: Crawler,
    /// As it is typed there: each is one way to say it.
    theirs: &'static [&'static str],
    ours: Ours,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Crawler {
    Wget,
    Scrapy,
    Browsertrix,
}

/// What becomes of it here.
#[cfg_attr(
    not(test),
    expect(
        dead_code,
        reason = "what clap does by itself is only told: in the documentation, which a test writes and tries"
    )
)]
enum Ours {
    /// It is the same as these flags.
    Same(&'static str),
    /// It is what a crawl does anyway, for this reason.
    Anyway(&'static str),
    /// It is refused, and this is said instead.
    Instead(&'static str),
}

use Crawler::{Browsertrix, Scrapy, Wget};
use Ours::{Anyway, Instead, Same};

const fn habit(whose: Crawler, theirs: &'static [&'static str], ours: Ours) -> Habit {
    Habit {
        whose,
        theirs,
        ours,
    }
}

const NO_ROBOTS: &str = "robots.txt is always obeyed: there is no switch against it. `junkai explain --archive DIR URL` shows the line that keeps a page out; whoever runs the site can change it";
const WITH_REGEX: &str = "regular expressions say it: --exclude REGEX leaves URLs out, --include REGEX adds some, and `--scope page --include REGEX` follows nothing but what matches";
const TIMEOUTS: &str =
    "[fetch] of junkai.toml has connect_timeout, first_byte_timeout and total_timeout";
const FILES: &str = "pages are kept as WARC records, not as files: `junkai get URL --archive DIR` writes one out, and pywb replays the archive";
const NO_BROWSER: &str =
    "pages are fetched and not run in a browser: there is nothing of that kind";

/// All of them, in the order of the documentation.
#[rustfmt::skip]
pub(crate) const HABITS: &[Habit] = &[
    habit(Wget, &["-r", "--recursive", "-m", "--mirror"], Anyway("links are followed, and pages visited again")),
    habit(Wget, &["--continue"], Anyway("a crawl of the same archive goes on")),
    habit(Wget, &["-l 3", "-l3", "-rl3", "-rl 3", "--level 3", "--level=3"], Same("--depth 3")),
    habit(Wget, &["-l inf", "-l0", "--level=inf", "--level=0"], Anyway("links are followed without end; `--depth 0` would visit the seeds alone")),
    habit(Wget, &["-p", "--page-requisites"], Anyway("what pages need to be shown is fetched; it overrules a `requisites = false` of junkai.toml")),
    habit(Wget, &["-np", "-rnp", "--no-parent"], Same("--scope prefix")),
    habit(Wget, &["-H", "--span-hosts"], Same("--scope any")),
    habit(Wget, &["-w 2", "--wait=2", "--wait 2"], Same("--interval 2s")),
    habit(Wget, &["-i seeds.txt", "--input-file=seeds.txt"], Same("--seeds-file seeds.txt")),
    habit(Wget, &["-Q 10m", "--quota=10m"], Same("--bytes 10MB")),
    habit(Wget, &["-Q inf", "-Q0", "--quota=0", "--quota inf"], Anyway("bytes are received without end; `--bytes 0` would end at once")),
    habit(Wget, &["-U text", "--user-agent=text"], Same("--user-agent text")),
    habit(Wget, &["-P folder", "--directory-prefix=folder", "--warc-file=folder"], Same("--archive folder")),
    habit(Wget, &["--reject-regex x"], Same("--exclude x")),
    habit(Wget, &["-nv", "--no-verbose", "-q"], Same("--quiet")),
    habit(Wget, &["--header=Accept-Language:ja"], Same("--header Accept-Language:ja")),
    habit(Wget, &["--load-cookies=cookies.txt"], Same("--cookies cookies.txt")),
    habit(Wget, &["--user=x", "--http-user=x", "--password=x", "--http-password=x", "--ask-password"], Instead("--login HOST=FILE names a file with user and password, which stay out of sight of other users; docs/access.md tells more")),
    habit(Wget, &["--no-cookies", "--save-cookies=x", "--keep-session-cookies"], Instead("cookies are neither kept nor sent, unless --cookies FILE or --keep-cookies says so")),
    habit(Wget, &["-e robots=off", "--no-robots", "--robots=off"], Instead(NO_ROBOTS)),
    habit(Wget, &["--accept-regex x", "-A x", "--accept x", "-R x", "--reject x", "-X x", "--exclude-directories x", "-I x", "--include-directories x"], Instead(WITH_REGEX)),
    habit(Wget, &["-D x", "--domains x"], Instead("`--include '^https?://([^/]*\\.)?example\\.org[:/]'` adds a domain, and `--scope site` takes all hosts of a seed's")),
    habit(Wget, &["-t 3", "--tries=3", "--waitretry=3"], Instead("[crawl] of junkai.toml has retries_max and retry_delay")),
    habit(Wget, &["-T 3", "--timeout=3", "--connect-timeout=3", "--read-timeout=3", "--dns-timeout=3"], Instead(TIMEOUTS)),
    habit(Wget, &["--limit-rate=20k", "--random-wait"], Instead("one visit at a time goes to a server, and --interval says how long it then rests")),
    habit(Wget, &["-k", "--convert-links", "-E", "--adjust-extension", "-O x", "--output-document=x", "-nc", "--no-clobber", "-nd", "-nH", "-x"], Instead(FILES)),
    habit(Wget, &["-N", "--timestamping"], Instead("a known page is asked for conditionally (If-None-Match, If-Modified-Since) by itself")),
    habit(Wget, &["--spider"], Instead("`junkai crawl --no-requisites --depth N` and `logs/crawl.log` of the archive tell what is there; every answer is kept")),
    habit(Wget, &["--no-check-certificate"], Instead("--extra-roots FILE trusts a certificate authority of yours; fetch.tls_verify = \"lenient\" in junkai.toml takes any certificate and notes what is wrong with it")),
    habit(Wget, &["--warc-cdx", "--warc-max-size=1G", "--no-warc-compression"], Instead("an archive always has its index; [archive] of junkai.toml has rollover_bytes and compression")),
    habit(Scrapy, &["-s DOWNLOAD_DELAY=2", "--set DOWNLOAD_DELAY=2"], Same("--interval 2s")),
    habit(Scrapy, &["-s DEPTH_LIMIT=3"], Same("--depth 3")),
    habit(Scrapy, &["-s DEPTH_LIMIT=0"], Anyway("links are followed without end")),
    habit(Scrapy, &["-s CLOSESPIDER_PAGECOUNT=100"], Same("--pages 100")),
    habit(Scrapy, &["-s CLOSESPIDER_TIMEOUT=60"], Same("--for 60s")),
    habit(Scrapy, &["-s CLOSESPIDER_PAGECOUNT=0", "-s CLOSESPIDER_TIMEOUT=0", "-s CLOSESPIDER_TIMEOUT=0.0"], Anyway("neither pages nor time have an end")),
    habit(Scrapy, &["-s CONCURRENT_REQUESTS=16"], Same("--concurrency 16")),
    habit(Scrapy, &["-s USER_AGENT=text"], Same("--user-agent text")),
    habit(Scrapy, &["-s JOBDIR=folder"], Same("--archive folder")),
    habit(Scrapy, &["-s ROBOTSTXT_OBEY=True"], Anyway("robots.txt is always obeyed")),
    habit(Scrapy, &["-s ROBOTSTXT_OBEY=False"], Instead(NO_ROBOTS)),
    habit(Scrapy, &["-s AUTOTHROTTLE_ENABLED=True"], Anyway("a server that is slow or overloaded is visited more rarely")),
    habit(Scrapy, &["-s DOWNLOAD_TIMEOUT=60"], Instead(TIMEOUTS)),
    habit(Scrapy, &["-s CONCURRENT_REQUESTS_PER_DOMAIN=8", "-s CONCURRENT_REQUESTS_PER_IP=8"], Instead("each server has at most one visit at a time, and no setting changes that")),
    habit(Scrapy, &["-s COOKIES_ENABLED=False", "-s X=1"], Instead("this setting of Scrapy has no flag here; docs/configuration.md has every setting of junkai.toml")),
    habit(Scrapy, &["-o x", "--output x"], Instead("captures are WARC records below DIR/archive; `junkai changes --json`, `junkai get` and `junkai export` write what programs read")),
    habit(Scrapy, &["-L DEBUG", "--loglevel=DEBUG", "--nolog", "--logfile=x"], Instead("-v and -vv say more on standard error, --quiet less; the logs are below DIR/logs")),
    habit(Browsertrix, &["--url example.org/x", "--seeds example.org/x"], Same("example.org/x")),
    habit(Browsertrix, &["--seedFile seeds.txt", "--urlFile seeds.txt"], Same("--seeds-file seeds.txt")),
    habit(Browsertrix, &["--scopeType page"], Same("--scope page")),
    habit(Browsertrix, &["--scopeType prefix"], Same("--scope prefix")),
    habit(Browsertrix, &["--scopeType host"], Anyway("the host of each seed is what a crawl keeps to; it overrules another `preset` of junkai.toml")),
    habit(Browsertrix, &["--scopeType domain"], Same("--scope site")),
    habit(Browsertrix, &["--scopeType any"], Same("--scope any")),
    habit(Browsertrix, &["--scopeType custom", "--scopeType page-spa"], Instead("`--scope page --include REGEX` follows what matches; a page that is made by a script in one place (page-spa) is fetched as it was sent")),
    habit(Browsertrix, &["--depth -1", "--depth=-1"], Anyway("links are followed without end")),
    habit(Browsertrix, &["--limit 100", "--pageLimit 100", "--page-limit 100"], Same("--pages 100")),
    habit(Browsertrix, &["--timeLimit 60", "--time-limit 60"], Same("--for 60s")),
    habit(Browsertrix, &["--sizeLimit 10000000", "--size-limit 10MB"], Same("--bytes 10MB")),
    habit(Browsertrix, &["--limit 0", "--pageLimit=0", "--page-limit 0", "--timeLimit 0", "--time-limit=0", "--sizeLimit 0", "--size-limit=0"], Anyway("neither pages nor time nor bytes have an end; 0 of `--pages`, `--for` or `--bytes` would end at once")),
    habit(Browsertrix, &["--delay 2", "--pageExtraDelay 2"], Same("--interval 2s")),
    habit(Browsertrix, &["--collection folder"], Same("--archive folder")),
    habit(Browsertrix, &["--userAgent text"], Same("--user-agent text")),
    habit(Browsertrix, &["--userAgentSuffix text"], Same("--user-agent-suffix text")),
    habit(Browsertrix, &["--proxyServer socks5://127.0.0.1:9"], Same("--proxy socks5://127.0.0.1:9")),
    habit(Browsertrix, &["--resume"], Anyway("a crawl of the same archive goes on")),
    habit(Browsertrix, &["-c x"], Instead("--archive DIR names the archive; a crawl of the same archive goes on where it stopped")),
    habit(Browsertrix, &["--sitemap x", "--useSitemap", "--sitemapFromDate x"], Instead("sitemaps that robots.txt names are read by themselves, and a seed may be one; --sitemap-only follows nothing else")),
    habit(Browsertrix, &["--saveState always", "--saveStateInterval 60"], Instead("a crawl's state is always kept, every few seconds (crawl.checkpoint_every)")),
    habit(Browsertrix, &["--generateWACZ", "--generateCDX", "--combineWARC"], Instead("`archive/` and `indexes/` of an archive are laid out as in a WACZ, with the index beside the WARC files")),
    habit(Browsertrix, &["--rolloverSize 1000", "--diskUtilization 90"], Instead("archive.rollover_bytes and crawl.disk_free_min of junkai.toml say that")),
    habit(Browsertrix, &["--pageLoadTimeout 90", "--netIdleWait 5"], Instead(TIMEOUTS)),
    habit(Browsertrix, &["--behaviors autoscroll", "--behaviorTimeout 90", "--waitUntil load", "--screenshot view", "--text to-warc", "--profile x", "--blockAds", "--headless"], Instead(NO_BROWSER)),
    habit(Browsertrix, &["--extraHops 1"], Instead("`--depth N` bounds links from a seed, and `--include REGEX` adds what lies outside the scope")),
];

/// The arguments with what clap cannot have as an alias written out: flags of two letters behind one dash, settings of Scrapy, and words for "without end".
///
/// # Errors
/// What to use instead of a flag that cannot be honoured.
pub(crate) fn translated(arguments: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let is_word = |argument: &OsString| !argument.as_encoded_bytes().starts_with(b"-");
    let command = arguments.iter().skip(1).position(is_word);
    let Some(command) = command.map(|at| at + 1) else {
        return Ok(arguments);
    };
    if arguments[command] != "crawl" {
        return Ok(arguments);
    }
    let mut rest = arguments.into_iter();
    let mut ours: Vec<OsString> = rest.by_ref().take(command + 1).collect();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            ours.push(argument);
            ours.extend(rest);
            break;
        }
        let Some(text) = argument.to_str() else {
            ours.push(argument);
            continue;
        };
        let (switches, text) = parted_switches(text);
        ours.extend(switches);
        match &*text {
            "-np" => ours.push("--no-parent".into()),
            "-nv" => ours.push("--quiet".into()),
            "-nc" | "-nd" | "-nH" => return Err(refusal(&text, FILES)),
            _ => match parted(&text) {
                None => ours.push(OsString::from(&*text)),
                Some((kind, value)) => {
                    let next = || rest.next().and_then(|value| value.into_string().ok());
                    let value = value.map(str::to_owned).or_else(next);
                    let value = value.ok_or_else(|| format!("{text} wants a value"))?;
                    ours.extend(kind.written_out(&value)?.map(OsString::from));
                }
            },
        }
    }
    Ok(ours)
}

/// Switches of one letter that share an argument with a flag which clap cannot read behind them, as in `-rl3`; and that flag, or the argument as it is.
fn parted_switches(argument: &str) -> (Vec<OsString>, Cow<'_, str>) {
    const SWITCHES: &str = "rmpHqv";
    const FLAGS: &str = "lQn";
    let letters = argument.strip_prefix('-').unwrap_or_default();
    let rest = letters.trim_start_matches(|letter| SWITCHES.contains(letter));
    if rest.len() == letters.len() || !rest.starts_with(|letter| FLAGS.contains(letter)) {
        return (Vec::new(), argument.into());
    }
    let switches = letters[..letters.len() - rest.len()].chars();
    let switches = switches.map(|letter| format!("-{letter}").into());
    (switches.collect(), format!("-{rest}").into())
}

/// A flag whose value decides what becomes of it.
#[derive(Clone, Copy)]
enum Valued {
    /// Another crawler's, of which 0 is no bound, for this flag of ours, of which 0 is a bound.
    Limit(&'static str),
    /// Ours, of which 0 is the seeds alone, and Browsertrix's.
    Depth,
    ScrapySetting,
}

/// The flag, and its value where it is in the same argument.
fn parted(argument: &str) -> Option<(Valued, Option<&str>)> {
    let flags = [
        ("--level", Valued::Limit("depth")),
        ("-l", Valued::Limit("depth")),
        ("--quota", Valued::Limit("bytes")),
        ("-Q", Valued::Limit("bytes")),
        ("--sizeLimit", Valued::Limit("bytes")),
        ("--size-limit", Valued::Limit("bytes")),
        ("--limit", Valued::Limit("pages")),
        ("--pageLimit", Valued::Limit("pages")),
        ("--page-limit", Valued::Limit("pages")),
        ("--timeLimit", Valued::Limit("for")),
        ("--time-limit", Valued::Limit("for")),
        ("--depth", Valued::Depth),
        ("--set", Valued::ScrapySetting),
        ("-s", Valued::ScrapySetting),
    ];
    flags.into_iter().find_map(|(flag, kind)| {
        let rest = argument.strip_prefix(flag)?;
        match rest.strip_prefix('=') {
            Some(value) => Some((kind, Some(value))),
            None if rest.is_empty() => Some((kind, None)),
            // A short flag may be followed by its value.
            None if flag.len() == 2 => Some((kind, Some(rest))),
            None => None,
        }
    })
}

impl Valued {
    fn written_out(self, value: &str) -> Result<impl Iterator<Item = String> + use<>, String> {
        let flag = |name: &str, value: &str| vec![format!("--{name}={value}")];
        let arguments = match self {
            Valued::Limit(_) if is_endless(value) => Vec::new(),
            Valued::Limit(ours) => flag(ours, value),
            Valued::Depth if value == "-1" => Vec::new(),
            Valued::Depth => flag("depth", value),
            Valued::ScrapySetting => {
                let (name, value) = value.split_once('=').unwrap_or((value, ""));
                match (name, value) {
                    ("DEPTH_LIMIT" | "CLOSESPIDER_PAGECOUNT" | "CLOSESPIDER_TIMEOUT", endless)
                        if is_endless(endless) =>
                    {
                        Vec::new()
                    }
                    ("DEPTH_LIMIT", _) => flag("depth", value),
                    ("DOWNLOAD_DELAY", _) => flag("interval", value),
                    ("CLOSESPIDER_PAGECOUNT", _) => flag("pages", value),
                    ("CLOSESPIDER_TIMEOUT", _) => flag("for", value),
                    ("CONCURRENT_REQUESTS", _) => flag("concurrency", value),
                    ("USER_AGENT", _) => flag("user-agent", value),
                    ("JOBDIR", _) => flag("archive", value),
                    ("ROBOTSTXT_OBEY" | "AUTOTHROTTLE_ENABLED", "True" | "true" | "1") => {
                        Vec::new()
                    }
                    _ => return Err(refusal(&format!("-s {name}"), scrapy_instead(name))),
                }
            }
        };
        Ok(arguments.into_iter())
    }
}

/// Whether a limit of another crawler is none.
fn is_endless(value: &str) -> bool {
    matches!(value, "0" | "0.0" | "inf")
}

fn scrapy_instead(setting: &str) -> &'static str {
    let theirs = format!("-s {setting}=");
    let rows = HABITS.iter().filter(|habit| habit.whose == Scrapy);
    let mut told = rows.filter_map(|habit| match habit.ours {
        Instead(text) if habit.theirs.iter().any(|it| it.starts_with(&theirs)) => Some(text),
        _ => None,
    });
    told.next().unwrap_or(
        "this setting of Scrapy has no flag here; docs/configuration.md has every setting of junkai.toml",
    )
}

/// What to say of a flag that clap does not know, or of a value that it refuses; nothing if it is nobody's.
pub(crate) fn instead(error: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let flag = text(ContextKind::InvalidArg)?;
    let is_same = |theirs: &&&str| match error.kind() {
        ErrorKind::UnknownArgument => {
            let name = theirs.split(['=', ' ']).next();
            name == flag.split('=').next()
        }
        ErrorKind::InvalidValue => {
            let value = text(ContextKind::InvalidValue).unwrap_or_default();
            let is_scope = flag.starts_with("--scope") && theirs.starts_with("--scopeType");
            is_scope && theirs.split(' ').nth(1) == Some(value)
        }
        _ => false,
    };
    HABITS.iter().find_map(|habit| match habit.ours {
        Instead(told) => {
            let theirs = habit.theirs.iter().find(is_same)?;
            Some(refusal(theirs.split(['=', ' ']).next()?, told))
        }
        Same(_) | Anyway(_) => None,
    })
}

fn refusal(flag: &str, told: &str) -> String {
    format!("there is no {flag}: {told}")
}

#[cfg(test)]
mod tests;
