//! Who is worth most, of many whose worth changes one at a time: a tournament tree.
//!
//! Each leaf is a player, each inner node the winner of its two children. A player's new worth is fought up to the root: O(log *n*).
//! Among equals the lowest number wins, so the order is defined.

/// The tree. Players are numbered from 0 in the order in which they enter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tournament {
    /// Of each player; none if it does not play.
    worth: Vec<f64>,
    /// The winner below each inner node; node 1 is the root, the children of *i* are 2*i* and 2*i* + 1.
    winners: Vec<u32>,
}

/// The worth of who does not play.
const ABSENT: f64 = f64::NEG_INFINITY;

impl Tournament {
    /// A player more, absent at first.
    pub(crate) fn enter(&mut self) {
        self.worth.push(ABSENT);
        if self.winners.len() < self.worth.len() {
            self.winners = vec![0; self.worth.len().next_power_of_two().max(2)];
            self.play_all();
        }
    }

    /// The player plays with this worth from now on. A worth that is no number is the least.
    pub(crate) fn set(&mut self, player: u32, worth: f64) {
        let worth = if worth.is_nan() { f64::MIN } else { worth };
        self.change(player, worth.max(f64::MIN));
    }

    /// The player does not play until it is [`set`](Self::set) again.
    pub(crate) fn leave(&mut self, player: u32) {
        self.change(player, ABSENT);
    }

    /// Who is worth most, if anyone plays.
    pub(crate) fn best(&self) -> Option<u32> {
        let winner = *self.winners.get(1)?;
        self.worth(winner).is_some().then_some(winner)
    }

    /// What the player is worth, if it plays.
    pub(crate) fn worth(&self, player: u32) -> Option<f64> {
        let worth = self.worth.get(player as usize).copied();
        worth.filter(|worth| ABSENT < *worth)
    }

    fn change(&mut self, player: u32, worth: f64) {
        self.worth[player as usize] = worth;
        let leaf = self.winners.len() + player as usize;
        let mut node = leaf / 2;
        while 0 < node {
            self.winners[node] = self.duel(node);
            node /= 2;
        }
    }

    fn play_all(&mut self) {
        for node in (1..self.winners.len()).rev() {
            self.winners[node] = self.duel(node);
        }
    }

    /// The winner among the children of an inner node.
    fn duel(&self, node: usize) -> u32 {
        let (left, right) = (self.champion(2 * node), self.champion(2 * node + 1));
        let of = |player: u32| self.worth.get(player as usize).copied();
        match (of(left), of(right)) {
            (Some(one), Some(other)) if one < other => right,
            _ => left,
        }
    }

    /// Who comes out of a node, inner or leaf.
    fn champion(&self, node: usize) -> u32 {
        match node.checked_sub(self.winners.len()) {
            None => self.winners[node],
            Some(player) => u32::try_from(player).unwrap_or(u32::MAX),
        }
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

    proptest! {
        #[test]
        fn the_first_of_the_best_wins_whatever_came_before(
            steps in proptest::collection::vec((0_u32..40, proptest::option::of(0_u8..5)), 1..200),
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
