use super::*;

#[test]
fn the_top_is_a_thousandth_and_at_least_ten() {
    let degrees: Vec<u32> = (1..=20_000).collect();
    assert_eq!(least_of_top(&degrees), 19_981);
    let few: Vec<u32> = (1..=100).collect();
    assert_eq!(least_of_top(&few), 91);
    assert_eq!(least_of_top(&[5, 7]), 5);
    assert_eq!(least_of_top(&[0, 0]), 1);
    assert_eq!(least_of_top(&[]), 1);
}

#[test]
fn curves_end_at_the_last_visit() {
    assert_eq!(places(0).count(), 0);
    assert_eq!(places(3).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(places(12_345).last(), Some(12_345));
    assert_eq!(reached(&[3, 1, 2], 2), [1, 1, 2]);
}
