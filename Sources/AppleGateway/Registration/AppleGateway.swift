import Foundation
import FoundationNetworking
package import Logging
package import MerchantCore
import NIOPosix
import Synchronization
package import Vocabulary

/// Apple's Web Merchant Registration API over mutual TLS. Must be shut down.
///
/// A call is repeated only where a repeat is safe; after many failures in a row Apple is left alone for a while; what Apple
/// asks to wait (429, `Retry-After`) holds for every caller.
package final class AppleGateway: RegistrationGateway {
    package struct Settings: Sendable {
        package var endpoint: GatewayEndpoint
        /// Bounds one exchange, from its beginning to the end of the answer.
        package var answerTimeout: Duration = .seconds(30)
        package var retries = RetryPolicy()
        /// What Apple's logs see.
        package var userAgent = "merchantkeyd"

        package init(endpoint: GatewayEndpoint) { self.endpoint = endpoint }
    }

    package typealias Sleep = @Sendable (Duration) async throws -> Void

    /// What must be left of a call's time for one more try.
    private static let shortestTry = Duration.seconds(5)

    private struct State {
        var circuit = Circuit()
        /// No request goes out before then: Apple asked for it.
        var pausedUntil: Timestamp?
    }

    private let settings: Settings
    private let transport: SecureTransport
    private let identities: any IdentitySource
    private let clock: any WallClock
    private let sleep: Sleep
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - transport: shut down with the gateway.
    ///   - sleep: waits between two tries; tests do not.
    package init(
        settings: Settings, transport: SecureTransport, identities: any IdentitySource, clock: any WallClock,
        logger: Logger, sleep: @escaping Sleep = { try await Task.sleep(for: $0) }
    ) {
        self.settings = settings
        self.transport = transport
        self.identities = identities
        self.clock = clock
        self.logger = logger
        self.sleep = sleep
    }

    package func shutdown() async { await transport.shutdown() }

    @discardableResult
    package func register(_ request: GatewayRegistration) async throws(GatewayError) -> GatewayReceipt {
        let body = try Self.body(RegisterMerchantRequest(request))
        let earlier = try await change(.registerMerchant, settings.endpoint.register, body)
        return GatewayReceipt(mayArriveAgain: earlier > 0)
    }

    package func unregister(
        _ partner: PartnerInternalMerchantIdentifier, domainNames: [DomainName], reason: String
    ) async throws(GatewayError) {
        let body = try Self.body(
            UnregisterMerchantRequest(
                domainNames: domainNames.map(\.rawValue), partnerInternalMerchantIdentifier: partner.rawValue,
                reason: reason))
        // Never repeated where it may have acted, so that nothing is left on its way after an answer.
        _ = try await change(.unregisterMerchant, settings.endpoint.unregister, body)
    }

    package func details(
        of partner: PartnerInternalMerchantIdentifier
    ) async throws(GatewayError) -> GatewayDetails? {
        try await answer(.getDetails, settings.endpoint.details(of: partner), nil).answer.details(of: partner.rawValue)
    }

    package var circuitHealth: GatewayHealth { state.withLock { $0.circuit.health } }

    /// What is known of the circuit comes first: it is what an operator can do nothing about.
    package var health: GatewayHealth {
        let health = circuitHealth
        guard health == .available else { return health }
        do throws(IdentityError) {
            _ = try identities.identity(at: clock.now)
            return .available
        } catch {
            return .notConfigured(error.description)
        }
    }
}

// One call, its repeats and their bounds.
extension AppleGateway {
    /// - Returns: how many tries before the one that Apple said yes to it may have acted on, or may yet.
    private func change(
        _ operation: GatewayOperation, _ url: URL?, _ body: Data
    ) async throws(GatewayError) -> Int {
        let (answer, earlier) = try await answer(operation, url, body)
        do throws(GatewayError) {
            try answer.requireDone()
        } catch { throw error.following(uncertainTries: earlier) }
        return earlier
    }

    /// - Returns: an answer below 500, of which the operation says whether it is an error, and how many tries before it
    ///   Apple may have acted on.
    private func answer(
        _ operation: GatewayOperation, _ url: URL?, _ body: Data?
    ) async throws(GatewayError) -> (answer: GatewayAnswer, uncertainTries: Int) {
        guard let url else { throw Self.error("the URL cannot be made") }
        var request = URLRequest(url: url)
        request.httpMethod = body == nil ? "GET" : "POST"
        request.httpBody = body
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue(settings.userAgent, forHTTPHeaderField: "User-Agent")
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }

        // Who settles a call whose answer was lost relies on its being over by then, repeats included.
        let end = clock.now.adding(RegistrationCall.longest)
        func left() -> Duration { .milliseconds(end.millisecondsSince1970 - clock.now.millisecondsSince1970) }
        var attempt = 0
        var uncertain = 0
        while true {
            attempt += 1
            let failure: GatewayError
            do throws(GatewayError) {
                try await waitForPause()
                request.timeoutInterval = max(1, min(settings.answerTimeout, left()) / .seconds(1))
                return (try await exchange(operation, request), uncertain)
            } catch { failure = error.following(uncertainTries: uncertain) }
            uncertain = failure.uncertainTries
            guard failure.isTransient, operation.isRepeatable || !failure.mayHaveActed,
                let delay = settings.retries.delay(
                    after: attempt, retryAfter: failure.retryAfter, chance: .random(in: 0...1)),
                left() - delay >= Self.shortestTry
            else { throw failure }
            logger.info(
                "asking Apple again",
                metadata: ["operation": "\(operation)", "attempt": "\(attempt)", "after": "\(failure)"])
            // Given up while waiting: what is known is how the last try ended.
            do { try await sleep(delay) } catch { throw failure }
        }
    }

    /// One exchange, told to the circuit.
    private func exchange(
        _ operation: GatewayOperation, _ request: URLRequest
    ) async throws(GatewayError) -> GatewayAnswer {
        let identity = try await identity()
        try admit()
        let data: Data
        let response: HTTPURLResponse
        do {
            (data, response) = try await transport.data(for: request, identity: identity)
        } catch {
            let failure = GatewayError(error, of: operation, at: settings.endpoint.url, with: identity)
            let now = clock.now
            var wasGivenUp = false
            if case .cancelled = error { wasGivenUp = true }
            state.withLock { state in
                // What is wrong on our side, or between us, says nothing of Apple's health.
                if failure.isTransient, !wasGivenUp {
                    state.circuit.failed(failure, at: now)
                } else {
                    state.circuit.undecided(at: now)
                }
            }
            throw failure
        }
        let answer = GatewayAnswer(operation, response, data, to: identity)
        return try note(answer)
    }

    private func note(_ answer: GatewayAnswer) throws(GatewayError) -> GatewayAnswer {
        let now = clock.now
        guard answer.status == 429 || answer.status >= 500 else {
            state.withLock { $0.circuit.succeeded() }
            return answer
        }
        let failure: GatewayError
        do throws(GatewayError) {
            try answer.requireDone()
            return answer
        } catch { failure = error }
        state.withLock { state in
            if answer.status == 429 {
                state.circuit.succeeded()
                let until = now.adding(.seconds(answer.retryAfter ?? 1))
                state.pausedUntil = max(until, state.pausedUntil ?? until)
            } else {
                state.circuit.failed(failure, at: now)
            }
        }
        throw failure
    }

    /// Looked for on a thread that may wait: it is in files, or in a store whose readers may all be busy.
    private func identity() async throws(GatewayError) -> ClientIdentity {
        let now = clock.now
        do {
            return try await NIOThreadPool.singleton.runIfActive { [identities] in try identities.identity(at: now) }
        } catch {
            throw GatewayError(.identityUnusable, "\(error)", mayHaveActed: false)
        }
    }

    private func admit() throws(GatewayError) {
        let now = clock.now
        let refusal = state.withLock { state -> GatewayError? in
            do throws(GatewayError) {
                try state.circuit.admit(at: now)
                return nil
            } catch { return error }
        }
        if let refusal { throw refusal }
    }

    /// Waits as long as Apple asked every caller to wait, if that is bearable.
    private func waitForPause() async throws(GatewayError) {
        while let until = state.withLock({ $0.pausedUntil }) {
            let left = until.millisecondsSince1970 - clock.now.millisecondsSince1970
            guard left > 0 else {
                return state.withLock { if $0.pausedUntil == until { $0.pausedUntil = nil } }
            }
            let limited = GatewayError(
                .rateLimited, "Apple asked for a pause of \((left + 999) / 1000) s more", status: nil,
                retryAfter: Int((left + 999) / 1000), mayHaveActed: false)
            guard .milliseconds(left) <= settings.retries.longestRetryAfter else { throw limited }
            // A little more for some, so that those who waited do not come all at once.
            do { try await sleep(.milliseconds(left + .random(in: 0...250))) } catch { throw limited }
        }
    }

    private static func body(_ document: some Encodable) throws(GatewayError) -> Data {
        do { return try GatewayJSON.encode(document) } catch {
            throw Self.error("the request cannot be written as JSON")
        }
    }

    private static func error(_ detail: String) -> GatewayError {
        GatewayError(.refused, detail, mayHaveActed: false)
    }
}
