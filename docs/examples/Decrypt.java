// Take a payment: decrypt an Apple Pay payment token through merchantkeyd's decryptor socket.
// usage: java Decrypt.java SOCKET TOKEN.json MERCHANT AMOUNT
// Java 16 or newer. java.net.http cannot use Unix sockets, so this program writes the HTTP request itself.
// Netty, Jetty 11 and Apache HttpClient 5.6, or newer versions of them, support Unix sockets.
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;

public final class Decrypt {
    record Response(int status, Map<String, String> headers, String body) {
        String header(String name) {
            return headers.getOrDefault(name, "");
        }
    }

    /** One connection, which stays open between requests. Each thread needs its own. */
    static final class Decryptor {
        private final Path socket;
        private final Timer timer = new Timer(true);
        private SocketChannel channel;
        private InputStream input;

        Decryptor(Path socket) {
            this.socket = socket;
        }

        /** Sends a request, and repeats it for up to 30 seconds as docs/errors.md says. */
        Response post(String path, byte[] body, String idempotencyKey) throws IOException, InterruptedException {
            long giveUp = System.nanoTime() + 30_000_000_000L;
            for (long pause = 100; ; pause = Math.min(2 * pause, 2000)) {
                Response response = null;
                IOException failure = null;
                long wait = pause;
                try {
                    response = postOnce(path, body, idempotencyKey);
                    String code = field(response.body(), "code");
                    if (!response.header("Retry-After").isEmpty()) {
                        wait = 1000 * Long.parseLong(response.header("Retry-After"));
                    } else if (!code.equals("internalError") && !code.equals("requestTimeout")) {
                        return response;
                    }
                } catch (IOException noResponse) {
                    // No complete response arrived. The identical request with the same key gets the same result.
                    failure = noResponse;
                }
                if (System.nanoTime() + 1_000_000 * wait > giveUp) {
                    if (failure != null) {
                        throw failure;
                    }
                    return response;
                }
                Thread.sleep(wait);
            }
        }

        private Response postOnce(String path, byte[] body, String idempotencyKey) throws IOException {
            if (channel == null) {
                channel = SocketChannel.open(UnixDomainSocketAddress.of(socket));
                input = new BufferedInputStream(Channels.newInputStream(channel));
            }
            SocketChannel open = channel;
            // A blocking channel has no timeout. Closing the channel ends the read with an exception.
            TimerTask timeout = new TimerTask() {
                @Override public void run() {
                    close(open);
                }
            };
            timer.schedule(timeout, 15_000);
            boolean stayOpen = false;
            try {
                String head = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Content-Length: " + body.length + "\r\nIdempotency-Key: " + idempotencyKey + "\r\n\r\n";
                write(head.getBytes(StandardCharsets.US_ASCII));
                write(body);
                Response response = read();
                stayOpen = !response.header("Connection").equalsIgnoreCase("close");
                return response;
            } finally {
                timeout.cancel();
                if (!stayOpen) {
                    close(open);
                    channel = null;
                }
            }
        }

        /** Reads one response. Every response of the daemon to a POST has a Content-Length. */
        private Response read() throws IOException {
            String line = line();
            if (!line.startsWith("HTTP/1.1 ")) {
                throw new IOException("no HTTP response");
            }
            int status = Integer.parseInt(line.substring(9, 12));
            Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
            while (!(line = line()).isEmpty()) {
                int colon = line.indexOf(':');
                headers.put(line.substring(0, colon), line.substring(colon + 1).trim());
            }
            int length = Integer.parseInt(headers.get("Content-Length"));
            byte[] body = input.readNBytes(length);
            if (body.length < length) {
                throw new EOFException("incomplete response");
            }
            return new Response(status, headers, new String(body, StandardCharsets.UTF_8));
        }

        private String line() throws IOException {
            StringBuilder line = new StringBuilder();
            for (int c = input.read(); c != '\n'; c = input.read()) {
                if (c < 0) {
                    throw new EOFException("incomplete response");
                }
                if (c != '\r') {
                    line.append((char) c);
                }
            }
            return line.toString();
        }

        private void write(byte[] bytes) throws IOException {
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        }

        private static void close(SocketChannel channel) {
            try {
                channel.close();
            } catch (IOException ignored) {
                // The channel is closed already.
            }
        }
    }

    /** Reads one field of a JSON object. Use a JSON library in your program instead. */
    static String field(String json, String name) {
        String value = "\\s*:\\s*(?:\"((?:[^\"\\\\]|\\\\.)*)\"|([^,}\\s]+))";
        var match = Pattern.compile("\"" + name + "\"" + value).matcher(json);
        if (!match.find()) {
            return "?";
        }
        return match.group(1) != null ? match.group(1) : match.group(2);
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length != 4) {
            System.err.println("usage: java Decrypt.java SOCKET TOKEN.json MERCHANT AMOUNT");
            System.exit(2);
        }
        // The amount is in cents. 840 is the ISO 4217 code of US dollars.
        String request = "{\"paymentData\": " + Files.readString(Path.of(arguments[1]))
            + ", \"expected\": {\"merchantIdentifier\": \"" + arguments[2]
            + "\", \"transactionAmount\": " + Long.parseLong(arguments[3]) + ", \"currencyCode\": \"840\"}}";
        // Each attempt to take a payment has its own random idempotency key. Store the key and the body with the
        // attempt.
        String key = UUID.randomUUID().toString();
        Response response = null;
        try {
            response = new Decryptor(Path.of(arguments[0]))
                .post("/v1/payment-tokens/decrypt", request.getBytes(StandardCharsets.UTF_8), key);
        } catch (IOException error) {
            System.err.println("no response from " + arguments[0] + ": " + error);
            System.exit(1);
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
