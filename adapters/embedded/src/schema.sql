-- Ids are the 16 bytes of a UUID, times milliseconds since the Unix epoch, documents BSON.

CREATE TABLE payments (
    id                 BLOB    NOT NULL PRIMARY KEY,
    revision           INTEGER NOT NULL,
    last_op            BLOB    NOT NULL,
    merchant           TEXT    NOT NULL,
    mode               TEXT    NOT NULL,
    method             TEXT    NOT NULL,
    -- these two are absent once the payer was erased
    document           TEXT,
    email              TEXT,
    external_reference TEXT,
    -- a keyed hash of the card's number, for as long as its tries are counted
    card               TEXT,
    created_at         INTEGER NOT NULL,
    amount             INTEGER NOT NULL,
    status             TEXT    NOT NULL,
    paid_at            INTEGER,
    due_at             INTEGER,
    outbox_at          INTEGER,
    -- host and port; there while outbox_at is
    outbox_to          TEXT,
    -- 1 pending, 2 delivered, 4 exhausted
    delivery_states    INTEGER NOT NULL,
    -- boletos: the bank's number, once it is known, and the one that the slip shows as the beneficiary's
    our_number         TEXT,
    document_number    TEXT,
    -- since when nothing changed of a payment whose payer may be erased
    rests_since        INTEGER,
    payment            BLOB    NOT NULL
) STRICT;

-- What follows the id is not sorted by: lists filter by it, and figures add it up, without reading a payment.
CREATE INDEX payments_newest
    ON payments (merchant, mode, created_at DESC, id DESC, method, status, amount, paid_at);
CREATE INDEX payments_by_amount ON payments (merchant, mode, amount, created_at DESC, id DESC, method);
CREATE INDEX payments_by_document ON payments (merchant, mode, document, created_at DESC, id DESC)
    WHERE document IS NOT NULL;
CREATE INDEX payments_by_email ON payments (merchant, mode, email, created_at DESC, id DESC)
    WHERE email IS NOT NULL;
CREATE INDEX payments_by_external_reference
    ON payments (merchant, mode, external_reference, created_at DESC, id DESC)
    WHERE external_reference IS NOT NULL;
CREATE INDEX payments_by_card ON payments (card, created_at DESC) WHERE card IS NOT NULL;
CREATE INDEX payments_due ON payments (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX payments_outbox ON payments (outbox_at, id) WHERE outbox_at IS NOT NULL;
-- Lists of deliveries merge those of each combination of states that they show.
CREATE INDEX payments_by_deliveries
    ON payments (merchant, mode, delivery_states, created_at DESC, id DESC)
    WHERE delivery_states <> 0;

CREATE INDEX payments_resting ON payments (status, rests_since, id) WHERE rests_since IS NOT NULL;

-- Payments whose payer was erased, in this order: a service that holds one of them in its memory forgets it.
CREATE TABLE erasures (
    number  INTEGER NOT NULL PRIMARY KEY,
    payment BLOB    NOT NULL
) STRICT;

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
    -- absent while it is open
    resolved_at INTEGER,
    exception   BLOB    NOT NULL
) STRICT;

CREATE INDEX exceptions_open ON exceptions (reported_at DESC, id DESC) WHERE resolved_at IS NULL;
CREATE INDEX exceptions_resolved ON exceptions (resolved_at DESC, id DESC) WHERE resolved_at IS NOT NULL;

CREATE TABLE applications (
    merchant    TEXT NOT NULL,
    name        TEXT NOT NULL,
    application BLOB NOT NULL,
    PRIMARY KEY (merchant, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    merchant   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    api_key    BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX api_keys_of_merchant ON api_keys (merchant, created_at, id);

CREATE TABLE users (
    login    TEXT NOT NULL PRIMARY KEY,
    merchant TEXT NOT NULL,
    user     BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX users_of_merchant ON users (merchant, login);

CREATE TABLE merchant_policies (
    merchant TEXT NOT NULL PRIMARY KEY,
    policy   BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE operators (
    login    TEXT NOT NULL PRIMARY KEY,
    operator BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id         TEXT    NOT NULL PRIMARY KEY,
    person     TEXT    NOT NULL,
    expires_at INTEGER NOT NULL,
    session    BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_ending ON sessions (expires_at);

CREATE INDEX sessions_of_person ON sessions (person, id);

-- The audit log, a chain: initiator, person, content, body, place and hash are keyed hashes. What an entry says of people
-- stands in the three tables below, from which it may be erased; here nothing is ever changed or deleted.
CREATE TABLE audit (
    sequence  INTEGER NOT NULL PRIMARY KEY,
    id        BLOB    NOT NULL UNIQUE,
    at        INTEGER NOT NULL,
    merchant  TEXT,
    action    TEXT    NOT NULL,
    -- absent if it is a person
    subject   TEXT,
    initiator TEXT    NOT NULL,
    person    TEXT,
    content   TEXT,
    body      TEXT    NOT NULL,
    place     TEXT    NOT NULL,
    hash      TEXT    NOT NULL
) STRICT;

CREATE INDEX audit_newest ON audit (at DESC, id DESC);
CREATE INDEX audit_of_merchant ON audit (merchant, at DESC, id DESC) WHERE merchant IS NOT NULL;
CREATE INDEX audit_of_subject ON audit (subject) WHERE subject IS NOT NULL;

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
WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id OR sequence = NEW.sequence)
BEGIN
    SELECT raise(IGNORE);
END;

CREATE TABLE audit_initiators (
    sequence INTEGER NOT NULL PRIMARY KEY,
    salt     TEXT    NOT NULL,
    who      TEXT    NOT NULL,
    address  TEXT    NOT NULL
) STRICT;

CREATE INDEX audit_initiators_who ON audit_initiators (who);

CREATE TRIGGER audit_initiators_are_not_changed BEFORE UPDATE ON audit_initiators
BEGIN
    SELECT raise(ABORT, 'the audit log is never changed');
END;

CREATE TABLE audit_persons (
    sequence INTEGER NOT NULL PRIMARY KEY,
    salt     TEXT    NOT NULL,
    subject  TEXT    NOT NULL
) STRICT;

CREATE INDEX audit_persons_subject ON audit_persons (subject);

CREATE TRIGGER audit_persons_are_not_changed BEFORE UPDATE ON audit_persons
BEGIN
    SELECT raise(ABORT, 'the audit log is never changed');
END;

CREATE TABLE audit_contents (
    sequence INTEGER NOT NULL PRIMARY KEY,
    salt     TEXT    NOT NULL,
    before   TEXT,
    after    TEXT
) STRICT;

CREATE TRIGGER audit_contents_are_not_changed BEFORE UPDATE ON audit_contents
BEGIN
    SELECT raise(ABORT, 'the audit log is never changed');
END;

-- One row: the end of the audit log, with a keyed hash of it.
CREATE TABLE audit_head (
    id       INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    sequence INTEGER NOT NULL,
    hash     TEXT    NOT NULL,
    seal     TEXT    NOT NULL
) STRICT;

-- One row: the key of the audit log, sealed.
CREATE TABLE audit_key (
    id     INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    sealed BLOB    NOT NULL
) STRICT;

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

CREATE TABLE statement_lines (
    id      TEXT    NOT NULL PRIMARY KEY,
    source  TEXT    NOT NULL,
    -- as 2026-11-22
    day     TEXT    NOT NULL,
    -- absent until it is judged
    verdict TEXT,
    -- in cents
    gross   INTEGER NOT NULL,
    line    BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX statement_lines_by_day ON statement_lines (day, source, verdict, gross);
CREATE INDEX statement_lines_of_source ON statement_lines (source, day, id);
CREATE INDEX statement_lines_by_verdict ON statement_lines (source, verdict, day, id);

CREATE TABLE reconciliation_runs (
    source      TEXT    NOT NULL,
    day         TEXT    NOT NULL,
    node        BLOB    NOT NULL,
    lease_until INTEGER NOT NULL,
    -- absent until it is done
    finished_at INTEGER,
    PRIMARY KEY (source, day)
) STRICT, WITHOUT ROWID;
