//! What the laws are tried on: drawn recipes, rules and calls.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};
use stance_modes::paths::write_class;
use stance_modes::{
    Answer, Approver, Autonomy, Built, Cause, Descriptor, Effect, EffectSet, Inspection, Judged, LinePlace,
    LineReading, Mode, ProposedCall, Role, RuleText, RunRecipe, RunSpec, Scope, Target, Unseen, Verdict, WallsStanding,
    descriptors, judge, run_spec,
};

pub(crate) const SCOPES: [Scope; 6] = [
    Scope::Managed,
    Scope::Run,
    Scope::Space,
    Scope::Agent,
    Scope::Workspace,
    Scope::Person,
];

const PATHS: &[&str] = &[
    "src/lib.rs",
    "README.md",
    ".env",
    "deploy/.env.local",
    "app/[id]/page.tsx",
    "odd {name}*?.md",
    r"back\slash.txt",
    "it's.txt",
    "notes (old).md",
    ".mcp.json",
    ".github/workflows/ci.yml",
    ".git/config",
];
const OUTSIDE: &[&str] = &["/etc/hosts", "/srv/[x]/it's", "/home/person/notes.txt"];
const LINES: &[&str] = &[
    "cargo test",
    "sudo rm -rf /",
    "npm run test:unit",
    "  ls   -la ",
    "echo $(cat x)",
    "sh -c 'sudo id'",
    "X=1 make",
    "",
];
const HOSTS: &[&str] = &["docs.example.org", "example.org", "127.0.0.1"];
const RULES: &[&str] = &[
    "sudo *",
    "npm run *",
    "cargo test",
    "ls*",
    "edit(src/**)",
    "edit(**)",
    "edit(/etc/**)",
    "edit(.mcp.json)",
    "read(.env*)",
    "read(**)",
    "net(*.example.org)",
    "net(example.org)",
];
const GLOBS: &[&str] = &[
    "src",
    "src/**",
    "*.md",
    ".mcp.json",
    "app/[id]/page.tsx",
    "nowhere/at/all",
];

pub(crate) fn mode() -> impl Strategy<Value = Mode> {
    select(Mode::all().to_vec())
}

pub(crate) fn chain() -> impl Strategy<Value = Vec<Cause>> {
    prop::collection::vec(prop_oneof![mode().prop_map(Cause::Run), Just(Cause::ReadOnlyRun)], 0..4)
}

pub(crate) fn role() -> impl Strategy<Value = Role> {
    let files = prop::option::of(subsequence(GLOBS, 0..=GLOBS.len()));
    prop_oneof![
        2 => Just(Role::Main),
        1 => (files, any::<bool>()).prop_map(|(files, read_only)| Role::Step {
            files: files.map(|files| files.into_iter().map(str::to_owned).collect()),
            read_only,
        }),
    ]
}

pub(crate) fn rule() -> impl Strategy<Value = RuleText> {
    let effects = Effect::ALL.map(|effect| format!("effect({effect})")).to_vec();
    let texts: Vec<String> = RULES.iter().map(|text| (*text).to_owned()).chain(effects).collect();
    let verdicts = vec![Verdict::Allow, Verdict::Plan, Verdict::Ask, Verdict::Deny];
    (select(SCOPES.to_vec()), select(verdicts), select(texts)).prop_map(|(scope, verdict, text)| RuleText {
        scope,
        verdict,
        text,
        place: format!("{scope:?}:1"),
    })
}

pub(crate) fn recipe() -> impl Strategy<Value = RunRecipe> {
    let people = (
        select(vec![
            Autonomy::ProposeOnly,
            Autonomy::ActWithApproval,
            Autonomy::ActFreely,
        ]),
        select(vec![Approver::Person, Approver::Later, Approver::Nobody]),
    );
    let standing = vec![
        WallsStanding::Partial,
        WallsStanding::Outer,
        WallsStanding::Off,
        WallsStanding::Absent,
    ];
    let walls = (
        prop_oneof![3 => Just(WallsStanding::Proven), 2 => select(standing)],
        select(vec![
            Inspection::On,
            Inspection::Unasked,
            Inspection::Off,
            Inspection::Unproven,
        ]),
    );
    let chain = prop_oneof![2 => Just(Vec::new()), 1 => chain()];
    let once = prop_oneof![3 => Just(false), 1 => Just(true)];
    (
        mode(),
        chain,
        role(),
        once,
        people,
        walls,
        prop::collection::vec(rule(), 0..6),
    )
        .prop_map(
            |(mode, chain, role, read_only_once, (autonomy, approver), (walls, inspection), rules)| RunRecipe {
                mode,
                chain,
                role,
                read_only_once,
                autonomy,
                approver,
                walls,
                inspection,
                rules,
                hosts: Vec::new(),
                answers: Vec::new(),
            },
        )
}

/// A recipe whose ceiling leaves most to rules and people.
pub(crate) fn open_recipe() -> impl Strategy<Value = RunRecipe> {
    recipe().prop_map(|mut recipe| {
        recipe.mode = stance_modes::after_approval();
        recipe.chain.clear();
        recipe.read_only_once = false;
        recipe.walls = WallsStanding::Proven;
        recipe
    })
}

/// A call that can be proposed more than once.
#[derive(Debug, Clone)]
pub(crate) struct Drawn {
    pub(crate) tool: &'static Descriptor,
    pub(crate) arguments: Value,
    pub(crate) effects: EffectSet,
    pub(crate) targets: Vec<Target>,
}

impl Drawn {
    pub(crate) fn proposed(&self) -> ProposedCall {
        let call = ProposedCall::new(self.tool, "call", self.arguments.clone());
        let call = self.effects.iter().fold(call, ProposedCall::with_effect);
        self.targets.iter().cloned().fold(call, ProposedCall::with_target)
    }

    pub(crate) fn judged(&self, spec: &RunSpec) -> Judged {
        judge(spec, self.proposed(), None)
    }

    pub(crate) fn answered(&self, spec: &RunSpec, answer: &Answer) -> Judged {
        judge(spec, self.proposed(), Some(answer))
    }

    pub(crate) fn paths(&self) -> Vec<&str> {
        let path = |target| match target {
            &Target::Write { ref path, .. } | &Target::Delete { ref path, .. } | &Target::Read { ref path } => {
                Some(path.as_str())
            }
            _ => None,
        };
        self.targets.iter().filter_map(path).collect()
    }
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        4 => select(PATHS).prop_map(write),
        2 => select(OUTSIDE).prop_map(|path| Target::Write {
            path: path.to_owned(),
            class: write_class(path),
            outside: true,
        }),
        2 => (select(PATHS), any::<bool>()).prop_map(|(path, held)| delete(path, held)),
        4 => select(PATHS).prop_map(|path| Target::Read { path: path.to_owned() }),
        4 => select(LINES).prop_map(|line| Target::Line {
            line: line.to_owned(),
            cwd: "/repo/project".to_owned(),
            opaque: "it cannot be seen".to_owned(),
        }),
        4 => select(LINES).prop_map(|line| Target::Command {
            words: line.split_whitespace().map(str::to_owned).collect(),
            effects: EffectSet::EMPTY,
            reads: line.starts_with("ls"),
            rememberable: true,
            unseen: if line.starts_with("npm") { Unseen::Code } else { Unseen::Nothing },
        }),
        2 => select(HOSTS).prop_map(|host| Target::Host { host: host.to_owned() }),
        1 => Just(Target::Never { what: "credentials".to_owned() }),
    ]
}

/// A line read in a project of its own.
pub(crate) fn reading(line: &str) -> LineReading {
    let place = LinePlace {
        cwd: "/repo/project",
        worktree: "/repo/project",
        home: "/home/person",
        hidden: &["/home/person/.stance".to_owned()],
        walled: true,
        git_starts_nothing: &|folder| folder == "/repo/project",
    };
    LineReading::read(line, &place)
}

pub(crate) fn write(path: &str) -> Target {
    Target::Write {
        path: path.to_owned(),
        class: write_class(path),
        outside: false,
    }
}

pub(crate) fn delete(path: &str, held: bool) -> Target {
    Target::Delete {
        path: path.to_owned(),
        class: write_class(path),
        held,
        words: Vec::new(),
    }
}

pub(crate) fn call() -> impl Strategy<Value = Drawn> {
    let tools: Vec<&'static Descriptor> = descriptors().iter().collect();
    let effects = prop_oneof![2 => Just(Vec::new()), 3 => subsequence(Effect::ALL.to_vec(), 0..=3)];
    (select(tools), 0..3_i32, effects, prop::collection::vec(target(), 0..4)).prop_map(
        |(tool, number, effects, targets)| Drawn {
            tool,
            arguments: json!({ "number": number }),
            effects: effects.into_iter().collect(),
            targets,
        },
    )
}

/// A run with everything built.
pub(crate) fn spec(recipe: RunRecipe) -> RunSpec {
    run_spec(recipe, &Built::everything()).unwrap()
}

/// How strict a decision is: permit, question, refusal.
pub(crate) fn strictness(judged: &Judged) -> u8 {
    match judged {
        Judged::Permit(_) => 0,
        Judged::Question(_) => 1,
        Judged::Refusal(_) => 2,
    }
}
