//! The composition root: environment, settings, models and walls put together into an engine. It
//! must not know what is done with the engine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{Attendance, Engine, EngineConfig, ModelSource, Problem, ProblemKind};
use modes::{Inspection, WallsStanding};
use sandbox::{Backend, Toolchains, Walls, WallsState};

use crate::descent;
use crate::environment::Environment;
use crate::held::{self, Held};
use crate::models::{Models, NamedModel};
use crate::settings::{self, Loaded, Places, Sandbox, Settings};

/// Everything that is known before the engine opens.
pub(crate) struct House {
    /// The variables of this process.
    pub(crate) environment: Arc<Environment>,
    /// Where Stance keeps everything.
    pub(crate) stance_home: PathBuf,
    /// The person's home folder.
    pub(crate) person_home: PathBuf,
    /// The folder the command was started in.
    pub(crate) start: PathBuf,
    /// Where the settings lie.
    pub(crate) places: Places,
}

/// Whether an engine needs to know if the walls hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proved {
    /// They are, or a try that still stands is remembered.
    Now,
    /// They are tried now, whatever is remembered.
    Anew,
    /// Nothing will be judged or started.
    NotNeeded,
}

impl House {
    /// Finds the folders. Nothing is read or made yet.
    pub(crate) fn find(environment: Environment) -> Result<House, Problem> {
        let stance_home = environment.stance_home()?;
        let person_home = environment.home()?;
        let start = std::env::current_dir()
            .map_err(|error| Problem::usage(format!("The folder this was started in cannot be read: {error}.")))?;
        let places = Places::of(environment.managed_settings(), &stance_home, &start);
        Ok(House {
            environment: Arc::new(environment),
            stance_home,
            person_home,
            start,
            places,
        })
    }

    /// The same person on the same machine, with another home of Stance and in another folder.
    pub(crate) fn elsewhere(&self, stance_home: PathBuf, start: PathBuf) -> House {
        House {
            environment: Arc::clone(&self.environment),
            places: Places::of(self.environment.managed_settings(), &stance_home, &start),
            person_home: self.person_home.clone(),
            stance_home,
            start,
        }
    }

    /// The same machine with another home of Stance, another home and another folder: scratch ground.
    pub(crate) fn scratch(&self, stance_home: PathBuf, person_home: PathBuf, start: PathBuf) -> House {
        House {
            person_home,
            ..self.elsewhere(stance_home, start)
        }
    }

    /// The settings as far as they can be read, with their faults.
    pub(crate) fn settings(&self) -> Result<Loaded, Problem> {
        settings::load(&self.places)
    }

    /// The models of these settings.
    pub(crate) fn models(&self, settings: &Settings, named: Option<&NamedModel>) -> Models {
        Models::new(settings, named, Arc::clone(&self.environment), &self.places.person)
    }

    /// What holds processes under these settings.
    pub(crate) async fn held(&self, sandbox: &Sandbox, proved: Proved) -> Held {
        held::find(self, sandbox, proved).await
    }

    /// The walls of this machine, as they are found.
    pub(crate) fn walls(&self, backend: Backend) -> Result<Walls, Problem> {
        let helper = std::env::current_exe().map_err(|error| {
            Problem::new(
                ProblemKind::Machine,
                format!("Our own program cannot be found: {error}."),
            )
        })?;
        Walls::of(backend, helper, Toolchains::of_home(&self.person_home)).map_err(|error| {
            Problem::new(
                ProblemKind::Machine,
                format!("There are no walls on this machine: {error}."),
            )
            .hint("Install bubblewrap and git from your system's packages, then run `stance doctor`.")
        })
    }

    /// Where proofs of the walls are made and remembered.
    pub(crate) fn proofs(&self) -> PathBuf {
        self.stance_home.join("proof")
    }

    /// Whether runs may try commands: where an operator said so and the view was proved.
    async fn inspection(&self, settings: &Settings, held: &Held) -> Inspection {
        match (settings.plan_try, &held.walls) {
            (None, _) => Inspection::Unasked,
            (Some(false), _) => Inspection::Off,
            (Some(true), Some(walls))
                if held.standing == WallsStanding::Proven
                    && walls.throw_away_stands(&self.proofs()).await == WallsState::Proven =>
            {
                Inspection::On
            }
            (Some(true), _) => Inspection::Unproven,
        }
    }

    /// Where names of hosts lead: as this system has it, but in test builds.
    #[cfg_attr(
        not(feature = "faults"),
        expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "test builds look")
    )]
    fn names(&self) -> Result<Arc<dyn sandbox::Names>, Problem> {
        #[cfg(feature = "faults")]
        if let Some(names) = crate::faults::names(&self.environment)? {
            return Ok(names);
        }
        Ok(Arc::new(sandbox::SystemNames))
    }

    /// Opens the engine.
    pub(crate) async fn engine(
        &self,
        settings: &Settings,
        named: Option<&NamedModel>,
        attendance: Attendance,
        held: Held,
    ) -> Result<Engine, Problem> {
        let models = Arc::new(self.models(settings, named));
        let hosts = models.hosts();
        self.engine_with(settings, models, hosts, attendance, held).await
    }

    /// Opens the engine with models of one's own, which answer at these hosts.
    pub(crate) async fn engine_with(
        &self,
        settings: &Settings,
        models: Arc<dyn ModelSource>,
        answering: BTreeSet<String>,
        attendance: Attendance,
        held: Held,
    ) -> Result<Engine, Problem> {
        if !matches!(held.standing, WallsStanding::Proven | WallsStanding::Absent) {
            descent::keep_descendants()?;
        }
        let inspection = self.inspection(settings, &held).await;
        let search = settings.search.search(&self.environment);
        let searched = search.as_ref().and_then(engine::Search::host);
        let engine = Engine::open(EngineConfig {
            home: self.stance_home.clone(),
            person_home: self.person_home.clone(),
            start: self.start.clone(),
            rules: settings.rules.clone(),
            servers: settings
                .servers
                .iter()
                .map(|server| server.server(&self.environment))
                .collect(),
            parts: settings.parts.clone(),
            hosts: settings
                .hosts
                .iter()
                .cloned()
                .chain(answering)
                .chain(searched)
                .collect(),
            search: search.map(Arc::new),
            names: self.names()?,
            autonomy: settings.autonomy,
            limits: settings.limits.clone(),
            models,
            walls: held.walls.map(Arc::new),
            walls_standing: held.standing,
            inspection,
            operator: operator(Path::new("/etc/passwd"), rustix::process::getuid().as_raw()),
            attendance,
        })
        .await?;
        #[cfg(feature = "faults")]
        {
            crate::faults::turn_off(&self.environment);
            crate::faults::arm(&engine, &self.environment)?;
        }
        Ok(engine)
    }
}

/// The name of the user of this process, by its number: no variable can claim another.
fn operator(users: &Path, number: u32) -> String {
    let users = std::fs::read_to_string(users).unwrap_or_default();
    users
        .lines()
        .find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)?.parse() == Ok(number)).then(|| name.to_owned())
        })
        .unwrap_or_else(|| format!("user {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operator_is_who_the_system_says() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(
            file.path(),
            "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbroken\n",
        )
        .unwrap();
        assert_eq!(operator(file.path(), 1000), "ann");
        assert_eq!(operator(file.path(), 7), "user 7");
        assert_eq!(operator(Path::new("/nonexistent"), 0), "user 0");
    }
}
