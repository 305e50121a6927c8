import Foundation
import LocalHooks
import MerchantTestSupport
import Testing

/// An HTTP server in a process of its own, which gives every request the same response.
enum HookServer {
    static let isPossible = ChildProcess.succeeds("python3", "-c", "import http.server")

    /// Serves on a TCP port or on a Unix socket, prints the URL, and appends the body of each request to a file.
    private static let script = """
        import http.server, os, socketserver, sys, time, urllib.parse
        socket, log, status, reply, pause = sys.argv[1:6]
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with open(log, "ab") as file: file.write(body)
                time.sleep(float(pause))
                self.send_response(int(status))
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply.encode())
            def address_string(self): return "client"
            def log_message(self, *arguments): pass
        class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True
        if socket:
            server = UnixServer(socket, Handler)
            print("http+unix://" + urllib.parse.quote(socket, safe="") + "/hook", flush=True)
        else:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            print("http://127.0.0.1:%d/hook" % server.server_address[1], flush=True)
        server.serve_forever()
        """

    /// Runs `body` with the URL of the server. The bodies of all requests are in the file `requests`.
    ///
    /// - Parameter pause: how long the server waits before each response, in seconds.
    static func serve(
        _ scratch: Scratch, onUnixSocket: Bool, status: Int = 200, reply: String, pause: Double = 0,
        _ body: (LocalEndpoint) async throws -> Void
    ) async throws {
        let process = try ChildProcess(
            [
                "python3", "-c", script, onUnixSocket ? scratch.path("hook.sock") : "", scratch.path("requests"),
                "\(status)", reply, "\(pause)",
            ], output: .file(scratch.path("url")))
        defer { process.killAndWait() }
        let url = try process.firstLine(in: scratch.path("url"))
        try await body(try #require(LocalEndpoint(text: url)))
    }
}
