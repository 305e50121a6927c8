// Take a payment: decrypt an Apple Pay payment token through merchantkeyd's decryptor socket.
// usage: java Decrypt.java SOCKET TOKEN.json MERCHANT AMOUNT
// Java 16 or newer. java.net.http cannot use Unix sockets, so this program writes the HTTP request itself.
// For many requests use Netty, Jetty or Apache HttpClient 5, which support Unix sockets.
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Timer;
import java.util.TimerTask;
import java.util.UUID;
import java.util.regex.Pattern;

public final class Decrypt {
    record Response(int status, String body) {}

    static Response post(Path socket, String path, String json, String idempotencyKey) throws IOException {
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        String head = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + "Content-Type: application/json\r\nContent-Length: " + body.length + "\r\n"
            + "Idempotency-Key: " + idempotencyKey + "\r\n\r\n";
        Timer timer = new Timer(true);
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            // A blocking channel has no timeout. Closing the channel ends the read with an exception.
            timer.schedule(new TimerTask() {
                @Override public void run() {
                    try {
                        channel.close();
                    } catch (IOException ignored) {
                        // The channel is closed already.
                    }
                }
            }, 10_000);
            write(channel, head.getBytes(StandardCharsets.US_ASCII));
            write(channel, body);
            String text = new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
            int end = text.indexOf("\r\n\r\n");
            if (!text.startsWith("HTTP/1.1 ") || end < 0) {
                throw new IOException("no complete response");
            }
            return new Response(Integer.parseInt(text.substring(9, 12)), text.substring(end + 4));
        } finally {
            timer.cancel();
        }
    }

    static void write(SocketChannel channel, byte[] bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    /** Reads one field of a JSON object. Use a JSON library in your program instead. */
    static String field(String json, String name) {
        var match = Pattern.compile("\"" + name + "\"\\s*:\\s*\"?([^\",}]*)").matcher(json);
        return match.find() ? match.group(1) : "?";
    }

    public static void main(String[] arguments) throws IOException {
        Path socket = Path.of(arguments[0]);
        String request = "{\"paymentData\": " + Files.readString(Path.of(arguments[1]))
            + ", \"expected\": {\"merchantIdentifier\": \"" + arguments[2]
            + "\", \"transactionAmount\": " + Long.parseLong(arguments[3]) + "}}";
        // Each attempt to take a payment has its own random idempotency key. Store this key with the attempt.
        String key = UUID.randomUUID().toString();
        Response response;
        try {
            response = post(socket, "/v1/payment-tokens/decrypt", request, key);
        } catch (IOException noResponse) {
            // If no response arrives, the identical request with the same idempotency key gets the same result.
            response = post(socket, "/v1/payment-tokens/decrypt", request, key);
        }
        if (response.status() != 200) {
            System.err.println(response.status() + " " + field(response.body(), "code") + ": "
                + field(response.body(), "detail"));
            System.exit(1);
        }
        // The response holds the account number: pass it to the acquirer, and never log it.
        System.out.println("amount: " + field(response.body(), "transactionAmount"));
    }
}
