//! Parsing in a process apart: this very program, started again inside walls that let it read nothing, write nothing
//! and reach nobody, with bounds on time and memory. A text that ends the process costs itself alone: the rest goes
//! to a new one.

use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use modes::Containment;
use sandbox::{Keep, Limits, Places, Program, SandboxError, Scratch, Spawn, Walls, private_folder};

use super::language::Language;
use super::outline::{Definition, outline};

/// The argument that asks for the outlines of what is on standard input; nobody types it.
const OUTLINE: &str = "stance:outline";

/// So many texts may end their process; then it is enough.
const MOST_ENDED: usize = 3;

/// Tells folders of processes at one time apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

const LONGEST: Duration = Duration::from_secs(5);
const MEMORY: u64 = 512 << 20;
const OUTPUT: usize = 8 << 20;

/// A text to be outlined.
pub(crate) struct Text {
    pub(crate) language: &'static Language,
    pub(crate) bytes: Vec<u8>,
}

/// What became of one text; none: it could not be parsed within the bounds.
pub(crate) type Outlined = Option<Vec<Definition>>;

/// The outline of each text, in order.
pub(crate) async fn outlines(walls: &Walls, scratch: &Path, texts: &[Text]) -> Result<Vec<Outlined>, SandboxError> {
    let mut outlined: Vec<Outlined> = Vec::new();
    for _ in 0..=MOST_ENDED {
        let rest = texts.get(outlined.len()..).unwrap_or_default();
        if rest.is_empty() {
            break;
        }
        outlined.extend(in_one_process(walls, scratch, rest).await?);
        if outlined.len() < texts.len() {
            outlined.push(None);
        }
    }
    outlined.resize(texts.len(), None);
    Ok(outlined)
}

/// As many as one process comes to.
async fn in_one_process(walls: &Walls, scratch: &Path, texts: &[Text]) -> Result<Vec<Outlined>, SandboxError> {
    let scratch = Scratch::new(&scratch.join(format!("outline-{}", NEXT.fetch_add(1, Ordering::Relaxed))))?;
    let [nothing, own] = ["nothing", "own"].map(|name| private_folder(&scratch.path().join(name)));
    let places = Places::new(nothing?, own?);
    let mut spawn = Spawn::new(Program::Own(vec![OUTLINE.into()]), "/");
    spawn.stdin = texts.iter().flat_map(Text::written).collect();
    spawn.limits = Limits {
        wall_time: LONGEST,
        memory: Some(MEMORY),
        output_bytes: OUTPUT,
        keep: Keep::Head,
        ..Limits::default()
    };
    let finished = sandbox::spawn(walls, Containment::read_only(), &places, spawn)?
        .wait()
        .await?;
    // What a process wrote that parsed anything is no more to be believed than the text.
    let lines = finished.stdout.bytes.lines().take(texts.len());
    Ok(lines.map_while(|line| serde_json::from_str(&line.ok()?).ok()).collect())
}

impl Text {
    fn written(&self) -> Vec<u8> {
        let mut written = format!("{} {}\n", self.language.name, self.bytes.len()).into_bytes();
        written.extend(&self.bytes);
        written
    }

    fn read(from: &mut impl BufRead) -> Option<Text> {
        let mut head = String::new();
        from.read_line(&mut head).ok()?;
        let (name, length) = head.trim_end().split_once(' ')?;
        let mut bytes = vec![0; length.parse().ok()?];
        from.read_exact(&mut bytes).ok()?;
        Some(Text {
            language: Language::named(name)?,
            bytes,
        })
    }
}

/// Every `main` calls this where `sandbox::enter_if_asked` returned. Returns at once in an ordinary start; as the
/// process apart it never returns.
pub fn outline_if_asked() {
    if std::env::args_os().nth(1).is_none_or(|argument| argument != OUTLINE) {
        return;
    }
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout();
    while let Some(text) = Text::read(&mut input) {
        let outlined = outline(text.language, &text.bytes);
        let written =
            serde_json::to_string(&outlined).map(|line| writeln!(output, "{line}").and_then(|()| output.flush()));
        if !matches!(written, Ok(Ok(()))) {
            break;
        }
    }
    std::process::exit(0);
}
