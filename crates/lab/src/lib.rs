//! Crawl-order research under a virtual clock, with the code that crawls.
