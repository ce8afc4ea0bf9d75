//! `doctor` tries the walls and shows what it saw.

use std::collections::BTreeSet;

use serde_json::Value;

use super::site::{Site, Who};
use crate::support::{Said, said};

fn doctor(site: &Site, words: &[&str]) -> Said {
    said(site.stance(&[&["doctor"], words].concat()).output().unwrap())
}

fn the_proof_is_shown(who: Who) {
    let site = Site::new(who);
    let before = site.untouchable();
    let said = doctor(&site, &["--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let report = said.report();
    let root = who == Who::AsStarted && rustix::process::geteuid().is_root();
    assert_eq!(report["root"], root);
    assert_eq!(
        (&report["walls"]["proven"], &report["walls"]["why"]),
        (&Value::Bool(true), &Value::Null),
        "{report:#}"
    );
    let probes = report["walls"]["probes"].as_array().unwrap();
    for probe in probes {
        let keys: Vec<&str> = probe.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            BTreeSet::from_iter(keys),
            BTreeSet::from(["detail", "held", "name", "writable"])
        );
        assert_eq!(probe["held"], true, "{probe:#}");
        assert!(
            !probe["detail"].as_str().unwrap().is_empty() || probe["name"] == "seen from outside: files",
            "{probe:#}"
        );
    }
    for (name, writable) in [
        ("write", false),
        ("rename", false),
        ("link", false),
        ("chmod", false),
        ("utime", false),
        ("xattr", false),
        ("delete", false),
        ("git write", true),
        ("git rename", true),
        ("remount the root", true),
        ("mount", true),
        ("mknod of a device", true),
        ("nested namespace", true),
        ("foreign descriptor", true),
        ("a setting of the machine", true),
        ("unix socket in the worktree", true),
        ("unix socket outside", true),
        ("abstract socket", true),
        ("FIFO write", true),
        ("loopback", true),
        ("call ptrace", true),
        ("seen from outside: connections", true),
    ] {
        let tried = probes
            .iter()
            .filter(|probe| probe["name"] == name && probe["writable"] == writable)
            .count();
        assert!(tried > 0, "{name} was not tried");
    }
    assert_eq!(report["throw_away"]["why"], Value::Null, "{report:#}");
    let copy = report["throw_away"]["probes"].as_array().unwrap();
    for name in ["a copy takes changes", "seen from outside: files", "loopback"] {
        assert!(copy.iter().any(|probe| probe["name"] == name), "{name} was not tried");
    }
    assert!(copy.iter().all(|probe| probe["held"] == true), "{copy:#?}");
    let words = doctor(&site, &[]);
    assert_eq!(words.code, 0, "{words:?}");
    let who = if root { "as root" } else { "as an ordinary user" };
    let line = format!("walls on: {} tries, each forbidden, {who}", probes.len());
    assert!(words.out.contains(&line), "{line}: {}", words.out);
    assert_eq!(site.untouchable(), before);
}

#[test]
fn the_proof_is_shown_to_whoever_runs_this() {
    the_proof_is_shown(Who::AsStarted);
}

#[test]
fn the_proof_is_shown_to_an_ordinary_user() {
    the_proof_is_shown(Who::Ordinary);
}
