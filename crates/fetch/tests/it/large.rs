//! Large answers: kept to the byte on disk, within a bound that all share.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use bytesize::ByteSize;
use junkai_fetch::{End, Failure, FetchConfig, Request, Resources};
use tokio::task::{LocalSet, spawn_local};

use crate::server::{Server, Step, client_sharing, fetch_from};

const NEVER: Duration = Duration::from_hours(1);

/// No time limit, and hardly any memory: whatever is longer than the least goes to disk.
fn hardly_any_memory() -> FetchConfig {
    FetchConfig {
        first_byte_timeout: NEVER,
        total_timeout: NEVER,
        min_rate: 0,
        bodies_in_memory: ByteSize::b(2),
        ..FetchConfig::default()
    }
}

/// Bytes that are nowhere alike.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

fn chunked(body: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    for chunk in body.chunks(70_001) {
        coded.extend(format!("{:x}\r\n", chunk.len()).bytes());
        coded.extend(chunk);
        coded.extend(b"\r\n");
    }
    coded.extend(b"0\r\n\r\n");
    coded
}

#[tokio::test]
async fn a_large_answer_is_kept_to_the_byte_whatever_its_framing() {
    for (config, length) in [
        (hardly_any_memory(), 300_000),
        (FetchConfig::default(), 3_000_000),
    ] {
        let body = noise(length);
        let with_length = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        // hyper gives up on the second of these lengths; the rest is read nevertheless.
        let odd =
            format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nContent-Length: 7\r\n\r\n");
        let in_chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (head, sent, trailing) in [
            (with_length.as_str(), body.clone(), &b""[..]),
            (&with_length, body.clone(), b"and more than was said"),
            (&odd, body.clone(), b""),
            ("HTTP/1.1 200 OK\r\n\r\n", body.clone(), b""),
            (in_chunks, chunked(&body), b""),
            (in_chunks, chunked(&body), b"and more than was said"),
        ] {
            let message = [head.as_bytes(), &sent].concat();
            let script = vec![
                Step::Send(message.clone()),
                Step::Send(trailing.to_vec()),
                Step::Close,
            ];
            let exchange = fetch_from(script, &config).await;
            assert_eq!(exchange.end, End::Complete, "{head}");
            assert!(exchange.response == message, "{head}");
            assert!(exchange.payload() == body, "{head}");
            assert_eq!(exchange.status(), Some(200));
        }
    }
}

#[tokio::test]
async fn a_large_answer_that_breaks_off_is_kept_as_far_as_it_came() {
    let config = hardly_any_memory();
    let body = noise(200_000);
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 200001\r\n\r\n";
    let message = [&head[..], &body].concat();
    let exchange = fetch_from(vec![Step::Send(message.clone()), Step::Close], &config).await;
    assert!(matches!(
        exchange.failure(),
        Some(Failure::Disconnected { .. })
    ));
    assert!(exchange.response == message);
}

/// Twelve servers send most of a body and then nothing; one sends all of it.
#[tokio::test]
async fn those_that_stall_give_way_to_the_one_that_sends() {
    const LENGTH: usize = 1 << 20;
    let config = FetchConfig {
        max_body_bytes: ByteSize::b(LENGTH as u64),
        max_header_bytes: ByteSize::kib(8),
        // Three bodies and their heads.
        bodies_on_disk: ByteSize::b(3 * LENGTH as u64 + 100_000),
        ..hardly_any_memory()
    };
    let resources = Resources::new(&config, &std::env::temp_dir(), 100);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n");
    let most = [head.as_bytes(), &noise(LENGTH - 1)].concat();
    let all = [head.as_bytes(), &noise(LENGTH)].concat();
    let gave_way = Rc::new(Cell::new(0));
    LocalSet::new()
        .run_until(async {
            for _ in 0..12 {
                let server = Server::start(vec![vec![Step::Send(most.clone()), Step::Hang]]).await;
                let client = client_sharing(&config, resources.clone());
                let (most, gave_way) = (most.clone(), Rc::clone(&gave_way));
                spawn_local(async move {
                    let url = server.url("/stalls");
                    let stalled = client.fetch(Request::new(&url, server.address.ip())).await;
                    assert_eq!(stalled.failure(), Some(&Failure::GaveWay));
                    assert!(most.starts_with(&stalled.response), "what came is kept");
                    gave_way.set(gave_way.get() + 1);
                });
            }
            // It has to give way itself as long as the others are not found to be slow, and is tried again.
            loop {
                let server = Server::start(vec![vec![Step::Send(all.clone())]]).await;
                let client = client_sharing(&config, resources.clone());
                let url = server.url("/sends");
                let request = Request::new(&url, server.address.ip());
                let sent = Box::pin(client.fetch(request)).await;
                if sent.failure() == Some(&Failure::GaveWay) {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
                assert_eq!(sent.end, End::Complete);
                assert!(sent.response == all);
                break;
            }
            // There is room for three of them.
            while gave_way.get() < 9 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
}

#[tokio::test]
async fn without_a_file_descriptor_nothing_is_sent_and_no_server_is_blamed() {
    let config = hardly_any_memory();
    let resources = Resources::new(&config, &std::env::temp_dir(), 1);
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
    let server = Server::start(vec![
        vec![Step::Send(answer.clone())],
        vec![Step::Send(answer)],
    ])
    .await;
    let client = client_sharing(&config, resources.clone());
    let url = server.url("/");
    let request = Request::new(&url, server.address.ip());
    let elsewhere = resources.descriptor().unwrap();
    let short = client.fetch(request).await;
    assert!(matches!(short.failure(), Some(Failure::Short(_))));
    assert!(!short.failure().unwrap().reached_server());
    drop(elsewhere);
    assert_eq!(client.fetch(request).await.end, End::Complete);
    assert_eq!(client.idle_count(), 0, "the only descriptor is not kept");
    assert_eq!(client.fetch(request).await.end, End::Complete);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn any_number_of_fields_is_kept_within_the_bytes_that_a_head_may_have() {
    for count in [256_usize, 257, 1000, 5000] {
        let mut message = b"HTTP/1.1 200 OK\r\n".to_vec();
        for number in 1..count {
            message.extend(format!("X-{number}: {number}\r\n").bytes());
        }
        message.extend(b"Content-Length: 4\r\n\r\nbody");
        for script in [
            vec![Step::Send(message.clone())],
            vec![Step::Dribble(message.clone())],
        ] {
            let exchange = fetch_from(script, &FetchConfig::default()).await;
            assert_eq!(exchange.end, End::Complete, "{count} fields");
            assert!(exchange.response == message, "{count} fields");
            assert_eq!(exchange.header("x-255"), Some(&b"255"[..]));
            assert_eq!(exchange.payload(), b"body");
            let told = (256 < count).then(|| "the head has more than 256 fields".to_owned());
            assert_eq!(exchange.irregular, told);
        }
    }
    let small = FetchConfig {
        max_header_bytes: ByteSize::kib(8),
        ..FetchConfig::default()
    };
    let mut endless = b"HTTP/1.1 200 OK\r\n".to_vec();
    endless.extend(b"A: b\r\n".repeat(10_000));
    let exchange = fetch_from(vec![Step::Send(endless), Step::Hang], &small).await;
    assert_eq!(exchange.failure(), Some(&Failure::HeadTooLarge));
}
