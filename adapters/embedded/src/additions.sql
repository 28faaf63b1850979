-- One row: with which secret key the store works.
CREATE TABLE IF NOT EXISTS secret_keys (
    id     INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    record BLOB    NOT NULL
) STRICT;

-- What a merchant's payers read of it.
CREATE TABLE IF NOT EXISTS merchant_profiles (
    merchant TEXT NOT NULL PRIMARY KEY,
    profile  BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Files from before these indexes keep payments_by_status, payments_by_our_number, payments_by_document_number and
-- payments_paid. No query takes them any more; a service of before that still runs does.

-- Lists merge the payments of each status and method that they show.
CREATE INDEX IF NOT EXISTS payments_by_kind
    ON payments (merchant, mode, status, method, created_at DESC, id DESC, amount);

-- What banks' files and acquirers' lists are compared with. Only boletos have numbers, and only what was paid a time.
CREATE INDEX IF NOT EXISTS payments_by_our_number_in_mode
    ON payments (our_number, mode) WHERE our_number IS NOT NULL;
CREATE INDEX IF NOT EXISTS payments_by_document_number_in_mode
    ON payments (document_number, mode) WHERE document_number IS NOT NULL;
CREATE INDEX IF NOT EXISTS payments_paid_in_mode ON payments (mode, paid_at, id) WHERE paid_at IS NOT NULL;

-- One row: what the file is told by from a copy of an earlier state (`file_mark.rs`).
CREATE TABLE IF NOT EXISTS file_mark (
    id   INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    mark BLOB    NOT NULL
) STRICT;

-- Payments with a refund or a dispute, once for each status of these: refunds 1 processing, 2 succeeded, 3 failed;
-- disputes 4 open, 5 won.
CREATE TABLE IF NOT EXISTS movements (
    merchant   TEXT    NOT NULL,
    mode       TEXT    NOT NULL,
    status     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    payment    BLOB    NOT NULL,
    PRIMARY KEY (merchant, mode, status, created_at DESC, payment DESC)
) STRICT, WITHOUT ROWID;

-- One row: the payments that an earlier version wrote are in `movements` up to this rowid.
CREATE TABLE IF NOT EXISTS movements_progress (
    id       INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    up_to    INTEGER NOT NULL,
    -- rowid at which it ends
    until    INTEGER NOT NULL
) STRICT;

-- Lists by due date pass over what is due on other days without reading it.
CREATE INDEX IF NOT EXISTS payments_by_due_date
    ON payments (merchant, mode, created_at DESC, id DESC, due_on) WHERE due_on IS NOT NULL;

-- Next number of each range of slips that a bank leaves to us.
CREATE TABLE IF NOT EXISTS number_counters (
    range TEXT    NOT NULL PRIMARY KEY,
    next  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Lists by link, and the uses that its payments hold, which are counted without reading a payment.
CREATE INDEX IF NOT EXISTS payments_by_link
    ON payments (merchant, mode, link, created_at DESC, id DESC, method, status, paid_at) WHERE link IS NOT NULL;

CREATE TABLE IF NOT EXISTS links (
    id                 BLOB    NOT NULL PRIMARY KEY,
    revision           INTEGER NOT NULL,
    merchant           TEXT    NOT NULL,
    mode               TEXT    NOT NULL,
    external_reference TEXT,
    created_at         INTEGER NOT NULL,
    -- of the payer that its merchant entered, and since when that one may be erased; absent without one
    document           TEXT,
    customer_until     INTEGER,
    link               BLOB    NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS links_newest ON links (merchant, mode, created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS links_by_external_reference
    ON links (merchant, mode, external_reference, created_at DESC, id DESC) WHERE external_reference IS NOT NULL;

CREATE INDEX IF NOT EXISTS links_by_document ON links (document, customer_until) WHERE document IS NOT NULL;
CREATE INDEX IF NOT EXISTS links_with_customer ON links (customer_until) WHERE customer_until IS NOT NULL;

-- What payers' pages count within an hour, by a name that holds no address.
CREATE TABLE IF NOT EXISTS page_events (
    name TEXT    NOT NULL,
    at   INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS page_events_of ON page_events (name, at);
CREATE INDEX IF NOT EXISTS page_events_old ON page_events (at);

-- A token of a card is used by one payment.
CREATE UNIQUE INDEX IF NOT EXISTS payments_by_used_token ON payments (used_token) WHERE used_token IS NOT NULL;

-- A Pix belongs to one payment of a mode. Payments that were paid before this table have no row in it.
CREATE TABLE IF NOT EXISTS bound_pix (
    mode    TEXT NOT NULL,
    pix     TEXT NOT NULL,
    payment BLOB NOT NULL,
    PRIMARY KEY (mode, pix)
) STRICT, WITHOUT ROWID;

-- One row: the version of the program that brought the file into its form, whose number is user_version. While an
-- upgrade is under way, payments up to up_to are in that form, and those after until, which were made since.
CREATE TABLE IF NOT EXISTS stored_form (
    id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    program TEXT    NOT NULL,
    -- rowids; absent if all is in the form
    up_to   INTEGER,
    until   INTEGER
) STRICT;
