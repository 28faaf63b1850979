-- The first schema. Ids are the 16 bytes of a UUID, times milliseconds since the Unix epoch, documents BSON.

CREATE TABLE payments (
    id                 BLOB    NOT NULL PRIMARY KEY,
    revision           INTEGER NOT NULL,
    last_op            BLOB    NOT NULL,
    merchant           TEXT    NOT NULL,
    mode               TEXT    NOT NULL,
    method             TEXT    NOT NULL,
    document           TEXT    NOT NULL,
    email              TEXT    NOT NULL,
    external_reference TEXT,
    created_at         INTEGER NOT NULL,
    status             TEXT    NOT NULL,
    due_at             INTEGER,
    outbox_at          INTEGER,
    -- 1 pending, 2 delivered, 4 exhausted
    delivery_states    INTEGER NOT NULL,
    payment            BLOB    NOT NULL
) STRICT;

CREATE INDEX payments_newest ON payments (merchant, mode, created_at DESC, id DESC);
CREATE INDEX payments_by_status ON payments (merchant, mode, status, created_at DESC, id DESC);
CREATE INDEX payments_by_document ON payments (merchant, mode, document, created_at DESC, id DESC);
CREATE INDEX payments_by_email ON payments (merchant, mode, email, created_at DESC, id DESC);
CREATE INDEX payments_by_external_reference
    ON payments (merchant, mode, external_reference, created_at DESC, id DESC)
    WHERE external_reference IS NOT NULL;
CREATE INDEX payments_due ON payments (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX payments_outbox ON payments (outbox_at, id) WHERE outbox_at IS NOT NULL;
-- Delivered ones are so many that the list itself is the shortest way to them.
CREATE INDEX payments_undelivered
    ON payments (merchant, mode, created_at DESC, id DESC)
    WHERE (delivery_states & 1) <> 0;
CREATE INDEX payments_exhausted
    ON payments (merchant, mode, created_at DESC, id DESC)
    WHERE (delivery_states & 4) <> 0;

CREATE TABLE inbox (
    id          TEXT    NOT NULL PRIMARY KEY,
    -- absent once it is finished
    due_at      INTEGER,
    tries       INTEGER NOT NULL,
    finished_at INTEGER,
    notice      BLOB    NOT NULL
) STRICT;

CREATE INDEX inbox_due ON inbox (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX inbox_finished ON inbox (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE exceptions (
    id          TEXT    NOT NULL PRIMARY KEY,
    reported_at INTEGER NOT NULL,
    exception   BLOB    NOT NULL
) STRICT;

CREATE INDEX exceptions_newest ON exceptions (reported_at DESC, id DESC);

CREATE TABLE applications (
    merchant    TEXT NOT NULL,
    name        TEXT NOT NULL,
    application BLOB NOT NULL,
    PRIMARY KEY (merchant, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    created_at INTEGER NOT NULL,
    api_key    BLOB    NOT NULL
) STRICT, WITHOUT ROWID;
