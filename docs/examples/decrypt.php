<?php
// Take a payment: decrypt an Apple Pay payment token through merchantkeyd's decryptor socket.
// usage: php decrypt.php SOCKET TOKEN.json MERCHANT AMOUNT
declare(strict_types=1);

if ($argc !== 5) {
    fwrite(STDERR, "usage: php decrypt.php SOCKET TOKEN.json MERCHANT AMOUNT\n");
    exit(2);
}
[, $socket, $tokenFile, $merchant, $amount] = $argv;

/** @return array{int, array<mixed>}|null the status and the JSON of the response; null if it is not complete */
function postOnce(CurlHandle $curl, string $path, string $body, string $idempotencyKey, ?int &$retryAfter): ?array
{
    $retryAfter = null;
    curl_setopt_array($curl, [
        CURLOPT_URL => "http://localhost$path",
        CURLOPT_POSTFIELDS => $body,
        CURLOPT_HTTPHEADER => ['Content-Type: application/json', "Idempotency-Key: $idempotencyKey"],
        CURLOPT_HEADERFUNCTION => function (CurlHandle $curl, string $line) use (&$retryAfter): int {
            if (preg_match('/^Retry-After: *(\d+)/i', $line, $match)) {
                $retryAfter = (int) $match[1];
            }
            return strlen($line);
        },
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 15,
    ]);
    $text = curl_exec($curl);
    if ($text === false) {
        return null;
    }
    return [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), json_decode($text, true, 64, JSON_THROW_ON_ERROR)];
}

/** Sends a request, and repeats it for up to 30 seconds as docs/errors.md says. */
function post(CurlHandle $curl, string $path, string $body, string $idempotencyKey): ?array
{
    $giveUp = microtime(true) + 30;
    for ($pause = 0.1; ; $pause = min(2 * $pause, 2)) {
        // If no complete response arrived, the identical request with the same key gets the same result.
        $response = postOnce($curl, $path, $body, $idempotencyKey, $retryAfter);
        $code = $response[1]['code'] ?? null;
        if ($response !== null && $retryAfter === null && !in_array($code, ['internalError', 'requestTimeout'], true)) {
            return $response;
        }
        $wait = $retryAfter ?? $pause;
        if (microtime(true) + $wait > $giveUp) {
            return $response;
        }
        usleep((int) (1_000_000 * $wait));
    }
}

// Each attempt to take a payment has its own random idempotency key. Store the key and the body with the attempt.
$key = bin2hex(random_bytes(16));
$body = json_encode([
    'paymentData' => json_decode(file_get_contents($tokenFile), false, 64, JSON_THROW_ON_ERROR),
    'expected' => [
        'merchantIdentifier' => $merchant,
        'transactionAmount' => (int) $amount, // in cents
        'currencyCode' => '840', // US dollars, ISO 4217
    ],
], JSON_THROW_ON_ERROR);

// The handle keeps its connection open between requests.
$curl = curl_init();
curl_setopt($curl, CURLOPT_UNIX_SOCKET_PATH, $socket);
$response = post($curl, '/v1/payment-tokens/decrypt', $body, $key);
if ($response === null) {
    fwrite(STDERR, curl_error($curl) . "\n");
    exit(1);
}
[$status, $answer] = $response;
if ($status !== 200) {
    fwrite(STDERR, "$status {$answer['code']}: {$answer['detail']}\n");
    exit(1);
}
// The response holds the account number: pass it to the acquirer, and never log it.
echo 'amount: ', $answer['paymentData']['transactionAmount'], "\n";
