import DaemonKit
import Logging
import MerchantCore
import MerchantTestSupport
import Testing

@Suite struct LogThresholdTests {
    @Test func `a change of the setting applies to every logger, except one with a level of its own`() {
        let setting = ChangingValue(Logger.Level.info)
        let first = Logger(label: "test") { _ in
            LineLogHandler(.logfmt, threshold: LogThreshold { setting.current.value }, write: { _ in })
        }
        var second = first
        second.logLevel = .error
        #expect(first.logLevel == .info && second.logLevel == .error)
        setting.change(to: .debug)
        #expect(first.logLevel == .debug && second.logLevel == .error)
    }
}
