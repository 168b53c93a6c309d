//! Which link of a site to follow next, so that what is wanted is found with few fetches.
