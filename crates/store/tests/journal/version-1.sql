-- A journal as format 1 left it. Key: 07 thirty-two times. Do not edit: released files look like this.
PRAGMA application_id = 1400139363;
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE journal (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    number INTEGER NOT NULL,
    link BLOB NOT NULL,
    key_check BLOB NOT NULL,
    from_backup INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO journal VALUES(1,4,X'6c4547daa635f59fb6149ce30afb66596d79e3001ead5e208c272bc96b678d05',X'd1ac963a93cee7775bfdcbfad173229e4907fd08ce98ee1fe268cda15eddb8be',0);
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
INSERT INTO event VALUES(1,'run/1',1,'run_started',NULL,10,X'fe4a408df82c78f14c1672aad77fbcb0514f89930433b3397e184a5d9f0ac2cc',X'0495403bfe011e9005cd37e210ec4033d91993eb398b0e865e21488bff7120ee');
INSERT INTO event VALUES(2,'run/1',2,'asked',NULL,20,X'81db3ff59067bd5fa966b8ef02d799fe7f6f532eeaeb70cdcf6e915dcf0d0d15',X'021bc64fd8ac7769ebeed6b9abe525c99dbc75cef1eaf5c9f4e32b102e3bff9a');
INSERT INTO event VALUES(3,'run/1',3,'usage','adapter',30,X'2530d80be17129a6a01e79349f4f6563b9b0e5f7b0bd05e6143e7073f63e7284',X'4d5d5786ed1fc6a14bf30f6ed119851c8eb845ca8a3cbe51e68ac7a77291fd9a');
INSERT INTO event VALUES(4,'retention',1,'payloads_removed',NULL,40,X'dc14f3443c9091d01b0f7aaddbeac0357858341704d3661b1a8270f8a60609fb',X'6c4547daa635f59fb6149ce30afb66596d79e3001ead5e208c272bc96b678d05');
CREATE TABLE payload (
    hash BLOB NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;
INSERT INTO payload VALUES(X'81db3ff59067bd5fa966b8ef02d799fe7f6f532eeaeb70cdcf6e915dcf0d0d15','{"at":20,"text":"it''s"}');
INSERT INTO payload VALUES(X'2530d80be17129a6a01e79349f4f6563b9b0e5f7b0bd05e6143e7073f63e7284','{"at":30,"text":"it''s"}');
INSERT INTO payload VALUES(X'dc14f3443c9091d01b0f7aaddbeac0357858341704d3661b1a8270f8a60609fb','{"before_ms":15,"payloads":1}');
CREATE TABLE lease (
    name TEXT NOT NULL PRIMARY KEY,
    epoch INTEGER NOT NULL,
    pid INTEGER,
    start_ticks INTEGER,
    boot_id TEXT,
    label TEXT
) STRICT;
INSERT INTO lease VALUES('run/1',1,1,2,'boot','run one');
CREATE TABLE scratch (
    stream TEXT NOT NULL,
    part INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (stream, part)
) STRICT;
INSERT INTO scratch VALUES('run/1',1,'part');
CREATE TABLE space (
    id TEXT NOT NULL PRIMARY KEY,
    mode TEXT,
    checkout TEXT,
    current INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
INSERT INTO space VALUES('one','mode','checkout',1,1,'{"of":"space"}');
CREATE TABLE thread (
    id TEXT NOT NULL PRIMARY KEY,
    space TEXT,
    parent TEXT,
    created_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
INSERT INTO thread VALUES('one','space','parent',1,'{"of":"thread"}');
CREATE TABLE run (
    id TEXT NOT NULL PRIMARY KEY,
    space TEXT,
    thread TEXT,
    status TEXT NOT NULL,
    parent TEXT,
    created_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
INSERT INTO run VALUES('one','space','thread','status','parent',1,'{"of":"run"}');
CREATE TABLE plan (
    id TEXT NOT NULL PRIMARY KEY,
    space TEXT,
    thread TEXT,
    status TEXT NOT NULL,
    digest TEXT,
    created_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
INSERT INTO "plan" VALUES('one','space','thread','status','digest',1,'{"of":"plan"}');
CREATE TABLE plan_revision (
    id TEXT NOT NULL PRIMARY KEY,
    plan TEXT NOT NULL,
    revision INTEGER NOT NULL,
    digest TEXT,
    body TEXT NOT NULL
) STRICT;
INSERT INTO plan_revision VALUES('one','plan',1,'digest','{"of":"plan_revision"}');
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
INSERT INTO approval VALUES('one','kind','subject','status','digest','run','thread','space',1,'{"of":"approval"}');
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
INSERT INTO waiting VALUES('one','kind','run','thread','space','status','digest',1,'{"of":"waiting"}');
CREATE TABLE orchestration (
    id TEXT NOT NULL PRIMARY KEY,
    plan TEXT,
    space TEXT,
    status TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
INSERT INTO orchestration VALUES('one','plan','space','status',1,'{"of":"orchestration"}');
CREATE TABLE step (
    id TEXT NOT NULL PRIMARY KEY,
    orchestration TEXT NOT NULL,
    key TEXT NOT NULL,
    status TEXT NOT NULL,
    run TEXT,
    body TEXT NOT NULL
) STRICT;
INSERT INTO step VALUES('one','orchestration','key','status','run','{"of":"step"}');
CREATE TABLE comment (
    id TEXT NOT NULL PRIMARY KEY,
    plan TEXT NOT NULL,
    revision INTEGER,
    body TEXT NOT NULL
) STRICT;
INSERT INTO comment VALUES('one','plan',1,'{"of":"comment"}');
CREATE UNIQUE INDEX event_by_stream ON event (stream, version);
CREATE INDEX space_by_created ON space (created_ms);
CREATE INDEX space_by_checkout ON space (checkout);
CREATE INDEX thread_by_space ON thread (space, created_ms);
CREATE INDEX thread_by_parent ON thread (parent);
CREATE INDEX run_by_space ON run (space, created_ms);
CREATE INDEX run_by_thread ON run (thread, created_ms);
CREATE INDEX run_by_status ON run (status, created_ms);
CREATE INDEX run_by_parent ON run (parent);
CREATE INDEX plan_by_space ON plan (space, created_ms);
CREATE INDEX plan_by_thread ON plan (thread, created_ms);
CREATE INDEX plan_by_status ON plan (status, created_ms);
CREATE INDEX plan_revision_by_plan ON plan_revision (plan, revision);
CREATE INDEX approval_by_status ON approval (status, created_ms);
CREATE INDEX approval_by_subject ON approval (subject);
CREATE INDEX approval_by_run ON approval (run);
CREATE INDEX approval_by_thread ON approval (thread);
CREATE INDEX approval_by_space ON approval (space, created_ms);
CREATE INDEX waiting_by_status ON waiting (status, created_ms);
CREATE INDEX waiting_by_run ON waiting (run);
CREATE INDEX waiting_by_thread ON waiting (thread);
CREATE INDEX waiting_by_space ON waiting (space, created_ms);
CREATE INDEX orchestration_by_plan ON orchestration (plan);
CREATE INDEX orchestration_by_space ON orchestration (space, created_ms);
CREATE INDEX orchestration_by_status ON orchestration (status, created_ms);
CREATE INDEX step_by_orchestration ON step (orchestration, key);
CREATE INDEX step_by_run ON step (run);
CREATE INDEX comment_by_plan ON comment (plan, revision);
COMMIT;
