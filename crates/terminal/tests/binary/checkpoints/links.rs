//! A folder that became a link: what is restored beneath its name is written in the worktree, and what
//! the link leads to is left alone.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::newest;
use crate::support::{Place, calls, says, turns};

#[test]
fn a_file_beneath_a_folder_that_became_a_link_comes_back_and_the_target_stays() {
    let place = Place::new();
    place.write("inside/util.py", "the link's own\n");
    fs::write(place.outside().join("util.py"), "somebody else's\n").unwrap();
    let model = place.script(
        "new",
        &turns(&[
            calls(&[("write_to_file", json!({"path": "new.txt", "content": "new\n"}))]),
            says("done"),
        ]),
    );
    place.run(&model, &["--mode", "agent", "write it"]);
    let before = newest(&place, "before_run");
    let was = place.read("src/util.py");
    for target in [place.repo().join("inside"), place.outside()] {
        fs::remove_dir_all(place.repo().join("src")).unwrap();
        symlink(&target, place.repo().join("src")).unwrap();
        let held = fs::read_to_string(target.join("util.py")).unwrap();
        let said = place.stance(&["checkpoint", "restore", &before, "src/util.py", "--yes"]);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(!place.repo().join("src").is_symlink());
        assert_eq!(place.read("src/util.py"), was);
        assert!(!place.repo().join("src/app.js").exists());
        assert_eq!(fs::read_to_string(target.join("util.py")).unwrap(), held);
        // The link is not lost either: it comes back with what was here.
        let undo = newest(&place, "before_restore");
        assert_eq!(place.stance(&["checkpoint", "restore", &undo, "--yes"]).code, 0);
        assert_eq!(fs::read_link(place.repo().join("src")).unwrap(), target);
        assert_eq!(fs::read_to_string(target.join("util.py")).unwrap(), held);
        assert_eq!(place.stance(&["checkpoint", "restore", &before, "--yes"]).code, 0);
    }
}
