import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AuditHeadDocument {
    init(_ head: AuditHead) { self.init(sequence: head.sequence, hash: Hex.encode(head.hash)) }
}

extension AuditVerificationDocument {
    init(_ verification: AuditVerification) {
        self.init()
        examined = verification.examined
        breakCount = verification.breakCount
        breaks = verification.breaks.map {
            AuditBreakDocument(kind: $0.kind.rawValue, sequence: $0.sequence, detail: $0.detail)
        }
        head = verification.head.map(AuditHeadDocument.init)
        nextCursor = verification.next.map(String.init)
    }
}

extension AuditRecordDocument {
    init(_ record: AuditRecord) {
        let entry = record.entry
        self.init(
            record.sequence, at: entry.at, action: entry.action.rawValue, caller: CallerDocument(entry.caller),
            hash: Hex.encode(record.hash), previousHash: Hex.encode(record.previousHash))
        merchantIdentifier = entry.merchantIdentifier
        publicKeyHash = entry.publicKeyHash
        before = entry.before
        after = entry.after
        reason = entry.reason
        requestId = entry.requestId
        node = entry.node
    }
}

extension AuditRecordDocument.CallerDocument {
    init(_ caller: Caller) {
        self.init(name: caller.name)
        (uid, gid) = (caller.process?.uid, caller.process?.gid)
        (pid, program) = (caller.process?.pid, caller.process?.program)
        address = caller.remote?.address
    }
}
