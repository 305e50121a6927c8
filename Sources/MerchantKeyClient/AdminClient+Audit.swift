package import Vocabulary
package import WireAPI

/// Which audit records are asked for; nil asks for all.
package struct AuditQuery: Sendable {
    package var merchant: MerchantIdentifier?
    package var key: PublicKeyHash?
    package var callerUID: UInt32?
    package var since: Timestamp?
    package var until: Timestamp?

    package init(
        merchant: MerchantIdentifier? = nil, key: PublicKeyHash? = nil, callerUID: UInt32? = nil,
        since: Timestamp? = nil, until: Timestamp? = nil
    ) {
        self.merchant = merchant
        self.key = key
        self.callerUID = callerUID
        self.since = since
        self.until = until
    }

    fileprivate var parameters: [(name: String, value: String)] {
        let all = [
            ("merchant", merchant?.rawValue), ("key", key?.base64URL), ("caller", callerUID.map(String.init)),
            ("since", since?.rfc3339), ("until", until?.rfc3339),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }
}

extension AdminClient {
    /// Newest first.
    package func auditRecords(
        _ query: AuditQuery, most: Int
    ) async throws(ClientError) -> Listing<AuditRecordDocument> {
        try await list(Paths.audit, query: query.parameters, most: most)
    }

    /// Oldest first, page by page, so that as many records as there are can pass.
    ///
    /// - Parameter body: is given each page's records and its JSON text.
    package func eachAuditPage<Failure: Error>(
        _ query: AuditQuery, _ body: (Answer<Page<AuditRecordDocument>>) throws(Failure) -> Void
    ) async throws {
        var cursor: String?
        repeat {
            var call = SocketCall(
                path: Paths.audit,
                query: query.parameters + [
                    ("order", "oldestFirst"), ("limit", String(Page<AuditRecordDocument>.largestLimit)),
                ])
            if let cursor { call.query.append(("cursor", cursor)) }
            let page: Answer<Page<AuditRecordDocument>> = try await connection.fetch(call)
            try body(page)
            guard page.document.nextCursor != cursor || cursor == nil else {
                throw ClientError.protocolViolation("found a page that leads to itself, expected a new cursor")
            }
            cursor = page.document.nextCursor
        } while cursor != nil
    }

    /// Has one piece of the audit chain examined.
    ///
    /// - Parameters:
    ///   - head: one that was kept elsewhere, as `1044:` and 64 hexadecimal digits.
    ///   - cursor: the piece before's `nextCursor`.
    package func verifyAudit(
        against head: String?, from cursor: String?
    ) async throws(ClientError) -> AuditVerificationDocument {
        var call = SocketCall(path: Paths.auditVerification)
        if let head { call.query.append(("head", head)) }
        if let cursor { call.query.append(("cursor", cursor)) }
        let answer: Answer<AuditVerificationDocument> = try await connection.fetch(call)
        return answer.document
    }
}
