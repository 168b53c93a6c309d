//! Of which site to fetch a page next, so that few fetches tell which sites hold what is wanted.
