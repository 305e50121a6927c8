import HTTPKit
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let audit: [AdminRoute] = [
        .reads(
            "/v1/audit", scope: .checkedByHandler,
            query: ["merchant", "key", "caller", "since", "until", "order", "limit", "cursor"],
            AdminHandlers.listAudit),
        .reads("/v1/audit/verification", query: ["head", "cursor"], AdminHandlers.verifyAudit),
    ]
}

extension AdminHandlers {
    /// Lists audit records. A caller whose permit is limited to some merchants must name one of them in the query.
    func listAudit(_ call: RESTCall) async throws -> RESTResponse {
        let limit = try call.limit()
        let filter = try call.auditFilter()
        let order = try call.query.value("order", as: AuditOrder.self)
        let records = try await operations.audit.auditRecords(
            filter, from: try call.numericCursor(), oldestFirst: order == .oldestFirst, limit: limit + 1)
        return try RESTResponse(
            Page(records, limit: limit, document: AuditRecordDocument.init) { String($0.sequence) })
    }

    /// Verifies one range of the audit chain. The client requests the next range with the cursor in the response. If
    /// the query has a `head`, the chain must contain a record with the number and the hash in `head`.
    func verifyAudit(_ call: RESTCall) async throws -> RESTResponse {
        let expectedHead = try call.query["head"].map { text throws(MerchantError) in
            guard let head = AuditHead(text) else {
                throw MerchantError(
                    .malformed, "'head' is not an audit head, expected a number, a colon and 64 hexadecimal digits")
            }
            return head
        }
        return try RESTResponse(
            AuditVerificationDocument(
                try await operations.audit.verifyAudit(from: try call.numericCursor() ?? 1, against: expectedHead)))
    }
}

private enum AuditOrder: String, NamedValue {
    case newestFirst, oldestFirst
}

extension RESTCall {
    fileprivate func auditFilter() throws(MerchantError) -> AuditFilter {
        var filter = AuditFilter()
        filter.merchant = try merchantToRead(.read)
        filter.key = try query.value("key")
        filter.caller = try query["caller"].map(Self.callerName)
        filter.since = try query.value("since")
        filter.until = try query.value("until")
        return filter
    }

    /// - Parameter text: the name of a caller, or only a user ID.
    private static func callerName(_ text: String) throws(MerchantError) -> String {
        let isShort = text.utf8.count <= 255
        if isShort, let uid = UInt32(text) { return "uid:\(uid)" }
        guard isShort, text.contains(":") else {
            throw MerchantError(
                .malformed, "'caller' is not a caller's name, expected a uid, 'uid:1000' or 'access:NAME'")
        }
        return text
    }
}
