//! Texts about people and their passwords.

use crate::console::kit::texts::group;

group! {
    /// People, roles, the own account.
    People {
        lead: "Quem entra neste console, e o que pode fazer.", "Who gets into this console, and what they may do.";
        role: "Papel", "Role";
        owner_may: "Tudo, inclusive pessoas e auditoria.", "Everything, people and audit log included.";
        developer_may: "Aplicações e chaves, pagamentos e entregas.", "Applications and keys, payments and deliveries.";
        viewer_may: "Só olhar.", "Look only.";
        you: "você", "you";
        since: "Desde", "Since";
        add: "Nova pessoa", "New person";
        add_button: "Criar", "Create";
        change_role: "Mudar papel", "Change role";
        reset_password: "Nova senha", "New password";
        remove: "Remover", "Remove";
        remove_question: "Remover {login}?", "Remove {login}?";
        remove_sentence: "As sessões terminam agora. O que a pessoa viu continua valendo, se não for trocado.",
            "Their sessions end now. What they were shown still works, unless it is changed.";
        revoke_keys: "Revogar as chaves de API que a pessoa criou", "Revoke the API keys that they made";
        revoke_keys_sentence: "Cada chave apareceu uma única vez, para quem a criou ou trocou. Os programas que usam uma chave revogada param em até 5 segundos.",
            "Each key was shown once, to who made or rotated it. Programs that use a revoked key stop within 5 seconds.";
        knows_no_keys: "A pessoa não criou nenhuma chave de API que ainda valha.", "They made no API key that still works.";
        knows_secrets: "Segredos de webhooks que a pessoa viu", "Webhook secrets that they were shown";
        knows_secrets_sentence: "Com eles se forjam eventos. Troque-os; na troca, o antigo ainda assina por 24 horas.",
            "Events can be forged with them. Rotate them; after a rotation the old one still signs for 24 hours.";
        reset_question: "Dar uma senha nova a {login}?", "Give {login} a new password?";
        reset_sentence: "A senha atual deixa de valer e as sessões terminam agora.",
            "The current password stops working and their sessions end now.";
        password_for: "Senha de {login}", "Password of {login}";
        password_shown_once: "Copie agora: ela não aparece de novo. Peça que seja trocada em Sua conta.",
            "Copy it now: it is not shown again. Ask for it to be changed under Your account.";
        not_an_email: "Este e-mail não é válido.", "This is not an e-mail address.";
        not_yourself: "O próprio papel não se muda, nem se remove a própria conta: peça a outro dono.",
            "Nobody changes the own role or removes the own account: ask another owner.";
        factor: "Duas etapas", "Second factor";
        reset_factor: "Desativar duas etapas", "Reset second factor";
        factor_question: "Desativar a verificação em duas etapas de {login}?", "Reset the second factor of {login}?";
        factor_sentence: "Até ativar outra, a senha basta para entrar. Confirme antes que o pedido é mesmo desta pessoa.",
            "Until another one is set up, the password is enough. Make sure first that it is really this person who asks.";
        factor_reset: "Verificação em duas etapas desativada.", "Second factor reset.";
        policy: "Regras para todos", "Rules for everybody";
        require_factor: "Exigir a verificação em duas etapas.", "Require a second factor.";
        require_factor_hint: "Quem não tem ativa a sua antes de continuar.", "Who has none sets one up before going on.";
        confirm_above: "Confirmar devoluções acima de", "Confirm refunds above";
        confirm_above_hint: "Quem devolve mais do que isto confirma de novo que é quem diz ser. Vazio: ninguém.",
            "Whoever refunds more than this proves once more who it is. Empty: nobody does.";
        policy_changed: "Regras mudadas.", "Rules changed.";
        removed: "Pessoa removida.", "Person removed.";
        role_changed: "Papel mudado.", "Role changed.";
        language: "Idioma", "Language";
        merchant: "Lojista", "Merchant";
    }
}
