//! A repository full of programs that a person's git would run.

use std::fmt::Write as _;
use std::fs;

use super::evidence::{Canaries, person};
use crate::support::Place;

/// What a person's git would run here, each its own program.
pub(super) fn plant_programs(place: &Place, canaries: &mut Canaries) {
    plant_repositories(place, canaries);
    place.write("src/util.py", "def add(a, b):\n    return b + a\n");
    place.git(&["add", "src"]);
    place.git(&["commit", "-q", "-m", "turn round"]);
    sign_head(place);
    let lost = place.git(&["rev-parse", "HEAD~1:src/util.py"]);
    let (folder, name) = lost.trim().split_at(2);
    fs::remove_file(place.repo().join(".git/objects").join(folder).join(name)).unwrap();

    let mut config = String::new();
    for (section, key) in [
        ("filter \"evil\"", "clean"),
        ("filter \"evil\"", "smudge"),
        ("core", "fsmonitor"),
        ("core", "pager"),
        ("core", "editor"),
        ("core", "sshCommand"),
        ("core", "gitProxy"),
        ("core", "askPass"),
        ("core", "alternateRefsCommand"),
        ("sequence", "editor"),
        ("diff", "external"),
        ("diff \"evil\"", "command"),
        ("diff \"evil\"", "textconv"),
        ("merge \"evil\"", "driver"),
        ("gpg", "program"),
        ("gpg \"ssh\"", "program"),
        ("pager", "status"),
        ("pager", "log"),
        ("interactive", "diffFilter"),
        ("credential", "helper"),
        ("uploadpack", "packObjectsHook"),
        ("trailer \"evil\"", "command"),
        ("remote \"origin\"", "uploadpack"),
    ] {
        let name = format!("{section}.{key}").replace([' ', '"'], "-");
        let _ = writeln!(config, "[{section}]\n\t{key} = {}", canaries.program(&name));
    }
    for alias in ["status", "log", "diff", "show", "blame"] {
        let _ = writeln!(
            config,
            "[alias]\n\t{alias} = !{}",
            canaries.program(&format!("alias-{alias}"))
        );
    }
    for hook in [
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "post-index-change",
        "reference-transaction",
    ] {
        canaries.program(&format!("hooks/{hook}"));
        let program = canaries.program(&format!("plain-{hook}"));
        fs::create_dir_all(place.repo().join(".git/hooks")).unwrap();
        std::os::unix::fs::symlink(program, place.repo().join(".git/hooks").join(hook)).unwrap();
    }
    let hooks = place.home().join(".cargo/bin/hooks");
    let _ = writeln!(config, "[core]\n\thooksPath = {}", hooks.display());
    config.push_str("[log]\n\tshowSignature = true\n[commit]\n\tgpgSign = true\n[user]\n\tsigningKey = x\n");
    config.push_str("[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tpartialClone = origin\n");
    config.push_str("[remote \"origin\"]\n\turl = ssh://nowhere.invalid/x\n\tpromisor = true\n");
    let file = place.repo().join(".git/config");
    let before = fs::read_to_string(&file).unwrap();
    fs::write(&file, before + &config).unwrap();
    let attributes = "*.py filter=evil diff=evil merge=evil\n";
    place.write(".git/info/attributes", attributes);
    place.write(".gitattributes", attributes);
    // The times differ, the content does not: whoever wants to know must filter it.
    fs::remove_file(place.repo().join("src/util.py")).unwrap();
    place.write("src/util.py", "def add(a, b):\n    return b + a\n");
    place.write("src/app.js", "const x = 2;\n");
}

/// A submodule and a stray repository with programs of their own, and a bare repository committed as
/// ordinary files.
fn plant_repositories(place: &Place, canaries: &mut Canaries) {
    for name in ["module", "stray"] {
        fs::create_dir(place.repo().join(name)).unwrap();
        place.write(&format!("{name}/inner.txt"), "inner\n");
        place.write(&format!("{name}/.gitattributes"), "* filter=evil\n");
        place.git(&["-C", name, "init", "-q", "-b", "main"]);
        place.git(&["-C", name, "add", "."]);
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        place.git(&[&["-C", name][..], &who, &["commit", "-q", "-m", "inner"]].concat());
        let clean = canaries.program(&format!("{name}-filter"));
        place.git(&["-C", name, "config", "filter.evil.clean", &clean]);
        let monitor = canaries.program(&format!("{name}-fsmonitor"));
        place.git(&["-C", name, "config", "core.fsmonitor", &monitor]);
    }
    place.git(&["add", "module"]);
    let monitor = canaries.program("bare-fsmonitor");
    place.write("src/bare/HEAD", "ref: refs/heads/main\n");
    place.write("src/bare/objects/info/x", "");
    place.write("src/bare/refs/x", "");
    place.write(
        "src/bare/config",
        &format!("[core]\nbare = false\nworktree = ..\nfsmonitor = {monitor}\n"),
    );
    place.git(&["add", "src/bare"]);
    place.git(&["commit", "-q", "-m", "repositories within"]);
    place.write("module/inner.txt", "dirty\n");
}

/// Gives the newest commit a signature that somebody would have to check.
fn sign_head(place: &Place) {
    let commit = place.git(&["cat-file", "commit", "HEAD"]);
    let (headers, message) = commit.split_once("\n\n").unwrap();
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----";
    place.write(".git/signed", &format!("{headers}\n{signature}\n\n{message}"));
    let id = place.git(&["hash-object", "-t", "commit", "-w", ".git/signed"]);
    place.git(&["update-ref", "refs/heads/main", id.trim()]);
    fs::remove_file(place.repo().join(".git/signed")).unwrap();
}

/// The plants are real: a person who does the usual things runs them.
pub(super) fn a_person_would_run_them(place: &Place, canaries: &Canaries) {
    for line in [
        &["status"][..],
        &["diff"],
        &["diff", "--no-ext-diff"],
        &["log", "-p"],
        &["show", "HEAD~1:src/util.py"],
        &["show", "HEAD"],
        &["add", "src"],
        &["-c", "commit.gpgSign=false", "commit", "-q", "-m", "x"],
    ] {
        person(place, line);
    }
    let opened = canaries.opened();
    for name in [
        "filter--evil-.clean",
        "core.fsmonitor",
        "core.sshCommand",
        "diff.external",
        "diff--evil-.textconv",
        "gpg.program",
        "module-filter",
        "hooks/pre-commit",
    ] {
        assert!(opened.contains(name), "the plant {name} is dead: {opened:?}");
    }
}
