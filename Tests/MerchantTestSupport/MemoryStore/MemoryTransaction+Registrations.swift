package import MerchantCore
package import Vocabulary

/// The registrations of ``MemoryRepository``.
struct MemoryRegistrations: Sendable {
    var registrations: [PartnerInternalMerchantIdentifier: Registration] = [:]
    var openCalls: [PartnerInternalMerchantIdentifier: RegistrationCall] = [:]
    /// The closed calls with the outcome `repeated`.
    var repeated: [RegistrationCall] = []
    /// How many calls were ever opened.
    var calls = 0
    var domainFile: DomainFile?
}

extension MemoryTransaction {
    package func registration(_ partner: PartnerInternalMerchantIdentifier) -> Registration? {
        state.apple.registrations[partner]
    }

    package func registrations(
        after cursor: PartnerInternalMerchantIdentifier?, limit: Int, all: Bool
    ) -> [Registration] {
        Array(
            state.apple.registrations.values
                .filter { registration in
                    (all || registration.isShown)
                        && (cursor.map { $0 < registration.partnerInternalMerchantIdentifier } ?? true)
                }
                .sorted { $0.partnerInternalMerchantIdentifier < $1.partnerInternalMerchantIdentifier }.prefix(limit))
    }

    package func registrations(
        of merchant: MerchantIdentifier, after cursor: PartnerInternalMerchantIdentifier?, limit: Int
    ) -> [Registration] {
        let inOrder = state.apple.registrations.values.sorted {
            ($0.createdAt, $0.partnerInternalMerchantIdentifier) < ($1.createdAt, $1.partnerInternalMerchantIdentifier)
        }
        let begin = cursor.flatMap { cursor in
            inOrder.firstIndex { $0.partnerInternalMerchantIdentifier == cursor }.map { $0 + 1 }
        }
        return Array(
            inOrder.dropFirst(begin ?? 0).filter { registration in
                registration.merchantIdentifier == merchant
                    && (registration.isShown || openCall(of: registration.partnerInternalMerchantIdentifier) != nil)
            }.prefix(limit))
    }

    package func registration(naming merchant: MerchantIdentifier) -> PartnerInternalMerchantIdentifier? {
        let named = state.apple.registrations.values.first {
            $0.isShown && ($0.merchantIdentifier == merchant || $0.desired.encryptTo == merchant)
        }
        let called = state.apple.openCalls.values.first { call in
            guard case .register(let wanted, let named) = call.content else { return false }
            return wanted.encryptTo == merchant || named == merchant
        }
        return named?.partnerInternalMerchantIdentifier ?? called?.partnerInternalMerchantIdentifier
    }

    package func openCall(of partner: PartnerInternalMerchantIdentifier) -> RegistrationCall? {
        state.apple.openCalls[partner]
    }

    package func repeatedCalls(
        of partner: PartnerInternalMerchantIdentifier, since time: Timestamp
    ) -> [RegistrationCall] {
        state.apple.repeated.filter { $0.partnerInternalMerchantIdentifier == partner && $0.openedAt > time }
    }

    package func openCalls(after cursor: RegistrationCall?, limit: Int) -> [RegistrationCall] {
        Array(
            state.apple.openCalls.values
                .sorted { $0.partnerInternalMerchantIdentifier < $1.partnerInternalMerchantIdentifier }
                .filter { call in
                    cursor.map { $0.partnerInternalMerchantIdentifier < call.partnerInternalMerchantIdentifier } ?? true
                }.prefix(limit))
    }

    package func platformIntegrators(limit: Int) -> [MerchantIdentifier] {
        Array(
            merchants(after: nil, limit: .max).map(\.identifier).filter(\.isPlatformIntegrator).prefix(limit))
    }

    package func activeIdentityKeyPairs(of merchant: MerchantIdentifier) -> [KeyPair] {
        state.rows.map(\.keyPair).filter {
            $0.merchantIdentifier == merchant && $0.purpose == .identity && $0.state.isActive
        }
    }

    package func domainFile() -> DomainFile? { state.apple.domainFile }

    package func insert(_ registration: Registration) throws {
        let partner = registration.partnerInternalMerchantIdentifier
        guard self.registration(partner) == nil else {
            throw MerchantError(.internalError, "registration \(partner) exists")
        }
        state.apple.registrations[partner] = registration
    }

    package func update(_ registration: Registration) throws {
        let partner = registration.partnerInternalMerchantIdentifier
        guard self.registration(partner) != nil else {
            throw MerchantError.registrationNotFound(partner)
        }
        state.apple.registrations[partner] = registration
    }

    package func open(
        _ content: RegistrationCall.Content, of partner: PartnerInternalMerchantIdentifier, requestId: String,
        at time: Timestamp
    ) throws -> RegistrationCall {
        guard registration(partner) != nil else {
            throw MerchantError.registrationNotFound(partner)
        }
        guard openCall(of: partner) == nil else { throw MerchantError(.registrationConflict, "a call is open") }
        state.apple.calls += 1
        let call = RegistrationCall(
            number: state.apple.calls, partnerInternalMerchantIdentifier: partner, content: content,
            requestId: requestId, openedAt: time)
        state.apple.openCalls[partner] = call
        return call
    }

    package func close(
        _ call: RegistrationCall, _ outcome: RegistrationCall.Outcome, finding: String?, at time: Timestamp
    ) throws {
        guard state.apple.openCalls.removeValue(forKey: call.partnerInternalMerchantIdentifier) != nil else {
            throw MerchantError(.internalError, "call \(call.number) is not open")
        }
        if outcome == .repeated { state.apple.repeated.append(call) }
    }

    package func store(_ file: DomainFile) { state.apple.domainFile = file }

    func countRegistrations(in counts: inout StoreCounts) {
        counts.registrations = state.apple.registrations.values.count { !$0.desired.domainNames.isEmpty }
        counts.registrationsDrifting = state.apple.registrations.values.count { !$0.drift.isEmpty }
        counts.registrationCallsOpen = state.apple.openCalls.count
    }
}
