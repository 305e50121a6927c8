import MerchantCore
import Vocabulary

/// The parts of a session's request to Apple that the daemon takes from its records.
struct SessionPlan: Sendable {
    /// Whose identity certificate authenticates the request.
    let owner: IdentityOwner
    /// The value of Apple's field `merchantIdentifier`.
    let merchantIdentifier: String
    /// Whether the page's domain is registered for the merchant. nil if the daemon's records do not show this: the
    /// daemon has no registration of the merchant, or too many to search for each session, or the buyer does not pay on
    /// a web page.
    let isDomainRegistered: Bool?
}

extension MerchantReading where Self: KeyPairReading & RegistrationReading {
    /// - Throws: `merchantNotFound`, `sessionIdentityMissing` or `registrationNotFound`.
    func sessionPlan(for order: SessionOrder, at now: Timestamp) throws -> SessionPlan {
        switch order.merchant {
        case .own(let merchant):
            try checkNotRemoved(merchant)
            try checkIdentity(of: merchant, at: now)
            return SessionPlan(
                owner: .merchant(merchant), merchantIdentifier: merchant.rawValue,
                isDomainRegistered: try order.place.webDomain.flatMap { try hasDomain($0, merchant) })
        case .registered(let partner):
            let registration = try shownRegistration(partner)
            return SessionPlan(
                owner: .platform, merchantIdentifier: partner.rawValue,
                isDomainRegistered: order.place.webDomain.map(registration.hasDomain))
        }
    }

    /// - Throws: `registrationNotFound`, also for a registration without any domain: it was unregistered, or Apple
    ///   never confirmed it.
    func shownRegistration(_ partner: PartnerInternalMerchantIdentifier) throws -> Registration {
        guard let registration = try registration(partner), registration.isShown else {
            throw MerchantError.registrationNotFound(partner)
        }
        return registration
    }

    private func checkNotRemoved(_ identifier: MerchantIdentifier) throws {
        guard let merchant = try merchant(identifier) else { throw MerchantError.merchantNotFound(identifier) }
        guard let removedAt = merchant.removedAt else { return }
        throw MerchantError(
            .merchantNotFound,
            "the merchant \(identifier) was removed at \(removedAt), so no session can be requested for it: name another merchant"
        )
    }

    /// Checks that the merchant has a valid identity. If it has several, the gateway presents the newest valid one.
    private func checkIdentity(of merchant: MerchantIdentifier, at now: Timestamp) throws {
        let identities = try activeIdentityKeyPairs(of: merchant).compactMap {
            try certificates(of: $0.publicKeyHash).certificateInUse(at: now)
        }
        guard !identities.contains(where: { $0.isValid(at: now) }) else { return }
        throw MerchantError(.sessionIdentityMissing, try identityFinding(identities, of: merchant, at: now))
    }

    private func identityFinding(
        _ identities: [StoredCertificate], of merchant: MerchantIdentifier, at now: Timestamp
    ) throws -> String {
        let generate = "'merchantkeyctl key generate \(merchant) --purpose identity'"
        let pending = try keyPairs(of: merchant).first { $0.purpose == .identity && $0.state == .pending }
        /// What to do to get an identity certificate: for the key pair that waits for one, or for a new one.
        let remedy =
            pending.map {
                "have Apple sign the CSR of its pending identity key pair \($0.publicKeyHash), and upload the certificate"
            } ?? "create a new key pair with \(generate), have its CSR signed by Apple, and upload the certificate"
        if let next = identities.filter({ $0.notBefore > now }).min(by: { $0.notBefore < $1.notBefore }) {
            return
                "the identity certificate of \(merchant) is not valid before \(next.notBefore): wait until then, and check the machine's clock"
        }
        if let last = identities.max(by: { $0.notAfter < $1.notAfter }) {
            return
                "the identity certificate of \(merchant) expired at \(last.notAfter): \(remedy)"
        }
        if let registration = try registrations(of: merchant, after: nil, limit: 1).first {
            return
                "the merchant \(merchant) has no identity certificate of its own: request the session with its partnerInternalMerchantIdentifier '\(registration.partnerInternalMerchantIdentifier)', which uses the platform's identity, or \(remedy)"
        }
        return
            "the merchant \(merchant) has no identity certificate: \(remedy)"
    }

    /// Searches for the domain in the registrations that belong to the merchant.
    ///
    /// - Returns: nil if these registrations have no domain, or if the merchant has too many registrations to search
    ///   for each session. Then only Apple checks the domain.
    private func hasDomain(_ domain: DomainName, _ merchant: MerchantIdentifier) throws -> Bool? {
        let (pages, pageSize) = (10, 100)
        var last: PartnerInternalMerchantIdentifier?
        var hasAnyDomain = false
        for _ in 0..<pages {
            let page = try registrations(of: merchant, after: last, limit: pageSize)
            for registration in page {
                if registration.hasDomain(domain) { return true }
                hasAnyDomain = hasAnyDomain || registration.isShown
            }
            guard page.count == pageSize else { return hasAnyDomain ? false : nil }
            last = page.last?.partnerInternalMerchantIdentifier
        }
        return nil
    }
}

extension Registration {
    /// Whether the domain is desired, or registered at Apple.
    fileprivate func hasDomain(_ domain: DomainName) -> Bool {
        desired.domainNames.contains(domain) || appleRecord?.details?.domainNames.contains(domain.rawValue) ?? false
    }
}

extension SessionOrder.Place {
    /// The domain of the web page; nil if the buyer does not pay on a web page.
    fileprivate var webDomain: DomainName? {
        if case .web(let domain) = self { domain } else { nil }
    }
}
