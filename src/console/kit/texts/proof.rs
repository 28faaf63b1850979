//! Texts about proofs of identity: second factors, recovery codes, passwords that somebody else set, sessions.

use super::group;

group! {
    /// Proof of identity.
    Proof {
        factor: "Verificação em duas etapas", "Second factor";
        factor_sentence: "Além da senha, um código do seu celular: quem descobrir a senha não entra.",
            "A code from your phone in addition to the password: a stolen password alone does not give access.";
        factor_required_sentence: "O dono da conta exige a verificação em duas etapas. Ative a sua para continuar.",
            "The owner of the account requires a second factor. Set yours up to continue.";
        factor_required_of_operators: "Quem opera este serviço precisa da verificação em duas etapas. Ative a sua para continuar.",
            "Operators of this service need a second factor. Set yours up to continue.";
        factor_before: "Código do aparelho de antes, ou um código de recuperação",
            "Code from the previous device, or a recovery code";
        factor_on: "Ativada", "On";
        factor_off: "Desativada", "Off";
        factor_since: "Desde", "Since";
        set_up: "Ativar", "Set up";
        set_up_again: "Trocar de aparelho", "Change device";
        set_up_title: "Ative a verificação em duas etapas", "Set up your second factor";
        set_up_again_sentence: "O aparelho de antes e os códigos de recuperação deixam de valer.",
            "The previous device and the recovery codes stop working.";
        step_scan: "Leia o código com um aplicativo autenticador, como Aegis, Google Authenticator ou 1Password.",
            "Scan the code with an authenticator app, such as Aegis, Google Authenticator or 1Password.";
        qr_code: "Código QR com a chave do autenticador", "QR code with the authenticator key";
        step_type: "Ou digite esta chave nele:", "Or enter this key in the app:";
        step_confirm: "Depois digite o código de 6 dígitos que ele mostra.",
            "Then enter the 6-digit code that the app shows.";
        code: "Código", "Code";
        code_title: "Mais uma etapa", "One more step";
        code_sentence: "Digite o código do seu aplicativo autenticador.", "Enter the code of your authenticator app.";
        code_hint: "Sem o aparelho? Digite um código de recuperação.",
            "No access to the device? Enter a recovery code.";
        code_wrong: "O código está errado ou já foi usado.", "The code is wrong or has already been used.";
        code_waits: "Muitos códigos errados. Tente de novo em {seconds} s, ou use um código de recuperação.",
            "Too many wrong codes. Try again in {seconds} s, or use a recovery code.";
        lost: "Perdeu o aparelho e os códigos? Quem é dono da conta desativa a etapa em Pessoas.",
            "Lost the device and the recovery codes? An owner of the account can reset the second factor under People.";
        continue_: "Continuar", "Continue";
        another_account: "Entrar com outra conta", "Sign in with another account";
        recovery_codes: "Códigos de recuperação", "Recovery codes";
        recovery_codes_left: "Restam {left} de 10.", "{left} of 10 are left.";
        recovery_codes_once: "Cada um vale uma vez, no lugar do aparelho. Guarde-os agora: não aparecem de novo.",
            "Each code works once, instead of the device. Save them now: they are not shown again.";
        recovery_codes_kept: "Guardei os códigos", "I have saved the codes";
        renew_codes: "Gerar novos códigos", "Generate new codes";
        remove_factor: "Desativar", "Turn off";
        factor_removed: "Verificação em duas etapas desativada.", "Second factor turned off.";
        factor_is_required: "O dono da conta exige a verificação em duas etapas.", "The owner of the account requires a second factor.";
        no_code_here: "Este código não é desta chave. Confira a hora do aparelho.",
            "This code does not belong to this key. Check the clock of your device.";
        given_password: "Escolha a sua senha", "Choose your password";
        given_password_sentence: "A senha que você recebeu foi criada por outra pessoa: troque-a para continuar.",
            "Your password was set by somebody else: change it to continue.";
        new_password: "Senha nova", "New password";
        new_password_hint: "De 15 a 256 caracteres. Uma frase sua é fácil de lembrar.",
            "15 to 256 characters. A sentence of your own is easy to remember.";
        current_password: "Senha atual", "Current password";
        change_password: "Mudar senha", "Change password";
        change_password_hint: "De 15 a 256 caracteres. Suas outras sessões terminam.",
            "15 to 256 characters. Your other sessions end.";
        password_changed: "Senha mudada. Suas outras sessões terminaram.", "Password changed. Your other sessions have ended.";
        confirm: "Confirme que é você", "Confirm that it is you";
        confirm_sentence: "O que você pediu só é feito depois disto.", "Your request is carried out only after this.";
        confirm_password: "Sua senha", "Your password";
        password_wrong: "A senha não confere.", "The password is wrong.";
        confirm_button: "Confirmar", "Confirm";
        go_back: "Voltar sem fazer nada", "Go back without changes";
        sessions: "Onde você entrou", "Where you are signed in";
        sessions_sentence: "Terminam sozinhas sem uso, e no máximo em 12 horas.", "Sessions end when they are not used, and after 12 hours at the latest.";
        browser: "Navegador", "Browser";
        last_seen: "Último uso", "Last active";
        began: "Desde", "Since";
        this_one: "esta", "this one";
        unknown_browser: "desconhecido", "unknown";
        end: "Encerrar", "End";
        end_others: "Encerrar todas as outras", "End all others";
        session_ended: "Sessão encerrada.", "Session ended.";
        mail: "Avisos por e-mail", "Messages by e-mail";
        mail_sentence: "O que falha e precisa de você, reunido em uma mensagem, no máximo uma a cada 15 minutos.",
            "Failures that need your attention, collected in one message at most every 15 minutes.";
        mail_off: "Não receber", "None";
        mail_changed: "Avisos por e-mail mudados.", "Messages by e-mail changed.";
        webhook: "Avisos por webhook", "Messages by webhook";
        webhook_sentence: "O mesmo, por POST com JSON assinado, ao endereço que você indicar: um programa seu ou o webhook de um chat. Vazio: não receber.",
            "The same messages as a signed JSON POST to a URL of your choice: your own program, or a chat's webhook. \
            Leave empty for none.";
        webhook_url: "Endereço", "Address";
        webhook_language: "Idioma", "Language";
        webhook_changed: "Avisos por webhook mudados.", "Messages by webhook changed.";
        bad_webhook_url: "O endereço precisa ser uma URL http ou https inteira, sem usuário, senha e fragmento; em produção, https e público.",
            "The address must be a complete http or https URL without user, password or fragment; in production, https \
            and public.";
        bad_webhook_language: "Escolha um idioma.", "Choose a language.";
        webhook_secret: "Segredo dos avisos", "Secret for messages by webhook";
        webhook_secret_once: "Com ele o seu programa confere a assinatura de cada aviso. Guarde-o agora: não aparece de novo. Outro endereço ganha outro segredo.",
            "Use it to verify the signature of each message. Save it now: it is not shown again. A new address gets a \
            new secret.";
        webhook_secret_kept: "Guardei o segredo", "I have saved the secret";
        bad_mail_choice: "Escolha um idioma, ou não receber.", "Choose a language, or none.";
        others_ended: "As outras sessões foram encerradas.", "The other sessions have ended.";
    }
}
