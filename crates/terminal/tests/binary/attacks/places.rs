//! What lies outside the project, in the kernel, in Stance itself and in other homes, asked for by
//! every spelling; and a folder that changes places with a link to the outside while it is used.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use serde_json::{Value, json};

use super::evidence::{files, shows_nothing_of, told};
use crate::support::{Place, calls, says, turns};

const SECRET: &str = "bytes-of-somebody-else";

fn link(place: &Place, name: &str, target: impl AsRef<Path>) -> String {
    std::os::unix::fs::symlink(target, place.repo().join(name)).unwrap();
    name.to_owned()
}

/// The way from the repository up to the root and down again.
fn the_long_way(place: &Place, path: &Path) -> String {
    let up = "../".repeat(place.repo().components().count());
    format!("src/../{up}{}", path.strip_prefix("/").unwrap().display())
}

#[test]
fn nothing_outside_is_shown_by_any_tool_and_any_spelling() {
    let mut place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    place.variables.push(("ATTACK_SECRET".to_owned(), SECRET.to_owned()));
    let first = place.script("first", &turns(&[says("hello")]));
    place.run(&first, &["--mode", "plan", "begin"]);
    let database = files(&place.stance_home())
        .into_iter()
        .find(|file| file.ends_with("journal.db"))
        .unwrap();
    let key = files(&place.stance_home().join("keys")).remove(0);
    for folder in ["home/.ssh", "home/.aws", "other-home"] {
        let folder = place.home().with_file_name("").join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("secret"), SECRET).unwrap();
    }
    fs::write(place.outside().join("secret"), SECRET).unwrap();

    let mut paths: Vec<String> = Vec::new();
    let targets = [
        place.outside().join("secret"),
        place.home().with_file_name("other-home").join("secret"),
        place.home().join(".ssh/secret"),
        place.home().join(".aws/secret"),
        database,
        key,
        place.stance_home().join("settings.toml"),
        "/proc/self/environ".into(),
        "/proc/self/mem".into(),
        "/proc/self/maps".into(),
        "/proc/self/fd/3".into(),
        "/proc/self/root/etc/passwd".into(),
        "/proc/thread-self/environ".into(),
        "/proc/1/environ".into(),
        "/dev/zero".into(),
        "/dev/stdin".into(),
        "/dev/fd/0".into(),
        "/sys/kernel/notes".into(),
        "/etc/passwd".into(),
        "/root/.bashrc".into(),
    ];
    for (number, target) in targets.iter().enumerate() {
        paths.push(target.display().to_string());
        paths.push(the_long_way(&place, target));
        paths.push(link(&place, &format!("link-{number}"), target));
        let folder = link(&place, &format!("folder-{number}"), target.parent().unwrap());
        paths.push(format!("{folder}/{}", target.file_name().unwrap().to_str().unwrap()));
        paths.push(folder);
    }
    paths.extend(
        [
            "~/.ssh/secret",
            "~/.aws/secret",
            "~",
            "..",
            "/",
            "/proc/self",
            "/proc/self/fd",
        ]
        .map(str::to_owned),
    );
    paths.push(format!("{}/../outside/secret", place.repo().display()));
    let mut made: Vec<(&str, Value)> = Vec::new();
    for path in &paths {
        made.push(("read_file", json!({"path": path})));
        made.push(("list_files", json!({"path": path, "recursive": true})));
        made.push(("search_files", json!({"path": path, "regex": "."})));
    }
    // What leads outside is not entered by walking over it either.
    made.push(("search_files", json!({"path": ".", "regex": "bytes.of.somebody"})));
    made.push(("list_files", json!({"path": ".", "recursive": true})));
    let batches: Vec<Value> = made.chunks(30).map(calls).collect();
    let model = place.script("asks", &turns(&[&batches[..], &[says("seen")]].concat()));
    let before = place.world();
    let (_, events, _) = place.stream(&model, &["--mode", "plan", "look"]);
    assert_eq!(place.world(), before);
    shows_nothing_of(&place, &events, SECRET);
    let told = told(&events);
    assert_eq!(told.len(), made.len());
    let (walks, asked) = (told.len() - 2, &made[..made.len() - 2]);
    for (told, (tool, arguments)) in told.iter().zip(asked) {
        assert_eq!(
            (told.error, told.how.as_str()),
            (true, "refused"),
            "{tool} {arguments}: {told:?}"
        );
        assert!(
            !told.text.contains("SQLite format") && !told.text.contains("root:x"),
            "{told:?}"
        );
    }
    for walk in &told[walks..] {
        assert!(!walk.error && !walk.text.contains("other-home/"), "{walk:?}");
    }
}

#[test]
fn a_pipe_a_socket_and_an_endless_file_neither_hang_nor_show() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, place.repo().join("pipe"), FileType::Fifo, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.repo().join("socket")).unwrap();
    link(&place, "endless", "/dev/zero");
    link(&place, "circle", "circle");
    let huge = fs::File::create(place.repo().join("huge.txt")).unwrap();
    huge.set_len(32 << 20).unwrap();
    let mut made: Vec<(&str, Value)> = Vec::new();
    for name in ["pipe", "socket", "endless", "circle", "huge.txt"] {
        made.push(("read_file", json!({"path": name})));
        made.push(("write_to_file", json!({"path": name, "content": "x"})));
        made.push(("git_read", json!({"op": "blame", "path": name})));
    }
    made.push(("search_files", json!({"path": ".", "regex": "const"})));
    made.push(("list_files", json!({"path": ".", "recursive": true})));
    let model = place.script("special", &turns(&[calls(&made), says("seen")]));
    let before = place.world();
    let (_, events, _) = place.stream(&model, &["--mode", "plan", "look"]);
    assert_eq!(place.world(), before);
    let told = told(&events);
    assert_eq!(told.len(), made.len());
    let (walks, asked) = (told.len() - 2, &made[..made.len() - 2]);
    for (told, (tool, arguments)) in told.iter().zip(asked) {
        assert!(told.error, "{tool} {arguments}: {told:?}");
        assert!(told.text.len() < 2000, "{tool} {arguments}: {} bytes", told.text.len());
    }
    assert!(told[walks].text.contains("src/app.js"), "{:?}", told[walks]);
}

/// Enough for hundreds of calls while the folder and the link change places all the time.
const CALLS: usize = 400;

#[test]
fn a_folder_that_changes_places_with_a_link_never_leads_outside() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    // Not part of what is kept of the checkout: git cannot keep a folder that is none a moment later.
    place.write(".gitignore", "/d\n/swapped\n");
    place.write("d/secret", "inside\n");
    fs::write(place.outside().join("secret"), SECRET).unwrap();
    link(&place, "swapped", place.outside());
    let made: Vec<(String, Value)> = (0..CALLS)
        .map(|number| match number % 4 {
            0 => ("read_file".to_owned(), json!({"path": "d/secret"})),
            1 => ("search_files".to_owned(), json!({"path": "d", "regex": "i"})),
            2 => ("list_files".to_owned(), json!({"path": "d"})),
            _ => (
                "write_to_file".to_owned(),
                json!({"path": format!("d/new-{number}/x"), "content": "inside\n"}),
            ),
        })
        .collect();
    let batches: Vec<Value> = made
        .chunks(20)
        .map(|batch| {
            calls(
                &batch
                    .iter()
                    .map(|(tool, arguments)| (tool.as_str(), arguments.clone()))
                    .collect::<Vec<_>>(),
            )
        })
        .collect();
    let model = place.script("races", &turns(&[&batches[..], &[says("done")]].concat()));
    let (stop, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (one, other) = (place.repo().join("d"), place.repo().join("swapped"));
    let (_, events, report) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                swaps.fetch_add(1, Ordering::SeqCst);
                std::thread::yield_now();
            }
        });
        let streamed = std::panic::catch_unwind(|| place.stream(&model, &["--mode", "agent", "work in d"]));
        stop.store(true, Ordering::SeqCst);
        streamed.unwrap()
    });
    assert!(swaps.load(Ordering::SeqCst) > CALLS, "{swaps:?}");
    shows_nothing_of(&place, &events, SECRET);
    assert_eq!(files(&place.outside()), [place.outside().join("secret")]);
    assert_eq!(fs::read_to_string(place.outside().join("secret")).unwrap(), SECRET);
    let told = told(&events);
    assert_eq!(told.len(), CALLS, "{report:#}");
    let good = |tool: &str| told.iter().filter(|told| told.tool == tool && !told.error).count();
    for tool in ["read_file", "search_files", "write_to_file"] {
        assert!(good(tool) > 0, "{tool} never worked: the race was none");
    }
    let written = files(&place.repo()).iter().filter(|file| file.ends_with("x")).count();
    assert_eq!(written, good("write_to_file"));
}
