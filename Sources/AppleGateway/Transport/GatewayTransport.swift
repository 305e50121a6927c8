import Foundation
import Logging
import MerchantCore
import NIOPosix
import OutboundHTTP
import Vocabulary

/// Sends calls to Apple over mutual TLS: finds the identity, asks the circuit breaker, repeats attempts that may be
/// repeated, counts them, and turns failures into ``GatewayError``.
///
/// A lane is one of Apple's hosts and a group of its operations: see ``GatewayLane``. After 10 consecutive failures of
/// a lane, its circuit breaker refuses calls: sessions for 5 to 30 seconds, other calls for 30 seconds to 5 minutes. If
/// Apple asks for a pause (status 429, `Retry-After`), every call with the same identity in the same lane waits, or
/// fails if the pause is longer than the retry policy or the call's time limit allows.
final class GatewayTransport: Sendable {
    let lanes = GatewayLanes()
    let metrics = GatewayMetrics()
    let clock: any WallClock
    let identities: any IdentitySource
    private let userAgent: String
    private let client: OutboundClient
    /// Sends every request except requests for merchant sessions.
    private let urlSession: GatewaySession
    private let logger: Logger
    private let sleep: AppleGateway.Sleep

    /// - Parameter client: the HTTP client, which ``shutdown()`` shuts down.
    init(
        userAgent: String, client: OutboundClient, identities: any IdentitySource, clock: any WallClock, logger: Logger,
        sleep: @escaping AppleGateway.Sleep
    ) {
        self.userAgent = userAgent
        self.client = client
        urlSession = GatewaySession(client: client)
        self.identities = identities
        self.clock = clock
        self.logger = logger
        self.sleep = sleep
    }

    func shutdown() async { await client.shutdown() }

    /// - Parameter read: reads the response of an attempt. It throws the error that the response reports.
    /// - Returns: the value that `read` returned, and the number of earlier attempts on which Apple may have acted.
    func call<Value: Sendable>(
        _ call: GatewayCall, read: (GatewayResponse) throws(GatewayError) -> Value
    ) async throws(GatewayError) -> (value: Value, uncertainAttempts: Int) {
        guard let url = call.url else { throw GatewayError(.refused, "the URL is invalid", mayHaveActed: false) }
        let request = request(call, url)
        let lane = GatewayLane(url, call.operation.api)
        // No attempt runs after `end`. If no response is received, the daemon later asks Apple whether the call had an
        // effect. An attempt that was still running then would make Apple's answer wrong.
        let end = clock.now.adding(call.limits.call)
        var attempt = 0
        var uncertainAttempts = 0
        while true {
            attempt += 1
            let failure: GatewayError
            do throws(GatewayError) {
                try await waitForRequestedPause(lane, call, until: end)
                let timeout = min(call.limits.attempt, clock.now.duration(to: end))
                return (try await send(request, call, lane, within: timeout, read), uncertainAttempts)
            } catch { failure = error.adding(uncertainAttempts: uncertainAttempts) }
            uncertainAttempts = failure.uncertainAttempts
            guard call.operation.mayBeRepeated(after: failure),
                let pause = call.limits.retries.pause(
                    after: attempt, retryAfter: failure.retryAfter.map { .seconds($0) }, jitter: .random(in: 0...1)),
                clock.now.duration(to: end) - pause >= call.limits.shortestAttempt
            else { throw failure }
            logger.info(
                "repeating a call to Apple",
                metadata: ["operation": "\(call.operation)", "attempt": "\(attempt)", "after": "\(failure)"])
            // If the caller cancels during the pause, the caller gets the last attempt's error.
            do { try await sleep(pause) } catch { throw failure }
        }
    }

    private func request(_ call: GatewayCall, _ url: URL) -> OutboundRequest {
        var headers = [(name: "Accept", value: "application/json"), ("User-Agent", userAgent)] + call.headers
        if call.body != nil { headers.append(("Content-Type", "application/json")) }
        return OutboundRequest(
            url: url, method: call.body == nil ? "GET" : "POST", headers: headers, body: call.body.map { Array($0) })
    }

    /// Makes one attempt and counts it.
    private func send<Value: Sendable>(
        _ request: OutboundRequest, _ call: GatewayCall, _ lane: GatewayLane, within timeout: Duration,
        _ read: (GatewayResponse) throws(GatewayError) -> Value
    ) async throws(GatewayError) -> Value {
        let start = ContinuousClock.now
        do throws(GatewayError) {
            let value = try read(try await attempt(request, call, lane, within: timeout))
            metrics.count(call.operation, nil, after: ContinuousClock.now - start)
            return value
        } catch {
            metrics.count(call.operation, error, after: ContinuousClock.now - start)
            throw error
        }
    }

    /// Makes one attempt, and reports its result to the circuit breaker.
    private func attempt(
        _ request: OutboundRequest, _ call: GatewayCall, _ lane: GatewayLane, within timeout: Duration
    ) async throws(GatewayError) -> GatewayResponse {
        let identity = try await identity(of: call.owner)
        guard timeout > .zero else {
            throw GatewayError(.unreachable, "the time limit of the call is over", mayHaveActed: false)
        }
        try lanes.admit(lane, at: clock.now)
        let received: OutboundResponse
        do throws(OutboundFailure) {
            received = try await exchange(request, TLSIdentity(identity), call.operation.api, within: timeout)
        } catch let failure {
            let error = GatewayError(failure, of: call.operation, at: request.url, with: identity)
            record(failure, error, lane)
            throw error
        }
        return try record(
            GatewayResponse(call.operation, received, for: identity, at: clock.now), lane, owner: call.owner)
    }

    /// Requests for merchant sessions go through `OutboundClient`, because a buyer waits for the response and
    /// `URLSession` is slower. See ADR 8.
    private func exchange(
        _ request: OutboundRequest, _ identity: TLSIdentity, _ api: GatewayAPI, within timeout: Duration
    ) async throws(OutboundFailure) -> OutboundResponse {
        api == .sessions
            ? try await client.send(request, identity: identity, within: timeout)
            : try await urlSession.send(request, identity: identity, within: timeout)
    }

    /// Reports an attempt without a response to the circuit breaker.
    private func record(_ failure: OutboundFailure, _ error: GatewayError, _ lane: GatewayLane) {
        var isCancelled = false
        if case .cancelled = failure { isCancelled = true }
        // A cancelled call, or a permanent error such as one caused by a wrong setting, says nothing about Apple's
        // health.
        guard error.isTransient, !isCancelled else { return lanes.abandoned(lane, at: clock.now) }
        lanes.failed(lane, with: error, at: clock.now)
    }

    /// Reports the response of an attempt to the circuit breaker, and returns the response.
    ///
    /// - Throws: the error of a response with status 429 or 5xx.
    private func record(
        _ response: GatewayResponse, _ lane: GatewayLane, owner: IdentityOwner
    ) throws(GatewayError) -> GatewayResponse {
        if response.status == 429 {
            lanes.pause(lane, for: owner, of: response.retryAfter ?? .seconds(1), at: clock.now)
            throw response.failure
        }
        guard response.status >= 500 else {
            lanes.succeeded(lane)
            return response
        }
        lanes.failed(lane, with: response.failure, at: clock.now)
        throw response.failure
    }

    /// Reads the identity on a thread pool, because reading a file, or waiting for a free database connection, may
    /// block.
    private func identity(of owner: IdentityOwner) async throws(GatewayError) -> ClientIdentity {
        let now = clock.now
        if let known = identities.cachedIdentity(of: owner, at: now) { return known }
        do {
            return try await NIOThreadPool.singleton.runIfActive { [identities] in
                try identities.identity(of: owner, at: now)
            }
        } catch {
            throw GatewayError(.identityUnusable, "\(error)", mayHaveActed: false)
        }
    }

    /// Waits until the pause that Apple asked for is over. Throws at once if the pause is longer than the retry policy
    /// or the call's time limit allows.
    private func waitForRequestedPause(
        _ lane: GatewayLane, _ call: GatewayCall, until end: Timestamp
    ) async throws(GatewayError) {
        while let remaining = lanes.remainingPause(lane, for: call.owner, at: clock.now) {
            let rateLimited = GatewayError(
                .rateLimited, "Apple asked for a pause, which lasts another \(remaining.roundedUpSeconds) s",
                status: nil, retryAfter: remaining.roundedUpSeconds, mayHaveActed: false)
            guard remaining <= call.limits.retries.longestRetryAfter, remaining < clock.now.duration(to: end) else {
                throw rateLimited
            }
            // A random addition, so that waiting callers do not all send their requests at the same time.
            do { try await sleep(remaining + .milliseconds(.random(in: 0...250))) } catch { throw rateLimited }
        }
    }
}
