import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AdminHandlers {
    func registrations(_ call: AdminCall) async throws -> Answer {
        let limit = try call.limit()
        let cursor = try call.query["cursor"].map { text throws(MerchantError) in
            try PartnerInternalMerchantIdentifier(text, named: "cursor")
        }
        let found = try await operations.registrations(after: cursor, limit: limit + 1)
        return try Answer(
            Page(found, limit: limit, document: RegistrationDocument.init) {
                $0.registration.partnerInternalMerchantIdentifier.rawValue
            })
    }

    func register(_ call: AdminCall) async throws -> Answer {
        let body = try call.read(RegisterRequest.self)
        let partner = body.partnerInternalMerchantIdentifier
        let view = try await operations.register(
            RegistrationOrder(
                partnerInternalMerchantIdentifier: partner, partnerMerchantName: body.partnerMerchantName,
                domainNames: try Self.domainNames(body.domainNames),
                encryptTo: body.encryptTo, merchantUrl: body.merchantUrl, merchantIdentifier: body.merchantIdentifier),
            for: call.creatingRequest(Paths.registrations))
        return try Answer(created: RegistrationDocument(view), at: Paths.registration(partner))
            .about(merchant: view.registration.merchantIdentifier)
    }

    func registration(_ call: AdminCall, _ partner: PartnerInternalMerchantIdentifier) async throws -> Answer {
        let view = try await operations.registration(
            partner, refresh: try call.flag("refresh"), for: call.request)
        return try Answer(RegistrationDocument(view)).about(merchant: view.registration.merchantIdentifier)
    }

    func unregister(_ call: AdminCall, _ partner: PartnerInternalMerchantIdentifier) async throws -> Answer {
        let dryRun = try call.dryRun()
        let body = try call.read(UnregisterRequest.self)
        let withdrawal = try await operations.unregister(
            partner, domainNames: try body.domainNames.map(Self.domainNames), reason: body.reason, dryRun: dryRun,
            for: call.request)
        return try Answer(WithdrawalDocument(withdrawal))
            .about(merchant: withdrawal.view.registration.merchantIdentifier, dryRun: dryRun)
    }

    func syncRegistrations(_ call: AdminCall) async throws -> Answer {
        let body = try call.read(orEmpty: SyncRequest())
        let limit = body.limit ?? Page<RegistrationDocument>.defaultLimit
        guard (1...Page<RegistrationDocument>.largestLimit).contains(limit) else {
            throw MerchantError(
                .malformed, "'limit' is \(limit), expected 1 to \(Page<RegistrationDocument>.largestLimit)")
        }
        let cursor = try body.cursor.map { text throws(MerchantError) in
            try PartnerInternalMerchantIdentifier(text, named: "cursor")
        }
        let repair = body.repair ?? false
        let report = try await operations.sync(after: cursor, limit: limit, repair: repair, for: call.request)
        return try Answer(SyncDocument(report)).about(dryRun: !repair)
    }

    private static func domainNames(_ names: [DomainName]) throws(MerchantError) -> [DomainName] {
        guard names.count <= Registration.mostDomains else {
            throw MerchantError(
                .tooManyDomains,
                "'domainNames' has \(names.count) names, expected at most \(Registration.mostDomains)")
        }
        return names
    }
}
