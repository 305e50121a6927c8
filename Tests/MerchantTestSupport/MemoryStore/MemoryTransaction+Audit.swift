package import MerchantCore
import Vocabulary

extension MemoryTransaction {
    package func auditRecords(_ filter: AuditFilter, from cursor: Int?, oldestFirst: Bool, limit: Int) -> [AuditRecord]
    {
        let fitting = state.audit.filter { record in
            let entry = record.entry
            return (filter.merchant.map { entry.merchantIdentifier == $0 } ?? true)
                && (filter.key.map { entry.publicKeyHash == $0 } ?? true)
                && (filter.caller.map { entry.caller.name == $0 } ?? true)
                && (filter.since.map { entry.at >= $0 } ?? true) && (filter.until.map { entry.at < $0 } ?? true)
                && (cursor.map { oldestFirst ? record.sequence > $0 : record.sequence < $0 } ?? true)
        }
        return Array((oldestFirst ? fitting : fitting.reversed()).prefix(limit))
    }

    package func auditSegment(from sequence: Int, limit: Int) -> AuditSegment {
        AuditSegment(
            links: state.audit.filter { $0.sequence >= sequence }.prefix(limit).map(AuditLink.record),
            highestAssigned: state.audit.count)
    }

    package func auditHead() -> AuditHead? { state.audit.last.map { AuditHead(sequence: $0.sequence, hash: $0.hash) } }

    package func append(_ entry: AuditEntry) {
        state.audit.append(
            AuditRecord(
                entry, sequence: state.audit.count + 1, after: state.audit.last?.hash ?? AuditRecord.genesis))
    }

    package func idempotentOutcome(_ key: IdempotencyKey) -> IdempotentOutcome? { state.outcomes[key]?.outcome }

    package func remember(
        _ key: IdempotencyKey, requestDigest: [UInt8], resource: String, at time: ClockReading
    ) throws {
        let limit = time.earliest.adding(.seconds(-86_400))
        state.outcomes = state.outcomes.filter { $0.value.storedAt >= limit }
        guard idempotentOutcome(key) == nil else {
            throw MerchantError(.idempotencyKeyReused, "the Idempotency-Key was used before")
        }
        state.outcomes[key] = (IdempotentOutcome(requestDigest: requestDigest, resource: resource), time.latest)
    }
}
