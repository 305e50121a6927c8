import MerchantCore
import Synchronization
package import Vocabulary

/// Compares registrations with Apple's record, and repairs differences.
package struct RegistrationSync: Sendable {
    private let calls: RegistrationCalls

    package init(calls: RegistrationCalls) { self.calls = calls }

    /// How many registrations one sync compares concurrently: fewer than ``PerMerchantQueue`` permits, so that other
    /// requests need not wait.
    static let syncWidth = PerMerchantQueue.width - 4

    /// Compares at most `limit` registrations after `cursor` with Apple's record. With `repair`, changes Apple's record
    /// to the desired state.
    ///
    /// Merchants that were unregistered are compared too, because a late call may have registered them again.
    ///
    /// A failure that would be the same for every merchant, such as an unreachable gateway, stops the sync. This
    /// method throws the failure if no registration was compared before.
    package func sync(
        after cursor: PartnerInternalMerchantIdentifier?, limit: Int, repair: Bool, for request: Request
    ) async throws -> SyncReport {
        let page = try await calls.records.read { try $0.registrations(after: cursor, limit: limit + 1, all: true) }
            .map(\.partnerInternalMerchantIdentifier)
        let partners = page.prefix(limit)
        let halt = Halt()
        let found = await withTaskGroup(of: (Int, SyncFinding?).self) { group in
            var results = [SyncFinding?](repeating: nil, count: partners.count)
            for (index, partner) in partners.enumerated() {
                if index >= Self.syncWidth, let (completedIndex, finding) = await group.next() {
                    results[completedIndex] = finding
                }
                group.addTask { (index, await compare(partner, repair, unless: halt, for: request)) }
            }
            for await (index, finding) in group { results[index] = finding }
            return results
        }
        // A registration without a finding was not compared. The report ends before the first such registration,
        // so that the next sync starts there.
        let compared = found.prefix { $0 != nil }.compactMap(\.self)
        let halted = halt.reason
        if let halted, compared.isEmpty { throw halted }
        let last = compared.last?.partnerInternalMerchantIdentifier
        return SyncReport(
            repair: repair, compared: compared.count, findings: compared.filter(\.isReported), halted: halted,
            next: halted != nil || page.count > limit ? last : nil)
    }

    /// Holds the first failure that would be the same for every merchant. After such a failure, the sync stops.
    private final class Halt: Sendable {
        private let found = Mutex<MerchantError?>(nil)
        var reason: MerchantError? { found.withLock { $0 } }
        func note(_ reason: MerchantError) { found.withLock { $0 = $0 ?? reason } }
    }

    /// - Returns: nil if the registration was not compared because of a failure that concerns every merchant.
    private func compare(
        _ partner: PartnerInternalMerchantIdentifier, _ repairs: Bool, unless halt: Halt, for request: Request
    ) async -> SyncFinding? {
        guard halt.reason == nil else { return nil }
        let finding: SyncFinding
        do {
            finding = try await calls.run(partner) { try await compareInQueue(partner, repairs, for: request) }
        } catch {
            finding = SyncFinding(
                partnerInternalMerchantIdentifier: partner, drift: [], repaired: nil, remaining: [],
                failure: error as? MerchantError ?? MerchantError(.internalError, "\(error)"))
        }
        guard let failure = finding.failure, failure.concernsEveryMerchant else { return finding }
        halt.note(failure)
        return nil
    }

    /// Compares one registration, and repairs it if `repairs` is true. Called in the body of
    /// ``RegistrationCalls/run(_:_:)``.
    private func compareInQueue(
        _ partner: PartnerInternalMerchantIdentifier, _ repairs: Bool, for request: Request
    ) async throws -> SyncFinding {
        if let call = try await calls.records.read({ try $0.openCall(of: partner) }),
            try await !calls.resolve(call, for: request)
        {
            throw calls.outcomeUnknown(of: call, .registrationConflict)
        }
        guard
            let registration = try await calls.storeAppleRecord(
                try await calls.readAppleRecord(of: partner), of: partner, for: request)
        else {
            throw MerchantError(.internalError, "the registration \(partner) is missing")
        }
        let drift = registration.drift
        guard repairs, !drift.isEmpty else {
            return SyncFinding(
                partnerInternalMerchantIdentifier: partner, drift: drift, repaired: nil, remaining: drift, failure: nil)
        }
        do {
            try await repair(registration, for: request)
            let remaining =
                try await calls.storeAppleRecord(
                    try await calls.readAppleRecord(of: partner), of: partner, for: request)?.drift ?? []
            return SyncFinding(
                partnerInternalMerchantIdentifier: partner, drift: drift, repaired: remaining.isEmpty,
                remaining: remaining, failure: nil)
        } catch let error as MerchantError {
            return SyncFinding(
                partnerInternalMerchantIdentifier: partner, drift: drift, repaired: false, remaining: drift,
                failure: error)
        }
    }

    /// Registers domains that are missing at Apple, and unregisters domains that should not be registered there. Also
    /// sends the desired name and encryptTo if Apple's differ and a domain is desired.
    private func repair(_ registration: Registration, for request: Request) async throws {
        let partner = registration.partnerInternalMerchantIdentifier
        let desired = registration.desired
        let atApple = registration.appleRecord?.details?.domainNames ?? []
        let missing = desired.domainNames.filter { !atApple.contains($0.rawValue) }
        let nameOrEncryptToDiffers = registration.drift.contains { [.otherName, .otherEncryptTo].contains($0.kind) }
        let extra = Set(atApple.compactMap { DomainName(ascii: $0) }).subtracting(desired.domainNames)

        func register() async throws {
            // A call must contain domains, even if it changes only the name or encryptTo. So if one of these differs
            // and no domain is missing, send all domains again.
            let sending = !missing.isEmpty ? missing : nameOrEncryptToDiffers ? desired.domainNames : []
            guard !sending.isEmpty else { return }
            _ = try await calls.perform(
                .register(desired, merchant: registration.merchantIdentifier), sending: sending, of: partner,
                for: request)
        }
        func unregister() async throws {
            guard !extra.isEmpty else { return }
            _ = try await calls.perform(
                .unregister(extra, reason: "sync: not registered by the platform"), sending: extra, of: partner,
                for: request)
        }
        // Apple removes a registration together with its last domain. So add the missing domains first, if Apple's
        // limit permits that.
        if atApple.count + missing.count <= Registration.maximumDomains {
            try await register()
            try await unregister()
        } else {
            try await unregister()
            try await register()
        }
    }
}
