import CLibPQ

/// Receives the notices of a server, such as warnings. Without a handler, libpq would write them to standard error.
final class NoticeHandler: Sendable {
    private let handle: @Sendable (_ severity: String, _ sqlState: String, _ message: String) -> Void

    init(_ handle: @escaping @Sendable (_ severity: String, _ sqlState: String, _ message: String) -> Void) {
        self.handle = handle
    }

    static let ignoring = NoticeHandler { _, _, _ in }

    /// The caller must keep this object as long as the connection.
    func receive(from connection: OpaquePointer) {
        PQsetNoticeReceiver(
            connection,
            { context, notice in
                guard let context, let notice else { return }
                Unmanaged<NoticeHandler>.fromOpaque(context).takeUnretainedValue().receive(notice)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func receive(_ notice: OpaquePointer) {
        func field(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0) } ?? "" }
        handle(field(clibpq_severity(notice)), field(clibpq_sqlstate(notice)), field(clibpq_message(notice)))
    }
}
