import Foundation
import FoundationNetworking
import Logging
import MerchantCore
import NIOPosix
import OutboundHTTP
import Synchronization
import Vocabulary

// How one call is sent, how often it is repeated, and how much time it has.
extension AppleGateway {
    /// A call is repeated only if at least this much of its time limit is left after the pause.
    private static let shortestAttempt = Duration.seconds(5)

    /// - Returns: the response, and the number of earlier attempts on which Apple may have acted. The response's status
    ///   is below 500 and not 429, but may still be an error such as 400.
    func call(
        _ operation: GatewayOperation, _ url: URL?, _ body: Data?
    ) async throws(GatewayError) -> (response: GatewayResponse, uncertainAttempts: Int) {
        guard let url else { throw GatewayError(.refused, "the URL is invalid", mayHaveActed: false) }
        var request = request(url, body)
        // If no response arrives, the daemon later asks Apple what happened. The daemon relies on this limit to know
        // when no attempt is running any more.
        let end = clock.now.adding(RegistrationCall.timeLimit)
        var attempt = 0
        var uncertainAttempts = 0
        while true {
            attempt += 1
            let failure: GatewayError
            do throws(GatewayError) {
                try await waitForRequestedPause()
                let timeout = min(settings.responseTimeout, clock.now.duration(to: end))
                request.timeoutInterval = max(1, timeout / .seconds(1))
                return (try await send(request, operation), uncertainAttempts)
            } catch { failure = error.adding(uncertainAttempts: uncertainAttempts) }
            uncertainAttempts = failure.uncertainAttempts
            guard failure.isTransient, operation.isRepeatable || !failure.mayHaveActed,
                let pause = settings.retries.pause(
                    after: attempt, retryAfter: failure.retryAfter.map { .seconds($0) }, chance: .random(in: 0...1)),
                clock.now.duration(to: end) - pause >= Self.shortestAttempt
            else { throw failure }
            logger.info(
                "repeating a call to Apple",
                metadata: ["operation": "\(operation)", "attempt": "\(attempt)", "after": "\(failure)"])
            // If the caller cancels during the pause, the caller gets the last attempt's error.
            do { try await sleep(pause) } catch { throw failure }
        }
    }

    private func request(_ url: URL, _ body: Data?) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = body == nil ? "GET" : "POST"
        request.httpBody = body
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue(settings.userAgent, forHTTPHeaderField: "User-Agent")
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        return request
    }

    /// Makes one attempt and counts it.
    private func send(
        _ request: URLRequest, _ operation: GatewayOperation
    ) async throws(GatewayError) -> GatewayResponse {
        let start = ContinuousClock.now
        do throws(GatewayError) {
            let response = try await attempt(request, operation)
            metrics.count(operation, response.reportedFailure, after: ContinuousClock.now - start)
            return response
        } catch {
            metrics.count(operation, error, after: ContinuousClock.now - start)
            throw error
        }
    }

    /// Makes one attempt, and reports its result to the circuit breaker.
    private func attempt(
        _ request: URLRequest, _ operation: GatewayOperation
    ) async throws(GatewayError) -> GatewayResponse {
        let identity = try await identity()
        try admit()
        let (data, response): (Data, HTTPURLResponse)
        do throws(OutboundFailure) {
            (data, response) = try await session.data(for: request, identity: identity)
        } catch let failure {
            let error = GatewayError(failure, of: operation, at: settings.endpoint.url, with: identity)
            record(failure, error)
            throw error
        }
        return try record(GatewayResponse(operation, response, data, for: identity, at: clock.now))
    }

    /// Reports an attempt without a response to the circuit breaker.
    private func record(_ failure: OutboundFailure, _ error: GatewayError) {
        let now = clock.now
        var isCancelled = false
        if case .cancelled = failure { isCancelled = true }
        state.withLock { state in
            // A cancelled call, or an error that does not pass by itself, such as a wrong setting, says nothing about
            // Apple's health.
            guard error.isTransient, !isCancelled else { return state.circuit.abandoned(at: now) }
            state.lastError = error.description
            state.circuit.failed(at: now)
        }
    }

    /// Reports the response of an attempt to the circuit breaker, and returns the response.
    ///
    /// - Throws: the error of a response with status 429 or 5xx.
    private func record(_ response: GatewayResponse) throws(GatewayError) -> GatewayResponse {
        let now = clock.now
        guard response.status == 429 || response.status >= 500 else {
            state.withLock { $0.circuit.succeeded() }
            return response
        }
        let failure: GatewayError
        do throws(GatewayError) {
            // Throws, because the status is not 200.
            try response.requireSuccess()
            return response
        } catch { failure = error }
        state.withLock { state in
            if response.status == 429 {
                // Apple works, so the circuit closes. The pause that Apple asks for applies to every call.
                state.circuit.succeeded()
                let until = now.adding(response.retryAfter ?? .seconds(1))
                state.pausedUntil = max(until, state.pausedUntil ?? until)
            } else {
                state.lastError = failure.description
                state.circuit.failed(at: now)
            }
        }
        throw failure
    }

    /// Reads the identity on a thread pool, because reading a file, or waiting for a free database connection, may
    /// block.
    private func identity() async throws(GatewayError) -> ClientIdentity {
        let now = clock.now
        do {
            return try await NIOThreadPool.singleton.runIfActive { [identities] in try identities.identity(at: now) }
        } catch {
            throw GatewayError(.identityUnusable, "\(error)", mayHaveActed: false)
        }
    }

    /// Asks the circuit breaker whether the call may be made.
    ///
    /// - Throws: `circuitOpen` if not.
    private func admit() throws(GatewayError) {
        let now = clock.now
        let (admission, lastError) = state.withLock { ($0.circuit.admit(at: now), $0.lastError) }
        let pause: Duration
        switch admission {
        case .admitted: return
        // The probe will soon show whether Apple works again.
        case .probing: pause = .seconds(1)
        case .refused(let duration): pause = duration
        }
        let seconds = pause.roundedUpSeconds
        throw GatewayError(
            .circuitOpen,
            "Apple failed repeatedly, so no call is made for another \(seconds) s; the last error was: \(lastError)",
            retryAfter: seconds, mayHaveActed: false)
    }

    /// Waits until the pause that Apple asked for is over. Throws at once if the pause is longer than the retry policy
    /// allows.
    private func waitForRequestedPause() async throws(GatewayError) {
        while let until = state.withLock({ $0.pausedUntil }) {
            let remaining = clock.now.duration(to: until)
            guard remaining > .zero else {
                // Another call may have set a later pause meanwhile, which must stay.
                return state.withLock { if $0.pausedUntil == until { $0.pausedUntil = nil } }
            }
            let rateLimited = GatewayError(
                .rateLimited, "Apple asked for a pause, which lasts another \(remaining.roundedUpSeconds) s",
                status: nil, retryAfter: remaining.roundedUpSeconds, mayHaveActed: false)
            guard remaining <= settings.retries.longestRetryAfter else { throw rateLimited }
            // A random addition, so that waiting callers do not all send their requests at the same time.
            do { try await sleep(remaining + .milliseconds(.random(in: 0...250))) } catch { throw rateLimited }
        }
    }
}
