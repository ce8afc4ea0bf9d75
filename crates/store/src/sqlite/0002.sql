-- The second version of the schema: permission rules kept for the workspace. Names in the notation
-- of 0001.sql.

CREATE TABLE rule (
    id TEXT NOT NULL PRIMARY KEY,
    rule TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX rule_by_rule ON rule (rule);
