//! What a run came to, at its end: for people, or as a JSON line.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use junkai_crawler::status::{
    CONNECT_FAILED, DNS_FAILED, ROBOTS_DENIED, ROBOTS_UNREACHABLE, TIMED_OUT,
};
use junkai_crawler::{Ended, FailedSeed, HookReport, Snapshot, Summary};
use junkai_lab::outcome::grouped;
use unicode_width::UnicodeWidthStr as _;

use super::{Style, bytes, clock};
use crate::print::{say, shown};
use crate::telling::counted;

/// Prints what the crawl came to, where things are, and what to do next.
pub(crate) fn summarise(style: Style, archive: &Path, go_on: &str, summary: &Summary) {
    if style == Style::Json {
        let line = serde_json::json!({ "type": "summary", "archive": archive, "summary": summary });
        say!("{line}");
        return;
    }
    let now = &summary.progress;
    let seconds = summary.seconds.max(0.001);
    let folder = archive.display();
    say!("{}", headline(summary));
    say!(
        "  {} pages in {}, {:.1} a second, {} received",
        grouped(now.pages),
        clock(Duration::from_secs_f64(seconds)),
        now.pages as f64 / seconds,
        bytes(now.bytes_received)
    );
    if 0 < now.revisits + now.pages_known {
        say!(
            "  {} were revisits, of which {} found a change; {} will be visited again, {} were given up",
            grouped(now.revisits),
            grouped(now.changed),
            counted(now.pages_known, "page"),
            grouped(now.given_up)
        );
    }
    say!(
        "  {} known, {} waiting, {} servers, {} errors, {} kept out by robots.txt",
        grouped(now.known),
        grouped(now.waiting),
        grouped(now.servers),
        grouped(now.errors),
        grouped(now.robots_denied)
    );
    tell_what_is_missing(archive, now);
    if 0 < now.servers_behind {
        say!(
            "  {} cannot have every page visited as often as revisit.at_least says, at this pace; `junkai state stats` names them",
            counted(now.servers_behind, "server")
        );
    }
    if let (refused, lost) = before(summary)
        && 0 < refused + lost
    {
        say!(
            "  earlier runs refused {}, and lost {}; they are taken in where a page that is visited again leads to them: \
             junkai revisit --archive {folder} --host HOST visits the pages of a host, and the log says whose links were refused (urlsRefused)",
            counted(refused, "new URL"),
            counted(lost, "waiting visit")
        );
    }
    tell_of_hooks(summary);
    tell_of_failed_seeds(summary);
    if let Some(trouble) = &now.trouble {
        say!("  last trouble: {}", shown(trouble));
    }
    say!(
        "  captures  {folder}/archive/   {} in this run",
        bytes(now.bytes_stored)
    );
    say!("  index     {folder}/indexes/");
    say!("  log       {folder}/logs/crawl.log");
    what_next(go_on, archive, summary.ended);
}

/// Says what may be done with the archive.
fn what_next(go_on: &str, archive: &Path, ended: Ended) {
    let folder = archive.display();
    say!("Next:");
    let why = match ended {
        Ended::Complete => "keep it up to date",
        _ => "go on from here",
    };
    let next = [
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
        (
            format!("junkai warc check {folder}/archive/*"),
            "prove every record",
        ),
    ];
    let width = next.iter().map(|(command, _)| command.width()).max();
    let width = width.unwrap_or_default();
    for (command, why) in next {
        let gap = width - command.width();
        say!("  {command}{:gap$}   {why}", "");
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
        say!("  {}", shown(&hook_in_words(hook)));
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

/// Says why no page has come, and what helps.
fn tell_of_failed_seeds(summary: &Summary) {
    for seed in summary.failed_seeds.iter().chain(&summary.sitemaps_tried) {
        say!("  {}: {}", shown(&seed.url), shown(&seed.reason));
    }
    if summary.ended == Ended::NoSitemap {
        say!(
            "  what helps: name the sitemap or feed itself as a seed; without --sitemap-only the links of pages are followed"
        );
    }
    let hints: BTreeSet<&str> = summary.failed_seeds.iter().filter_map(what_helps).collect();
    for hint in hints {
        say!("  what helps: {hint}");
    }
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
        say!(
            "  {} URLs found no room in the ring and were discarded",
            grouped(now.discarded)
        );
    }
    if 0 < now.bodies_cut {
        say!(
            "  {} not kept to the end: too long (fetch.max_body_bytes), too slow (fetch.total_timeout, fetch.min_rate) or broken off by the server; the log \
             says which (lenTrunc, timeTrunc, midFetchTrunc)",
            match now.bodies_cut {
                1 => "1 answer was".to_owned(),
                more => format!("{} answers were", grouped(more)),
            }
        );
    }
    if 0 < now.links_left_out {
        say!(
            "  {} were left out: their pages have too many, or they are too long (links.max_links, links.max_url_length, backlog.page_bytes_max); \
             the log says which pages (linksLeftOut)",
            counted(now.links_left_out, "link")
        );
    }
    if 0 < now.urls_refused {
        say!(
            "  {} were refused: as many bytes waited as may (backlog.host_bytes_max, backlog.bytes_max); the log says whose links they were (urlsRefused), \
             and they are taken in when they are found again",
            counted(now.urls_refused, "new URL")
        );
    }
    if 0 < now.visits_lost {
        say!(
            "  {} LOST: files of {folder}/state/backlog were damaged from outside; check the disk. To find them again: move {folder}/state/seen aside (the \
             next start makes it anew, without them), have the pages visited that link to them (junkai revisit --archive {folder} --host HOST), and crawl on",
            counted(now.visits_lost, "waiting visit")
        );
    }
    if 0 < now.states_lost {
        say!(
            "  {} LOST: files of {folder}/state/time_queue were damaged from outside; check the disk. These pages stay in the archive and are not visited \
             again by themselves; junkai revisit --archive {folder} --host HOST visits them once more",
            counted(now.states_lost, "state of a known page")
        );
    }
}
