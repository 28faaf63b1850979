//! Texts about payment links.

use crate::console::kit::texts::group;

group! {
    /// List of links, page of one link, and the forms that create and close links.
    Links {
        links: "Links de pagamento", "Payment links";
        link: "Link", "Link";
        lead: "Ofertas com um endereço próprio: quem o abre paga por PIX, boleto ou cartão.",
            "Offers with an address of their own. Payers open it and pay by PIX, boleto or card.";
        empty: "Nenhum link", "No links";
        empty_sentence: "Crie um link aqui ou pela API, ou escolha outro status.",
            "Create a link here or through the API, or choose another status.";
        new: "Criar link", "Create link";
        title: "Título", "Title";
        title_hint: "O pagador lê: o que está pagando.", "Shown to payers: what they pay for.";
        amount_hint: "De cada pagamento, como 50,00.", "Amount of each payment, such as 50.00.";
        description: "Descrição", "Description";
        methods: "Métodos", "Methods";
        max_installments: "Parcelas no cartão", "Card instalments";
        installments_hint: "O máximo que o pagador pode escolher, de 1 a 12.",
            "Maximum that a payer can choose, from 1 to 12.";
        uses: "Pagamentos", "Payments";
        uses_hint: "Quantos pagamentos o link aceita, de 1 a 10.000.",
            "Number of payments that the link accepts, from 1 to 10,000.";
        days: "Válido por (dias)", "Valid for (days)";
        days_hint: "De 1 a 365. Hoje conta, e o último dia vale inteiro, no horário de Brasília.",
            "From 1 to 365, including today. The link is open until the end of the last day, in Brasília time.";
        reference_hint: "O seu número do pedido; vai em cada pagamento.",
            "Your own order number; it is added to each payment.";
        bad_amount: "não foi entendido; escreva em reais e acima de zero, como 50,00",
            "could not be read; enter an amount in reais above zero, such as 50.00";
        bad_days: "deve ser um número inteiro de 1 a 365", "must be a whole number from 1 to 365";
        mistakes: "O link não foi criado. Corrija isto e envie de novo:",
            "The link was not created. Correct this and send it again:";
        no_method: "Nenhum adquirente deste modo aceita pagamentos; fale com quem opera o serviço.",
            "No acquirer of this mode accepts payments; ask the operators of the service.";
        paid_of_uses: "Pagos", "Paid";
        of_uses: "de", "of";
        expires: "Expira", "Expires";
        closed: "Fechado", "Closed";
        address: "Endereço", "Address";
        address_sentence: "Envie ao pagador, ou mostre o código para ele ler.",
            "Send it to the payer, or let them scan the code.";
        open_address: "Abrir a página", "Open the page";
        qr_code: "QR code do endereço do link", "QR code of the link's address";
        no_address: "O endereço não pode ser mostrado agora; fale com quem opera o serviço.",
            "The address can't be shown now; ask the operators of the service.";
        success_url: "Depois de pago, leva a", "Redirect after payment";
        due_in_days: "{days} dias depois do início do pagamento", "{days} days after the payment begins";
        customer: "Dados do pagador que você preencheu", "Payer details that you entered";
        payments: "Pagamentos deste link", "Payments of this link";
        payments_sentence: "Os 20 mais novos.", "The newest 20.";
        no_payments: "Ninguém pagou ainda", "Nobody has paid yet";
        no_payments_sentence: "Um pagamento aparece aqui assim que alguém o começa.",
            "A payment appears here as soon as a payer starts it.";
        close: "Fechar o link", "Close the link";
        close_question: "Fechar «{title}»?", "Close “{title}”?";
        close_sentence: "Nenhum pagamento novo começa por ele. O que já espera ainda pode ser pago, se você não o cancelar.",
            "The link accepts no new payments. Pending payments can still be paid, unless you cancel them.";
        cancel_pending: "Cancelar também os pagamentos que esperam", "Also cancel pending payments";
        notice_made: "Link criado.", "Link created.";
        notice_closed: "Fechado. O que espera ainda pode ser pago.", "Link closed. Pending payments can still be paid.";
        notice_cancelled: "Feito. Nenhum pagamento deste link espera mais.",
            "Done. None of this link's payments is pending any more.";
        notice_cancelling: "O link não aceita mais pagamentos. Um que esperava ainda está sendo cancelado; veja abaixo.",
            "The link accepts no more payments. A pending payment is still being cancelled; see below.";
        notice_unchanged: "Nada mudou: o link já estava pago ou expirado.",
            "Nothing changed: the link was already paid or expired.";
    }
}
