package import MerchantCore
package import MerchantOperations
import OutboundHTTP

/// Gets activation data from the hook that the settings name: a program, or an HTTP server on this machine.
///
/// Both receive the same JSON object, and both respond with a JSON object. Neither object appears on a command line, in
/// an error or in a log line. At most ``concurrentCalls`` calls run at the same time; up to ``waitingCalls`` further
/// calls wait.
package final class ActivationHook: ActivationDataSource {
    package static let concurrentCalls = 16
    package static let waitingCalls = 1024
    /// How many bytes a hook may respond with.
    package static let largestResponse = 65_536

    private let settings: CurrentValue<ActivationSettings?>
    private let slots = CallSlots(count: concurrentCalls, longestQueue: waitingCalls)
    private let client: OutboundClient

    /// - Parameter settings: the value is nil if the settings name no hook. A reload may change the value.
    package init(_ settings: CurrentValue<ActivationSettings?>) {
        self.settings = settings
        var configuration = OutboundClient.Configuration()
        configuration.connectTimeout = .seconds(5)
        configuration.connectionsPerHost = Self.concurrentCalls
        configuration.responseBody = .collect(upTo: Self.largestResponse)
        client = OutboundClient(configuration)
    }

    package func activationData(for question: ActivationQuestion) async throws -> [UInt8]? {
        guard let settings = settings.value else { return nil }
        do {
            return try await slots.run { try await ask(question, settings) }
        } catch is CallSlots.AllTaken {
            throw MerchantError.activationUnavailable(
                "\(Self.waitingCalls) calls of the activation hook are already waiting")
        }
    }

    private func ask(_ question: ActivationQuestion, _ settings: ActivationSettings) async throws -> [UInt8] {
        switch settings.hook {
        case .command(let arguments):
            let command = ActivationCommand(arguments: arguments, timeLimit: settings.timeLimit)
            // The program blocks the thread.
            return try await WorkThreads.blocking.run { try command.ask(question) }
        case .endpoint(let endpoint):
            let request = ActivationRequest(endpoint: endpoint, timeLimit: settings.timeLimit, client: client)
            return try await request.send(question)
        }
    }
}
