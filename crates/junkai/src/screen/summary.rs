//! What a run came to, at its end: for people, or as a JSON line.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::time::Duration;

use junkai_crawler::status::{
    CONNECT_FAILED, DNS_FAILED, ROBOTS_DENIED, ROBOTS_UNREACHABLE, TIMED_OUT,
};
use junkai_crawler::{ArchiveFolder, Ended, FailedSeed, HookReport, Snapshot, Summary};
use junkai_simulation::outcome::grouped;
use unicode_width::UnicodeWidthStr as _;

use super::{Style, bytes, clock};
use crate::command::crawl::RunArguments;
use crate::print::{say, short, shown};
use crate::telling::counted;

/// Spaces before what goes on in another line.
const INDENT: &str = "      ";

/// Prints a line to standard output; where that is a terminal, in as many as it takes.
macro_rules! put {
    ($($text:tt)*) => {
        say!("{}", wrapped(&format!($($text)*), columns()))
    };
}

/// Columns that a line may take; no bound where standard output is no terminal.
fn columns() -> usize {
    let told = io::stdout().is_terminal();
    let told = told.then(|| rustix::termios::tcgetwinsize(io::stdout()).ok());
    match told.flatten() {
        None => usize::MAX,
        Some(told) if told.ws_col == 0 => usize::MAX,
        Some(told) => usize::from(told.ws_col),
    }
}

/// The text, with line feeds between words where a line would be too long. What is too long itself stays as it is.
fn wrapped(text: &str, columns: usize) -> String {
    let (mut out, mut used, mut has_word) = (String::new(), 0, false);
    for (at, word) in text.split(' ').enumerate() {
        let gap = usize::from(0 < at);
        if has_word && !word.is_empty() && columns < used + gap + word.width() {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(INDENT);
            used = INDENT.len();
        } else if gap == 1 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += word.width();
        has_word |= !word.is_empty();
    }
    out
}

/// Prints what the crawl came to, where things are, and what to do next.
pub(crate) fn summarise(archive: &Path, run: &RunArguments, summary: &Summary) {
    if run.style() == Style::Json {
        let line = serde_json::json!({ "type": "summary", "archive": archive, "summary": summary });
        say!("{line}");
        return;
    }
    let now = &summary.progress;
    let seconds = summary.seconds.max(0.001);
    let folder = archive.display();
    put!("{}", headline(summary));
    put!(
        "  {} pages in {}, {:.1} a second, {} received",
        grouped(now.pages),
        clock(Duration::from_secs_f64(seconds)),
        now.pages as f64 / seconds,
        bytes(now.bytes_received)
    );
    if 0 < now.revisits + now.pages_known {
        put!(
            "  {} were revisits, of which {} found a change; {} will be visited again, {} were given up",
            grouped(now.revisits),
            grouped(now.changed),
            counted(now.pages_known, "page"),
            grouped(now.given_up)
        );
    }
    put!(
        "  {} known, {} waiting, {} servers, {} errors, {} kept out by robots.txt",
        grouped(now.known),
        grouped(now.waiting),
        grouped(now.servers),
        grouped(now.errors),
        grouped(now.robots_denied)
    );
    if let Some(shared) = shared(now) {
        put!("  {shared}");
    }
    tell_what_is_missing(archive, now);
    if 0 < now.servers_behind {
        put!(
            "  {} cannot have every page visited as often as revisit.at_least says, at this pace; `junkai state stats` names them",
            counted(now.servers_behind, "server")
        );
    }
    if let (refused, lost) = before(summary)
        && 0 < refused + lost
    {
        put!(
            "  earlier runs refused {}, and lost {}; they are taken in where a page that is visited again leads to them: \
             junkai revisit --archive {folder} --host HOST visits the pages of a host, and the log says whose links were refused (urlsRefused)",
            counted(refused, "new URL"),
            counted(lost, "waiting visit")
        );
    }
    tell_of_hooks(summary);
    tell_of_failed_seeds(run.seeds_left_out, summary);
    put!(
        "  captures  {folder}/archive/   {} in this run",
        bytes(now.bytes_stored)
    );
    put!("  index     {folder}/indexes/");
    put!("  log       {folder}/logs/crawl.log");
    what_next(run.go_on, archive, summary.ended);
}

/// What sharing the pace of servers with other crawls of this machine has cost; nothing if no visit waited.
fn shared(now: &Snapshot) -> Option<String> {
    let visits = now.waited_for_others;
    (0 < visits).then(|| {
        format!(
            "{} waited for another crawl of this machine that visits the same server, {} in all",
            counted(visits, "visit"),
            short(Duration::from_millis(now.waited_for_others_ms).as_secs_f64())
        )
    })
}

/// Says what may be done with the archive.
fn what_next(go_on: &str, archive: &Path, ended: Ended) {
    let folder = archive.display();
    put!("Next:");
    let why = match ended {
        Ended::Complete => "keep it up to date",
        _ => "go on from here",
    };
    let mut next = vec![
        (format!("{go_on} --archive {folder}"), why),
        (
            format!("junkai stats --archive {folder}"),
            "what the archive holds",
        ),
        (
            format!("junkai state stats --archive {folder}"),
            "which pages are visited again, and when",
        ),
        (
            format!("junkai explain --archive {folder} URL"),
            "what happened to a URL, and why",
        ),
    ];
    let captures = ArchiveFolder::real(archive).warcs().path().read_dir();
    if captures.is_ok_and(|mut files| files.next().is_some()) {
        let check = format!("junkai warc check {folder}/archive/*");
        next.push((check, "prove every record"));
    }
    let width = next.iter().map(|(command, _)| command.width()).max();
    let width = width.unwrap_or_default();
    for (command, why) in next {
        let gap = width - command.width();
        put!("  {command}{:gap$}   {why}", "");
    }
}

/// How the run ended, in a sentence.
fn headline(summary: &Summary) -> &'static str {
    let now = &summary.progress;
    match summary.ended {
        Ended::NoSitemap => {
            "No sitemap was found, and pages are taken from sitemaps alone: nothing but the seeds was visited."
        }
        Ended::NothingReached => "Nothing could be visited: every seed failed.",
        Ended::Complete | Ended::TimeReached if !summary.failed_seeds.is_empty() => {
            "Nothing could be visited: every seed that was tried failed."
        }
        Ended::Complete if 0 < now.visits_lost => {
            "The crawl has ended, but waiting visits were LOST."
        }
        Ended::Complete if now.pages == 0 && 0 < now.errors => "Nothing could be visited.",
        Ended::Complete if 0 < now.urls_refused => {
            "The crawl is complete, but for URLs that were refused because too many waited."
        }
        Ended::Complete if 0 < now.discarded => {
            "The crawl is complete, but for what found no room in the ring."
        }
        Ended::Complete if before(summary) != (0, 0) => {
            "Everything that is known has been visited; what earlier runs refused or lost is not."
        }
        Ended::Complete => "The crawl is complete: everything in scope has been visited once.",
        Ended::PagesReached => "Stopped: the number of pages asked for is reached.",
        Ended::BytesReached => "Stopped: the number of bytes asked for is received.",
        Ended::TimeReached => "Stopped: the time asked for is over.",
        Ended::Stopped => "Stopped on request.",
    }
}

fn tell_of_hooks(summary: &Summary) {
    for hook in &summary.hooks {
        put!("  {}", shown(&hook_in_words(hook)));
    }
}

/// What a hook has come to.
fn hook_in_words(hook: &HookReport) -> String {
    let more = if hook.more_pending { "more than " } else { "" };
    let mut text = format!(
        "hook.{}: {} delivered ({} in this run), {more}{} pending",
        hook.hook,
        counted(hook.delivered, "change"),
        grouped(hook.delivered_now),
        grouped(hook.pending),
    );
    if 0 < hook.pending {
        text.push_str("; the next run delivers them");
    }
    if 0 < hook.gaps {
        text.push_str("; log files were moved away while it had not read them: what they told is not delivered");
    }
    if let Some(error) = &hook.error {
        let failures = counted(hook.failures, "failure");
        let last = format!(
            "; {failures}, the last at {:.0}: {}",
            error.time, error.reason
        );
        text.push_str(&last);
    }
    text
}

/// URLs that were refused and visits that were lost in earlier runs.
fn before(summary: &Summary) -> (u64, u64) {
    let (all, now) = (&summary.losses, &summary.progress);
    (
        all.urls_refused.saturating_sub(now.urls_refused),
        all.visits_lost.saturating_sub(now.visits_lost),
    )
}

/// Says how many lines were no seeds, why no page has come, what helps, and what the last trouble was if that says more.
fn tell_of_failed_seeds(left_out: u64, summary: &Summary) {
    if 0 < left_out {
        let lines = counted(left_out, "bad line");
        put!("  {lines} left out of the list of seeds");
    }
    for seed in summary.failed_seeds.iter().chain(&summary.sitemaps_tried) {
        put!("  {}: {}", shown(&seed.url), shown(&seed.reason));
    }
    if summary.ended == Ended::NoSitemap {
        put!(
            "  what helps: name the sitemap or feed itself as a seed; without --sitemap-only the links of pages are followed"
        );
    }
    let hints: BTreeSet<&str> = summary.failed_seeds.iter().filter_map(what_helps).collect();
    for hint in hints {
        put!("  what helps: {hint}");
    }
    let trouble = summary.progress.trouble.as_ref();
    if let Some(trouble) = trouble.filter(|trouble| !is_told(trouble, &summary.failed_seeds)) {
        put!("  last trouble: {}", shown(trouble));
    }
}

/// Whether a trouble, which is a URL and a reason, is why a seed failed.
fn is_told(trouble: &str, failed: &[FailedSeed]) -> bool {
    let reason = trouble
        .split_once(": ")
        .map_or(trouble, |(_, reason)| reason);
    let is_of = |seed: &FailedSeed| seed.reason.contains(reason) || trouble.contains(&seed.reason);
    failed.iter().any(is_of)
}

/// What the user can do about a seed that failed.
fn what_helps(seed: &FailedSeed) -> Option<&'static str> {
    let says = |word: &str| seed.reason.contains(word);
    if says("the proxy") {
        return Some(if says("login") {
            "put user:password into a file, and say --proxy-login FILE"
        } else if says("refused CONNECT") || says("does not allow") {
            "have the proxy allow CONNECT to this port (squid: SSL_ports; tinyproxy: ConnectPort), or --proxy none"
        } else if says("could not reach the server") {
            "check that the server runs and can be reached from the proxy, and the port"
        } else {
            "check that the proxy runs, its address and its kind (http:// or socks5://); --proxy none goes without"
        });
    }
    if says("certificate authority itself") {
        return Some(
            "give the server a certificate of its own, signed by that authority; fetch.tls_verify = \"lenient\" in junkai.toml takes any certificate and notes what is wrong with it",
        );
    }
    if says("TLS") && says("certificate") {
        return Some(
            "check the server's certificate and the name in the URL; --extra-roots FILE trusts a certificate authority of your own",
        );
    }
    if says("TLS") {
        return Some("check that the server speaks https on this port; http:// is another URL");
    }
    if says("not a usable HTTP answer") || says("connection ended") {
        return Some("check the port, and whether the server wants https://");
    }
    if says("Crawl-delay") {
        return Some(
            "say the same again when the rest is over; politeness.crawl_delay_max says how much of a Crawl-delay is obeyed",
        );
    }
    if says("asks for rest") {
        return Some("say the same again when the rest is over; junkai keeps to it");
    }
    match seed.status {
        DNS_FAILED => Some("check the host's name, and that this machine can resolve names"),
        CONNECT_FAILED | ROBOTS_UNREACHABLE | TIMED_OUT => {
            Some("check that the server runs and can be reached from here, and the port")
        }
        404 | 410 => Some("check the address: the server has no such page"),
        401 => Some(
            "the server wants a login: put user:password into a file and say --login HOST=FILE (HOST:PORT where the URL has a port), or --cookies FILE",
        ),
        403 => Some(
            "the server lets not everybody in; --login HOST=FILE or --cookies FILE says who you are",
        ),
        ROBOTS_DENIED => Some(
            "robots.txt keeps crawlers out of this page; `junkai explain --archive DIR URL` shows the line",
        ),
        _ => None,
    }
}

/// Says what was found and is not in the archive, and what helps.
fn tell_what_is_missing(archive: &Path, now: &Snapshot) {
    let folder = archive.display();
    if 0 < now.discarded {
        put!(
            "  {} URLs found no room in the ring and were discarded",
            grouped(now.discarded)
        );
    }
    if 0 < now.bodies_cut {
        put!(
            "  {} not kept to the end: too long (fetch.max_body_bytes), too slow (fetch.total_timeout, fetch.min_rate) or broken off by the server; the log \
             says which (lenTrunc, timeTrunc, midFetchTrunc)",
            match now.bodies_cut {
                1 => "1 answer was".to_owned(),
                more => format!("{} answers were", grouped(more)),
            }
        );
    }
    if 0 < now.links_left_out {
        put!(
            "  {} were left out: their pages have too many, or they are too long (links.max_links, links.max_url_length, backlog.page_bytes_max); \
             the log says which pages (linksLeftOut)",
            counted(now.links_left_out, "link")
        );
    }
    if 0 < now.urls_refused {
        put!(
            "  {} were refused: as many bytes waited as may (backlog.host_bytes_max, backlog.bytes_max); the log says whose links they were (urlsRefused), \
             and they are taken in when they are found again",
            counted(now.urls_refused, "new URL")
        );
    }
    if 0 < now.visits_lost {
        put!(
            "  {} LOST: files of {folder}/state/backlog were damaged from outside; check the disk. To find them again: move {folder}/state/seen aside (the \
             next start makes it anew, without them), have the pages visited that link to them (junkai revisit --archive {folder} --host HOST), and crawl on",
            counted(now.visits_lost, "waiting visit")
        );
    }
    if 0 < now.states_lost {
        put!(
            "  {} LOST: files of {folder}/state/time_queue were damaged from outside; check the disk. These pages stay in the archive and are not visited \
             again by themselves; junkai revisit --archive {folder} --host HOST visits them once more",
            counted(now.states_lost, "state of a known page")
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_wrapped_between_words() {
        let text = "  12 pages in all,   of which none";
        assert_eq!(wrapped(text, usize::MAX), text);
        assert_eq!(wrapped(text, text.len()), text);
        assert_eq!(
            wrapped(text, 18),
            "  12 pages in all,\n      of which\n      none"
        );
        assert_eq!(
            wrapped("  http://a.example/long", 5),
            "  http://a.example/long"
        );
    }

    #[test]
    fn what_sharing_a_pace_costs_is_told_with_its_time() {
        let mut now = Snapshot::default();
        assert_eq!(shared(&now), None);
        (now.waited_for_others, now.waited_for_others_ms) = (1200, 90_000);
        let told = "1,200 visits waited for another crawl of this machine that visits the same server, 1.5 min in all";
        assert_eq!(shared(&now).as_deref(), Some(told));
    }

    #[test]
    fn a_trouble_that_is_why_a_seed_failed_is_told_with_the_seed() {
        let seed = FailedSeed {
            url: "http://a.example/".to_owned(),
            status: CONNECT_FAILED,
            reason: "robots.txt cannot be had (refused)".to_owned(),
        };
        let failed = [seed];
        assert!(is_told("http://a.example/robots.txt: refused", &failed));
        assert!(is_told(
            "http://a.example/: robots.txt cannot be had (refused)",
            &failed
        ));
        assert!(!is_told("http://a.example/: timed out", &failed));
    }
}
