-- The journal: one head row, events that are only ever appended, payloads that retention may remove.
CREATE TABLE journal (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    number INTEGER NOT NULL,
    link BLOB NOT NULL,
    key_check BLOB NOT NULL,
    from_backup INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE event (
    number INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    reported_by TEXT,
    time_ms INTEGER NOT NULL,
    payload_hash BLOB NOT NULL,
    link BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX event_by_stream ON event (stream, version);

CREATE TABLE payload (
    hash BLOB NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

-- Who works on what, so that two processes do not do the same work.
CREATE TABLE lease (
    name TEXT NOT NULL PRIMARY KEY,
    epoch INTEGER NOT NULL,
    pid INTEGER,
    start_ticks INTEGER,
    boot_id TEXT,
    label TEXT
) STRICT;

-- Parts of an answer that is still streaming in.
CREATE TABLE scratch (
    stream TEXT NOT NULL,
    part INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (stream, part)
) STRICT;

-- Read tables: what the events add up to.
CREATE TABLE space (
    id TEXT NOT NULL PRIMARY KEY,
    mode TEXT,
    checkout TEXT,
    current INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX space_by_created ON space (created_ms);
CREATE INDEX space_by_checkout ON space (checkout);

CREATE TABLE thread (
    id TEXT NOT NULL PRIMARY KEY,
    space TEXT,
    parent TEXT,
    created_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX thread_by_space ON thread (space, created_ms);
CREATE INDEX thread_by_parent ON thread (parent);

CREATE TABLE run (
    id TEXT NOT NULL PRIMARY KEY,
    space TEXT,
    thread TEXT,
    status TEXT NOT NULL,
    parent TEXT,
    created_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX run_by_space ON run (space, created_ms);
CREATE INDEX run_by_thread ON run (thread, created_ms);
CREATE INDEX run_by_status ON run (status, created_ms);
CREATE INDEX run_by_parent ON run (parent);

CREATE TABLE plan (
    id TEXT NOT NULL PRIMARY KEY,
    space TEXT,
    thread TEXT,
    status TEXT NOT NULL,
    digest TEXT,
    created_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX plan_by_space ON plan (space, created_ms);
CREATE INDEX plan_by_thread ON plan (thread, created_ms);
CREATE INDEX plan_by_status ON plan (status, created_ms);

CREATE TABLE plan_revision (
    id TEXT NOT NULL PRIMARY KEY,
    plan TEXT NOT NULL,
    revision INTEGER NOT NULL,
    digest TEXT,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX plan_revision_by_plan ON plan_revision (plan, revision);

CREATE TABLE approval (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT,
    status TEXT NOT NULL,
    digest TEXT,
    run TEXT,
    thread TEXT,
    space TEXT,
    created_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX approval_by_status ON approval (status, created_ms);
CREATE INDEX approval_by_subject ON approval (subject);
CREATE INDEX approval_by_run ON approval (run);
CREATE INDEX approval_by_thread ON approval (thread);
CREATE INDEX approval_by_space ON approval (space, created_ms);

CREATE TABLE waiting (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    run TEXT,
    thread TEXT,
    space TEXT,
    status TEXT NOT NULL,
    digest TEXT,
    created_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX waiting_by_status ON waiting (status, created_ms);
CREATE INDEX waiting_by_run ON waiting (run);
CREATE INDEX waiting_by_thread ON waiting (thread);
CREATE INDEX waiting_by_space ON waiting (space, created_ms);

CREATE TABLE orchestration (
    id TEXT NOT NULL PRIMARY KEY,
    plan TEXT,
    space TEXT,
    status TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX orchestration_by_plan ON orchestration (plan);
CREATE INDEX orchestration_by_space ON orchestration (space, created_ms);
CREATE INDEX orchestration_by_status ON orchestration (status, created_ms);

CREATE TABLE step (
    id TEXT NOT NULL PRIMARY KEY,
    orchestration TEXT NOT NULL,
    key TEXT NOT NULL,
    status TEXT NOT NULL,
    run TEXT,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX step_by_orchestration ON step (orchestration, key);
CREATE INDEX step_by_run ON step (run);

CREATE TABLE comment (
    id TEXT NOT NULL PRIMARY KEY,
    plan TEXT NOT NULL,
    revision INTEGER,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX comment_by_plan ON comment (plan, revision);
