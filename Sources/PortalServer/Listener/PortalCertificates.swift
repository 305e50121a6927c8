package import Logging
import NIOSSL
import Synchronization
package import Vocabulary

/// The certificate and the private key that the portal currently uses. If the files change, new connections use the new
/// files, and open connections stay open.
///
/// If the new files cannot be used, the previous certificate and key stay in use, and ``finding`` says why.
package final class PortalCertificates: Sendable {
    /// How often ``watch()`` checks whether the files have changed.
    static let checkInterval = Duration.seconds(3)
    /// After this time the files are read again even if they have not changed. This creates a new context and with it
    /// new keys for session tickets.
    static let maximumAge = Duration.seconds(12 * 3600)

    private struct State: Sendable {
        var files: PortalTLS.Files
        var tls: PortalTLS
        /// The attributes of the files when they were last read; nil for a file that is absent or not set.
        var stamps: [PortalFileStamp?]
        var readAt: ContinuousClock.Instant
        /// Why the files could not be used when they were last read.
        var readError: PortalTLSError?
        /// The finding that was last reported.
        var finding: String?
    }

    private let now: @Sendable () -> Timestamp
    private let onFinding: @Sendable (String?) -> Void
    private let logger: Logger
    private let state: Mutex<State>
    /// Held while the files are read, so that only one thread reads them at a time.
    private let reading = Mutex<Void>(())

    /// Reads the files at once, so that the daemon reports a wrong setting when it starts.
    ///
    /// - Parameters:
    ///   - onFinding: called with a sentence for the daemon's status if the files cannot be used or the certificate has
    ///     expired, and with nil when the problem is solved.
    package init(
        _ files: PortalTLS.Files, now: @escaping @Sendable () -> Timestamp, logger: Logger,
        onFinding: @escaping @Sendable (String?) -> Void = { _ in }
    ) throws(PortalTLSError) {
        self.now = now
        self.logger = logger
        self.onFinding = onFinding
        // The attributes are read first. If a file changes during the read, the next comparison finds the change.
        let stamps = Self.stamps(files)
        let tls = try PortalTLS(reading: files, at: now())
        state = Mutex(
            State(
                files: files, tls: tls, stamps: stamps, readAt: ContinuousClock.now, readError: nil, finding: nil))
    }

    /// The TLS context for new connections.
    var context: NIOSSLContext { state.withLock { $0.tls.context } }

    /// The end of the certificate's validity.
    package var notAfter: Timestamp { state.withLock { $0.tls.notAfter } }

    /// Whether the portal asks new connections for a client certificate.
    package var readsClientCertificates: Bool { state.withLock { $0.tls.readsClientCertificates } }

    /// What is wrong with the files or the certificate; nil if there is no problem.
    package var finding: String? { state.withLock { $0.finding } }

    /// Reads the files now. Blocks on the disk, so call this function on a thread that may block.
    ///
    /// - Parameter files: the paths of the files from now on; nil to keep the present paths.
    package func reload(_ files: PortalTLS.Files? = nil) {
        reading.withLock { _ in
            if let files { state.withLock { $0.files = files } }
            read()
        }
    }

    /// Reads the files if they have changed since the last read, or if the context is old. Blocks on the disk.
    package func reloadIfChanged() {
        reading.withLock { _ in
            let stamps = Self.stamps(state.withLock { $0.files })
            let isDue: Bool = state.withLock { state in
                state.stamps != stamps || ContinuousClock.now - state.readAt >= Self.maximumAge
            }
            if isDue { read() } else { updateFinding() }
        }
    }

    /// Calls ``reloadIfChanged()`` every ``checkInterval`` until the task is cancelled. Run this on threads that may
    /// block.
    package func watch() async {
        while !Task.isCancelled {
            do { try await Task.sleep(for: Self.checkInterval) } catch { return }
            reloadIfChanged()
        }
    }

    private func read() {
        let files = state.withLock { $0.files }
        let stamps = Self.stamps(files)
        let result: Result<PortalTLS, PortalTLSError>
        do throws(PortalTLSError) {
            result = .success(try PortalTLS(reading: files, at: now()))
        } catch {
            result = .failure(error)
        }
        let hasChanged: Bool = state.withLock { state in
            let hasChanged = state.stamps != stamps
            state.stamps = stamps
            state.readAt = ContinuousClock.now
            switch result {
            case .success(let tls):
                state.tls = tls
                state.readError = nil
            case .failure(let error):
                state.readError = error
            }
            return hasChanged
        }
        if hasChanged, case .success(let tls) = result {
            logger.info("portal certificate loaded", metadata: ["notAfter": "\(tls.notAfter)"])
        }
        updateFinding()
    }

    /// Reports the finding if it has changed.
    private func updateFinding() {
        let now = now()
        let (isNew, finding) = state.withLock { state -> (Bool, String?) in
            let finding = Self.finding(state, at: now)
            defer { state.finding = finding }
            return (finding != state.finding, finding)
        }
        guard isNew else { return }
        if let finding { logger.warning("portal certificate unusable", metadata: ["reason": "\(finding)"]) }
        onFinding(finding)
    }

    private static func finding(_ state: State, at now: Timestamp) -> String? {
        if let error = state.readError {
            return "\(error); the previous certificate stays in use until \(state.tls.notAfter)"
        }
        guard now > state.tls.notAfter else { return nil }
        return "the portal's certificate expired at \(state.tls.notAfter), so clients refuse it; replace the file"
    }

    private static func stamps(_ files: PortalTLS.Files) -> [PortalFileStamp?] {
        [files.certificate, files.privateKey, files.clientCA].map { $0.flatMap(PortalFileStamp.init) }
    }
}
