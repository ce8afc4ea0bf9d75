//! What the agreement is tried on: runs, rules, calls, and ways to change the world.

use modes::{
    Approver, Autonomy, Cause, Effect, Inspection, Judged, LinePlace, LineReading, Mode, ProposedCall, Role, RuleText,
    RunRecipe, RunSpec, Scope, Verdict, WallsStanding, after_approval, descriptor, descriptors, judge,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::json;

pub(crate) fn recipe() -> impl Strategy<Value = RunRecipe> {
    let mode = || select(Mode::all().to_vec());
    let cause = prop_oneof![mode().prop_map(Cause::Run), Just(Cause::ReadOnlyRun)];
    let chain = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(cause, 1..3)];
    let step = any::<bool>().prop_map(|read_only| Role::Step { files: None, read_only });
    let role = prop_oneof![2 => Just(Role::Main), 1 => step];
    let once = prop_oneof![3 => Just(false), 1 => Just(true)];
    let autonomy = select(vec![Autonomy::ActWithApproval, Autonomy::ActFreely]);
    // Half of all runs start where nothing is refused, so that both sides are tried.
    let mode = prop_oneof![Just(after_approval()), mode()];
    (mode, chain, role, once, autonomy, rules()).prop_map(|(mode, chain, role, read_only_once, autonomy, rules)| {
        RunRecipe {
            chain,
            role,
            read_only_once,
            autonomy,
            rules,
            ..main_run(mode)
        }
    })
}

/// What `profile` and `explain` show: a run of the mode with a person at the door.
pub(crate) fn main_run(mode: Mode) -> RunRecipe {
    RunRecipe {
        mode,
        chain: Vec::new(),
        role: Role::Main,
        read_only_once: false,
        autonomy: Autonomy::default(),
        approver: Approver::Person,
        walls: WallsStanding::Proven,
        inspection: Inspection::On,
        rules: Vec::new(),
        hosts: Vec::new(),
        answers: Vec::new(),
    }
}

pub(crate) fn rules() -> impl Strategy<Value = Vec<RuleText>> {
    let effects = Effect::ALL.map(|effect| format!("effect({effect})"));
    let others = [
        "sudo *",
        "git *",
        "make",
        "edit(**)",
        "read(.env*)",
        "net(*.example.org)",
    ];
    let texts: Vec<String> = effects.into_iter().chain(others.map(str::to_owned)).collect();
    let verdicts = vec![
        Verdict::Allow,
        Verdict::Allow,
        Verdict::Plan,
        Verdict::Ask,
        Verdict::Deny,
    ];
    let rule = (select(verdicts), select(texts)).prop_map(|(verdict, text)| RuleText {
        scope: Scope::Person,
        verdict,
        text,
        place: "settings.toml".to_owned(),
    });
    prop::collection::vec(rule, 0..5)
}

pub(crate) fn tool() -> impl Strategy<Value = &'static str> {
    select(descriptors().iter().map(|row| row.name).collect::<Vec<_>>())
}

#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    pub(crate) effects: Vec<Effect>,
    pub(crate) line: Option<&'static str>,
}

impl Call {
    pub(crate) fn judged(&self, spec: &RunSpec) -> Judged {
        let call = ProposedCall::new(descriptor(self.tool).unwrap(), "call", json!({}));
        let call = self.effects.iter().fold(call, |call, effect| call.with_effect(*effect));
        let place = LinePlace {
            cwd: "/repo/project",
            worktree: "/repo/project",
            home: "/home/person",
            hidden: &[],
            walled: true,
            git_starts_nothing: &|_| true,
        };
        let reading = self.line.map(|line| LineReading::read(line, &place));
        judge(spec, reading.into_iter().fold(call, ProposedCall::with_line), None)
    }
}

pub(crate) fn call() -> impl Strategy<Value = Call> {
    let line = prop::option::of(attempt().prop_map(|attempt| attempt.how));
    (tool(), subsequence(Effect::ALL.to_vec(), 0..=2), line).prop_map(|(tool, effects, line)| Call {
        tool,
        effects,
        line,
    })
}

/// One way to change the world, tried by a process.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    /// A line of bash that acts on `$1` (a file that exists) in the folder `$2`.
    pub(crate) how: &'static str,
    pub(crate) place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Worktree,
    Repository,
    Outside,
    Home,
    StanceHome,
}

pub(crate) fn attempt() -> impl Strategy<Value = Attempt> {
    let lines = [
        r#"echo changed > "$1""#,
        r#"echo changed >> "$1""#,
        r#"echo changed | tee "$1""#,
        r#"cp /etc/passwd "$1""#,
        r#"sed -i 's/.*/changed/' "$1""#,
        r#"truncate -s 0 "$1""#,
        r#"dd if=/etc/passwd of="$1" 2>&1"#,
        r#"rm -f "$1""#,
        r#"mv "$1" "$1.moved""#,
        r#"ln -sf /etc/passwd "$1""#,
        r#"chmod 000 "$1" && rm -rf "$1""#,
        r#"touch "$2/new""#,
        r#"mkdir "$2/folder""#,
        r#"sh -c 'printf changed > "$0"' "$1""#,
        r#"eval 'echo changed >' '"$1"'"#,
        r#"(cd "$2" && echo changed > new)"#,
        r#"mount -o remount,rw "$2"; echo changed > "$1""#,
    ];
    let places = vec![
        Place::Worktree,
        Place::Worktree,
        Place::Repository,
        Place::Outside,
        Place::Home,
        Place::StanceHome,
    ];
    (select(lines.to_vec()), select(places)).prop_map(|(how, place)| Attempt { how, place })
}
