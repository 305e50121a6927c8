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
        let found = try await operations.registrations.registrations(after: cursor, limit: limit + 1)
        return try Answer(
            Page(found, limit: limit, document: RegistrationDocument.init) {
                $0.registration.partnerInternalMerchantIdentifier.rawValue
            })
    }

    func register(_ call: AdminCall) async throws -> Answer {
        let body = try call.read(RegisterRequest.self)
        let partner = try PartnerInternalMerchantIdentifier(
            body.partnerInternalMerchantIdentifier, named: "partnerInternalMerchantIdentifier")
        let view = try await operations.registrations.register(
            RegistrationOrder(
                partnerInternalMerchantIdentifier: partner, partnerMerchantName: body.partnerMerchantName,
                domainNames: try Self.domainNames(body.domainNames),
                encryptTo: try Self.merchant(body.encryptTo, "encryptTo"), merchantUrl: body.merchantUrl,
                merchantIdentifier: try Self.merchant(body.merchantIdentifier, "merchantIdentifier")),
            for: call.creatingRequest(Paths.registrations))
        return try Answer(created: RegistrationDocument(view), at: Paths.registration(partner))
            .about(merchant: view.registration.merchantIdentifier)
    }

    func registration(_ call: AdminCall, _ partner: PartnerInternalMerchantIdentifier) async throws -> Answer {
        let view = try await operations.registrations.registration(
            partner, refresh: try call.flag("refresh"), for: call.request)
        return try Answer(RegistrationDocument(view)).about(merchant: view.registration.merchantIdentifier)
    }

    func unregister(_ call: AdminCall, _ partner: PartnerInternalMerchantIdentifier) async throws -> Answer {
        let dryRun = try call.dryRun()
        let body = try call.read(UnregisterRequest.self)
        let withdrawal = try await operations.registrations.unregister(
            partner, domainNames: try body.domainNames.map(Self.domainNames), reason: body.reason, dryRun: dryRun,
            for: call.request)
        return try Answer(WithdrawalDocument(withdrawal))
            .about(merchant: withdrawal.view.registration.merchantIdentifier, dryRun: dryRun)
    }

    func syncRegistrations(_ call: AdminCall) async throws -> Answer {
        let body = try call.read(orEmpty: SyncRequest(repair: nil, limit: nil, cursor: nil))
        let limit = body.limit ?? Page<RegistrationDocument>.defaultLimit
        guard (1...Page<RegistrationDocument>.largestLimit).contains(limit) else {
            throw MerchantError(
                .malformed, "'limit' is \(limit), expected 1 to \(Page<RegistrationDocument>.largestLimit)")
        }
        let cursor = try body.cursor.map { text throws(MerchantError) in
            try PartnerInternalMerchantIdentifier(text, named: "cursor")
        }
        let repair = body.repair ?? false
        let report = try await operations.registrationSync.sync(
            after: cursor, limit: limit, repair: repair, for: call.request)
        return try Answer(SyncDocument(report)).about(dryRun: !repair)
    }

    private static func domainNames(_ texts: [String]) throws(MerchantError) -> [DomainName] {
        // Bounds first: a thousand names cost nothing then.
        guard texts.count <= Registration.mostDomains else {
            throw MerchantError(
                .tooManyDomains,
                "'domainNames' has \(texts.count) names, expected at most \(Registration.mostDomains)")
        }
        return try texts.map { text throws(MerchantError) in try DomainName(text, named: "domainNames") }
    }

    private static func merchant(_ text: String?, _ field: String) throws(MerchantError) -> MerchantIdentifier? {
        try text.map { text throws(MerchantError) in try MerchantIdentifier(text, named: field) }
    }
}
