package import MerchantCore
import Synchronization
package import Vocabulary

/// A gateway in memory: keeps registrations, and fails as a test prescribes.
///
/// Stricter than Apple documents: it refuses a registration that changes nothing, and the removal of a domain that is
/// not registered.
package final class ScriptedGateway: RegistrationGateway {
    package enum Call: Hashable, Sendable {
        case register(GatewayRegistration)
        case unregister(PartnerInternalMerchantIdentifier, [DomainName], reason: String)
        case details(PartnerInternalMerchantIdentifier)
    }

    /// How a call fails. With the faults whose names end in `AfterActing`, the gateway first carries out the call.
    package enum Fault: Sendable, CaseIterable {
        case refused, unauthorized, platformNotRegistered, rateLimited, unreachable, serverUntrusted, identityUnusable
        case circuitOpen
        case failedBeforeActing, failedAfterActing, malformedAfterActing
        /// One attempt acted and got no response, the next was refused.
        case unauthorizedAfterActing
        case resetBeforeActing, resetAfterActing
        /// No response is received, and Apple acts later: see ``ScriptedGateway/deliverLateCalls()``.
        case actsLate
        /// An attempt of a registration gets no response and acts late, the next one succeeds. Other calls have one attempt.
        case answeredAgain

        var acts: Bool {
            [.failedAfterActing, .malformedAfterActing, .resetAfterActing, .unauthorizedAfterActing].contains(self)
        }

        func error(_ detail: String = "prescribed failure") -> GatewayError {
            switch self {
            case .refused:
                GatewayError(.refused, detail, status: 400, correlationIdentifier: "c-1", mayHaveActed: false)
            case .unauthorized: GatewayError(.unauthorized, detail, status: 401, mayHaveActed: false)
            case .unauthorizedAfterActing: GatewayError(.unauthorized, detail, status: 401, mayHaveActed: true)
            case .platformNotRegistered: GatewayError(.platformNotRegistered, detail, status: 417, mayHaveActed: false)
            case .rateLimited: GatewayError(.rateLimited, detail, status: 429, retryAfter: 7, mayHaveActed: false)
            case .unreachable: GatewayError(.unreachable, detail, mayHaveActed: false)
            case .serverUntrusted: GatewayError(.serverUntrusted, detail, mayHaveActed: false)
            case .identityUnusable: GatewayError(.identityUnusable, detail, mayHaveActed: false)
            case .circuitOpen: GatewayError(.circuitOpen, detail, retryAfter: 3, mayHaveActed: false)
            case .failedBeforeActing, .failedAfterActing:
                GatewayError(.failedAtApple, detail, status: 500, mayHaveActed: true)
            case .malformedAfterActing: GatewayError(.unexpectedResponse, detail, status: 200, mayHaveActed: true)
            case .resetBeforeActing, .resetAfterActing, .actsLate, .answeredAgain:
                GatewayError(.responseNotReceived, detail, mayHaveActed: true)
            }
        }
    }

    package struct Record: Hashable, Sendable {
        package var name: String
        package var encryptTo: MerchantIdentifier
        package var domains: Set<DomainName>

        package init(name: String, encryptTo: MerchantIdentifier, domains: Set<DomainName>) {
            self.name = name
            self.encryptTo = encryptTo
            self.domains = domains
        }
    }

    private struct State {
        var records: [PartnerInternalMerchantIdentifier: Record] = [:]
        var calls: [Call] = []
        var late: [Call] = []
        var running = 0
        var mostRunning = 0
        var health = GatewayHealth.available
    }

    private let state = Mutex(State())
    private let fault: @Sendable (Call) -> Fault?
    private let delay: Duration

    /// - Parameters:
    ///   - delay: the duration of each call.
    ///   - fault: returns the fault of each call; nil if the call does not fail.
    package init(delay: Duration = .zero, fault: @escaping @Sendable (Call) -> Fault? = { _ in nil }) {
        self.delay = delay
        self.fault = fault
    }

    /// Apple's record. A test may change it without a call.
    package var records: [PartnerInternalMerchantIdentifier: Record] {
        get { state.withLock { $0.records } }
        set { state.withLock { $0.records = newValue } }
    }

    package var calls: [Call] { state.withLock { $0.calls } }
    /// The calls without those for details.
    package var changes: [Call] {
        calls.filter { if case .details = $0 { false } else { true } }
    }
    /// The largest number of calls that ran at the same time.
    package var mostRunning: Int { state.withLock { $0.mostRunning } }
    package func forgetCalls() { state.withLock { $0.calls = [] } }

    package var health: GatewayHealth {
        get { state.withLock { $0.health } }
        set { state.withLock { $0.health = newValue } }
    }

    /// Delivers the calls that act late.
    package func deliverLateCalls() {
        state.withLock { state in
            for call in state.late { _ = Self.act(call, &state.records) }
            state.late = []
        }
    }

    package func register(_ request: GatewayRegistration) async throws(GatewayError) -> GatewayReceipt {
        GatewayReceipt(anotherAttemptMayArrive: try await run(.register(request)).anotherAttemptMayArrive)
    }

    package func unregister(
        _ partner: PartnerInternalMerchantIdentifier, domainNames: [DomainName], reason: String
    ) async throws(GatewayError) {
        _ = try await run(.unregister(partner, domainNames, reason: reason))
    }

    package func details(
        of partner: PartnerInternalMerchantIdentifier
    ) async throws(GatewayError) -> GatewayDetails? {
        guard let record = try await run(.details(partner)).record else { return nil }
        return GatewayDetails(
            partnerInternalMerchantIdentifier: partner.rawValue, partnerMerchantName: record.name,
            domainNames: record.domains.map(\.rawValue).shuffled(),
            encryptTo: MerchantIdentifierHash(of: record.encryptTo).hex.uppercased())
    }

    private func run(_ call: Call) async throws(GatewayError) -> (record: Record?, anotherAttemptMayArrive: Bool) {
        state.withLock { state in
            state.calls.append(call)
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
        }
        defer { state.withLock { $0.running -= 1 } }
        if delay > .zero { try? await Task.sleep(for: delay) }
        let fault = fault(call)
        var isAgain = false
        if case .register = call { isAgain = fault == .answeredAgain }
        let outcome: Result<Record?, GatewayError> = state.withLock { state in
            if fault == .actsLate { state.late.append(call) }
            guard let fault, fault != .answeredAgain else {
                let outcome = Self.act(call, &state.records)
                if isAgain { state.late.append(call) }
                return outcome
            }
            // Apple's refusals apply also to calls whose response is not received.
            if fault.acts { _ = Self.act(call, &state.records) }
            return .failure(fault.error())
        }
        return (try outcome.get(), isAgain)
    }

    private static func act(
        _ call: Call, _ records: inout [PartnerInternalMerchantIdentifier: Record]
    ) -> Result<Record?, GatewayError> {
        switch call {
        case .details(let partner): return .success(records[partner])
        case .register(let request):
            let partner = request.partnerInternalMerchantIdentifier
            var record = records[partner] ?? Record(name: "", encryptTo: request.encryptTo, domains: [])
            let isRepeat =
                record.domains.isSuperset(of: request.domainNames) && record.name == request.partnerMerchantName
                && record.encryptTo == request.encryptTo
            guard !isRepeat else { return .failure(Fault.refused.error("already registered")) }
            record.domains.formUnion(request.domainNames)
            guard record.domains.count <= 99 else { return .failure(Fault.refused.error("more than 99 domains")) }
            record.name = request.partnerMerchantName
            record.encryptTo = request.encryptTo
            records[partner] = record
            return .success(nil)
        case .unregister(let partner, let domainNames, _):
            guard var record = records[partner] else { return .failure(Fault.refused.error("not registered")) }
            guard record.domains.isSuperset(of: domainNames) else {
                return .failure(Fault.refused.error("a domain is not registered"))
            }
            record.domains.subtract(domainNames)
            records[partner] = record.domains.isEmpty ? nil : record
            return .success(nil)
        }
    }
}
