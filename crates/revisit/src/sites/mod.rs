//! What is known of a site's pages together: how often they change, and how far what is said of them can be believed.
//!
//! A page's first belief is its site's [`Prior`], learnt online from the pages that were revisited and drawn towards that
//! of all sites while little is known. The table is bounded: a site that finds it full takes the place of one that was
//! not met for long.

mod rates;

use std::time::Duration;

use hashbrown::HashMap;
use junkai_weburl::{Fingerprint, PageUrl};

pub use self::rates::SiteRates;
use crate::belief::Belief;
use crate::codec::{Reader, put_varint};
use crate::estimator::Prior;
use crate::trust::{Source, TrackRecord, Trust};

/// What is known of sites.
#[derive(Clone, Debug)]
pub(crate) struct Sites {
    table: Vec<Site>,
    places: HashMap<u64, usize>,
    bound: usize,
    hand: usize,
    all: SiteRates,
}

/// A site, in sixty-four bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteKey(u64);

impl SiteKey {
    pub(crate) fn of(page: &PageUrl) -> SiteKey {
        SiteKey(Fingerprint::of(page.site()).0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Site {
    key: SiteKey,
    rates: SiteRates,
    records: [TrackRecord; Source::COUNT],
    /// Whether it was met since the hand last came by.
    is_met: bool,
}

/// Entries that are asked whether they were met lately, before one is given up at any rate.
const SWEEP_MAX: usize = 64;

impl Sites {
    pub(crate) fn new(sites_max: usize) -> Sites {
        Sites {
            table: Vec::new(),
            places: HashMap::new(),
            bound: sites_max.max(1),
            hand: 0,
            all: SiteRates::at_first(),
        }
    }

    /// What is believed of a page of the site before its first revisit.
    pub(crate) fn prior(&self, key: SiteKey) -> Prior {
        let all = self.all.drawn_to(&SiteRates::at_first());
        match self.places.get(&key.0) {
            Some(place) => self.table[*place].rates.drawn_to(&all).prior(),
            None => all.prior(),
        }
    }

    /// How far a source of the site is believed.
    pub(crate) fn trust(&self, key: SiteKey, source: Source) -> Trust {
        match self.places.get(&key.0) {
            Some(place) => self.table[*place].records[source as usize].trust(),
            None => TrackRecord::default().trust(),
        }
    }

    /// A page of the site was revisited after `gap`, and is now believed to change so often.
    pub(crate) fn revisited(&mut self, key: SiteKey, gap: Duration, belief: &Belief) {
        self.all.take_in(belief, gap);
        self.site(key).rates.take_in(belief, gap);
    }

    /// What came of what a source of the site had said.
    pub(crate) fn record(&mut self, key: SiteKey, source: Source) -> &mut TrackRecord {
        &mut self.site(key).records[source as usize]
    }

    /// The site's entry; if there is none, that of a site which was not met for long becomes it.
    fn site(&mut self, key: SiteKey) -> &mut Site {
        let place = match self.places.get(&key.0) {
            Some(place) => *place,
            None => self.make_room(key),
        };
        let site = &mut self.table[place];
        site.is_met = true;
        site
    }

    fn make_room(&mut self, key: SiteKey) -> usize {
        let site = Site {
            key,
            rates: SiteRates::at_first(),
            records: [TrackRecord::default(); Source::COUNT],
            is_met: true,
        };
        let place = if self.table.len() < self.bound {
            self.table.push(site);
            self.table.len() - 1
        } else {
            let place = self.longest_unmet();
            self.places.remove(&self.table[place].key.0);
            self.table[place] = site;
            place
        };
        self.places.insert(key.0, place);
        place
    }

    /// The hand of a clock goes round; who was met since it last came by has another round.
    fn longest_unmet(&mut self) -> usize {
        for _ in 0..SWEEP_MAX {
            let place = self.hand;
            self.hand = (self.hand + 1) % self.table.len();
            let site = &mut self.table[place];
            if !site.is_met {
                return place;
            }
            site.is_met = false;
        }
        self.hand
    }
}

/// The bit for a site that was met; those below are for its records that are not blank.
const IS_MET: u8 = 1 << Source::COUNT;

impl Sites {
    /// Appends all that is known.
    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        self.all.encode_into(out);
        put_varint(out, self.hand as u64);
        put_varint(out, self.table.len() as u64);
        for site in &self.table {
            out.extend_from_slice(&site.key.0.to_le_bytes());
            site.rates.encode_into(out);
            let mut flags = if site.is_met { IS_MET } else { 0 };
            for (index, record) in site.records.iter().enumerate() {
                flags |= u8::from(!record.is_blank()) << index;
            }
            out.push(flags);
            for record in site.records.iter().filter(|record| !record.is_blank()) {
                record.encode_into(out);
            }
        }
    }

    /// What was known, for a table of at most `sites_max`; the sites beyond it are left out.
    pub(crate) fn read(reader: &mut Reader<'_>, sites_max: usize) -> Option<Sites> {
        let mut sites = Sites::new(sites_max);
        sites.all = SiteRates::read(reader)?;
        let hand = reader.number::<usize>()?;
        for _ in 0..reader.varint()? {
            let site = Site::read(reader)?;
            if sites.table.len() < sites.bound {
                let is_new = sites.places.insert(site.key.0, sites.table.len());
                if is_new.is_some() {
                    return None;
                }
                sites.table.push(site);
            }
        }
        sites.hand = if hand < sites.table.len() { hand } else { 0 };
        Some(sites)
    }
}

impl Site {
    fn read(reader: &mut Reader<'_>) -> Option<Site> {
        let key = SiteKey(u64::from_le_bytes(reader.array()?));
        let rates = SiteRates::read(reader)?;
        let flags = reader.byte().filter(|flags| *flags < 2 * IS_MET)?;
        let mut records = [TrackRecord::default(); Source::COUNT];
        for (index, record) in records.iter_mut().enumerate() {
            if flags & 1 << index != 0 {
                *record = TrackRecord::read(reader)?;
            }
        }
        Some(Site {
            key,
            rates,
            records,
            is_met: flags & IS_MET != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn hourly() -> Belief {
        Belief::point(1.0 / 3600.0)
    }

    #[test]
    fn a_new_page_is_taken_for_one_of_its_site() {
        let mut sites = Sites::new(10);
        let (news, other) = (SiteKey(1), SiteKey(2));
        let before = sites.prior(news).rate;
        for _ in 0..1000 {
            sites.revisited(news, DAY, &hourly());
            sites.revisited(other, 10 * DAY, &Belief::point(1e-9));
        }
        assert!(20.0 * before < sites.prior(news).rate);
        assert!(sites.prior(other).rate < 0.01 * sites.prior(news).rate);
    }

    #[test]
    fn the_table_is_bounded_and_keeps_who_is_met() {
        let mut sites = Sites::new(100);
        let regular = SiteKey(u64::MAX);
        for passer_by in 0..10_000 {
            sites.revisited(regular, DAY, &hourly());
            sites.revisited(SiteKey(passer_by), DAY, &Belief::point(1e-8));
        }
        assert_eq!(sites.table.len(), 100);
        assert_eq!(sites.places.len(), 100);
        assert!(sites.places.contains_key(&regular.0));
        for (key, place) in &sites.places {
            assert_eq!(sites.table[*place].key.0, *key);
        }
    }

    #[test]
    fn what_is_known_outlives_a_stop_and_a_smaller_table() {
        let mut sites = Sites::new(50);
        for site in 0..80_u64 {
            sites.revisited(SiteKey(site), DAY, &hourly());
            if site.is_multiple_of(3) {
                let record = sites.record(SiteKey(site), Source::Feed);
                record.note(true, true, DAY);
            }
        }
        let mut bytes = Vec::new();
        sites.encode_into(&mut bytes);
        let read = Sites::read(&mut Reader::new(&bytes), 50).unwrap();
        assert_eq!(read.table, sites.table);
        assert_eq!(read.hand, sites.hand);
        assert_eq!(read.all, sites.all);
        let fewer = Sites::read(&mut Reader::new(&bytes), 20).unwrap();
        assert_eq!(fewer.table.len(), 20);
        for cut in 0..bytes.len() {
            assert!(Sites::read(&mut Reader::new(&bytes[..cut]), 50).is_none());
        }
    }
}
