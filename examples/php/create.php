<?php
// Creates a PIX and waits until it is paid: php create.php ORDER CENTS

declare(strict_types=1);

require __DIR__ . '/quita.php';

if ($argc !== 3 || $argv[1] === '') {
    stop('usage: php create.php ORDER CENTS', 2);
}
$order = $argv[1];
$payment = call('POST', '/pay/payments', [
    'paymentMethod' => 'pix',
    'amount' => whole_cents($argv[2]), // 10000 is R$ 100,00
    'currency' => 'BRL',
    'externalReference' => $order,
    'postbackUrl' => getenv('POSTBACK_URL') ?: 'http://127.0.0.1:8090/',
    'paymentDetails' => [
        'firstName' => 'Maria',
        'lastName' => 'Silva',
        'document' => '52998224725',
        'documentType' => 'CPF',
        'email' => 'maria@example.com',
        'phoneNumber' => '11987654321',
        'address' => [
            'street' => 'Rua Augusta',
            'number' => '100',
            'neighborhood' => 'Consolação',
            'city' => 'São Paulo',
            'state' => 'SP',
            'zipCode' => '01304000',
        ],
    ],
    // The same key gets the same payment, however often this is sent.
], ["Idempotency-Key: order-$order"]);
echo "{$payment['transactionId']} {$payment['status']}\n{$payment['pix']['code']}\n";
// Webhooks tell you at once. Ask from time to time for what a webhook may have missed.
for ($tries = 0; $tries < 60 && $payment['status'] === 'pending'; $tries++) {
    sleep(1);
    $payment = call('GET', "/pay/payments/{$payment['transactionId']}");
}
echo "{$payment['transactionId']} {$payment['status']}\n";
