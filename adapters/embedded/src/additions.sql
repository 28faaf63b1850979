-- One row: with which secret key the store works.
CREATE TABLE IF NOT EXISTS secret_keys (
    id     INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    record BLOB    NOT NULL
) STRICT;
