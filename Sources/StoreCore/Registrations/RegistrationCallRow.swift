package import MerchantCore
package import Vocabulary

/// Converts a call to Apple to and from its row in `registration_calls`.
package enum RegistrationCallRow {
    package static let columns = """
        registration_calls.id AS number, partner_internal_merchant_identifier, kind, domain_names,
        registration_calls.partner_merchant_name, registration_calls.encrypt_to, registration_calls.merchant_url,
        registration_calls.merchant_identifier, reason, request_id, opened_at
        """

    package static func call(_ row: some StoredRow) throws -> RegistrationCall {
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

    package static let insertedColumns = """
        registration_id, kind, domain_names, partner_merchant_name, encrypt_to, merchant_url, merchant_identifier,
        reason, request_id, opened_at
        """

    /// The values of ``insertedColumns``.
    package static func values(
        _ content: RegistrationCall.Content, registrationRow rowId: Int64, requestId: String, at time: Timestamp
    ) -> Arguments {
        let names = content.domainNames.sorted().map(\.rawValue).joined(separator: "\n")
        return switch content {
        case .register(let desired, let merchant):
            [
                rowId, "register", names, desired.partnerMerchantName, desired.encryptTo.rawValue,
                desired.merchantUrl, merchant?.rawValue, nil, requestId, time,
            ]
        case .unregister(_, let reason):
            [rowId, "unregister", names, nil, nil, nil, nil, reason, requestId, time]
        }
    }
}
