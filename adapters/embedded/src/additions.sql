-- One row: with which secret key the store works.
CREATE TABLE IF NOT EXISTS secret_keys (
    id     INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    record BLOB    NOT NULL
) STRICT;

-- Lists merge the payments of each status and method that they show. Files from before keep payments_by_status, which no
-- query takes any more.
CREATE INDEX IF NOT EXISTS payments_by_kind
    ON payments (merchant, mode, status, method, created_at DESC, id DESC, amount);
