package import MerchantCore
package import Vocabulary

/// Requests merchant sessions from Apple: a checkout server asks for one, and its page gives the result to Apple Pay.
///
/// A session is for one payment. The daemon stores no session, and no error, log line, audit record or metric contains
/// a part of a session.
package struct SessionOperations: Sendable {
    package typealias Records = Transactions<any MerchantReading & KeyPairReading & RegistrationReading, Void>

    /// The objects from outside this module that the use case needs.
    package struct Ports: Sendable {
        package let gateway: any SessionGateway
        /// The settings, which a reload may change.
        package let policy: CurrentValue<SessionPolicy>
        /// Logs that a session is requested for a domain that, according to the daemon's records, is not registered.
        package let logUnregisteredDomain: @Sendable (UnregisteredDomain) -> Void

        package init(
            gateway: any SessionGateway, policy: CurrentValue<SessionPolicy>,
            logUnregisteredDomain: @escaping @Sendable (UnregisteredDomain) -> Void = { _ in }
        ) {
            self.gateway = gateway
            self.policy = policy
            self.logUnregisteredDomain = logUnregisteredDomain
        }

        /// For tests without a gateway.
        static func notConfigured(_ environment: Environment) -> Ports {
            Ports(
                gateway: NotConfiguredGateway(),
                policy: CurrentValue(SessionPolicy(validationHosts: SessionHost.appleHosts(environment))))
        }
    }

    /// A domain that, according to the daemon's records, is not registered for the merchant.
    package struct UnregisteredDomain: Hashable, Sendable {
        package let domain: String
        /// The value of Apple's field `merchantIdentifier`.
        package let merchantIdentifier: String
        /// The name of the caller.
        package let caller: String
    }

    private let ports: Ports
    private let records: Records
    private let validationURLAudit: ValidationURLAudit
    private let metrics: SessionMetrics
    private let environment: Environment
    private let clock: any WallClock

    package init(
        _ ports: Ports, records: Records, validationURLAudit: ValidationURLAudit, metrics: SessionMetrics,
        environment: Environment, clock: any WallClock
    ) {
        self.ports = ports
        self.records = records
        self.validationURLAudit = validationURLAudit
        self.metrics = metrics
        self.environment = environment
        self.clock = clock
    }

    /// The merchant for which a caller needs the permit `merchantSession`.
    ///
    /// - Returns: nil for a registration that belongs to no merchant: the caller needs the permit for every merchant.
    /// - Throws: `registrationNotFound`.
    package func owner(of order: SessionOrder) async throws -> MerchantIdentifier? {
        switch order.merchant {
        case .own(let merchant): merchant
        case .registered(let partner):
            try await records.read { try $0.shownRegistration(partner).merchantIdentifier }
        }
    }

    /// Requests one session.
    ///
    /// - Returns: Apple's JSON object, byte for byte.
    /// - Throws:
    ///   - `merchantNotFound`, `registrationNotFound`.
    ///   - `sessionMerchantWrongKind`, `sessionIdentityMissing`, `sessionDomainNotRegistered`,
    ///     `sessionMerchantUnauthorized`.
    ///   - `validationURLRefused`.
    ///   - a code `gateway…` if the call to Apple failed for another reason.
    package func request(_ order: SessionOrder, for request: Request) async throws -> [UInt8] {
        do {
            let session = try await issue(order, for: request)
            metrics.count(.issued, of: order.merchant)
            return session
        } catch {
            metrics.count(
                SessionMetrics.Outcome((error as? MerchantError)?.code ?? .internalError), of: order.merchant)
            throw error
        }
    }

    private func issue(_ order: SessionOrder, for request: Request) async throws -> [UInt8] {
        let policy = ports.policy.value
        try order.checkKindOfMerchant()
        let host = try await host(of: order, among: policy.validationHosts, for: request)
        let now = clock.now
        let plan = try await records.read { try $0.sessionPlan(for: order, at: now) }
        if plan.isDomainRegistered == false { try handleUnregisteredDomain(order, plan, policy, for: request) }
        do throws(GatewayError) {
            return try await ports.gateway.requestSession(
                order.appleRequest(for: plan.merchantIdentifier), at: host, as: plan.owner, within: policy.timeLimit)
        } catch {
            throw MerchantError(sessionRefused: error, for: order, as: plan.owner, environment: environment)
        }
    }

    /// The host that the `validationURL` selects; nil if the order has none.
    private func host(
        of order: SessionOrder, among hosts: [SessionHost], for request: Request
    ) async throws -> SessionHost? {
        guard let url = order.validationURL else { return nil }
        do throws(ValidationURL.Fault) {
            return try ValidationURL.host(url, among: hosts)
        } catch {
            await validationURLAudit.note(
                "'validationURL' for \(order.merchant) \(error) (host '\(ValidationURL.printableHost(url))')",
                of: request)
            throw MerchantError(
                .validationURLRefused,
                "no session was requested: 'validationURL' \(error): send the validationURL of the event onvalidatemerchant unchanged, or leave the field out"
            )
        }
    }

    private func handleUnregisteredDomain(
        _ order: SessionOrder, _ plan: SessionPlan, _ policy: SessionPolicy, for request: Request
    ) throws(MerchantError) {
        let domain = order.place.initiativeContext
        switch policy.unregisteredDomains {
        case .refuse:
            throw MerchantError(
                .sessionDomainNotRegistered,
                "no session was requested: the domain \(domain) is not registered for \(order.merchant): send the domain in the browser's address bar (for a page inside a frame, that of the top-level page), or register the domain with 'merchantkeyctl registration register'"
            )
        case .warn:
            ports.logUnregisteredDomain(
                UnregisteredDomain(
                    domain: domain, merchantIdentifier: plan.merchantIdentifier, caller: request.caller.name))
        }
    }
}
