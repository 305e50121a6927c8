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
            "Serve Apple's gateway over mutual TLS on the loopback interface, until SIGTERM: registrations, merchant "
            + "sessions and merchant tokens.",
        discussion: """
            When the server is ready, it prints its URL on the standard output. Clients must trust root.pem and present \
            a certificate from 'applepay-sandbox issue --purpose identity'. The response to clients without such a \
            certificate is 401. Registrations are kept in the file registrations.jsonl in the directory, which only \
            one 'serve' can use at a time. Sessions and merchant tokens are kept in memory.

            A merchant session (POST /paymentservices/paymentSession) is for the merchant of the client certificate, or \
            for a partnerInternalMerchantIdentifier that the same platform registered. The domain must be registered. \
            The merchant of the client certificate may use the domains of --merchant-domain, or any domain if the option \
            is not given for this merchant.

            A test creates an event of a merchant token on the control socket. If the token has a tokenNotificationURL, \
            the server then notifies the merchant. Unless the status is 200, it repeats the notification without a \
            pause, at most three times. Example: curl --unix-socket PATH http://localhost/merchant-tokens/events -d \
            '{"merchantIdentifier": "merchant.com.example", "merchantTokenIdentifier": "token-1", "eventType": \
            "UNLINK", "tokenNotificationURL": "https://localhost:8443/tokenapi"}'. Optional members: reason, \
            merchantTokenMetadata, wrapped, notify, response (the whole event as JSON text), and encryptedMetadata with \
            certificate (a file), expirationDate, mpan, mpanId, validSignature and field.

            A fault is KIND[:PROBABILITY|:xCOUNT][@OPERATION]. For example, 500:0.2 fails a call with the probability \
            0.2, and answer-lost:x3@registerMerchant fails the next three calls of registerMerchant. Kinds: \
            \(GatewayFault.Kind.allCases.map(\.rawValue).joined(separator: ", ")). Operations: \
            \(GatewayOperation.allCases.map(\.rawValue).joined(separator: ", ")). A call with a fault of the kind 401, \
            403, 417, 429, 500, redirect or reset has no effect. A call with any other fault takes effect, although its \
            response is late, wrong or missing.

            The server also stands in for Apple's broker for in-app provisioning, without a client certificate: POST \
            /broker/v4/devices/ID/cards takes the JSON that 'provision' reads. The broker needs the file \
            provisioning-leaf.key.pem of 'provisioning-certificates' in the directory, and reads it for each request. \
            The header x-apay-service-response-details of a 500 has the reasons.

            The control socket serves GET /registrations, GET /sessions (the newest 100), GET /statistics, GET, PUT and \
            DELETE /faults, GET and POST /merchant-tokens, POST /merchant-tokens/events, GET \
            /merchant-tokens/events/ID, POST /merchant-tokens/events/ID/notify, and POST \
            /merchant-tokens/usage-information. Example: \
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

    @Option(
        help: ArgumentHelp("The path of the control socket (default: none).", valueName: "path"), completion: .file())
    var control: String?

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp("An additional name for the server certificate; may be repeated.", valueName: "host"))
    var names: [String] = []

    @Flag(help: "Download the domain verification file from each domain before registering it.")
    var verifyDomains = false

    @Option(
        help: ArgumentHelp(
            "The address of a domain, which --verify-domains uses instead of DNS; may be repeated.",
            valueName: "name=address:port"))
    var resolve: [String] = []

    @Option(
        help: ArgumentHelp(
            "The file that --verify-domains expects at each domain (default: any file that is not empty).",
            valueName: "file"), completion: .file())
    var associationFile: String?

    @Option(
        name: .customLong("merchant-domain"),
        help: ArgumentHelp(
            "A domain for which a merchant with its own identity certificate may request sessions; may be repeated "
                + "(default: any domain).", valueName: "id=domain"), transform: Self.merchantDomain)
    var merchantDomains: [MerchantDomain] = []

    @Flag(
        help: """
            Wrap events of merchant tokens in merchantTokenEvent, as in Apple's guide. Apple's reference has no wrapper.
            """)
    var wrapTokenEvents = false

    @Option(
        help: ArgumentHelp(
            "PEM roots that are trusted when merchants are notified, in addition to the system's and the sandbox's.",
            valueName: "file"), completion: .file())
    var notificationRoots: String?

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is \(port), expected 0 to 65535") }
        guard slowSeconds >= 0, slowSeconds <= 3600 else {
            throw ValidationError("--slow-seconds is \(slowSeconds), expected 0 to 3600")
        }
        if let rateLimit, rateLimit < 1 {
            throw ValidationError("--rate-limit is \(rateLimit), expected at least 1")
        }
        for name in names where SandboxServerName(name) == nil {
            throw ValidationError("--name '\(name)' is neither a host name nor an IP address")
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
        settings.merchantDomains = merchantDomains
        settings.wrapsTokenEvents = wrapTokenEvents
        settings.notificationRoots =
            try notificationRoots.map {
                [String(decoding: try Files.read($0), as: UTF8.self)]
            } ?? []
        settings.broker = BrokerEndpoint(keyFile: ProvisioningFiles(directory: hierarchy.directory).privateKey)
        if verifyDomains {
            settings.domainVerifier = try DomainVerifier(
                resolving: resolve, file: try associationFile.map { try Files.read($0) },
                root: authority.rootCertificate)
        }
        // The signals are blocked before any other thread starts, because new threads inherit the signal mask. So only
        // sigwait receives the signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        let gateway = try Self.runBlocking { [settings] in
            try await SandboxGateway(authority: authority, settings: settings)
        }
        try Files.write(Array("\(gateway.url)\n".utf8), to: "-")
        var signal: CInt = 0
        sigwait(&signals, &signal)
        try Self.runBlocking { await gateway.stop() }
        if let control { unlink(control) }
    }

    /// Runs asynchronous work and blocks the main thread until the work is finished.
    private static func runBlocking<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws
        -> Value
    {
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
    private static func merchantDomain(_ text: String) throws -> MerchantDomain {
        do { return try MerchantDomain(text) } catch { throw ValidationError(error.description) }
    }
}
