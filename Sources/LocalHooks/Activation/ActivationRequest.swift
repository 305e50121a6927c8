import MerchantCore
import MerchantOperations
import OutboundHTTP
import Secrets

/// A request to the HTTP server of `provisioning.activation.url`.
struct ActivationRequest {
    private static let name = "the server of provisioning.activation.url"

    let endpoint: LocalEndpoint
    let timeLimit: Duration
    let client: OutboundClient

    func send(_ question: ActivationQuestion) async throws(MerchantError) -> [UInt8] {
        let body = question.json().withUnsafeBytes { Array($0) }
        defer { Wipe.sharedBytes(of: body) }
        let response = try await receive(
            OutboundRequest(
                url: endpoint.url, method: "POST",
                headers: [("Content-Type", "application/json"), ("X-Request-Id", question.requestId)], body: body))
        defer { Wipe.sharedBytes(of: response.body) }
        guard response.status == 200 else {
            throw .activationFailed("\(Self.name) responded with the status \(response.status), expected 200")
        }
        return try ActivationResponse.activationData(in: response.body, of: Self.name)
    }

    private func receive(_ request: OutboundRequest) async throws(MerchantError) -> OutboundResponse {
        do throws(OutboundFailure) { return try await client.send(request, within: timeLimit) } catch {
            switch error {
            case .unreachable(let reason): throw .activationUnavailable("\(Self.name) cannot be reached: \(reason)")
            case .timedOut, .cancelled:
                throw .activationUnavailable("\(Self.name) did not respond within \(timeLimit.components.seconds) s")
            case .responseTooLarge(let limit): throw .activationFailed("\(Self.name) sent more than \(limit) bytes")
            case .notHTTP: throw .activationFailed("\(Self.name) did not respond with HTTP/1.1")
            case .responseLost, .serverUntrusted, .clientCertificateRefused, .identityUnusable, .requestTooLarge:
                throw .activationFailed("\(Self.name) closed the connection before its response was complete")
            }
        }
    }
}
