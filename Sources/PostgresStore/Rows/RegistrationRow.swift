import MerchantCore
import Vocabulary

/// Converts a registration to and from its rows in `registrations` and `registration_domains`.
enum RegistrationRow {
    static let columns =
        "id, partner_internal_merchant_identifier, partner_merchant_name, encrypt_to, merchant_url, merchant_identifier, created_at, changed_at, learned_at, known_name, known_encrypt_to"

    /// A domain of a registration.
    struct Domain {
        let name: String
        /// Whether the domain should be registered.
        let isDesired: Bool
        /// Whether Apple had the domain when the daemon last read Apple's state.
        let isKnown: Bool

        init(_ row: Row) throws {
            name = try row.text("domain_name")
            isDesired = try row.flag("is_desired")
            isKnown = try row.flag("is_known")
        }
    }

    /// - Parameter domains: the rows of the registration in `registration_domains`.
    static func registration(_ row: Row, _ domains: [Domain]) throws -> Registration {
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

    static let insertion = """
        INSERT INTO registrations (partner_internal_merchant_identifier, partner_merchant_name, encrypt_to, merchant_url,
            merchant_identifier, changed_at, learned_at, known_name, known_encrypt_to, drifts, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        """

    static let update = """
        UPDATE registrations SET partner_merchant_name = $1, encrypt_to = $2, merchant_url = $3, merchant_identifier = $4,
            changed_at = $5, learned_at = $6, known_name = $7, known_encrypt_to = $8, drifts = $9
        WHERE id = $10
        """

    /// The values of the columns that can change, in the order of ``insertion`` and ``update``. (`drifts` is the number
    /// of differences between Apple's record and what should be registered.)
    static func values(_ registration: Registration) -> Arguments {
        let (desired, appleRecord) = (registration.desired, registration.appleRecord)
        return [
            desired.partnerMerchantName, desired.encryptTo.rawValue, desired.merchantUrl,
            registration.merchantIdentifier?.rawValue, registration.changedAt.millisecondsSince1970,
            appleRecord?.learnedAt.millisecondsSince1970, appleRecord?.details?.partnerMerchantName,
            appleRecord?.details?.encryptToHash, registration.drift.count,
        ]
    }
}

/// Converts a call to Apple to and from its row in `registration_calls`.
enum RegistrationCallRow {
    static let columns = """
        registration_calls.id AS number, partner_internal_merchant_identifier, kind, domain_names,
        registration_calls.partner_merchant_name, registration_calls.encrypt_to, registration_calls.merchant_url,
        registration_calls.merchant_identifier, reason, request_id, opened_at
        """

    static func call(_ row: Row) throws -> RegistrationCall {
        let domainNames = Set(
            try row.text("domain_names").split(separator: "\n").map { try row.domainName(String($0)) })
        // Only unregistrations have a reason; the schema enforces this.
        let content: RegistrationCall.Content =
            switch try row.textIfAny("reason") {
            case let reason?: .unregister(domainNames, reason: reason)
            case nil:
                .register(
                    DesiredRegistration(
                        partnerMerchantName: try row.text("partner_merchant_name"), domainNames: domainNames,
                        encryptTo: try row.merchantIdentifier("encrypt_to"),
                        merchantUrl: try row.textIfAny("merchant_url")),
                    merchant: try row.merchantIdentifierIfAny())
            }
        return RegistrationCall(
            number: try row.integer("number"), partnerInternalMerchantIdentifier: try row.partner(), content: content,
            requestId: try row.text("request_id"), openedAt: try row.timestamp("opened_at"))
    }

    static let insertion = """
        INSERT INTO registration_calls (registration_id, kind, domain_names, partner_merchant_name, encrypt_to,
            merchant_url, merchant_identifier, reason, request_id, opened_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        """

    static func values(
        _ content: RegistrationCall.Content, registrationRow rowId: Int64, requestId: String, at time: Timestamp
    ) -> Arguments {
        let names = content.domainNames.sorted().map(\.rawValue).joined(separator: "\n")
        return switch content {
        case .register(let desired, let merchant):
            [
                rowId, "register", names, desired.partnerMerchantName, desired.encryptTo.rawValue,
                desired.merchantUrl, merchant?.rawValue, nil, requestId, time.millisecondsSince1970,
            ]
        case .unregister(_, let reason):
            [
                rowId, "unregister", names, nil, nil, nil, nil, reason, requestId,
                time.millisecondsSince1970,
            ]
        }
    }
}
