//! A slip in the person's settings is told with its line and what was probably meant, and nothing
//! is sent.

use super::TWO_MODES;
use super::server::{KEY, Server};
use crate::support::Place;

#[test]
fn a_slip_names_file_line_and_what_was_meant() {
    let server = Server::start([]);
    for (slip, line, wanted) in [
        (
            "[models.plan]\nmodle = \"m\"\n",
            2,
            "unknown key `modle` in [models.plan]: did you mean `model`",
        ),
        (
            "[models.plan]\n\nthinking_bugdet = 5\n",
            3,
            "unknown key `thinking_bugdet` in [models.plan]: did you mean `thinking_budget`",
        ),
        (
            "[model.plan]\neffort = \"low\"\n",
            1,
            "unknown key `model`: did you mean `models`",
        ),
        (
            "[models.pln]\neffort = \"low\"\n",
            1,
            "unknown key `pln` in [models]: did you mean `plan`",
        ),
        (
            "[models.plan]\neffort = \"hihg\"\n",
            2,
            "`hihg` cannot be the value of `effort`: did you mean `high`",
        ),
        (
            "[models.plan]\nprovider = \"antropic\"\nmodel = \"m\"\n",
            2,
            "`antropic` cannot be the value of `provider`: did you mean `anthropic`",
        ),
        (
            "[models.plan]\nmodel = \"m\"\n",
            1,
            "[models.plan] sets `model` without `provider`",
        ),
        (
            "[providers.anthropic]\nbase-url = \"http://127.0.0.1:9\"\n",
            2,
            "unknown key `base-url` in [providers.anthropic]: did you mean `base_url`",
        ),
        (
            "[permissions]\nalow = [\"npm test\"]\n",
            2,
            "unknown key `alow` in [permissions]: did you mean `allow`",
        ),
        ("[permissions]\nask = [\"effect(gti_push)\"]\n", 2, "gti_push"),
        (
            "[limits]\nmistakes = 0\n",
            2,
            "`mistakes` must be a whole number from 1 up",
        ),
        (
            "[autonomy]\ndefault = \"act_free\"\n",
            2,
            "`act_free` cannot be the value of `default`: did you mean `act_freely`",
        ),
        ("[models.plan\n", 1, "this is no TOML"),
    ] {
        let mut place = Place::new();
        place.variables.push((KEY.0.to_owned(), KEY.1.to_owned()));
        place.settings(slip);
        let person = place.stance_home().join("settings.toml");
        for command in [
            &["run", "--mode", "plan", "greet"][..],
            &["mode", "plan"],
            &["plan", "list"],
        ] {
            let said = place.stance(command);
            assert_eq!(said.code, 1, "{slip}: {}", said.err);
            let words = format!("error: {}:{line}: ", person.display());
            assert!(
                said.err.contains(&words) && said.err.contains(wanted),
                "{slip}: {}",
                said.err
            );
        }
        let doctor = place.stance(&["doctor"]);
        assert_eq!(doctor.code, 1);
        assert!(doctor.out.contains(wanted), "{}", doctor.out);
    }
    assert!(server.requests().is_empty());
}

#[test]
fn every_slip_is_told_at_once_and_none_is_passed_over() {
    let server = Server::start([]);
    let mut place = Place::new();
    server.configure(&mut place, &format!("{TWO_MODES}\n[limits]\ntokns = 5\nminuts = 5\n"));
    let said = place.stance(&["run", "greet"]);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("`tokens`") && said.err.contains("`minutes`"),
        "{}",
        said.err
    );
    assert_eq!(
        said.err.lines().filter(|line| line.starts_with("error: ")).count(),
        2,
        "{}",
        said.err
    );
    assert!(server.requests().is_empty());
}
