import Foundation
package import MerchantCore
import OutboundHTTP
package import Vocabulary

// The Web Merchant Registration API. Its calls use the platform integrator's identity.
extension AppleGateway: RegistrationGateway {
    @discardableResult
    package func register(_ request: GatewayRegistration) async throws(GatewayError) -> GatewayReceipt {
        let body = try GatewayJSON.encode(RegisterMerchantRequest(request))
        let (_, uncertainAttempts) = try await call(.registerMerchant, settings.endpoint.register, body) {
            response throws(GatewayError) in try response.requireSuccess(200...200)
        }
        return GatewayReceipt(anotherAttemptMayArrive: uncertainAttempts > 0)
    }

    package func unregister(
        _ partner: PartnerInternalMerchantIdentifier, domainNames: [DomainName], reason: String
    ) async throws(GatewayError) {
        let body = try GatewayJSON.encode(
            UnregisterMerchantRequest(
                domainNames: domainNames.map(\.rawValue), partnerInternalMerchantIdentifier: partner.rawValue,
                reason: reason))
        // The count of uncertain attempts is not needed: an unregister call is never repeated after an attempt on which
        // Apple may have acted.
        _ = try await call(.unregisterMerchant, settings.endpoint.unregister, body) { response throws(GatewayError) in
            try response.requireSuccess(200...200)
        }
    }

    package func details(
        of partner: PartnerInternalMerchantIdentifier
    ) async throws(GatewayError) -> GatewayDetails? {
        try await call(.getDetails, settings.endpoint.details(of: partner), nil) { response throws(GatewayError) in
            try response.details(of: partner.rawValue)
        }.value
    }

    /// The state of the circuit breaker alone, without a check of the identity.
    package var circuitHealth: GatewayHealth {
        settings.endpoint.register.map { transport.lanes.health(GatewayLane($0, .registration)) } ?? .available
    }

    /// Whether calls to Apple are possible. If the circuit is open and the identity is missing too, the value reports
    /// the open circuit.
    package var health: GatewayHealth {
        let health = circuitHealth
        guard health == .available else { return health }
        do throws(IdentityError) {
            _ = try transport.identities.identity(of: .platform, at: transport.clock.now)
            return .available
        } catch {
            return .notConfigured(error.description)
        }
    }

    private func call<Value: Sendable>(
        _ operation: GatewayOperation, _ url: URL?, _ body: Data?,
        read: (GatewayResponse) throws(GatewayError) -> Value
    ) async throws(GatewayError) -> (value: Value, uncertainAttempts: Int) {
        try await transport.call(GatewayCall(operation, as: .platform, url, body, limits), read: read)
    }
}

extension GatewayResponse {
    /// Reads the response to `getDetails`.
    ///
    /// - Returns: nil for a merchant that Apple does not know. Apple reports this with status 400.
    fileprivate func details(of partner: String) throws(GatewayError) -> GatewayDetails? {
        guard status == 200 else {
            // A page about certificates is from a proxy, not from Apple: see `failure`.
            if status == 400, !mentionsCertificate { return nil }
            throw failure
        }
        guard !body.isEmpty else { throw unexpected("the response is empty, expected MerchantDetails") }
        let found: MerchantDetails
        do {
            found = try GatewayJSON.decode(MerchantDetails.self, from: body)
        } catch DecodingError.keyNotFound(let key, _) {
            throw unexpected("the response has no field '\(key.stringValue)', expected MerchantDetails")
        } catch {
            throw unexpected("the response has \(byteCount) not MerchantDetails in JSON")
        }
        if let echo = found.partnerInternalMerchantIdentifier, echo != partner {
            throw unexpected(
                "the response has the details of '\(echo.printableASCII(limit: 64))', which is not the merchant of the request"
            )
        }
        return GatewayDetails(
            partnerInternalMerchantIdentifier: partner, partnerMerchantName: found.partnerMerchantName,
            domainNames: found.domainNames, encryptTo: found.encryptTo)
    }
}
