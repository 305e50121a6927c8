/// Which of Apple's two worlds a daemon serves. One per daemon.
package enum Environment: String, Sendable, CaseIterable, Codable {
    case production, sandbox
}
