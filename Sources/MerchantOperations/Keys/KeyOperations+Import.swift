import MerchantCore
package import Secrets
package import Vocabulary

extension KeyOperations {
    /// Imports an existing private key as
    /// ``importKeyPair(to:privateKey:number:passphrase:certificate:state:purpose:allowsExpired:for:)`` does, for the
    /// merchant that the certificate names.
    ///
    /// - Throws: `malformed` if the certificate names no merchant.
    package func importKeyPair(
        privateKey: borrowing SecretBytes, number: Int? = nil, passphrase: borrowing SecretBytes,
        certificate upload: [UInt8]?, state: KeyState, purpose: KeyPurpose, allowsExpired: Bool, for request: Request
    ) async throws -> KeyView {
        try Self.checkKeyNumber(number)
        let certificate: [UInt8]
        if let upload, !privateKey.withUnsafeBytes({ $0.elementsEqual(upload) }) {
            certificate = upload
        } else {
            let contained = try await WorkThreads.imports.run {
                try custodian.certificate(
                    inPrivateKeyFile: privateKey, number: number, passphrase: passphrase)
            }
            guard let own = contained else { throw Self.missingCertificate }
            certificate = own
        }
        guard let merchant = try custodian.readCertificate(certificate).merchantIdentifier else {
            throw MerchantError(
                .malformed,
                "the certificate does not name its merchant in the subject's userId, as certificates from Apple do: name the merchant to which the key must be imported"
            )
        }
        return try await importKeyPair(
            to: merchant, privateKey: privateKey, number: number, passphrase: passphrase, certificate: upload,
            state: state, purpose: purpose, allowsExpired: allowsExpired, for: request)
    }

    /// - Parameter number: which private key of the file, counted from 1; nil for the only one.
    static func checkKeyNumber(_ number: Int?) throws(MerchantError) {
        guard number ?? 1 >= 1 else {
            throw MerchantError(.malformed, "'keyNumber' is \(number ?? 0), expected 1 or more")
        }
    }

    static var missingCertificate: MerchantError {
        MerchantError(
            .malformed,
            "'certificate' is missing, and the private key file contains no certificate of this private key; send the certificate's file too"
        )
    }
}
