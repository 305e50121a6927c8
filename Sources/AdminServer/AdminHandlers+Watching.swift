import HTTPTypes
import MerchantCore
import MerchantOperations
import NIOCore
import Vocabulary
import WireAPI

extension AdminHandlers {
    func status() async throws -> Answer {
        try Answer(StatusDocument(try await operations.status(), version: version, startedAt: startedAt))
    }

    /// A caller with permits for some merchants names one of them.
    func audit(_ call: AdminCall) async throws -> Answer {
        let limit = try call.limit()
        let merchant = try call.query["merchant"].map { text throws(MerchantError) in
            try MerchantIdentifier(text, named: "merchant")
        }
        let key = try call.query["key"].map { text throws(MerchantError) in try PublicKeyHash(text, named: "key") }
        if let merchant {
            try call.grants.require(.read, for: merchant)
        } else if !call.grants.allowsEveryMerchant(.read) {
            throw MerchantError(
                .forbidden, "the caller's permit 'read' is for some merchants, expected the query parameter 'merchant'")
        }
        let cursor = try call.query["cursor"].map { text throws(MerchantError) in
            guard let sequence = Int(text), sequence > 0 else {
                throw MerchantError(.malformed, "'cursor' is not one that an earlier page gave")
            }
            return sequence
        }
        let records = try await operations.auditRecords(
            merchant: merchant, key: key, before: cursor, limit: limit + 1)
        return try Answer(
            Page(records, limit: limit, document: AuditRecordDocument.init) { String($0.sequence) })
    }

    func healthAnswer() throws -> Answer {
        let document = health()
        return try Answer(document, status: document.ready ? .ok : .serviceUnavailable)
    }

    func metrics() async throws -> Answer {
        let status = try await operations.status()
        // The end of the year 9999: every certificate there can be ends before.
        let soonest = try await operations.repository.read {
            try $0.keyPairsEnding(before: Timestamp(millisecondsSince1970: 253_402_300_799_000), limit: 1)
        }
        let page = MetricsPage(
            counts: status.counts, soonestEnd: soonest.first?.notAfter, rolls: status.rolls,
            requests: counter.snapshot(),
            version: version, startedAt: startedAt, residentBytes: ProcessMemory.residentBytes())
        return Answer(bytes: ByteBuffer(string: page.text), mediaType: "text/plain; version=0.0.4; charset=utf-8")
    }

    func contract() -> Answer { Answer(bytes: ByteBuffer(bytes: openAPI), mediaType: "application/yaml") }
}
