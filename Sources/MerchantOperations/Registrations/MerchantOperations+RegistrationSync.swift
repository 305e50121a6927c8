import MerchantCore
import Synchronization
package import Vocabulary

extension MerchantOperations {
    /// How many merchants one stretch of a sync compares at once; less than may ask Apple, so that others get their turn.
    static let syncWidth = PerMerchantQueue.width - 4

    /// Compares merchants with Apple's record, those after `cursor`, at most `limit`; with `repair` mends what differs.
    ///
    /// Withdrawn ones are compared too: Apple may have acted late. Without `repair` nothing changes at Apple; with it
    /// nothing is registered but what is wanted.
    ///
    /// - Throws: why Apple can't be asked, where that is so from the start.
    package func sync(
        after cursor: PartnerInternalMerchantIdentifier?, limit: Int, repair: Bool, for request: Request
    ) async throws -> SyncReport {
        let page = try await repository.read { try $0.registrations(after: cursor, limit: limit + 1, all: true) }
            .map(\.partnerInternalMerchantIdentifier)
        let partners = page.prefix(limit)
        let halt = Halt()
        let found = await withTaskGroup(of: (Int, SyncFinding?).self) { group in
            var results = [SyncFinding?](repeating: nil, count: partners.count)
            for (index, partner) in partners.enumerated() {
                if index >= Self.syncWidth, let (done, finding) = await group.next() { results[done] = finding }
                group.addTask { (index, await self.compare(partner, repair, unless: halt, for: request)) }
            }
            for await (index, finding) in group { results[index] = finding }
            return results
        }
        // What lies behind the first that was not compared is compared again from there.
        let compared = found.prefix { $0 != nil }.compactMap(\.self)
        let halted = halt.reason
        if let halted, compared.isEmpty { throw halted }
        let last = compared.last?.partnerInternalMerchantIdentifier
        return SyncReport(
            repair: repair, compared: compared.count, findings: compared.filter(\.isWorthTelling), halted: halted,
            next: halted != nil || page.count > limit ? last : nil)
    }

    /// Why Apple is asked no further, once that is known.
    private final class Halt: Sendable {
        private let found = Mutex<MerchantError?>(nil)
        var reason: MerchantError? { found.withLock { $0 } }
        func note(_ reason: MerchantError) { found.withLock { $0 = $0 ?? reason } }
    }

    /// - Returns: nil where whatever keeps one merchant from being asked for keeps all.
    private func compare(
        _ partner: PartnerInternalMerchantIdentifier, _ repair: Bool, unless halt: Halt, for request: Request
    ) async -> SyncFinding? {
        guard halt.reason == nil else { return nil }
        let finding: SyncFinding
        do {
            finding = try await turns.run(partner) { try await self.compareInTurn(partner, repair, for: request) }
        } catch {
            finding = SyncFinding(
                partnerInternalMerchantIdentifier: partner, drift: [], mended: nil, remaining: [],
                failure: error as? MerchantError ?? MerchantError(.internalError, "\(error)"))
        }
        guard let failure = finding.failure, failure.concernsEveryMerchant else { return finding }
        halt.note(failure)
        return nil
    }

    private func compareInTurn(
        _ partner: PartnerInternalMerchantIdentifier, _ repair: Bool, for request: Request
    ) async throws -> SyncFinding {
        if let call = try await repository.read({ try $0.openCall(of: partner) }),
            try await !settle(call, for: request)
        {
            throw MerchantError(
                .registrationConflict,
                "nobody knows yet whether Apple did what \(call.title) asked for: ask again later")
        }
        guard let registration = try await learn(try await ask(partner), of: partner, for: request) else {
            throw MerchantError(.internalError, "the registration \(partner) vanished")
        }
        let drift = registration.drift
        guard repair, !drift.isEmpty else {
            return SyncFinding(
                partnerInternalMerchantIdentifier: partner, drift: drift, mended: nil, remaining: drift, failure: nil)
        }
        do {
            try await mend(registration, for: request)
            let remaining = try await learn(try await ask(partner), of: partner, for: request)?.drift ?? []
            return SyncFinding(
                partnerInternalMerchantIdentifier: partner, drift: drift, mended: remaining.isEmpty,
                remaining: remaining, failure: nil)
        } catch let error as MerchantError {
            return SyncFinding(
                partnerInternalMerchantIdentifier: partner, drift: drift, mended: false, remaining: drift,
                failure: error)
        }
    }

    /// Asks Apple for what is wanted, and to remove what is not.
    private func mend(_ registration: Registration, for request: Request) async throws {
        let partner = registration.partnerInternalMerchantIdentifier
        let desired = registration.desired
        let atApple = registration.known?.details?.domainNames ?? []
        let missing = desired.domainNames.filter { !atApple.contains($0.rawValue) }
        let differs = registration.drift.contains { [.otherName, .otherEncryptTo].contains($0.kind) }
        let extra = Set(atApple.compactMap { DomainName(ascii: $0) }).subtracting(desired.domainNames)

        func register() async throws {
            // Another name or encryptTo can only be said along with domains, and missing ones say it as well as any.
            let sending = !missing.isEmpty ? missing : differs ? desired.domainNames : []
            guard !sending.isEmpty else { return }
            _ = try await perform(
                .register(desired, merchant: registration.merchantIdentifier), sending: sending, of: partner,
                for: request)
        }
        func unregister() async throws {
            guard !extra.isEmpty else { return }
            _ = try await perform(
                .unregister(extra, reason: "sync: not registered by the platform"), sending: extra, of: partner,
                for: request)
        }
        // With all its domains gone the registration would be gone, so that new ones come first where there is room.
        if atApple.count + missing.count <= Registration.mostDomains {
            try await register()
            try await unregister()
        } else {
            try await unregister()
            try await register()
        }
    }
}
