//! Users' commands to a crawl: carried out between two reports, and obeyed when a visit comes up.
//!
//! The response to a command goes out when what was done is written down. What waited in the command box while no crawl was
//! running is carried out first of all, and the box is emptied after a checkpoint.

use junkai_frontier::Time;
use junkai_weburl::{Fingerprint, PageUrl, without_login};

use super::Engine;
use super::asked::{ASKED_MAX, Asked};
use crate::command::{CommandResponse, ScopeCommand, URLS_MAX, UserCommand};
use crate::scope::{Found, Rule};
use crate::scope_changes::ScopeChanges;
use crate::visit::{OutOfTurn, Purpose, asked_entry, in_turn, is_asked};
use crate::{CrawlError, command_box};

impl Engine {
    /// Carries out what was commanded while no crawl was running.
    pub(super) fn empty_command_box(
        &mut self,
        commands: Vec<UserCommand>,
    ) -> Result<(), CrawlError> {
        if commands.is_empty() {
            return self.clear_command_box();
        }
        // A kill may have come after some were carried out.
        let asked = &mut self.asked;
        self.room.backlog().scan(|entry| {
            if is_asked(entry) {
                asked.waits(Fingerprint::of(&entry.url));
            }
        })?;
        // All seeds together: whether one waits already takes a look through the backlog.
        let (mut response, mut seeds) = (CommandResponse::default(), Vec::new());
        for command in commands {
            match command {
                UserCommand::Add { seeds: more } => {
                    seeds.extend(self.accepted(&more, &mut response));
                }
                other => response.add(self.carry_out_command(other)?),
            }
        }
        self.admit_seeds(seeds)?;
        for reason in response.reasons {
            tracing::warn!(reason, "a command could not be carried out");
        }
        self.write_down()?;
        self.checkpoint_at_once()?;
        self.clear_command_box()
    }

    /// Empties the command box, when all partitions have carried out what was theirs: the last one is opened last.
    fn clear_command_box(&self) -> Result<(), CrawlError> {
        if self.partition().is_last() {
            command_box::empty(&self.archive.state())?;
        }
        Ok(())
    }

    /// Carries out a command of a user who waits for the response.
    pub fn command(
        &mut self,
        now: Time,
        command: UserCommand,
    ) -> Result<CommandResponse, CrawlError> {
        self.shared.now = now;
        tracing::info!(?command, "a command");
        let response = self.carry_out_command(command)?;
        // What is answered survives a kill.
        self.write_down()?;
        Ok(response)
    }

    fn carry_out_command(&mut self, command: UserCommand) -> Result<CommandResponse, CrawlError> {
        match command {
            UserCommand::Add { seeds } => self.add(&seeds),
            UserCommand::Revisit { pages } => self.revisit(&pages),
            UserCommand::Pause { whom } => {
                let is_news = self
                    .dispatch
                    .objections
                    .paused
                    .pause(&whom, self.shared.now);
                self.paused_changed(is_news)
            }
            UserCommand::Resume { whom } => {
                let is_news = self.dispatch.objections.paused.resume(&whom);
                self.paused_changed(is_news)
            }
            UserCommand::Scope(change) => self.change_scope(&change),
        }
    }

    /// Crawls from further seeds.
    fn add(&mut self, seeds: &[String]) -> Result<CommandResponse, CrawlError> {
        let mut response = CommandResponse::default();
        let accepted = self.accepted(seeds, &mut response);
        let count = accepted.len() as u64;
        response.done = self.admit_seeds(accepted)?;
        response.already = count.saturating_sub(response.done);
        Ok(response)
    }

    /// The seeds of one command that can be crawled; the others are refused.
    fn accepted(&self, seeds: &[String], response: &mut CommandResponse) -> Vec<PageUrl> {
        let mut accepted = Vec::new();
        for text in seeds.iter().take(URLS_MAX) {
            match self.canonical.parse_seed(text) {
                Ok(seed) => match self.shared.rule_for(&seed, Found::Seed) {
                    rule if rule.accepts() => accepted.push(seed),
                    rule => response.refuse(format!("{seed}: {rule}")),
                },
                Err(error) => response.refuse(format!("{:?}: {error}", without_login(text))),
            }
        }
        accepted
    }

    /// Lets known pages be visited once more, besides the visits that are planned for them.
    fn revisit(&mut self, pages: &[String]) -> Result<CommandResponse, CrawlError> {
        let mut response = CommandResponse::default();
        let mut accepted = Vec::new();
        for text in pages.iter().take(URLS_MAX) {
            let page = match self.canonical.parse_seed(text) {
                Ok(page) => page,
                Err(error) => {
                    response.refuse(format!("{:?}: {error}", without_login(text)));
                    continue;
                }
            };
            let fingerprint = page.fingerprint();
            if !self.discovery.seen.contains(fingerprint.0)? {
                response.refuse(format!("{page} is not known; `junkai add` takes new pages"));
                continue;
            }
            let purpose = match self.shared.rule_for(&page, Found::Link(0)) {
                rule if rule.accepts() => Purpose::Page,
                // It was captured: a page in scope needs it.
                Rule::Outside => Purpose::Requisite,
                rule => {
                    response.refuse(format!("{page}: {rule}"));
                    continue;
                }
            };
            accepted.push((page, purpose));
        }
        // A page that was given up has no state that the visit could be joined with: it is visited as a new one.
        let mut stateless = accepted
            .iter()
            .map(|(page, _)| page.fingerprint())
            .collect();
        self.known.take_known_out_of(&mut stateless)?;
        for (page, purpose) in accepted {
            let has_state = !stateless.contains(&page.fingerprint());
            match self.ask_for_page(&page, OutOfTurn::Asked, &purpose, has_state)? {
                Asked::Now => response.count(true),
                Asked::Before => response.count(false),
                Asked::TooMany => response.refuse(format!(
                    "{page}: {ASKED_MAX} pages are asked for and not visited yet; ask again later"
                )),
            }
        }
        Ok(response)
    }

    /// Has a known page visited out of turn, once however often it is asked for.
    pub(super) fn ask_for(
        &mut self,
        page: &PageUrl,
        why: OutOfTurn,
        purpose: &Purpose,
    ) -> Result<Asked, CrawlError> {
        self.ask_for_page(page, why, purpose, true)
    }

    fn ask_for_page(
        &mut self,
        page: &PageUrl,
        why: OutOfTurn,
        purpose: &Purpose,
        has_state: bool,
    ) -> Result<Asked, CrawlError> {
        let asked = self.asked.ask(page.fingerprint());
        if asked == Asked::Now {
            let now = self.shared.now;
            let entry = asked_entry(page, why, purpose, self.shared.depth_asked(), now);
            let entry = if has_state { entry } else { in_turn(entry) };
            self.room.append_known(entry, now)?;
        }
        Ok(asked)
    }

    fn paused_changed(&mut self, is_news: bool) -> Result<CommandResponse, CrawlError> {
        let mut response = CommandResponse::default();
        response.count(is_news);
        if is_news {
            while let Err(error) = self.dispatch.objections.paused.store(&self.archive.state()) {
                self.shared.wait_for_room(error)?;
            }
            self.show_paused();
        }
        Ok(response)
    }

    pub(super) fn show_paused(&self) {
        let count = self.dispatch.objections.paused.hosts.len()
            + self.dispatch.objections.paused.servers.len();
        self.shared.progress.paused.set(count as u64);
        self.shared
            .progress
            .set_all_paused(self.dispatch.objections.paused.all.is_some());
    }

    fn change_scope(&mut self, command: &ScopeCommand) -> Result<CommandResponse, CrawlError> {
        let state = self.archive.state();
        let mut changes = ScopeChanges::load(&state)?;
        let mut response = changes.apply(command, &self.shared.settings.scope);
        if response.done == 0 {
            return Ok(response);
        }
        if let Ok(mut scope) = self.shared.scope.write()
            && let Err(mistakes) = scope.change(&changes.over(&self.shared.settings.scope))
        {
            response.done = 0;
            response.refuse(mistakes.join("; "));
            return Ok(response);
        }
        while let Err(error) = changes.store(&state) {
            self.shared.wait_for_room(error)?;
        }
        Ok(response)
    }
}
