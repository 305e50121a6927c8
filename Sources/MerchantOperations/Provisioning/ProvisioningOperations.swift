package import MerchantCore
import PassProvisioning

/// Encrypts card data for in-app provisioning: an issuer's host sends the request, and the issuer's app gives the
/// result to Apple Wallet.
///
/// No error, log line, audit record or metric contains a card number or a name, except that the settings can add the
/// last four digits of a card number to the audit.
package struct ProvisioningOperations: Sendable {
    package typealias Records = Transactions<Void, any ChangeRecording>

    /// The objects from outside this module that the use case needs.
    package struct Ports: Sendable {
        /// The settings, which a reload may change.
        package let policy: CurrentValue<ProvisioningPolicy>
        package let nonces: any NonceLedger
        package let activation: any ActivationDataSource

        package init(
            policy: CurrentValue<ProvisioningPolicy>, nonces: any NonceLedger,
            activation: any ActivationDataSource = NoActivationHook()
        ) {
            self.policy = policy
            self.nonces = nonces
            self.activation = activation
        }
    }

    private let ports: Ports
    private let records: Records
    private let metrics: ProvisioningMetrics
    private let clock: any WallClock

    package init(_ ports: Ports, records: Records, metrics: ProvisioningMetrics, clock: any WallClock) {
        self.ports = ports
        self.records = records
        self.metrics = metrics
        self.clock = clock
    }

    /// Encrypts card data.
    ///
    /// The nonce is claimed after all checks, so the same nonce can be used again after an order that a check refused.
    /// This method returns only after the claim and the audit record are on stable storage.
    ///
    /// - Throws:
    ///   - `provisioningDisabled`.
    ///   - `provisioningDataInvalid` with every finding.
    ///   - `activationFailed`, `activationUnavailable`.
    ///   - `nonceAlreadyClaimed`.
    ///   - `storeUnavailable`, `overloaded`.
    package func encrypt(_ order: ProvisioningOrder, for request: Request) async throws -> EncryptedCard {
        let policy = ports.policy.value
        guard policy.isEnabled else {
            // No audit record is written: while provisioning is switched off, every installed app may continue to send
            // requests, and would fill the audit.
            metrics.count(.disabled)
            throw MerchantError(
                .provisioningDisabled,
                "in-app provisioning is switched off: an admin switches it on with the setting 'provisioning.enabled' and 'merchantkeyctl reload'"
            )
        }
        var lastFourDigits: String?
        do {
            let validated = try ValidatedOrder(order, trust: policy.trust, at: clock.now)
            if policy.auditsLastFourDigits { lastFourDigits = validated.card.lastFourDigits }
            let encrypted = try await encrypt(validated, order, for: request)
            try await audit(.cardDataEncrypted, "encrypted", order, lastFourDigits, for: request)
            metrics.count(.encrypted)
            return encrypted
        } catch {
            let code = (error as? MerchantError)?.code ?? .internalError
            metrics.count(ProvisioningMetrics.Outcome(code))
            // No card data has left the daemon, so the caller gets the reason of the refusal even if the audit cannot
            // be written.
            try? await audit(.cardDataRefused, code.rawValue, order, lastFourDigits, for: request)
            throw error
        }
    }

    private func encrypt(
        _ validated: ValidatedOrder, _ order: ProvisioningOrder, for request: Request
    ) async throws -> EncryptedCard {
        let activation = try await activationData(validated, order, for: request)
        try await ports.nonces.claimNonce(
            NonceClaim(
                nonce: validated.nonce.hex, nonceSignature: validated.nonceSignature.hex, caller: request.caller.name,
                at: clock.now))
        var warnings = validated.card.warnings.map { InputFinding($0) }
        if activation == nil { warnings.append(.activationDataMissing) }
        return EncryptedCard(
            pass: try Self.encrypt(validated.card, for: validated.certificates), activationData: activation,
            warnings: warnings)
    }

    private func activationData(
        _ validated: ValidatedOrder, _ order: ProvisioningOrder, for request: Request
    ) async throws -> [UInt8]? {
        if let given = order.activationData { return given }
        return try await ports.activation.activationData(
            for: ActivationQuestion(
                requestId: request.requestId, network: order.network, configuration: order.configuration,
                nonce: validated.nonce.hex, card: order.card))
    }

    /// Encrypts with a fresh key pair, which cannot be used again.
    private static func encrypt(
        _ card: CardData, for certificates: VerifiedProvisioningCertificates
    ) throws(MerchantError) -> EncryptedPass {
        do throws(PassEncryptionError) { return try ProvisioningAttempt().encrypt(card, for: certificates) } catch {
            throw MerchantError(.internalError, "the card data was not encrypted: \(error)")
        }
    }

    private func audit(
        _ action: AuditAction, _ outcome: String, _ order: ProvisioningOrder, _ lastFourDigits: String?,
        for request: Request
    ) async throws {
        let card = lastFourDigits.map { ", card number ends with \($0)" } ?? ""
        let entry = request.auditEntry(
            action, at: clock.now, after: outcome,
            reason: "network \(order.network.rawValue), configuration \(order.configuration.rawValue)\(card)")
        do {
            try await records.write { try $0.append(entry) }
        } catch let error as MerchantError where error.code == .storeUnavailable {
            throw MerchantError(
                .storeUnavailable,
                "the encrypted card data is not returned, because the audit cannot be written: \(error.detail)",
                retryAfter: error.retryAfter)
        }
    }
}

extension ProvisioningMetrics.Outcome {
    /// The outcome of a request that failed with this code.
    fileprivate init(_ code: MerchantError.Code) {
        self =
            switch code {
            case .provisioningDataInvalid: .dataInvalid
            case .activationFailed, .activationUnavailable: .activationFailed
            case .nonceAlreadyClaimed: .nonceAlreadyClaimed
            default: .failed
            }
    }
}
