package import MerchantCore
import Vocabulary

/// Converts a registration to and from its row in `registrations`, and reads its rows in `registration_domains`.
/// ``RegistrationDomainChanges`` says which of the latter to write.
package enum RegistrationRow {
    package static let columns = """
        id, partner_internal_merchant_identifier, partner_merchant_name, encrypt_to, merchant_url, merchant_identifier,
        created_at, changed_at, learned_at, known_name, known_encrypt_to
        """

    /// - Parameter domains: the rows of the registration in `registration_domains`.
    package static func registration(_ row: some StoredRow, _ domains: [RegistrationDomainRow]) throws -> Registration {
        let desired = DesiredRegistration(
            partnerMerchantName: try row.text("partner_merchant_name"),
            domainNames: Set(try domains.filter(\.isDesired).map { try row.domainName($0.name) }),
            encryptTo: try row.merchantIdentifier("encrypt_to"), merchantUrl: try row.textIfAny("merchant_url"))
        var details: AppleRecord.Details?
        if let name = try row.textIfAny("known_name") {
            details = AppleRecord.Details(
                partnerMerchantName: name, encryptToHash: try row.text("known_encrypt_to"),
                domainNames: Set(domains.filter(\.isKnown).map(\.name)))
        }
        return Registration(
            partnerInternalMerchantIdentifier: try row.partner(), desired: desired,
            merchantIdentifier: try row.merchantIdentifierIfAny(),
            appleRecord: try row.timestampIfAny("learned_at").map { AppleRecord(details: details, learnedAt: $0) },
            createdAt: try row.timestamp("created_at"), changedAt: try row.timestamp("changed_at"))
    }

    package static let insertedColumns = """
        partner_internal_merchant_identifier, partner_merchant_name, encrypt_to, merchant_url, merchant_identifier,
        changed_at, learned_at, known_name, known_encrypt_to, drifts, created_at
        """

    /// The values of ``insertedColumns``.
    package static func insertionValues(_ registration: Registration) -> Arguments {
        [registration.partnerInternalMerchantIdentifier.rawValue] + values(registration) + [registration.createdAt]
    }

    /// The values of the columns that can change, from `partner_merchant_name` to `drifts` in the order of
    /// ``insertedColumns``, and the id. (`drifts` is the number of differences between Apple's record and what should
    /// be registered.)
    package static func updateValues(_ registration: Registration, id: Int64) -> Arguments {
        values(registration) + [id]
    }

    private static func values(_ registration: Registration) -> Arguments {
        let (desired, appleRecord) = (registration.desired, registration.appleRecord)
        return [
            desired.partnerMerchantName, desired.encryptTo.rawValue, desired.merchantUrl,
            registration.merchantIdentifier?.rawValue, registration.changedAt, appleRecord?.learnedAt,
            appleRecord?.details?.partnerMerchantName, appleRecord?.details?.encryptToHash, registration.drift.count,
        ]
    }
}
