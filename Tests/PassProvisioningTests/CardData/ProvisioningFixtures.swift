import Foundation

/// Real data of in-app provisioning, in the directory that the environment variable `MERCHANTKEYD_FIXTURES` names.
enum ProvisioningFixtures {
    static let directory = ProcessInfo.processInfo.environment["MERCHANTKEYD_FIXTURES"]

    static func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(directory ?? "")/provisioning/\(name)", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
