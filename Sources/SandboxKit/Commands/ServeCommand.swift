import ArgumentParser
import Dispatch
import Glibc
import Synchronization
import Vocabulary

/// `applepay-sandbox serve`
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Plays Apple's Web Merchant Registration API over mutual TLS on loopback, until SIGTERM.",
        discussion: """
            Prints its URL on standard output once it listens; clients trust root.pem. Client certificates are those that \
            issue --purpose identity signs; any other is answered with 401. Registrations are kept in registrations.jsonl in \
            the directory.

            A fault is KIND[:PROBABILITY|:xCOUNT][@OPERATION], e.g. 500:0.2, answer-lost:x3@registerMerchant. Kinds: \
            \(GatewayFault.Kind.allCases.map(\.rawValue).joined(separator: ", ")).

            On the control socket: GET /registrations, GET /statistics, GET, PUT and DELETE /faults, e.g. \
            curl --unix-socket PATH -X PUT http://localhost/faults -d '{"faults": ["slow:x1"]}'.
            """)

    @OptionGroup var hierarchy: HierarchyOptions

    @Option(help: "The port on 127.0.0.1; 0 takes any that is free.")
    var port = 0

    @Option(help: ArgumentHelp("A fault; may be repeated.", valueName: "fault"), transform: Self.fault)
    var fail: [GatewayFault] = []

    @Option(
        help: ArgumentHelp(
            "How many calls a second are answered; one more is told to wait with 429.", valueName: "n"))
    var rateLimit: Int?

    @Option(help: "How many seconds a slow answer takes.")
    var slowSeconds = 5.0

    @Option(help: ArgumentHelp("A Unix socket on which tests steer the gateway.", valueName: "path"))
    var control: String?

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp("A further name in the server's certificate; may be repeated.", valueName: "host"))
    var names: [String] = []

    @Flag(help: "Fetches the association file from each domain before it is registered.")
    var verifyDomains = false

    @Option(
        help: ArgumentHelp(
            "Where a domain is asked, in place of what its name resolves to; may be repeated.",
            valueName: "name=address:port"))
    var resolve: [String] = []

    @Option(
        help: ArgumentHelp("What domains must serve (default: anything that is not empty).", valueName: "file"))
    var associationFile: String?

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("found the port \(port), expected 0 to 65535") }
        guard slowSeconds >= 0, slowSeconds <= 3600 else {
            throw ValidationError("found \(slowSeconds) slow seconds, expected 0 to 3600")
        }
        if let rateLimit, rateLimit < 1 {
            throw ValidationError("found a rate limit of \(rateLimit), expected at least 1")
        }
        for name in names where SandboxServerName(name) == nil {
            throw ValidationError("found the name '\(name)', expected a host name or an address")
        }
    }

    func run() throws {
        let authority = try hierarchy.authorityDirectory.load()
        var settings = SandboxGateway.Settings()
        settings.port = port
        settings.names = names.compactMap(SandboxServerName.init)
        settings.registrationsPath = "\(hierarchy.directory)/registrations.jsonl"
        settings.controlPath = control
        settings.faults = fail
        settings.mostCallsInASecond = rateLimit
        settings.slowness = .milliseconds(Int64(slowSeconds * 1000))
        if verifyDomains {
            settings.verifier = try DomainVerifier(
                resolving: resolve, file: try associationFile.map { try Files.read($0) },
                root: authority.rootCertificate)
        }
        // Before any other thread is: they inherit what is blocked, and sigwait gets it.
        var ends = sigset_t()
        sigemptyset(&ends)
        sigaddset(&ends, SIGTERM)
        sigaddset(&ends, SIGINT)
        pthread_sigmask(SIG_BLOCK, &ends, nil)

        let gateway = try Self.wait { [settings] in try await SandboxGateway(authority: authority, settings: settings) }
        try Files.write(Array("\(gateway.url)\n".utf8), to: "-")
        var signal: CInt = 0
        sigwait(&ends, &signal)
        try Self.wait { await gateway.stop() }
        if let control { unlink(control) }
    }

    /// Runs asynchronous work to its end on a thread that may block: the program's own.
    private static func wait<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let done = DispatchSemaphore(value: 0)
        let outcome = Outcome<Value>()
        Task.detached {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            outcome.result.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = outcome.result.withLock({ $0 }) else {
            preconditionFailure("the outcome is stored before it is signalled")
        }
        return try result.get()
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    private static func fault(_ text: String) throws -> GatewayFault {
        do { return try GatewayFault(text) } catch { throw ValidationError(error.description) }
    }
}
