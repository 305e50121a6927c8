import Logging
import MerchantCore
import Synchronization

/// The values in force of the settings that a reload can change. A reload replaces all of them at once.
final class LiveSettings: Sendable {
    private static let levels = Logger.Level.allCases

    private let state: Mutex<ReloadableSettings>
    /// The index of the log level in ``levels``. This and ``areRequestsLogged`` are copies that can be read without a
    /// lock, because every log line and every request reads them.
    private let levelIndex: Atomic<Int>
    private let areRequestsLogged: Atomic<Bool>

    /// Signals each replacement of the settings.
    let changes = ChangeSignal()

    /// The settings with which the daemon starts.
    convenience init(_ start: PreparedStart) { self.init(ReloadableSettings(start)) }

    init(_ settings: ReloadableSettings) {
        state = Mutex(settings)
        levelIndex = Atomic(Self.index(of: settings.logLevel))
        areRequestsLogged = Atomic(settings.logsRequests)
    }

    var current: ReloadableSettings { state.withLock { $0 } }

    /// One part of the settings, for a part of the daemon that needs no other settings.
    func value<Value: Sendable>(
        _ part: @escaping @Sendable (ReloadableSettings) -> Value
    ) -> CurrentValue<Value> {
        CurrentValue(changedBy: changes) { self.state.withLock { part($0) } }
    }

    var logLevel: Logger.Level { Self.levels[levelIndex.load(ordering: .relaxed)] }

    /// Whether the daemon writes a line for each response.
    var logsRequests: Bool { areRequestsLogged.load(ordering: .relaxed) }

    func replace(with settings: ReloadableSettings) {
        state.withLock { $0 = settings }
        levelIndex.store(Self.index(of: settings.logLevel), ordering: .relaxed)
        areRequestsLogged.store(settings.logsRequests, ordering: .relaxed)
        // Comes last: a reader that sees the new generation must see the new values.
        changes.send()
    }

    private static func index(of level: Logger.Level) -> Int { levels.firstIndex(of: level) ?? 0 }
}
