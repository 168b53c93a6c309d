//! Names and addresses, against a name server on loopback.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::rdata::{CNAME, SOA};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use junkai_fetch::{AddressFamily, AddressGuard, DnsConfig, DnsProblem, Resolver};
use tokio::net::UdpSocket;

/// What the name server says about a name.
#[derive(Clone)]
enum Say {
    /// These addresses, with this time to live.
    Addresses(u32, &'static [&'static str]),
    /// An alias with a short life, and its address.
    Alias(&'static str, u32),
    /// That the name exists, without an address.
    Nothing,
    /// That the name does not exist, for so long.
    NoSuchName(u32),
    /// That it cannot say.
    Fail,
    /// Nothing at all.
    Silence,
}

struct NameServer {
    address: SocketAddr,
    questions: Arc<Mutex<Vec<(String, RecordType)>>>,
}

impl NameServer {
    async fn start(names: &[(&'static str, Say)]) -> Self {
        let names: HashMap<String, Say> = names
            .iter()
            .map(|(name, say)| (format!("{name}."), say.clone()))
            .collect();
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let questions = Arc::<Mutex<Vec<_>>>::default();
        let noted = Arc::clone(&questions);
        tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok((length, client)) = socket.recv_from(&mut buffer).await {
                let question = Message::from_vec(&buffer[..length]).unwrap();
                let query = question.queries[0].clone();
                let name = query.name().to_ascii().to_ascii_lowercase();
                noted
                    .lock()
                    .unwrap()
                    .push((name.clone(), query.query_type()));
                let say = names.get(&name).cloned().unwrap_or(Say::NoSuchName(60));
                if let Some(answer) = answer(question, &say) {
                    socket.send_to(&answer, client).await.unwrap();
                }
            }
        });
        Self { address, questions }
    }

    fn resolver(&self, config: &DnsConfig) -> Resolver {
        let config = DnsConfig {
            name_servers: vec![self.address],
            ..config.clone()
        };
        Resolver::new(&config, AddressGuard::default()).unwrap()
    }

    fn question_count(&self) -> usize {
        self.questions.lock().unwrap().len()
    }
}

fn answer(question: Message, say: &Say) -> Option<Vec<u8>> {
    let query = question.queries[0].clone();
    let name = query.name().clone();
    let mut answer = question.into_response();
    answer.additionals.clear();
    let record = |name: &Name, ttl, text: &&str| {
        let address: IpAddr = text.parse().unwrap();
        let is_wanted = (query.query_type() == RecordType::A) == address.is_ipv4();
        is_wanted.then(|| Record::from_rdata(name.clone(), ttl, RData::from(address)))
    };
    match say {
        Say::Addresses(ttl, texts) => {
            answer.add_answers(texts.iter().filter_map(|text| record(&name, *ttl, text)));
        }
        Say::Alias(target, ttl) => {
            let target = Name::from_ascii(target).unwrap();
            let alias = RData::CNAME(CNAME(target.clone()));
            answer.add_answer(Record::from_rdata(name.clone(), *ttl, alias));
            answer.add_answers(record(&target, 9000, &"93.184.216.34"));
        }
        Say::Nothing => {}
        Say::NoSuchName(_) => answer.metadata.response_code = ResponseCode::NXDomain,
        Say::Fail => answer.metadata.response_code = ResponseCode::ServFail,
        Say::Silence => return None,
    }
    if answer.answers.is_empty() {
        let ttl = if let Say::NoSuchName(ttl) = say {
            *ttl
        } else {
            60
        };
        let root = Name::root();
        let soa = SOA::new(root.clone(), root, 1, 1, 1, 1, ttl);
        answer.add_authority(Record::from_rdata(name, ttl, RData::SOA(soa)));
    }
    Some(answer.to_vec().unwrap())
}

fn addresses(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[tokio::test]
async fn the_smallest_address_of_the_preferred_family_is_chosen() {
    let both = Say::Addresses(300, &["9.9.9.9", "2620:fe::fe", "8.8.8.8", "100.0.0.1"]);
    let six = Say::Addresses(300, &["2620:fe::fe", "2001:4860::1"]);
    let server = NameServer::start(&[("both.example", both), ("six.example", six)]).await;
    let table = [
        (
            AddressFamily::PreferIpv4,
            "both.example",
            &["8.8.8.8", "9.9.9.9", "100.0.0.1"][..],
        ),
        (
            AddressFamily::PreferIpv4,
            "six.example",
            &["2001:4860::1", "2620:fe::fe"],
        ),
        (AddressFamily::PreferIpv6, "both.example", &["2620:fe::fe"]),
        (AddressFamily::OnlyIpv6, "both.example", &["2620:fe::fe"]),
    ];
    for (family, host, expected) in table {
        let resolver = server.resolver(&DnsConfig {
            family,
            ..DnsConfig::default()
        });
        let found = resolver.resolve(host).await.unwrap();
        assert_eq!(found.addresses, addresses(expected), "{family:?} {host}");
        assert_eq!(found.chosen, found.addresses[0]);
    }
    let resolver = server.resolver(&DnsConfig {
        family: AddressFamily::OnlyIpv4,
        ..DnsConfig::default()
    });
    let failure = resolver.resolve("six.example").await.unwrap_err();
    assert_eq!(failure.problem, DnsProblem::NoAddress);
}

#[tokio::test]
async fn private_addresses_in_an_answer_are_left_out() {
    let mixed = Say::Addresses(300, &["10.0.0.1", "93.184.216.34", "127.0.0.1"]);
    let inside = Say::Addresses(300, &["169.254.169.254"]);
    let server = NameServer::start(&[("mixed.example", mixed), ("inside.example", inside)]).await;
    let resolver = server.resolver(&DnsConfig::default());
    let found = resolver.resolve("mixed.example").await.unwrap();
    assert_eq!(found.addresses, addresses(&["93.184.216.34"]));
    let failure = resolver.resolve("inside.example").await.unwrap_err();
    assert!(
        matches!(failure.problem, DnsProblem::Refused(_)),
        "{failure}"
    );
}

#[tokio::test]
async fn failures_are_told_apart() {
    let server = NameServer::start(&[
        ("gone.example", Say::NoSuchName(700)),
        ("mute.example", Say::Nothing),
        ("broken.example", Say::Fail),
        ("silent.example", Say::Silence),
    ])
    .await;
    let config = DnsConfig {
        timeout: Duration::from_millis(50),
        ..DnsConfig::default()
    };
    let resolver = server.resolver(&config);
    let failure = async |host: &str| resolver.resolve(host).await.unwrap_err();
    let gone = failure("gone.example").await;
    assert_eq!(
        (gone.problem, gone.ttl),
        (DnsProblem::NoSuchName, Duration::from_secs(700))
    );
    assert_eq!(failure("mute.example").await.problem, DnsProblem::NoAddress);
    assert!(matches!(
        failure("broken.example").await.problem,
        DnsProblem::ServerFailure(_)
    ));
    let silent = failure("silent.example").await;
    assert_eq!(silent.problem, DnsProblem::Timeout);
    assert!(silent.problem.is_temporary());
}

#[tokio::test]
async fn answers_and_failures_are_for_the_caller_to_keep() {
    let server = NameServer::start(&[
        ("a.example", Say::Addresses(300, &["8.8.8.8"])),
        ("gone.example", Say::NoSuchName(700)),
    ])
    .await;
    let resolver = server.resolver(&DnsConfig::default());
    for asked in [2, 4] {
        resolver.resolve("a.example").await.unwrap();
        resolver.resolve("gone.example").await.unwrap_err();
        assert_eq!(
            server.question_count(),
            asked,
            "there is one cache, the engine's"
        );
    }
}

#[tokio::test]
async fn many_hosts_are_asked_for_at_once() {
    let server = NameServer::start(&[]).await;
    let resolver = server.resolver(&DnsConfig::default());
    let hosts: Vec<String> = (0..300)
        .map(|number| format!("h{number}.example"))
        .collect();
    let questions = hosts.iter().map(|host| resolver.resolve(host));
    for outcome in futures_util::future::join_all(questions).await {
        assert_eq!(outcome.unwrap_err().problem, DnsProblem::NoSuchName);
    }
    assert_eq!(server.question_count(), 300);
}

#[tokio::test]
async fn times_to_live_are_bounded() {
    let server = NameServer::start(&[
        ("short.example", Say::Addresses(0, &["8.8.8.8"])),
        ("long.example", Say::Addresses(900_000, &["8.8.8.8"])),
        ("alias.example", Say::Alias("target.example.", 120)),
    ])
    .await;
    let config = DnsConfig {
        ttl_min: Duration::from_millis(1),
        ..DnsConfig::default()
    };
    let resolver = server.resolver(&config);
    assert_eq!(
        resolver.resolve("long.example").await.unwrap().ttl,
        Duration::from_hours(6)
    );
    let alias = resolver.resolve("alias.example").await.unwrap();
    assert_eq!(
        alias.ttl,
        Duration::from_mins(2),
        "the alias limits the answer"
    );
    let text = alias.text();
    let (stamp, records) = text.split_once('\n').unwrap();
    assert!(
        stamp.len() == 14 && stamp.bytes().all(|byte| byte.is_ascii_digit()),
        "{stamp}"
    );
    assert_eq!(
        records,
        "alias.example.\t120\tIN\tCNAME\ttarget.example.\ntarget.example.\t9000\tIN\tA\t93.184.216.34\n"
    );
    let short = resolver.resolve("short.example").await.unwrap();
    assert_eq!(short.ttl, config.ttl_min);
}

#[tokio::test]
async fn literals_are_not_asked_for_and_are_guarded() {
    let server = NameServer::start(&[]).await;
    let resolver = server.resolver(&DnsConfig::default());
    assert_eq!(
        resolver.resolve("8.8.8.8").await.unwrap().chosen,
        addresses(&["8.8.8.8"])[0]
    );
    assert_eq!(
        resolver.resolve("[2620:fe::fe]").await.unwrap().chosen,
        addresses(&["2620:fe::fe"])[0]
    );
    for inside in ["127.0.0.1", "[::1]", "[::ffff:10.0.0.1]"] {
        let failure = resolver.resolve(inside).await.unwrap_err();
        assert!(
            matches!(failure.problem, DnsProblem::Refused(_)),
            "{inside}"
        );
    }
    assert_eq!(server.question_count(), 0);
}

#[tokio::test]
async fn what_cannot_be_a_name_is_no_such_name() {
    let server = NameServer::start(&[]).await;
    let resolver = server.resolver(&DnsConfig::default());
    for name in ["", "..", &"a".repeat(64), &"a.".repeat(200)] {
        let failure = resolver.resolve(name).await.unwrap_err();
        let is_plain = matches!(
            failure.problem,
            DnsProblem::BadName | DnsProblem::NoSuchName
        );
        assert!(is_plain, "{name:?}: {failure}");
    }
}
