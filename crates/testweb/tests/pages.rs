//! What a client sees of a web that behaves.

mod support;

use junkai_testweb::{TestWeb, TestWebConfig};
use support::{get, resolve};

fn small() -> TestWebConfig {
    TestWebConfig {
        hosts: 20,
        addresses: 5,
        pages: 400,
        clock_speed: 0.0,
        ..TestWebConfig::default()
    }
}

#[test]
fn a_home_page_is_served_under_the_name_that_dns_gives() {
    let web = TestWeb::start(small()).unwrap();
    assert_eq!(resolve(&web, "host7.test").to_string(), "127.1.0.3");
    let reply = get(&web, "host7.test", "/");
    assert_eq!(reply.status, 200);
    assert!(
        reply
            .header("content-type")
            .unwrap()
            .starts_with("text/html")
    );
    assert!(reply.body.starts_with(b"<!DOCTYPE html>"));
}
