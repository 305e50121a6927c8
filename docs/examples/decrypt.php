<?php
// Take a payment: decrypt an Apple Pay payment token through merchantkeyd's decryptor socket.
// usage: php decrypt.php SOCKET TOKEN.json MERCHANT AMOUNT
declare(strict_types=1);

[, $socket, $tokenFile, $merchant, $amount] = $argv;

/** @return array{int, string}|null the status and the body; null if no response arrived */
function post(CurlHandle $curl, string $path, string $body, string $idempotencyKey): ?array
{
    curl_setopt_array($curl, [
        CURLOPT_URL => "http://localhost$path",
        CURLOPT_POSTFIELDS => $body,
        CURLOPT_HTTPHEADER => ['Content-Type: application/json', "Idempotency-Key: $idempotencyKey"],
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 10,
    ]);
    $answer = curl_exec($curl);
    return $answer === false ? null : [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $answer];
}

$body = json_encode([
    'paymentData' => json_decode(file_get_contents($tokenFile), false, 64, JSON_THROW_ON_ERROR),
    'expected' => ['merchantIdentifier' => $merchant, 'transactionAmount' => (int) $amount],
], JSON_THROW_ON_ERROR);

// The handle keeps its connection open between requests.
$curl = curl_init();
curl_setopt($curl, CURLOPT_UNIX_SOCKET_PATH, $socket);
// Each attempt to take a payment has its own random idempotency key. Store this key with the attempt.
$key = bin2hex(random_bytes(16));
// If no response arrives, the identical request with the same idempotency key gets the same result.
$response = post($curl, '/v1/payment-tokens/decrypt', $body, $key)
    ?? post($curl, '/v1/payment-tokens/decrypt', $body, $key);
if ($response === null) {
    fwrite(STDERR, curl_error($curl) . "\n");
    exit(1);
}
[$status, $text] = $response;
$answer = json_decode($text, true, 64, JSON_THROW_ON_ERROR);
if ($status !== 200) {
    fwrite(STDERR, "$status {$answer['code']}: {$answer['detail']}\n");
    exit(1);
}
// The response holds the account number: pass it to the acquirer, and never log it.
echo 'amount: ', $answer['paymentData']['transactionAmount'], "\n";
