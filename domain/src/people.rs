//! People who sign in: users of merchants, operators, their credentials and sessions.

mod credentials;
mod login;
mod logo;
mod mailing;
mod message_webhook;
mod operator;
mod policy;
mod profile;
mod role;
mod second_factor;
mod session;
mod user;

pub use credentials::{
    Credentials, INACTIVE_AFTER_MS, MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS, WrongCodes, is_password,
};
pub use login::Login;
pub use logo::{Logo, LogoError, MAX_LOGO_BYTES, MAX_LOGO_SIDE};
pub use mailing::{MAIL_GAP_MS, MAIL_LOOK_BACK_MS, MAIL_REMINDER_MS, MailLanguage, Mailing, ReportedTrouble};
pub use message_webhook::MessageWebhook;
pub use operator::{Operator, OperatorRole};
pub use policy::MerchantPolicy;
pub use profile::{MAX_CONTACT, MAX_DISPLAY_NAME, MerchantProfile, ProfileError};
pub use role::{Permission, Role};
pub use second_factor::{CODE_STEP_SECONDS, RECOVERY_CODE_BYTES, RECOVERY_CODES, RecoveryCode, SecondFactor};
pub use session::{
    DEFAULT_IDLE_MS, HALF_SESSION_MS, SESSION_MS, SESSION_TOKEN_BYTES, Session, SessionOf, SessionOrigin,
    SessionStage,
};
pub use user::User;
