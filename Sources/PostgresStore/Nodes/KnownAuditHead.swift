package import MerchantCore
import Synchronization

/// The last audit record that this daemon has seen in the database. If the database later lacks this record,
/// transactions were lost, for example by a failover to an asynchronous standby.
package final class KnownAuditHead: AuditObserver {
    private let head: Mutex<AuditHead?>
    private let record: any AuditObserver

    /// - Parameters:
    ///   - head: the last record that an earlier run of this daemon has seen; nil if unknown.
    ///   - record: stores each new head outside the database.
    package init(_ head: AuditHead?, recordingIn record: any AuditObserver) {
        self.head = Mutex(head)
        self.record = record
    }

    /// nil if no record is known.
    package var value: AuditHead? { head.withLock { $0 } }

    /// Keeps the head with the highest sequence: the writer and the renewal of the lease report heads in any order.
    package func auditGrew(to head: AuditHead, inLog generation: String) {
        self.head.withLock { known in
            guard head.sequence > known?.sequence ?? 0 else { return }
            known = head
            record.auditGrew(to: head, inLog: generation)
        }
    }
}
