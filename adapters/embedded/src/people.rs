//! Users, operators and sessions.

use async_trait::async_trait;
use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, MerchantPolicy, MerchantProfile, Operator, Session, User};
use quita_ports::{PeopleStore, StoreError};
use rusqlite::Transaction;

use super::failure::Failure;
use super::reading::{find_all, find_one};
use super::{EmbeddedStore, MAX_FORGOTTEN_AT_ONCE};
use quita_stored_form::{encode, signed_limit};

#[async_trait]
impl PeopleStore for EmbeddedStore {
    async fn insert_user(&self, user: &User) -> Result<bool, StoreError> {
        let login = user.login.clone();
        let merchant = user.merchant.clone();
        let document = encode(user)?;
        self.write(move |transaction| {
            let sql = "INSERT INTO users (login, merchant, user) VALUES (?1, ?2, ?3) \
                ON CONFLICT (login) DO NOTHING";
            let mut insert = transaction.prepare_cached(sql)?;
            Ok(insert.execute((login.as_str(), merchant.as_str(), document))? == 1)
        })
        .await
    }

    async fn user(&self, login: &Login) -> Result<Option<User>, StoreError> {
        let login = login.clone();
        self.read(move |transaction| find_user(transaction, &login)).await
    }

    async fn users(&self, merchant: &MerchantId) -> Result<Vec<User>, StoreError> {
        let merchant = merchant.clone();
        self.read(move |transaction| {
            let sql = "SELECT merchant, user FROM users WHERE merchant = ?1 ORDER BY login";
            find_all(transaction, sql, [merchant.as_str()], "a user of")
        })
        .await
    }

    async fn has_users(&self) -> Result<bool, StoreError> {
        self.read(|transaction| {
            let sql = "SELECT EXISTS (SELECT 1 FROM users)";
            Ok(transaction.query_row(sql, [], |row| row.get(0))?)
        })
        .await
    }

    async fn replace_user(&self, before: &User, after: &User) -> Result<bool, StoreError> {
        let before = before.clone();
        let document = encode(after)?;
        self.write(move |transaction| {
            if find_user(transaction, &before.login)?.as_ref() != Some(&before) {
                return Ok(false);
            }
            let sql = "UPDATE users SET user = ?2 WHERE login = ?1";
            Ok(transaction.prepare_cached(sql)?.execute((before.login.as_str(), document))? == 1)
        })
        .await
    }

    async fn remove_user(&self, user: &User) -> Result<bool, StoreError> {
        let user = user.clone();
        self.write(move |transaction| {
            let sql = "DELETE FROM users WHERE login = ?1 AND merchant = ?2";
            let of = [user.login.as_str(), user.merchant.as_str()];
            Ok(transaction.prepare_cached(sql)?.execute(of)? == 1)
        })
        .await
    }

    async fn users_after(&self, after: Option<&Login>, limit: usize) -> Result<Vec<User>, StoreError> {
        // An empty login belongs to nobody, so this is before all of them.
        let after = after.map(Login::as_str).unwrap_or_default().to_owned();
        self.read(move |transaction| {
            let sql = "SELECT merchant, user FROM users WHERE login > ?1 ORDER BY login LIMIT ?2";
            find_all(transaction, sql, (after, signed_limit(limit)), "a user of")
        })
        .await
    }

    async fn policy(&self, merchant: &MerchantId) -> Result<MerchantPolicy, StoreError> {
        let merchant = merchant.clone();
        let found = self.read(move |transaction| {
            let sql = "SELECT merchant, policy FROM merchant_policies WHERE merchant = ?1";
            find_one(transaction, sql, [merchant.as_str()], "the policy of")
        });
        Ok(found.await?.unwrap_or_default())
    }

    async fn put_policy(&self, merchant: &MerchantId, policy: &MerchantPolicy) -> Result<(), StoreError> {
        let merchant = merchant.clone();
        let document = encode(policy)?;
        self.write(move |transaction| {
            let sql = "INSERT INTO merchant_policies (merchant, policy) VALUES (?1, ?2) \
                ON CONFLICT (merchant) DO UPDATE SET policy = excluded.policy";
            transaction.prepare_cached(sql)?.execute((merchant.as_str(), document))?;
            Ok(())
        })
        .await
    }

    async fn profile(&self, merchant: &MerchantId) -> Result<MerchantProfile, StoreError> {
        let merchant = merchant.clone();
        let found = self.read(move |transaction| {
            let sql = "SELECT merchant, profile FROM merchant_profiles WHERE merchant = ?1";
            find_one(transaction, sql, [merchant.as_str()], "the profile of")
        });
        Ok(found.await?.unwrap_or_default())
    }

    async fn put_profile(&self, merchant: &MerchantId, profile: &MerchantProfile) -> Result<(), StoreError> {
        let merchant = merchant.clone();
        let document = encode(profile)?;
        self.write(move |transaction| {
            let sql = "INSERT INTO merchant_profiles (merchant, profile) VALUES (?1, ?2) \
                ON CONFLICT (merchant) DO UPDATE SET profile = excluded.profile";
            transaction.prepare_cached(sql)?.execute((merchant.as_str(), document))?;
            Ok(())
        })
        .await
    }

    async fn insert_operator(&self, operator: &Operator) -> Result<bool, StoreError> {
        let login = operator.login.clone();
        let document = encode(operator)?;
        self.write(move |transaction| {
            let sql =
                "INSERT INTO operators (login, operator) VALUES (?1, ?2) ON CONFLICT (login) DO NOTHING";
            Ok(transaction.prepare_cached(sql)?.execute((login.as_str(), document))? == 1)
        })
        .await
    }

    async fn operator(&self, login: &Login) -> Result<Option<Operator>, StoreError> {
        let login = login.clone();
        self.read(move |transaction| find_operator(transaction, &login)).await
    }

    async fn operators(&self) -> Result<Vec<Operator>, StoreError> {
        self.read(|transaction| {
            let sql = "SELECT 'of the service', operator FROM operators ORDER BY login";
            find_all(transaction, sql, [], "an operator")
        })
        .await
    }

    async fn replace_operator(&self, before: &Operator, after: &Operator) -> Result<bool, StoreError> {
        let before = before.clone();
        let document = encode(after)?;
        self.write(move |transaction| {
            if find_operator(transaction, &before.login)?.as_ref() != Some(&before) {
                return Ok(false);
            }
            let sql = "UPDATE operators SET operator = ?2 WHERE login = ?1";
            Ok(transaction.prepare_cached(sql)?.execute((before.login.as_str(), document))? == 1)
        })
        .await
    }

    async fn remove_operator(&self, operator: &Operator) -> Result<bool, StoreError> {
        let operator = operator.clone();
        self.write(move |transaction| {
            if find_operator(transaction, &operator.login)?.as_ref() != Some(&operator) {
                return Ok(false);
            }
            let mut delete = transaction.prepare_cached("DELETE FROM operators WHERE login = ?1")?;
            Ok(delete.execute([operator.login.as_str()])? == 1)
        })
        .await
    }

    async fn insert_session(&self, session: &Session) -> Result<(), StoreError> {
        let id = session.id.clone();
        let person = session.of.person();
        let row = (id, person, session.expires_at.millis(), encode(session)?);
        let began_at = session.created_at.millis();
        self.write(move |transaction| {
            // No other session has this id: an existing one comes from a lost answer.
            let sql = "INSERT INTO sessions (id, person, expires_at, session) VALUES (?1, ?2, ?3, ?4) \
                ON CONFLICT (id) DO NOTHING";
            transaction.prepare_cached(sql)?.execute(row)?;
            // SQLite does not delete by age itself, so each sign-in also deletes a bounded number of ended sessions.
            let sql = "DELETE FROM sessions WHERE id IN \
                (SELECT id FROM sessions WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)";
            transaction.prepare_cached(sql)?.execute((began_at, MAX_FORGOTTEN_AT_ONCE))?;
            Ok(())
        })
        .await
    }

    async fn session(&self, id: &str) -> Result<Option<Session>, StoreError> {
        let id = id.to_owned();
        self.read(move |transaction| find_session(transaction, &id)).await
    }

    async fn sessions_of(&self, person: &str) -> Result<Vec<Session>, StoreError> {
        let person = person.to_owned();
        self.read(move |transaction| {
            let sql = "SELECT 'of one person', session FROM sessions WHERE person = ?1 ORDER BY id";
            find_all(transaction, sql, [person], "a session")
        })
        .await
    }

    async fn replace_session(&self, before: &Session, after: &Session) -> Result<bool, StoreError> {
        let before = before.clone();
        let document = encode(after)?;
        self.write(move |transaction| {
            if find_session(transaction, &before.id)?.as_ref() != Some(&before) {
                return Ok(false);
            }
            let mut update = transaction.prepare_cached("UPDATE sessions SET session = ?2 WHERE id = ?1")?;
            Ok(update.execute((before.id.as_str(), document))? == 1)
        })
        .await
    }

    async fn remove_session(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |transaction| {
            transaction.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute([id])?;
            Ok(())
        })
        .await
    }
}

/// Finds a user. A message names the merchant, because an e-mail address does not belong in a log.
fn find_user(transaction: &Transaction<'_>, login: &Login) -> Result<Option<User>, Failure> {
    let sql = "SELECT merchant, user FROM users WHERE login = ?1";
    find_one(transaction, sql, [login.as_str()], "a user of")
}

fn find_operator(transaction: &Transaction<'_>, login: &Login) -> Result<Option<Operator>, Failure> {
    let sql = "SELECT 'of the service', operator FROM operators WHERE login = ?1";
    find_one(transaction, sql, [login.as_str()], "an operator")
}

fn find_session(transaction: &Transaction<'_>, id: &str) -> Result<Option<Session>, Failure> {
    let sql = "SELECT 'with this id', session FROM sessions WHERE id = ?1";
    find_one(transaction, sql, [id], "the session")
}
