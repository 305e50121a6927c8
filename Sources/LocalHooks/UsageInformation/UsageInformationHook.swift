import MerchantCore
package import MerchantOperations
import OutboundHTTP

/// Asks the HTTP server of `merchant-tokens.usage-information.url` for usage information. At most ``concurrentCalls``
/// calls run at the same time, and up to ``waitingCalls`` further calls wait.
package final class UsageInformationHook: UsageInformationSource {
    package static let concurrentCalls = 16
    package static let waitingCalls = 64
    /// How many bytes a hook may respond with. The limit is above Apple's, so that an error can report the length of a
    /// package that is too long for Apple.
    package static let largestResponse = 65_536
    private static let name = "the server of merchant-tokens.usage-information.url"

    private let endpoint: LocalEndpoint
    private let timeLimit: Duration
    private let slots = CallSlots(count: concurrentCalls, longestQueue: waitingCalls)
    private let client: OutboundClient

    package init(_ endpoint: LocalEndpoint, within timeLimit: Duration) {
        self.endpoint = endpoint
        self.timeLimit = timeLimit
        var configuration = OutboundClient.Configuration()
        configuration.connectTimeout = .seconds(5)
        // Shorter than the idle timeout of common servers, so that no request is sent on a connection that the server
        // is about to close.
        configuration.idleTimeout = .seconds(1)
        configuration.connectionsPerHost = Self.concurrentCalls
        configuration.responseBody = .collect(upTo: Self.largestResponse)
        client = OutboundClient(configuration)
    }

    package func usageInformation(for question: UsageInformationQuestion) async throws -> UsageInformationAnswer {
        let body = try question.json()
        let response: OutboundResponse
        do {
            response = try await slots.run { try await send(body, question.requestId) }
        } catch is CallSlots.AllTaken {
            throw MerchantError.usageInformationUnavailable(
                "\(Self.waitingCalls) calls of \(Self.name) are already waiting")
        }
        switch response.status {
        case 200 where !response.body.isEmpty: return .package(response.body)
        case 401: return .notAuthorized
        case 404: return .nothing
        default:
            throw MerchantError.usageInformationFailed(
                "\(Self.name) responded with the status \(response.status) and \(response.body.count) bytes, expected 200 with a package, 401 or 404"
            )
        }
    }

    private func send(_ body: [UInt8], _ requestId: String) async throws(MerchantError) -> OutboundResponse {
        let request = OutboundRequest(
            url: endpoint.url, method: "POST",
            headers: [("Content-Type", "application/json"), ("X-Request-Id", requestId)],
            body: body)
        do throws(OutboundFailure) { return try await client.send(request, within: timeLimit) } catch {
            switch error {
            case .unreachable(let reason):
                throw .usageInformationUnavailable("\(Self.name) cannot be reached: \(reason)")
            case .timedOut, .cancelled:
                throw .usageInformationUnavailable(
                    "\(Self.name) did not respond within \(timeLimit.components.seconds) s")
            case .responseTooLarge(let limit):
                throw .usageInformationFailed("\(Self.name) sent more than \(limit) bytes")
            case .notHTTP: throw .usageInformationFailed("\(Self.name) did not respond with HTTP/1.1")
            case .responseLost, .serverUntrusted, .clientCertificateRefused, .identityUnusable, .requestTooLarge:
                throw .usageInformationFailed("\(Self.name) closed the connection before its response was complete")
            }
        }
    }
}

extension MerchantError {
    fileprivate static func usageInformationFailed(_ cause: String) -> MerchantError {
        MerchantError(.usageInformationFailed, "there is no usage information: \(cause)")
    }

    fileprivate static func usageInformationUnavailable(_ cause: String) -> MerchantError {
        MerchantError(
            .usageInformationUnavailable,
            "there is no usage information: \(cause); check the settings merchant-tokens.usage-information")
    }
}
