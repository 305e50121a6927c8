package import Logging

/// The least severe level that a log handler writes: the setting `log.level`, unless the handler has a level of its
/// own.
package struct LogThreshold: Sendable {
    private let setting: @Sendable () -> Logger.Level
    /// The level that was set on this handler; nil if none was set. Part of this value, so that a level that is set on
    /// one logger does not change another logger.
    private var ownLevel: Logger.Level?

    /// - Parameter setting: returns the setting as it is now, because a reload changes it for all loggers at once.
    package init(_ setting: @escaping @Sendable () -> Logger.Level) { self.setting = setting }

    package var level: Logger.Level {
        get { ownLevel ?? setting() }
        set { ownLevel = newValue }
    }
}
