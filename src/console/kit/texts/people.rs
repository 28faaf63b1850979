//! Texts about the people who may sign in.

use super::group;

group! {
    /// People, and the actions on one of them.
    People {
        lead: "Quem entra neste console, e o que pode fazer.", "Who can sign in to this console, and what they may do.";
        role: "Papel", "Role";
        factor: "Duas etapas", "Second factor";
        you: "você", "you";
        since: "Desde", "Since";
        active: "Último uso", "Last active";
        never: "Nunca", "Never";
        disabled: "Desativada por falta de uso", "Disabled (not used)";
        add: "Nova pessoa", "Add person";
        add_button: "Criar", "Create";
        not_an_email: "Este e-mail não é válido.", "Enter a valid e-mail address.";
        change_role: "Mudar papel", "Change role";
        role_changed: "Papel mudado.", "Role changed.";
        reset_password: "Nova senha", "New password";
        reset_question: "Dar uma senha nova a {login}?", "Set a new password for {login}?";
        reset_sentence: "A senha atual deixa de valer e as sessões terminam agora. A nova é trocada na primeira entrada.",
            "The current password stops working and their sessions end now. They must change the new one at the first \
            sign-in.";
        password_for: "Senha de {login}", "Password for {login}";
        password_shown_once: "Copie agora: ela não aparece de novo. Ela é trocada na primeira entrada.",
            "Copy it now: it is not shown again. It must be changed at the first sign-in.";
        reset_factor: "Desativar duas etapas", "Reset second factor";
        factor_question: "Desativar a verificação em duas etapas de {login}?", "Reset the second factor of {login}?";
        factor_sentence: "Até ativar outra, a senha basta para entrar. Confirme antes que o pedido é mesmo desta pessoa.",
            "Until they set up another one, the password alone is enough to sign in. First make sure that the request \
            really comes from this person.";
        factor_reset: "Verificação em duas etapas desativada.", "Second factor reset.";
        remove: "Remover", "Remove";
        remove_question: "Remover {login}?", "Remove {login}?";
        removed: "Pessoa removida.", "Person removed.";
    }
}
