import KeyCustody
import MerchantCore
import MerchantOperations
import Synchronization
import Vocabulary

/// Makes `status` report the progress of a rotation, what blocks the rotation, or a new master key that no rotation has
/// used yet.
final class RotationStatus: Sendable {
    /// The longest time that other daemons usually need to load a data key.
    private static let usualWait = Duration.seconds(10)

    private let settings: MasterKeySettings
    private let store: any KeyRotationStore
    private let keyring: Keyring
    private let activeFindings: ActiveFindings
    private let currentBlocker = Mutex<String?>(nil)
    /// When the rotation began to wait for other daemons; nil if it does not wait.
    private let waitingSince = Mutex<ContinuousClock.Instant?>(nil)

    init(_ settings: MasterKeySettings, store: any KeyRotationStore, keyring: Keyring, activeFindings: ActiveFindings) {
        self.settings = settings
        self.store = store
        self.keyring = keyring
        self.activeFindings = activeFindings
    }

    /// What blocks the rotation; nil if nothing does.
    var blocker: String? { currentBlocker.withLock { $0 } }

    func reportBlocked(_ why: String) {
        currentBlocker.withLock { $0 = why }
        activeFindings.set(
            .masterKeyRotation, .warning, "a rotation of the master key or data key is in progress: \(why)")
    }

    /// Reports that the rotation waits for other daemons. Reports this as a blocker only after ``usualWait``, because
    /// every rotation with several daemons waits for about a second.
    ///
    /// - Parameter names: the daemons that do not have the new data key yet, or do not seal under it.
    func reportWaiting(for names: [String]) {
        let since = waitingSince.withLock { since in
            let begin = since ?? .now
            since = begin
            return begin
        }
        let why =
            "it waits until these daemons use the new data key: \(names.joined(separator: ", ")); if one of them cannot load it, its log says why"
        if ContinuousClock.now >= since + Self.usualWait {
            reportBlocked(why)
        } else {
            activeFindings.set(
                .masterKeyRotation, .notice, "a rotation of the master key or data key is in progress: \(why)")
        }
    }

    /// Removes the blocker that ``reportWaiting(for:)`` has reported.
    func reportNotWaiting() {
        let wasWaiting = waitingSince.withLock { since in
            defer { since = nil }
            return since != nil
        }
        if wasWaiting { currentBlocker.withLock { $0 = nil } }
    }

    /// Removes what this daemon has reported about a rotation, because another daemon performs it. Still warns of a new
    /// master key that no rotation has used yet.
    func reportPerformedByOther() {
        currentBlocker.withLock { $0 = nil }
        updateFindingOfUnusedMasterKey()
    }

    /// Does nothing while a blocker is reported, because a blocker is more important than the progress.
    func reportProgress() async {
        guard blocker == nil, let rotation = try? await store.lastRotation() else { return }
        activeFindings.set(
            .masterKeyRotation, .notice,
            "a rotation of the \(rotation.replacesMasterKey ? "master key" : "data key") is in progress: \(rotation.done) of \(rotation.total.counted("private key")) re-encrypted"
        )
    }

    func reportFinished() {
        currentBlocker.withLock { $0 = nil }
        updateFindingOfUnusedMasterKey()
    }

    /// Warns if the operator supplied a new master key and no rotation has used it yet. Otherwise removes the finding.
    func updateFindingOfUnusedMasterKey() {
        guard settings.previous != nil, let inSource = try? settings.current.load().identifier,
            let inUse = try? store.dataKeys().last(where: { $0.identifier == keyring.newest })?.masterKeyIdentifier,
            inSource != inUse
        else { return activeFindings.clear(.masterKeyRotation) }
        activeFindings.set(
            .masterKeyRotation, .warning,
            "\(settings.current) holds a new master key, but the previous master key still seals the data key; run 'merchantkeyctl master-key rotate'"
        )
    }
}
