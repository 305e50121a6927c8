import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AdminHandlers {
    /// A caller with permits for some merchants names one of them.
    func audit(_ call: AdminCall) async throws -> Answer {
        let limit = try call.limit()
        let filter = try call.auditFilter()
        if let merchant = filter.merchant {
            try call.grants.require(.read, for: merchant)
        } else if !call.grants.allowsEveryMerchant(.read) {
            throw MerchantError(
                .forbidden, "the caller's permit 'read' is for some merchants, expected the query parameter 'merchant'")
        }
        let order = try call.query["order"].map { text throws(MerchantError) in try AuditOrder(text, named: "order") }
        let records = try await operations.audit.auditRecords(
            filter, from: try call.auditCursor(), oldestFirst: order == .oldestFirst, limit: limit + 1)
        return try Answer(
            Page(records, limit: limit, document: AuditRecordDocument.init) { String($0.sequence) })
    }

    /// One piece of the chain; the caller goes on with the cursor.
    func auditVerification(_ call: AdminCall) async throws -> Answer {
        let kept = try call.query["head"].map { text throws(MerchantError) in
            guard let head = AuditHead(text) else {
                throw MerchantError(
                    .malformed, "'head' is no audit head, expected a number, a colon and 64 hexadecimal digits")
            }
            return head
        }
        return try Answer(
            AuditVerificationDocument(
                try await operations.audit.verifyAudit(from: try call.auditCursor() ?? 1, against: kept)))
    }
}

private enum AuditOrder: String, CaseIterable {
    case newestFirst, oldestFirst
}

extension AdminCall {
    fileprivate func auditCursor() throws(MerchantError) -> Int? {
        guard let text = query["cursor"] else { return nil }
        guard let sequence = Int(text), sequence > 0, sequence < Int.max else {
            throw MerchantError(.malformed, "'cursor' is not one that an earlier page gave")
        }
        return sequence
    }

    fileprivate func auditFilter() throws(MerchantError) -> AuditFilter {
        var filter = AuditFilter()
        if let text = query["merchant"] { filter.merchant = try MerchantIdentifier(text, named: "merchant") }
        if let text = query["key"] { filter.key = try PublicKeyHash(text, named: "key") }
        if let text = query["caller"] {
            guard let uid = UInt32(text) else {
                throw MerchantError(.malformed, "'caller' is no uid, expected a number")
            }
            filter.callerUID = uid
        }
        filter.since = try time("since")
        filter.until = try time("until")
        return filter
    }

    private func time(_ name: String) throws(MerchantError) -> Timestamp? {
        guard let text = query[name] else { return nil }
        guard let moment = Timestamp(rfc3339: text) else {
            throw MerchantError(.malformed, "'\(name)' is no time, expected RFC 3339 such as 2026-11-21T04:53:15Z")
        }
        return moment
    }
}
