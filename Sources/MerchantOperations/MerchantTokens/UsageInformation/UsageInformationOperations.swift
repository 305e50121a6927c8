package import MerchantCore
package import PaymentToken
package import Vocabulary

/// Gives devices the usage information of a merchant token, encrypted with the public key that Apple generated for the
/// token.
package struct UsageInformationOperations: Sendable {
    /// The objects from outside this module that the use case needs.
    package struct Ports: Sendable {
        package typealias Encryption =
            @Sendable (
                _ content: [UInt8], _ token: MerchantTokenIdentifier, _ publicKey: [UInt8]
            ) throws(PaymentTokenError) -> MerchantTokenUsageInformation

        package let source: any UsageInformationSource
        /// Encrypts a package with the merchant token's public key, and authenticates it with the platform's private
        /// key.
        package let encrypt: Encryption

        package init(source: any UsageInformationSource, encrypt: @escaping Encryption) {
            self.source = source
            self.encrypt = encrypt
        }
    }

    private let ports: Ports
    private let tokens: MerchantTokenOperations
    private let publicKeys: RecentPublicKeys
    private let metrics: MerchantTokenMetrics

    init(_ ports: Ports, tokens: MerchantTokenOperations, metrics: MerchantTokenMetrics) {
        self.ports = ports
        self.tokens = tokens
        publicKeys = RecentPublicKeys { try await tokens.publicKey(of: $0) }
        self.metrics = metrics
    }

    /// The usage information of a merchant token for a device, encrypted.
    ///
    /// - Parameters:
    ///   - identifier: the text that the device sent, which may not be a valid identifier.
    ///   - authenticationToken: the token of the header `Authorization`.
    /// - Throws:
    ///   - `unauthorized` if the backend does not accept the authentication token, or if the merchant token is unknown
    ///     or unlinked.
    ///   - `merchantTokenNotFound` if there is no usage information.
    ///   - `usageInformationFailed`; `usageInformationUnavailable`, also if Apple does not give the token's public key.
    package func usageInformation(
        of identifier: String, authenticationToken: String, requestId: String
    ) async throws -> MerchantTokenUsageInformation {
        do {
            let information = try await encryptedPackage(identifier, authenticationToken, requestId)
            metrics.count(usage: .sent)
            return information
        } catch {
            metrics.count(usage: MerchantTokenMetrics.UsageRequest((error as? MerchantError)?.code))
            throw error
        }
    }

    private func encryptedPackage(
        _ identifier: String, _ authenticationToken: String, _ requestId: String
    ) async throws -> MerchantTokenUsageInformation {
        guard let identifier = MerchantTokenIdentifier(text: identifier),
            let token = try await tokens.known(identifier), token.state == .linked
        else { throw MerchantError.usageInformationNotAuthorized }
        let answer = try await ports.source.usageInformation(
            for: UsageInformationQuestion(
                requestId: requestId, merchantIdentifier: token.merchantIdentifier, merchantTokenIdentifier: identifier,
                authenticationToken: authenticationToken))
        switch answer {
        case .notAuthorized: throw MerchantError.usageInformationNotAuthorized
        case .nothing:
            throw MerchantError(
                .merchantTokenNotFound, "there is no usage information of the merchant token \(identifier)")
        case .package(let content): return try await encrypt(content, for: identifier)
        }
    }

    private func encrypt(
        _ content: [UInt8], for identifier: MerchantTokenIdentifier
    ) async throws -> MerchantTokenUsageInformation {
        guard content.count <= MerchantTokenUsageInformation.longestPackage else {
            throw MerchantError(
                .usageInformationFailed,
                "the usage information has \(content.count) bytes, expected at most \(MerchantTokenUsageInformation.longestPackage): make the package smaller"
            )
        }
        let key = try await publicKey(of: identifier)
        guard key.ciphersuite == MerchantTokenUsageInformation.supportedCiphersuite else {
            throw MerchantError(
                .usageInformationFailed,
                "the daemon supports only the cipher suite \(MerchantTokenUsageInformation.supportedCiphersuite), which Apple does not use for the merchant token \(identifier)"
            )
        }
        do throws(PaymentTokenError) {
            return try ports.encrypt(content, identifier, key.x963)
        } catch {
            throw MerchantError(
                .usageInformationFailed, "the usage information cannot be encrypted: \(error.detail)")
        }
    }
}

extension UsageInformationOperations {
    /// Gets the public key from Apple. Every ``MerchantError`` becomes `usageInformationUnavailable`, which a device
    /// understands; the log contains the cause.
    private func publicKey(of identifier: MerchantTokenIdentifier) async throws -> MerchantTokenPublicKey {
        do { return try await publicKeys.key(of: identifier) } catch let error as MerchantError {
            throw MerchantError(
                .usageInformationUnavailable,
                "Apple did not give the public key of the merchant token \(identifier) (\(error.code.rawValue)): \(error.detail)"
            )
        }
    }
}

extension MerchantError {
    /// The error for a missing or refused authentication token. Also used for a merchant token that the daemon does not
    /// know.
    package static var usageInformationNotAuthorized: MerchantError {
        MerchantError(
            .unauthorized,
            "the request needs the header 'Authorization: ApplePayMerchantTokenUsageInformation TOKEN' with the merchant token's current authentication token"
        )
    }
}
