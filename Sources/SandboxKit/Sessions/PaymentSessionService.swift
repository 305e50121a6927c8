import Crypto
import NIOHTTP1
import Vocabulary

/// Implements Apple's paymentSession: issues a merchant session if the client may request it.
struct PaymentSessionService: Sendable {
    let authority: SandboxAuthority
    let registrations: RegistrationStore
    /// The domains of merchants with an identity certificate of their own. Such a merchant may use any domain if it has
    /// no entry here.
    let merchantDomains: [MerchantDomain]
    let log: SessionLog

    func reply(to body: [UInt8], from client: GatewayClient, at now: Timestamp) throws -> GatewayReply {
        let request = try PaymentSessionRequest(body)
        if let refusal = refusal(of: request, from: client) { return refusal }
        let session = try IssuedSession(for: request, to: client, by: authority, at: now)
        log.append(session)
        return .text(.ok, Array(session.session.utf8))
    }

    private func refusal(of request: PaymentSessionRequest, from client: GatewayClient) -> GatewayReply? {
        let identifier = request.merchantIdentifier
        // The identifier of a platform integrator names no merchant, so not even the integrator itself can use it here.
        if MerchantIdentifier(identifier)?.isPlatformIntegrator == true {
            return Self.unauthorized(
                client, for: identifier, "the identifier of a platform integrator is not a merchant's identifier")
        }
        if client.isIdentity(of: identifier) {
            let domains = merchantDomains.filter { $0.merchant.rawValue == identifier }.map(\.domain)
            return domains.isEmpty ? nil : Self.refusal(of: request, unlessAmong: domains)
        }
        guard let merchant = registrations.merchant(identifier) else {
            // An identifier in another form than Apple's (`merchant.…`) was chosen by a platform. If it is not
            // registered, Apple responds to the platform as for a domain that is not registered.
            guard MerchantIdentifier(identifier) == nil, client.isPlatformIntegrator, request.domain != nil else {
                return Self.unauthorized(client, for: identifier, "the client certificate belongs to another merchant")
            }
            return Self.refusal(of: request, unlessAmong: [])
        }
        guard merchant.registeredBy.map({ $0 == client.merchantHash.hex }) ?? true else {
            return Self.unauthorized(client, for: identifier, "another platform registered the merchant")
        }
        return Self.refusal(of: request, unlessAmong: merchant.domainNames)
    }

    /// Returns Apple's response for a domain that is not registered; nil if the session needs no domain or its domain
    /// is registered.
    private static func refusal(
        of request: PaymentSessionRequest, unlessAmong domains: [String]
    ) -> GatewayReply? {
        // Apple compares whole names, without regard to case: a subdomain is another domain.
        guard let domain = request.domain,
            !domains.contains(where: { $0.lowercased() == domain.lowercased() })
        else { return nil }
        return .error(
            400,
            "Payment Services Exception merchantId=\(hash(of: request.merchantIdentifier)) not registered for "
                + "domain=\(domain)"
        )
    }

    private static func unauthorized(
        _ client: GatewayClient, for identifier: String, _ details: String
    ) -> GatewayReply {
        .error(
            417,
            "Payment Services Exception merchantId=\(client.merchantHash.hex.uppercased()) unauthorized to process "
                + "transactions on behalf of merchantId=\(hash(of: identifier))", details: details)
    }

    /// Apple's messages contain hashes of identifiers.
    private static func hash(of identifier: String) -> String {
        Hex.encode(Array(SHA256.hash(data: Array(identifier.utf8)))).uppercased()
    }
}
