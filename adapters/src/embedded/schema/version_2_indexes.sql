-- The indexes of payments, once `amount` and `paid_at` are filled in.

-- What follows the id is not sorted by: lists filter by it, and figures add it up, without reading a payment.
DROP INDEX payments_newest;
CREATE INDEX payments_newest
    ON payments (merchant, mode, created_at DESC, id DESC, method, status, amount, paid_at);
DROP INDEX payments_by_status;
CREATE INDEX payments_by_status ON payments (merchant, mode, status, created_at DESC, id DESC, method, amount);
CREATE INDEX payments_by_amount ON payments (merchant, mode, amount, created_at DESC, id DESC, method);
