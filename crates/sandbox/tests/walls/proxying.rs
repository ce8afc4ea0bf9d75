//! The one way out: hosts of the gate are reached through the proxy, everything else is refused in
//! words, and nothing arrives at the host's own loopback.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;

use modes::{
    Approver, Autonomy, Built, Containment, HostGate, Inspection, Judged, Mode, ProposedCall, Role, RuleText,
    RunRecipe, Scope, Verdict, WallsStanding, descriptor, judge, run_spec,
};
use stance_sandbox::{Finished, Lookup, Names, Network, Program, Reached, Spawn, globally_routable};

use crate::ground::{Ground, READ_ONLY};

/// What stands for a server of the world in these tests.
const WORLD: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Every name leads to one server, but for one that is rebound to this machine.
struct Towards(SocketAddr);

impl Names for Towards {
    fn lookup<'a>(&'a self, name: &'a str, port: u16) -> Lookup<'a> {
        let address = match name {
            "pypi.org" | "localhost" => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port),
            _ => self.0,
        };
        Box::pin(async move { Ok(vec![address]) })
    }

    fn is_public(&self, address: IpAddr) -> bool {
        address == WORLD || globally_routable(address)
    }
}

fn gate(rules: &[&str]) -> HostGate {
    let rule = |text: &&str| RuleText {
        scope: Scope::Person,
        verdict: Verdict::Allow,
        text: (*text).to_owned(),
        place: "settings.toml:1".to_owned(),
    };
    let recipe = RunRecipe {
        mode: Mode::chosen("agent").unwrap(),
        autonomy: Autonomy::ActWithApproval,
        approver: Approver::Nobody,
        walls: WallsStanding::Proven,
        role: Role::Main,
        rules: rules.iter().map(rule).collect(),
        chain: Vec::new(),
        read_only_once: false,
        inspection: Inspection::default(),
        hosts: Vec::new(),
        answers: Vec::new(),
    };
    let spec = run_spec(recipe, &Built::everything()).unwrap();
    let call = ProposedCall::new(descriptor("execute_command").unwrap(), "1", serde_json::json!({}));
    match judge(&spec, call, None) {
        Judged::Permit(permit) => permit.hosts().clone(),
        other => panic!("{other:?}"),
    }
}

/// A server that answers one request with what it read of it.
fn echo() -> (SocketAddr, JoinHandle<String>) {
    let listener = TcpListener::bind((WORLD, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let served = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut heard = [0; 4096];
        let length = client.read(&mut heard).unwrap();
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\nthe page").unwrap();
        String::from_utf8_lossy(&heard[..length]).into_owned()
    });
    (address, served)
}

async fn asks(ground: &Ground, containment: Containment, network: Network, requests: &[&str]) -> Finished {
    let mut line = "ask() { exec 3<>/dev/tcp/127.0.0.1/3128 && printf \"$1\" >&3 && cat <&3; exec 3>&-; }; ".to_owned();
    for request in requests {
        line.extend(["ask '", request, "'; "]);
    }
    let mut process = Spawn::new(Program::Shell(line), &ground.tree);
    process.network = Some(network);
    ground.run(containment, process).await.unwrap()
}

fn reached(host: &str) -> Reached {
    Reached {
        host: host.to_owned(),
        refused: None,
        can_ask: false,
        times: 1,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_of_the_list_is_reached_by_request_and_by_tunnel() {
    let ground = Ground::new();
    for (request, host, heard_first) in [
        (
            "GET http://docs.rs/tokio HTTP/1.1\\r\\nHost: other.example\\r\\n\\r\\n",
            "docs.rs",
            "GET /tokio HTTP/1.1\r\nHost: docs.rs\r\n",
        ),
        (
            "CONNECT static.crates.io:443 HTTP/1.1\\r\\n\\r\\nhello",
            "static.crates.io",
            "hello",
        ),
    ] {
        let (server, heard) = echo();
        let network = Network {
            gate: gate(&[]),
            names: Arc::new(Towards(server)),
        };
        let finished = asks(&ground, Containment::gated(), network, &[request]).await;
        assert!(finished.stdout.text().ends_with("the page"), "{finished:?}");
        assert_eq!(finished.reached, [reached(host)]);
        assert!(heard.join().unwrap().starts_with(heard_first));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_else_is_refused_in_words_and_arrives_nowhere() {
    let ground = Ground::new();
    let canary = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    canary.set_nonblocking(true).unwrap();
    let server = canary.local_addr().unwrap();
    let own = [
        format!("127.0.0.1:{}", server.port()),
        format!("2130706433:{}", server.port()),
        format!("[::ffff:127.0.0.1]:{}", server.port()),
        format!("localhost:{}", server.port()),
        "elsewhere.example:443".to_owned(),
        "docs.rs:8080".to_owned(),
        "pypi.org:443".to_owned(),
    ];
    let requests: Vec<String> = own
        .iter()
        .map(|host| format!("CONNECT {host} HTTP/1.1\\r\\n\\r\\n"))
        .collect();
    let requests: Vec<&str> = requests.iter().map(String::as_str).collect();
    let network = Network {
        gate: gate(&["effect(network_egress)"]),
        names: Arc::new(Towards(server)),
    };
    let wide = asks(&ground, Containment::gated(), network, &requests).await;
    assert_eq!(
        wide.stdout.text().matches("403 Forbidden").count(),
        own.len(),
        "{wide:?}"
    );
    assert!(
        wide.stdout.text().contains("an address of your own network"),
        "{wide:?}"
    );

    let network = Network {
        gate: gate(&[]),
        names: Arc::new(Towards(server)),
    };
    let narrow = asks(&ground, Containment::gated(), network, &requests[4..6]).await;
    let refused = |host: &str| Reached {
        refused: Some("it is not on the list of hosts that need no question".to_owned()),
        can_ask: true,
        ..reached(host)
    };
    assert_eq!(narrow.reached, [refused("docs.rs:8080"), refused("elsewhere.example")]);
    assert_eq!(canary.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_names_a_host_of_ones_own_opens_that_one() {
    let ground = Ground::new();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"here").unwrap());
    let network = Network {
        gate: gate(&[&format!("net(127.0.0.1:{port})")]),
        names: Arc::new(Towards(SocketAddr::new(WORLD.into(), 1))),
    };
    let request = format!("CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n");
    let finished = asks(&ground, Containment::gated(), network, &[&request]).await;
    assert!(finished.stdout.text().ends_with("here"), "{finished:?}");
    served.join().unwrap();
}

/// A read-only process has no network even when one is handed in.
#[tokio::test(flavor = "multi_thread")]
async fn without_the_gate_in_its_containment_a_process_makes_no_socket() {
    let ground = Ground::new();
    let network = Network {
        gate: gate(&[]),
        names: Arc::new(Towards(SocketAddr::new(WORLD.into(), 1))),
    };
    let finished = asks(
        &ground,
        READ_ONLY,
        network,
        &["GET http://docs.rs/ HTTP/1.1\\r\\n\\r\\n"],
    )
    .await;
    assert!(
        finished.stderr.text().contains("Operation not permitted"),
        "{finished:?}"
    );
    assert_eq!(finished.reached, []);
}

/// Tests of a project talk to servers of their own; nobody else is in their network.
#[tokio::test(flavor = "multi_thread")]
async fn programs_of_one_process_may_talk_to_each_other() {
    let ground = Ground::new();
    let line = "command -v python3 >/dev/null || { echo there; exit; }; python3 -c 'import socket
s = socket.create_server((\"127.0.0.1\", 0)); c = socket.create_connection(s.getsockname()); s.accept()[0].sendall(b\"there\"); print(c.recv(9).decode())
for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
    try: socket.socket(socket.AF_INET, kind); print(\"open\", kind)
    except PermissionError: pass
for family in (socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_VSOCK):
    try: socket.socket(family, socket.SOCK_STREAM); print(\"open\", family)
    except PermissionError: pass'";
    let mut process = Spawn::new(Program::Shell(line.into()), &ground.tree);
    process.network = Some(Network {
        gate: gate(&[]),
        names: Arc::new(Towards(SocketAddr::new(WORLD.into(), 1))),
    });
    let finished = ground.run(Containment::gated(), process).await.unwrap();
    assert_eq!(finished.stdout.text(), "there\n", "{finished:?}");
}
