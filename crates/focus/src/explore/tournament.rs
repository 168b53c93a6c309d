//! Who is worth most, of many whose worth changes one at a time: a tournament in which eight meet at a time.
//!
//! The worths of eight players fill a line of the processor's cache, and so do the greatest worths of eight lines: a tree of lines. A
//! player's new worth is told upwards until a line's greatest stays what it was, and the best player is found from the root down. Both are
//! O(log *n*); among a million players seven lines are read, of which the upper four levels stay in the cache.
//! Among equals the lowest number wins, so the order is defined.

/// How many meet at a time.
const WIDTH: usize = 8;

/// The worths of eight players, or the greatest worths of eight lines below.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([f64; WIDTH]);

/// The tree. Players are numbered from 0 in the order in which they enter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tournament {
    players: usize,
    /// The lines of the players first, the root's one line last.
    levels: Vec<Vec<Line>>,
}

/// The worth of who does not play.
const ABSENT: f64 = f64::NEG_INFINITY;

impl Line {
    const EMPTY: Line = Line([ABSENT; WIDTH]);

    fn greatest(&self) -> f64 {
        self.0
            .iter()
            .fold(ABSENT, |greatest, worth| greatest.max(*worth))
    }

    /// The place of the greatest; of equals the first.
    fn winner(&self) -> usize {
        let greatest = self.greatest();
        let is_greatest = |worth: &f64| greatest <= *worth;
        self.0.iter().position(is_greatest).unwrap_or(0)
    }
}

impl Tournament {
    /// A player more, absent at first.
    pub(crate) fn enter(&mut self) {
        let mut entries = self.players + 1;
        self.players = entries;
        let mut level = 0;
        // Each level has an entry for each line of the level below, and the last level has one line.
        loop {
            let lines = entries.div_ceil(WIDTH);
            if self.levels.len() == level {
                self.add_level();
            }
            if self.levels[level].len() < lines {
                self.levels[level].push(Line::EMPTY);
            }
            level += 1;
            if lines == 1 {
                return;
            }
            entries = lines;
        }
    }

    /// The player plays with this worth from now on. A worth that is no number is the least.
    pub(crate) fn set(&mut self, player: u32, worth: f64) {
        let worth = if worth.is_nan() { f64::MIN } else { worth };
        self.change(player as usize, worth.max(f64::MIN));
    }

    /// The player does not play until it is [`set`](Self::set) again.
    pub(crate) fn leave(&mut self, player: u32) {
        self.change(player as usize, ABSENT);
    }

    /// Who is worth most, if anyone plays.
    pub(crate) fn best(&self) -> Option<u32> {
        let winner = self
            .levels
            .iter()
            .rev()
            .fold(0, |line, level| line * WIDTH + level[line].winner());
        let winner = u32::try_from(winner).ok()?;
        self.worth(winner).is_some().then_some(winner)
    }

    /// What the player is worth, if it plays.
    pub(crate) fn worth(&self, player: u32) -> Option<f64> {
        let player = player as usize;
        let line = self.levels.first()?.get(player / WIDTH)?;
        Some(line.0[player % WIDTH]).filter(|worth| ABSENT < *worth)
    }

    fn change(&mut self, player: usize, worth: f64) {
        let (mut entry, mut worth) = (player, worth);
        for level in &mut self.levels {
            let line = &mut level[entry / WIDTH];
            let before = line.greatest();
            line.0[entry % WIDTH] = worth;
            worth = line.greatest();
            if worth.total_cmp(&before).is_eq() {
                return;
            }
            entry /= WIDTH;
        }
    }

    /// A level on top, which knows the greatest of each line below.
    fn add_level(&mut self) {
        let mut line = Line::EMPTY;
        if let Some(below) = self.levels.last() {
            for (entry, below) in line.0.iter_mut().zip(below) {
                *entry = below.greatest();
            }
        }
        self.levels.push(vec![line]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nobody_wins_an_empty_tournament() {
        let mut tournament = Tournament::default();
        assert_eq!(tournament.best(), None);
        tournament.enter();
        assert_eq!(tournament.best(), None);
        tournament.set(0, f64::NAN);
        assert_eq!(tournament.best(), Some(0));
        tournament.leave(0);
        assert_eq!(tournament.best(), None);
    }

    #[test]
    fn a_million_players_take_seven_lines_and_ten_bytes_each() {
        let mut tournament = Tournament::default();
        for _ in 0..1_000_000 {
            tournament.enter();
        }
        assert_eq!(tournament.levels.len(), 7);
        let lines: usize = tournament.levels.iter().map(Vec::len).sum();
        assert!(lines * size_of::<Line>() <= 10_000_000, "{lines}");
    }

    proptest! {
        #[test]
        fn the_first_of_the_best_wins_whatever_came_before(
            steps in proptest::collection::vec((0_u32..600, proptest::option::of(0_u8..5)), 1..200),
        ) {
            let mut tournament = Tournament::default();
            let mut naive: Vec<Option<u8>> = Vec::new();
            for (player, worth) in steps {
                while naive.len() <= player as usize {
                    tournament.enter();
                    naive.push(None);
                }
                naive[player as usize] = worth;
                match worth {
                    Some(worth) => tournament.set(player, f64::from(worth)),
                    None => tournament.leave(player),
                }
                let best = naive.iter().max().copied().flatten();
                let first = best.and_then(|best| naive.iter().position(|worth| *worth == Some(best)));
                prop_assert_eq!(tournament.best().map(|player| player as usize), first);
            }
        }
    }
}
