//! Settings files: what each key does, and what each fault says.

use modes::Verdict;

use super::*;

mod locked;
mod project;
mod sandbox;

/// A managed, a person's and a project's file, as written.
struct Layout {
    root: tempfile::TempDir,
    places: Places,
}

fn layout(managed: &str, person: &str, project: &str) -> Layout {
    let root = tempfile::tempdir().unwrap();
    let checkout = root.path().join("checkout");
    fs::create_dir_all(checkout.join(".stance")).unwrap();
    let places = Places {
        managed: root.path().join("managed.toml"),
        person: root.path().join("person.toml"),
        checkout,
    };
    for (path, text) in [
        (places.managed.clone(), managed),
        (places.person.clone(), person),
        (places.project(), project),
    ] {
        if !text.is_empty() {
            fs::write(path, text).unwrap();
        }
    }
    Layout { root, places }
}

/// What is wrong, as `LINE: words`, the file's path left out.
fn faults(managed: &str, person: &str, project: &str) -> Vec<String> {
    let layout = layout(managed, person, project);
    let loaded = load(&layout.places).unwrap();
    let root = layout.root.path().display().to_string();
    loaded
        .faults
        .iter()
        .map(|fault| fault.to_string().replace(&format!("{root}/"), ""))
        .collect()
}

fn sound(managed: &str, person: &str, project: &str) -> Settings {
    load(&layout(managed, person, project).places).unwrap().sound().unwrap()
}

#[test]
fn nothing_set_is_what_is_built_in() {
    let settings = sound("", "", "");
    assert_eq!(settings.limits, Limits::default());
    assert_eq!(
        (settings.autonomy, settings.landing),
        (Autonomy::ActWithApproval, Landing::Checkout)
    );
    assert!(settings.rules.is_empty() && settings.providers.is_empty());
    assert_eq!(
        settings.files.iter().map(|(_, read)| *read).collect::<Vec<_>>(),
        [false, false, false]
    );
}

#[test]
fn every_documented_key_has_an_effect() {
    let person = r#"
[models.default]
provider = "anthropic"
model = "claude-x"
effort = "high"
thinking_budget = 4096
max_output = 16000
temperature = 0.5
[models.plan]
effort = "max"
[models.agent]
max_output = 8000
[models.review]
temperature = 1
[models.orchestrate]
thinking_budget = 0x800
[providers.anthropic]
base_url = "https://models.example/v1"
key_env = "TEAM_KEY"
[permissions]
allow = ["npm run *"]
ask = ["effect(git_commit)"]
plan = ["edit(src/**)"]
deny = ["read(.env*)", "net(evil.example)"]
[limits]
mistakes = "off"
tokens = 1000
minutes = 5
retries = 0
retry_pause_ms = 10
compact_at = 90_000
[autonomy]
default = "act_freely"
[landing]
default = "commits"
"#;
    let settings = sound("", person, "");
    let folded = |mode| llm::fold(mode, &settings.layers).unwrap();
    let agent = folded("agent");
    assert_eq!(
        (agent.settings.provider.as_str(), agent.settings.model.as_str()),
        ("anthropic", "claude-x")
    );
    assert_eq!(
        (agent.settings.effort, agent.settings.max_output),
        (Some(llm::Effort::High), Some(8000))
    );
    assert_eq!(
        (agent.settings.thinking_budget, agent.settings.temperature),
        (Some(4096), Some(0.5))
    );
    assert_eq!(agent.origins["max_output"].line, Some(12));
    assert_eq!(folded("plan").settings.effort, Some(llm::Effort::Max));
    assert_eq!(folded("review").settings.temperature, Some(1.0));
    assert_eq!(folded("orchestrate").settings.thinking_budget, Some(2048));
    assert_eq!(
        settings.providers["anthropic"],
        Endpoint {
            base_url: Some("https://models.example/v1".to_owned()),
            key_env: Some("TEAM_KEY".to_owned()),
            api_version: None,
        }
    );
    let rules: Vec<_> = settings
        .rules
        .iter()
        .map(|rule| (rule.scope, rule.verdict, rule.text.as_str()))
        .collect();
    assert_eq!(
        rules,
        [
            (Scope::Person, Verdict::Allow, "npm run *"),
            (Scope::Person, Verdict::Ask, "effect(git_commit)"),
            (Scope::Person, Verdict::Plan, "edit(src/**)"),
            (Scope::Person, Verdict::Deny, "read(.env*)"),
            (Scope::Person, Verdict::Deny, "net(evil.example)"),
        ]
    );
    assert!(
        settings.rules[0].place.ends_with("person.toml:21"),
        "{}",
        settings.rules[0].place
    );
    let limits = Limits {
        mistakes: None,
        tokens: Some(1000),
        minutes: Some(5),
        retries: 0,
        retry_pause_ms: 10,
        compact_at: Some(90_000),
    };
    assert_eq!(settings.limits, limits);
    assert_eq!(
        (settings.autonomy, settings.landing),
        (Autonomy::ActFreely, Landing::Commits)
    );
}

#[test]
fn whatever_cannot_be_read_is_told_with_its_line_and_what_is_near() {
    for (text, expected) in [
        (
            "[model]\n",
            "person.toml:1: unknown key `model`: did you mean `models`?",
        ),
        (
            "[models.pln]\n",
            "person.toml:1: unknown key `pln` in [models]: did you mean `plan`?",
        ),
        (
            "\n[models.plan]\nefort = \"high\"\n",
            "person.toml:3: unknown key `efort` in [models.plan]: did you mean `effort`?",
        ),
        (
            "[models.plan]\neffort = \"hihg\"\n",
            "person.toml:2: `hihg` cannot be the value of `effort`: did you mean `high` or `xhigh`?",
        ),
        (
            "[models.plan]\nthinking_budget = \"many\"\n",
            "person.toml:2: `thinking_budget` must be a whole number from 1 up",
        ),
        (
            "[models.plan]\ntemperature = 3\n",
            "person.toml:2: `temperature` must be a number from 0 to 2",
        ),
        (
            "[models.plan]\nprovider = \"antropic\"\nmodel = \"x\"\n",
            "person.toml:2: `antropic` cannot be the value of `provider`: did you mean `anthropic`?",
        ),
        (
            "[models.plan]\nmodel = \"x\"\n",
            "person.toml:1: [models.plan] sets `model` without `provider`: the two travel together",
        ),
        (
            "[providers.antropic]\n",
            "person.toml:1: unknown key `antropic` in [providers]: did you mean `anthropic`?",
        ),
        (
            "[providers.anthropic]\nbase_url = \"models.example\"\n",
            "person.toml:2: `base_url` must begin with `https://` or `http://`",
        ),
        (
            "[permissions]\nalow = []\n",
            "person.toml:2: unknown key `alow` in [permissions]: did you mean `allow`?",
        ),
        (
            "[permissions]\ndeny = [\n  \"read(.env)\",\n  \"effect(git_psh)\",\n]\n",
            "person.toml:4: the rule `effect(git_psh)` cannot be read: \"git_psh\" is not an effect",
        ),
        (
            "[permissions]\ndeny = \"x\"\n",
            "person.toml:2: `deny` must be a list of texts in quotes, and a string stands there",
        ),
        (
            "[limits]\nmistakes = \"of\"\n",
            "person.toml:2: `mistakes` must be a whole number from 1 up, or `\"off\"`",
        ),
        (
            "[limits]\ntokens = 0\n",
            "person.toml:2: `tokens` must be a whole number from 1 up",
        ),
        (
            "[limits]\nretries = 4294967296\n",
            "person.toml:2: `retries` is too large",
        ),
        (
            "[autonomy]\ndefault = \"act_frely\"\n",
            "person.toml:2: `act_frely` cannot be the value of `default`: did you mean `act_freely`?",
        ),
        (
            "[landing]\ndefault = \"pull-request\"\n",
            "person.toml:2: `pull-request` cannot be the value of `default`: one of: checkout, commits",
        ),
        (
            "models = 3\n",
            "person.toml:1: `models` must be a table, and an integer stands there",
        ),
    ] {
        assert_eq!(faults("", text, ""), [expected]);
    }
    assert!(faults("", "[models\n", "")[0].starts_with("person.toml:1: this is no TOML: "));
}

#[test]
fn every_layer_is_checked_and_every_fault_is_told() {
    let all = faults("[x]\n", "[limits]\na = 1\nb = 2\n", "[y]\n");
    let places: Vec<&str> = all.iter().map(|fault| fault.split(": ").next().unwrap()).collect();
    assert_eq!(
        places,
        [
            "managed.toml:1",
            "person.toml:2",
            "person.toml:3",
            "checkout/.stance/settings.toml:1"
        ]
    );
    let problem = load(&layout("", "[x]\n", "").places).unwrap().sound().unwrap_err();
    assert!(problem.message.contains("person.toml:1: unknown key `x`"), "{problem}");
    assert!(!problem.hints.is_empty());
}

#[test]
fn a_key_in_the_place_of_a_variable_is_never_shown() {
    let all = faults("", "[providers.anthropic]\nkey_env = \"sk-ant-secret\"\n", "");
    assert!(
        all[0].contains("the NAME of an environment variable") && !all[0].contains("secret"),
        "{all:?}"
    );
}

#[test]
fn what_tightens_is_taken_and_layers_stand_in_their_order() {
    let managed = "[limits]\ntokens = 900\nminutes = 9\n[permissions]\ndeny = [\"net(a)\"]\n[autonomy]\ndefault = \"propose_only\"\n[providers.anthropic]\nbase_url = \"https://managed\"\nkey_env = \"MANAGED\"\n";
    let person = "[limits]\ntokens = 800\n[providers.anthropic]\nbase_url = \"https://person\"\n";
    let project =
        "[limits]\ntokens = 700\nmistakes = 1\n[permissions]\ndeny = [\"net(b)\"]\nask = [\"effect(git_commit)\"]\n";
    let settings = sound(managed, person, project);
    assert_eq!(
        (
            settings.limits.tokens,
            settings.limits.minutes,
            settings.limits.mistakes
        ),
        (Some(700), Some(9), Some(1))
    );
    assert_eq!(settings.autonomy, Autonomy::ProposeOnly);
    let endpoint = &settings.providers["anthropic"];
    assert_eq!(
        (endpoint.base_url.as_deref(), endpoint.key_env.as_deref()),
        (Some("https://person"), Some("MANAGED"))
    );
    let scopes: Vec<_> = settings
        .rules
        .iter()
        .map(|rule| (rule.scope, rule.text.as_str()))
        .collect();
    assert_eq!(
        scopes,
        [
            (Scope::Managed, "net(a)"),
            (Scope::Workspace, "net(b)"),
            (Scope::Workspace, "effect(git_commit)")
        ]
    );
}

#[test]
fn a_home_that_is_a_checkout_has_one_file_and_it_is_the_persons() {
    let home = tempfile::tempdir().unwrap();
    let stance_home = home.path().join(".stance");
    fs::create_dir_all(home.path().join(".git")).unwrap();
    fs::create_dir_all(home.path().join("sub")).unwrap();
    fs::create_dir(&stance_home).unwrap();
    fs::write(
        stance_home.join("settings.toml"),
        "[autonomy]\ndefault = \"act_freely\"\n",
    )
    .unwrap();
    let places = Places::of(home.path().join("none"), &stance_home, &home.path().join("sub"));
    assert_eq!(places.checkout, home.path());
    assert_eq!(load(&places).unwrap().sound().unwrap().autonomy, Autonomy::ActFreely);
}

#[test]
fn a_script_is_named_relative_to_its_file() {
    let there = layout(
        "",
        "[models.default]\nprovider = \"scripted\"\nmodel = \"s.json\"\n",
        "",
    );
    let settings = load(&there.places).unwrap().sound().unwrap();
    let folded = llm::fold("plan", &settings.layers).unwrap();
    assert_eq!(
        folded.settings.model,
        there.root.path().join("s.json").display().to_string()
    );
}
