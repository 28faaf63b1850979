-- What the consoles need.

-- Of rows that version 1 made, filled in right afterwards; then come the indexes.
ALTER TABLE payments ADD COLUMN amount INTEGER NOT NULL DEFAULT 0;
ALTER TABLE payments ADD COLUMN paid_at INTEGER;
ALTER TABLE api_keys ADD COLUMN merchant TEXT NOT NULL DEFAULT '';

CREATE INDEX api_keys_of_merchant ON api_keys (merchant, created_at, id);

-- absent while it is open
ALTER TABLE exceptions ADD COLUMN resolved_at INTEGER;
DROP INDEX exceptions_newest;
CREATE INDEX exceptions_open ON exceptions (reported_at DESC, id DESC) WHERE resolved_at IS NULL;
CREATE INDEX exceptions_resolved ON exceptions (resolved_at DESC, id DESC) WHERE resolved_at IS NOT NULL;

CREATE TABLE users (
    login    TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    user     BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX users_of_merchant ON users (merchant, login);

CREATE TABLE sessions (
    id         TEXT    NOT NULL PRIMARY KEY,
    expires_at INTEGER NOT NULL,
    session    BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_ending ON sessions (expires_at);

CREATE TABLE audit (
    id       BLOB    NOT NULL PRIMARY KEY,
    at       INTEGER NOT NULL,
    merchant TEXT,
    entry    BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_newest ON audit (at DESC, id DESC);
CREATE INDEX audit_of_merchant ON audit (merchant, at DESC, id DESC) WHERE merchant IS NOT NULL;

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN
    SELECT raise(ABORT, 'the audit log is never changed');
END;

CREATE TRIGGER audit_is_not_shortened BEFORE DELETE ON audit
BEGIN
    SELECT raise(ABORT, 'the audit log is never shortened');
END;

-- REPLACE would delete the entry that is there without the trigger above.
CREATE TRIGGER audit_is_not_replaced BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
BEGIN
    SELECT raise(IGNORE);
END;

CREATE TABLE route_controls (
    acquirer TEXT NOT NULL,
    method   TEXT NOT NULL,
    control  BLOB NOT NULL,
    PRIMARY KEY (acquirer, method)
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
    id      BLOB    NOT NULL PRIMARY KEY,
    seen_at INTEGER NOT NULL,
    node    BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX nodes_seen ON nodes (seen_at);
