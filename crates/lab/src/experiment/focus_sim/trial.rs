//! One policy on one world: what its verdicts are worth as the fetches grow.

use junkai_focus::explore::{Explorer, Policy, Settings, SiteNumber};

use super::world::{Stream, World};

/// Pages that a site has, as in the paper.
const PAGES_PER_SITE: u32 = 1000;

/// How a trial goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// Fetches in all.
    pub(super) fetches: u32,
    /// Verdicts are judged whenever so many more were made.
    pub(super) step: u32,
    /// Sites that are asked at once: 1 as in the paper, more as in a crawl.
    pub(super) in_flight: u32,
}

impl Course {
    /// When verdicts are judged: after the first page of every site, and then at every step.
    pub(super) fn checkpoints(&self, sites: u32) -> Vec<u32> {
        let first = sites.div_ceil(self.step).max(1);
        (first..=self.fetches / self.step)
            .map(|place| place * self.step)
            .collect()
    }
}

/// What the verdicts on all sites are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Measures {
    /// The share of verdicts that fit the label.
    pub(super) accuracy: f64,
    /// The share of labels among the sites that are taken to hold.
    pub(super) precision: f64,
    /// The share of sites with the label that are taken to hold.
    pub(super) recall: f64,
    /// As accuracy, with the chance of the labels left out.
    pub(super) expected_accuracy: f64,
    /// As recall, with the chance of the labels left out.
    pub(super) expected_recall: f64,
    /// As expected accuracy and recall, if sites are judged by the plain mean of their pages.
    pub(super) plain_accuracy: f64,
    pub(super) plain_recall: f64,
    /// The share of verdicts that say on which side of ½ the site's mean is.
    pub(super) agreement: f64,
    /// The mean of the stated probabilities of error.
    pub(super) stated_error: f64,
}

/// Runs the policy; measures at each checkpoint.
pub(super) fn run(world: &World, policy: Policy, course: Course, seed: u64) -> Vec<Measures> {
    explore(
        Explorer::new(policy, Settings::as_published()),
        world,
        course,
        seed,
    )
}

/// Runs our policy, which is told what sites there are instead of learning it.
pub(super) fn run_informed(world: &World, course: Course, seed: u64) -> Vec<Measures> {
    let density = |mean, concentration| world.population.density(mean, concentration);
    explore(
        Explorer::informed(&density, Settings::as_published()),
        world,
        course,
        seed,
    )
}

fn explore(mut explorer: Explorer, world: &World, course: Course, seed: u64) -> Vec<Measures> {
    for _ in &world.sites {
        explorer.add_site();
    }
    let mut stream = Stream::about(seed, u64::MAX - 1);
    let mut pages = world.pages();
    let mut asked = std::collections::VecDeque::new();
    let mut fetches = 0;
    let mut measures = Vec::new();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "as many as were drawn from a u32"
    )]
    for checkpoint in course.checkpoints(world.sites.len() as u32) {
        while fetches < checkpoint {
            while asked.len() < course.in_flight as usize {
                let Some(site) = explorer.next(&mut || stream.unit()) else {
                    break;
                };
                asked.push_back(site);
            }
            let Some(site) = asked.pop_front() else { break };
            explorer.observe(site, pages.fetch(site.0 as usize));
            if PAGES_PER_SITE <= explorer.evidence(site).fetches() {
                explorer.exhausted(site);
            }
            fetches += 1;
        }
        measures.push(Measures::of(world, &explorer));
    }
    measures
}

impl Measures {
    fn of(world: &World, explorer: &Explorer) -> Measures {
        let mut counts = Counts::default();
        for (number, site) in (0..).zip(&world.sites) {
            let verdict = explorer.verdict(SiteNumber(number));
            let label = f64::from(u8::from(site.label));
            let fits = |probability: f64| {
                if verdict.holds {
                    probability
                } else {
                    1.0 - probability
                }
            };
            let is_plainly = 0.5 <= explorer.evidence(SiteNumber(number)).mean().unwrap_or(0.0);
            if is_plainly {
                counts.plain_right += site.label_probability;
                counts.plain_found += site.label_probability;
            } else {
                counts.plain_right += 1.0 - site.label_probability;
            }
            counts.right += fits(label);
            counts.expected_right += fits(site.label_probability);
            counts.labels += label;
            counts.expected_labels += site.label_probability;
            counts.agreeing += f64::from(u8::from(verdict.holds == (0.5 <= site.mean())));
            counts.stated_error += verdict.error_probability;
            if verdict.holds {
                counts.holding += 1.0;
                counts.found += label;
                counts.expected_found += site.label_probability;
            }
        }
        let sites = world.sites.len().max(1) as f64;
        Measures {
            accuracy: counts.right / sites,
            precision: counts.found / counts.holding.max(1.0),
            recall: counts.found / counts.labels.max(1.0),
            expected_accuracy: counts.expected_right / sites,
            expected_recall: counts.expected_found / counts.expected_labels.max(f64::MIN_POSITIVE),
            plain_accuracy: counts.plain_right / sites,
            plain_recall: counts.plain_found / counts.expected_labels.max(f64::MIN_POSITIVE),
            agreement: counts.agreeing / sites,
            stated_error: counts.stated_error / sites,
        }
    }
}

#[derive(Default)]
struct Counts {
    right: f64,
    expected_right: f64,
    labels: f64,
    expected_labels: f64,
    holding: f64,
    found: f64,
    expected_found: f64,
    plain_right: f64,
    plain_found: f64,
    agreeing: f64,
    stated_error: f64,
}
