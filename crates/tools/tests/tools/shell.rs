//! `execute_command` inside the real walls.

use std::fs;

use modes::{Effect, Target};
use serde_json::json;

use crate::ground::{Came, Ground};

#[tokio::test]
async fn a_line_runs_in_the_project_and_tells_output_and_exit() {
    let ground = Ground::new().walled();
    ground.write("sub/a.txt", "content\n");
    let (effects, targets) = ground.judged("execute_command", json!({"command": "ls"}));
    assert!(effects.is_empty(), "a proven read: {effects:?}");
    let [Target::Command { words, reads: true, .. }] = targets.as_slice() else {
        panic!("{targets:?}")
    };
    assert_eq!(words, &["ls"]);
    let (effects, _) = ground.judged("execute_command", json!({"command": "./build.sh"}));
    assert!(effects.contains(Effect::ProcessSpawn));
    let good = ground
        .call(
            "execute_command",
            json!({"command": "echo out; echo err >&2; echo more; cat a.txt", "cwd": "sub"}),
        )
        .await;
    assert_eq!(
        good.good(),
        "out\nerr\nmore\ncontent\n[exit code 0]",
        "in the order they were written"
    );
    let failed = ground
        .call("execute_command", json!({"command": "exit 3"}))
        .await
        .fault();
    assert_eq!(failed, "[no output]\n[exit code 3]");
    let unreadable = ground.call("execute_command", json!({"command": "if"})).await.fault();
    assert!(unreadable.contains("syntax error"), "{unreadable}");
    ground
        .call("execute_command", json!({"command": "echo made > made.txt"}))
        .await
        .good();
    assert_eq!(ground.read("made.txt"), "made\n");
}

#[tokio::test]
async fn proven_reads_change_nothing() {
    let ground = Ground::new();
    for (path, text) in [
        ("README.md", "a: b\nc d\n"),
        ("src/lib.rs", "use x;\nmod y;\n"),
        ("src/main.rs", "fn main() {}\n"),
    ] {
        ground.write(path, text);
    }
    ground.write("package.json", "{\"version\": \"1\", \"scripts\": {\"a\": \"b\"}}\n");
    let ground = ground.repository().await;
    let before = Ground::picture(&ground.tree);
    let mut worked = 0;
    for line in include_str!("../../../modes/src/line/corpus/reads.txt").lines() {
        let (effects, _) = ground.judged("execute_command", json!({"command": line}));
        assert!(effects.is_empty(), "{line}: {effects:?}");
        if let Came::Done(result) = ground
            .call("execute_command", json!({"command": line, "timeout_s": 20}))
            .await
        {
            worked += usize::from(!result.is_error);
        }
    }
    assert_eq!(Ground::picture(&ground.tree), before);
    assert!(worked > 60, "{worked}");
}

#[tokio::test]
async fn what_the_walls_forbid_fails_and_is_explained() {
    let ground = Ground::new();
    ground.write("a.txt", "x\n");
    let ground = ground.repository().await;
    let git = Ground::picture(&ground.tree.join(".git"));
    let outside = Ground::picture(&ground.outside);
    let hooks = ground
        .call("execute_command", json!({"command": "d=.git; echo x >> $d/config"}))
        .await
        .fault();
    assert!(
        hooks.contains("Read-only file system") && hooks.contains("[hint: outside the project, and its .git"),
        "{hooks}"
    );
    let beside = ground.outside.join("new.txt").display().to_string();
    ground
        .call(
            "execute_command",
            json!({"command": format!("d={beside}; echo x > $d")}),
        )
        .await
        .fault();
    ground
        .call("execute_command", json!({"command": "g=.git; mv $g moved"}))
        .await
        .fault();
    ground
        .call(
            "execute_command",
            json!({"command": "c=commit; git $c -q --allow-empty -m x"}),
        )
        .await
        .fault();
    let network = ground
        .call(
            "execute_command",
            json!({"command": "f=/dev/tcp/127.0.0.1/9; exec 3<>$f"}),
        )
        .await
        .fault();
    assert!(
        network.contains("[hint: commands reach hosts only through the proxy"),
        "{network}"
    );
    assert_eq!(Ground::picture(&ground.tree.join(".git")), git);
    assert_eq!(Ground::picture(&ground.outside), outside);
}

#[tokio::test]
async fn a_repository_made_by_a_command_is_moved_away_and_told() {
    let ground = Ground::new().walled();
    let result = ground
        .call(
            "execute_command",
            json!({"command": "g=.git; mkdir -p sub/$g && echo x > sub/$g/config"}),
        )
        .await;
    let words = result.result().words();
    assert!(words.contains("sub/.git was made and moved away"), "{words}");
    assert!(!ground.tree.join("sub/.git").exists());
}

#[tokio::test]
async fn a_repository_that_cannot_be_moved_away_is_an_error_that_says_the_command_ran() {
    let ground = Ground::new().walled();
    ground.call("execute_command", json!({"command": "true"})).await.good();
    std::fs::write(ground.scope.scratch.join("quarantine"), "").unwrap();
    let command = json!({"command": "g=.git; mkdir -p a/$g; touch ran"});
    let fault = ground.call("execute_command", command).await.fault();
    assert!(
        fault.starts_with("the command was carried out, but what a command may not make could not be moved away"),
        "{fault}"
    );
    assert!(fault.contains("a/.git") && ground.tree.join("ran").exists());
    let fault = ground
        .call("execute_command", json!({"command": "touch again"}))
        .await
        .fault();
    assert!(
        fault.contains("not carried out: an earlier command planted") && !ground.tree.join("again").exists(),
        "{fault}"
    );
}

#[tokio::test]
async fn a_home_folder_is_no_project_to_write() {
    let mut ground = Ground::new().walled();
    ground.scope.home.clone_from(&ground.tree);
    let fault = ground
        .call("execute_command", json!({"command": "f=.bashrc; touch $f"}))
        .await
        .fault();
    assert!(
        fault.contains("was not started") && fault.contains("your home folder"),
        "{fault}"
    );
    assert!(!ground.tree.join(".bashrc").exists());
}

#[tokio::test]
async fn a_stopped_command_is_dead_and_looked_after_when_it_is_told() {
    let ground = Ground::new().walled();
    let (made, cancel) = (ground.tree.join("sub/.git"), ground.scope.cancel.clone());
    let stop = async {
        while !made.exists() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let command = json!({"command": "g=.git; mkdir -p sub/$g; sleep 1000"});
    let (result, ()) = tokio::join!(ground.call("execute_command", command), stop);
    assert!(result.fault().contains("a person stopped the run"));
    assert!(!made.exists() && !ground.scope.repositories.exists());
}

#[tokio::test]
async fn long_output_keeps_its_end_and_lies_in_a_file_read_file_reads() {
    let ground = Ground::new().walled();
    let words = ground
        .call("execute_command", json!({"command": "seq 1 20000"}))
        .await
        .good();
    assert!(
        words.len() < 30 * 1024 && words.ends_with("20000\n[exit code 0]"),
        "{}",
        words.len()
    );
    let path = ground.scope.scratch.join("output/command-1.txt");
    assert!(
        words.starts_with("[the last ") && words.contains(path.to_str().unwrap()),
        "{words}"
    );
    let spilled = ground
        .call("read_file", json!({"path": path, "end_line": 2}))
        .await
        .good();
    assert!(spilled.starts_with("    1\t1\n    2\t2\n"), "{spilled}");
    let within = ground
        .call("execute_command", json!({"command": format!("cat {}", path.display())}))
        .await
        .fault();
    assert!(within.contains("No such file"), "a process does not reach it: {within}");
}

#[tokio::test]
async fn a_limit_ends_the_line_and_all_it_started() {
    let ground = Ground::new().walled();
    let line = "echo begun; (while :; do echo x >> beats.txt; read -t 0.02 < /dev/zero || true; done) & wait";
    let ended = ground
        .call("execute_command", json!({"command": line, "timeout_s": 1}))
        .await
        .fault();
    assert!(
        ended.contains("begun") && ended.contains("[ended after 1 s, its time limit; give a longer timeout_s"),
        "{ended}"
    );
    let beats = fs::read(ground.tree.join("beats.txt")).unwrap();
    assert!(!beats.is_empty());
    ground.call("execute_command", json!({"command": "true"})).await.good();
    assert_eq!(
        fs::read(ground.tree.join("beats.txt")).unwrap(),
        beats,
        "nothing of it lives on"
    );
}

#[tokio::test]
async fn a_stopped_run_ends_its_command() {
    let ground = Ground::new().walled();
    ground.scope.cancel.cancel();
    let stopped = ground
        .call(
            "execute_command",
            json!({"command": "while :; do :; done", "timeout_s": 600}),
        )
        .await
        .fault();
    assert!(stopped.contains("a person stopped the run"), "{stopped}");
}

#[tokio::test]
async fn the_environment_is_clean_and_carries_the_runs_marker() {
    let ground = Ground::new().walled();
    let line = "echo $STANCE_RUN; echo ${BASH_ENV-unset} ${CARGO_MANIFEST_DIR-unset}; printf %q \"$IFS\"; echo; shopt -q login_shell || echo plain";
    let words = ground.call("execute_command", json!({"command": line})).await.good();
    assert_eq!(words, "run-1\nunset unset\n$' \\t\\n'\nplain\n[exit code 0]");
}

#[tokio::test]
async fn arguments_are_bounded_and_a_folder_is_one_of_the_project() {
    let mut ground = Ground::new().walled();
    ground.write("a.txt", "x");
    ground.link("out", &ground.outside);
    for (arguments, words) in [
        (json!({"command": " "}), "`command` is empty"),
        (json!({"command": "a\u{0}b"}), "NUL"),
        (json!({"command": "ls", "timeout_s": 601}), "at most 600"),
        (json!({"command": "ls", "timeout_s": 0}), "`timeout_s`"),
        (json!({"command": "ls", "cwd": "a.txt"}), "is not a folder"),
        (json!({"command": "ls", "cwd": "none"}), "does not exist"),
        (json!({"command": "ls", "cwd": ".."}), "outside the project"),
        (json!({"command": "ls", "cwd": "out"}), "outside the project"),
        (json!({"command": "ls", "cwd": "/"}), "outside the project"),
        (json!({"command": "x".repeat(130 * 1024)}), "was not started"),
    ] {
        let fault = ground.call("execute_command", arguments).await.fault();
        assert!(fault.contains(words), "{fault} lacks {words}");
    }
    ground.scope.walls = None;
    let Came::Done(result) = ground.call("execute_command", json!({"command": "ls"})).await else {
        panic!()
    };
    assert!(result.is_error && result.words().contains("proven walls"), "{result:?}");
}
