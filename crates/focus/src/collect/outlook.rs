//! What following a link is worth, with all that it opens: the best rate of new data files per fetch.
//!
//! A link to a list of fifty pages brings no file itself, but fifty links that each may. The crawl of a site is a branching bandit: to
//! follow a link of one arm costs a fetch, brings files, and opens links of other arms. The best index of an arm is then the greatest ratio of
//! expected files to expected fetches over all ways to go on from it and to stop (Weiss, "Branching Bandit Processes", Probability in the
//! Engineering and Informational Sciences 2(3), 1988).
//! Departures: a link that is opened counts as one fetch at its own arm's index, instead of as the whole way on from it; rates are drawn
//! from what is believed of them (Thompson sampling), which takes care of exploring.
//!
//! # Notation
//! *r*: `files`, the files that a page of the arm itself brings; *cⱼ*: new links per page into arm *j*; *gⱼ*: its index. The index is
//! max over the sets *J* of (*r* + Σ *cⱼ gⱼ*) / (1 + Σ *cⱼ*); the best set is that of all arms whose index is above the result. A page's
//! files cost a fetch each, which is the same for all of them and left out.

/// Rounds of passing indices on: as deep a way as is looked ahead.
const ROUNDS: usize = 4;

/// What an arm is thought to bring.
#[derive(Clone, Debug)]
pub(super) struct Prospect {
    /// Files of a page itself.
    pub(super) files: f64,
    /// New links per page into other arms, by their place.
    pub(super) followers: Vec<(usize, f64)>,
}

/// The index of each arm.
pub(super) fn indices(prospects: &[Prospect]) -> Vec<f64> {
    let mut indices: Vec<f64> = prospects.iter().map(|prospect| prospect.files).collect();
    for _ in 0..ROUNDS {
        let next = prospects.iter().map(|prospect| index(prospect, &indices));
        indices = next.collect();
    }
    indices
}

fn index(prospect: &Prospect, indices: &[f64]) -> f64 {
    let mut opened: Vec<(f64, f64)> = prospect
        .followers
        .iter()
        .map(|(place, count)| (indices[*place], *count))
        .collect();
    opened.sort_by(|one, two| two.0.total_cmp(&one.0));
    let (mut files, mut fetches) = (prospect.files, 1.0);
    for (index, count) in opened {
        if index * fetches <= files {
            break;
        }
        files += index * count;
        fetches += count;
    }
    files / fetches
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn prospect(files: f64, followers: &[(usize, f64)]) -> Prospect {
        Prospect {
            files,
            followers: followers.to_vec(),
        }
    }

    #[test]
    fn a_list_is_worth_nearly_what_its_pages_are() {
        let arms = [
            prospect(0.0, &[(1, 50.0)]),
            prospect(1.0, &[]),
            prospect(0.0, &[(0, 10.0)]),
        ];
        let indices = indices(&arms);
        assert!((indices[0] - 50.0 / 51.0).abs() < 1e-9);
        assert!((indices[1] - 1.0).abs() < 1e-9);
        // And a list of lists nearly what lists are.
        assert!((indices[2] - 10.0 * indices[0] / 11.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_worth_less_is_not_followed() {
        let arms = [prospect(2.0, &[(1, 50.0)]), prospect(1.0, &[])];
        assert!((indices(&arms)[0] - 2.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn an_index_is_the_best_of_all_sets(
            files in 0.0..3.0_f64,
            followers in prop::collection::vec((0.0..3.0_f64, 0.0..9.0_f64), 0..6),
        ) {
            let own: Vec<f64> = followers.iter().map(|(index, _)| *index).collect();
            let counts = followers.iter().enumerate().map(|(place, (_, count))| (place, *count));
            let found = index(&prospect(files, &counts.collect::<Vec<_>>()), &own);
            let sets = (0..1_u32 << followers.len()).map(|set| {
                let chosen = followers.iter().enumerate().filter(|(place, _)| set >> place & 1 == 1);
                let (sum, cost) = chosen.fold((files, 1.0), |(sum, cost), (_, (index, count))| (sum + index * count, cost + count));
                sum / cost
            });
            prop_assert!((found - sets.fold(0.0, f64::max)).abs() < 1e-9);
        }
    }
}
