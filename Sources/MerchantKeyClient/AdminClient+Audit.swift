package import Vocabulary
package import WireAPI

/// Selects audit records by the fields that are set. A field that is nil does not restrict the selection.
package struct AuditQuery: Sendable {
    package var merchant: MerchantIdentifier?
    package var key: PublicKeyHash?
    /// The caller's name, such as `uid:1000` or `access:shop`. A number alone, such as `1000`, is a user id.
    package var caller: String?
    /// Records at this time or later.
    package var since: Timestamp?
    /// Records before this time.
    package var until: Timestamp?

    package init() {}

    fileprivate var parameters: [(name: String, value: String)] {
        let all = [
            ("merchant", merchant?.rawValue), ("key", key?.base64URL), ("caller", caller),
            ("since", since?.rfc3339), ("until", until?.rfc3339),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }
}

extension AdminClient {
    /// At most `limit` audit records, newest first.
    package func auditRecords(
        _ query: AuditQuery, limit: Int
    ) async throws(ClientError) -> Listing<AuditRecordDocument> {
        try await list(Paths.audit, query: query.parameters, limit: limit)
    }

    /// Reads all selected audit records, oldest first, and keeps only one page of them in memory.
    ///
    /// - Parameter body: called with each page.
    package func eachAuditPage<Failure: Error>(
        _ query: AuditQuery, _ body: (Response<Page<AuditRecordDocument>>) throws(Failure) -> Void
    ) async throws {
        var cursor: String?
        repeat {
            var call = SocketCall(
                path: Paths.audit,
                query: query.parameters + [
                    ("order", "oldestFirst"), ("limit", String(Page<AuditRecordDocument>.largestLimit)),
                ])
            if let cursor { call.query.append(("cursor", cursor)) }
            let page: Response<Page<AuditRecordDocument>> = try await httpClient.fetch(call)
            try body(page)
            // Without this check, a daemon that repeats a cursor would keep this loop running forever. At the first
            // page, `cursor` is nil and there is nothing to compare.
            guard cursor == nil || page.document.nextCursor != cursor else {
                throw ClientError.protocolViolation("a page has the same cursor as the page before")
            }
            cursor = page.document.nextCursor
        } while cursor != nil
    }

    /// Asks the daemon to verify one range of the audit chain.
    ///
    /// - Parameters:
    ///   - head: an audit head (the number and hash of the last record) that was saved earlier, such as `1044:`
    ///     followed by the hash in 64 hexadecimal digits. The daemon checks that the record with this number still has
    ///     this hash. nil for no such check.
    ///   - cursor: the `nextCursor` of the previous range; nil for the first range.
    package func verifyAudit(
        against head: String?, from cursor: String?
    ) async throws(ClientError) -> AuditVerificationDocument {
        var call = SocketCall(path: Paths.auditVerification)
        if let head { call.query.append(("head", head)) }
        if let cursor { call.query.append(("cursor", cursor)) }
        let response: Response<AuditVerificationDocument> = try await httpClient.fetch(call)
        return response.document
    }
}
