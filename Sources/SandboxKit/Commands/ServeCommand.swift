import ArgumentParser
import Dispatch
import Glibc
import Synchronization
import Vocabulary

/// `applepay-sandbox serve`
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract:
            "Serve Apple's Web Merchant Registration API over mutual TLS on the loopback interface, until SIGTERM.",
        discussion: """
            Prints its URL on the standard output when it is ready. Clients must trust root.pem and present a certificate \
            from 'applepay-sandbox issue --purpose identity'; for any other the response is 401. Registrations are kept in \
            the file registrations.jsonl in the directory.

            A fault is KIND[:PROBABILITY|:xCOUNT][@OPERATION], such as 500:0.2 or answer-lost:x3@registerMerchant. Kinds: \
            \(GatewayFault.Kind.allCases.map(\.rawValue).joined(separator: ", ")). Operations: \
            \(GatewayOperation.allCases.map(\.rawValue).joined(separator: ", ")).

            The control socket serves GET /registrations, GET /statistics, and GET, PUT and DELETE /faults. Example: \
            curl --unix-socket PATH -X PUT http://localhost/faults -d '{"faults": ["slow:x1"]}'
            """)

    @OptionGroup var hierarchy: HierarchyOptions

    @Option(help: "The TCP port on 127.0.0.1; 0 for any free port.")
    var port = 0

    @Option(help: ArgumentHelp("A fault to inject; may be repeated.", valueName: "fault"), transform: Self.fault)
    var fail: [GatewayFault] = []

    @Option(
        help: ArgumentHelp(
            "The limit of calls per second; the response to further calls is 429 (default: no limit).", valueName: "n"))
    var rateLimit: Int?

    @Option(help: "The delay of a response with the fault 'slow', in seconds.")
    var slowSeconds = 5.0

    @Option(help: ArgumentHelp("The path of the control socket (default: none).", valueName: "path"))
    var control: String?

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp("An additional name for the server certificate; may be repeated.", valueName: "host"))
    var names: [String] = []

    @Flag(help: "Download the domain verification file from each domain before registering it.")
    var verifyDomains = false

    @Option(
        help: ArgumentHelp(
            "The address of a domain, to use instead of DNS; may be repeated.", valueName: "name=address:port"))
    var resolve: [String] = []

    @Option(
        help: ArgumentHelp(
            "The expected domain verification file (default: any file that is not empty).", valueName: "file"))
    var associationFile: String?

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("found the port \(port), expected 0 to 65535") }
        guard slowSeconds >= 0, slowSeconds <= 3600 else {
            throw ValidationError("found --slow-seconds \(slowSeconds), expected 0 to 3600")
        }
        if let rateLimit, rateLimit < 1 {
            throw ValidationError("found --rate-limit \(rateLimit), expected at least 1")
        }
        for name in names where SandboxServerName(name) == nil {
            throw ValidationError("found the name '\(name)', expected a host name or an IP address")
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
        settings.callsPerSecond = rateLimit
        settings.slowReplyDelay = .milliseconds(Int64(slowSeconds * 1000))
        if verifyDomains {
            settings.domainVerifier = try DomainVerifier(
                resolving: resolve, file: try associationFile.map { try Files.read($0) },
                root: authority.rootCertificate)
        }
        // Blocks the signals before any other thread starts: threads inherit the mask, so only sigwait gets the
        // signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        let gateway = try Self.wait { [settings] in try await SandboxGateway(authority: authority, settings: settings) }
        try Files.write(Array("\(gateway.url)\n".utf8), to: "-")
        var signal: CInt = 0
        sigwait(&signals, &signal)
        try Self.wait { await gateway.stop() }
        if let control { unlink(control) }
    }

    /// Runs asynchronous work and blocks the main thread until the work ends.
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
            preconditionFailure("the result is stored before the semaphore is signalled")
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
